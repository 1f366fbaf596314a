"""One player's information states in an abrupt game, and what leads where."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from cfr.phantom import abrupt_words as words
from cfr.phantom.abrupt_patterns import COLLIDED, PLACED, Known, Pattern, stones_of
from cfr.phantom.abrupt_pool import Pool

# Columns of ``Graph.blocks``: the nodes and their sequences; sequences a node; sets of own stones, arrangements of
# a set and label words, whose product is the number of places; starts in ``places``, ``numbers`` and ``placed``;
# the blocks that follow (-1: none), and the block that one is folded into (``cfr.phantom.abrupt_folds``; -1: none).
FIRST_NODE, COUNT, FIRST_SEQUENCE, WIDTH, SETS, ARRANGEMENTS, WORDS = range(7)
PLACES, NUMBERS, AFTER_PLACEMENT, ON_COLLISION, ON_PLACEMENT, FOLDED_INTO = range(7, 13)
COLUMNS = 13


@dataclasses.dataclass(frozen=True, eq=False)
class Graph:
    """One player's information states: by number of turns taken, then pattern, order and labels.

    Sequences as in ``cfr.tree.Treeplex``: sequence 0 is the empty one, then one per node and cell not known to its
    owner, in increasing order of cells. All nodes after t turns have n - t of them.

    ``blocks`` int64[B, COLUMNS], ``known``: one a block; ``levels``: blocks after each number of turns.
    ``places`` and ``numbers`` int32: place of a node in its block, and the other way round (-1: cannot be reached);
    ``placed`` int32: the place that a placement leads to, or WON. A collision at ``place`` with the unknown cell of
    rank a leads to the place ``place * width + a`` of the block ON_COLLISION. ``orders``: by number of stones.
    ``told``: collisions are announced.
    """

    player: int
    n: int
    blocks: np.ndarray
    known: tuple[Known, ...]
    told: bool
    levels: tuple[range, ...]
    orders: tuple[words.Orders, ...]
    places: np.ndarray
    numbers: np.ndarray
    placed: np.ndarray

    @property
    def num_nodes(self) -> int:
        return int(self.blocks[:, COUNT].sum())

    @property
    def num_sequences(self) -> int:
        return 1 + int((self.blocks[:, COUNT] * self.blocks[:, WIDTH]).sum())

    @property
    def nbytes(self) -> int:
        return self.places.nbytes + self.numbers.nbytes + self.placed.nbytes

    def first_sequence(self) -> np.ndarray:
        """int64[N + 1]: node i owns the sequences ``first[i]:first[i + 1]``."""
        counts = np.repeat(self.blocks[:, WIDTH], self.blocks[:, COUNT])
        return np.concatenate([[1], 1 + np.cumsum(counts)])

    def tokens(self, block: int) -> np.ndarray:
        """int32[COUNT, turns]: the own actions of a block's nodes, ``2 * cell + collided`` each."""
        pattern, row = np.array(self.known[block].own, dtype=np.int64), self.blocks[block]
        s = stones_of(self.known[block].own)
        x = pattern.size - s
        order, label = np.divmod(self.places[row[PLACES] : row[PLACES] + row[COUNT]], row[WORDS])
        cells = self.orders[s].cells[order].astype(np.int32)
        found = words.all_words(self.n - s, x)[label] + s
        result = np.empty((order.size, pattern.size), dtype=np.int32)
        result[:, pattern == PLACED] = 2 * cells[:, :s]
        result[:, pattern == COLLIDED] = 2 * np.take_along_axis(cells, found, axis=1) + 1
        return result

    def actions(self, block: int) -> np.ndarray:
        """int32[COUNT, WIDTH]: the cells of a block's sequences."""
        tokens = self.tokens(block)
        unknown = np.ones((tokens.shape[0], self.n), dtype=np.bool_)
        np.put_along_axis(unknown, tokens >> 1, False, axis=1)
        return np.nonzero(unknown)[1].reshape(tokens.shape[0], -1).astype(np.int32)

    def find(self, tokens: np.ndarray, heard: Pattern = ()) -> int:
        """The node after own actions (as in ``tokens``) and what was ``heard``; -1 when there is none."""
        pattern = tuple(int(token) & 1 for token in tokens)
        own = [int(token) >> 1 for token in tokens if token & 1 == PLACED]
        found = [int(token) >> 1 for token in tokens if token & 1 == COLLIDED]
        block = self._block_of.get(Known(pattern, heard), -1)
        order = self.orders[len(own)].index[words.word_rank(own, range(self.n))]
        if block < 0 or order < 0:
            return -1
        row = self.blocks[block]
        free = [cell for cell in range(self.n) if cell not in own]
        number = self.numbers[row[NUMBERS] + order * row[WORDS] + words.word_rank(found, free)]
        return -1 if number < 0 else int(row[FIRST_NODE] + number)

    @cached_property
    def _block_of(self) -> dict[Known, int]:
        return {known: block for block, known in enumerate(self.known)}


def build_graph(
    player: int, orders: tuple[words.Orders, ...], most: np.ndarray, levels: Sequence[dict[Known, int]], told: bool
) -> Graph:
    """``orders``: by number of stones; ``most``: as from ``most_stones``; ``levels``: by number of turns, as from
    ``fewest_stones``."""
    n = len(orders) - 1
    placed, places, numbers = Pool(np.int32), Pool(np.int32), Pool(np.int32)
    reachable: dict[tuple[int, int, int], tuple[np.ndarray, np.ndarray]] = {}
    block_of: dict[tuple[Pattern, Pattern], int] = {known: i for i, known in enumerate(itertools.chain(*levels))}

    def standing_for(own: Pattern, heard: Pattern) -> int:
        """The block of an own pattern that stands for all that can be told next; -1 when there is none."""
        told_next = ((*heard, COLLIDED), (*heard, PLACED)) if told else ((),)
        return next((block_of[own, now] for now in told_next if (own, now) in block_of), -1)

    rows: list[tuple[int, ...]] = []
    node, sequence = 0, 1
    for turns, level in enumerate(levels):
        for (own, heard), fewest in level.items():
            s = stones_of(own)
            x = turns - s
            into = standing_for(own, heard[:-1])
            kind = s, x, fewest
            if kind not in reachable:
                reachable[kind] = words.reachable_places(orders[s], x, most, fewest)
            number, place = reachable[kind]

            def leads_to(s: int = s, x: int = x) -> np.ndarray:
                return words.placements(orders[s], orders[s + 1], x)

            rows.append((
                node, place.size, sequence, n - turns, orders[s].sets.size, math.factorial(s), math.perm(n - s, x),
                places.add(kind, place), numbers.add(kind, number), placed.offset((s, x), leads_to),
                *(standing_for((*own, outcome), heard) for outcome in (COLLIDED, PLACED)),
                -1 if into == block_of[own, heard] else into,
            ))  # fmt: skip
            node += place.size
            sequence += place.size * (n - turns)
    blocks = np.array(rows, dtype=np.int64).reshape(-1, COLUMNS)
    starts = np.concatenate([[0], np.cumsum([len(level) for level in levels], dtype=np.int64)]).tolist()
    return Graph(
        player, n, blocks, tuple(itertools.chain(*levels)), told, tuple(map(range, starts[:-1], starts[1:])), orders,
        places.joined(), numbers.joined(), placed.joined(),
    )  # fmt: skip
