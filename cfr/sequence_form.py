"""The sequence-form linear program: the exact equilibrium of a small two-player zero-sum game.

Player 0 chooses a realisation plan x, and for every infoset of player 1 a value v: maximise v at the root such
that no sequence of player 1 pays him more than his values promise. The dual variables of these constraints are
an optimal realisation plan of player 1.
Source: Koller, Megiddo and von Stengel, "Efficient computation of equilibria for extensive two-person games",
GEB 1996.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from cfr.best_response import check_two_player_zero_sum
from cfr.policy import TabularPolicy
from cfr.sweeps import behaviour_of
from cfr.tree import Tree, Treeplex


@dataclasses.dataclass(frozen=True)
class Equilibrium:
    """``value``: what player 0 gets; ``policy``: an equilibrium (its NashConv shows the solver's precision)."""

    value: float
    policy: TabularPolicy


def solve_lp(tree: Tree) -> Equilibrium:
    """Solve a two-player zero-sum tree with SciPy's HiGHS.

    ValueError for other games, RuntimeError when HiGHS finds no optimum. Time grows fast with the number of
    sequences: seconds for a few thousand, minutes beyond ten thousand.
    """
    check_two_player_zero_sum(tree, "the sequence-form program", "use a CFR solver")
    import scipy.optimize
    import scipy.sparse as sparse

    first, second = tree.treeplexes
    rows = tree.payoffs[0]
    payoff = sparse.csr_matrix(
        (rows.value, rows.others[0] - tree.offsets[1], rows.start), shape=(first.num_sequences, second.num_sequences)
    )
    constraints_0, right_0 = _flow(first)
    constraints_1, right_1 = _flow(second)
    num_x, num_v = first.num_sequences, right_1.size
    result = scipy.optimize.linprog(
        c=np.concatenate([np.zeros(num_x), -right_1]),
        A_ub=sparse.hstack([-payoff.T, constraints_1.T], format="csr"),
        b_ub=np.zeros(second.num_sequences),
        A_eq=sparse.hstack([constraints_0, sparse.csr_matrix((right_0.size, num_v))], format="csr"),
        b_eq=right_0,
        bounds=[(0, None)] * num_x + [(None, None)] * num_v,
        method="highs-ipm",  # interior point with crossover: some hundred times faster here than the simplex
    )
    if result.status != 0:
        raise RuntimeError(f"HiGHS did not solve the sequence-form program of {tree.spec}: {result.message}")
    plans = result.x[:num_x], -result.ineqlin.marginals
    behaviour = []
    for plex, plan in zip(tree.treeplexes, plans, strict=True):
        values = np.empty(plex.num_sequences)
        behaviour_of(plex.first_sequence, np.maximum(plan, 0.0), values)
        behaviour.append(values)
    return Equilibrium(float(-result.fun), TabularPolicy.from_behaviour(tree, behaviour))


def _flow(plex: Treeplex) -> tuple[Any, np.ndarray]:
    """Constraints of a realisation plan x: the empty sequence has 1, and at every infoset the sequences that leave
    it add up to the one that leads there. Matrix [infosets + 1, sequences] and right-hand side."""
    import scipy.sparse as sparse

    n, m = plex.num_infosets, plex.num_sequences
    row = np.concatenate([[0], plex.infoset_of_sequence[1:] + 1, np.arange(n) + 1])
    column = np.concatenate([[0], np.arange(1, m), plex.parent_sequence])
    value = np.concatenate([[1.0], np.ones(m - 1), -np.ones(n)])
    right = np.zeros(n + 1)
    right[0] = 1.0
    return sparse.csr_matrix((value, (row, column)), shape=(n + 1, m)), right
