"""The batched environment: autoreset, seeds, checkpoints. What all games share is in ``tests/contracts``."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import envs
from envs.rng import rng_state
from envs.vector_env import VectorEnv

SHORT = {"rows": 2, "swap": "off"}  # Hex in three to four plies


def test_around_the_end_of_a_game():
    env = VectorEnv("hex", 2, **SHORT)
    assert env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    first, info = env.reset(seed=0)
    for ply, actions in enumerate([(0, 0), (1, 2), (2, 1)]):
        batch, reward, terminated, _, info = env.step(np.array(actions))
        assert terminated.tolist() == [ply == 2, False]
    assert reward.tolist() == [1.0, 0.0] and info["rewards"].tolist() == [[1.0, -1.0], [0.0, 0.0]]
    assert info["player"].tolist() == [0, 1] and info["actor"].tolist() == [0, 0]
    assert env.episode_lengths.tolist() == [0, 3]
    assert np.array_equal(batch["observation"][0], first["observation"][0])  # the next game's first observation
    assert info["final_obs"][0]["observation"][0] == info["final_obs"][0]["observation"][2] == 1
    assert not info["final_obs"][0]["action_mask"].any() and info["final_obs"][1] is None
    assert info["final_info"]["length"].tolist() == [3, 0]
    batch, reward, terminated, _, info = env.step(np.array([3, 3]))
    assert reward.tolist()[0] == 0.0 and terminated.tolist() == [False, True]
    assert env.episode_lengths.tolist() == [1, 0] and info["final_info"]["length"].tolist() == [0, 4]


def test_rewards_are_the_actors():
    env = VectorEnv("hex", 1, **SHORT)
    env.reset()
    for action in (0, 2, 1):
        env.step(np.array([action]))
    _, reward, terminated, _, info = env.step(np.array([3]))  # player 1 completes 2-3
    assert terminated[0] and info["actor"][0] == 1
    assert reward[0] == 1.0 and info["rewards"].tolist() == [[-1.0, 1.0]]


def rollout(env, steps=30):
    return [env.step(env.sample_actions())[0]["observation"].tobytes() for _ in range(steps)]


def test_seeds():
    build = lambda seed: VectorEnv("dark_hex", 4, seed=seed, rows=3)  # noqa: E731
    transcripts = {}
    for seed in (0, 1, None):
        env = build(seed)
        env.reset()
        transcripts[seed] = rollout(env)
    np.random.seed(3)  # noqa: NPY002
    env = build(7)
    env.reset(seed=0)
    assert rollout(env) == transcripts[0] and env.np_random_seed == 0
    env.reset()
    assert rollout(env) != transcripts[0]  # without a seed the numbers go on
    assert len({tuple(t) for t in transcripts.values()}) == 3


def test_sampled_actions_are_legal_and_uniform():
    env = VectorEnv("dark_hex", 3000, seed=0, rows=2, cols=3)
    env.reset()
    env.step(np.full(3000, 2))
    batch, *_ = env.step(np.full(3000, 2))  # a collision: five cells are left
    actions = env.sample_actions()
    assert actions.dtype == np.int64 and batch["action_mask"][np.arange(3000), actions].all()
    counts = np.bincount(actions, minlength=6) / 3000
    assert counts[2] == 0 and abs(counts[[0, 1, 3, 4, 5]] - 0.2).max() < 0.03
    own = rng_state(5)
    assert np.array_equal(env.sample_actions(rng_state(5)), env.sample_actions(own))
    assert not np.array_equal(own, rng_state(5))  # advanced in place


def test_a_state_saved_is_a_state_restored():
    env = VectorEnv("dark_hex", 5, seed=0, rows=3)
    env.reset()
    rollout(env, 7)
    saved = env.get_state()
    wanted = rollout(env)
    other = VectorEnv("dark_hex", 5, seed=9, rows=3)
    other.set_state(saved)
    assert rollout(other) == wanted
    env.set_state(saved)
    assert np.array_equal(env.observe()["action_mask"], VectorEnv.observe(env)["action_mask"])
    assert rollout(env) == wanted


def test_a_state_of_something_else_is_refused():
    env = VectorEnv("dark_hex", 2, rows=3)
    env.reset()
    good = env.get_state()
    with pytest.raises(ValueError, match="must hold rows"):
        env.set_state({"rows": good["rows"]})
    with pytest.raises(ValueError, match=r"rows of the state.*num_envs=2"):
        env.set_state(VectorEnv("dark_hex", 3, rows=3).get_state())
    with pytest.raises(ValueError, match="lengths"):
        env.set_state({**good, "lengths": good["lengths"].astype(np.int32)})
    assert np.array_equal(env.get_state()["rows"], good["rows"])


def test_reused_arrays_on_request():
    env = VectorEnv("dark_hex", 2, seed=0, copy=False, rows=3)
    first, _ = env.reset()
    second, *_ = env.step(env.sample_actions())
    assert second["observation"] is first["observation"] and second["action_mask"] is first["action_mask"]
    first["action_mask"][:] = 0  # legality is not read from what was handed out
    env.step(env.sample_actions())


def test_last_observations_can_be_left_out():
    env = VectorEnv("hex", 1, final_obs=False, **SHORT)
    env.reset()
    for action in (0, 1, 2):
        *_, info = env.step(np.array([action]))
    assert "final_obs" not in info and info["final_info"]["returns"].tolist() == [[1.0, -1.0]]


@pytest.mark.parametrize("actions", [[0], [0.0, 1.0], [[0, 1]], [True, False], None])
def test_actions_of_the_wrong_kind(actions):
    env = VectorEnv("dark_hex", 2, rows=3)
    env.reset()
    with pytest.raises(ValueError, match="2 integers, one per lane"):
        env.step(actions)


def test_integers_of_any_width_are_actions():
    env = VectorEnv("dark_hex", 2, rows=3)
    for kind in (np.int8, np.uint8, np.int32, np.int64):
        env.reset()
        env.step(np.array([0, 8], dtype=kind))
    env.reset()
    env.step([0, 8])


def test_resetting_some_lanes():
    env = VectorEnv("dark_hex", 3, seed=0, rows=3)
    with pytest.raises(ValueError, match="first reset"):
        env.reset(options={"reset_mask": np.array([True, False, False])})
    first, _ = env.reset()
    batch, *_ = env.step(env.sample_actions())
    again, info = env.reset(options={"reset_mask": np.array([False, True, False])})
    assert np.array_equal(again["observation"][[0, 2]], batch["observation"][[0, 2]])
    assert np.array_equal(again["observation"][1], first["observation"][1])
    assert info["player"].tolist() == [1, 0, 1] and env.episode_lengths.tolist() == [1, 0, 1]
    for wrong in ([True, False, True], np.array([True]), np.array([1, 0, 1])):
        with pytest.raises(ValueError, match="bool array"):
            env.reset(options={"reset_mask": wrong})
    with pytest.raises(ValueError, match="unknown reset options"):
        env.reset(options={"seat": 1})


def test_lanes_are_independent_of_their_number():
    game = envs.make("dark_hex", rows=3)
    wide, narrow = VectorEnv(game, 64), VectorEnv(game, 1)
    wide.reset(seed=0)
    batch, _ = narrow.reset()
    for _ in range(50):
        actions = wide.sample_actions()
        many = wide.step(actions)
        one = narrow.step(actions[17:18])
        assert np.array_equal(many[0]["observation"][17], one[0]["observation"][0])
        assert many[1][17] == one[1][0] and many[2][17] == one[2][0]


def test_gymnasiums_vector_wrappers():
    env = gymnasium.wrappers.vector.DictInfoToList(VectorEnv("hex", 2, seed=0, **SHORT))
    _, infos = env.reset(seed=0)
    assert [info["player"] for info in infos] == [0, 0]
    for actions in [(0, 0), (1, 2), (2, 1)]:
        *_, infos = env.step(np.array(actions))
    assert infos[0]["rewards"].tolist() == [1.0, -1.0] and "final_obs" in infos[0]
    assert infos[0]["final_info"]["length"] == 3 and "final_obs" not in infos[1]
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(VectorEnv("hex", 2, seed=0, **SHORT))
    env.reset(seed=0)
    lengths = []
    for _ in range(40):
        *_, info = env.step(env.unwrapped.sample_actions())
        lengths += info["episode"]["l"][info["_episode"]].tolist() if "episode" in info else []
    assert lengths and set(lengths) <= {3, 4}


def test_rendering():
    env = VectorEnv("dark_hex", 2, render_mode="ansi", rows=3)
    env.reset()
    env.step(np.array([4, 0]))
    frames = env.render()
    assert len(frames) == 2 and all("R" not in "".join(frame.splitlines()[1:4]) for frame in frames)
    rgb = VectorEnv("dark_hex", 1, render_mode="rgb_array", rows=3)
    rgb.reset()
    assert rgb.render()[0].dtype == np.uint8
    with pytest.raises(ValueError, match="render_mode"):
        VectorEnv("dark_hex", 1, rows=3).render()
