"""Phantom tic-tac-toe: each player sees only his own marks and those of the other that he has run into.

Rules for users: ``docs/games/phantom_ttt.md``. Here are lines and draws; the hidden information is that of
``phantom_board``.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numba import types

from envs.core import Parameters, State, parameter
from envs.games import square_board
from envs.games.hex_board import BOARD, CELLS, COLS, MOVER, OWNER, ROWS, WINNER
from envs.games.phantom_board import (
    DRAWN,
    PhantomBoardGame,
    collides,
    finish_action,
    info_parameter,
    kernels_with,
    version_parameter,
)
from envs.kernels import APPLY, PARAMS, ROW, kernel

LINE, NUM_PARAMS = 6, 8  # after hex_board's LOG_CAPACITY
STONES = 6  # in the header of a row, after hex_board's LOG_1: stones on the board
STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))  # (rows, columns) of the four directions of a line


@kernel(types.int64(PARAMS, ROW, types.int64, types.int64, types.int64, types.int64), allocates=False)
def run(params, row, cell, owner, down, right):
    """How many stones of ``owner`` (player + 1) follow ``cell`` in one direction."""
    rows, cols = params[ROWS], params[COLS]
    r, c = cell // cols + down, cell % cols + right
    length = 0
    while 0 <= r < rows and 0 <= c < cols and row[BOARD + r * cols + c] & OWNER == owner:
        length += 1
        r += down
        c += right
    return length


@kernel(types.bool_(PARAMS, ROW, types.int64, types.int64), allocates=False)
def completes(params, row, cell, owner):
    """Whether a stone of ``owner`` on ``cell`` is part of a line."""
    for down, right in STEPS:
        others = run(params, row, cell, owner, down, right) + run(params, row, cell, owner, -down, -right)
        if others + 1 >= params[LINE]:
            return True
    return False


@kernel(types.bool_(PARAMS, ROW, types.int64, types.int64), allocates=False)
def place(params, row, cell, player):
    """Put a stone on an empty cell; true when it completes a line."""
    row[BOARD + cell] = player + 1
    row[STONES] += 1
    return completes(params, row, cell, player + 1)


@kernel(APPLY, allocates=False)
def apply(params, row, action):
    mover = row[MOVER]
    collision = collides(row, action)
    if not collision:
        if place(params, row, action, mover):
            row[WINNER] = mover
        elif row[STONES] == params[CELLS]:
            row[WINNER] = DRAWN
    finish_action(params, row, mover, action, collision)


@kernel(types.void(PARAMS, types.Array(types.bool_, 1, "C")))
def _fill_wins(params, out):
    """``out[stones]``: whether a set of cells (bit mask) holds a line: without its last cell, or through it."""
    row = np.zeros(BOARD + params[CELLS], dtype=np.int32)
    last = 0
    out[0] = False
    for stones in range(1, out.size):
        if stones >> (last + 1):
            last += 1
        changed = stones ^ (stones - 1)
        cell = 0
        while changed >> cell:
            row[BOARD + cell] = stones >> cell & 1
            cell += 1
        out[stones] = out[stones ^ 1 << last] or completes(params, row, last, 1)


@dataclasses.dataclass(frozen=True)
class PhantomTttParameters(Parameters):
    """Parameters of phantom tic-tac-toe; ``line`` defaults to 3, or to the longer side of a smaller board."""

    rows: int = parameter(3, low=1, high=19, help="rows of the board")
    cols: int = parameter(None, low=1, high=19, help="columns of the board")
    line: int = parameter(None, low=1, high=19, help="so many own marks in a row, column or diagonal win")
    version: str = version_parameter()
    info: str = info_parameter()


class PhantomTttGame(PhantomBoardGame):
    """Phantom tic-tac-toe on rows x cols squares; actions are the cells 0..rows*cols-1."""

    name = "phantom_ttt"
    title = "Phantom tic-tac-toe"
    parameters_class = PhantomTttParameters
    kernels = kernels_with(apply)
    kind = "square"
    pieces = "mark"
    names = ("X", "O")
    symbols = "XO"
    place = staticmethod(place)

    def __init__(self, parameters: PhantomTttParameters) -> None:
        rows = parameters.rows
        cols = rows if parameters.cols is None else parameters.cols
        longest = max(rows, cols)
        self.line = min(3, longest) if parameters.line is None else parameters.line
        if self.line > longest:
            raise ValueError(
                f"line={self.line} does not fit on a {rows}x{cols} board: nobody could ever win; choose line <= "
                f"{longest}, or a larger board"
            )
        super().__init__(parameters.replace(cols=cols, line=self.line))

    def board_params(self, version: int, info: int, capacity: int) -> np.ndarray:
        params = np.zeros(NUM_PARAMS, dtype=np.int32)
        params[: LINE + 1] = self.rows, self.cols, self.cells, version, info, capacity, self.line
        return params

    def diagram(self, symbols: list[str]) -> str:
        return square_board.diagram(symbols, self.rows, self.cols)

    def reason(self, state: State) -> str | None:
        return "full" if state.row[WINNER] == DRAWN else "line"

    def witness(self, state: State) -> tuple[int, ...]:
        """The cells of the winner's lines, each line in order; empty after a draw."""
        winner = int(state.row[WINNER])
        if winner == DRAWN:
            return ()
        found: dict[int, None] = {}
        for cell in np.flatnonzero(state.row[BOARD : BOARD + self.cells] & OWNER == winner + 1).tolist():
            for down, right in STEPS:
                length = 1 + run(self.params, state.row, cell, winner + 1, down, right)
                begins = run(self.params, state.row, cell, winner + 1, -down, -right) == 0
                if begins and length >= self.line:
                    found.update(dict.fromkeys(cell + i * (down * self.cols + right) for i in range(length)))
        return tuple(found)

    def win_table(self) -> np.ndarray:
        """bool[2, 2**cells]: which sets of stones (bit masks over the cells) win for each player."""
        if self.cells > 24:
            raise ValueError(f"a table of all sets of {self.cells} cells is too large; boards up to 24 cells have one")
        table = np.empty((2, 1 << self.cells), dtype=np.bool_)
        _fill_wins(self.params, table[0])
        table[1] = table[0]
        return table


GAME = PhantomTttGame
