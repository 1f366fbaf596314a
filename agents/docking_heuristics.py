"""How good a Docking position is: how many gaps lie between the ships of each fleet.

The gap between two ships is the cells of a shortest walk between them; a fleet's gaps are those of its minimum
spanning tree, so that a docked fleet has none.
"""

from __future__ import annotations

from numba import types

from agents.alpha_beta import EVALUATE, Heuristics
from envs.games.docking_board import BOARD, CELLS, COLS, MOVER, SHIPS_0
from envs.kernels import F64, PARAMS, ROW, kernel

__all__ = ["docking_heuristics"]

GAP = 1000  # the value of one gap


@kernel(types.int64(PARAMS, ROW, types.int64, F64), allocates=False)
def gaps(params, row, player, scratch):
    """Free cells in a fleet's minimum spanning tree (Prim); ``scratch``: a number per ship."""
    ships = row[SHIPS_0 + player]
    first = BOARD + params[CELLS] + (row[SHIPS_0] if player else 0)
    cols = params[COLS]
    for i in range(ships):
        scratch[i] = 1e9
    total, latest = 0, 0
    for _ in range(ships - 1):
        scratch[latest] = -1.0  # part of the tree
        here = row[first + latest]
        nearest = -1
        for i in range(ships):
            if scratch[i] < 0:
                continue
            there = row[first + i]
            apart = abs(here // cols - there // cols) + abs(here % cols - there % cols) - 1
            scratch[i] = min(scratch[i], apart)
            if nearest < 0 or scratch[i] < scratch[nearest]:
                nearest = i
        total += types.int64(scratch[nearest])
        latest = nearest
    return total


@kernel(EVALUATE, allocates=False)
def evaluate(params, row, scratch):
    """The other fleet's gaps less the own ones."""
    player = row[MOVER]
    return GAP * (gaps(params, row, 1 - player, scratch) - gaps(params, row, player, scratch))


def docking_heuristics() -> Heuristics:
    """For any layout. Positions are recognised by the moves that led to them: repetition counts."""
    return Heuristics(evaluate, scratch_size=64 * 64)
