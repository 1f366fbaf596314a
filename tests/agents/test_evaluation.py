"""Exact evaluation of policy agents: the known values of uniform play."""

from __future__ import annotations

import pytest
import torch

import cfr
import envs
from agents import NetworkAgent, PolicyAgent, TabularAgent, UniformAgent
from agents.evaluation import MergedEvaluator, Tabulator, exact_evaluator, fits
from agents.networks import ActorCritic


@pytest.mark.parametrize(
    ("rows", "cols", "version", "nash_conv"),
    [(2, 2, "classical", 1.25), (2, 2, "abrupt", 5 / 6), (2, 3, "classical", 0.75), (3, 2, "abrupt", 1.230555555556)],
)
def test_uniform_play(rows, cols, version, nash_conv):
    game = envs.make("dark_hex", rows=rows, cols=cols, version=version, info="silent")
    tabulator = Tabulator(game)
    assert tabulator.evaluate(UniformAgent()).nash_conv == pytest.approx(nash_conv, abs=1e-10)
    # A tabular agent gives its own policy back.
    policy = tabulator.policy(UniformAgent())
    assert tabulator.evaluate(TabularAgent(policy)).nash_conv == pytest.approx(nash_conv, abs=1e-10)


@pytest.mark.parametrize("version", ["classical", "abrupt"])
def test_the_exact_engine_and_the_tree_agree_on_agents(version, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    game = envs.make("dark_hex", rows=2, cols=3, version=version, info="silent")
    tabulator, merged = Tabulator(game), MergedEvaluator(game)
    agents = [UniformAgent(), TabularAgent(cfr.make_solver("cfr_plus", tabulator.tree).average_policy())]
    for view in (False, True):
        network = ActorCritic(game.observation_size(view), 6, [16], seed=3)
        with torch.no_grad():
            network.actor_head.weight.mul_(300.0)  # far from uniform
        agents.append(NetworkAgent(network, "view" if view else "information_state"))
    for agent in agents:
        expected, found = tabulator.evaluate(agent), merged.evaluate(agent)
        assert found.values == pytest.approx(expected.values, abs=1e-6)
        assert found.best_response_values == pytest.approx(expected.best_response_values, abs=1e-6)
    with pytest.raises(ValueError, match="other: the exact engine evaluates networks"):
        merged.evaluate(Other())


class Other(PolicyAgent):
    name = "other"


def test_what_computes_it(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert isinstance(exact_evaluator(envs.make("dark_hex", rows=2, info="silent")), Tabulator)
    assert isinstance(exact_evaluator(envs.make("dark_hex", rows=2, cols=4, info="silent")), MergedEvaluator)
    with pytest.raises(cfr.TreeTooLargeError):
        exact_evaluator(envs.make("dark_hex", rows=5))


def test_only_small_trees_fit():
    assert fits(envs.make("dark_hex", rows=3, cols=2, version="abrupt"))
    assert not fits(envs.make("dark_hex", rows=3, cols=3))
