"""One game, one action at a time, for the faces that step a single game: two compiled calls per turn."""

from __future__ import annotations

import numpy as np
from numba import types

from envs.kernels import (
    F32,
    F64,
    MASK,
    PARAMS,
    ROW,
    TABLE,
    apply_of,
    current_player_of,
    kernel,
    legal_of,
    observe_of,
    returns_of,
)

ILLEGAL = -100  # what ``take`` returns for an action that is not legal (players are >= 0, TERMINAL is -4)
_I8 = types.Array(types.int8, 1, "C")


@kernel(types.int64(TABLE, PARAMS, ROW, types.int64, MASK, F64))
def take(table, params, row, action, mask, returns):
    """Take an action; the next player, TERMINAL (``returns`` is written then) or ILLEGAL (nothing changed).

    ``mask`` receives the actions that were legal.
    """
    legal_of(table)(params, row, mask)
    if action < 0 or action >= mask.size or not mask[action]:
        return ILLEGAL
    apply_of(table)(params, row, action)
    mover = current_player_of(table)(params, row)
    if mover < 0:
        returns_of(table)(params, row, returns)
    return mover


@kernel(types.void(TABLE, PARAMS, ROW, types.int64, types.int64, types.int64, F32, _I8))
def look(table, params, row, player, view, over, observation, action_mask):
    """One player's observation and action mask; the mask is zero unless he is on turn in a running game."""
    observe_of(table)(params, row, player, view, observation)
    if not over and current_player_of(table)(params, row) == player:
        legal_of(table)(params, row, action_mask.view(np.bool_))
    else:
        for action in range(action_mask.size):
            action_mask[action] = 0
