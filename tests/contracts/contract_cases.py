"""The games that every contract is tested on. A new game joins by its parameters here: nothing else is per game."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from toy_game import ToyGame, ToyParameters

import envs
from envs import Game, State

_VARIANTS = [(v, i) for v in ("classical", "abrupt") for i in ("silent", "numturns", "announce")]

# Small enough for all histories.
TREES = {
    "dark_hex": [
        {"rows": 2, "cols": c, "version": v, "info": i} for c in (2, 3) for v, i in _VARIANTS
    ],
    "docking": [{"rows": 3, "layout": "custom", "white": "a1 c1 b2", "black": "a3 c3", "min_diag": 1, "max_plies": 3}],
    "hex": [{"rows": 2}, {"rows": 2, "swap": "sides"}, {"rows": 2, "cols": 3}, {"rows": 1, "cols": 4, "rex": True}],
    "phantom_ttt": [
        *({"rows": 2, "version": v, "info": i} for v, i in _VARIANTS),
        *({"rows": 1, "cols": 5, "line": 2, "version": v, "info": i} for v, i in _VARIANTS[::2]),
        {"rows": 2, "cols": 3, "version": "classical", "info": "silent"},
        {"rows": 3, "cols": 2, "line": 2, "version": "abrupt", "info": "numturns"},
    ],
    "renju3": [{"rows": 2, "win_len": 2}, {"rows": 2, "win_len": 2, "allow_pass": False, "payoff": "share"}],
    "tac_tix": [{"rows": 2}, {"rows": 2, "cols": 3, "convention": "normal", "initial": "O.O/.OO"}],
}
# Played at random.
PLAYED = {
    "dark_hex": [
        {"rows": 3},
        {"rows": 3, "version": "abrupt", "info": "silent"},
        {"rows": 4, "cols": 6, "version": "abrupt", "info": "numturns"},
        {"rows": 7, "cols": 7, "info": "silent"},
    ],
    "hex": [{"rows": 3}, {"rows": 3, "cols": 4}, {"rows": 5, "swap": "sides", "rex": True}, {"rows": 9, "swap": "off"}],
    "docking": [{}, {"layout": "draughts", "first": "B", "crash": "enemy"}, {"min_diag": 2, "chooser": "owner"}],
    "phantom_ttt": [
        {},
        {"version": "abrupt", "info": "silent"},
        {"rows": 4, "line": 4, "version": "abrupt", "info": "numturns"},
        {"rows": 6, "cols": 8, "line": 4, "info": "silent"},
    ],
    "renju3": [
        {"rows": 6},
        {"rows": 5, "cols": 7, "threat_planes": True, "own_four": "auto"},
        {"rows": 4, "payoff": "share"},
    ],
    "tac_tix": [{}, {"rows": 7, "cols": 6, "convention": "normal"}, {"rows": 3, "initial": "OOO/O.O/OOO"}],
}
TOYS = [ToyGame(ToyParameters(plies=plies)) for plies in (5, 7)]


def made(table: dict[str, list[dict]]) -> list[Game]:
    return [envs.make(name, **parameters) for name, rows in table.items() for parameters in rows]


def tree_nodes(game: Game) -> int:
    """Upper bound for sorting trees into quick ones and slow ones: actions ** length, roughly."""
    return game.num_distinct_actions() ** game.max_game_length()


TREE_GAMES = made(TREES) + TOYS[:1]
QUICK_TREE_GAMES = [game for game in TREE_GAMES if tree_nodes(game) < 10**6]
PLAYED_GAMES = made(PLAYED) + TOYS[1:]


def over(games: list[Game]) -> pytest.MarkDecorator:
    """Parametrise a test over games, named by their specification."""
    return pytest.mark.parametrize("game", games, ids=[game.spec() for game in games])


def all_states(game: Game) -> Iterator[State]:
    """Every state of a game, one per history, finished games included."""
    todo = [game.new_initial_state()]
    while todo:
        state = todo.pop()
        yield state
        todo += [state.child(action) for action in state.legal_actions()]


def random_game(game: Game, rng: np.random.Generator) -> list[int]:
    """The actions of a uniformly random game."""
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state.history()
