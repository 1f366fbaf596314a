"""Update rules. Each is a row of four numbers; the same two passes serve them all.

After the instantaneous regrets r of iteration t are added to the cumulative regrets R of an infoset,
positive ones are multiplied by t^alpha / (t^alpha + 1) and negative ones by t^beta / (t^beta + 1). The next
strategy is proportional to the positive part of R (of R + r when predictive). The average strategy gives
iteration t the weight t^gamma.

Sources: CFR, Zinkevich et al. 2007; CFR+, Tammelin et al. 2015; linear and discounted CFR, Brown and Sandholm
2019; predictive CFR+, Farina, Kroer and Sandholm 2021.
"""

from __future__ import annotations

import dataclasses
import math

from numba import types

from envs.kernels import F64, kernel

I32 = types.Array(types.int32, 1, "C")
I64 = types.Array(types.int64, 1, "C")


@dataclasses.dataclass(frozen=True)
class Rule:
    """``alpha``, ``beta``: discount exponents (``inf`` keeps regrets, ``-inf`` drops them); ``gamma``: exponent
    of the averaging weights; ``predictive``: expect the last regrets to come once more."""

    alpha: float
    beta: float
    gamma: float
    predictive: bool = False

    def positive_discount(self, t: int) -> float:
        return _discount(t, self.alpha)

    def negative_discount(self, t: int) -> float:
        return _discount(t, self.beta)

    def average_weight(self, t: int) -> float:
        return float(t) ** self.gamma


def _discount(t: int, exponent: float) -> float:
    if math.isinf(exponent):
        return 1.0 if exponent > 0 else 0.0
    power = float(t) ** exponent
    return power / (power + 1.0)


_KEEP, _DROP = math.inf, -math.inf
RULES = {
    "cfr": Rule(alpha=_KEEP, beta=_KEEP, gamma=0),
    "cfr_plus": Rule(alpha=_KEEP, beta=_DROP, gamma=1),
    "linear_cfr": Rule(alpha=1, beta=1, gamma=1),
    "dcfr": Rule(alpha=1.5, beta=0, gamma=2),
    "pcfr_plus": Rule(alpha=_KEEP, beta=_DROP, gamma=2, predictive=True),
}


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


@kernel(types.void(F64, types.float64, F64))
def add_to_average(reach, weight, average):
    """``average[s] += weight * reach[s]``: the numerator of the average strategy, in sequence form."""
    for s in range(reach.size):
        average[s] += weight * reach[s]
