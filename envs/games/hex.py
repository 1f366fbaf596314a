"""Hex, with the swap rule and Rex (misère). Rules for users: ``docs/games/hex.md``.

The opening stone may be answered by a swap: ``pieces`` mirrors the red stone into a blue one, ``sides``
exchanges the players' colours. Both players see everything; the information state is the list of moves.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numba import types

from envs.core import Game, Parameters, State, parameter
from envs.games import hex_board as board
from envs.games.hex_board import (
    BOARD,
    CELLS,
    COLOR_OF_0,
    COLS,
    LOG_0,
    MOVER,
    OPTION_0,
    OPTION_1,
    OWNER,
    PLY,
    WINNER,
    clear,
    place,
)
from envs.kernels import (
    APPLY,
    CURRENT_PLAYER,
    INFORMATION_SPAN,
    LEGAL,
    OBSERVE,
    PARAMS,
    RESET,
    RETURNS,
    ROW,
    TERMINAL,
    Kernels,
    kernel,
)

SWAP, REX = OPTION_0, OPTION_1
SWAP_OFF, SWAP_PIECES, SWAP_SIDES = 0, 1, 2


@kernel(RESET, allocates=False)
def reset(params, row):
    clear(params, row)


@kernel(CURRENT_PLAYER, allocates=False)
def current_player(params, row):
    return row[MOVER] if row[WINNER] < 0 else TERMINAL


@kernel(types.bool_(PARAMS, ROW), allocates=False)
def swap_available(params, row):
    """The swap is offered once: as the second player's first action."""
    return params[SWAP] != SWAP_OFF and row[PLY] == 1 and row[WINNER] < 0


@kernel(LEGAL, allocates=False)
def legal(params, row, mask):
    running = row[WINNER] < 0
    count = 0
    for cell in range(params[CELLS]):
        mask[cell] = running and row[BOARD + cell] & OWNER == 0
        count += mask[cell]
    if params[SWAP] != SWAP_OFF:
        mask[params[CELLS]] = swap_available(params, row)
        count += mask[params[CELLS]]
    return count


@kernel(APPLY, allocates=False)
def apply(params, row, action):
    cells = params[CELLS]
    row[BOARD + cells + row[LOG_0]] = action
    row[LOG_0] += 1
    mover = row[MOVER]
    if action == cells:
        if params[SWAP] == SWAP_PIECES:
            for cell in range(cells):
                if row[BOARD + cell] & OWNER:
                    row[BOARD + cell] = 0
                    mirrored = cell % params[COLS] * params[COLS] + cell // params[COLS]
                    place(params, row, mirrored, mover)
                    break
        else:
            row[COLOR_OF_0] = 1 - row[COLOR_OF_0]
    else:
        colour = mover ^ row[COLOR_OF_0]
        if place(params, row, action, colour):
            row[WINNER] = 1 - mover if params[REX] else mover
    row[PLY] += 1
    row[MOVER] = 1 - mover


@kernel(RETURNS, allocates=False)
def returns(params, row, out):
    out[0] = 0.0
    out[1] = 0.0
    if row[WINNER] >= 0:
        out[row[WINNER]] = 1.0
        out[1 - row[WINNER]] = -1.0


@kernel(OBSERVE, allocates=False)
def observe(params, row, player, view, out):
    """Own stones, other stones, seat, colour, whether on turn, whether the swap is available."""
    cells = params[CELLS]
    own = (player ^ row[COLOR_OF_0]) + 1
    for cell in range(cells):
        owner = row[BOARD + cell] & OWNER
        out[cell] = owner == own
        out[cells + cell] = owner == 3 - own
    at = 2 * cells
    out[at] = player == 0
    out[at + 1] = player == 1
    out[at + 2] = own == 1
    out[at + 3] = own == 2
    out[at + 4] = row[WINNER] < 0 and row[MOVER] == player
    out[at + 5] = swap_available(params, row)


@kernel(INFORMATION_SPAN, allocates=False)
def information_span(params, row, player):
    start = BOARD + params[CELLS]
    return types.int64(start), types.int64(start + row[LOG_0])


@dataclasses.dataclass(frozen=True)
class HexParameters(Parameters):
    """Parameters of Hex; ``cols`` defaults to ``rows``, ``swap`` to pieces on square boards, off elsewhere."""

    rows: int = parameter(11, low=1, high=64, help="rows; Red joins the first with the last")
    cols: int = parameter(None, low=1, high=64, help="columns; Blue joins the first with the last")
    swap: str = parameter(None, choices=("pieces", "sides", "off"), help="second player's right to swap")
    rex: bool = parameter(False, help="misère: who joins the own sides loses")
    chain: str = parameter("shortest", choices=("shortest", "component"), help="what the witness shows")


