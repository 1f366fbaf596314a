"""Count vectors: how often a player of a classical game collides in each of his turns, a number a turn.

Which vectors there are depends on nothing but the numbers of stones: in every turn he can run into as many as stand and
were not found before. They are numbered so that those that continue one vector are neighbours.
"""

from __future__ import annotations

import numpy as np


def count_vectors(player: int, turns: int) -> list[np.ndarray]:
    """``starts[t]`` int64: the vectors of ``player``'s first t + 1 turns that continue vector v of t turns are
    ``starts[t][v]:starts[t][v + 1]``, by their last number."""
    starts = []
    collisions = np.zeros(1, dtype=np.int64)
    for turn in range(turns):
        most = turn + player - collisions
        start = np.concatenate([[0], np.cumsum(most + 1)])
        starts.append(start)
        collisions = np.repeat(collisions - start[:-1], most + 1) + np.arange(start[-1])
    return starts


def number_of_vectors(player: int, turns: int) -> int:
    """Of the first ``turns`` turns; there is one vector of none, or of less."""
    return int(count_vectors(player, turns)[-1][-1]) if turns > 0 else 1
