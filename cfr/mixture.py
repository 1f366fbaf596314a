"""Mixed strategies: one of several strategies is drawn before the game and then followed.

In games of perfect recall a mixture is equivalent to one behaviour (Kuhn 1953): the one whose realisation
probabilities are the weighted mean of the strategies'. Double-oracle methods, and certificates of equilibria that list
pure strategies with weights, are evaluated that way.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from cfr.form import Form


@dataclasses.dataclass(frozen=True, eq=False)
class Mixture:
    """One player's mixed strategy. ``strategies``: each anything that ``as_behaviour`` takes, such as the deterministic
    behaviours of best responses; ``weights``: not negative, and not all zero; they need not add up to 1."""

    strategies: Sequence[Any]
    weights: Sequence[float]

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.shape != (len(self.strategies),):
            raise ValueError(f"a mixture of {len(self.strategies)} strategies has {weights.size} weights; one each")
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
            raise ValueError(f"weights {weights.tolist()}: they must be finite, at least 0, and not all 0")

    @property
    def probabilities(self) -> np.ndarray:
        """float64[strategies]: the weights, scaled to add up to 1."""
        weights = np.asarray(self.weights, dtype=np.float64)
        return weights / weights.sum()


def as_behaviour(form: Form, player: int, policy: Any) -> np.ndarray:
    """The behaviour float64[sequences] that realises one player's part of ``policy``: a policy of the game (tabular,
    or on merged nodes), a behaviour, a function of observations (where the form takes one), or a ``Mixture`` of these.

    ValueError for a behaviour of another length; PolicyMismatchError for another game's policy.
    """
    size = int(form.first_sequence(player)[-1])
    if isinstance(policy, Mixture):
        total, reach = np.zeros(size), np.empty(size)
        for strategy, probability in zip(policy.strategies, policy.probabilities, strict=True):
            form.realise(player, as_behaviour(form, player, strategy), reach)
            total += probability * reach
        return form.normalise(player, total)
    if isinstance(policy, np.ndarray):
        if policy.shape != (size,):
            raise ValueError(f"a behaviour of player {player} in {form.spec} has {size} entries, not {policy.shape}")
        return policy
    if callable(policy):
        return form.behaviour_of_function(player, policy)
    return form.behaviours_of(policy)[player]
