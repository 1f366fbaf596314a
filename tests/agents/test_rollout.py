"""Credit by player id: hand-computed returns, decisions that wait for their outcome, agreement with a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agents.rollout import Rollout


def filled(players, done, rewards, owned=None, num_players=2):
    """A rollout of one lane; observation k marks the decision of step k."""
    steps = len(players)
    store = Rollout(steps, 1, num_players, 1, 2)
    store.player[:, 0] = players
    store.done[:, 0] = done
    store.rewards[:, 0] = rewards
    if owned is not None:
        store.owned[:, 0] = owned
    store.observation[num_players:, 0, 0] = np.arange(steps)
    store.mask[:] = True
    return store


def finish(store, values, last_player=0, last_value=0.0, gamma=1.0, lam=1.0):
    values = torch.tensor([0.0] * store.players + list(values))
    batch = store.finish(values, np.array([last_player]), torch.tensor([last_value]), gamma, lam)
    return {
        int(o): float(a + v) for o, a, v in zip(batch["observation"], batch["advantage"], batch["value"], strict=True)
    }


def test_several_decisions_in_a_row_end_of_game_goes_to_everybodys_own_last_decision():
    # 3x3 classical: P0 b2; P1 b2 (collision), a1; P0 a1 (collision), b1; P1 a3; P0 b3 wins.
    players = [0, 1, 1, 0, 0, 1, 0]
    rewards = [[0, 0]] * 6 + [[1, -1]]
    store = filled(players, [False] * 6 + [True], rewards)
    returns = finish(store, [0.0] * 7)
    assert returns == {0: 1, 1: -1, 2: -1, 3: 1, 4: 1, 5: -1, 6: 1}


def test_discount_counts_own_decisions_and_lambda_zero_looks_one_own_decision_ahead():
    players = [0, 1, 1, 0, 0, 1, 0]
    rewards = [[0, 0]] * 6 + [[1, -1]]
    store = filled(players, [False] * 6 + [True], rewards)
    assert finish(store, [0.0] * 7, gamma=0.5) == {0: 0.125, 3: 0.25, 4: 0.5, 6: 1, 1: -0.25, 2: -0.5, 5: -1}
    values = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    returns = finish(filled(players, [False] * 6 + [True], rewards), values, gamma=0.5, lam=0.0)
    expected = {0: 0.2, 3: 0.25, 4: 0.35, 6: 1.0, 1: 0.15, 2: 0.3, 5: -1.0}
    assert returns == pytest.approx(expected, abs=1e-6)


def test_three_players_each_get_their_own_reward():
    # Player 1 leaves the game early and never moves again; rewards come at the end.
    players = [0, 1, 2, 0, 2, 0]
    rewards = [[0, 0, 0]] * 5 + [[3, -1, -2]]
    returns = finish(filled(players, [False] * 5 + [True], rewards, num_players=3), [0.0] * 6)
    assert returns == {0: 3, 3: 3, 5: 3, 1: -1, 2: -2, 4: -2}


def test_reward_between_two_decisions_belongs_to_the_earlier_one():
    players = [0, 1, 0, 1]
    rewards = [[0, 0], [5, 0], [0, 7], [1, -1]]
    returns = finish(filled(players, [False] * 3 + [True], rewards), [0.0] * 4)
    assert returns == {0: 6, 2: 1, 1: 6, 3: -1}


def test_two_games_in_one_lane_do_not_mix():
    players = [0, 1, 0, 1]
    returns = finish(filled(players, [False, True, False, True], [[0, 0], [1, -1], [0, 0], [-1, 1]]), [0.0] * 4)
    assert returns == {0: 1, 1: -1, 2: -1, 3: 1}


def test_a_decision_without_outcome_waits_and_is_credited_in_the_next_batch():
    store = filled([0, 1], [False, False], [[0, 0], [0, 0]])
    # Player 0 moves next: his first decision bootstraps from that value. Player 1's waits.
    assert finish(store, [0.0, 0.0], last_player=0, last_value=0.25) == {0: 0.25}
    assert np.isnan(store.waiting_reward[0, 0]) and store.waiting_reward[1, 0] == 0
    store.observation[2:, 0, 0] = [2, 3]
    store.player[:, 0] = [0, 0]
    store.done[:, 0] = [False, True]
    store.rewards[:, 0] = [[0, 0], [1, -1]]
    assert finish(store, [0.0, 0.0]) == {1: -1, 2: 1, 3: 1}
    assert np.isnan(store.waiting_reward).all()


def test_a_waiting_decision_survives_several_batches_and_a_round_trip_through_a_checkpoint():
    store = filled([1, 0], [False, False], [[0, 0], [0, 2]])
    assert finish(store, [0.0, 0.0], last_player=0) == {1: 0}
    other = Rollout(2, 1, 2, 1, 2)
    other.load_state_dict(store.state_dict())
    for last in (False, True):
        other.observation[2:, 0, 0] = [5, 6]
        other.player[:, 0] = [0, 0]
        other.done[:, 0] = [False, last]
        other.rewards[:, 0] = [[0, 3], [0, 4]]
        returns = finish(other, [0.0, 0.0], last_player=0)
    assert returns[0] == 2 + 3 + 4 + 3 + 4


def test_decisions_of_past_opponents_are_not_learnt_from():
    store = filled([0, 1, 0, 1], [False] * 3 + [True], [[0, 0]] * 3 + [[1, -1]], owned=[True, False, True, False])
    assert finish(store, [0.0] * 4) == {0: 1, 2: 1}


def plain_gae(players, done, rewards, values, num_players, gamma, lam):
    """Forward, per player and game, from the definition: sum over (gamma lambda)^k delta_k."""
    result = {}
    start = 0
    for end in np.flatnonzero(done):
        for p in range(num_players):
            own = [t for t in range(start, end + 1) if players[t] == p]
            received = [
                sum(rewards[u][p] for u in range(t, own[i + 1] if i + 1 < len(own) else end + 1))
                for i, t in enumerate(own)
            ]
            following = [values[t] for t in own[1:]] + [0.0]
            delta = [received[i] + gamma * following[i] - values[t] for i, t in enumerate(own)]
            for i, t in enumerate(own):
                result[t] = sum((gamma * lam) ** k * d for k, d in enumerate(delta[i:]))
        start = end + 1
    return result


@pytest.mark.parametrize("num_players", [2, 3])
def test_agrees_with_the_definition_on_random_games(num_players):
    rng = np.random.default_rng(3)
    steps = 60
    players = rng.integers(num_players, size=steps)
    done = rng.random(steps) < 0.15
    done[-1] = True
    rewards = rng.normal(size=(steps, num_players))
    values = rng.normal(size=steps).astype(np.float32)
    store = filled(players, done, rewards, num_players=num_players)
    returns = finish(store, values.tolist(), gamma=0.9, lam=0.8)
    expected = plain_gae(players, done, rewards, values, num_players, 0.9, 0.8)
    assert set(returns) == set(expected)
    for t, gain in expected.items():
        assert returns[t] == pytest.approx(gain + values[t], abs=1e-4)
