"""Which patterns of the two players can meet, and what each says about the other's collisions.

A *pattern* is what a player's turns were, cells left out: a tuple of PLACED and COLLIDED.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

Pattern = tuple[int, ...]
Sizes = tuple[int, ...]
PLACED, COLLIDED = 0, 1


def stones_of(pattern: Pattern) -> int:
    return pattern.count(PLACED)


class Known(NamedTuple):
    """The own pattern of a player, and as much of the opponent's as he was told: nothing when collisions are not
    announced."""

    own: Pattern
    heard: Pattern


@dataclasses.dataclass(frozen=True)
class Meeting:
    """Patterns of both players that can occur together, and per player how many stones the other had at each of his
    collisions."""

    patterns: tuple[Pattern, Pattern]
    sizes: tuple[Sizes, Sizes]

    def known(self, player: int, told: bool) -> Known:
        """What ``player`` knows when he is to move; ``told``: collisions are announced."""
        return Known(self.patterns[player], self.patterns[1 - player] if told else ())

    def acted(self, player: int, told: bool) -> Known:
        """What ``player`` knew when he took his last action, and how it ended."""
        own = self.patterns[player]
        return Known(own, self.patterns[1 - player][: max(0, len(own) - 1 + player)] if told else ())

    def _with(self, mover: int, outcome: int, sizes: Sizes) -> Meeting:
        pattern = (*self.patterns[mover], outcome)
        if mover == 0:
            return Meeting((pattern, self.patterns[1]), (sizes, self.sizes[1]))
        return Meeting((self.patterns[0], pattern), (self.sizes[0], sizes))

    def after_placement(self, mover: int, possible: np.ndarray) -> list[Meeting]:
        """The meeting after ``mover`` has placed a stone, when ``possible`` holds for the two numbers of stones."""
        stones = [stones_of(pattern) for pattern in self.patterns]
        if not possible[stones[0] + (mover == 0), stones[1] + (mover == 1)]:
            return []
        return [self._with(mover, PLACED, self.sizes[mover])]

    def next_meetings(self, mover: int, can_meet: np.ndarray) -> list[Meeting]:
        result = self.after_placement(mover, can_meet)
        stones = stones_of(self.patterns[1 - mover])
        if stones > len(self.sizes[mover]):  # one of them is not found yet
            result.append(self._with(mover, COLLIDED, (*self.sizes[mover], stones)))
        return result


def sets_by_size(n: int, wins: np.ndarray) -> list[np.ndarray]:
    """The sets of 0 to n stones (bit masks) that do not win; ``wins`` bool[2**n]."""
    sets = np.flatnonzero(~wins)
    sizes = np.bitwise_count(sets)
    return [sets[sizes == size] for size in range(n + 1)]


def disjoint_sizes(n: int, wins: np.ndarray) -> np.ndarray:
    """bool[n + 2, n + 2]: whether the game can go on with a stones of player 0 and b stones of player 1: neither wins,
    and a cell is empty. ``wins`` bool[2, 2**n]."""
    sets = [sets_by_size(n, wins[player]) for player in (0, 1)]
    result = np.zeros((n + 2, n + 2), dtype=np.bool_)
    for a in range(n):
        for b in range(n - a):
            result[a, b] = any((sets[1][b] & stones == 0).any() for stones in sets[0][a])
    return result


def drawn_sets(wins: np.ndarray) -> np.ndarray:
    """bool[2, 2**n]: the stones of each player that draw on a full board; ``wins`` bool[2, 2**n]."""
    return ~wins & ~wins[::-1, ::-1]  # the set of all other cells has the complementary number


def drawn_sizes(n: int, wins: np.ndarray) -> np.ndarray:
    """bool[n + 2, n + 2]: whether a board full with a stones of player 0 and b of player 1 can be drawn."""
    result = np.zeros((n + 2, n + 2), dtype=np.bool_)
    sizes = np.bitwise_count(np.flatnonzero(drawn_sets(wins)[0])).astype(np.int64)
    result[sizes, n - sizes] = True
    return result


def meetings_by_level(can_meet: np.ndarray) -> Iterator[list[Meeting]]:
    """The meetings in which somebody is to move, by the number of actions so far. ``can_meet``: see
    ``disjoint_sizes``."""
    level, mover = [Meeting(((), ()), ((), ()))] if can_meet[0, 0] else [], 0
    while level:
        yield level
        level = [longer for meeting in level for longer in meeting.next_meetings(mover, can_meet)]
        mover = 1 - mover


def fewest_stones(meetings: list[Meeting], player: int, told: bool) -> dict[Known, int]:
    """For all that ``player`` can know when he is to move, the fewest stones that the opponent can have."""
    result: dict[Known, int] = {}
    for meeting in meetings:
        known, stones = meeting.known(player, told), stones_of(meeting.patterns[1 - player])
        result[known] = min(result.get(known, stones), stones)
    return dict(sorted(result.items()))
