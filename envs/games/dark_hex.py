"""Dark Hex: Hex in which each player sees only his own stones and those he has run into.

Rules for users: ``docs/games/dark_hex.md``. The placement and the win test are those of ``hex_board``; this file
adds the information layer. A player's information tokens are his own actions with their outcomes
(``2 * cell`` placed, ``2 * cell + 1`` collision) and what was announced of the opponent's; nothing else enters
his mask, observation or key.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np

from envs.core import Game, Parameters, State, parameter
from envs.games import hex_board as board
from envs.games.hex import caption, chain_witness
from envs.games.hex_board import (
    BOARD,
    CELLS,
    DISCOVERED,
    LOG_0,
    LOG_CAPACITY,
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
    RESET,
    RETURNS,
    TERMINAL,
    Kernels,
    helper,
    kernel,
)

VERSION, INFO = OPTION_0, OPTION_1
CLASSICAL, ABRUPT = 0, 1
SILENT, NUMTURNS, ANNOUNCE = 0, 1, 2


@kernel(RESET, allocates=False)
def reset(params, row):
    clear(params, row)


@kernel(CURRENT_PLAYER, allocates=False)
def current_player(params, row):
    return row[MOVER] if row[WINNER] < 0 else TERMINAL


@kernel(LEGAL, allocates=False)
def legal(params, row, mask):
    """Every cell that the mover does not know to be occupied."""
    cells = params[CELLS]
    own = row[MOVER] + 1
    running = row[WINNER] < 0
    count = 0
    for cell in range(cells):
        value = row[BOARD + cell]
        owner = value & OWNER
        mask[cell] = running and owner != own and (owner == 0 or value & DISCOVERED == 0)
        count += mask[cell]
    return count


@helper
def _append(params, row, player, token):
    row[BOARD + params[CELLS] + player * params[LOG_CAPACITY] + row[LOG_0 + player]] = token
    row[LOG_0 + player] += 1


@kernel(APPLY, allocates=False)
def apply(params, row, action):
    mover = row[MOVER]
    collision = row[BOARD + action] & OWNER != 0
    if collision:
        row[BOARD + action] |= DISCOVERED
    elif place(params, row, action, mover):
        row[WINNER] = mover
    _append(params, row, mover, 2 * action + collision)
    if params[INFO] == ANNOUNCE:
        _append(params, row, 1 - mover, 2 * params[CELLS] + collision)
    elif params[INFO] == NUMTURNS:
        _append(params, row, 1 - mover, 2 * params[CELLS])
    row[PLY] += 1
    if not collision or params[VERSION] == ABRUPT:
        row[MOVER] = 1 - mover


@kernel(RETURNS, allocates=False)
def returns(params, row, out):
    out[0] = 0.0
    out[1] = 0.0
    if row[WINNER] >= 0:
        out[row[WINNER]] = 1.0
        out[1 - row[WINNER]] = -1.0


@kernel(INFORMATION_SPAN, allocates=False)
def information_span(params, row, player):
    start = np.int64(BOARD + params[CELLS] + player * params[LOG_CAPACITY])
    return start, start + np.int64(row[LOG_0 + player])


@kernel(OBSERVE, allocates=False)
def observe(params, row, player, view, out):
    """Built from the player's tokens alone: what he cannot know cannot enter."""
    cells = params[CELLS]
    for i in range(out.size):
        out[i] = 0.0
    start, stop = information_span(params, row, player)
    scale = np.float32(1.0) / np.float32(cells)
    when = 2 * cells
    seat = 2 * cells if view else 3 * cells
    extra = seat + 2
    out[seat + player] = 1.0
    acted = 0  # own actions so far
    placed = 0  # own stones so far
    opponent_placed = 0
    opponent_collisions = 0
    recent_collisions = 0
    for i in range(start, stop):
        token = row[i]
        if token < 2 * cells:
            cell = token >> 1
            out[cell + (token & 1) * cells] = 1.0
            if not view:
                out[when + cell] = (acted + 1) * scale
            acted += 1
            placed += 1 - (token & 1)
            recent_collisions = 0
            continue
        collision = token - 2 * cells
        opponent_placed += 1 - collision
        opponent_collisions += collision
        recent_collisions += collision
        if not view:
            out[extra + acted] += 1.0
            if params[INFO] == ANNOUNCE:
                out[extra + cells + 1 + acted] += collision
    if view:
        if params[VERSION] == CLASSICAL:
            # Every finished turn places one stone: the number at the player's next decision.
            out[extra] = (placed + player) * scale
        elif params[INFO] == ANNOUNCE:
            out[extra] = opponent_placed * scale
        else:
            out[extra] = (acted - placed) * scale  # those found: a lower bound is all there is
        if params[INFO] == ANNOUNCE:
            out[extra + 1] = opponent_collisions * scale
            out[extra + 2] = recent_collisions * scale


