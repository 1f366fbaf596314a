"""Contracts of the environments, for every game: they play the same game, and they keep their libraries' promises."""

import copy
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from contract_cases import PLAYED, PLAYED_GAMES, over, random_game
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.test.state_test import state_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from envs.core import IllegalActionError, make
from envs.gymnasium_env import SingleAgentEnv
from envs.kernels import TERMINAL
from envs.pettingzoo_env import AecEnv, OrderError, OutOfBoundsError, RawAecEnv
from envs.registration import NAMES, environment_id
from envs.vector_env import VectorEnv

OBSERVATIONS = ["information_state", "view"]
AECS = [AecEnv, RawAecEnv]


def aec(game, kind=AecEnv, **options):
    return kind(game, "contract_v0", **options)


def scripted(game, actions, seat, **options):
    """A Gymnasium environment whose opponent plays its part of ``actions``."""
    state = game.new_initial_state()
    state.apply_actions(actions)
    script = [action for player, action in state.full_history() if player != seat]
    return SingleAgentEnv(game, lambda _: script.pop(0), seat=seat, **options)


def tensor(state, player, observation):
    return state.observation_tensor(player) if observation == "view" else state.information_state_tensor(player)


def mask_of(state, player):
    return state.legal_actions_mask(player).astype(np.int8)


def assert_shows(shown, state, player, observation):
    """An observation is that of a player in a state."""
    assert shown["observation"].dtype == np.float32 and shown["action_mask"].dtype == np.int8
    assert np.array_equal(shown["observation"], tensor(state, player, observation))
    assert np.array_equal(shown["action_mask"], mask_of(state, player))


# -- the same game through every face ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", AECS)
@pytest.mark.parametrize("observation", OBSERVATIONS)
@over(PLAYED_GAMES)
def test_aec_plays_the_game(game, observation, kind):
    env = aec(game, kind, observation=observation)
    rng = np.random.default_rng(5)
    for _ in range(6):
        state = game.new_initial_state()
        env.reset(seed=0)
        credited = dict.fromkeys(env.possible_agents, 0.0)
        for action in random_game(game, rng):
            assert env.agent_selection == env.possible_agents[state.current_player()]
            shown, reward, terminated, truncated, info = env.last()
            assert (terminated, truncated, info, reward) == (False, False, {}, 0.0)
            assert env.observation_space(env.agent_selection).contains(shown)
            for player, agent in enumerate(env.possible_agents):
                assert_shows(env.observe(agent), state, player, observation)
            state.apply_action(action)
            env.step(action)
        last_step = dict(env.rewards)
        finished = []
        while env.agents:
            shown, reward, terminated, truncated, _ = env.last()
            assert terminated and not truncated
            assert_shows(shown, state, env.possible_agents.index(env.agent_selection), observation)
            credited[env.agent_selection] += reward
            finished.append(env.agent_selection)
            env.step(None)
        assert sorted(finished) == sorted(env.possible_agents)
        assert list(credited.values()) == list(last_step.values()) == state.returns()


@pytest.mark.parametrize("observation", OBSERVATIONS)
@over(PLAYED_GAMES)
def test_parallel_plays_the_game(game, observation):
    env = turn_based_aec_to_parallel(aec(game, observation=observation))
    state = game.new_initial_state()
    observations, _ = env.reset(seed=0)
    total = dict.fromkeys(env.possible_agents, 0.0)
    for action in random_game(game, np.random.default_rng(6)):
        for player, agent in enumerate(env.possible_agents):
            assert_shows(observations[agent], state, player, observation)
        mover = state.current_player()
        actions = {agent: action if player == mover else 0 for player, agent in enumerate(env.possible_agents)}
        observations, rewards, terminated, truncated, _ = env.step(actions)
        for agent, reward in rewards.items():
            total[agent] += reward
        state.apply_action(action)
    assert all(terminated.values()) and not any(truncated.values()) and not env.agents
    assert list(total.values()) == state.returns()


