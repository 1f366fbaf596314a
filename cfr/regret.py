"""Update rules: how the next strategy follows from the regrets. Each is a row of numbers for one of two passes.

Regret matching. After the instantaneous regrets r of iteration t are added to the cumulative regrets R of an infoset,
positive ones are multiplied by t^alpha / (t^alpha + 1) and negative ones by t^beta / (t^beta + 1). The next
strategy is proportional to the positive part of R (of R + r when predictive).

Magnetic mirror descent, in behavioural form with the uniform strategy as magnet. With q(a) the expected payoff of
action a at an infoset under the current strategies, eta the learning rate and tau the temperature, the next strategy
is proportional to [current(a) exp(eta q(a))]^(1 / (1 + eta tau)). At a fixed temperature its fixed point is an agent
quantal response equilibrium: current(a) proportional to exp(q(a) / tau).

The average strategy gives iteration t the weight t^gamma; without gamma the last strategy counts.

Sources: CFR, Zinkevich et al. 2007; CFR+, Tammelin et al. 2015; linear and discounted CFR, Brown and Sandholm
2019; predictive CFR+, Farina, Kroer and Sandholm 2021; magnetic mirror descent, Sokota et al. 2023.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np
from numba import types

from envs.kernels import F64, kernel

I32 = types.Array(types.int32, 1, "C")
I64 = types.Array(types.int64, 1, "C")


AVERAGES: dict[str, float | None] = {"uniform": 0.0, "linear": 1.0, "quadratic": 2.0, "last": None}


@dataclasses.dataclass(frozen=True)
class Rule:
    """``gamma``: exponent of the averaging weights, None for the last strategy. ``uses_masses``: whether the rule must
    know the others' part of the probability of each infoset."""

    gamma: float | None
    uses_masses: ClassVar[bool] = False

    def average_weight(self, t: int) -> float:
        return 0.0 if self.gamma is None else float(t) ** self.gamma

    def next_behaviour(
        self,
        t: int,
        first_sequence: np.ndarray,
        instantaneous: np.ndarray,
        regrets: np.ndarray,
        mass: np.ndarray | None,
        behaviour: np.ndarray,
    ) -> None:
        """Write the strategy that follows iteration ``t`` into ``behaviour`` float64[S], which holds that of the
        iteration; ``instantaneous`` and ``regrets`` float64[S], ``mass`` float64[infosets] where the rule uses it."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class RegretMatching(Rule):
    """``alpha``, ``beta``: discount exponents (``inf`` keeps regrets, ``-inf`` drops them); ``predictive``: expect the
    last regrets to come once more."""

    alpha: float
    beta: float
    predictive: bool = False

    def next_behaviour(
        self,
        t: int,
        first_sequence: np.ndarray,
        instantaneous: np.ndarray,
        regrets: np.ndarray,
        mass: np.ndarray | None,
        behaviour: np.ndarray,
    ) -> None:
        next_strategy(
            first_sequence, regrets, _discount(t, self.alpha), _discount(t, self.beta), instantaneous, self.predictive,
            behaviour,
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class MirrorDescent(Rule):
    """Temperature ``temperature`` / t^anneal and learning rate ``learning_rate`` / t^anneal in iteration t: ``anneal``
    0 keeps both, larger values approach an equilibrium of the game itself."""

    temperature: float
    learning_rate: float
    anneal: float
    uses_masses: ClassVar[bool] = True

    def next_behaviour(
        self,
        t: int,
        first_sequence: np.ndarray,
        instantaneous: np.ndarray,
        regrets: np.ndarray,
        mass: np.ndarray | None,
        behaviour: np.ndarray,
    ) -> None:
        scale = float(t) ** -self.anneal
        rate, temperature = self.learning_rate * scale, self.temperature * scale
        mirror_step(first_sequence, instantaneous, mass, rate, temperature, behaviour)


def _discount(t: int, exponent: float) -> float:
    if math.isinf(exponent):
        return 1.0 if exponent > 0 else 0.0
    power = float(t) ** exponent
    return power / (power + 1.0)


_LEAST = 1e-300
_KEEP, _DROP = math.inf, -math.inf
RULES = {
    "cfr": RegretMatching(gamma=0, alpha=_KEEP, beta=_KEEP),
    "cfr_plus": RegretMatching(gamma=1, alpha=_KEEP, beta=_DROP),
    "linear_cfr": RegretMatching(gamma=1, alpha=1, beta=1),
    "dcfr": RegretMatching(gamma=2, alpha=1.5, beta=0),
    "pcfr_plus": RegretMatching(gamma=2, alpha=_KEEP, beta=_DROP, predictive=True),
    "mmd": MirrorDescent(gamma=None, temperature=0.2, learning_rate=4.0, anneal=0.5),
}


def rule_of(name: str, **options: Any) -> tuple[Rule, str]:
    """The rule of a solver with some of its numbers changed, and its text: the name, and what differs from the row.

    ``options``: "average" (one of AVERAGES), or a field of the rule; those that are None change nothing. ValueError
    for an unknown name, an option that the rule does not have, or a number out of range.
    """
    if name not in RULES:
        raise ValueError(f"unknown solver {name!r}; solvers are {', '.join(RULES)}")
    rule = RULES[name]
    allowed = [field.name for field in dataclasses.fields(rule) if field.name != "gamma"]
    changes: dict[str, Any] = {}
    texts = []
    for option, value in options.items():
        if value is None:
            continue
        if option == "average":
            if value not in AVERAGES:
                raise ValueError(f"average={value!r} is not allowed; choose one of {', '.join(AVERAGES)}")
            field, number = "gamma", AVERAGES[value]
        elif option not in allowed:
            raise ValueError(f"{option}={value!r}: {name} has no such option; it has average, {', '.join(allowed)}")
        elif isinstance(rule, MirrorDescent) and not 0 <= value < math.inf:
            raise ValueError(f"{option}={value!r} is not allowed; it must be at least 0 and finite")
        else:
            field, number = option, value
        changes[field] = number
        if number != getattr(rule, field):
            texts.append(f"{option}={value}")
    return dataclasses.replace(rule, **changes), name + (f"({','.join(texts)})" if texts else "")


@kernel(types.void(I32, I64, F64, F64, F64))
def add_regrets(parent_sequence, first_sequence, gradient, behaviour, regrets):
    """One player's backward sweep: counterfactual values, and from them the instantaneous regrets.

    ``gradient`` float64[S]: payoff per unit of own reach of every sequence, given the others' strategies;
    overwritten with the instantaneous regrets, which are added to ``regrets``.
    """
    for i in range(parent_sequence.size - 1, -1, -1):
        first, stop = first_sequence[i], first_sequence[i + 1]
        value = 0.0
        for s in range(first, stop):
            value += behaviour[s] * gradient[s]
        gradient[parent_sequence[i]] += value
        for s in range(first, stop):
            gradient[s] -= value
            regrets[s] += gradient[s]


@kernel(types.void(I64, F64, types.float64, types.float64, F64, types.boolean, F64))
def next_strategy(
    first_sequence, regrets, positive_discount, negative_discount, instantaneous, predictive, behaviour
):
    """Discount ``regrets`` in place, then match the next ``behaviour`` to their positive part."""
    for i in range(first_sequence.size - 1):
        first, stop = first_sequence[i], first_sequence[i + 1]
        total = 0.0
        for s in range(first, stop):
            regrets[s] *= positive_discount if regrets[s] > 0.0 else negative_discount
            expected = regrets[s] + instantaneous[s] if predictive else regrets[s]
            behaviour[s] = max(expected, 0.0)
            total += behaviour[s]
        for s in range(first, stop):
            behaviour[s] = behaviour[s] / total if total > 0.0 else 1.0 / (stop - first)


@kernel(types.void(I64, F64, F64, types.float64, types.float64, F64))
def mirror_step(first_sequence, instantaneous, mass, learning_rate, temperature, behaviour):
    """One step of magnetic mirror descent at every infoset. ``instantaneous`` / ``mass`` are the payoffs of the actions
    less their mean; infosets that the others never let happen keep their strategy."""
    step = 1.0 / (1.0 + learning_rate * temperature)
    for i in range(first_sequence.size - 1):
        first, stop = first_sequence[i], first_sequence[i + 1]
        if not mass[i] > 0.0 or first == stop:
            continue
        most = -math.inf
        for s in range(first, stop):
            weight = step * (math.log(behaviour[s]) + learning_rate * instantaneous[s] / mass[i])
            behaviour[s] = weight
            most = max(most, weight)
        total = 0.0
        for s in range(first, stop):
            behaviour[s] = math.exp(behaviour[s] - most)
            total += behaviour[s]
        for s in range(first, stop):
            # Never exactly zero: its logarithm is needed again.
            behaviour[s] = max(behaviour[s] / total, _LEAST)


@kernel(types.void(F64, types.float64, F64))
def add_to_average(reach, weight, average):
    """``average[s] += weight * reach[s]``: the numerator of the average strategy, in sequence form."""
    for s in range(reach.size):
        average[s] += weight * reach[s]
