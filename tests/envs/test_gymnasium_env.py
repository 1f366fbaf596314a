"""The single-player environment: opponents, seats, seeds. What all games share is in ``tests/contracts``."""

import gymnasium
import numpy as np
import pytest

import envs
from envs.gymnasium_env import SingleAgentEnv
from envs.observation import Observation


def playout(env, seed, steps=40):
    """A transcript of several games with the learner's first legal actions."""
    shown, _ = env.reset(seed=seed)
    seen = [shown["observation"].tobytes()]
    for _ in range(steps):
        shown, reward, terminated, _, info = env.step(int(shown["action_mask"].argmax()))
        seen.append((shown["observation"].tobytes(), reward, terminated, info["seat"]))
        if terminated:
            shown, _ = env.reset()
            seen.append(shown["observation"].tobytes())
    return seen


def test_the_seed_is_all_there_is():
    env = gymnasium.make("darkgames/DarkHex-v0", rows=4, seat="random").unwrapped
    wanted = playout(env, 0)
    np.random.seed(5)  # noqa: NPY002
    assert playout(env, 0) == wanted
    assert playout(gymnasium.make("darkgames/DarkHex-v0", rows=4, seat="random").unwrapped, 0) == wanted
    assert playout(env, 1) != wanted


def test_a_random_seat_is_drawn_in_every_reset():
    env = SingleAgentEnv("dark_hex", seat="random", rows=3)
    env.reset(seed=0)
    seats = [env.reset()[1]["seat"] for _ in range(40)]
    assert set(seats) == {0, 1}


def test_the_uniform_opponent_is_uniform():
    env = SingleAgentEnv("hex", rows=2, cols=3)
    env.reset(seed=0)
    counts = np.zeros(6)
    for _ in range(3000):
        env.reset()
        env.step(0)
        counts[env.position().history()[1]] += 1
    assert counts[0] == 0 and abs(counts[1:] / 3000 - 0.2).max() < 0.03


def test_the_opponents_last_move_is_credited():
    replies = [1, 2]  # b1 and a2 touch: Blue's chain
    env = SingleAgentEnv("hex", lambda _: replies.pop(0), rows=2, swap="off")
    env.reset(seed=0)
    assert env.step(0)[1:3] == (0.0, False)
    shown, reward, terminated, truncated, _ = env.step(3)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert not shown["action_mask"].any() and env.position().history() == [0, 1, 3, 2]


def test_a_collision_keeps_the_learner_on_turn():
    env = SingleAgentEnv("dark_hex", lambda _: 4, seat=1, rows=3)
    env.reset(seed=0)
    shown, reward, terminated, _, _ = env.step(4)
    assert (reward, terminated) == (0.0, False)
    assert env.position().full_history() == [(0, 4), (1, 4)]
    assert shown["action_mask"].tolist() == [1, 1, 1, 1, 0, 1, 1, 1, 1]


def test_an_opponent_function_sees_its_own_side():
    seen = []

    def opponent(observation):
        seen.append(observation)
        return int(observation["action_mask"].argmax())

    env = SingleAgentEnv("dark_hex", opponent, rows=3, info="silent")
    env.reset(seed=0)
    env.step(4)
    state = envs.make("dark_hex", rows=3, info="silent").new_initial_state().child(4)
    assert np.array_equal(seen[0]["observation"], state.information_state_tensor(1))
    assert seen[0]["action_mask"].all()


class Recorder:
    """An agent that keeps what it is given."""

    parts = frozenset(("key", "text"))

    def __init__(self):
        self.seeds, self.observations = [], []

    def reset(self, seed):
        self.seeds.append(seed)

    def act(self, observation):
        self.observations.append(observation)
        return int(np.flatnonzero(observation.mask)[0])


def test_an_agent_as_opponent():
    agent = Recorder()
    env = SingleAgentEnv("dark_hex", agent, rows=3)
    env.reset(seed=0)
    env.step(4)
    env.reset(seed=0)
    assert len(agent.seeds) == 2 and agent.seeds[0] == agent.seeds[1]
    first = agent.observations[0]
    assert isinstance(first, Observation) and first.player == 1
    state = envs.make("dark_hex", rows=3).new_initial_state().child(4)
    assert first.key == state.information_tokens(1).tobytes() and first.text == state.to_string(1)
    assert first.information_state is None and first.view is None


def test_an_illegal_opponent_is_reported():
    env = SingleAgentEnv("hex", lambda _: 0, rows=3, swap="off")
    env.reset(seed=0)
    with pytest.raises(envs.IllegalActionError, match="opponent.*legal actions are"):
        env.step(0)


def test_a_seat_that_never_moves():
    env = SingleAgentEnv("hex", seat=1, rows=1, cols=1, swap="off")
    with pytest.raises(ValueError, match="over before player 1 can act"):
        env.reset(seed=0)
    always_first = SingleAgentEnv("hex", seat="random", rows=1, cols=1, swap="off")
    assert {always_first.reset(seed=seed)[1]["seat"] for seed in range(20)} == {0}


def test_rendering_shows_the_learners_view(capsys):
    env = gymnasium.make("darkgames/DarkHex-v0", opponent=lambda _: 4, seat=1, rows=3, render_mode="ansi")
    env.reset(seed=0)
    board = env.render().splitlines()[1:4]
    assert "R" not in "".join(board)
    env = SingleAgentEnv("dark_hex", lambda _: 4, seat=1, rows=3, render_mode="ansi", render_omniscient=True)
    env.reset(seed=0)
    assert "R" in "".join(env.render().splitlines()[1:4])
    assert capsys.readouterr().out == ""
    human = SingleAgentEnv("dark_hex", rows=3, render_mode="human")
    human.reset(seed=0)
    assert "a b c" in capsys.readouterr().out


def test_flat_observations_through_gymnasiums_wrapper():
    env = gymnasium.wrappers.FlattenObservation(gymnasium.make("darkgames/DarkHex-v0", rows=3))
    shown, _ = env.reset(seed=0)
    assert shown.shape == env.observation_space.shape and env.observation_space.contains(shown)
