"""PPO: three players, the league, the shape of a batch, a loss that is not finite."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import envs
from agents import NetworkAgent, UniformAgent, play_match
from agents.networks import ActorCritic
from agents.ppo import PPO, LeagueConfig, PPOConfig

SMALL = PPOConfig(hidden=(32,), num_envs=32, rollout_steps=16, minibatches=2, epochs=2, lr=5e-3, entropy=0.02, clip=0.2)


@pytest.fixture(scope="module")
def game():
    return envs.make("dark_hex", rows=2, cols=2, version="classical", info="silent")


def test_three_players_of_whom_some_drop_out_all_learn():
    sys.path.insert(0, str(Path(__file__).parents[1] / "contracts"))
    toy = importlib.import_module("toy_game")
    sys.path.pop(0)
    game = toy.ToyGame(toy.ToyParameters(plies=9))
    learner = PPO(SMALL, game, seed=0)
    for update in range(40):
        learner.update(update / 40)
    agent = NetworkAgent(learner.network)
    report = play_match(game, [agent, UniformAgent(), UniformAgent()], games=200).agents[0]
    assert [seat.seat for seat in report.seats] == [0, 1, 2]
    assert all(seat.mean_return > 0.1 for seat in report.seats)


def test_a_batch_holds_only_legal_actions_and_probabilities_of_the_policy_that_played(game):
    learner = PPO(SMALL, game, seed=1)
    batch = learner.play()
    assert batch["mask"].gather(1, batch["action"][:, None]).all()
    with torch.no_grad():
        logits = learner.network.policy(batch["observation"]).masked_fill(~batch["mask"], -torch.inf)
        played = logits.log_softmax(1).gather(1, batch["action"][:, None])[:, 0]
    assert torch.allclose(played, batch["log_prob"], atol=1e-5)
    # Nearly all decisions are there, the rest waits: at most one a player and lane.
    missing = 16 * 32 - batch["action"].numel()
    assert 0 < missing <= 2 * 32
    assert missing == int((~np.isnan(learner.rollout.waiting_reward)).sum())
    # Every decision counts once: those that waited come with the next batch.
    second = learner.play()["action"].numel()
    assert second == 16 * 32 + missing - int((~np.isnan(learner.rollout.waiting_reward)).sum())


def test_seats_against_the_league_are_not_learnt_from(game):
    config = dataclasses.replace(SMALL, league=LeagueConfig(size=2, probability=1.0, every=1))
    learner = PPO(config, game, seed=0)
    for _ in range(4):
        learner.update(0.0)
    assert len(learner.league) == 2
    assert (learner.member >= 0).all() and set(learner.seat) == {0, 1}
    learner.play()
    share = learner.rollout.owned.mean()
    assert 0.3 < share < 0.7  # every game is against a past version: the learner makes about half the decisions
    assert not any(parameter.requires_grad for parameter in learner.league[0].parameters())
    # The youngest member is the network as it is now; the older one differs.
    own = learner.network.state_dict()
    same = [all(torch.equal(own[key], value) for key, value in m.state_dict().items()) for m in learner.league]
    assert same == [False, True]


def test_a_loss_that_is_not_finite_stops_with_advice(game):
    learner = PPO(SMALL, game, seed=0)
    with torch.no_grad():
        learner.network.critic_head.bias.fill_(torch.inf)
    with pytest.raises(FloatingPointError, match=r"update 0.*agent\.lr"):
        learner.update(0.0)


def test_networks_start_nearly_uniform_and_leave_the_global_generator_alone():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    network = ActorCritic(10, 4, (16, 16), "tanh", separate=True, seed=1)
    assert torch.equal(before, torch.random.get_rng_state())
    logits, value = network(torch.randn(6, 10))
    assert logits.shape == (6, 4) and value.shape == (6,)
    assert logits.abs().max() < 0.2
    twin, other = (ActorCritic(10, 4, (16, 16), "tanh", separate=True, seed=seed) for seed in (1, 2))
    weights = [n.actor_body[0].weight for n in (network, twin, other)]
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])
