"""Agents: the protocol, own information only, people at a terminal."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import cfr
import envs
from agents import Agent, HumanAgent, PolicyAgent, Resigned, TabularAgent, UniformAgent, observe
from agents.agent import draw

ALL_PARTS = frozenset({"information_state", "view", "key", "text"})


@pytest.fixture(scope="module")
def game():
    return envs.make("dark_hex", rows=3, cols=3, version="classical", info="silent")


def after(game, actions):
    state = game.new_initial_state()
    state.apply_actions(actions)
    return state


def test_an_observation_holds_nothing_of_the_opponents_secrets(game):
    # After P0 b2 or P0 c3, player 1 knows the same: nothing.
    one, other = (observe(after(game, [cell]), ALL_PARTS) for cell in (4, 8))
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
    assert one.mask.all()
    assert one.state is None
    with pytest.raises(ValueError, match="dark_hex.*hides.*ismcts"):
        observe(after(game, [4]), frozenset({"state"}))


def test_where_nothing_is_hidden_an_agent_may_have_a_copy_of_the_position():
    state = after(envs.make("hex", rows=3), [4, 0])
    copy = observe(state, frozenset({"state"})).state
    assert copy == state
    copy.apply_action(1)
    assert state.history() == [4, 0]


def test_parts_that_are_not_asked_for_are_none_and_unknown_ones_an_error(game):
    seen = observe(game.new_initial_state())
    assert (seen.information_state, seen.view, seen.key, seen.text) == (None,) * 4
    with pytest.raises(ValueError, match="hidden.*information_state, view, key, text"):
        observe(game.new_initial_state(), frozenset({"hidden"}))


def test_draw_never_takes_an_action_of_probability_zero():
    table = np.array([[0.0, 0.5, 0.0, 0.5, 0.0]] * 3)
    assert draw(table, np.array([0.0, 0.5, np.nextafter(1, 0)])).tolist() == [1, 3, 3]


def test_uniform_agent_is_uniform_on_legal_actions_and_seeded(game):
    agent = UniformAgent()
    assert isinstance(agent, Agent) and isinstance(agent, PolicyAgent)
    state = after(game, [4, 4])  # player 1 has run into b2
    table = agent.probabilities([observe(state)])
    assert table[0, 4] == 0 and np.allclose(table[0, [0, 8]], 1 / 8)
    games = []
    for _ in range(2):
        agent.reset(7)
        games.append([agent.act(observe(state)) for _ in range(20)])
    assert games[0] == games[1] and 4 not in games[0]


def test_tabular_agent_plays_its_policy():
    game = envs.make("dark_hex", rows=2, cols=2, version="abrupt", info="silent")
    tree = cfr.build_tree(game)
    solver = cfr.make_solver("cfr_plus", tree)
    solver.run(iterations=50)
    policy = solver.average_policy()
    agent = TabularAgent(policy)
    state = after(game, [1])
    assert np.allclose(agent.probabilities([observe(state, agent.parts)])[0], policy.probabilities(state))


def test_a_person_sees_his_view_and_is_asked_until_the_move_is_legal(game):
    answers, said = iter(["z9", "", "b2", "a1"]), []
    agent = HumanAgent(game, ask=lambda prompt: next(answers), tell=said.append)
    assert isinstance(agent, Agent)
    state = after(game, [4, 4])  # player 1 knows b2 now
    assert agent.act(observe(state, agent.parts)) == 0
    assert said[0] == state.to_string(1)
    assert "z9" in said[1] and "b2 is not open to you" in said[3] and "a1" in said[3]


def test_a_person_can_resign_or_leave(game):
    seen = observe(game.new_initial_state(), HumanAgent.parts)
    with pytest.raises(Resigned, match="player 0"):
        HumanAgent(game, ask=lambda prompt: "resign", tell=lambda text: None).act(seen)

    def closed(prompt):
        raise EOFError

    with pytest.raises(Resigned, match="input ended"):
        HumanAgent(game, ask=closed, tell=lambda text: None).act(seen)
