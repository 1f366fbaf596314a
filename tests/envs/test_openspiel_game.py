"""Our games inside OpenSpiel: loading, OpenSpiel's own game tests, its algorithms, its environment."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import envs

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

import envs.openspiel as openspiel  # noqa: E402

SPECS = [
    "darkgames_dark_hex",
    "darkgames_dark_hex(rows=2,cols=3,version=abrupt,info=silent)",
    "darkgames_dark_hex(rows=3,cols=2,info=numturns)",
    "darkgames_dark_hex(rows=4,cols=4,version=abrupt)",
    "darkgames_dark_hex(rows=1,cols=1)",
    "darkgames_phantom_ttt",
    "darkgames_phantom_ttt(rows=2,cols=4,line=2,version=abrupt,info=silent)",
    "darkgames_hex(rows=4)",
    "darkgames_hex(rows=3,cols=4,swap=sides)",
    "darkgames_hex(rows=3,rex=true,swap=off)",
]


@pytest.mark.parametrize("spec", SPECS)
def test_openspiels_own_checks(spec):
    game = pyspiel.load_game(spec)
    pyspiel.random_sim_test(game, num_sims=8, serialize=True, verbose=False)


@pytest.mark.parametrize("spec", SPECS)
def test_names_round_trip(spec):
    game = pyspiel.load_game(spec)
    assert pyspiel.load_game(str(game)).envs_game == game.envs_game
    assert openspiel.load_game(game.envs_game).envs_game == game.envs_game
    assert openspiel.load_game(game.envs_game).get_parameters() == game.envs_game.explicit_parameters()


def test_defaults_are_ours():
    assert pyspiel.load_game("darkgames_dark_hex").envs_game == envs.make("dark_hex")
    assert pyspiel.load_game("darkgames_dark_hex(rows=2)").envs_game == envs.make("dark_hex", rows=2)
    assert pyspiel.load_game("darkgames_hex(rows=3,cols=4)").envs_game == envs.make("hex", rows=3, cols=4)


def test_game_facts():
    game = pyspiel.load_game("darkgames_dark_hex(rows=2,cols=3)")
    ours = game.envs_game
    assert game.num_distinct_actions() == 6
    assert game.num_players() == 2
    assert game.max_game_length() == 11
    assert (game.min_utility(), game.max_utility(), game.utility_sum()) == (-1.0, 1.0, 0.0)
    assert game.information_state_tensor_shape() == [ours.observation_size(False)]
    assert game.observation_tensor_shape() == [ours.observation_size(True)]
    kind = game.get_type()
    assert kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
    assert kind.chance_mode == pyspiel.GameType.ChanceMode.DETERMINISTIC
    open_kind = pyspiel.load_game("darkgames_hex(rows=3)").get_type()
    assert open_kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION


@pytest.mark.parametrize("spec", SPECS)
def test_states_follow_ours(spec):
    game = pyspiel.load_game(spec)
    rng = np.random.default_rng(7)
    for _ in range(5):
        state, ours = game.new_initial_state(), game.envs_game.new_initial_state()
        while not ours.is_terminal():
            assert state.current_player() == ours.current_player()
            assert state.legal_actions() == ours.legal_actions()
            assert np.flatnonzero(state.legal_actions_mask()).tolist() == ours.legal_actions()
            for player in range(2):
                assert state.information_state_string(player) == ours.information_state_string(player)
                assert state.observation_string(player) == ours.observation_string(player)
                assert np.array_equal(state.observation_tensor(player), ours.observation_tensor(player))
                if game.get_type().provides_information_state_tensor:
                    tensor = state.information_state_tensor(player)
                    assert np.array_equal(tensor, ours.information_state_tensor(player))
            action = int(rng.choice(ours.legal_actions()))
            mover = ours.current_player()
            assert state.action_to_string(mover, action) == ours.action_to_string(mover, action)
            assert state.string_to_action(ours.action_to_string(mover, action)) == action
            state.apply_action(action)
            ours.apply_action(action)
        assert state.is_terminal() and state.returns() == ours.returns()
        assert str(state) == str(ours)
        assert state.history() == ours.history()


def test_clone_serialise_pickle():
    game = pyspiel.load_game("darkgames_dark_hex(rows=2,cols=3,info=silent)")
    state = game.new_initial_state()
    for action in (4, 4, 0):
        state.apply_action(action)
    text = str(state)
    twins = [
        state.clone(),
        pickle.loads(pickle.dumps(state)),
        game.deserialize_state(state.serialize()),
        pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))[1],
    ]
    for twin in twins:
        assert str(twin) == text and twin.history() == [4, 4, 0]
        twin.apply_action(twin.legal_actions()[0])
        assert str(state) == text and state.history() == [4, 4, 0]
    assert len({str(twin) for twin in twins}) == 1


def test_observers():
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game("darkgames_dark_hex(rows=2,cols=2,info=announce)")
    state = game.new_initial_state()
    for action in (1, 1, 2):
        state.apply_action(action)
    for recall in (False, True):
        observation = make_observation(game, pyspiel.IIGObservationType(perfect_recall=recall))
        observation.set_from(state, 0)
        layout = game.envs_game.observation_layout(not recall)
        assert list(observation.dict) == [name for name, _, _ in layout]
        assert np.array_equal(observation.dict["own stones"], [0, 1, 0, 0])
        assert np.array_equal(np.concatenate(list(observation.dict.values())), observation.tensor)
    everything = pyspiel.IIGObservationType(perfect_recall=True, private_info=pyspiel.PrivateInfoType.ALL_PLAYERS)
    with pytest.raises(ValueError, match="one player"):
        make_observation(game, everything)
    with pytest.raises(ValueError, match="parameters are not supported"):
        make_observation(game, None, {"planes": 3})


def test_keys_do_not_count_the_opponents_probes():
    game = pyspiel.load_game("darkgames_dark_hex(info=silent)")
    states = []
    for actions in ((4, 4, 7), (4, 7)):
        states.append(game.new_initial_state())
        for action in actions:
            states[-1].apply_action(action)
    one, other = states
    assert one.information_state_string(0) == other.information_state_string(0)
    assert one.information_state_tensor(0) == other.information_state_tensor(0)
    assert one.information_state_string(1) != other.information_state_string(1)


def test_errors():
    with pytest.raises(ValueError, match="choose one of classical, abrupt"):
        pyspiel.load_game("darkgames_dark_hex(version=classic)")
    with pytest.raises(ValueError, match="integer from 1"):
        pyspiel.load_game("darkgames_dark_hex(rows=0)")
    with pytest.raises(ValueError, match="square board"):
        pyspiel.load_game("darkgames_hex(rows=2,cols=3,swap=pieces)")
    with pytest.raises(pyspiel.SpielError, match="Available parameters are: cols, info, rows, version"):
        pyspiel.load_game("darkgames_dark_hex(row=2)")


# -- OpenSpiel's algorithms on our games --------------------------------------------------------------------


@pytest.mark.parametrize("version, infosets, nash_conv", [("classical", (17, 53), 1.25), ("abrupt", (59, 35), 5 / 6)])
def test_uniform_policy(version, infosets, nash_conv):
    from open_spiel.python import policy
    from open_spiel.python.algorithms import exploitability

    game = pyspiel.load_game(f"darkgames_dark_hex(rows=2,cols=2,version={version},info=silent)")
    table = policy.TabularPolicy(game)
    assert tuple(len(states) for states in table.states_per_player) == infosets
    assert exploitability.nash_conv(game, table) == pytest.approx(nash_conv, abs=1e-12)
    assert exploitability.exploitability(game, table) == pytest.approx(nash_conv / 2, abs=1e-12)
    assert pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game)) == pytest.approx(nash_conv, abs=1e-12)


@pytest.mark.parametrize("info", ["silent", "announce"])
def test_value_of_the_game(info):
    game = pyspiel.load_game(f"darkgames_dark_hex(rows=2,cols=2,version=abrupt,info={info})")
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(60):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    gap = pyspiel.nash_conv(game, average)
    assert gap < 0.05
    value = pyspiel.expected_returns(game.new_initial_state(), average, -1, False)[0]
    assert abs(value - 0.5) <= gap


def test_cfr_in_python_and_in_c():
    from open_spiel.python.algorithms import cfr, exploitability

    game = pyspiel.load_game("darkgames_dark_hex(rows=2,cols=2,version=abrupt,info=silent)")
    ours, theirs = cfr.CFRSolver(game), pyspiel.CFRSolver(game)
    for _ in range(12):
        ours.evaluate_and_update_policy()
        theirs.evaluate_and_update_policy()
    one = exploitability.nash_conv(game, ours.average_policy())
    assert one < 0.25
    assert pyspiel.nash_conv(game, theirs.average_policy()) == pytest.approx(one, abs=1e-9)


def test_reinforcement_learning_environment():
    from open_spiel.python import rl_environment

    environment = rl_environment.Environment(
        pyspiel.load_game("darkgames_dark_hex(rows=2,cols=3)"), include_full_state=False
    )
    rng = np.random.default_rng(0)
    for _ in range(5):
        step = environment.reset()
        while not step.last():
            player = step.observations["current_player"]
            step = environment.step([int(rng.choice(step.observations["legal_actions"][player]))])
        assert sum(step.rewards) == 0 and set(step.rewards) == {1.0, -1.0}


# -- imports ------------------------------------------------------------------------------------------------


def test_without_openspiel():
    program = (
        "import sys\n"
        "sys.modules['pyspiel'] = None\n"
        "import envs\n"
        "envs.make('dark_hex').new_initial_state().apply_action(4)\n"
        "try:\n"
        "    import envs.openspiel\n"
        "except ImportError as error:\n"
        "    assert 'pip install open_spiel' in str(error), error\n"
        "else:\n"
        "    raise SystemExit('no error')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_registration_is_explicit_and_repeatable():
    program = (
        "import importlib, pyspiel, envs\n"
        "assert not [n for n in pyspiel.registered_names() if n.startswith('darkgames')]\n"
        "import envs.openspiel\n"
        "importlib.reload(envs.openspiel)\n"
        "names = [n for n in pyspiel.registered_names() if n.startswith('darkgames')]\n"
        "assert names == sorted('darkgames_' + n for n in envs.game_names()), names\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
