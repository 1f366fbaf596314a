"""How large an abrupt game is, before anything is made."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np

from cfr.phantom.abrupt_patterns import (
    COLLIDED,
    Meeting,
    Sizes,
    disjoint_sizes,
    drawn_sets,
    drawn_sizes,
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


def _sums_size(n: int, player: int, sets: list[np.ndarray], meetings: list[Meeting], told: bool) -> int:
    """Numbers that the reaches of ``player`` are summed into; ``sets``: of his stones, by size."""
    return sum(
        sets[stones_of(pattern)].size
        * math.factorial(stones_of(pattern))
        * _chain_count(n - stones_of(pattern), sizes)
        for (pattern, _), sizes in {(meeting.acted(player, told), meeting.sizes[player]) for meeting in meetings}
    )


def predict_size(n: int, wins: np.ndarray, limit: int = 1 << 40, told: bool = False) -> AbruptSize:
    """Exact numbers of nodes and sequences; counting stops when more than ``limit`` bytes are certain.

    ``wins`` bool[2, 2**n]; ``told``: collisions are announced. ValueError for more than MOST_CELLS cells.
    """
    if n > MOST_CELLS:
        raise ValueError(f"a board of {n} cells is too large for the abrupt engine; up to {MOST_CELLS} are counted")
    sets = [sets_by_size(n, wins[player]) for player in (0, 1)]
    most = [most_stones(n, wins[1 - player]) for player in (0, 1)]
    cells = np.bitwise_count(np.arange(1 << n, dtype=np.uint32))
    nodes, sequences = [0, 0], [1, 1]
    kinds: set[tuple[int | str, ...]] = set()
    tables, largest_sums = 0, 0
    possible, drawn = drawn_sizes(n, wins), np.bitwise_count(np.flatnonzero(drawn_sets(wins)[0]))
    most_ends = 0
    before: list[Meeting] = []
    for number, level in enumerate(itertools.chain(meetings_by_level(disjoint_sizes(n, wins)), [[]])):
        player, turns = number % 2, number // 2
        for (pattern, _), fewest in fewest_stones(level, player, told).items():
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
        largest_sums = max(largest_sums, _sums_size(n, 1 - player, sets[1 - player], level, told))
        # Full boards after this action and the one before are ends of the player who acted before.
        full = [ended for meeting in level for ended in meeting.after_placement(player, possible)]
        largest_sums = max(largest_sums, _sums_size(n, player, sets[player], before + full, told))
        ends = 0
        for pattern, _ in {meeting.acted(1 - player, told) for meeting in before + full}:
            s, x = stones_of(pattern), pattern.count(COLLIDED)
            words = math.perm(n - s, x)
            ends += int((drawn == (s if player else n - s)).sum()) * math.factorial(s) * words
            if (1 - player, s, x, "ends") not in kinds:
                kinds.add((1 - player, s, x, "ends"))
                tables += 4 * sets[1 - player][s].size * math.factorial(s) * words
        most_ends, before = max(most_ends, ends), full
        size = tables + 8 * (largest_sums + max(nodes) + most_ends)
        if size > limit:
            return AbruptSize((nodes[0], nodes[1]), (sequences[0], sequences[1]), size, False)
    return AbruptSize((nodes[0], nodes[1]), (sequences[0], sequences[1]), size, True)
