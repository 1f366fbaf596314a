"""What phantom placement games share: hidden stones, collisions, turns, what is told to whom, observations, texts.

A player names a cell; when a stone of the other lies there he runs into it, and it is shown to him. The game adds
its board: what a placement does and when it wins. The row is that of ``hex_board``: header, cells, tokens.

A player's information tokens are his own actions with their outcomes (``2 * cell`` placed, ``2 * cell + 1``
collision) and what was announced of the opponent's (``2 * cells``, and ``2 * cells + 1`` for an announced collision);
nothing else enters his mask, observation or key.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

import numpy as np

from envs.core import Game, Parameters, State, parameter
from envs.games import hex_board
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
)
from envs.kernels import (
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
DRAWN = 2  # row[WINNER] of a game that nobody has won; -1 while it runs


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
def collides(row, action):
    """Whether a stone lies on the cell; the mover has found it then."""
    if row[BOARD + action] & OWNER != 0:
        row[BOARD + action] |= DISCOVERED
        return True
    return False


@helper
def _append(params, row, player, token):
    row[BOARD + params[CELLS] + player * params[LOG_CAPACITY] + row[LOG_0 + player]] = token
    row[LOG_0 + player] += 1


@helper
def finish_action(params, row, mover, action, collision):
    """Tell both players of the action; the turn passes when it is over."""
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
    if row[WINNER] >= 0 and row[WINNER] != DRAWN:
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


def kernels_with(apply: Any) -> Kernels:
    """The kernels of a game that adds its ``apply``: ``collides``, a placement, ``finish_action``."""
    return Kernels(reset, current_player, legal, apply, returns, observe, information_span)


def version_parameter() -> Any:
    return parameter(
        "classical",
        choices=("classical", "abrupt"),
        help="after a collision the mover moves again (classical) or his turn ends (abrupt)",
    )


def info_parameter() -> Any:
    return parameter(
        "announce",
        choices=("announce", "numturns", "silent"),
        help="what the opponent hears of an action: placement or collision, that there was one, nothing",
    )


class PhantomBoardGame(Game):
    """A phantom placement game on rows x cols cells; actions are the cells 0..rows*cols-1.

    A subclass names itself (``title``), its players' colours (``names``, ``symbols``), the shape of its board
    (``kind``, ``pieces`` as in ``envs.render.BoardPicture``), its ``place`` kernel and the test of sets of stones,
    ``win_table``.
    """

    perfect_information = False
    phantom_placement = True
    information_length_at = LOG_0  # row[information_length_at + player]: how many tokens the player has

    title: ClassVar[str]
    names: ClassVar[tuple[str, str]] = ("Red", "Blue")
    symbols: ClassVar[str] = "RB"
    kind: ClassVar[str]
    pieces: ClassVar[str] = "stone"
    place: ClassVar[Any]  # kernel (params, row, cell, player): a stone on an empty cell, true if it wins

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(parameters)
        values: Any = parameters
        self.rows, self.cols, self.cells = values.rows, values.cols, values.rows * values.cols
        self.classical = values.version == "classical"
        self.info = values.info
        announced = {"silent": SILENT, "numturns": NUMTURNS, "announce": ANNOUNCE}[self.info]
        # A player acts at most once on each cell, and hears of at most as many actions of the other.
        capacity = self.cells if announced == SILENT else 2 * self.cells
        self.params = self.board_params(CLASSICAL if self.classical else ABRUPT, announced, capacity)
        self.row_size = BOARD + self.cells + 2 * capacity
        self.max_information_length = capacity
        self.num_tokens = 2 * self.cells + announced

    def board_params(self, version: int, info: int, capacity: int) -> np.ndarray:
        """int32[:], the kernels' first argument: as in ``hex_board`` up to LOG_CAPACITY, then the game's own."""
        raise NotImplementedError

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
        return hex_board.cell_name(action, self.cols)

    def string_to_action(self, text: str, player: int | None = None) -> int:
        return hex_board.cell_from_name(text, self.rows, self.cols)

    def information_string(self, player: int, tokens: np.ndarray) -> str:
        heard = ("opponent acted",) if self.info == "numturns" else ("opponent placed", "opponent collided")
        words = []
        for token in tokens.tolist():
            if token < 2 * self.cells:
                words.append(hex_board.cell_name(token >> 1, self.cols) + ("x" if token & 1 else ""))
            else:
                words.append(f"({heard[token - 2 * self.cells]})")
        return " ".join([f"P{player}", *words])

    def view(self, state: State, player: int) -> list[int | None]:
        """Per cell: whose stone ``player`` sees there (0 or 1), None where he sees none."""
        cells: list[int | None] = [None] * self.cells
        for token in state.information_tokens(player).tolist():
            if token < 2 * self.cells:
                cells[token >> 1] = 1 - player if token & 1 else player
        return cells

    def diagram(self, symbols: list[str]) -> str:
        """A board with coordinates; ``symbols`` are in the order of the cells."""
        raise NotImplementedError

    def state_to_string(self, state: State, player: int | None) -> str:
        """``symbols`` are stones, ``.`` no stone seen; omniscient: small letters are stones that were found."""
        if player is not None:
            symbols = ["." if colour is None else self.symbols[colour] for colour in self.view(state, player)]
        else:
            hidden, found = "." + self.symbols, "." + self.symbols.lower()
            symbols = [
                (found if v & DISCOVERED else hidden)[v & OWNER]
                for v in state.row[BOARD : BOARD + self.cells].tolist()
            ]
        return self.diagram(symbols)

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

    def caption(self, state: State) -> str:
        if not state.is_terminal():
            return f"{self.names[state.current_player()]} to move"
        winner = int(state.row[WINNER])
        return "Draw" if winner == DRAWN else f"{self.names[winner]} wins"

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
        return BoardPicture(
            kind=self.kind,
            pieces=self.pieces,
            names=self.names,
            symbols=self.symbols,
            rows=self.rows,
            cols=self.cols,
            owners=tuple(owners),
            discovered=tuple(found),
            unknown=() if player is None else tuple(i for i, owner in enumerate(owners) if owner < 0),
            last=last,
            witness=state.witness() if player is None else (),
            caption=self.caption(state) if player is None else f"{self.names[player]}'s view",
            turn=turn if player in (None, turn) else None,
            note=f"{self.title} {self.rows}x{self.cols} {self.explicit_parameters()['version']}, {self.info}",
        )

    # -- exact engine -----------------------------------------------------------------------------------
    def win_table(self) -> np.ndarray:
        """bool[2, 2**cells]: which sets of stones (bit masks over the cells) win for each player."""
        raise NotImplementedError

    # -- search -----------------------------------------------------------------------------------------
    def state_from_information(
        self, player: int, tokens: np.ndarray, mover: int, rng: np.random.Generator
    ) -> State:
        from envs.games.phantom_resample import resample

        return resample(self, player, tokens.tolist(), mover != player, rng)