@pytest.mark.parametrize("observation", OBSERVATIONS)
@over(PLAYED_GAMES)
def test_vector_plays_the_games(game, observation):
    rng = np.random.default_rng(7)
    lanes = 5
    env = VectorEnv(game, lanes, observation=observation)
    states = [game.new_initial_state() for _ in range(lanes)]
    scripts = [random_game(game, rng) for _ in range(lanes)]
    batch, info = env.reset(seed=0)
    lengths = np.zeros(lanes, dtype=int)
    for _ in range(3 * game.max_game_length()):
        movers = [state.current_player() for state in states]
        assert info["player"].tolist() == env.player.tolist() == movers
        assert env.observation_space.contains(batch)
        for lane, state in enumerate(states):
            assert_shows({k: v[lane] for k, v in batch.items()}, state, movers[lane], observation)
        actions = np.array([script[n] for script, n in zip(scripts, lengths, strict=True)])
        batch, reward, terminated, truncated, info = env.step(actions)
        assert info["actor"].tolist() == movers and not truncated.any()
        lengths += 1
        for lane, state in enumerate(states):
            state.apply_action(int(actions[lane]))
            assert terminated[lane] == state.is_terminal()
            assert info["rewards"][lane].tolist() == state.returns()
            assert reward[lane] == state.returns()[movers[lane]]
            if terminated[lane]:
                assert info["_final_obs"][lane] and info["_final_info"][lane]
                assert_shows(info["final_obs"][lane], state, movers[lane], observation)
                assert info["final_info"]["returns"][lane].tolist() == state.returns()
                assert info["final_info"]["length"][lane] == lengths[lane]
                states[lane], scripts[lane], lengths[lane] = game.new_initial_state(), random_game(game, rng), 0
            elif "final_obs" in info:
                assert info["final_obs"][lane] is None and not info["_final_obs"][lane]
        assert env.episode_lengths.tolist() == lengths.tolist()
        assert ("final_obs" in info) == bool(terminated.any())


@pytest.mark.parametrize("observation", OBSERVATIONS)
@over(PLAYED_GAMES)
def test_gymnasium_plays_the_game(game, observation):
    rng = np.random.default_rng(8)
    for seat in range(game.num_players):
        actions = random_game(game, rng)
        env = scripted(game, actions, seat, observation=observation)
        shown, info = env.reset(seed=0)
        state = game.new_initial_state()
        total, terminated = 0.0, False
        for action in actions:
            if not state.is_terminal() and state.current_player() == seat:
                assert not terminated and info["seat"] == seat
                assert_shows(shown, state, seat, observation)
                assert np.array_equal(info["action_mask"], mask_of(state, seat))
                assert env.observation_space.contains(shown)
                shown, reward, terminated, truncated, info = env.step(action)
                assert not truncated and (reward == 0 or terminated)
                total += reward
            state.apply_action(action)
        assert total == state.returns()[seat]
        if terminated:  # a player who has left the game may not see its end
            assert_shows(shown, state, seat, observation)


# -- copies -----------------------------------------------------------------------------------------------------------


def mid_game(game):
    """(face, environment in the middle of a game, actions that continue it) for all faces."""
    actions = random_game(game, np.random.default_rng(9))
    half = max(1, len(actions) // 2)
    built = []
    for kind in AECS:
        env = aec(game, kind, observation="view")
        env.reset(seed=0)
        for action in actions[:half]:
            env.step(action)
        built.append(("aec", env, actions[half:]))
    vector = VectorEnv(game, 3, observation="view", seed=0)
    vector.reset()
    for action in actions[:half]:
        vector.step(np.full(3, action))
    built.append(("vector", vector, actions[half:]))
    env = SingleAgentEnv(game, seat="random", observation="view")
    env.reset(seed=0)
    built.append(("gymnasium", env, []))
    return built


def continuation(face, env, actions):
    """Everything that an environment gives from here on, as bytes."""
    out = []
    if face == "aec":
        for action in [*actions, *[None] * len(env.agents)]:
            out.append((env.agent_selection, env.last(), dict(env.rewards)))
            env.step(action)
        out.append(list(env.agents))
    elif face == "vector":
        for action in actions:
            out.append(env.step(np.full(3, action)))
        for _ in range(5):  # its own random numbers go on as well
            out.append(env.step(env.sample_actions()))
    else:
        mask, terminated = env.observe()["action_mask"], False
        while not terminated:
            shown, reward, terminated, truncated, info = env.step(int(np.flatnonzero(mask)[-1]))
            mask = shown["action_mask"]
            out.append((shown, reward, terminated, truncated, info))
        out.append(env.reset())
    return pickle.dumps(plain(out))


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray) and value.dtype != object else (
        [plain(item) for item in value] if isinstance(value, np.ndarray) else value
    )


