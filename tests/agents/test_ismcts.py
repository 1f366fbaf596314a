"""Information-set search: own information only, sensible play, determinism, bounds."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import envs
from agents import Observation, UniformAgent, observe, play_match
from agents.agent import Agent
from agents.ismcts import ISMCTS, ISMCTSAgent

VARIANTS = [(version, info) for version in ("classical", "abrupt") for info in ("silent", "numturns", "announce")]


def midgame(game, plies, seed):
    """A running position after some random actions."""
    rng = np.random.default_rng(seed)
    while True:
        state = game.new_initial_state()
        for _ in range(plies):
            if not state.is_terminal():
                state.apply_action(int(rng.choice(state.legal_actions())))
        if not state.is_terminal():
            return state


@pytest.mark.parametrize(("version", "info"), VARIANTS)
def test_the_choice_depends_on_own_information_alone(version, info):
    game = envs.make("dark_hex", rows=4, version=version, info=info)
    agent = ISMCTSAgent(game, 60)
    different = 0
    for index in range(12):
        state = midgame(game, 3 + index, index)
        player = state.current_player()
        other = state.resample(player, np.random.default_rng(index))
        different += other != state
        chosen = []
        for position in (state, other):
            agent.reset(index)
            chosen.append([agent.act(observe(position, agent.parts)) for _ in range(2)])
        assert chosen[0] == chosen[1]
        assert all(state.legal_actions_mask()[action] for action in chosen[0])
    assert different > 6


def test_it_asks_for_nothing_but_its_information_state():
    assert ISMCTSAgent.parts == {"key"}
    assert list(inspect.signature(ISMCTS.search).parameters) == ["self", "player", "tokens", "simulations", "seed"]


def test_every_position_it_searches_agrees_with_what_the_player_knows(monkeypatch):
    game = envs.make("dark_hex", rows=4, info="silent")
    state = game.state_from_string("a1 a1x b2 c3 c3x d4")
    player = state.current_player()
    drawn = []
    original = type(game).state_from_information

    def watched(self, *arguments):
        drawn.append(original(self, *arguments))
        return drawn[-1]

    monkeypatch.setattr(type(game), "state_from_information", watched)
    ISMCTS(game, positions=20).search(player, state.information_tokens(player), 100)
    assert len(drawn) == 20 and len({tuple(one.history()) for one in drawn}) > 10
    for one in drawn:
        assert one.current_player() == player
        assert one.information_state_key(player) == state.information_state_key(player)


def test_wins_at_once_where_no_hidden_stone_can_prevent_it():
    # Red holds b1 and b2 and has found nothing; b3 or a3 joins the sides unless both are taken. Blue has two
    # stones somewhere: the most visited action is one of the two that can win now.
    game = envs.make("dark_hex", rows=3, info="silent")
    state = game.state_from_string("b1 a1 b2 c3")
    actions, visits = ISMCTS(game).search(0, state.information_tokens(0), 2000, 1)
    assert game.action_to_string(0, int(actions[visits.argmax()])) in ("a3", "b3")
    assert visits.sum() == 2000 and actions.tolist() == state.legal_actions()


def test_golden_tree():
    """Visits of the root's actions for a fixed seed: any change of the search shows."""
    game = envs.make("dark_hex", rows=3)
    state = game.state_from_string("b2 b2x a1")
    actions, visits = ISMCTS(game).search(0, state.information_tokens(0), 200, 5)
    assert actions.tolist() == [0, 1, 2, 3, 5, 6, 7, 8]
    assert visits.tolist() == [4, 17, 55, 16, 30, 21, 40, 17]


def test_same_seed_same_search_and_nothing_is_left_over():
    game = envs.make("dark_hex", rows=4)
    searcher = ISMCTS(game)
    state, other = midgame(game, 6, 0), midgame(game, 3, 1)

    def search(position, seed):
        player = position.current_player()
        return searcher.search(player, position.information_tokens(player), 300, seed)[1].tolist()

    first = search(state, 1)
    search(other, 1)
    assert search(state, 1) == first != search(state, 2)


def test_memory_is_bounded():
    game = envs.make("dark_hex", rows=11)
    searcher = ISMCTS(game, memory=500_000)
    tokens = game.new_initial_state().information_tokens(0)
    visits = searcher.search(0, tokens, 3000)[1]
    arrays = (searcher._nodes, searcher._edges, searcher._keys, searcher._node_of)
    assert sum(array.nbytes for array in arrays) <= 500_000 and visits.sum() == 3000


@pytest.mark.parametrize(("version", "info"), [("classical", "announce"), ("abrupt", "silent")])
# Against the uniform player the best response of O is worth 0.624 in the silent classical game.
@pytest.mark.parametrize(("name", "rows", "score", "seat"), [("dark_hex", 4, 0.85, 0.5), ("phantom_ttt", 3, 0.75, 0.3)])
def test_beats_the_uniform_player_in_both_seats(name, rows, score, seat, version, info):
    game = envs.make(name, rows=rows, version=version, info=info)
    report = play_match(game, [ISMCTSAgent(game, 300), UniformAgent()], games=20, seed=0).agents[0]
    assert report.score > score
    assert all(played.mean_return > seat for played in report.seats)


def test_bad_input():
    game = envs.make("dark_hex")
    assert isinstance(ISMCTSAgent(game, 1), Agent)
    with pytest.raises(ValueError, match="hex.*hides nothing.*mcts"):
        ISMCTSAgent(envs.make("hex"), 10)
    with pytest.raises(ValueError, match="simulations=0"):
        ISMCTSAgent(game, 0)
    with pytest.raises(ValueError, match="positions=0.*>= 1"):
        ISMCTSAgent(game, 10, positions=0)
    with pytest.raises(ValueError, match="agent.parts"):
        ISMCTSAgent(game, 10).act(Observation(0, np.ones(9, bool)))
