"""scripts/play.py from the outside."""

import json
from pathlib import Path

import pytest

BAD = {
    "wrong size": (["game=dark_hex", "game.rows=20"], "game.rows = 20", "1 to 19"),
    "unknown parameter": (["game=dark_hex", "game.swap=off"], "game.swap", "rows, cols, version, info"),
    "swap on an uneven board": (["game=hex", "game.rows=3", "game.cols=4", "game.swap=pieces"], "game.swap", "=off"),
    "typo": (["oponent=human"], "oponent", "did you mean opponent"),
    "seat": (["seat=top"], "seat = 'top'", "red, blue"),
    "opponent": (["opponent=deep_blue"], "opponent = 'deep_blue'", "policy:PATH"),
    "no such policy": (["opponent=policy:nowhere"], "nowhere.npz", "no such file"),
    "no such checkpoint": (["opponent=checkpoint:nowhere"], "nowhere", "no such checkpoint"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input(script, what):
    arguments, *words = BAD[what]
    error = script("play", *arguments).error
    for word in words:
        assert word in error


def test_a_game_against_a_policy(script):
    script("solve", "game=dark_hex", "game.rows=2", "game.cols=2", "solver.target=0.001", "output=solved")
    done = script("play", "opponent=policy:solved", "seat=blue", "record=game.json", typed="a1\na2\nb1\nb2\nquit\n" * 9)
    result = done.result
    assert result["game"].startswith("dark_hex(rows=2,cols=2") and result["players"] == ["policy:solved", "human"]
    # Red wins this board for sure, whatever blue does.
    assert result["result"] == "red wins" and result["reason"] == "chain"
    assert "You are blue" in done.out and json.loads(Path("game.json").read_text()) == result
    error = script("play", "opponent=solved", "game=hex", "game.rows=2").error
    assert "rows=2" in error and "hex(" in error
    assert script("play", "opponent=solved", typed="").result["result"] == "unfinished"


def test_two_people_and_no_input(script):
    done = script("play", "opponent=human", typed="\n")
    assert done.code == 0 and done.result["players"] == ["human", "human"] and done.result["moves"] == []
    assert "Traceback" not in done.err


def test_help(script):
    with pytest.raises(SystemExit) as stop:
        script("play", "--help")
    assert stop.value.code == 0