@over(PLAYED_GAMES)
def test_a_running_game_is_copied_exactly(game):
    for face, env, actions in mid_game(game):
        copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
        wanted = continuation(face, env, actions)
        for other in copies:
            assert continuation(face, other, actions) == wanted, face


def test_a_running_game_continues_in_another_process(tmp_path):
    cases = [case for game in PLAYED_GAMES for case in mid_game(game)]
    (tmp_path / "in").write_bytes(pickle.dumps(cases))
    program = (
        "import pickle, sys\n"
        "from test_faces import continuation\n"
        "cases = pickle.load(open(sys.argv[1] + '/in', 'rb'))\n"
        "pickle.dump([continuation(*case) for case in cases], open(sys.argv[1] + '/out', 'wb'))\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, env={**os.environ, "PYTHONPATH": path})
    assert pickle.loads((tmp_path / "out").read_bytes()) == [continuation(*case) for case in cases]


@over(PLAYED_GAMES)
def test_arrays_are_fresh(game):
    for face, env, _ in mid_game(game):
        if face == "aec":
            kept = env.last()[0]
        else:
            kept = env.observe()
        before = copy.deepcopy(kept)
        for array in kept.values():  # whoever writes into an observation changes nothing but his copy
            array += 1
        again = env.last()[0] if face == "aec" else env.observe()
        assert all(np.array_equal(again[key], before[key]) for key in before)
        if face == "vector":
            env.step(env.sample_actions())
        else:
            env.step(int(np.flatnonzero(before["action_mask"])[0]))
        assert all(np.array_equal(kept[key], before[key] + 1) for key in before)


# -- wrong use --------------------------------------------------------------------------------------------------------


def illegal_action(mask):
    """An action inside the action space that is not legal, None where all are."""
    closed = np.flatnonzero(mask == 0)
    return int(closed[0]) if closed.size else None


@over(PLAYED_GAMES)
def test_an_illegal_action_ends_the_aec_game_by_convention(game):
    env = aec(game)
    env.reset()
    while (action := illegal_action(env.last()[0]["action_mask"])) is None:
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    offender = env.agent_selection
    before = env.position()
    env.step(action)
    assert env.position() == before
    assert all(env.terminations.values()) and all(env.truncations.values())
    credited = {}
    while env.agents:
        shown, credited[env.agent_selection], terminated, truncated, info = env.last()
        assert terminated and truncated and not shown["action_mask"].any()
        assert ("illegal_action" in info) == (env.agent_selection == offender)
        env.step(None)
    assert credited == {agent: -1.0 if agent == offender else 0.0 for agent in env.possible_agents}
    env.reset()
    assert len(env.agents) == game.num_players and env.infos == {agent: {} for agent in env.agents}


@over(PLAYED_GAMES)
def test_an_illegal_action_is_refused_by_the_raw_environment(game):
    env = aec(game, RawAecEnv)
    env.reset()
    while (action := illegal_action(env.last()[0]["action_mask"])) is None:
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    before = env.position()
    for wrong in (action, -1, game.num_distinct_actions()):
        with pytest.raises(IllegalActionError, match=f"action {wrong}.*{env.agent_selection}.*legal actions are"):
            env.step(wrong)
    assert env.position() == before and not any(env.terminations.values())


@over(PLAYED_GAMES)
def test_an_illegal_action_ends_the_gymnasium_game(game):
    env = SingleAgentEnv(game, seat=0)
    shown, info = env.reset(seed=3)
    while (action := illegal_action(shown["action_mask"])) is None:
        shown, _, terminated, _, info = env.step(int(np.flatnonzero(shown["action_mask"])[0]))
        assert not terminated
    before = env.position()
    shown, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert f"action {action}" in info["illegal_action"] and not shown["action_mask"].any()
    assert env.position() == before
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset"):
        env.step(0)


@over(PLAYED_GAMES)
def test_every_face_names_an_illegal_action_alike(game):
    actions = random_game(game, np.random.default_rng(12))[:-1][:9]
    state = game.new_initial_state()
    state.apply_actions(actions)
    mover, legal = state.current_player(), state.legal_actions()
    illegal = [action for action in range(game.num_distinct_actions()) if action not in legal]
    # The one whose name depends most on the position, if any: Docking's landing squares.
    own = [action for action in illegal if state.action_to_string(action) != game.action_to_string(mover, action)]
    action = (own or illegal)[0]
    said = [f"action {action} ({state.action_to_string(action)}) of", f"is illegal; legal actions are {legal}; choose"]
    texts = []
    with pytest.raises(IllegalActionError) as refused:
        state.apply_action(action)
    texts.append(str(refused.value))
    raw = aec(game, RawAecEnv)
    raw.reset()
    vector = VectorEnv(game, 2)
    vector.reset()
    for earlier in actions:
        raw.step(earlier)
        vector.step(np.full(2, earlier))
    for face, taken in ((raw, action), (vector, np.full(2, action))):
        with pytest.raises(IllegalActionError) as refused:
            face.step(taken)
        texts.append(str(refused.value))
    single = scripted(game, actions, mover)
    single.reset(seed=0)
    for player, earlier in state.full_history():
        if player == mover:
            single.step(earlier)
    texts.append(single.step(action)[-1]["illegal_action"])
    for text in texts:
        assert all(part in text for part in said), text


@over(PLAYED_GAMES)
def test_an_illegal_action_changes_no_lane(game):
    env = VectorEnv(game, 4, seed=0)
    batch, _ = env.reset()
    while (action := illegal_action(batch["action_mask"][2])) is None:
        batch, *_ = env.step(env.sample_actions())
    before = env.get_state()
    for wrong in (action, -1, game.num_distinct_actions()):
        actions = env.sample_actions(np.array([1, 2, 3, 4], dtype=np.uint64))
        actions[2] = wrong
        with pytest.raises(IllegalActionError, match=f"lane 2: action {wrong}.*player {env.player[2]}.*legal"):
            env.step(actions)
    after = env.get_state()
    assert all(np.array_equal(before[key], after[key]) for key in before)


@pytest.mark.parametrize("action", [-1, 10**6, 1.0, "a1", None, True, np.float32(1), np.array([1, 2])], ids=repr)
@over(PLAYED_GAMES[:1])
def test_what_is_no_action(game, action):
    env = aec(game)
    env.reset()
    with pytest.raises(OutOfBoundsError, match="player_0 is not in its action space"):
        env.step(action)
    single = SingleAgentEnv(game)
    single.reset(seed=0)
    with pytest.raises(ValueError, match="not in the action space"):
        single.step(action)
    assert env.position() == single.position() == game.new_initial_state()


@over(PLAYED_GAMES)
def test_numpy_integers_are_actions(game):
    env = aec(game)
    first = game.new_initial_state().legal_actions()[0]
    for kind in (np.int16, np.int32, np.int64, np.uint16, np.array):
        env.reset()
        env.step(kind(first))
        assert env.position().history() == [first]


@over(PLAYED_GAMES)
def test_calls_out_of_order(game):
    env = aec(game, render_mode="ansi")
    calls = [lambda: env.step(0), env.last, lambda: env.observe("player_0"), env.state, env.render, env.agent_iter]
    for call in calls:
        with pytest.raises(OrderError, match="reset"):
            call()
    for name in ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "num_agents"):
        with pytest.raises(AttributeError, match=f"{name}|agents"):
            getattr(env, name)
    env.reset()
    with pytest.raises(ValueError, match="agents are player_0"):
        env.observe("player_9")
    for action in random_game(game, np.random.default_rng(10)):
        env.step(action)
    with pytest.raises(ValueError, match=r"over for player_0.*step\(None\)"):
        env.step(0)
    while env.agents:
        env.step(None)
    env.step(None)
    with pytest.raises(OrderError, match="reset"):
        env.step(0)
    with pytest.raises(OrderError, match="reset"):
        env.last()
    for single in (SingleAgentEnv(game), SingleAgentEnv(game)):
        with pytest.raises(gymnasium.error.ResetNeeded, match="reset"):
            single.step(0)
    vector = VectorEnv(game, 2)
    for call in (lambda: vector.step(np.zeros(2, int)), vector.sample_actions, vector.observe):
        with pytest.raises(RuntimeError, match="reset"):
            call()


