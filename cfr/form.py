"""What the loop of regret minimisation needs of a game, and the form that any enumerated game has.

Behaviours, regrets, averages and reaches are float64 arrays with one entry a sequence of a player (place 0 is the
empty sequence); ``first_sequence(player)`` says which sequences belong to one infoset. Other forms of a game than its
tree exist: ``cfr.phantom`` has one that never walks histories.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from cfr.best_response import Evaluation, evaluate_behaviour
from cfr.history_sums import HistorySums
from cfr.payoffs import Payoffs
from cfr.policy import TabularPolicy
from cfr.regret import add_regrets
from cfr.sweeps import behaviour_of, infoset_values, realisation
from cfr.tree import Tree, unit_payoffs

SUMS = ("sequences", "histories")


class Form(Protocol):
    """``spec``, ``key_kind``: the game, and what tells its information states apart; ``sums``: how regrets are
    summed, part of a checkpoint's identity."""

    spec: str
    key_kind: str
    sums: str
    num_players: int

    def first_sequence(self, player: int) -> np.ndarray:
        """int64[n + 1]: infoset i owns the sequences ``first[i]:first[i + 1]``."""

    def uniform(self) -> list[np.ndarray]:
        """Behaviours in which every legal action is equally likely."""

    def new_reaches(self) -> list[np.ndarray]:
        """Arrays for ``realise``, one a player."""

    def realise(self, player: int, behaviour: np.ndarray, reach: np.ndarray) -> None:
        """Write the player's own probability of every sequence into ``reach``."""

    def add_regrets(
        self,
        player: int,
        behaviours: Sequence[np.ndarray],
        reaches: Sequence[np.ndarray],
        instantaneous: np.ndarray,
        regrets: np.ndarray,
        mass: np.ndarray | None = None,
    ) -> None:
        """Counterfactual regrets of the player's behaviour against the others' ``reaches``: written to
        ``instantaneous`` and added to ``regrets``. ``mass`` float64[n], when given, gets the others' (and chance's)
        part of the probability of each infoset."""

    def normalise(self, player: int, weights: np.ndarray) -> np.ndarray:
        """The behaviour whose realisation is proportional to ``weights``; uniform where they are zero."""

    def evaluate(self, behaviours: Sequence[np.ndarray]) -> Evaluation:
        """Exact values and best-response values."""

    def policy(self, behaviours: Sequence[np.ndarray]) -> Any:
        """The behaviours as a policy that can be saved and played."""

    def behaviours_of(self, policy: Any) -> list[np.ndarray]:
        """The behaviours that realise a policy of the game; PolicyMismatchError for another game's."""

    def behaviour_of_function(self, player: int, function: Any) -> np.ndarray:
        """The behaviour that realises one player's policy given as a function of observations."""


class TreeForm:
    """The form of an enumerated game. ``sums``: over "sequences", or over "histories" in OpenSpiel's order with its
    rounding (``cfr.history_sums``; the tree must have been built with ``keep_histories=True``)."""

    def __init__(self, tree: Tree, sums: str = "sequences") -> None:
        if sums not in SUMS:
            raise ValueError(f"sums={sums!r} is not allowed; choose one of {', '.join(SUMS)}")
        self.tree, self.sums = tree, sums
        self.spec, self.key_kind, self.num_players = tree.spec, tree.key_kind, tree.num_players
        self._histories = HistorySums(tree) if sums == "histories" else None

    def first_sequence(self, player: int) -> np.ndarray:
        return self.tree.treeplexes[player].first_sequence

    def uniform(self) -> list[np.ndarray]:
        return TabularPolicy.uniform(self.tree).behaviour(self.tree)

    def new_reaches(self) -> list[np.ndarray]:
        # Views of one array: payoff entries number the sequences of all players through.
        self._reach = np.empty(int(self.tree.offsets[-1]))
        bounds = zip(self.tree.offsets[:-1], self.tree.offsets[1:], strict=True)
        return [self._reach[start:stop] for start, stop in bounds]

    def realise(self, player: int, behaviour: np.ndarray, reach: np.ndarray) -> None:
        plex = self.tree.treeplexes[player]
        realisation(plex.parent_sequence, plex.first_sequence, behaviour, reach)

    def add_regrets(
        self,
        player: int,
        behaviours: Sequence[np.ndarray],
        reaches: Sequence[np.ndarray],
        instantaneous: np.ndarray,
        regrets: np.ndarray,
        mass: np.ndarray | None = None,
    ) -> None:
        if self._histories is not None:
            self._histories.add_regrets(player, behaviours, instantaneous, regrets)
            return
        plex = self.tree.treeplexes[player]
        if mass is not None:
            # The payoff of a game in which everybody always gets 1.
            self._ones[player].gradient(self._reach, instantaneous)
            infoset_values(plex.parent_sequence, plex.first_sequence, instantaneous, behaviours[player], mass)
        self.tree.payoffs[player].gradient(self._reach, instantaneous)
        add_regrets(plex.parent_sequence, plex.first_sequence, instantaneous, behaviours[player], regrets)

    @cached_property
    def _ones(self) -> tuple[Payoffs, ...]:
        return unit_payoffs(self.tree)

    def normalise(self, player: int, weights: np.ndarray) -> np.ndarray:
        plex = self.tree.treeplexes[player]
        behaviour = np.empty(plex.num_sequences)
        behaviour_of(plex.first_sequence, weights, behaviour)
        return behaviour

    def evaluate(self, behaviours: Sequence[np.ndarray]) -> Evaluation:
        return evaluate_behaviour(self.tree, behaviours)

    def policy(self, behaviours: Sequence[np.ndarray]) -> TabularPolicy:
        return TabularPolicy.from_behaviour(self.tree, behaviours)

    def behaviours_of(self, policy: TabularPolicy) -> list[np.ndarray]:
        return policy.behaviour(self.tree)

    def behaviour_of_function(self, player: int, function: Any) -> np.ndarray:
        raise TypeError(f"functions of observations are not evaluated on the tree of {self.spec}; give a TabularPolicy")
