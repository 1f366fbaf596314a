"""scripts/sure_wins.py: the table."""


def test_table(script):
    ran = script("sure_wins", "cells=6", "longest=3")
    lines = ran.out.splitlines()
    assert lines[:5] == [
        "| rows \\ cols | 2 | 3 |", "|---|---|---|", "| 2 | P0 (2) | P0 (6) |", "| 3 | P1 | - |", "",
    ]  # fmt: skip
    assert any(line.startswith("| 3x2 | P1 | b1, a3 | all | ") for line in lines)
    assert [board["winner"] for board in ran.result["boards"]] == [0, 0, 1]


def test_a_board_is_given_up(script):
    ran = script("sure_wins", "cells=16", "longest=4", "memory=1e-5")
    assert "4x4: given up" in ran.err and "limit" in ran.err
    last = ran.result["boards"][-1]
    assert (last["rows"], last["cols"], last["winner"], last["openings"], last["positions"]) == (4, 4, "?", None, None)
    assert "| 4x4 | ? | ? | ? | - |" in ran.out
