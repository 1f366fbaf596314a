"""No face shows a player what he cannot know.

States in which a player has the same information are the same to him: byte-equal observation and mask, equal
picture, and through the environments equal info and reward as well. Checked on all histories of small games, and on
larger ones by replacing what is hidden (``resample``).
"""

from collections import defaultdict

import numpy as np
import pytest
from contract_cases import PLAYED_GAMES, QUICK_TREE_GAMES, TREE_GAMES, all_states, over, random_game

from envs import Game
from envs.gymnasium_env import SingleAgentEnv
from envs.pettingzoo_env import AecEnv
from envs.render import render
from envs.vector_env import VectorEnv


def appearance(state, player):
    """All that ``player`` is shown of a state."""
    on_turn = state.current_player() == player
    return (
        state.information_state_tensor(player).tobytes(),
        state.observation_tensor(player).tobytes(),
        state.legal_actions_mask(player).tobytes() if on_turn else None,
        state.game.picture(state, player),
        state.to_string(player),
        state.information_state_string(player),
    )


@over(TREE_GAMES)
def test_equal_information_looks_equal(game):
    seen = {}
    for state in all_states(game):
        if state.is_terminal():
            continue
        mover = state.current_player()
        key = state.information_state_key(mover)
        shown = appearance(state, mover)
        assert seen.setdefault(key, shown) == shown, f"{game.spec()}: {state.history()} of player {mover}"


@over(QUICK_TREE_GAMES)
def test_equal_information_looks_equal_to_players_who_wait(game):
    seen = {}
    for state in all_states(game):
        for player in range(game.num_players):
            if not state.is_terminal() and state.current_player() != player and not game.perfect_information:
                shown = appearance(state, player)
                assert seen.setdefault(state.information_state_key(player), shown) == shown


@over(QUICK_TREE_GAMES)
def test_equal_information_renders_equal(game):
    groups = defaultdict(list)
    for state in all_states(game):
        if not state.is_terminal():
            groups[state.information_state_key()].append(state)
    for members in list(groups.values())[:20]:
        pictures = [game.picture(state, state.current_player()) for state in (members[0], members[-1])]
        for mode in ("ansi", "rgb_array"):
            first, last = (render(picture, mode) for picture in pictures)
            assert np.array_equal(first, last)


def frozen(value):
    """Something comparable from observations and infos."""
    if isinstance(value, dict):
        return {key: frozen(item) for key, item in value.items()}
    return (value.dtype.str, value.tobytes()) if isinstance(value, np.ndarray) else value


def aec_outputs(game: Game, observation: str):
    """(information key, what the AEC environment gives the agent on turn) at every decision of every history."""
    env = AecEnv(game, "contract", observation=observation, render_mode="ansi")
    for state in all_states(game):
        if not state.is_terminal():
            env.reset()
            for action in state.history():
                env.step(action)
            assert env.agent_selection == f"player_{state.current_player()}"
            yield state.information_state_key(), (frozen(env.last()[0]), env.last()[1:], env.rewards, env.render())


def vector_outputs(game: Game, observation: str):
    """The same of the batched environment, all histories of one length at once."""
    levels = defaultdict(list)
    for state in all_states(game):
        if not state.is_terminal():
            levels[state.move_number()].append(state)
    for length, states in levels.items():
        env = VectorEnv(game, len(states), observation=observation, render_mode="ansi")
        batch, info = env.reset(seed=0)
        reward = np.zeros(len(states))
        for ply in range(length):
            batch, reward, *_, info = env.step(np.array([state.history()[ply] for state in states]))
        pictures = env.render()
        for lane, state in enumerate(states):
            yield (
                state.information_state_key(),
                (frozen({k: v[lane] for k, v in batch.items()}), reward[lane], info["player"][lane], pictures[lane]),
            )


def gymnasium_outputs(game: Game, observation: str):
    """The same of the Gymnasium environment, the opponent's actions being those of the history."""
    for state in all_states(game):
        if not state.is_terminal():
            seat = state.current_player()
            script = [action for player, action in state.full_history() if player != seat]
            env = SingleAgentEnv(
                game, lambda _, s=script: s.pop(0), seat=seat, observation=observation, render_mode="ansi"
            )
            result = env.reset(seed=0)
            reward = 0.0
            for player, action in state.full_history():
                if player == seat:
                    first, reward, *flags, info = env.step(action)
                    result = (first, *flags, info)
            yield state.information_state_key(), (frozen(result[0]), frozen(result[-1]), reward, env.render())


@pytest.mark.parametrize("observation", ["information_state", "view"])
@pytest.mark.parametrize("outputs", [aec_outputs, vector_outputs, gymnasium_outputs])
@over(QUICK_TREE_GAMES)
def test_environments_show_equal_information_equally(game, outputs, observation):
    seen = {}
    for key, shown in outputs(game, observation):
        assert seen.setdefault(key, shown) == shown


@over(PLAYED_GAMES)
def test_replacing_what_is_hidden_changes_nothing(game):
    if not game.offers_resample():
        pytest.skip("the game offers no resample")
    rng = np.random.default_rng(4)
    envs = [AecEnv(game, "contract", render_mode="rgb_array") for _ in range(2)]
    different = 0
    for number in range(12):
        actions = random_game(game, rng)
        for length in range(len(actions)):
            state = game.new_initial_state()
            state.apply_actions(actions[:length])
            player = state.current_player()
            other = state.resample(player, rng)
            different += other != state
            assert other.information_state_key(player) == state.information_state_key(player)
            assert appearance(other, player) == appearance(state, player)
            if number == 0:
                for env, position in zip(envs, (state, other), strict=True):
                    env.reset()
                    for action in position.history():
                        env.step(action)
                assert frozen(envs[0].last()[0]) == frozen(envs[1].last()[0])
                assert envs[0].last()[1:] == envs[1].last()[1:]
                assert np.array_equal(envs[0].render(), envs[1].render())
    assert different or game.perfect_information


@over([game for game in TREE_GAMES if not game.perfect_information])
def test_information_grows_and_tells_own_actions(game):
    """Perfect recall: a player's key determines his earlier keys and his actions at them."""
    past = {}
    todo = [(game.new_initial_state(), tuple(() for _ in range(game.num_players)))]
    while todo:
        state, paths = todo.pop()
        if state.is_terminal():
            continue
        mover = state.current_player()
        key = state.information_state_key()
        assert past.setdefault(key, paths[mover]) == paths[mover]
        for action in state.legal_actions():
            extended = (*paths[:mover], (*paths[mover], (key, action)), *paths[mover + 1 :])
            todo.append((state.child(action), extended))
