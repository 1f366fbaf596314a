"""Three players, one of whom leaves: whose turn it is comes from the game, never from the list of agents."""

import pytest
from toy_game import ToyGame, ToyParameters

from envs.pettingzoo_env import RawAecEnv

TOY = ToyGame(ToyParameters(plies=9))


def collect(env):
    """Rewards per agent over ``last()``, to the end of the episode."""
    total = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        total[env.agent_selection] += env.last()[1]
        env.step(None)
    return total


class Leaving(RawAecEnv):
    """Tells the library when a player of the toy game leaves, instead of at the end of the game."""

    def step(self, action):
        agent = self.agent_selection
        super().step(action)
        if action == 3 and agent in self.agents and not all(self.terminations.values()):
            self.terminations[agent] = True
            self._deads_step_first()


def test_three_players_take_turns_after_one_has_left():
    env = RawAecEnv(TOY, "toy_v0")
    for _ in range(2):
        env.reset()
        movers = []
        for action in (0, 3, 0, 1, 1):
            movers.append(env.agent_selection[-1])
            env.step(action)
        assert movers + [env.agent_selection[-1]] == ["0", "1", "2", "0", "2", "0"]
        env.step(3)
        assert all(env.terminations.values())
        total = collect(env)
        assert sorted(total) == env.possible_agents and sum(total.values()) == pytest.approx(0)


def test_three_players_done_at_different_times():
    env = Leaving(TOY, "toy_v0")
    for _ in range(2):
        env.reset()
        selected = []
        for action in (0, 3, None, 0, 1, 3):
            selected.append(env.agent_selection[-1])
            env.step(action)
        assert selected == ["0", "1", "1", "2", "0", "2"]
        assert env.agents == ["player_0", "player_2"] and all(env.terminations.values())
        assert env.rewards == pytest.approx({"player_0": 0.2 - 0.2 / 3, "player_2": -0.2 / 3})
        collect(env)
        assert env.agents == []
