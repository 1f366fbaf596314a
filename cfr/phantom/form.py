"""A classical phantom placement game as the solvers see it: merged nodes instead of a tree."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from cfr.best_response import Evaluation
from cfr.phantom import masses
from cfr.phantom.base import BATCH, PhantomForm, PolicyFunction, asked, never_decides, table_probabilities
from cfr.phantom.cache import cached
from cfr.phantom.classical import Graph, build_graph
from cfr.phantom.observations import observations
from cfr.phantom.size import check_size
from cfr.phantom.unmerged import Unmerged
from cfr.policy import TabularPolicy


class MergedForm(PhantomForm):
    """Both players' merged nodes in a classical game, and the sums over them.

    ``graphs``: one a player; ``behaviour`` arrays hold a probability per sequence (place 0, the empty sequence, is
    1). The two players' halves run on two threads; neither depends on the other's, so results do not either.
    Subclasses know what a node is.
    """

    def masses(self, player: int, opponent_reach: np.ndarray, result: np.ndarray | None = None) -> np.ndarray:
        """float64[N]: the opponent's part of the probability of every node of ``player``, in ``result`` when given."""
        raise NotImplementedError

    def unmerged(self, player: int) -> Unmerged:
        """The player's information states themselves, where nodes are merged from them, each with its node."""
        raise NotImplementedError

    def _forward(self, player: int, behaviour: np.ndarray, node_reach: np.ndarray, reach: np.ndarray) -> None:
        """Reaches of all nodes and sequences; ``node_reach`` float64[N] is 1 at the root and 0 elsewhere before."""
        raise NotImplementedError

    def _backward(self, player: int, kernel: Callable[..., None], mass: np.ndarray, *arrays: np.ndarray) -> np.ndarray:
        """Run a backward sweep of ``cfr.phantom.masses`` over all nodes; returns the payoffs times masses."""
        raise NotImplementedError

    @property
    def nbytes(self) -> int:
        return sum(graph.nbytes for graph in self.graphs)

    def first_sequence(self, player: int) -> np.ndarray:
        """int64[N + 1]: node i owns the sequences ``first[i]:first[i + 1]``."""
        return self.graphs[player].first

    def realise(self, player: int, behaviour: np.ndarray, reach: np.ndarray) -> None:
        """Own probability of every sequence, summed over the merged orders, into ``reach`` float64[S]."""
        node_reach = np.empty(self.graphs[player].num_places)
        node_reach[:] = 0.0
        node_reach[:1] = 1.0  # a player who never decides has no nodes
        reach[0] = 1.0
        self._forward(player, behaviour, node_reach, reach)

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
        mass = self.masses(player, reaches[1 - player], mass)
        instantaneous[0] = 0.0
        self._backward(player, masses.add_regrets, mass, behaviours[player], instantaneous, regrets)

    def best_response(self, player: int, opponent_reach: np.ndarray) -> tuple[float, np.ndarray]:
        """The best payoff against the opponent's reach, and a deterministic behaviour that attains it."""
        behaviour = np.empty(self.graphs[player].num_sequences)
        behaviour[0] = 1.0
        mass = self.masses(player, opponent_reach)
        return _payoff(mass, self._backward(player, masses.best_response, mass, behaviour)), behaviour

    def evaluate(self, behaviours: Sequence[np.ndarray]) -> Evaluation:
        """Values and best-response values of both players."""
        reaches = self.new_reaches()

        def realise_one(player: int) -> None:
            self.realise(player, behaviours[player], reaches[player])

        def evaluate_one(player: int) -> tuple[float, float]:
            mass = self.masses(player, reaches[1 - player])
            value = _payoff(mass, self._backward(player, masses.values, mass, behaviours[player]))
            best = np.empty(self.graphs[player].num_sequences)
            return value, _payoff(mass, self._backward(player, masses.best_response, mass, best))

        list(self._pool.map(realise_one, (0, 1)))
        found = list(self._pool.map(evaluate_one, (0, 1)))
        return Evaluation(tuple(value for value, _ in found), tuple(best for _, best in found))

    # -- policies -------------------------------------------------------------------------------------------
    def behaviour_of_table(self, player: int, policy: TabularPolicy) -> np.ndarray:
        """One player's part of a tabular policy of the game, on merged nodes."""
        states = self.unmerged(player)
        counts = np.diff(states.first)
        found = table_probabilities(policy, player, states.keys(), counts, states.action[1:])
        return states.merge(np.concatenate([[1.0], found]))

    def behaviour_of_function(self, player: int, function: PolicyFunction, view: bool = False) -> np.ndarray:
        """A policy given as a function of observations, on merged nodes."""
        states = self.unmerged(player)
        found = np.ones(int(states.first[-1]))
        for part in states.batches(BATCH):
            own = slice(int(states.first[part.start]), int(states.first[part.stop]))
            found[own] = asked(function, *observations(self.game, player, *states.tokens(part), view))
        return states.merge(found)

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(2)