class HexGame(Game):
    """Hex on a rows x cols rhombus. Actions 0..rows*cols-1 place a stone, rows*cols swaps (unless swap=off)."""

    name = "hex"
    parameters_class = HexParameters
    kernels = Kernels(reset, current_player, legal, apply, returns, observe, information_span)

    def __init__(self, parameters: HexParameters) -> None:
        cols = parameters.rows if parameters.cols is None else parameters.cols
        square = parameters.rows == cols
        swap = parameters.swap or ("pieces" if square else "off")
        if swap == "pieces" and not square:
            raise ValueError(
                f"swap=pieces needs a square board, not {parameters.rows}x{cols} (the mirrored cell may not "
                "exist); use swap=sides or swap=off"
            )
        super().__init__(parameters.replace(cols=cols, swap=swap))
        self.rows, self.cols, self.cells = parameters.rows, cols, parameters.rows * cols
        option = {"off": SWAP_OFF, "pieces": SWAP_PIECES, "sides": SWAP_SIDES}[swap]
        length = self.cells + (option != SWAP_OFF)
        self.params = board.board_params(self.rows, cols, option, int(parameters.rex), length)
        self.row_size = BOARD + self.cells + length
        self.max_information_length = length
        self.num_tokens = length

    def num_distinct_actions(self) -> int:
        return self.cells + (int(self.params[SWAP]) != SWAP_OFF)

    def max_game_length(self) -> int:
        return self.num_distinct_actions()

    def observation_layout(self, view: bool = False) -> tuple[tuple[str, int, int], ...]:
        n = self.cells
        return (
            ("own stones", 0, n),
            ("other stones", n, 2 * n),
            ("seat", 2 * n, 2 * n + 2),
            ("colour (red, blue)", 2 * n + 2, 2 * n + 4),
            ("on turn", 2 * n + 4, 2 * n + 5),
            ("swap available", 2 * n + 5, 2 * n + 6),
        )

    # -- text -------------------------------------------------------------------------------------------
    def action_to_string(self, player: int, action: int) -> str:
        if action == self.cells and int(self.params[SWAP]) != SWAP_OFF:
            return f"swap-{self.explicit_parameters()['swap']}"
        if not 0 <= action < self.cells:
            raise ValueError(f"action {action} does not exist; actions are 0 to {self.num_distinct_actions() - 1}")
        return board.cell_name(action, self.cols)

    def string_to_action(self, text: str, player: int | None = None) -> int:
        word = text.strip().lower()
        if word in ("swap", "swap-pieces", "swap-sides"):
            swap = self.explicit_parameters()["swap"]
            if swap == "off" or word not in ("swap", f"swap-{swap}"):
                raise ValueError(f"{text!r} is not a move of this game: it is played with swap={swap}")
            return self.cells
        return board.cell_from_name(text, self.rows, self.cols)

    def information_string(self, player: int, tokens: np.ndarray) -> str:
        return f"P{player} " + " ".join(self.action_to_string(0, int(t)) for t in tokens)

    def state_to_string(self, state: State, player: int | None) -> str:
        symbols = [".RB"[int(v) & OWNER] for v in state.row[BOARD : BOARD + self.cells]]
        return board.rhombus(symbols, self.rows, self.cols)

    def state_from_string(self, text: str) -> State:
        """A position from a diagram of ``R``, ``B`` and ``.`` cells, or from a list of moves.

        A diagram's player to move follows from the numbers of stones; no swap is offered in it. It must be a
        position that play can reach: one colour's chain at most.
        """
        cells = board.parse_diagram(text, self.rows, self.cols, "RB.")
        state = self.new_initial_state()
        if cells is None:
            for word in text.replace(",", " ").replace(";", " ").split():
                state.apply_action(self.string_to_action(word))
            return state
        red = [i for i, s in enumerate(cells) if s == "R"]
        blue = [i for i, s in enumerate(cells) if s == "B"]
        if len(red) - len(blue) not in (0, 1):
            raise ValueError(
                f"{len(red)} red and {len(blue)} blue stones: Red moves first, so he has as many as Blue or one more"
            )
        row, chains = state.row, []
        for colour, stones in ((board.RED, red), (board.BLUE, blue)):
            done = [place(self.params, row, cell, colour) for cell in stones]
            if any(done):
                chains.append(colour)
        if len(chains) > 1 or (chains and chains[0] != (len(red) + len(blue) + 1) % 2):
            raise ValueError("no game reaches this position: a chain was complete before the last stone")
        tokens = red + blue
        row[BOARD + self.cells : BOARD + self.cells + len(tokens)] = tokens
        row[LOG_0] = len(tokens)
        row[PLY] = max(len(tokens), 2) if tokens else 0  # the swap is for games, not for diagrams
        row[MOVER] = len(tokens) % 2
        if chains:
            row[WINNER] = 1 - chains[0] if self.explicit_parameters()["rex"] else chains[0]
        return state

    def picture(self, state: State, player: int | None = None) -> Any:
        from envs.render import BoardPicture

        owners = [int(v & OWNER) - 1 for v in state.row[BOARD : BOARD + self.cells]]
        last = state.history()[-1] if state.history() else None
        turn = None if state.is_terminal() else state.current_player() ^ int(state.row[COLOR_OF_0])
        return BoardPicture(
            kind="hex",
            rows=self.rows,
            cols=self.cols,
            owners=tuple(owners),
            last=last if last is not None and last < self.cells and owners[last] >= 0 else None,
            witness=state.witness(),
            caption=caption(state, turn),
            turn=turn,
            note=f"Hex {self.rows}x{self.cols}" + (", Rex" if self.explicit_parameters()["rex"] else ""),
        )

    # -- the end ----------------------------------------------------------------------------------------
    def reason(self, state: State) -> str | None:
        return "chain"

    def witness(self, state: State) -> tuple[int, ...]:
        return chain_witness(state, self.explicit_parameters()["chain"])


def chain_witness(state: State, chain: str) -> tuple[int, ...]:
    """The completed chain of a finished game on a Hex board, whoever it belongs to."""
    game: Any = state.game
    owners = state.row[BOARD : BOARD + game.cells] & OWNER
    for colour in (board.RED, board.BLUE):
        found = board.winning_chain(
            np.flatnonzero(owners == colour + 1).tolist(), colour, game.rows, game.cols, chain
        )
        if found:
            return found
    return ()


def caption(state: State, turn: int | None) -> str:
    """``Red to move`` for the colour ``turn``, or ``Red wins`` at the end (``turn`` None)."""
    if turn is not None:
        return f"{board.COLOUR_NAMES[turn].capitalize()} to move"
    return f"{board.COLOUR_NAMES[int(state.row[WINNER] ^ state.row[COLOR_OF_0])].capitalize()} wins"


GAME = HexGame
