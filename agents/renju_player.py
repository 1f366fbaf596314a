"""A player of three-player renju that looks one turn of everybody ahead.

Every move is made on a copy of the board and judged by what it leaves: a win, a four or Antonov's condition for
somebody else, critical cells of all three; then by the lines it makes and breaks. No seat is assumed.
"""

from __future__ import annotations

import numpy as np
from numba import types

from agents.agent import Observation, position_of
from envs.core import Game
from envs.games.renju3 import (
    BOARD,
    CELLS,
    COLS,
    COUNTS,
    DRAW,
    MOVER,
    OWNER,
    RESULT,
    ROWS,
    WIN_LEN,
    apply,
    legal,
)
from envs.kernels import F64, MASK, PARAMS, ROW, helper, kernel

__all__ = ["RenjuPlayer"]

WON, LOST = 1e9, -1e9
# What is left to the next player and to the one after him, and how sure it makes somebody's win.
NEXT_HAS_FOUR, LAST_HAS_TWO, LAST_HAS_ONE = -1e8, -1e7, -1e4
THREE_CRITICAL, TWO_CRITICAL, ONE_CRITICAL = 1e6, 2e4, 1e3
STONE_BASE = 8.0  # each further stone in an open line of win_len cells is worth so many times more
BLOCK = 0.6  # a line broken, relative to a line made


@helper
def _line_value(params, row, cell, owner, dr, dc):
    """Worth of the lines of exactly win_len cells through an empty cell in one direction, for one colour."""
    rows, cols, wanted = params[ROWS], params[COLS], params[WIN_LEN]
    r0, c0 = cell // cols, cell % cols
    total = 0.0
    for back in range(wanted):
        stones = 0
        fits = True
        # One cell beyond either end, too: an own stone there would make the line too long.
        for k in range(-1, wanted + 1):
            r, c = r0 + (k - back) * dr, c0 + (k - back) * dc
            inside = 0 <= r < rows and 0 <= c < cols
            value = row[BOARD + r * cols + c] & OWNER if inside else -1
            if k < 0 or k == wanted:
                fits = fits and value != owner
            elif value == owner:
                stones += 1
            elif value != 0:
                fits = False
        if fits:
            total += STONE_BASE**stones
    return total


@kernel(types.void(PARAMS, ROW, ROW, types.bool_, MASK, F64))
def judge(params, row, child, careful, mask, out):
    """``out[action]``: how good each legal action is for the player to move, -inf for illegal ones.

    Args:
        child: scratch, as long as a row.
        careful: look at what the others can do; otherwise at the own lines alone.
    """
    cells = params[CELLS]
    me = np.int64(row[MOVER])
    following, last = (me + 1) % 3, (me + 2) % 3
    legal(params, row, mask)
    for action in range(mask.size):
        if not mask[action]:
            out[action] = -np.inf
            continue
        for k in range(row.size):
            child[k] = row[k]
        apply(params, child, action)
        result = child[RESULT]
        value = 0.0
        if result == me:
            out[action] = WON
            continue
        if careful:
            if 0 <= result < DRAW:
                out[action] = LOST
                continue
            value += NEXT_HAS_FOUR * min(child[COUNTS + following], 3)
            if child[COUNTS + last] > 1:
                value += LAST_HAS_TWO
            elif child[COUNTS + last] == 1:
                value += LAST_HAS_ONE
        if result < 0:
            own = child[COUNTS + me]
            value += THREE_CRITICAL if own > 2 else TWO_CRITICAL if own == 2 else ONE_CRITICAL if own == 1 else 0.0
        if action < cells:
            for direction in range(4):
                dr = 0 if direction == 0 else 1
                dc = 1 if direction in (0, 2) else 0 if direction == 1 else -1
                value += _line_value(params, row, action, me + 1, dr, dc)
                if careful:
                    value += BLOCK * _line_value(params, row, action, following + 1, dr, dc)
                    value += BLOCK * _line_value(params, row, action, last + 1, dr, dc)
        out[action] = value


class RenjuPlayer:
    """Plays the best move of `judge`, ties by cell number; deterministic."""

    parts = frozenset({"state"})

    def __init__(self, game: Game, careful: bool = True, name: str = "renju_player") -> None:
        if game.name != "renju3":
            raise ValueError(f"{game.spec()}: this player knows renju3 only")
        self.game, self.careful, self.name = game, careful, name
        self._child = np.zeros(game.row_size, dtype=np.int32)
        self._mask = np.zeros(game.num_distinct_actions(), dtype=np.bool_)
        self._values = np.zeros(game.num_distinct_actions(), dtype=np.float64)

    def reset(self, seed: int) -> None:
        """Nothing is random, nothing is remembered."""

    def act(self, observation: Observation) -> int:
        state = position_of(observation, self.game, self.name)
        judge(self.game.params, state.row, self._child, self.careful, self._mask, self._values)
        return int(self._values.argmax())