def test_unknown_options():
    for name, sets in PLAYED.items():
        module = __import__(f"envs.{name}_v0", fromlist=["env"])
        for build in (module.env, module.raw_env, module.parallel_env):
            with pytest.raises(ValueError, match="no parameter 'size'.*rows"):
                build(size=3)
            with pytest.raises(ValueError, match="observation='all'.*information_state, view"):
                build(observation="all")
            with pytest.raises(ValueError, match="render_mode='ascii'.*ansi"):
                build(render_mode="ascii")
        with pytest.raises(ValueError, match="no parameter 'size'"):
            gymnasium.make(environment_id(name), size=3)
        players = make(name).num_players
        with pytest.raises(ValueError, match=f"seat={players}.*0 to {players - 1}"):
            gymnasium.make(environment_id(name), seat=players, **sets[0])
        with pytest.raises(ValueError, match="opponent='best'.*uniform"):
            gymnasium.make(environment_id(name), opponent="best", **sets[0])
        with pytest.raises(ValueError, match="num_envs=0"):
            VectorEnv(name, 0, **sets[0])
        with pytest.raises(ValueError, match="rows"):
            VectorEnv(module.env(**sets[0]).game, 1, rows=3)


@over(PLAYED_GAMES)
def test_options_survive_reset(game):
    env = aec(game, observation="view", render_mode="ansi", render_omniscient=True)
    single = SingleAgentEnv(game, seat=1, observation="view", render_mode="ansi")
    vector = VectorEnv(game, 2, observation="view", render_mode="ansi")
    size = game.observation_size(view=True)
    for seed in (0, None, 5):
        env.reset(seed=seed)
        assert env.game == game and env.last()[0]["observation"].shape == (size,)
        assert env.render() and env.render_omniscient
        assert single.reset(seed=seed)[0]["observation"].shape == (size,) and single.seat == 1
        assert vector.reset(seed=seed)[0]["observation"].shape == (2, size)


