"""Game and State: identity, copies, errors; the same for every game."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import envs

# A board other than the default one.
OTHER_BOARDS = {"docking": {"rows": 6}}


@pytest.mark.parametrize("name", envs.game_names())
def test_copies_of_a_running_game(name):
    game = envs.make(name, **OTHER_BOARDS.get(name, {"rows": 4}))
    rng = np.random.default_rng(0)
    state = game.new_initial_state()
    for _ in range(3):
        state.apply_action(int(rng.choice(state.legal_actions())))
    for other in (copy.deepcopy(state), pickle.loads(pickle.dumps(state)), state.clone()):
        assert other == state and other.game == game and other.row is not state.row
        mine = state.clone()
        while not mine.is_terminal():
            action = int(rng.choice(mine.legal_actions()))
            mine.apply_action(action)
            other.apply_action(action)
        assert other == mine and other.returns() == mine.returns()
    assert len(state.history()) == 3


@pytest.mark.parametrize("name", envs.game_names())
def test_a_game_is_its_parameters(name):
    game = envs.make(name)
    again = envs.make(name, **game.explicit_parameters())
    assert again == game and hash(again) == hash(game) and game.spec() in repr(game)
    assert pickle.loads(pickle.dumps(game)) == game
    assert envs.make(name, **OTHER_BOARDS.get(name, {"rows": 5})) != game


def test_players_and_ends():
    game = envs.make("dark_hex", rows=2)
    state = game.new_initial_state()
    with pytest.raises(ValueError, match="players are 0 to 1"):
        state.information_state_tensor(2)
    with pytest.raises(ValueError, match="players are 0 to 1"):
        state.legal_actions(-1)
    assert state.returns() == [0.0, 0.0] and state.reason() is None and state.witness() == ()
    state = game.state_from_string("b1 a2 a2x b2")
    assert state.legal_actions() == [] and not state.legal_actions_mask().any()
    with pytest.raises(envs.IllegalActionError, match="the game is over"):
        state.apply_action(0)
    with pytest.raises(ValueError, match="name the player"):
        state.information_state_string()
    assert state.information_state_string(0) == "P0 b1 (opponent placed) a2x b2"


def test_text_parameters():
    with pytest.raises(ValueError, match="initial=3 is not allowed; it must be a text"):
        envs.make("tac_tix", initial=3)


def test_unknown_game():
    for name in ("chess", "hex_board", "", None):
        with pytest.raises(ValueError, match="dark_hex, docking, hex"):
            envs.make(name)


@pytest.mark.parametrize("module", ["pyspiel", "open_spiel", "torch", "matplotlib", "PIL"])
def test_envs_needs_none_of(module):
    code = f"import sys; sys.modules[{module!r}] = None; import envs; envs.make('dark_hex').new_initial_state()"
    subprocess.run([sys.executable, "-c", code], check=True)
