"""Tac-Tix: take a run of counters from one row or column. Rules for users: ``docs/games/tac_tix.md``.

Impartial: what a position is worth depends on the set of counters alone, a mask of at most 62 bits kept in two
31-bit halves. Both players see everything; the information state is the list of moves.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from envs.core import Game, Parameters, State, parameter
from envs.games import square_board as board
from envs.kernels import (
    APPLY,
    CURRENT_PLAYER,
    INFORMATION_SPAN,
    LEGAL,
    OBSERVE,
    RESET,
    RETURNS,
    TERMINAL,
    Kernels,
    kernel,
)

HALF = 31  # cells a half mask
MAX_CELLS = 2 * HALF
# Params: the game's constants, then the low halves of the actions' masks, then the high halves.
CELLS, ACTIONS, MISERE, START_LOW, START_HIGH, RUNS = 0, 1, 2, 3, 4, 8
# Row: the player to move, the counters left, how many tokens, the tokens.
MOVER, LOW, HIGH, LOG, TOKENS = 0, 1, 2, 3, 4


@kernel(RESET)
def reset(params, row):
    row[MOVER] = 0
    row[LOW] = params[START_LOW]
    row[HIGH] = params[START_HIGH]
    row[LOG] = 0


@kernel(CURRENT_PLAYER)
def current_player(params, row):
    return row[MOVER] if row[LOW] | row[HIGH] else TERMINAL


@kernel(LEGAL)
def legal(params, row, mask):
    """Every run whose counters are all there; without branches, so that the loop runs on vectors."""
    low_gone, high_gone = ~row[LOW], ~row[HIGH]
    actions = params[ACTIONS]
    low = params[RUNS : RUNS + actions]
    high = params[RUNS + actions : RUNS + 2 * actions]
    count = 0
    for action in range(actions):
        whole = (low[action] & low_gone) | (high[action] & high_gone) == 0
        mask[action] = whole
        count += whole
    return count


@kernel(APPLY)
def apply(params, row, action):
    row[LOW] &= ~params[RUNS + action]
    row[HIGH] &= ~params[RUNS + params[ACTIONS] + action]
    row[TOKENS + row[LOG]] = action
    row[LOG] += 1
    row[MOVER] = 1 - row[MOVER]


@kernel(RETURNS)
def returns(params, row, out):
    """Misère: who is to move on the empty board has won, since the other one emptied it."""
    out[0] = 0.0
    out[1] = 0.0
    if row[LOW] | row[HIGH] == 0:
        winner = row[MOVER] if params[MISERE] else 1 - row[MOVER]
        out[winner] = 1.0
        out[1 - winner] = -1.0


@kernel(OBSERVE)
def observe(params, row, player, view, out):
    """Counters, seat, whether on turn."""
    cells = params[CELLS]
    low, high = row[LOW], row[HIGH]
    for cell in range(min(cells, HALF)):
        out[cell] = (low >> cell) & 1
    for cell in range(HALF, cells):
        out[cell] = (high >> (cell - HALF)) & 1
    out[cells] = player == 0
    out[cells + 1] = player == 1
    out[cells + 2] = (low | high) != 0 and row[MOVER] == player


@kernel(INFORMATION_SPAN)
def information_span(params, row, player):
    return np.int64(TOKENS), np.int64(TOKENS + row[LOG])


def runs(rows: int, cols: int) -> list[tuple[int, ...]]:
    """The cells of every action, in the order of the action numbers: horizontal runs, then longer vertical ones."""
    found = [
        tuple(r * cols + c for c in range(first, last + 1))
        for r in range(rows)
        for first in range(cols)
        for last in range(first, cols)
    ]
    return found + [
        tuple(r * cols + c for r in range(first, last + 1))
        for c in range(cols)
        for first in range(rows)
        for last in range(first + 1, rows)
    ]


@dataclasses.dataclass(frozen=True)
class TacTixParameters(Parameters):
    """Parameters of Tac-Tix; ``cols`` defaults to ``rows``."""

    rows: int = parameter(4, low=1, high=MAX_CELLS, help="rows of the board")
    cols: int = parameter(None, low=1, high=MAX_CELLS, help="columns of the board")
    convention: str = parameter(
        "misere", choices=("misere", "normal"), help="who takes the last counter loses (misere) or wins (normal)"
    )
    initial: str = parameter("full", help="counters at the start: full, or rows of O and . separated by /")


class TacTixGame(Game):
    """Tac-Tix on rows x cols cells; an action takes one run of counters."""

    name = "tac_tix"
    parameters_class = TacTixParameters
    kernels = Kernels(reset, current_player, legal, apply, returns, observe, information_span)

    def __init__(self, parameters: TacTixParameters) -> None:
        rows = parameters.rows
        cols = rows if parameters.cols is None else parameters.cols
        self.rows, self.cols, self.cells = rows, cols, rows * cols
        if self.cells > MAX_CELLS:
            raise ValueError(
                f"a {rows}x{cols} board has {self.cells} cells, at most {MAX_CELLS} are possible (a position is a bit "
                "mask); choose smaller rows or cols"
            )
        start = self._initial(parameters.initial)
        full = (1 << self.cells) - 1
        initial = "full" if start == full else "/".join(
            "".join("O" if start >> cell & 1 else "." for cell in range(r * cols, (r + 1) * cols)) for r in range(rows)
        )  # fmt: skip
        super().__init__(parameters.replace(cols=cols, initial=initial))
        self.start, self.initial = start, initial
        self.runs = runs(rows, cols)
        self._action_of = {run: action for action, run in enumerate(self.runs)}
        masks = [sum(1 << cell for cell in run) for run in self.runs]
        half = (1 << HALF) - 1
        head = [self.cells, len(masks), int(parameters.convention == "misere"), start & half, start >> HALF, 0, 0, 0]
        self.params = np.array(
            head + [mask & half for mask in masks] + [mask >> HALF for mask in masks], dtype=np.int32
        )
        self.max_information_length = self.cells
        self.row_size = TOKENS + self.cells
        self.num_tokens = len(masks)

    def _initial(self, text: str) -> int:
        if text == "full":
            return (1 << self.cells) - 1
        try:
            mask = self._mask(text)
        except ValueError as error:
            raise ValueError(
                f"initial={text!r} is not allowed; it must be full, or rows of O and . separated by /: {error}"
            ) from None
        if mask == 0:
            raise ValueError(f"initial={text!r} is not allowed; it must have at least one counter (O)")
        return mask

    def _mask(self, text: str) -> int:
        cells = board.parse_diagram(text, self.rows, self.cols, "O.")
        return sum(1 << cell for cell, symbol in enumerate(cells) if symbol == "O")

    def num_distinct_actions(self) -> int:
        return len(self.runs)

    def max_game_length(self) -> int:
        return self.start.bit_count()

    def observation_layout(self, view: bool = False) -> tuple[tuple[str, int, int], ...]:
        n = self.cells
        return (("counters", 0, n), ("seat", n, n + 2), ("on turn", n + 2, n + 3))

    # -- text -------------------------------------------------------------------------------------------
    def action_to_string(self, player: int, action: int) -> str:
        if not 0 <= action < len(self.runs):
            raise ValueError(f"action {action} does not exist; actions are 0 to {len(self.runs) - 1}")
        run = self.runs[action]
        ends = (run[0],) if len(run) == 1 else (run[0], run[-1])
        return "-".join(map(self.cell_to_string, ends))

    def string_to_action(self, text: str, player: int | None = None) -> int:
        ends = [board.cell_from_name(word, self.rows, self.cols) for word in text.split("-")]
        first, last = min(ends), max(ends)
        step = 1 if first // self.cols == last // self.cols else self.cols
        run = tuple(range(first, last + 1, step))
        if len(ends) > 2 or run[-1] != last:
            raise ValueError(f"{text!r} is not a run of one row or one column; write a cell (b2) or its ends (a1-c1)")
        return self._action_of[run]

    def cell_to_string(self, cell: int) -> str:
        return board.cell_name(cell, self.cols)

    def information_string(self, player: int, tokens: np.ndarray) -> str:
        return " ".join([f"P{player}", *(self.action_to_string(player, int(token)) for token in tokens)])

    def _symbols(self, state: State) -> list[str]:
        mask = int(state.row[LOW]) | int(state.row[HIGH]) << HALF
        return ["O" if mask >> cell & 1 else "." for cell in range(self.cells)]

    def state_to_string(self, state: State, player: int | None) -> str:
        return f"{board.diagram(self._symbols(state), self.rows, self.cols)}\n{_caption(state)}"

    def state_from_string(self, text: str) -> State:
        """A position from a diagram of counters ``O`` and holes ``.``, or from a list of moves.

        A diagram may end ``player 1 to move``; player 0 is to move otherwise.
        """
        state = self.new_initial_state()
        if board.is_moves(text, r"[a-z]+\d+(-[a-z]+\d+)?"):
            for word in board.words(text):
                state.apply_action(state.string_to_action(word))
            return state
        rest, mover, _ = board.split_mover(text, ("Player 0", "Player 1"))
        mask = self._mask(rest)
        if mask & ~self.start:
            cell = self.cell_to_string(((mask & ~self.start) & -(mask & ~self.start)).bit_length() - 1)
            raise ValueError(f"a counter at {cell}, where this game has none: initial={self.initial}")
        row = state.row
        row[LOW], row[HIGH] = mask & ((1 << HALF) - 1), mask >> HALF
        holes = [self._action_of[(cell,)] for cell in range(self.cells) if (self.start & ~mask) >> cell & 1]
        row[TOKENS : TOKENS + len(holes)] = holes
        row[LOG] = len(holes)
        row[MOVER] = mover or 0
        return state

    def picture(self, state: State, player: int | None = None) -> Any:
        from envs.render import BoardPicture

        history = state.history()
        return BoardPicture(
            kind="square",
            pieces="counter",
            rows=self.rows,
            cols=self.cols,
            owners=tuple(0 if symbol == "O" else -1 for symbol in self._symbols(state)),
            names=("counter",),
            symbols="O",
            colours=("wood",),
            trace=self.runs[history[-1]] if history else (),
            caption=_caption(state),
        )

    # -- the end ----------------------------------------------------------------------------------------
    def reason(self, state: State) -> str | None:
        return "last_counter"

    def witness(self, state: State) -> tuple[int, ...]:
        """The run that was taken last."""
        history = state.history()
        return self.runs[history[-1]] if history else ()


def _caption(state: State) -> str:
    if state.is_terminal():
        return f"player {int(np.argmax(state.returns()))} wins"
    return f"player {state.current_player()} to move"


GAME = TacTixGame
