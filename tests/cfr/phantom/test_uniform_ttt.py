"""Phantom tic-tac-toe on the exact engine: the value of uniform play by another route.

In the classical version a turn of uniform play puts a mark on a uniformly random empty cell, however many collisions
come first. Its value is therefore that of open tic-tac-toe played at random, which a few lines compute as a fraction.
"""

from fractions import Fraction
from functools import cache

import pytest

import envs
from cfr.phantom import ClassicalForm


def value_of_random_play(rows, cols, length):
    """Expected payoff of the first player in open play, by recursion over sets of marks."""
    lines = [
        frozenset((r + i * dr) * cols + c + i * dc for i in range(length))
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1))
        for r in range(rows)
        for c in range(cols)
        if r + (length - 1) * dr < rows and 0 <= c + (length - 1) * dc < cols
    ]

    @cache
    def value(mine, theirs):
        """Of the player to move."""
        empty = set(range(rows * cols)) - mine - theirs
        if not empty:
            return Fraction(0)
        total = Fraction(0)
        for cell in empty:
            longer = mine | {cell}
            total += 1 if any(line <= longer for line in lines) else -value(theirs, longer)
        return total / len(empty)

    return value(frozenset(), frozenset())


@pytest.mark.parametrize("board", [(2, 2, 2), (2, 3, 2), (2, 3, 3), (1, 5, 3), (1, 4, 3), (4, 1, 2), (2, 2, 1)])
def test_uniform_play_is_random_tic_tac_toe(board):
    rows, cols, line = board
    form = ClassicalForm(envs.make("phantom_ttt", rows=rows, cols=cols, line=line, info="silent"))
    value = float(value_of_random_play(rows, cols, line))
    found = form.evaluate(form.uniform()).values
    assert abs(found[0] - value) < 1e-12 and abs(found[1] + value) < 1e-12
