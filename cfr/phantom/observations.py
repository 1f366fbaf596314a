"""Observations of information states that are given by their tokens, without playing a game that leads there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from envs.kernels import PARAMS, TABLE, information_span_of, kernel, observe_of, reset_of

I32 = types.Array(types.int32, 1, "C")
I64 = types.Array(types.int64, 1, "C")
F32_2D = types.Array(types.float32, 2, "C")
MASKS = types.Array(types.bool_, 2, "C")


@kernel(types.void(TABLE, PARAMS, types.int64, types.int64, types.int64, types.int64, I32, I64, F32_2D, MASKS))
def _observe(table, params, row_size, length_at, player, view, tokens, offsets, out, masks):
    """A row that holds nothing but the player's tokens is enough: observations are made from them alone."""
    row = np.zeros(row_size, dtype=np.int32)
    reset_of(table)(params, row)
    start = information_span_of(table)(params, row, player)[0]
    for i in range(offsets.size - 1):
        length = offsets[i + 1] - offsets[i]
        masks[i, :] = True
        for k in range(length):
            token = tokens[offsets[i] + k]
            row[start + k] = token
            if token >> 1 < masks.shape[1]:  # not an announcement
                masks[i, token >> 1] = False
        row[length_at + player] = length
        observe_of(table)(params, row, player, view, out[i])


def observations(
    game: Any, player: int, tokens: np.ndarray, offsets: np.ndarray, view: bool
) -> tuple[np.ndarray, np.ndarray]:
    """(float32[B, observation size], legal actions bool[B, A]) of information states of a phantom placement game;
    ``tokens`` int32, state i has ``tokens[offsets[i]:offsets[i + 1]]``."""
    size = offsets.size - 1
    out = np.empty((size, game.observation_size(view)), dtype=np.float32)
    masks = np.empty((size, game.num_distinct_actions()), dtype=np.bool_)
    _observe(
        game.kernels.table, game.params, game.row_size, game.information_length_at, player, int(view),
        np.ascontiguousarray(tokens), np.ascontiguousarray(offsets, dtype=np.int64), out, masks,
    )  # fmt: skip
    return out, masks