def _payoff(mass: np.ndarray, node_value: np.ndarray) -> float:
    """Of the whole game: what does not arrive at the player's first node was lost before."""
    return float(node_value[0] - (1.0 - mass[0])) if mass.size else -1.0


class ClassicalForm(MergedForm):
    """The form of a classical game in which nothing is announced.

    ``memory_limit`` in bytes (half of what is free when unset): TreeTooLargeError, before anything is built, for a
    board that needs more. ``use_cache``: keep the graphs on disk, see ``cfr.phantom.cache``. ``origin`` says where
    they came from.
    """

    graphs: tuple[Graph, ...]

    def __init__(self, game: Any, memory_limit: int | None = None, use_cache: bool = False) -> None:
        super().__init__(game, "classical", ("silent",))
        check_size(game, memory_limit)
        began = time.perf_counter()
        self.graphs, origin = silent_graphs(game, use_cache)
        self.origin = f"{origin} in {time.perf_counter() - began:.2f} s"

    def masses(self, player: int, opponent_reach: np.ndarray, result: np.ndarray | None = None) -> np.ndarray:
        own, other = self.graphs[player], self.graphs[1 - player]
        if result is None:
            result = np.empty(own.num_nodes)
        masses.masses(
            own.own_start, own.own_nodes, other.other_start, other.other_sequences, opponent_reach, result
        )
        return result

    def find(self, player: int, tokens: np.ndarray) -> tuple[np.ndarray, slice]:
        graph = self.graphs[player]
        node = graph.find(tokens)
        own = slice(int(graph.first[node]), int(graph.first[node + 1])) if node >= 0 else slice(0, 0)
        if own.start == own.stop:  # no node, or a drawn game
            raise never_decides(self.spec, player, tokens)
        return graph.action[own], own

    def unmerged(self, player: int) -> Unmerged:
        return Unmerged(self.graphs[player], player)

    def _forward(self, player: int, behaviour: np.ndarray, node_reach: np.ndarray, reach: np.ndarray) -> None:
        graph = self.graphs[player]
        masses.reaches(0, graph.num_nodes, graph.first, graph.collide, graph.place, behaviour, node_reach, reach)

    def _backward(self, player: int, kernel: Callable[..., None], mass: np.ndarray, *arrays: np.ndarray) -> np.ndarray:
        graph = self.graphs[player]
        node_value = np.empty(mass.size)
        kernel(0, graph.num_nodes, graph.first, graph.collide, graph.place, mass, *arrays, node_value)
        return node_value


def silent_graphs(game: Any, use_cache: bool) -> tuple[tuple[Graph, ...], str]:
    """Both players' nodes when nothing is announced, and where they came from: "built" or "read"."""

    def build() -> tuple[Graph, ...]:
        wins = game.win_table()
        with ThreadPoolExecutor(2) as pool:
            return tuple(pool.map(lambda player: build_graph(player, game.cells, wins), (0, 1)))

    if not use_cache:
        return build(), "built"
    graphs, read = cached(game.spec(), build)
    return graphs, "read" if read else "built"