# -- what the libraries ask for ---------------------------------------------------------------------------------------


@pytest.fixture
def no_advice():
    """The libraries' checkers advise against dict observations; all else they say is an error here."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="Observation is not a NumPy array")
        warnings.filterwarnings("ignore", message="Observation space for each agent probably should be")
        yield


@over(PLAYED_GAMES)
@pytest.mark.usefixtures("no_advice")
def test_pettingzoo_checks(game, capsys):
    for kind in AECS:
        for observation in OBSERVATIONS:
            api_test(aec(game, kind, observation=observation), num_cycles=200)
            seed_test(lambda kind=kind, observation=observation: aec(game, kind, observation=observation), 50)
        render_test(lambda kind=kind, **options: aec(game, kind, **options))
    state_test(aec(game), turn_based_aec_to_parallel(aec(game)))
    parallel_api_test(turn_based_aec_to_parallel(aec(game)), num_cycles=200)


@over(PLAYED_GAMES)
def test_omniscient_state(game):
    env = aec(game)
    env.reset()
    state = game.new_initial_state()
    for action in random_game(game, np.random.default_rng(11)):
        whole = env.state()
        assert env.state_space.contains(whole)
        parts = np.split(whole[: -game.num_players], game.num_players)
        for player, part in enumerate(parts):
            assert np.array_equal(part, state.information_state_tensor(player))
        assert np.flatnonzero(whole[-game.num_players :]).tolist() == [state.current_player()]
        env.step(action)
        state.apply_action(action)
    assert state.current_player() == TERMINAL and not env.state()[-game.num_players :].any()


@pytest.mark.parametrize(
    ("name", "parameters"), [(name, p) for name, sets in PLAYED.items() for p in sets], ids=str
)
@pytest.mark.usefixtures("no_advice")
def test_gymnasium_checks(name, parameters, capsys):
    for seat in (0, 1, "random"):
        for observation in OBSERVATIONS:
            env = gymnasium.make(environment_id(name), seat=seat, observation=observation, **parameters)
            check_env(env.unwrapped)
    vector = gymnasium.make_vec(environment_id(name), num_envs=3, vectorization_mode="sync", **parameters)
    batch, _ = vector.reset(seed=0)
    terminated = np.zeros(3, dtype=bool)
    while not terminated.any():
        assert vector.observation_space.contains(batch)
        batch, _, terminated, *_ = vector.step(batch["action_mask"].argmax(axis=1))
    vector.close()


def test_registered_names():
    import pettingzoo

    assert set(NAMES) == set(PLAYED)
    for name, sets in PLAYED.items():
        for parameters in sets:
            spec = gymnasium.make(environment_id(name), **parameters).unwrapped.game.spec()
            assert spec == gymnasium.make(f"envs:{environment_id(name)}", **parameters).unwrapped.game.spec()
            assert spec == pettingzoo.make("aec", environment_id(name), **parameters).game.spec()
            assert spec == pettingzoo.make("parallel", environment_id(name), **parameters).unwrapped.game.spec()
