"""The linear program: exact values of small games."""

from __future__ import annotations

import pytest
from cfr_cases import dark_hex_tree, openspiel_tree

import cfr
import envs

VALUES = {
    (2, 1, "classical", "silent"): -1.0,
    (2, 1, "abrupt", "silent"): 0.0,
    (2, 2, "classical", "silent"): 1.0,
    (2, 2, "classical", "announce"): 1.0,
    (2, 2, "abrupt", "silent"): 1 / 2,
    (2, 2, "abrupt", "announce"): 1 / 2,
    (2, 3, "classical", "silent"): 1.0,
    (3, 2, "classical", "silent"): -1.0,
    (2, 3, "abrupt", "silent"): 9 / 11,
    (3, 2, "abrupt", "silent"): -1 / 8,
    (2, 3, "abrupt", "announce"): 25 / 31,
}


@pytest.mark.parametrize("board", VALUES)
def test_dark_hex(board):
    tree = dark_hex_tree(*board)
    found = cfr.solve_lp(tree)
    assert found.value == pytest.approx(VALUES[board], abs=1e-9)
    evaluation = cfr.evaluate(tree, found.policy)
    assert evaluation.nash_conv == pytest.approx(0.0, abs=1e-8)
    assert evaluation.values[0] == pytest.approx(found.value, abs=1e-8)


@pytest.mark.parametrize("name, value", [("kuhn_poker", -1 / 18), ("leduc_poker", -0.085606424078)])
def test_poker(name, value):
    tree = openspiel_tree(name)
    found = cfr.solve_lp(tree)
    assert found.value == pytest.approx(value, abs=1e-9)
    assert cfr.nash_conv(tree, found.policy) == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("rows, cols, value", [(2, 2, 1.0), (3, 2, -1.0), (1, 3, 1.0), (2, 1, -1.0)])
def test_open_hex(rows, cols, value):
    """Perfect information is a special case."""
    tree = cfr.build_tree(envs.make("hex", rows=rows, cols=cols, swap="off"))
    assert cfr.solve_lp(tree).value == pytest.approx(value, abs=1e-9)


def test_other_games_are_refused():
    with pytest.raises(ValueError, match="3 player"):
        cfr.solve_lp(openspiel_tree("kuhn_poker(players=3)"))
