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

with reaches summed over labels beforehand (a number per order and chain) and masses spread over labels afterwards.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from cfr.phantom.abrupt_graph import Graph, build_graph
from cfr.phantom.abrupt_levels import Level, Tables, build_level
from cfr.phantom.abrupt_patterns import disjoint_sizes, fewest_stones, meetings_by_level
from cfr.phantom.abrupt_words import most_stones, number_orders


@dataclasses.dataclass(frozen=True, eq=False)
class Abrupt:
    """Both players' graphs, and per player the levels by number of turns. ``tables`` and ``met`` uint32: what the rows
    of the levels refer to."""

    graphs: tuple[Graph, Graph]
    levels: tuple[tuple[Level, ...], tuple[Level, ...]]
    tables: np.ndarray
    met: np.ndarray

    @property
    def nbytes(self) -> int:
        return sum(graph.nbytes for graph in self.graphs) + self.tables.nbytes + self.met.nbytes


def build_abrupt(n: int, wins: np.ndarray) -> Abrupt:
    """Everything that does not depend on policies. ``n``: cells of the board; ``wins`` bool[2, 2**n]: the stones (bit
    mask) of each player that win."""
    orders = tuple(tuple(number_orders(n, s, wins[p]) for s in range(n + 1)) for p in (0, 1))

    meetings = list(meetings_by_level(disjoint_sizes(n, wins)))
    graph_0, graph_1 = (
        build_graph(
            player,
            orders[player],
            most_stones(n, wins[1 - player]),
            [fewest_stones(level, player) for level in meetings[player::2]],
        )
        for player in (0, 1)
    )
    tables = Tables(n, orders)
    levels: tuple[list[Level], list[Level]] = ([], [])
    for number, level in enumerate(meetings):
        player, turns = number % 2, number // 2
        levels[player].append(build_level(player, turns, (graph_0, graph_1), level, tables))
    return Abrupt(
        (graph_0, graph_1), (tuple(levels[0]), tuple(levels[1])), tables.small.joined(), tables.met.joined()
    )
