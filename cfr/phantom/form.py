"""A classical phantom placement game as the solvers see it: merged nodes instead of a tree."""

from __future__ import annotations

import time
from collections.abc import Sequence
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


class ClassicalForm(PhantomForm):
    """Both players' merged nodes and the sums over them.

    ``graphs``: one a player; ``behaviour`` arrays hold a probability per sequence (place 0, the empty sequence, is
    1). The two players' halves run on two threads; neither depends on the other's, so results do not either.
    ``memory_limit`` in bytes (half of what is free when unset): TreeTooLargeError, before anything is built, for a
    board that needs more. ``use_cache``: keep the graphs on disk, see ``cfr.phantom.cache``. ``origin`` says where
    they came from.
    """

    graphs: tuple[Graph, ...]

    def __init__(self, game: Any, memory_limit: int | None = None, use_cache: bool = False) -> None:
        super().__init__(game, "classical")
        check_size(game, memory_limit)
        began = time.perf_counter()
        self.graphs, read = cached(self.spec, self._build) if use_cache else (self._build(), False)
        self.origin = f"{'read' if read else 'built'} in {time.perf_counter() - began:.2f} s"

    def _build(self) -> tuple[Graph, ...]:
        wins = self.game.win_table()
        with ThreadPoolExecutor(2) as pool:
            return tuple(pool.map(lambda player: build_graph(player, self.game.cells, wins), (0, 1)))

    @property
    def nbytes(self) -> int:
        return sum(graph.nbytes for graph in self.graphs)

    def first_sequence(self, player: int) -> np.ndarray:
        """int64[N + 1]: node i owns the sequences ``first[i]:first[i + 1]``."""
        return self.graphs[player].first

    def realise(self, player: int, behaviour: np.ndarray, reach: np.ndarray) -> None:
        """Own probability of every sequence, summed over the merged orders, into ``reach`` float64[S]."""
        graph = self.graphs[player]
        scratch = np.empty(graph.num_nodes)
        masses.reaches(graph.first, graph.collide, graph.place, behaviour, scratch, reach)

    def masses(self, player: int, opponent_reach: np.ndarray, result: np.ndarray | None = None) -> np.ndarray:
        """float64[N]: the opponent's part of the probability of every node of ``player``, in ``result`` when given."""
        own, other = self.graphs[player], self.graphs[1 - player]
        if result is None:
            result = np.empty(own.num_nodes)
        masses.masses(
            own.own_start, own.own_nodes, other.other_start, other.other_sequences, opponent_reach, result
        )
        return result

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
        graph = self.graphs[player]
        mass = self.masses(player, reaches[1 - player], mass)
        scratch = np.empty(graph.num_nodes)
        masses.add_regrets(
            graph.first, graph.collide, graph.place, mass, behaviours[player], scratch, instantaneous, regrets
        )

    def best_response(self, player: int, opponent_reach: np.ndarray) -> tuple[float, np.ndarray]:
        """The best payoff against the opponent's reach, and a deterministic behaviour that attains it."""
        graph = self.graphs[player]
        mass = self.masses(player, opponent_reach)
        behaviour = np.empty(graph.num_sequences)
        behaviour[0] = 1.0
        scratch = np.empty(graph.num_nodes)
        value = masses.best_response(graph.first, graph.collide, graph.place, mass, behaviour, scratch)
        return value, behaviour

    def evaluate(self, behaviours: Sequence[np.ndarray]) -> Evaluation:
        """Values and best-response values of both players."""

        reaches = self.new_reaches()

        def realise_one(player: int) -> None:
            self.realise(player, behaviours[player], reaches[player])

        def evaluate_one(player: int) -> tuple[float, float]:
            graph = self.graphs[player]
            mass = self.masses(player, reaches[1 - player])
            scratch = np.empty(graph.num_nodes)
            form = graph.first, graph.collide, graph.place, mass
            value = masses.values(*form, behaviours[player], scratch)
            return value, masses.best_response(*form, np.empty(graph.num_sequences), scratch)

        list(self._pool.map(realise_one, (0, 1)))
        found = list(self._pool.map(evaluate_one, (0, 1)))
        return Evaluation(tuple(value for value, _ in found), tuple(best for _, best in found))

    # -- policies -------------------------------------------------------------------------------------------
    def find(self, player: int, tokens: np.ndarray) -> tuple[np.ndarray, slice]:
        """(legal actions int32[k], their sequences) at the node of a player's information tokens.

        KeyError when no game reaches this information.
        """
        graph = self.graphs[player]
        node = 0
        for token in tokens.tolist():
            own = slice(int(graph.first[node]), int(graph.first[node + 1]))
            at = int(np.searchsorted(graph.action[own], token >> 1)) + own.start
            if at >= own.stop or graph.action[at] != token >> 1:
                break
            node = int(graph.collide[at] if token & 1 else graph.place[at])
            if node < 0:
                break
        else:
            own = slice(int(graph.first[node]), int(graph.first[node + 1]))
            if own.start < own.stop:  # otherwise this is a drawn game
                return graph.action[own], own
        raise never_decides(self.spec, player, tokens)

    def unmerged(self, player: int) -> Unmerged:
        """The player's information states themselves, each with its node."""
        return Unmerged(self.graphs[player], player)

    def behaviour_of_table(self, player: int, policy: TabularPolicy) -> np.ndarray:
        """One player's part of a tabular policy of the game, on merged nodes."""
        states = self.unmerged(player)
        counts = np.diff(states.first)
        found = table_probabilities(policy, player, states.keys(), counts, states.action[1:])
        return states.merge(np.concatenate([[1.0], found]))

    def behaviour_of_function(self, player: int, function: PolicyFunction, view: bool = False) -> np.ndarray:
        """A policy given as a function of observations, on merged nodes."""
        states = self.unmerged(player)
        keys = states.keys()
        parts = [np.ones(1)]
        for part in states.batches(BATCH):
            offsets = keys.offsets[part.start : part.stop + 1] // 4
            tokens = keys.data.view(np.int32)[offsets[0] : offsets[-1]]
            parts.append(asked(function, *observations(self.game, player, tokens, offsets - offsets[0], view)))
        return states.merge(np.concatenate(parts))

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(2)
