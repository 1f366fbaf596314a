"""How many nodes a classical game with announced collisions has, and what they take, before anything is built."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from cfr.phantom.abrupt_patterns import disjoint_sizes, sets_by_size
from cfr.phantom.abrupt_words import most_stones
from cfr.phantom.announced_build import can_be_drawn
from cfr.phantom.counts import count_vectors, number_of_vectors
from cfr.phantom.size import predicted_bytes

MOST_CELLS = 12  # beyond, counting itself takes long; no such board fits anywhere
BYTES_PER_NODE = 8 + 2 * 8  # where its sequences start; mass and value
BYTES_PER_SEQUENCE = 4 + 4 + 1 + 3 * 8  # links and action; behaviour, reach and best response of an evaluation


@dataclasses.dataclass(frozen=True)
class AnnouncedSize:
    """``nodes``, ``sequences``: decisions of both players; ``bytes``: what they take with an evaluation, the building
    of the silent nodes included."""

    nodes: tuple[int, int]
    sequences: tuple[int, int]
    bytes: float


def ways_to_find(player: int, turns: int) -> np.ndarray:
    """int64[stones + 1]: in how many ways a player can have found f given stones in his turns 0..turns-1, the opponent
    having placed them in time."""
    collisions, ways = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    for starts in count_vectors(player, turns):
        count = np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts))
        collisions, ways = np.repeat(collisions, np.diff(starts)) + count, np.repeat(ways, np.diff(starts))
        # The cells found in this turn are any of those found so far.
        ways = ways * np.array([math.comb(c, k) for c, k in zip(collisions.tolist(), count.tolist(), strict=True)])
    result = np.zeros(turns + player + 1, dtype=np.int64)
    np.add.at(result, collisions, ways)
    return result


def predict_size(game: Any) -> AnnouncedSize:
    """Exact numbers of decisions, and about how many bytes they take; ValueError for more than MOST_CELLS cells."""
    n, wins = game.cells, game.win_table()
    if n > MOST_CELLS:
        raise ValueError(f"a board of {n} cells is too large to be counted; at most {MOST_CELLS} are")
    size_of = np.bitwise_count(np.arange(1 << n, dtype=np.uint32))
    goes_on, settle = disjoint_sizes(n, wins), not can_be_drawn(n, wins)
    nodes, sequences, arrivals = [0, 0], [1, 1], 0
    for player in (0, 1):
        sets, most = sets_by_size(n, wins[player]), most_stones(n, wins[1 - player])
        for k in range(n // 2 + 1):
            stones = k + player  # of the opponent
            if not goes_on[(k, stones) if player == 0 else (stones, k)]:
                continue
            lanes, lanes_before = (number_of_vectors(1 - player, turns) for turns in (stones, stones - 1))
            ways, ways_before = ways_to_find(player, k + 1), ways_to_find(player, k)
            for found in range(ways.size):
                together = int((most[np.ix_(sets[k], np.flatnonzero(size_of == found))] >= stones).sum())
                orders = together * math.factorial(k)
                if found < ways_before.size:
                    arrivals += orders * int(ways_before[found]) * lanes_before
                if n - k - stones > settle:  # otherwise leaves
                    count = orders * int(ways[found]) * lanes
                    nodes[player] += count
                    sequences[player] += count * (n - k - found)
    needed = predicted_bytes(game) + BYTES_PER_NODE * (sum(nodes) + arrivals) + BYTES_PER_SEQUENCE * sum(sequences)
    return AnnouncedSize((nodes[0], nodes[1]), (sequences[0], sequences[1]), needed)


def announced_bytes(game: Any) -> float:
    """What the nodes and an evaluation take; ``inf`` where even counting would take long."""
    return predict_size(game).bytes if game.cells <= MOST_CELLS else math.inf
