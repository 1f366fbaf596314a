"""Best responses of the exact engine, played move by move through `State`: do they get what is claimed?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from phantom_cases import VERSIONS, form_of, random_behaviours

import cfr
from agents.agent import draw
from cfr import PhantomForm


def answered(form: PhantomForm, player: int, behaviours: list[np.ndarray]) -> tuple[float, cfr.MergedPolicy]:
    """(claimed value, the policy in which ``player`` plays the best response and the other his behaviour)."""
    reach = form.new_reaches()
    form.realise(1 - player, behaviours[1 - player], reach[1 - player])
    value, answer = form.best_response(player, reach[1 - player])
    assert set(answer.tolist()) <= {0.0, 1.0}
    return value, form.policy([answer if seat == player else behaviours[seat] for seat in (0, 1)])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("rows", "cols"), [(2, 2), (2, 3), (3, 2)])
def test_every_game_of_a_best_response(rows: int, cols: int, version: str) -> None:
    form = form_of(rows, cols, version)
    behaviours = random_behaviours(form, rows, 9.0)
    for player in (0, 1):
        value, policy = answered(form, player, behaviours)
        payoff = total = 0.0
        stack = [(form.game.new_initial_state(), 1.0)]
        while stack:
            state, probability = stack.pop()
            if state.is_terminal():
                payoff += probability * state.returns()[player]
                total += probability
                continue
            for action, p in policy.action_probabilities(state).items():
                if p > 0.0:
                    stack.append((state.child(action), probability * p))
        assert total == pytest.approx(1.0, abs=1e-12)
        assert payoff == pytest.approx(value, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_games_drawn_on_three_by_three(version: str) -> None:
    games, form = 4000, form_of(3, 3, version)
    behaviours = random_behaviours(form, 3, 0.5)
    rng = np.random.default_rng(17)
    for player in (0, 1):
        value, policy = answered(form, player, behaviours)
        won = 0
        for _ in range(games):
            state = form.game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(int(draw(policy.probabilities(state)[None], rng.random(1))[0]))
            won += state.returns()[player] > 0
        chance = min(1.0, (1 + value) / 2)
        assert won / games == pytest.approx(chance, abs=4 * math.sqrt(chance * (1 - chance) / games) + 1e-9)
