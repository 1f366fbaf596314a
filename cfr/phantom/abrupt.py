"""An abrupt phantom placement game, laid out for summing.

Abrupt: the players strictly alternate; a turn is one action, a placement or a collision. What a player knows after
t turns is his *pattern* (which turns were collisions), the order of his own stones, and the cells found in the
collisions. Nodes with one pattern form a *block*; inside it a node is a place, ``order * words + rank of the labels``
(``cfr.phantom.abrupt_words``), so links between nodes are arithmetic and a few shared tables.

Given both patterns and both orders, the two players' labels are independent, and the labels of one depend on
the other's order only through its *chain* (``cfr.phantom.abrupt_chains``): the sets of stones that stood at the
turns of the collisions, whose sizes follow from the two patterns alone. The sums of ``cfr.phantom.abrupt_masses``
therefore run over

    pairs of patterns  x  pairs of orders without a common cell

with reaches summed over labels beforehand (a number per order and chain) and masses spread over labels afterwards. The
same sums over full boards give the drawn masses (``cfr.phantom.abrupt_draws``).
"""

from __future__ import annotations

import dataclasses

import numpy as np

from cfr.phantom.abrupt_draws import Draws, build_draws
from cfr.phantom.abrupt_graph import Graph, build_graph
from cfr.phantom.abrupt_levels import Level, Tables, build_level
from cfr.phantom.abrupt_patterns import disjoint_sizes, drawn_sets, drawn_sizes, fewest_stones, meetings_by_level
from cfr.phantom.abrupt_words import most_stones, number_orders, some_orders


@dataclasses.dataclass(frozen=True, eq=False)
class Abrupt:
    """Both players' graphs, and per player the levels by number of turns. ``draws``: per player, None in a game
    without. ``tables`` and ``met`` uint32: what the rows of the levels refer to."""

    graphs: tuple[Graph, Graph]
    levels: tuple[tuple[Level, ...], tuple[Level, ...]]
    draws: tuple[Draws | None, Draws | None]
    tables: np.ndarray
    met: np.ndarray

    @property
    def all_levels(self) -> list[Level]:
        drawn = [level for draws in self.draws if draws is not None for level in draws.levels if level is not None]
        return [*self.levels[0], *self.levels[1], *drawn]

    @property
    def nbytes(self) -> int:
        drawn = sum(draws.nbytes for draws in self.draws if draws is not None)
        return sum(graph.nbytes for graph in self.graphs) + drawn + self.tables.nbytes + self.met.nbytes


def build_abrupt(n: int, wins: np.ndarray, told: bool = False) -> Abrupt:
    """Everything that does not depend on policies. ``n``: cells of the board; ``wins`` bool[2, 2**n]: the stones (bit
    mask) of each player that win; ``told``: collisions are announced."""
    orders = tuple(tuple(number_orders(n, s, wins[p]) for s in range(n + 1)) for p in (0, 1))
    drawn = tuple(
        tuple(some_orders(some, draws) for some in own) for own, draws in zip(orders, drawn_sets(wins), strict=True)
    )

    meetings = list(meetings_by_level(disjoint_sizes(n, wins)))
    graph_0, graph_1 = (
        build_graph(
            player,
            orders[player],
            most_stones(n, wins[1 - player]),
            [fewest_stones(level, player, told) for level in meetings[player::2]],
            told,
        )
        for player in (0, 1)
    )
    graphs = graph_0, graph_1
    tables = Tables(n, orders, drawn)
    levels: tuple[list[Level], list[Level]] = ([], [])
    for number, level in enumerate(meetings):
        player = number % 2
        own, other = graphs[player], graphs[1 - player]
        blocks = own.levels[number // 2]
        known = own.known[blocks.start : blocks.stop]
        levels[player].append(build_level(player, blocks, known, other, level, tables))
    possible = drawn_sizes(n, wins)
    full = [
        [ended for meeting in level for ended in meeting.after_placement(number % 2, possible)]
        for number, level in enumerate(meetings)
    ]
    draws = build_draws(0, graph_0, graph_1, full, tables), build_draws(1, graph_1, graph_0, full, tables)
    return Abrupt(graphs, (tuple(levels[0]), tuple(levels[1])), draws, tables.small.joined(), tables.met.joined())
