"""The AEC environment: life cycle, Dark Hex turns, rendering. What all games share is in ``tests/contracts``."""

import numpy as np
import pytest
from pettingzoo.utils.env_logger import EnvLogger

import envs
from envs import dark_hex_v0, hex_v0
from envs.pettingzoo_env import OrderError


def play(env, actions):
    env.reset()
    for action in actions:
        env.step(action)
    return env


def collect(env):
    """Rewards per agent over ``last()``, to the end of the episode."""
    total = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        total[env.agent_selection] += env.last()[1]
        env.step(None)
    return total


@pytest.mark.parametrize(("version", "mover"), [("classical", "player_1"), ("abrupt", "player_0")])
def test_hidden_stones_are_legal_targets_until_found(version, mover):
    env = play(dark_hex_v0.env(rows=3, version=version), [4])
    assert env.agent_selection == "player_1" and env.last()[0]["action_mask"].all()
    env.step(4)
    assert env.agent_selection == mover
    if mover == "player_0":
        env.step(0)
    mask = env.observe("player_1")["action_mask"]
    assert mask[4] == 0 and mask.sum() == 8


def test_a_view_shows_stones_and_nothing_of_their_connection():
    env = play(dark_hex_v0.env(rows=3, info="silent", observation="view"), [4, 7, 1])
    own, enemy = np.split(env.observe("player_1")["observation"][:18], 2)
    assert np.flatnonzero(own).tolist() == [7] and not enemy.any()


@pytest.mark.parametrize(
    ("actions", "winner"), [([8, 5, 4, 1, 0], "player_0"), ([8, 5, 9, 4, 10, 6, 11, 7], "player_1")]
)
def test_uneven_board(actions, winner):
    env = play(hex_v0.env(rows=3, cols=4), actions)
    assert all(env.terminations.values())
    assert collect(env) == {agent: 1.0 if agent == winner else -1.0 for agent in env.possible_agents}


def test_two_episodes_in_a_row():
    env = hex_v0.env(rows=2, swap="off")
    for _ in range(2):
        play(env, [0, 1, 2])
        assert collect(env) == {"player_0": 1.0, "player_1": -1.0}
        assert env.agents == [] and env.rewards == {}


def test_agent_iter():
    env = hex_v0.env(rows=3, swap="off")
    env.reset()
    assert [agent for agent in env.agent_iter(2) if env.step(env.last()[0]["action_mask"].argmax()) is None] == [
        "player_0",
        "player_1",
    ]
    for _ in env.agent_iter():  # a second loop over the same game may start where the first one stopped
        break
    turns = env.agent_iter()
    next(turns)
    with pytest.raises(OrderError, match="step"):
        next(turns)
    env.reset()
    assert next(env.agent_iter()) == "player_0"


def test_illegal_actions_are_logged_and_do_not_outlive_the_episode():
    EnvLogger.flush()
    env = play(hex_v0.env(rows=3, swap="off"), [0, 0])
    assert any("Illegal move" in text for text in EnvLogger.mqueue)
    assert "action 0 (a1) of player_1" in env.infos["player_1"]["illegal_action"]
    assert collect(env) == {"player_0": 0.0, "player_1": -1.0}
    play(env, [0, 1])
    assert env.infos == {"player_0": {}, "player_1": {}} and not any(env.truncations.values())
    EnvLogger.flush()


def test_a_step_without_agents_only_warns():
    env = play(hex_v0.env(rows=1, cols=1, swap="off"), [0, None, None])
    EnvLogger.flush()
    env.step(None)
    assert EnvLogger.mqueue and env.agents == []
    EnvLogger.flush()


def test_global_random_numbers_are_neither_used_nor_changed():
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    play(dark_hex_v0.env(), [4, 4])
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_rendering_shows_the_view_of_the_agent_on_turn(capsys):
    env = play(dark_hex_v0.env(rows=3, render_mode="ansi"), [4])
    position = env.position()
    assert env.render() == envs.render.ansi(position.game.picture(position, 1))
    assert "R" not in "".join(line for line in env.render().splitlines()[1:4])
    everything = play(dark_hex_v0.env(rows=3, render_mode="ansi", render_omniscient=True), [4])
    assert "R" in "".join(everything.render().splitlines()[1:4])
    picture = play(dark_hex_v0.env(rows=3, render_mode="rgb_array"), [4]).render()
    assert picture.dtype == np.uint8 and picture.ndim == 3 and picture.shape[2] == 3
    assert capsys.readouterr().out == ""
    human = play(dark_hex_v0.env(rows=3, render_mode="human"), [4])
    assert human.render() is None
    printed = capsys.readouterr().out
    assert printed.count("a b c") == 3  # reset, step, render


def test_no_display_library_is_needed():
    import subprocess
    import sys

    program = (
        "import sys\n"
        "for name in ('matplotlib', 'pygame', 'tkinter', 'pyglet', 'pyspiel', 'torch'): sys.modules[name] = None\n"
        "from envs import dark_hex_v0\n"
        "for mode in ('ansi', 'rgb_array'):\n"
        "    env = dark_hex_v0.env(render_mode=mode); env.reset(); env.step(0); assert env.render() is not None\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_rendering_without_a_mode_warns():
    env = play(dark_hex_v0.env(), [4])
    with pytest.warns(UserWarning, match="render mode"):
        assert env.render() is None