@dataclasses.dataclass(frozen=True)
class DarkHexParameters(Parameters):
    """Parameters of Dark Hex; ``cols`` defaults to ``rows``."""

    rows: int = parameter(3, low=1, high=19, help="rows; Red (player 0) joins the first with the last")
    cols: int = parameter(None, low=1, high=19, help="columns; Blue (player 1) joins the first with the last")
    version: str = parameter(
        "classical",
        choices=("classical", "abrupt"),
        help="after a collision the mover moves again (classical) or his turn ends (abrupt)",
    )
    info: str = parameter(
        "announce",
        choices=("announce", "numturns", "silent"),
        help="what the opponent hears of an action: placement or collision, that there was one, nothing",
    )


class DarkHexGame(Game):
    """Dark Hex on a rows x cols rhombus; actions are the cells 0..rows*cols-1."""

    name = "dark_hex"
    parameters_class = DarkHexParameters
    kernels = Kernels(reset, current_player, legal, apply, returns, observe, information_span)
    perfect_information = False
    phantom_placement = True
    information_length_at = LOG_0  # row[information_length_at + player]: how many tokens the player has

    def __init__(self, parameters: DarkHexParameters) -> None:
        cols = parameters.rows if parameters.cols is None else parameters.cols
        super().__init__(parameters.replace(cols=cols))
        self.rows, self.cols, self.cells = parameters.rows, cols, parameters.rows * cols
        self.classical = parameters.version == "classical"
        self.info = parameters.info
        info = {"silent": SILENT, "numturns": NUMTURNS, "announce": ANNOUNCE}[self.info]
        # A player acts at most once on each cell, and hears of at most as many actions of the other.
        capacity = self.cells if info == SILENT else 2 * self.cells
        self.params = board.board_params(
            self.rows, cols, CLASSICAL if self.classical else ABRUPT, info, capacity
        )
        self.row_size = BOARD + self.cells + 2 * capacity
        self.max_information_length = capacity
        self.num_tokens = 2 * self.cells + info

    def num_distinct_actions(self) -> int:
        return self.cells

    def max_game_length(self) -> int:
        return 2 * self.cells - 1

    def observation_layout(self, view: bool = False) -> tuple[tuple[str, int, int], ...]:
        n = self.cells
        parts = [("own stones", n), ("known enemy stones", n)]
        if view:
            parts += [("seat", 2), ("enemy stones / cells", 1)]
            if self.info == "announce":
                parts += [("enemy collisions / cells", 1), ("enemy collisions since own last action / cells", 1)]
        else:
            parts += [("when learnt: (own action index + 1) / cells", n), ("seat", 2)]
            if self.info != "silent":
                parts += [("enemy actions before own action i", n + 1)]
            if self.info == "announce":
                parts += [("enemy collisions before own action i", n + 1)]
        layout, at = [], 0
        for name, size in parts:
            layout.append((name, at, at + size))
            at += size
        return tuple(layout)

    # -- text -------------------------------------------------------------------------------------------
    def action_to_string(self, player: int, action: int) -> str:
        if not 0 <= action < self.cells:
            raise ValueError(f"action {action} does not exist; actions are 0 to {self.cells - 1}")
        return board.cell_name(action, self.cols)

    def string_to_action(self, text: str, player: int | None = None) -> int:
        return board.cell_from_name(text, self.rows, self.cols)

    def information_string(self, player: int, tokens: np.ndarray) -> str:
        heard = ("opponent acted",) if self.info == "numturns" else ("opponent placed", "opponent collided")
        words = []
        for token in tokens.tolist():
            if token < 2 * self.cells:
                words.append(board.cell_name(token >> 1, self.cols) + ("x" if token & 1 else ""))
            else:
                words.append(f"({heard[token - 2 * self.cells]})")
        return " ".join([f"P{player}", *words])

    def view(self, state: State, player: int) -> list[int | None]:
        """Per cell: the colour of a stone that ``player`` sees (0 red, 1 blue), None where he sees none."""
        cells: list[int | None] = [None] * self.cells
        for token in state.information_tokens(player).tolist():
            if token < 2 * self.cells:
                cells[token >> 1] = 1 - player if token & 1 else player
        return cells

    def state_to_string(self, state: State, player: int | None) -> str:
        """``R`` red, ``B`` blue, ``.`` no stone seen; omniscient: ``r`` and ``b`` are stones that were found."""
        if player is not None:
            symbols = ["." if colour is None else "RB"[colour] for colour in self.view(state, player)]
        else:
            symbols = [
                (".rb" if v & DISCOVERED else ".RB")[v & OWNER]
                for v in state.row[BOARD : BOARD + self.cells].tolist()
            ]
        return board.rhombus(symbols, self.rows, self.cols)

    def state_from_string(self, text: str) -> State:
        """A position from its moves, ``"b2 b2x a1"``; a mark ``x`` (or the multiplication sign) says that the
        move must be a collision."""
        state = self.new_initial_state()
        for word in re.split(r"[\s,;/]+", text.strip()):
            if not word:
                continue
            marked = word[-1] in "x\u00d7" and len(word) > 1 and word[-2].isdigit()
            action = self.string_to_action(word[:-1] if marked else word)
            occupied = bool(state.row[BOARD + action] & OWNER)
            if marked and not occupied:
                raise ValueError(f"{word!r}: the move is marked as a collision, but {word[:-1]} is empty")
            state.apply_action(action)
        return state

    def picture(self, state: State, player: int | None = None) -> Any:
        from envs.render import BoardPicture

        values = state.row[BOARD : BOARD + self.cells].tolist()
        if player is None:
            owners = [(v & OWNER) - 1 for v in values]
            found = [i for i, v in enumerate(values) if v & DISCOVERED]
            last = state.history()[-1] if state.history() else None
        else:
            view = self.view(state, player)
            owners = [-1 if colour is None else colour for colour in view]
            found = [i for i, colour in enumerate(view) if colour == 1 - player]
            tokens = [t for t in state.information_tokens(player).tolist() if t < 2 * self.cells]
            last = tokens[-1] >> 1 if tokens else None
        turn = None if state.is_terminal() else state.current_player()
        if player is None:
            text = caption(state, turn)
        else:
            text = f"{board.COLOUR_NAMES[player].capitalize()}'s view"
        return BoardPicture(
            kind="hex",
            rows=self.rows,
            cols=self.cols,
            owners=tuple(owners),
            discovered=tuple(found),
            unknown=() if player is None else tuple(i for i, owner in enumerate(owners) if owner < 0),
            last=last,
            witness=state.witness() if player is None else (),
            caption=text,
            turn=turn if player in (None, turn) else None,
            note=f"Dark Hex {self.rows}x{self.cols} {self.explicit_parameters()['version']}, {self.info}",
        )

    # -- the end ----------------------------------------------------------------------------------------
    def reason(self, state: State) -> str | None:
        return "chain"

    def witness(self, state: State) -> tuple[int, ...]:
        return chain_witness(state, "shortest")

    # -- exact engine -----------------------------------------------------------------------------------
    def win_table(self) -> np.ndarray:
        """bool[2, 2**cells]: which sets of stones (bit masks over the cells) win for each player."""
        return board.win_table(self.params)

    # -- search -----------------------------------------------------------------------------------------
    def state_from_information(
        self, player: int, tokens: np.ndarray, mover: int, rng: np.random.Generator
    ) -> State:
        from envs.games.dark_hex_resample import resample

        return resample(self, player, tokens.tolist(), mover != player, rng)


GAME = DarkHexGame
