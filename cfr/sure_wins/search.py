"""One player's search: a growing table of settled positions, and questions about any of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cfr.errors import TreeTooLargeError, UnsupportedGameError
from cfr.memory import FRACTION_OF_FREE_MEMORY, available_memory, format_bytes
from cfr.sure_wins.kernels import (
    LIMIT,
    LOST,
    MAX_CELLS,
    OPEN,
    SETTLED,
    WON,
    board_words,
    enemy_distance,
    own_distance,
    settle,
    transfer,
)
from envs.core import Game

SLICE = 1 << 17  # positions between two looks at the keyboard and the memory: a second or less
FEWEST_SLOTS = 1 << 12
BYTES_PER_SLOT = 17
ALL = -1

Progress = Callable[[int, int], Any]  # called with the player and the number of positions settled so far


def stones_of(tokens: np.ndarray, cells: int) -> tuple[int, int]:
    """Bit masks of own stones and found enemy stones in a player's information tokens; announcements do not matter."""
    masks = [0, 0]
    for token in tokens.tolist():
        if token < 2 * cells:
            masks[token & 1] |= 1 << (token >> 1)
    return masks[0], masks[1]


class Search:
    """Which positions ``player`` wins for certain. Sets of cells are bit masks: cell c is bit ``1 << c``.

    A position is given by his own stones and the enemy stones he has found, at one of his decisions.
    Raises UnsupportedGameError for a game without hidden stones on a Hex board, or with more than 62 cells.
    """

    def __init__(
        self, game: Game, player: int, memory_limit: int | None = None, progress: Progress | None = None
    ) -> None:
        if not (isinstance(game, Game) and game.phantom_placement and game.connects_sides):
            raise UnsupportedGameError(f"sure wins are computed for Dark Hex, not for {game}")
        parameters = game.explicit_parameters()
        rows, cols = parameters["rows"], parameters["cols"]
        self.cells = rows * cols
        if self.cells > MAX_CELLS:
            raise UnsupportedGameError(
                f"{game.spec()} has {self.cells} cells; sure wins are computed on boards of at most {MAX_CELLS}"
            )
        if memory_limit is not None and memory_limit <= 0:
            raise ValueError(f"memory_limit={memory_limit!r} is not allowed; give bytes > 0, or None")
        self.game, self.player, self.progress = game, player, progress
        self.abrupt = parameters["version"] == "abrupt"
        self.memory_limit = memory_limit
        self._board = board_words(rows, cols, player, self.abrupt)
        self._counters = np.zeros(2, dtype=np.int64)
        self._scores = np.empty((self.cells + 1, self.cells), dtype=np.int64)
        self._keys = np.empty((FEWEST_SLOTS, 2), dtype=np.int64)
        self._verdicts = np.zeros(FEWEST_SLOTS, dtype=np.int8)

    @property
    def num_positions(self) -> int:
        """Positions settled so far; one stands for its rotation by 180 degrees too."""
        return int(self._counters[SETTLED])

    def hand(self, own: int, known: int) -> int:
        """How many enemy stones are not found yet, at most. In the classical version that is their number."""
        turns = own.bit_count() + self.player + (known.bit_count() if self.abrupt else 0)
        return turns - known.bit_count()

    def probe(self, own: int, known: int, allowed: int = ALL) -> int | None:
        """A cell among ``allowed`` whose probe wins for certain, None when there is none.

        ValueError when the position cannot be: cells off the board or taken twice, more found stones than the enemy
        has placed. TreeTooLargeError when the table has outgrown the memory limit.
        """
        hand = self.hand(own, known)
        if own & known or own < 0 or known < 0 or (own | known) >> self.cells or hand < 0:
            raise ValueError(
                f"own stones {own:#x} and found stones {known:#x} are no position of player {self.player} "
                f"in {self.game.spec()}"
            )
        if own_distance(self._board, own, known, 1) == 0 or enemy_distance(self._board, own, known, hand) <= hand:
            return None  # the game is over, or may be
        while True:
            self._make_room()
            found = settle(
                self._board, self._keys, self._verdicts, self._counters, self._scores, own, known, hand, allowed
            )
            if found != OPEN:
                return None if found == LOST else int(found) - WON
            if self.progress is not None:
                self.progress(self.player, self.num_positions)

    def after(self, own: int, known: int, cell: int) -> list[tuple[int, int]]:
        """The positions (own, known) of the player's next decision if he probes ``cell`` in a position that he wins:
        he may win at once, else place, and, when the enemy has stones to be found, collide."""
        bit = 1 << cell
        wins = own_distance(self._board, own | bit, known, 1) == 0
        return [(own | bit, known)] * (not wins) + [(own, known | bit)] * (self.hand(own, known) > 0)

    def _make_room(self) -> None:
        """Set the limit of the next slice, in a table that stays at most half full."""
        slots = self._verdicts.size
        if 2 * self.num_positions >= slots:
            self._grow(2 * slots)
        self._counters[LIMIT] = min(self.num_positions + SLICE, self._verdicts.size // 2)

    def _grow(self, slots: int) -> None:
        limit = self.memory_limit
        if limit is None:
            limit = int(FRACTION_OF_FREE_MEMORY * available_memory()) + BYTES_PER_SLOT * self._verdicts.size
        needed = BYTES_PER_SLOT * (slots + self._verdicts.size)  # the old table lives until it is copied
        if needed > limit:
            raise TreeTooLargeError(
                f"the search for sure wins of player {self.player} in {self.game.spec()} has settled "
                f"{self.num_positions:,} positions and needs {format_bytes(math.log10(needed))}, the limit is "
                f"{format_bytes(math.log10(limit))}; give it more memory, or a smaller board",
                needed,
                limit,
            )
        keys, verdicts = np.empty((slots, 2), dtype=np.int64), np.zeros(slots, dtype=np.int8)
        transfer(self._keys, self._verdicts, keys, verdicts)
        self._keys, self._verdicts = keys, verdicts
