"""A classical phantom placement game as the solvers see it: the counterpart of ``cfr.tree.Tree`` on merged nodes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from cfr.best_response import Evaluation
from cfr.errors import PolicyMismatchError, UnsupportedGameError
from cfr.phantom import masses
from cfr.phantom.cache import cached
from cfr.phantom.classical import Graph, build_graph
from cfr.phantom.policy import MergedPolicy
from cfr.phantom.size import check_size
from cfr.phantom.unmerged import Unmerged
from cfr.policy import TabularPolicy
from cfr.sweeps import behaviour_of


class ClassicalForm:
    """Both players' merged nodes and the sums over them.

    ``graphs``: one a player; ``behaviour`` arrays hold a probability per sequence (place 0, the empty sequence, is
    1). The two players' halves run on two threads; neither depends on the other's, so results do not either.
    ``memory_limit`` in bytes (half of what is free when unset): TreeTooLargeError, before anything is built, for a
    board that needs more. ``use_cache``: keep the graphs on disk, see ``cfr.phantom.cache``. ``origin`` says where
    they came from.
    """

    num_players = 2
    key_kind = "tokens"
    sums = "merged"

    def __init__(self, game: Any, memory_limit: int | None = None, use_cache: bool = False) -> None:
        if not game.phantom_placement or not game.classical or game.info != "silent":
            raise UnsupportedGameError(
                f"{game.spec()}: merged nodes are for classical phantom placement games with info=silent; "
                "use cfr.build_tree"
            )
        self.game = game
        self.spec = game.spec()
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

    def uniform(self) -> list[np.ndarray]:
        """Every legal action equally likely, per player float64[S]."""
        result = []
        for graph in self.graphs:
            counts = np.diff(graph.first)
            result.append(np.concatenate([[1.0], 1.0 / np.repeat(counts, counts)]))
        return result

    def new_reaches(self) -> list[np.ndarray]:
        """Arrays for ``realise``, one a player."""
        return [np.empty(graph.num_sequences) for graph in self.graphs]

    def realise(self, player: int, behaviour: np.ndarray, reach: np.ndarray) -> None:
        """Own probability of every sequence, summed over the merged orders, into ``reach`` float64[S]."""
        graph = self.graphs[player]
        scratch = np.empty(graph.num_nodes)
        masses.reaches(graph.first, graph.collide, graph.place, behaviour, scratch, reach)

    def masses(self, player: int, opponent_reach: np.ndarray) -> np.ndarray:
        """float64[N]: the opponent's part of the probability of every node of ``player``."""
        own, other = self.graphs[player], self.graphs[1 - player]
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
    ) -> None:
        """Counterfactual regrets of the player's behaviour against the opponent's ``reaches``."""
        graph = self.graphs[player]
        mass = self.masses(player, reaches[1 - player])
        scratch = np.empty(graph.num_nodes)
        masses.add_regrets(
            graph.first, graph.collide, graph.place, mass, behaviours[player], scratch, instantaneous, regrets
        )

    def normalise(self, player: int, weights: np.ndarray) -> np.ndarray:
        """The behaviour whose realisation is proportional to ``weights``; uniform where they are zero."""
        behaviour = np.empty(weights.size)
        behaviour_of(self.graphs[player].first, weights, behaviour)
        return behaviour

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
    def policy(self, behaviours: Sequence[np.ndarray]) -> MergedPolicy:
        """The behaviours as a policy that can be saved and played."""
        return MergedPolicy(self.spec, behaviours, self)

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
            return graph.action[own], own
        raise KeyError(f"player {player} never decides with the information {tokens.tolist()} in {self.spec}")

    def unmerged(self, player: int) -> Unmerged:
        """The player's information states themselves, each with its node."""
        return Unmerged(self.graphs[player], player)

    def behaviours_of(self, policy: TabularPolicy | MergedPolicy) -> list[np.ndarray]:
        """The behaviours on merged nodes that realise a policy of the game; PolicyMismatchError for another game's."""
        if policy.spec != self.spec:
            raise PolicyMismatchError(f"this is a policy for {policy.spec}, wanted is {self.spec}")
        if isinstance(policy, MergedPolicy):
            return list(policy.behaviours)
        return [self.unmerged(player).merge(policy) for player in (0, 1)]

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(2)
