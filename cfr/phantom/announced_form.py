"""A classical phantom placement game in which collisions are announced, as the solvers see it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from cfr.phantom import announced_masses, masses
from cfr.phantom.announced import Announced, Level
from cfr.phantom.announced_build import announce, can_be_drawn
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

    def masses(self, player: int, opponent_reach: np.ndarray, result: np.ndarray | None = None) -> np.ndarray:
        graph, own, other = self.graphs[player], self.graphs[player].pairs, self.graphs[1 - player].pairs
        widths, heights = np.array([(level.lanes, level.own_lanes) for level in graph.levels]).T.copy()
        if result is None:
            result = np.empty(graph.num_places)
        result[:] = 0.0
        announced_masses.masses(
            own.own_start, own.own_places, own.own_lanes, own.own_stones, other.other_start, other.other_sequences,
            other.other_strides, other.other_lanes, widths, heights, opponent_reach, result,
        )  # fmt: skip
        for level in graph.levels:
            if not level.leaf:
                self._arrivals(announced_masses.gather, graph, level, result)
        return result

    @staticmethod
    def _arrivals(kernel: Callable[..., None], graph: Announced, level: Level, numbers: np.ndarray) -> None:
        kernel(level.arrivals.start, level.arrivals.stop, graph.num_nodes, graph.child, graph.ways, numbers)

    def _forward(self, player: int, behaviour: np.ndarray, node_reach: np.ndarray, reach: np.ndarray) -> None:
        graph = self.graphs[player]
        reach[graph.idle] = 0.0
        for level in graph.levels:
            self._arrivals(announced_masses.spread, graph, level, node_reach)
            masses.reaches(
                level.decisions.start, level.decisions.stop, graph.first, graph.collide, graph.place, behaviour,
                node_reach, reach,
            )  # fmt: skip

    def _backward(self, player: int, kernel: Callable[..., None], mass: np.ndarray, *arrays: np.ndarray) -> np.ndarray:
        graph = self.graphs[player]
        node_value = np.zeros(mass.size)
        if graph.settled:
            node_value[graph.leaves] = mass[graph.leaves]
        for level in reversed(graph.levels):
            if level.leaf:
                continue
            kernel(
                level.decisions.start, level.decisions.stop, graph.first, graph.collide, graph.place, mass, *arrays,
                node_value,
            )  # fmt: skip
            self._arrivals(announced_masses.gather, graph, level, node_value)
        return node_value

    def best_response(self, player: int, opponent_reach: np.ndarray) -> tuple[float, np.ndarray]:
        """The best payoff against the opponent's reach, and a deterministic behaviour that attains it."""
        graph = self.graphs[player]
        value, behaviour = super().best_response(player, opponent_reach)
        behaviour[graph.idle] = 0.0
        behaviour[graph.first[graph.idle_nodes]] = 1.0
        return value, behaviour

    def add_regrets(
        self,
        player: int,
        behaviours: Sequence[np.ndarray],
        reaches: Sequence[np.ndarray],
        instantaneous: np.ndarray,
        regrets: np.ndarray,
        mass: np.ndarray | None = None,
    ) -> None:
        """Counterfactual regrets of the player's behaviour against the opponent's ``reaches``; ``mass`` float64[N] gets
        the opponent's part of the probability of every node."""
        super().add_regrets(player, behaviours, reaches, instantaneous, regrets, mass)
        instantaneous[self.graphs[player].idle] = 0.0

    def find(self, player: int, tokens: np.ndarray) -> tuple[np.ndarray, slice]:
        graph = self.graphs[player]
        told = heard_counts(self.game, player, tokens)
        actions, node = graph.find(*told) if told is not None else (tokens, -1)
        if node < 0:
            raise never_decides(self.spec, player, tokens)
        return actions, slice(int(graph.first[node]), int(graph.first[node + 1]))

    def unmerged(self, player: int) -> Unmerged:
        graph = self.graphs[player]
        return Unmerged(graph, player, (graph.child, graph.ways), announced_tokens(self.game))
