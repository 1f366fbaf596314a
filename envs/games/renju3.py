"""Renju for three players: exactly four in a row wins, and so does deciding which of the others would win.

Rules for users: ``docs/games/renju3.md``. A *critical cell* of a player is an empty cell where his stone would make
a maximal run of exactly ``win_len``. They are kept per direction: a new stone can change its owner's critical cells
only at the two empty ends of its run in each direction, and everybody else's only at its own cell.

Antonov's condition at the start of A's turn (order A, B, C): A's choice decides whether B or C is first to make a
four. With best play that means that B has one critical cell and C has two more besides it.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numba import types

from envs.core import Game, Parameters, State, parameter
from envs.games import square_board as board
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
    helper,
    kernel,
)

# Params.
ROWS, COLS, CELLS, WIN_LEN, ANTONOV, OWN_FOUR_AUTO, PAYOFF, ALLOW_PASS, THREATS = range(9)
ANTONOV_OFF, ANTONOV_LITERAL, ANTONOV_EXACT = 0, 1, 2
ZERO_SUM, WINNER_ONLY, SHARE = 0, 1, 2
# Row header; RESULT is -1 while the game runs, the winner, or DRAW.
MOVER, RESULT, REASON, PASSES, STONES, LOG, COUNTS, BOARD = 0, 1, 2, 3, 4, 5, 6, 12
DRAW = 3
REASONS = ("four", "passes", "full", "antonov", "own_four")
FOUR, THREE_PASSES, FULL, BY_ANTONOV, OWN_FOUR = range(5)
# Bits of a cell: the owner (0 empty, else player + 1), then for each player the directions in which it is critical.
OWNER = 3
NAMES = ("Blue", "Red", "Green")
STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))


@helper
def _critical(value, player):
    """Directions (four bits) in which a cell is critical for a player."""
    return (value >> (2 + 4 * player)) & 15


@helper
def _run(row, owner, cell, step, room):
    """How many stones of ``owner`` follow ``cell`` in one direction, with ``room`` cells to the edge."""
    length = 0
    while length < room and row[BOARD + cell + (length + 1) * step] & OWNER == owner:
        length += 1
    return length


@helper
def _mark(row, cell, player, direction, critical):
    """Note whether an empty cell is critical in a direction."""
    value = row[BOARD + cell]
    bit = 1 << (2 + 4 * player + direction)
    changed = value | bit if critical else value & ~bit
    row[BOARD + cell] = changed
    row[COUNTS + player] += (_critical(changed, player) != 0) - (_critical(value, player) != 0)


@kernel(types.bool_(PARAMS, ROW, types.int64, types.int64))
def place(params, row, cell, player):
    """Put a stone on an empty cell; true when it makes a four."""
    value = row[BOARD + cell]
    four = _critical(value, player) != 0
    for other in range(3):
        if _critical(value, other) != 0:
            row[COUNTS + other] -= 1
    owner = player + 1
    row[BOARD + cell] = owner
    cols = params[COLS]
    wanted = params[WIN_LEN]
    line, column = cell // cols, cell % cols
    right, down = cols - 1 - column, params[ROWS] - 1 - line
    for direction in range(4):
        if direction == 0:
            step, ahead, behind = 1, right, column
        elif direction == 1:
            step, ahead, behind = cols, down, line
        elif direction == 2:
            step, ahead, behind = cols + 1, min(right, down), min(column, line)
        else:
            step, ahead, behind = cols - 1, min(column, down), min(right, line)
        after = _run(row, owner, cell, step, ahead)
        before = _run(row, owner, cell, -step, behind)
        length = before + 1 + after
        if after < ahead:
            end = cell + (after + 1) * step
            if row[BOARD + end] & OWNER == 0:
                beyond = _run(row, owner, end, step, ahead - after - 1)
                _mark(row, end, player, direction, length + 1 + beyond == wanted)
        if before < behind:
            end = cell - (before + 1) * step
            if row[BOARD + end] & OWNER == 0:
                beyond = _run(row, owner, end, -step, behind - before - 1)
                _mark(row, end, player, direction, length + 1 + beyond == wanted)
    return four


@kernel(types.bool_(PARAMS, ROW, types.int64))
def antonov(params, row, player):
    """Whether ``player``, about to move, decides which of the other two is first to make a four."""
    first, second = (player + 1) % 3, (player + 2) % 3
    if params[ANTONOV] == ANTONOV_OFF or row[COUNTS + first] != 1 or row[COUNTS + second] < 2:
        return False
    if params[ANTONOV] == ANTONOV_LITERAL or row[COUNTS + second] > 2:
        return True
    # Exactly two: neither may be the cell that the first needs, or his block there leaves one only.
    for cell in range(params[CELLS]):
        value = row[BOARD + cell]
        if _critical(value, first) != 0:
            return _critical(value, second) == 0
    return False


@kernel(types.void(PARAMS, ROW))
def begin_turn(params, row):
    """End the game when the player to move has won without acting."""
    mover = row[MOVER]
    if antonov(params, row, mover):
        row[RESULT] = mover
        row[REASON] = BY_ANTONOV
    elif params[OWN_FOUR_AUTO] and row[COUNTS + mover] > 0:
        row[RESULT] = mover
        row[REASON] = OWN_FOUR


@kernel(RESET)
def reset(params, row):
    for i in range(BOARD + params[CELLS]):
        row[i] = 0
    row[RESULT] = -1


@kernel(CURRENT_PLAYER)
def current_player(params, row):
    return row[MOVER] if row[RESULT] < 0 else TERMINAL


@kernel(LEGAL)
def legal(params, row, mask):
    cells = params[CELLS]
    running = row[RESULT] < 0
    if running:
        values = row[BOARD : BOARD + cells]
        for cell in range(cells):
            mask[cell] = values[cell] & OWNER == 0
    else:
        for cell in range(cells):
            mask[cell] = False
    if params[ALLOW_PASS]:
        mask[cells] = running
    return np.int64(running) * (cells - row[STONES] + params[ALLOW_PASS])


@kernel(APPLY)
def apply(params, row, action):
    cells = params[CELLS]
    mover = row[MOVER]
    row[BOARD + cells + row[LOG]] = action
    row[LOG] += 1
    row[MOVER] = (mover + 1) % 3
    if action == cells:
        row[PASSES] += 1
        if row[PASSES] == 3:
            row[RESULT] = DRAW
            row[REASON] = THREE_PASSES
            return
    else:
        row[PASSES] = 0
        row[STONES] += 1
        if place(params, row, action, mover):
            row[RESULT] = mover
            row[REASON] = FOUR
            return
        if row[STONES] == cells:
            row[RESULT] = DRAW
            row[REASON] = FULL
            return
    begin_turn(params, row)


@kernel(RETURNS)
def returns(params, row, out):
    result = row[RESULT]
    for player in range(3):
        if result < 0:
            out[player] = 0.0
        elif result == DRAW:
            out[player] = 1.0 / 3.0 if params[PAYOFF] == SHARE else 0.0
        elif result == player:
            out[player] = 1.0
        else:
            out[player] = -0.5 if params[PAYOFF] == ZERO_SUM else 0.0


@helper
def _plane(values, wanted, out):
    for cell in range(values.size):
        out[cell] = values[cell] & OWNER == wanted


@kernel(OBSERVE)
def observe(params, row, player, view, out):
    """Stones of me, the next and the next but one, empty cells, passes, whose turn, seat; then critical cells."""
    cells = params[CELLS]
    values = row[BOARD : BOARD + cells]
    for seat in range(3):
        _plane(values, (player + seat) % 3 + 1, out[seat * cells : (seat + 1) * cells])
    _plane(values, 0, out[3 * cells : 4 * cells])
    at = 4 * cells
    out[at] = row[PASSES]
    turn = (row[MOVER] - player) % 3
    for seat in range(3):
        out[at + 1 + seat] = row[RESULT] < 0 and turn == seat
        out[at + 4 + seat] = player == seat
    if params[THREATS]:
        at += 7
        for seat in range(3):
            other = (player + seat) % 3
            for cell in range(cells):
                out[at + cell] = _critical(values[cell], other) != 0
            at += cells


@kernel(INFORMATION_SPAN)
def information_span(params, row, player):
    start = np.int64(BOARD + params[CELLS])
    return start, start + np.int64(row[LOG])


@dataclasses.dataclass(frozen=True)
class Renju3Parameters(Parameters):
    """Parameters of three-player renju; ``cols`` defaults to ``rows``."""

    rows: int = parameter(19, low=1, high=64, help="rows of the board")
    cols: int = parameter(None, low=1, high=64, help="columns of the board")
    win_len: int = parameter(4, low=2, high=64, help="a maximal run of exactly so many own stones wins")
    antonov: str = parameter(
        "exact",
        choices=("exact", "literal", "off"),
        help="who decides which of the others would win has won: with best defence (exact), by counting (literal)",
    )
    own_four: str = parameter(
        "play", choices=("play", "auto"), help="a four that the player to move can make: he plays it, or wins at once"
    )
    payoff: str = parameter(
        "zero_sum",
        choices=("zero_sum", "winner_only", "share"),
        help="win/loss/draw: 1/-0.5/0 (zero_sum), 1/0/0 (winner_only), 1/0/one third (share)",
    )
    allow_pass: bool = parameter(True, help="whether passing is allowed; three passes in a row are a draw")
    threat_planes: bool = parameter(False, help="whether observations show the critical cells")


class Renju3Game(Game):
    """Renju for three; actions 0..rows*cols-1 place a stone, rows*cols passes (with allow_pass)."""

    name = "renju3"
    parameters_class = Renju3Parameters
    kernels = Kernels(reset, current_player, legal, apply, returns, observe, information_span)
    num_players = 3

    def __init__(self, parameters: Renju3Parameters) -> None:
        rows = parameters.rows
        cols = rows if parameters.cols is None else parameters.cols
        if parameters.win_len > max(rows, cols):
            raise ValueError(
                f"win_len={parameters.win_len} does not fit on a {rows}x{cols} board; the longest line has "
                f"{max(rows, cols)} cells: choose a smaller win_len or a larger board"
            )
        super().__init__(parameters.replace(cols=cols))
        self.rows, self.cols, self.cells = rows, cols, rows * cols
        self.win_len = parameters.win_len
        self.allow_pass = parameters.allow_pass
        self.params = np.array(
            [
                rows,
                cols,
                self.cells,
                self.win_len,
                {"off": ANTONOV_OFF, "literal": ANTONOV_LITERAL, "exact": ANTONOV_EXACT}[parameters.antonov],
                parameters.own_four == "auto",
                {"zero_sum": ZERO_SUM, "winner_only": WINNER_ONLY, "share": SHARE}[parameters.payoff],
                self.allow_pass,
                parameters.threat_planes,
            ],
            dtype=np.int32,
        )
        # A position from a diagram is logged as a game in which the players who lack a stone pass.
        self.max_information_length = 3 * self.cells + 3
        self.row_size = BOARD + self.cells + self.max_information_length
        self.num_tokens = self.cells + 1

    def num_distinct_actions(self) -> int:
        return self.cells + int(self.allow_pass)

    def max_game_length(self) -> int:
        return 3 * self.cells if self.allow_pass else self.cells

    def min_utility(self) -> float:
        return -0.5 if int(self.params[PAYOFF]) == ZERO_SUM else 0.0

    def observation_layout(self, view: bool = False) -> tuple[tuple[str, int, int], ...]:
        n = self.cells
        parts = [("own stones", n), ("next player's stones", n), ("next but one's stones", n), ("empty cells", n)]
        parts += [("passes in a row", 1), ("to move: me, next, next but one", 3), ("seat", 3)]
        if int(self.params[THREATS]):
            parts += [("own critical cells", n), ("next player's critical cells", n)]
            parts += [("next but one's critical cells", n)]
        layout, at = [], 0
        for name, size in parts:
            layout.append((name, at, at + size))
            at += size
        return tuple(layout)

    # -- text -------------------------------------------------------------------------------------------
    def action_to_string(self, player: int, action: int) -> str:
        if action == self.cells and self.allow_pass:
            return "pass"
        if not 0 <= action < self.cells:
            raise ValueError(f"action {action} does not exist; actions are 0 to {self.num_distinct_actions() - 1}")
        return board.cell_name(action, self.cols)

    def string_to_action(self, text: str, player: int | None = None) -> int:
        if text.strip().lower() == "pass":
            if not self.allow_pass:
                raise ValueError("'pass' is not a move of this game: it is played with allow_pass=false")
            return self.cells
        return board.cell_from_name(text, self.rows, self.cols)

    def cell_to_string(self, cell: int) -> str:
        return board.cell_name(cell, self.cols)

    def information_string(self, player: int, tokens: np.ndarray) -> str:
        moves = ("pass" if token == self.cells else self.cell_to_string(token) for token in tokens.tolist())
        return " ".join([f"P{player}", *moves])

    def owners(self, state: State) -> list[int]:
        """Per cell the player whose stone lies there, -1 where it is empty."""
        return [(value & OWNER) - 1 for value in state.row[BOARD : BOARD + self.cells].tolist()]

    def critical_cells(self, state: State, player: int) -> tuple[int, ...]:
        """Empty cells where a stone of ``player`` would make a run of exactly ``win_len``."""
        values = state.row[BOARD : BOARD + self.cells]
        return tuple(np.flatnonzero(values >> (2 + 4 * player) & 15).tolist())

    def state_to_string(self, state: State, player: int | None) -> str:
        symbols = [".BRG"[owner + 1] for owner in self.owners(state)]
        return f"{board.diagram(symbols, self.rows, self.cols)}\n{_caption(state)}"

    def state_from_string(self, text: str) -> State:
        """A position from a diagram of ``B``, ``R``, ``G`` and ``.``, or from a list of moves.

        A diagram ends ``Blue to move`` or ``Blue to move after 2 passes``. Without such an end the player to move
        is the one whose turn it would be if nobody had passed. The rules are applied to the position: a four of
        the player who moved last, a full board or Antonov's condition ends the game.
        """
        state = self.new_initial_state()
        if board.is_moves(text, r"[a-z]+\d+|pass"):
            for word in board.words(text):
                state.apply_action(self.string_to_action(word))
            return state
        rest, mover, passes = board.split_mover(text, NAMES)
        symbols = board.parse_diagram(rest, self.rows, self.cols, "BRG.")
        stones = [[cell for cell, symbol in enumerate(symbols) if symbol == colour] for colour in "BRG"]
        self._set_up(state, stones, self._mover(stones, mover, passes), passes)
        return state

    def _mover(self, stones: list[list[int]], mover: int | None, passes: int) -> int:
        """Who is to move, checked against the numbers of stones."""
        blue, red, green = counts = [len(cells) for cells in stones]
        without_passes = {(0, 0): 0, (1, 0): 1, (1, 1): 2}.get((blue - green, red - green))
        told = f"{blue} blue, {red} red and {green} green stones"
        if passes > 2 or (passes and not self.allow_pass):
            raise ValueError(f"{passes} passes: at most {2 * self.allow_pass} in a row leave this game running")
        if not self.allow_pass and without_passes is None:
            raise ValueError(f"{told}: no game without passes (allow_pass=false) has these numbers")
        if mover is None:
            if without_passes is None:
                raise ValueError(f"{told} do not tell who is to move; end the text with, for example, 'Blue to move'")
            return without_passes
        if not self.allow_pass and mover != without_passes:
            raise ValueError(f"{told}: without passes {NAMES[without_passes or 0]} is to move, not {NAMES[mover]}")
        # Passes in a row follow a stone of the player before them, or the start.
        before = (mover - 1 - passes) % 3
        if passes and (counts[before] == 0 if sum(counts) else mover != passes):
            raise ValueError(f"{told}: {NAMES[mover]} cannot be to move after {passes} passes")
        return mover

    def _set_up(self, state: State, stones: list[list[int]], mover: int, passes: int) -> None:
        row = state.row
        for player, cells in enumerate(stones):
            for cell in cells:
                place(self.params, row, cell, player)
        row[STONES] = sum(map(len, stones))
        row[MOVER], row[PASSES] = mover, passes
        tokens = [
            cells[turn] if turn < len(cells) else self.cells
            for turn in range(max(map(len, stones)))
            for cells in stones
        ]
        tokens += [self.cells] * mover
        row[BOARD + self.cells : BOARD + self.cells + len(tokens)] = tokens
        row[LOG] = len(tokens)
        last = (mover - 1) % 3
        for player in range(3):
            if self._fours(state, player):
                if player != last or passes:
                    raise ValueError(
                        f"{NAMES[player]} has {self.win_len} in a row already: the game was over before the last move"
                    )
                row[RESULT], row[REASON] = player, FOUR
        if row[RESULT] < 0 and row[STONES] == self.cells:
            row[RESULT], row[REASON] = DRAW, FULL
        if row[RESULT] < 0:
            begin_turn(self.params, row)

    def _fours(self, state: State, player: int) -> list[tuple[int, ...]]:
        """All maximal runs of exactly ``win_len`` stones of a player."""
        owners = self.owners(state)

        def own(r: int, c: int) -> bool:
            return 0 <= r < self.rows and 0 <= c < self.cols and owners[r * self.cols + c] == player

        found = []
        for cell in range(self.cells):
            r, c = divmod(cell, self.cols)
            for dr, dc in STEPS:
                if own(r, c) and not own(r - dr, c - dc):
                    run = [cell]
                    while own(r + dr * len(run), c + dc * len(run)):
                        run.append((r + dr * len(run)) * self.cols + c + dc * len(run))
                    if len(run) == self.win_len:
                        found.append(tuple(run))
        return found

    def picture(self, state: State, player: int | None = None) -> Any:
        from envs.render import BoardPicture

        history = state.history()
        return BoardPicture(
            kind="square",
            pieces="stone",
            rows=self.rows,
            cols=self.cols,
            owners=tuple(self.owners(state)),
            names=NAMES,
            symbols="BRG",
            colours=("blue", "red", "green"),
            last=history[-1] if history and history[-1] < self.cells else None,
            witness=state.witness(),
            turn=None if state.is_terminal() else state.current_player(),
            caption=_caption(state),
        )

    # -- the end ----------------------------------------------------------------------------------------
    def reason(self, state: State) -> str | None:
        return REASONS[int(state.row[REASON])]

    def witness(self, state: State) -> tuple[int, ...]:
        """The four; or the critical cell of the next player and two of the one after him; or the own ones."""
        reason, winner = int(state.row[REASON]), int(state.row[RESULT])
        if reason == FOUR:
            last = state.history()[-1:] or [-1]
            fours = self._fours(state, winner)
            return next((four for four in fours if last[0] in four), fours[0])
        if reason == BY_ANTONOV:
            block = self.critical_cells(state, (winner + 1) % 3)
            pair = sorted(self.critical_cells(state, (winner + 2) % 3), key=lambda cell: cell in block)[:2]
            return (*block, *pair)
        return self.critical_cells(state, winner) if reason == OWN_FOUR else ()


def _caption(state: State) -> str:
    if state.is_terminal():
        result, why = int(state.row[RESULT]), state.reason()
        return f"draw ({why})" if result == DRAW else f"{NAMES[result]} wins ({why})"
    passes = int(state.row[PASSES])
    after = f" after {passes} pass{'es' if passes > 1 else ''}" if passes else ""
    return f"{NAMES[state.current_player()]} to move{after}"


GAME = Renju3Game
