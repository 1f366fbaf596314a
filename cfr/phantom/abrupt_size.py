"""How large an abrupt game is, before anything is made."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from cfr.phantom.abrupt_patterns import (
    Sizes,
    disjoint_sizes,
    fewest_stones,
    meetings_by_level,
    sets_by_size,
    stones_of,
)
from cfr.phantom.abrupt_words import most_stones

MOST_CELLS = 12  # beyond, counting itself takes long; no such board fits anywhere


@dataclasses.dataclass(frozen=True)
class AbruptSize:
    """``nodes``, ``sequences``: of both players. ``table_bytes``: what does not depend on policies, with scratch;
    every array of a solver over both players' sequences comes to 8 bytes a sequence. ``complete``: whether everything
    was counted, or only as much as exceeds the limit."""

    nodes: tuple[int, int]
    sequences: tuple[int, int]
    table_bytes: int
    complete: bool


def _chain_count(f: int, sizes: Sizes) -> int:
    count, before = 1, 0
    for size in sizes:
        count *= math.comb(f - before, size - before)
        before = size
    return count


def predict_size(n: int, wins: np.ndarray, limit: int = 1 << 40) -> AbruptSize:
    """Exact numbers of nodes and sequences; counting stops when more than ``limit`` bytes are certain.

    ``wins`` bool[2, 2**n]. ValueError for more than MOST_CELLS cells.
    """
    if n > MOST_CELLS:
        raise ValueError(f"a board of {n} cells is too large for the abrupt engine; up to {MOST_CELLS} are counted")
    sets = [sets_by_size(n, wins[player]) for player in (0, 1)]
    most = [most_stones(n, wins[1 - player]) for player in (0, 1)]
    cells = np.bitwise_count(np.arange(1 << n, dtype=np.uint32))
    nodes, sequences = [0, 0], [1, 1]
    kinds: set[tuple[int, ...]] = set()
    tables, largest_sums = 0, 0
    for number, level in enumerate(meetings_by_level(disjoint_sizes(n, wins))):
        player, turns = number % 2, number // 2
        for pattern, fewest in fewest_stones(level, player).items():
            s = stones_of(pattern)
            x = turns - s
            found = np.flatnonzero(cells == x)
            pairs = int((most[player][np.ix_(sets[player][s], found)] >= fewest).sum())
            count = pairs * math.factorial(s) * math.factorial(x)
            nodes[player] += count
            sequences[player] += count * (n - turns)
            orders = sets[player][s].size * math.factorial(s)
            if (player, s, x, fewest) not in kinds:
                kinds.add((player, s, x, fewest))
                tables += 4 * (count + orders * math.perm(n - s, x))
            if (player, s, x) not in kinds:
                kinds.add((player, s, x))
                tables += 4 * orders * math.perm(n - s, x + 1)
        sums = {(meeting.patterns[1 - player], meeting.sizes[1 - player]) for meeting in level}
        largest_sums = max(largest_sums, sum(
            sets[1 - player][stones_of(pattern)].size
            * math.factorial(stones_of(pattern))
            * _chain_count(n - stones_of(pattern), sizes)
            for pattern, sizes in sums
        ))  # fmt: skip
        size = tables + 8 * largest_sums + 8 * max(nodes)
        if size > limit:
            return AbruptSize((nodes[0], nodes[1]), (sequences[0], sequences[1]), size, False)
    return AbruptSize((nodes[0], nodes[1]), (sequences[0], sequences[1]), size, True)
