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


def test_levels_and_who_moves_first(script):
    done = script("play", "game=hex", "game.rows=3", "opponent=medium", "first=computer", typed="resign\nquit\n")
    assert done.result["players"] == ["medium", "human"] and done.result["result"] == "red wins"
    # Against the lowest level there is no swap, unless it is asked for.
    done = script("play", "game=hex", "opponent=easy", typed="")
    assert "swap=off" in done.result["game"] and done.result["players"] == ["human", "easy"]
    done = script("play", "game=hex", "game.swap=pieces", "opponent=easy", typed="f6\n")
    assert done.result["moves"] == ["f6", "swap-pieces"]
    typed = "resign\nquit\nresign\nquit\nresign\nquit\n"
    done = script("play", "game=hex", "game.rows=3", "opponent=hard", "first=alternately", "games=3", typed=typed)
    seats = [["human", "hard"], ["hard", "human"], ["human", "hard"]]
    assert [game["players"] for game in done.result["games"]] == seats


def test_three_seats(script):
    arguments = ["game=renju3", "game.rows=7", "game.cols=7", "opponent=medium", "seat=red", "record=game.json"]
    done = script("play", *arguments, typed="a1\nresign\nquit\n")
    assert done.result["players"] == ["medium", "human", "medium"] and "You are red; blue is medium" in done.out
    assert done.result["moves"][1] == "a1" and "Red resigns and passes from now on." in done.out
    # Two computers play on to the end.
    assert done.result["reason"] in ("four", "antonov", "full", "passes") and done.result["winner"] != 1
    assert json.loads(Path("game.json").read_text()) == done.result
    done = script("play", *arguments[:3], "opponent=human", typed="a1\nresign\nresign\nquit\n")
    assert done.result["result"] == "blue wins" and done.result["reason"] == "resignation"
    done = script("play", *arguments[:3], "opponent=human", "game.allow_pass=false", typed="a1\nresign\nquit\n")
    assert done.result["result"] == "unfinished" and done.result["reason"] == "resignation"


@pytest.mark.parametrize("game", ["tac_tix", "docking"])
def test_other_games(script, game):
    typed = "help\nzz\nmoves\nboard\nresign\nreplay\n\nq\nhelp\nquit\n"
    done = script("play", f"game={game}", "opponent=easy", typed=typed)
    assert done.result["winner"] == 1 and done.result["reason"] == "resignation" and "zz" in done.out
    done = script("play", f"game={game}", "opponent=human", typed="")
    assert done.result["reason"] == "left"


def test_a_whole_game_of_tac_tix(script):
    typed = "a1-c1\na2-c2\na3-c3\nquit\n"
    done = script("play", "game=tac_tix", "game.rows=3", "game.cols=3", "opponent=human", typed=typed)
    assert done.result["result"] == "second wins" and done.result["reason"] != "left"
    assert "Second wins" in done.out


@pytest.mark.parametrize("arguments,words", [
    (["game=hex", "opponent=hard", "first=me"], ["first = 'me'", "alternately"]),
    (["game=hex", "opponent=hard", "first=you", "seat=red"], ["give one"]),
    (["game=docking", "opponent=hard", "seat=red"], ["white, black"]),
    (["game=renju3", "opponent=hard"], ["'hard'", "easy, medium"]),
    (["opponent=easy"], ["no computer opponent", "hex, docking, tac_tix, renju3"]),
    (["games=0"], ["games"]),
])  # fmt: skip
def test_bad_levels_and_seats(script, arguments, words):
    error = script("play", *arguments).error
    for word in words:
        assert word in error


def test_levels_script(script):
    import _agents

    from agents.levels import LEVELS

    assert _agents.LEVELS == LEVELS  # named there without loading compiled code
    done = script("levels", "game=tac_tix", "game.rows=3", "games=3", "levels=[medium]")
    assert set(done.result["wins"]) == {"medium vs uniform", "medium vs easy"}
    assert all(len(wins) == 2 and max(wins) <= 3 for wins in done.result["wins"].values())
    assert "no levels" in script("levels", "game=dark_hex").error
    assert "'deep'" in script("levels", "levels=[deep]").error
    assert "opening" in script("levels", "game=hex", "game.rows=1", "opening=9").error
