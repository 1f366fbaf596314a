"""Full boards of an abrupt game on which nobody has won: the draws.

The payoff of an action needs the mass that ends drawn between it and its owner's next node: what does not arrive
there is lost or drawn. An *end* is what a player knows about a full board, his pattern, order and labels, as at a
node, but nobody acts on it. Its mass is summed as those of nodes are, over the meetings in which the last action, of
either player, filled the board.
"""

from __future__ import annotations

import dataclasses
import math
from functools import partial

import numpy as np

from cfr.phantom.abrupt_graph import ARRANGEMENTS, COLUMNS, COUNT, FIRST_NODE, SETS, WORDS, Graph
from cfr.phantom.abrupt_levels import Level, Tables, build_level
from cfr.phantom.abrupt_patterns import COLLIDED, PLACED, Known, Meeting, stones_of
from cfr.phantom.abrupt_pool import Pool
from cfr.phantom.abrupt_words import Orders

# Columns of ``Draws.after``: where the numbers of ends start (-1: there are none) and the first end, by outcome.
HIT_AT, HIT_FIRST, PUT_AT, PUT_FIRST = range(4)


@dataclasses.dataclass(frozen=True, eq=False)
class Draws:
    """The ends that one player can know, after each of his turns.

    ``blocks`` int64[E, COLUMNS]: as in ``Graph``, of orders that draw on a full board; FIRST_NODE counts the ends of
    a level, and place i is end i. ``levels``: how the ends after turn t + 1 are summed, None where there are none.
    ``after`` int64[B, 4]: for a block of the graph, where the ends are that its collisions and placements lead to.
    ``numbers`` int32: the end at a place, -1 at places with orders that do not draw. ``most``: ends of a level.
    """

    blocks: np.ndarray
    levels: tuple[Level | None, ...]
    after: np.ndarray
    numbers: np.ndarray
    most: int

    @property
    def largest(self) -> int:
        """Places of a block."""
        return int(self.blocks[:, COUNT].max())

    @property
    def nbytes(self) -> int:
        return self.numbers.nbytes


def _numbers(orders: Orders, drawn: Orders, words: int) -> np.ndarray:
    """For every place of ``orders``, its number among those of the orders that draw, or -1."""
    draws = np.isin(orders.stones, drawn.sets)
    return np.where(draws[:, None], np.cumsum(draws)[:, None] * words - words + np.arange(words), -1).ravel()


def build_draws(
    player: int, graph: Graph, other: Graph, full: list[list[Meeting]], tables: Tables
) -> Draws | None:
    """``full``: the meetings on full boards, by the number of actions before the last. None when there are none."""
    rows: list[tuple[int, ...]] = []
    levels: list[Level | None] = []
    ends: dict[Known, tuple[int, int]] = {}
    numbers = Pool(np.int32)
    most = 0
    for turns in range(len(graph.levels)):
        # The last action is the player's own turn, or the opponent's next.
        meetings = [meeting for level in full[2 * turns + player : 2 * turns + player + 2] for meeting in level]
        known = sorted({meeting.acted(player, graph.told) for meeting in meetings})
        first = 0
        for end in known:
            s = stones_of(end.own)
            x = len(end.own) - s
            orders, drawn = tables.orders[player][s], tables.drawn[player][s]
            words = math.perm(graph.n - s, x)
            ends[end] = numbers.offset((s, x), partial(_numbers, orders, drawn, words)), first
            row = [0] * COLUMNS
            row[FIRST_NODE], row[COUNT] = first, drawn.count * words
            row[SETS], row[ARRANGEMENTS], row[WORDS] = drawn.sets.size, math.factorial(s), words
            rows.append(tuple(row))
            first += drawn.count * words
        most = max(most, first)
        blocks = range(len(rows) - len(known), len(rows))
        levels.append(build_level(player, blocks, known, other, meetings, tables, full=True) if known else None)
    if not rows:
        return None
    nowhere = -1, 0
    after = [
        (*ends.get(Known((*own, COLLIDED), heard), nowhere), *ends.get(Known((*own, PLACED), heard), nowhere))
        for own, heard in graph.known
    ]
    return Draws(np.array(rows, dtype=np.int64), tuple(levels), np.array(after, dtype=np.int64), numbers.joined(), most)
