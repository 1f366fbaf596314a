"""``resample`` draws exactly the states that one player's information allows: all of them, and no others."""

from collections import defaultdict

import numpy as np
import pytest

import envs

VARIANTS = [(v, i) for v in ("classical", "abrupt") for i in ("silent", "numturns", "announce")]


def all_states(game):
    """Every non-terminal state of a small game."""
    todo, found = [game.new_initial_state()], []
    while todo:
        state = todo.pop()
        if state.is_terminal():
            continue
        found.append(state)
        todo += [state.child(a) for a in state.legal_actions()]
    return found


@pytest.mark.parametrize(("version", "info"), VARIANTS)
@pytest.mark.parametrize(
    ("name", "board"),
    [
        ("dark_hex", {"rows": 2, "cols": 2}),
        ("phantom_ttt", {"rows": 1, "cols": 3}),
        pytest.param("phantom_ttt", {"rows": 2, "cols": 2}, marks=pytest.mark.slow),
        pytest.param("phantom_ttt", {"rows": 1, "cols": 4, "line": 3}, marks=pytest.mark.slow),
    ],
)
def test_support_is_the_information_set(name, board, version, info):
    game = envs.make(name, **board, version=version, info=info)
    groups = defaultdict(set)
    example = {}
    for state in all_states(game):
        for player in (0, 1):
            key = (player, state.current_player(), state.information_state_key(player))
            groups[key].add(tuple(state.history()))
            example[key] = state
    rng = np.random.default_rng(0)
    for key, wanted in groups.items():
        drawn = set()
        for _ in range(20 + 60 * len(wanted)):
            other = example[key].resample(key[0], rng)
            assert other.current_player() == key[1]
            assert other.information_state_key(key[0]) == key[2]
            drawn.add(tuple(other.history()))
        assert drawn == wanted


@pytest.mark.parametrize(("version", "info"), VARIANTS)
@pytest.mark.parametrize(
    ("name", "rows", "cols"),
    [("dark_hex", *size) for size in ((3, 3), (2, 5), (6, 6), (11, 11))]
    + [("phantom_ttt", *size) for size in ((3, 3), (2, 3), (2, 5), (5, 6))],
)
def test_random_games(name, version, info, rows, cols):
    game = envs.make(name, rows=rows, cols=cols, version=version, info=info)
    rng = np.random.default_rng(rows * 100 + cols)
    for _ in range(3):
        state = game.new_initial_state()
        while not state.is_terminal():
            for player in (0, 1):
                other = state.resample(player, rng)
                assert other.information_state_key(player) == state.information_state_key(player)
                assert other.current_player() == state.current_player()
            state.apply_action(int(rng.choice(state.legal_actions())))


def test_end_of_the_game_is_refused():
    state = envs.make("dark_hex", rows=1, cols=1).state_from_string("a1")
    with pytest.raises(ValueError, match="running games"):
        state.resample(0)


def test_same_seed_same_sample():
    state = envs.make("dark_hex", rows=4, info="silent").state_from_string("a1 a1x b2 c3 c3x d4")
    draws = [state.resample(0, np.random.default_rng(7)).history() for _ in range(2)]
    assert draws[0] == draws[1]
