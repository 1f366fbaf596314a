"""Dark Hex: Hex in which each player sees only his own stones and those he has run into.

Rules for users: ``docs/games/dark_hex.md``. The placement and the win test are those of ``hex_board``, the hidden
information that of ``phantom_board``.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from envs.core import Parameters, State, parameter
from envs.games import hex_board as board
from envs.games.hex import chain_witness
from envs.games.hex_board import MOVER, WINNER, place
from envs.games.phantom_board import (
    PhantomBoardGame,
    collides,
    finish_action,
    info_parameter,
    kernels_with,
    version_parameter,
)
from envs.kernels import APPLY, kernel


@kernel(APPLY, allocates=False)
def apply(params, row, action):
    mover = row[MOVER]
    collision = collides(row, action)
    if not collision and place(params, row, action, mover):
        row[WINNER] = mover
    finish_action(params, row, mover, action, collision)


@dataclasses.dataclass(frozen=True)
class DarkHexParameters(Parameters):
    """Parameters of Dark Hex; ``cols`` defaults to ``rows``."""

    rows: int = parameter(3, low=1, high=19, help="rows; Red (player 0) joins the first with the last")
    cols: int = parameter(None, low=1, high=19, help="columns; Blue (player 1) joins the first with the last")
    version: str = version_parameter()
    info: str = info_parameter()


class DarkHexGame(PhantomBoardGame):
    """Dark Hex on a rows x cols rhombus; actions are the cells 0..rows*cols-1."""

    name = "dark_hex"
    title = "Dark Hex"
    parameters_class = DarkHexParameters
    kernels = kernels_with(apply)
    connects_sides = True
    kind = "hex"
    place = staticmethod(place)

    def __init__(self, parameters: DarkHexParameters) -> None:
        cols = parameters.rows if parameters.cols is None else parameters.cols
        super().__init__(parameters.replace(cols=cols))

    def board_params(self, version: int, info: int, capacity: int) -> np.ndarray:
        return board.board_params(self.rows, self.cols, version, info, capacity)

    def diagram(self, symbols: list[str]) -> str:
        return board.rhombus(symbols, self.rows, self.cols)

    def reason(self, state: State) -> str | None:
        return "chain"

    def witness(self, state: State) -> tuple[int, ...]:
        return chain_witness(state, "shortest")

    def win_table(self) -> np.ndarray:
        """bool[2, 2**cells]: which sets of stones (bit masks over the cells) win for each player."""
        return board.win_table(self.params)


GAME = DarkHexGame
