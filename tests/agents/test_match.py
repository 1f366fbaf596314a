"""Matches: all seats, paired seeds, intervals."""

from __future__ import annotations

import numpy as np
import pytest

import envs
from agents import PolicyAgent, UniformAgent, play_match
from agents.match import wilson


class First(PolicyAgent):
    """The first legal action, with certainty."""

    name = "first"

    def probabilities(self, observations):
        return np.stack([np.eye(seen.mask.size)[seen.mask.argmax()] for seen in observations])


class Remembering:
    """An agent with memory: the last legal action."""

    name = "remembering"
    parts = frozenset()

    def __init__(self, cheat=False):
        self.seeds, self.cheat = [], cheat

    def reset(self, seed):
        self.seeds.append(seed)

    def act(self, observation):
        if self.cheat:
            return int(np.flatnonzero(~observation.mask)[0]) if not observation.mask.all() else 0
        return int(np.flatnonzero(observation.mask)[-1])


@pytest.fixture(scope="module")
def game():
    return envs.make("dark_hex", rows=3, cols=3, version="classical", info="silent")


def test_an_agent_against_itself_is_exactly_even(game):
    for agents in ([First(), First()], [UniformAgent(), UniformAgent()], [Remembering(), Remembering()]):
        report = play_match(game, agents, games=20, seed=0)
        assert [agent.score for agent in report.agents] == [0.5, 0.5]
        assert report.agents[0].seats[0].mean_return == -report.agents[1].seats[1].mean_return
        assert report.games == 40 and report.seeds == 20


def test_seat_reports_are_the_known_value_of_uniform_play(game):
    report = play_match(game, [UniformAgent(), UniformAgent()], games=3000, seed=1)
    first, second = report.agents[0].seats
    assert first.low < 1 / 3 < first.high and second.low < -1 / 3 < second.high
    assert first.wins + first.losses == first.games == 3000 and first.draws == 0


def test_same_seed_same_games_other_seed_other_games_and_the_batch_size_is_irrelevant(game, monkeypatch):
    def play(seed):
        return play_match(game, [UniformAgent(), First()], games=50, seed=seed)

    assert play(0) == play(0) != play(1)
    whole = play(0)
    monkeypatch.setattr("agents.match._BATCH", 7)
    assert play(0) == whole


def test_mixed_agents_get_a_fresh_seed_every_game_and_progress_is_told(game):
    told, agent = [], Remembering()
    report = play_match(game, [agent, UniformAgent()], games=5, seed=3, progress=told.append)
    assert sum(told) == report.games == 10
    assert len(agent.seeds) == 10 and len(set(agent.seeds)) > 5
    assert "remembering" in str(report) and report.to_dict()["agents"][0]["seats"][1]["seat"] == 1


class ThreePlayers:
    """Each player takes one of three actions once; the player of the last action loses 2, the others win 1."""

    num_players = 3

    def spec(self):
        return "three"

    def max_game_length(self):
        return 3

    def min_utility(self):
        return -2.0

    def max_utility(self):
        return 1.0

    def new_initial_state(self):
        return ThreePlayersState()


class ThreePlayersState:
    def __init__(self):
        self.taken = []

    def current_player(self):
        return len(self.taken) if len(self.taken) < 3 else -4

    def is_terminal(self):
        return len(self.taken) == 3

    def legal_actions_mask(self, player=None):
        return np.array([action not in self.taken for action in range(3)])

    def apply_action(self, action):
        self.taken.append(action)

    def returns(self):
        return [-2.0 if self.taken[seat] == 2 else 1.0 for seat in range(3)]


def test_three_players_sit_in_all_rotations():
    report = play_match(ThreePlayers(), [First(), First(), First()], games=2)
    assert report.games == 6
    for agent in report.agents:
        assert [seat.mean_return for seat in agent.seats] == [1.0, 1.0, -2.0]
        assert agent.mean_return == 0


def test_bad_matches_are_refused(game):
    with pytest.raises(ValueError, match="2 players, got 1 agents"):
        play_match(game, [First()], games=1)
    with pytest.raises(ValueError, match="games=0"):
        play_match(game, [First(), First()], games=0)
    agent = Remembering()
    with pytest.raises(ValueError, match="two seats"):
        play_match(game, [agent, agent], games=1)
    with pytest.raises(ValueError, match="agent 'remembering' in seat 0: .*illegal"):
        play_match(game, [Remembering(cheat=True), UniformAgent()], games=1)


def test_wilson_interval():
    low, high = wilson(1.0, 50, -1.0, 1.0)
    assert high == pytest.approx(1.0) and 0.8 < low < 0.9  # never empty, though all games were won
    low, high = wilson(0.0, 100, -1.0, 1.0)
    assert -low == pytest.approx(high) == pytest.approx(0.1922, abs=1e-3)
