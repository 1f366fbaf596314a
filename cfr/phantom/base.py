"""What the classical and the abrupt form of a phantom placement game share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from cfr.best_response import Evaluation
from cfr.errors import PolicyMismatchError, UnsupportedGameError
from cfr.mixture import as_behaviour
from cfr.phantom.policy import MergedPolicy
from cfr.policy import TabularPolicy
from cfr.sure_wins.policy import SureWinPolicy
from cfr.sweeps import behaviour_of

BATCH = 4096  # information states that a policy function is asked for at once; larger ones fall out of the cache

# ``function(observation float32[B, D], action_mask bool[B, A])`` -> probabilities [B, A].
PolicyFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]


class PhantomForm:
    """A ``cfr.form.Form`` whose subclasses know one version of the game.

    ``graphs``: one a player, with ``num_nodes`` and ``num_sequences``; ``origin``: where they came from, for logs.
    """

    num_players = 2
    key_kind = "tokens"
    sums = "phantom"
    graphs: tuple[Any, ...]
    origin: str

    def __init__(self, game: Any, version: str, infos: Sequence[str]) -> None:
        if not game.phantom_placement or game.info not in infos or game.classical != (version == "classical"):
            raise UnsupportedGameError(
                f"{game.spec()}: this form is for {version} phantom placement games with info={' or '.join(infos)}; "
                "use cfr.phantom_form or cfr.build_tree"
            )
        self.game = game
        self.spec = game.spec()

    def first_sequence(self, player: int) -> np.ndarray:
        """int64[N + 1]: node i owns the sequences ``first[i]:first[i + 1]``."""
        raise NotImplementedError

    @property
    def nbytes(self) -> int:
        """Bytes of the form's own arrays."""
        raise NotImplementedError

    def uniform(self) -> list[np.ndarray]:
        """Every legal action equally likely, per player float64[S]."""
        result = []
        for player in range(self.num_players):
            first = self.first_sequence(player)
            result.append(self.normalise(player, np.zeros(int(first[-1]))))
        return result

    def new_reaches(self) -> list[np.ndarray]:
        """Arrays for ``realise``, one a player."""
        return [np.empty(graph.num_sequences) for graph in self.graphs]

    def realise(self, player: int, behaviour: np.ndarray, reach: np.ndarray) -> None:
        """Own probability of every sequence, summed over the merged orders, into ``reach`` float64[S]."""
        raise NotImplementedError

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
        raise NotImplementedError

    def normalise(self, player: int, weights: np.ndarray) -> np.ndarray:
        """The behaviour whose realisation is proportional to ``weights``; uniform where they are zero."""
        behaviour = np.empty(weights.size)
        behaviour_of(self.first_sequence(player), weights, behaviour)
        return behaviour

    def best_response(self, player: int, opponent_reach: np.ndarray) -> tuple[float, np.ndarray]:
        """The best payoff against the opponent's reach, and a deterministic behaviour that attains it."""
        raise NotImplementedError

    def evaluate(self, behaviours: Sequence[np.ndarray]) -> Evaluation:
        """Values and best-response values of both players."""
        raise NotImplementedError

    def evaluate_policies(self, policy0: Any, policy1: Any = None) -> Evaluation:
        """Values and best-response values when player 0 follows ``policy0`` and player 1 ``policy1`` (unset: the same
        policy). Each is anything that ``cfr.as_behaviour`` takes: a policy, a function of observations, a behaviour, or
        a ``cfr.Mixture`` of these."""
        pair = policy0, policy0 if policy1 is None else policy1
        return self.evaluate([as_behaviour(self, player, policy) for player, policy in enumerate(pair)])

    # -- policies -------------------------------------------------------------------------------------------
    def policy(self, behaviours: Sequence[np.ndarray]) -> MergedPolicy:
        """The behaviours as a policy that can be saved and played."""
        return MergedPolicy(self.spec, behaviours, self)

    def find(self, player: int, tokens: np.ndarray) -> tuple[np.ndarray, slice]:
        """(legal actions int32[k], their sequences) at the node of a player's information tokens.

        KeyError when no game reaches this information.
        """
        raise NotImplementedError

    def behaviours_of(self, policy: TabularPolicy | MergedPolicy | SureWinPolicy) -> list[np.ndarray]:
        """The behaviours that realise a policy of the game; PolicyMismatchError for another game's."""
        if policy.spec != self.spec:
            raise PolicyMismatchError(f"this is a policy for {policy.spec}, wanted is {self.spec}")
        if isinstance(policy, MergedPolicy):
            return list(policy.behaviours)
        if isinstance(policy, SureWinPolicy):
            behaviours, winner = self.uniform(), policy.player
            behaviours[winner] = self.behaviour_of_function(winner, partial(policy.distribution, winner), view=True)
            return behaviours
        return [self.behaviour_of_table(player, policy) for player in range(self.num_players)]

    def behaviour_of_table(self, player: int, policy: TabularPolicy) -> np.ndarray:
        """One player's part of a tabular policy of the game."""
        raise NotImplementedError

    def behaviour_of_function(self, player: int, function: PolicyFunction, view: bool = False) -> np.ndarray:
        """A policy given as a function of observations: of information states, or, ``view``, of what is known now.

        ``function`` is asked in batches for every information state in which the player decides.
        """
        raise NotImplementedError


def never_decides(spec: str, player: int, tokens: np.ndarray) -> KeyError:
    return KeyError(f"player {player} never decides with the information {tokens.tolist()} in {spec}")


def asked(function: PolicyFunction, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """The probabilities of the legal actions, one after the other; ValueError for a wrong shape."""
    found = np.asarray(function(observations, masks), dtype=np.float64)
    if found.shape != masks.shape:
        raise ValueError(f"the policy function returned {found.shape}, wanted are {masks.shape} probabilities")
    return found[masks]


def table_probabilities(
    policy: TabularPolicy, player: int, keys: Any, counts: np.ndarray, actions: np.ndarray
) -> np.ndarray:
    """The tabular policy at ``keys`` (KeyTable), which have ``counts`` legal ``actions`` each; uniform where an
    incomplete policy says nothing. PolicyMismatchError when it does not fit."""
    table = policy.tables[player]
    where = table.keys.find_all(keys)
    known = where >= 0
    if policy.complete and not known.all():
        raise PolicyMismatchError(
            f"the policy for {policy.spec} lacks {int((~known).sum())} information sets of player {player} although "
            "it claims to be complete"
        )
    result = 1.0 / np.repeat(counts, counts)
    first = np.cumsum(counts) - counts
    within = np.arange(result.size) - np.repeat(first, counts)
    known = np.repeat(known, counts)
    source = (np.repeat(table.first[np.maximum(where, 0)], counts) + within)[known]
    if not np.array_equal(table.actions[source], actions[known]):
        raise PolicyMismatchError(f"the policy for {policy.spec} has other legal actions than the game")
    result[known] = table.probabilities[source]
    return result
