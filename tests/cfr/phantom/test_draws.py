"""The exact engine on 3x3 phantom tic-tac-toe: published sizes, uniform play worked out otherwise, games played."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import cfr
import envs
from cfr.phantom import AbruptForm, ClassicalForm

LINES = [sum(1 << cell for cell in line) for line in (
    (0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6),
)]  # fmt: skip
WINS = [any(marks & line == line for line in LINES) for marks in range(1 << 9)]
FULL = (1 << 9) - 1


def three(version):
    return envs.make("phantom_ttt", version=version, info="silent")


@cache
def tic_tac_toe(own, other):
    """Expected payoff of whoever is to move when both play tic-tac-toe at random. Naming cells until a free one is
    found ends on each free cell equally often: this is uniform play of the classical phantom game."""
    free = [1 << cell for cell in range(9) if not (own | other) >> cell & 1]
    payoffs = [1 if WINS[own | cell] else -tic_tac_toe(other, own | cell) for cell in free]
    return sum(payoffs, Fraction(0)) / len(free) if free else Fraction(0)


@cache
def abrupt_uniform(own, other, found, found_by_other):
    """Expected payoff of whoever is to move in the abrupt game when both name unknown cells at random."""
    total, count = 0.0, 0
    for cell in (1 << c for c in range(9)):
        if cell & (own | found):
            continue
        count += 1
        if cell & other:
            total -= abrupt_uniform(other, own, found_by_other, found | cell)
        elif WINS[own | cell]:
            total += 1
        elif own | other | cell != FULL:
            total -= abrupt_uniform(other, own | cell, found_by_other, found)
    return total / count


def played(form, behaviours, games, seed):
    """Mean payoff of player 0 in games of ``State``, and its standard error."""
    policy, rng = form.policy(behaviours), np.random.default_rng(seed)
    payoffs = np.empty(games)
    for game in range(games):
        state = form.game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(int(rng.choice(9, p=policy.probabilities(state))))
        payoffs[game] = state.returns()[0]
    return payoffs.mean(), payoffs.std() / np.sqrt(games)


def answered(form, player):
    """Value of the best response to uniform play, and both behaviours."""
    behaviours, reaches = form.uniform(), form.new_reaches()
    form.realise(1 - player, behaviours[1 - player], reaches[1 - player])
    value, behaviours[player] = form.best_response(player, reaches[1 - player])
    return value, behaviours


@pytest.mark.slow
def test_classical():
    form = ClassicalForm(three("classical"))
    assert sum(form.unmerged(player).num_infosets for player in (0, 1)) == 5_990_669  # arXiv 2502.08938
    assert tic_tac_toe(0, 0) == Fraction(187, 630)
    found = form.evaluate(form.uniform())
    assert np.allclose(found.values, [187 / 630, -187 / 630], rtol=0, atol=1e-12)
    for player in (0, 1):
        value, behaviours = answered(form, player)
        assert abs(value - found.best_response_values[player]) < 1e-12
        assert abs(form.evaluate(behaviours).values[player] - value) < 1e-12
        mean, error = played(form, behaviours, 1000, seed=player)
        assert abs(mean - form.evaluate(behaviours).values[0]) < 4 * error
    solver = cfr.make_solver("pcfr_plus", form)
    low, high = -1.0, 1.0
    while high - low > 0.2:
        solver.run(iterations=5)
        best = solver.evaluate().best_response_values
        low, high = max(low, -best[1]), min(high, best[0])
        assert low < 0.66667 and high > 0.66665  # the published value is 0.6667


@pytest.mark.slow
def test_abrupt():
    form = AbruptForm(three("abrupt"))
    assert sum(graph.num_nodes for graph in form.graphs) == 23_310_269  # arXiv 2502.08938
    found = form.evaluate(form.uniform())
    value = abrupt_uniform(0, 0, 0, 0)
    assert np.allclose(found.values, [value, -value], rtol=0, atol=1e-12)
    value, behaviours = answered(form, 1)
    assert abs(value - found.best_response_values[1]) < 1e-12
    assert abs(form.evaluate(behaviours).values[1] - value) < 1e-12
    mean, error = played(form, behaviours, 1000, seed=2)
    assert abs(mean + value) < 4 * error
