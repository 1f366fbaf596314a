"""A classical phantom placement game in which collisions are announced, as the solvers see it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from cfr.phantom import announced_masses, masses
from cfr.phantom.announced import Announced, Level, announce, can_be_drawn
from cfr.phantom.announced_size import announced_bytes
from cfr.phantom.base import never_decides
from cfr.phantom.form import MergedForm, silent_graphs
from cfr.phantom.hearing import announced_tokens, heard_counts
from cfr.phantom.size import check_size
from cfr.phantom.unmerged import Unmerged
from envs.core import make


class AnnouncedForm(MergedForm):
    """The form of a classical game with ``info=announce`` or ``info=numturns``, which say the same in other words.

    ``memory_limit``, ``use_cache``, ``origin``: as in ``ClassicalForm``, with which it shares what is on disk.
    ``settle``: leave out the last turn where nothing depends on it (``cfr.phantom.announced``); policies are uniform
    there.
    """

    graphs: tuple[Announced, ...]

    def __init__(
        self, game: Any, memory_limit: int | None = None, use_cache: bool = False, settle: bool = True
    ) -> None:
        super().__init__(game, "classical", ("announce", "numturns"))
        check_size(game, memory_limit, announced_bytes)
        began = time.perf_counter()
        silent, origin = silent_graphs(make(game.name, **{**game.explicit_parameters(), "info": "silent"}), use_cache)
        settle = settle and not can_be_drawn(game.cells, game.win_table())
        with ThreadPoolExecutor(2) as pool:
            self.graphs = tuple(pool.map(lambda p: announce(p, game.cells, silent[p], settle), (0, 1)))
        self.origin = f"{origin} in {time.perf_counter() - began:.2f} s"

    def masses(self, player: int, opponent_reach: np.ndarray) -> np.ndarray:
        """float64[places]: the opponent's part of the probability of every node of ``player``."""
        own, other = self.graphs[player], self.graphs[1 - player]
        widths, heights = (np.array(column) for column in zip(*((x.lanes, x.own_lanes) for x in own.levels), strict=True))
        result = np.zeros(own.num_places)
        announced_masses.masses(
            own.own_start, own.own_stones, own.own_places, own.own_lanes, widths, heights, other.other_start,
            other.other_sequences, other.other_strides, other.other_lanes, opponent_reach, result,
        )  # fmt: skip
        for level in own.levels:
            if not level.leaf:
                self._arrivals(announced_masses.gather, own, level, result)
        return result

    @staticmethod
    def _arrivals(kernel: Callable[..., None], graph: Announced, level: Level, numbers: np.ndarray) -> None:
        kernel(level.arrivals.start, level.arrivals.stop, graph.num_nodes, graph.child, graph.ways, numbers)

    def _forward(self, player: int, behaviour: np.ndarray, node_reach: np.ndarray, reach: np.ndarray) -> None:
        graph = self.graphs[player]
        reach[graph.collide.size :] = 0.0  # the idle nodes
        for level in graph.levels:
            self._arrivals(announced_masses.spread, graph, level, node_reach)
            masses.reaches(
                level.decisions.start, level.decisions.stop, graph.first, graph.collide, graph.place, behaviour,
                node_reach, reach,
            )  # fmt: skip

    def _backward(self, player: int, kernel: Callable[..., None], mass: np.ndarray, *arrays: np.ndarray) -> np.ndarray:
        graph = self.graphs[player]
        node_value = np.empty(mass.size)
        for level in reversed(graph.levels):
            if level.leaf:
                node_value[level.arrivals] = mass[level.arrivals] if graph.settled else 0.0
                continue
            kernel(
                level.decisions.start, level.decisions.stop, graph.first, graph.collide, graph.place, mass, *arrays,
                node_value,
            )  # fmt: skip
            self._arrivals(announced_masses.gather, graph, level, node_value)
        return node_value

    def best_response(self, player: int, opponent_reach: np.ndarray) -> tuple[float, np.ndarray]:
        value, behaviour = super().best_response(player, opponent_reach)
        idle = self.graphs[player].first[self.graphs[player].num_places :]
        behaviour[idle[0] :] = 0.0
        behaviour[idle[:-1]] = 1.0
        return value, behaviour

    def add_regrets(
        self,
        player: int,
        behaviours: Sequence[np.ndarray],
        reaches: Sequence[np.ndarray],
        instantaneous: np.ndarray,
        regrets: np.ndarray,
    ) -> None:
        super().add_regrets(player, behaviours, reaches, instantaneous, regrets)
        instantaneous[self.graphs[player].collide.size :] = 0.0

    def find(self, player: int, tokens: np.ndarray) -> tuple[np.ndarray, slice]:
        """(legal actions int32[k], their sequences) at the node of a player's information tokens.

        KeyError when no game reaches this information.
        """
        graph = self.graphs[player]
        told = heard_counts(self.game, player, tokens)
        actions, node = graph.find(*told) if told is not None else (tokens, -1)
        if node < 0:
            raise never_decides(self.spec, player, tokens)
        return actions, slice(int(graph.first[node]), int(graph.first[node + 1]))

    def unmerged(self, player: int) -> Unmerged:
        """The player's information states that have nodes of their own, each with its node."""
        graph = self.graphs[player]
        return Unmerged(graph, player, (graph.child, graph.ways), announced_tokens(self.game))
