"""Contracts of ``Game`` and ``State``, for every game."""

import pickle

import numpy as np
import pytest
from contract_cases import PLAYED, PLAYED_GAMES, QUICK_TREE_GAMES, TREES, all_states, over, random_game

import envs


def test_every_game_takes_part():
    assert set(TREES) == set(PLAYED) == set(envs.game_names())


@over(QUICK_TREE_GAMES)
def test_mask_and_legal_actions_agree(game):
    for state in all_states(game):
        mover = state.current_player()
        for player in range(game.num_players):
            mask = state.legal_actions_mask(player)
            assert mask.dtype == np.bool_ and mask.shape == (game.num_distinct_actions(),)
            assert np.flatnonzero(mask).tolist() == state.legal_actions(player)
            assert (player == mover) == bool(mask.any())
        assert bool(state.legal_actions()) != state.is_terminal()


@over(QUICK_TREE_GAMES)
def test_an_illegal_action_changes_nothing(game):
    for state in all_states(game):
        before = (state.row.copy(), state.history())
        for action in [-1, *range(game.num_distinct_actions()), game.num_distinct_actions(), None, 0.0, True]:
            if type(action) is int and action in state.legal_actions():
                continue
            with pytest.raises(envs.IllegalActionError, match=str(action)):
                state.apply_action(action)
        assert np.array_equal(state.row, before[0]) and state.history() == before[1]


@over(PLAYED_GAMES)
def test_random_games(game):
    rng = np.random.default_rng(1)
    for _ in range(20):
        state = game.new_initial_state()
        for action in random_game(game, rng):
            assert state.returns() == [0.0] * game.num_players
            assert state.reason() is None and state.witness() == ()
            state.apply_action(action)
        assert 0 < state.move_number() <= game.max_game_length()
        assert state.reason()
        assert all(game.min_utility() <= payoff <= game.max_utility() for payoff in state.returns())


@over(PLAYED_GAMES)
def test_copies_are_equal_and_independent(game):
    actions = random_game(game, np.random.default_rng(2))
    state = game.new_initial_state()
    state.apply_actions(actions[:3])
    copies = [state.clone(), pickle.loads(pickle.dumps(state))]
    assert all(other == state and hash(other) == hash(state) for other in copies)
    state.apply_actions(actions[3:])
    assert not any(other == state for other in copies)
    for other in copies:
        other.apply_actions(actions[3:])
        assert other == state and other.returns() == state.returns()


@over(PLAYED_GAMES)
def test_observations_are_fresh_arrays_within_the_declared_bounds(game):
    state = game.new_initial_state()
    for action in random_game(game, np.random.default_rng(3)):
        for player in range(game.num_players):
            for view, tensor in ((False, state.information_state_tensor), (True, state.observation_tensor)):
                vector = tensor(player)
                assert vector.dtype == np.float32 and vector.shape == (game.observation_size(view),)
                assert vector.min() >= 0 and vector.max() <= game.max_game_length()
                kept = vector.copy()
                vector += 1
                assert np.array_equal(tensor(player), kept)
        state.apply_action(action)
