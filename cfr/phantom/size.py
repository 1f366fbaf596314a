"""How much memory the merged nodes of a board take, counted before anything is built."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from cfr.errors import TreeTooLargeError
from cfr.memory import available_memory, format_bytes
from cfr.phantom.classical import WINS
from envs.kernels import kernel

MOST_PAIRS = 20_000_000  # counting more takes seconds
BYTES_PER_ENTRY = 24  # at the peak of building: lists that grow, their copies, nodes; 17 to 21 measured on 3x3


@kernel(types.int64(types.int64, WINS, types.int64, types.Array(types.int64, 1, "C")))
def _count_pairs(n, wins, most, pairs):
    """``pairs[l]``: pairs of placement orders with l stones that end nothing; stops after ``most`` in all."""
    stones = np.zeros((n + 2, 2), dtype=np.int64)
    cell = np.full(n + 2, -1, dtype=np.int64)
    level, total = 0, 1
    pairs[0] = 1
    while level >= 0:
        mover = level % 2
        taken = stones[level, 0] | stones[level, 1]
        cell[level] += 1
        if cell[level] >= n:
            level -= 1
            continue
        bit = 1 << cell[level]
        if taken & bit or wins[mover, stones[level, mover] | bit]:
            continue
        stones[level + 1] = stones[level]
        stones[level + 1, mover] |= bit
        level += 1
        cell[level] = -1
        pairs[level] += 1
        total += 1
        if total >= most:
            return total
    return total


def predicted_bytes(game: Any) -> float:
    """Peak memory of building both players' graphs; ``inf`` where even counting would take long."""
    if game.cells > 20:
        return math.inf
    pairs = np.zeros(game.cells + 2, dtype=np.int64)
    if _count_pairs(game.cells, game.win_table(), MOST_PAIRS, pairs) >= MOST_PAIRS:
        return math.inf
    entries = 0
    for level, count in enumerate(pairs.tolist()):
        # A stone that stood before j of the mover's turns, this one included, was found in one of them or in none:
        # j + 1 ways, independently. The other player's list is the mover's of the level before.
        # On a full board nobody is to move: the mover's list is as after his last placement.
        k, turn = level // 2, int(level < game.cells)
        entries += count * (math.factorial(k + turn + level % 2) + math.factorial(k + 1))
    return float(entries * BYTES_PER_ENTRY)


def check_size(
    game: Any, memory_limit: int | None, predict: Callable[[Any], float] = predicted_bytes
) -> None:
    """TreeTooLargeError for a board whose nodes do not fit; ``predict(game)``: the bytes they take."""
    limit = available_memory() // 2 if memory_limit is None else memory_limit
    needed = predict(game)
    if needed > limit:
        size = f"about {format_bytes(math.log10(needed))}" if math.isfinite(needed) else "far more memory than there is"
        raise TreeTooLargeError(
            f"the merged nodes of {game.spec()} need {size}, the limit is {format_bytes(math.log10(limit))}; "
            'sample instead, cfr.make_sampler("external", game)',
            needed,
            limit,
        )
