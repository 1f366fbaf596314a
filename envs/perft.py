"""Perft: how many legal sequences of exactly so many actions a position has. The usual check of a rules engine."""

from __future__ import annotations

import numpy as np
from numba import types

from envs.core import State
from envs.kernels import PARAMS, TABLE, apply_of, kernel, legal_of

_ROWS = types.Array(types.int32, 2, "C")
_MASKS = types.Array(types.bool_, 2, "C")
_I64 = types.Array(types.int64, 1, "C")


@kernel(types.int64(TABLE, PARAMS, _ROWS, _MASKS, _I64))
def _perft(table, params, rows, masks, cursor):
    """Walk the tree below ``rows[0]`` to the depth of ``rows.shape[0]`` actions."""
    apply, legal = apply_of(table), legal_of(table)
    last = rows.shape[0] - 1
    total = legal(params, rows[0], masks[0])
    if last == 0:
        return total
    total = 0
    depth = 0
    cursor[0] = 0
    while depth >= 0:
        action = cursor[depth]
        while action < masks.shape[1] and not masks[depth, action]:
            action += 1
        if action == masks.shape[1]:
            depth -= 1
            continue
        cursor[depth] = action + 1
        rows[depth + 1] = rows[depth]
        apply(params, rows[depth + 1], action)
        count = legal(params, rows[depth + 1], masks[depth + 1])
        if depth + 1 == last:
            total += count
        else:
            depth += 1
            cursor[depth] = 0
    return total


def perft(state: State, depth: int) -> int:
    """Number of sequences of exactly ``depth`` >= 0 legal actions from ``state``; finished games are not continued."""
    if depth < 0:
        raise ValueError(f"depth={depth} is not allowed; it must be >= 0")
    if depth == 0:
        return 1
    game = state.game
    rows = np.zeros((depth, game.row_size), dtype=np.int32)
    rows[0] = state.row
    masks = np.zeros((depth, game.num_distinct_actions()), dtype=np.bool_)
    return int(_perft(game.kernels.table, game.params, rows, masks, np.zeros(depth, dtype=np.int64)))
