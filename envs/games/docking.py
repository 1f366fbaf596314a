"""Docking (Yu. P. Filatov 1987): two fleets on one board, each trying to become one orthogonally connected group.

Rules for users: ``docs/games/docking.md``. A ship moves as many cells as there are ships in that direction, itself
included; it may push an enemy ship away along a free diagonal; a ship shut in by the enemy crashes.

A row also holds every position that has occurred, packed at two bits a cell: repetition is decided by comparing
positions, a hash only rejects most of them at once.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
from numba import types

from envs.core import Game, Parameters, State, parameter
from envs.games import square_board as board
from envs.games.docking_board import (
    AFTER_BREAK,
    BOARD,
    BOTH,
    BOTH_DOCKED,
    BOTH_DOCKED_,
    BROKEN_0,
    BROKEN_1,
    CELLS,
    COLOURS,
    COUNT_COLORS,
    COUNT_ENEMY,
    COUNT_OWN,
    CRASH,
    CRASHED,
    CRASHES,
    DIRECTIONS,
    DISPLACE_TO,
    DISTANCES,
    DOCKED,
    DRAW,
    KEYS_AT,
    LAST_DISPLACED,
    LAST_FROM,
    LAST_TO,
    LAYOUT_AT,
    LINES_AT,
    LOG,
    LOG_AT,
    MAX_PLIES,
    MOVER,
    NO_MOVE,
    NO_MOVES,
    NONE,
    OPPONENT_DOCKED,
    OWN_BLOCK,
    OWNER_CHOOSES,
    PASSED,
    PENDING,
    PLY,
    POSITIONS,
    POSITIONS_AT,
    RAYS,
    REASON,
    REASONS,
    REPEATED,
    REPEATS,
    REPETITION,
    RESULT,
    SELF_CRASH,
    SELF_CRASHED,
    SELF_CRASHES,
    SHIPS_0,
    SHIPS_1,
    START_0,
    START_1,
    STEP,
    STEPS,
    STRIDE,
    STUCK,
    TOO_LONG,
    WORDS,
    connected,
    crashed,
    displacement,
    free_cells,
    landing,
    push_distance,
    put,
    ray_distance,
    relocate,
    take_back,
    verdict,
)
from envs.kernels import (
    APPLY,
    CURRENT_PLAYER,
    INFORMATION_SPAN,
    LEGAL,
    MASK,
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

# -- the end of a turn ---------------------------------------------------------------------------------------


@helper
def _end(row, result, reason):
    row[RESULT] = result
    row[REASON] = reason


@kernel(types.void(PARAMS, ROW, types.int64))
def adjudicate(params, row, mover):
    """Apply docking and crashes after a ply of ``mover``."""
    reason = verdict(params, row, mover)
    if reason == BOTH_DOCKED_:
        choice = params[BOTH]
        _end(row, DRAW if choice == 1 else (mover if choice == 0 else 1 - mover), reason)
    elif reason == DOCKED or reason == CRASHED:
        _end(row, mover, reason)
    elif reason != NONE:
        _end(row, 1 - mover, reason)
    elif params[AFTER_BREAK]:
        for player in range(2):
            if row[BROKEN_0 + player] == 0 and not connected(params, row, player):
                row[BROKEN_0 + player] = 1


@kernel(types.int64(PARAMS, ROW))
def _occurrences(params, row):
    """Note the position; how often it has occurred with the same side to move, this time included."""
    words = params[WORDS]
    cells = params[CELLS]
    keys, positions = params[KEYS_AT], params[POSITIONS_AT]
    index = row[POSITIONS]
    place = positions + index * words
    for i in range(place, place + words):
        row[i] = 0
    ships = row[SHIPS_0]
    for i in range(ships + row[SHIPS_1]):
        cell = row[BOARD + cells + i]
        row[place + (cell >> 4)] |= (1 if i < ships else 2) << (2 * (cell & 15))
    key = np.int64(row[MOVER])
    for i in range(place, place + words):
        key = (key ^ np.int64(row[i])) * np.int64(0x9E3779B97F4A7C15 - (1 << 64))
        key ^= key >> 29
    key = (key & 0x3FFFFFFF) << 1 | row[MOVER]
    row[keys + index] = key
    row[POSITIONS] = index + 1
    count = 1
    for i in range(index):
        if row[keys + i] == key:
            same = True
            for k in range(words):
                if row[positions + i * words + k] != row[place + k]:
                    same = False
                    break
            count += same
    return count


# -- moves --------------------------------------------------------------------------------------------------


@kernel(types.bool_(PARAMS, ROW, types.int64, types.int64, types.int64, types.int64))
def _suicidal(params, row, player, origin, target, displaced):
    """Whether a move ends the game by the crash of an own ship: it is made and taken back."""
    relocate(params, row, player, origin, target, displaced)
    reason = verdict(params, row, player)
    take_back(params, row, player, origin, target, displaced)
    return reason == SELF_CRASHED


@kernel(types.int64(PARAMS, ROW, MASK, types.bool_))
def _moves(params, row, mask, first):
    """How many moves the player to move has; notes them in ``mask``, or stops after the first one."""
    cells, stride = params[CELLS], params[STRIDE]
    distances = params[DISTANCES]
    pending = row[PENDING] - 1
    player = row[MOVER] if pending < 0 else 1 - row[MOVER]
    own_slots = pending >= 0 or (stride > 1 and not params[OWNER_CHOOSES])
    careful = params[SELF_CRASH] == 2
    lines = params[LINES_AT]
    count_own, count_enemy, own_block = params[COUNT_OWN], params[COUNT_ENEMY], params[OWN_BLOCK]
    start = BOARD + cells + (row[SHIPS_0] if player else 0)
    count = 0
    for i in range(start, start + row[SHIPS_0 + player]):
        cell = np.int64(row[i])
        for direction in range(8):
            move = 8 * cell + direction
            if pending >= 0 and move != pending:
                continue
            ray = params[RAYS + move]
            distance = ray_distance(row, lines, ray, player, count_own, count_enemy, own_block)
            if distance == 0:
                continue
            target = cell + distance * params[STEP + direction]
            if row[BOARD + target] == 0:
                if careful and _suicidal(params, row, player, cell, target, -1):
                    continue
                if first:
                    return 1
                mask[move * stride] = True
                count += 1
                continue
            found = count
            for diagonal in range(4):
                free = free_cells(params, row, cell, target, 2 * diagonal + 1)
                if free == 0:
                    continue
                for choice in range(distances):
                    away = push_distance(params, free, choice)
                    displaced = target + away * params[STEP + 2 * diagonal + 1]
                    if away == 0 or (careful and _suicidal(params, row, player, cell, target, displaced)):
                        continue
                    if first:
                        return 1
                    if own_slots or count == found:
                        mask[move * stride + (diagonal * distances + choice if own_slots else 0)] = True
                        count += 1
    return count


@kernel(LEGAL)
def legal(params, row, mask):
    for action in range(mask.size):
        mask[action] = False
    if row[RESULT] >= 0:
        return 0
    count = _moves(params, row, mask, False)
    if count == 0:
        mask[8 * params[CELLS] * params[STRIDE]] = True
        count = 1
    return count


@helper
def _next_turn(params, row):
    """Draws, and what happens to a player without a move."""
    if params[REPETITION]:
        row[REPEATS] = _occurrences(params, row)
        if row[REPEATS] >= params[REPETITION]:
            _end(row, DRAW, REPEATED)
            return
    if row[PLY] >= params[MAX_PLIES]:
        _end(row, DRAW, TOO_LONG)
    elif params[NO_MOVE] and _moves(params, row, np.empty(0, np.bool_), True) == 0:
        _end(row, DRAW if params[NO_MOVE] == 2 else 1 - row[MOVER], STUCK)


@kernel(types.void(PARAMS, ROW))
def begin(params, row):
    """Start to play from the ships on the board: the first position is noted."""
    row[POSITIONS] = 0
    row[REPEATS] = 0
    row[BROKEN_0] = not connected(params, row, 0)
    row[BROKEN_1] = not connected(params, row, 1)
    if row[RESULT] < 0:
        _next_turn(params, row)


@kernel(types.void(PARAMS, ROW))
def set_out(params, row):
    """Put the ships of the list of ships on an empty board."""
    cells = params[CELLS]
    for i in range(BOARD, BOARD + cells):
        row[i] = 0
    for i in range(params[LINES_AT], params[LOG_AT]):
        row[i] = 0
    for i in range(row[SHIPS_0] + row[SHIPS_1]):
        put(params, row, row[BOARD + cells + i], 1 if i < row[SHIPS_0] else 2)


@kernel(RESET)
def reset(params, row):
    for i in range(BOARD):
        row[i] = 0
    row[RESULT] = -1
    row[LAST_FROM] = -1
    row[LAST_TO] = -1
    row[LAST_DISPLACED] = -1
    row[SHIPS_0], row[SHIPS_1] = params[START_0], params[START_1]
    for i in range(row[SHIPS_0] + row[SHIPS_1]):
        row[BOARD + params[CELLS] + i] = params[params[LAYOUT_AT] + i]
    set_out(params, row)
    begin(params, row)


@kernel(CURRENT_PLAYER)
def current_player(params, row):
    return row[MOVER] if row[RESULT] < 0 else TERMINAL


@kernel(APPLY)
def apply(params, row, action):
    stride = params[STRIDE]
    actor = row[MOVER]
    row[params[LOG_AT] + row[LOG]] = action
    row[LOG] += 1
    row[PLY] += 1
    if action == 8 * params[CELLS] * stride:
        row[MOVER] = 1 - actor
        adjudicate(params, row, actor)
        if row[RESULT] < 0:
            if row[PASSED]:
                _end(row, DRAW, STUCK)
            else:
                row[PASSED] = 1
                _next_turn(params, row)
        return
    pending = row[PENDING] != 0
    player = 1 - actor if pending else actor
    move = action // stride
    cell, direction = move >> 3, move & 7
    target = landing(params, row, player, cell, direction)
    displaced = np.int64(-1)
    if row[BOARD + target] != 0:
        slot = action % stride
        if not pending and (stride == 1 or params[OWNER_CHOOSES]):
            options = 0
            careful = params[SELF_CRASH] == 2
            for choice in range(4 * params[DISTANCES]):
                at = displacement(params, row, cell, target, choice)
                if at >= 0 and not (careful and _suicidal(params, row, player, cell, target, at)):
                    options += 1
                    slot = choice
            if options > 1:
                row[PENDING] = move + 1
                row[MOVER] = 1 - actor
                if row[PLY] >= params[MAX_PLIES]:
                    _end(row, DRAW, TOO_LONG)
                return
        displaced = displacement(params, row, cell, target, slot)
    relocate(params, row, player, cell, target, displaced)
    row[LAST_FROM], row[LAST_TO], row[LAST_DISPLACED] = cell, target, displaced
    row[PENDING] = 0
    row[PASSED] = 0
    row[MOVER] = 1 - player
    adjudicate(params, row, player)
    if row[RESULT] < 0:
        _next_turn(params, row)


@kernel(RETURNS)
def returns(params, row, out):
    out[0] = 0.0
    out[1] = 0.0
    if 0 <= row[RESULT] < DRAW:
        out[row[RESULT]] = 1.0
        out[1 - row[RESULT]] = -1.0


@kernel(OBSERVE)
def observe(params, row, player, view, out):
    """Own and enemy ships, seat, whose turn, last action a pass, repetitions and plies as shares, then variants'."""
    cells = params[CELLS]
    for i in range(out.size):
        out[i] = 0.0
    ships = row[SHIPS_0]
    for i in range(ships + row[SHIPS_1]):
        owner = 0 if i < ships else 1
        out[row[BOARD + cells + i] + (cells if owner != player else 0)] = 1.0
    at = 2 * cells
    out[at + player] = 1.0
    out[at + 2] = row[RESULT] < 0 and row[MOVER] == player
    out[at + 3] = row[PASSED]
    if params[REPETITION]:
        out[at + 4] = np.float32(row[REPEATS]) / np.float32(params[REPETITION])
    out[at + 5] = np.float32(row[PLY]) / np.float32(params[MAX_PLIES])
    at += 6
    if params[AFTER_BREAK]:
        out[at] = row[BROKEN_0 + player]
        out[at + 1] = row[BROKEN_1 - player]
        at += 2
    if params[OWNER_CHOOSES] and row[PENDING]:
        move = row[PENDING] - 1
        out[at + (move >> 3)] = 1.0
        out[at + cells + landing(params, row, 1 - row[MOVER], move >> 3, move & 7)] = 1.0


@kernel(INFORMATION_SPAN)
def information_span(params, row, player):
    start = np.int64(params[LOG_AT])
    return start, start + np.int64(row[LOG])


# -- start positions ----------------------------------------------------------------------------------------

LAYOUTS = ("edges", "draughts", "diagonals", "backgap", "backrank", "custom")


def _named_layout(layout: str, rows: int, cols: int) -> tuple[list[int], list[int]]:
    """Cells of the white and of the black ships; ValueError where the layout does not fit the board."""
    if layout == "edges":
        if rows % 2 or cols % 2 or min(rows, cols) < 6:
            raise ValueError(
                f"layout=edges does not fit a {rows}x{cols} board: it needs even sides of at least 6; choose "
                "layout=custom with white=... and black=..., or 8 rows and 8 cols"
            )
        up, along = rows // 2 - 2, cols // 2 - 2
        white = [(up + i) * cols + c for i in range(4) for c in (0, cols - 1)]
        return white, [r * cols + along + i for i in range(4) for r in (0, rows - 1)]
    if (rows, cols) != (8, 8):
        raise ValueError(
            f"layout={layout} does not fit a {rows}x{cols} board: it is made for 8x8; choose layout=custom with "
            "white=... and black=..., or 8 rows and 8 cols"
        )
    if layout == "draughts":
        white = [0, 2, 4, 6, 9, 11, 13, 15]
        return white, [63 - cell for cell in white]
    if layout == "diagonals":
        return [9 * i for i in range(8)], [7 + 7 * i for i in range(8)]
    if layout == "backgap":
        return [*range(4), *range(56, 60)], [*range(4, 8), *range(60, 64)]
    return list(range(8)), list(range(56, 64))


@dataclasses.dataclass(frozen=True)
class DockingParameters(Parameters):
    """Parameters of Docking; ``cols`` defaults to ``rows``."""

    rows: int = parameter(8, low=1, high=16, help="ranks of the board")
    cols: int = parameter(None, low=1, high=16, help="files of the board")
    layout: str = parameter("edges", choices=LAYOUTS, help="start position")
    white: str = parameter("", help="squares of White with layout=custom, 'a1 h1'")
    black: str = parameter("", help="squares of Black with layout=custom, 'a2 b1 h2'")
    first: str = parameter("W", choices=("W", "B"), help="who moves first (player 0)")
    count_colors: str = parameter("both", choices=COUNT_COLORS, help="ships that make a move longer")
    jump_own: bool = parameter(True, help="whether own ships may be jumped")
    min_diag: int = parameter(4, low=1, high=15, help="free cells on a diagonal that a displaced ship needs")
    displace_free: str = parameter(
        "four", choices=("four", "to_edge"), help="min_diag free cells suffice, or all to the edge must be free"
    )
    origin_vacated: bool = parameter(False, help="whether the mover's origin counts as free for the displaced ship")
    displace_to: str = parameter(
        "end", choices=DISPLACE_TO, help="last free cell, exactly min_diag cells, or the chooser's choice"
    )
    chooser: str = parameter("mover", choices=("mover", "owner"), help="who chooses among several displacements")
    both_docked: str = parameter("mover", choices=BOTH_DOCKED, help="who wins when a move docks both sides")
    crash: str = parameter("enemy_edge", choices=CRASHES, help="what shuts a ship in")
    self_crash: str = parameter("loss", choices=SELF_CRASHES, help="a move that crashes an own ship")
    no_move: str = parameter("pass", choices=NO_MOVES, help="what a player without a move does")
    repetition: int = parameter(3, low=0, high=1000, help="occurrence of a position that is a draw, 0 for none")
    max_plies: int = parameter(200, low=1, high=10000, help="plies after which the game is a draw")
    dock_check: str = parameter(
        "always", choices=("always", "mover_after_break"), help="a side docks always, or only after being undocked"
    )


class DockingGame(Game):
    """Docking; action (cell * 8 + direction) * S + slot moves a ship, the last action passes."""

    name = "docking"
    parameters_class = DockingParameters
    kernels = Kernels(reset, current_player, legal, apply, returns, observe, information_span)

    def __init__(self, parameters: DockingParameters) -> None:
        rows = parameters.rows
        cols = rows if parameters.cols is None else parameters.cols
        self.rows, self.cols, self.cells = rows, cols, rows * cols
        if parameters.repetition == 1:
            raise ValueError("repetition=1 is not allowed; it must be 0 (off) or at least 2")
        fleets, texts = self._layout(parameters)
        super().__init__(parameters.replace(cols=cols, white=texts[0], black=texts[1]))
        self.first = int(parameters.first == "B")
        start = [fleets[self.first], fleets[1 - self.first]]
        reach = [self._reach(cell, direction) for cell in range(self.cells) for direction in range(8)]
        choose_distance = parameters.displace_to == "any"
        diagonals = max(
            sum(reach[8 * cell + d] >= parameters.min_diag for d in (1, 3, 5, 7)) for cell in range(self.cells)
        )
        self.distances = max(1, max(rows, cols) - 1) if choose_distance else 1
        self.stride = 4 * self.distances if choose_distance or diagonals > 1 else 1
        self.owner_chooses = parameters.chooser == "owner" and self.stride > 1
        words = (self.cells + 15) // 16
        lines = self._lines()
        rays = [line << 10 | reach[i ^ 4] << 5 | reach[i] for i, line in enumerate(lines)]
        lines_at = BOARD + 2 * self.cells
        log_at = lines_at + 2 * (max(lines) + 1)
        self.max_information_length = parameters.max_plies + self.cells
        keys_at = log_at + self.max_information_length
        noted = parameters.max_plies + 1 if parameters.repetition else 0
        positions_at = keys_at + noted
        self.row_size = positions_at + noted * words
        self.num_tokens = self.num_distinct_actions() + 2 * self.cells
        values = [
            cols,
            self.cells,
            len(start[0]),
            len(start[1]),
            -int(parameters.count_colors != "enemy"),
            -int(parameters.count_colors != "own"),
            -int(not parameters.jump_own),
            parameters.min_diag,
            parameters.displace_free == "to_edge",
            parameters.origin_vacated,
            DISPLACE_TO.index(parameters.displace_to),
            self.stride,
            self.distances,
            self.owner_chooses,
            BOTH_DOCKED.index(parameters.both_docked),
            CRASHES.index(parameters.crash),
            SELF_CRASHES.index(parameters.self_crash),
            NO_MOVES.index(parameters.no_move),
            parameters.repetition,
            parameters.max_plies,
            parameters.dock_check == "mover_after_break",
            words,
            lines_at,
            log_at,
            keys_at,
            positions_at,
            RAYS + len(rays),
        ]
        steps = [dr * cols + dc for dr, dc in STEPS]
        self.params = np.array(
            values + [0] * (STEP - len(values)) + steps + rays + start[0] + start[1], dtype=np.int32
        )
        self._check_start(parameters)

    def _reach(self, cell: int, direction: int) -> int:
        """Cells from ``cell`` to the edge."""
        r, c = divmod(cell, self.cols)
        dr, dc = STEPS[direction]
        count = 0
        while 0 <= r + dr < self.rows and 0 <= c + dc < self.cols:
            r, c, count = r + dr, c + dc, count + 1
        return count

    def _lines(self) -> list[int]:
        """Number of the line through each (cell, direction)."""
        numbers: dict[tuple[int, int], int] = {}
        found = []
        for cell in range(self.cells):
            for direction, (dr, dc) in enumerate(STEPS):
                # Constant along the line: column, row, or a diagonal's offset.
                offset = cell // self.cols * dc - cell % self.cols * dr
                found.append(numbers.setdefault((direction, offset), len(numbers)))
        return found

    def _layout(self, parameters: DockingParameters) -> tuple[list[list[int]], list[str]]:
        """Cells of White and Black, and their canonical texts (empty unless the layout is custom)."""
        given = (parameters.white, parameters.black)
        if parameters.layout != "custom":
            if any(given):
                raise ValueError(f"white and black go with layout=custom, not with layout={parameters.layout}")
            return list(_named_layout(parameters.layout, self.rows, self.cols)), ["", ""]
        fleets: list[list[int]] = []
        for colour, text in zip(("white", "black"), given, strict=True):
            names = re.findall(r"[a-zA-Z]+[0-9]+|[^\s,;+-]+", text)
            cells = [board.cell_from_name(name, self.rows, self.cols) for name in names]
            if not cells:
                raise ValueError(f"layout=custom needs squares of both sides; {colour}={text!r} has none (try 'a1 h1')")
            if len(set(cells)) < len(cells):
                raise ValueError(f"{colour}={text!r} names a square twice")
            fleets.append(sorted(cells))
        shared = set(fleets[0]) & set(fleets[1])
        if shared:
            raise ValueError(
                f"white and black both have a ship on {self.cell_to_string(min(shared))}; the squares must be disjoint"
            )
        return fleets, [" ".join(map(self.cell_to_string, fleet)) for fleet in fleets]

    def _check_start(self, parameters: DockingParameters) -> None:
        """Refuse a start in which a side is docked or a ship has crashed."""
        row = np.zeros(self.row_size, dtype=np.int32)
        reset(self.params, row)
        for player in (0, 1):
            if not int(self.params[AFTER_BREAK]) and connected(self.params, row, player):
                raise ValueError(
                    f"{self.colour(player)} is docked at the start (layout={parameters.layout}); choose another "
                    "layout, or dock_check=mover_after_break"
                )
        wrecks = self._wrecks(row, 0) + self._wrecks(row, 1)
        if wrecks:
            raise ValueError(
                f"the ship on {self.cell_to_string(wrecks[0])} has crashed at the start "
                f"(crash={parameters.crash}); choose another layout, or crash=off"
            )

    def colour(self, player: int) -> str:
        return COLOURS[player ^ self.first]

    def num_distinct_actions(self) -> int:
        return 8 * self.cells * self.stride + 1

    def max_game_length(self) -> int:
        return int(self.params[MAX_PLIES])

    def observation_layout(self, view: bool = False) -> tuple[tuple[str, int, int], ...]:
        n = self.cells
        parts = [("own ships", n), ("enemy ships", n), ("seat", 2), ("on turn", 1), ("last action was a pass", 1)]
        parts += [("occurrences of the position / repetition", 1), ("ply / max_plies", 1)]
        if int(self.params[AFTER_BREAK]):
            parts += [("own side, other side has been undocked", 2)]
        if self.owner_chooses:
            parts += [("ship whose move waits for the choice", n), ("ship to be displaced", n)]
        layout, at = [], 0
        for name, size in parts:
            layout.append((name, at, at + size))
            at += size
        return tuple(layout)

    # -- text -------------------------------------------------------------------------------------------
    def cell_to_string(self, cell: int) -> str:
        return board.cell_name(cell, self.cols)

    def action_to_string(self, player: int, action: int) -> str:
        """Ship and direction, ``d4-S``, where the board is not at hand; then the slot, ``d4-S/NE`` or ``d4-S/NE5``."""
        last = self.num_distinct_actions() - 1
        if action == last:
            return "pass"
        if not 0 <= action < last:
            raise ValueError(f"action {action} does not exist; actions are 0 to {last}")
        move, slot = divmod(action, self.stride)
        text = f"{self.cell_to_string(move >> 3)}-{DIRECTIONS[move & 7]}"
        if slot:
            diagonal, distance = divmod(slot, self.distances)
            text += f"/{DIRECTIONS[2 * diagonal + 1]}{distance + 1 if self.distances > 1 else ''}"
        return text

    def string_to_action(self, text: str, player: int | None = None) -> int:
        """An action from ``f6-f4``, ``d4-d2/h6``, ``d4-S``, ``d4-S/NE5`` or ``pass``; the distance is not checked."""
        word = text.strip()
        if word.lower() == "pass":
            return self.num_distinct_actions() - 1
        squares = re.fullmatch(r"([a-z]+\d+)-([a-z]+\d+)(?:/([a-z]+\d+))?", word.lower())
        named = re.fullmatch(r"([a-z]+\d+)-(n|ne|e|se|s|sw|w|nw)(?:/(ne|se|sw|nw)(\d*))?", word.lower())
        if named:
            cell, slot = board.cell_from_name(named[1], self.rows, self.cols), 0
            direction = DIRECTIONS.index(named[2].upper())
            if named[3] and self.stride > 1:
                distance = min(int(named[4] or 1), self.distances) - 1
                slot = DIRECTIONS.index(named[3].upper()) // 2 * self.distances + max(distance, 0)
            return (8 * cell + direction) * self.stride + slot
        if squares:
            cells = [board.cell_from_name(name, self.rows, self.cols) for name in squares.groups() if name]
            direction, _ = self._line(cells[0], cells[1], text)
            slot = 0
            if len(cells) == 3 and self.stride > 1:
                away, distance = self._line(cells[1], cells[2], text)
                if away % 2 == 0:
                    raise ValueError(f"{text!r}: a ship is displaced along a diagonal")
                slot = away // 2 * self.distances + (distance - 1 if self.distances > 1 else 0)
            return (8 * cells[0] + direction) * self.stride + slot
        raise ValueError(f"{text!r} is not a move; write f6-f4, with a displaced ship d4-d2/h6, or pass")

    def _line(self, cell: int, target: int, text: str) -> tuple[int, int]:
        """Direction and distance from one cell to another; ValueError when no line joins them."""
        up, along = target // self.cols - cell // self.cols, target % self.cols - cell % self.cols
        distance = max(abs(up), abs(along))
        for direction, (dr, dc) in enumerate(STEPS):
            if distance and (dr * distance, dc * distance) == (up, along):
                return direction, distance
        raise ValueError(
            f"{text!r}: {self.cell_to_string(cell)} and {self.cell_to_string(target)} lie on no line, straight or "
            "diagonal"
        )

    def move_to_string(self, state: State, player: int, action: int) -> str:
        """``f6-f4``, or ``d4-d2/h6`` with the cell that the displaced ship goes to."""
        row, last = state.row, self.num_distinct_actions() - 1
        if not 0 <= action < last or state.is_terminal():
            return self.action_to_string(player, action)
        move, slot = divmod(action, self.stride)
        cell, direction = move >> 3, move & 7
        pending = int(row[PENDING]) != 0
        mover = int(row[MOVER]) ^ pending
        target = landing(self.params, row, mover, cell, direction) if row[BOARD + cell] == mover + 1 else -1
        if target < 0:
            return self.action_to_string(player, action)
        text = f"{self.cell_to_string(cell)}-{self.cell_to_string(target)}"
        if row[BOARD + target] == 0:
            return text if slot == 0 else self.action_to_string(player, action)
        slots = [slot] if self.stride > 1 and (pending or not self.owner_chooses) else range(4 * self.distances)
        cells = [c for c in (displacement(self.params, row, cell, target, s) for s in slots) if c >= 0]
        if not cells:
            return self.action_to_string(player, action)
        return f"{text}/{self.cell_to_string(cells[0])}" if len(cells) == 1 else text

    def move_from_string(self, state: State, text: str) -> int:
        """A legal move by its squares; the displaced ship's cell may be left out where there is only one.

        The other forms of ``string_to_action`` are taken too.
        """
        word = text.strip().lower()
        player = state.current_player()
        if not re.fullmatch(r"[a-z]+\d+-[a-z]+\d+(/[a-z]+\d+)?", word) or state.is_terminal():
            return self.string_to_action(text, player)
        moves = {self.move_to_string(state, player, action): action for action in state.legal_actions()}
        if word in moves:
            return moves[word]
        found = [action for name, action in moves.items() if name.split("/")[0] == word]
        if len(found) == 1:
            return found[0]
        near = [name for name in moves if name.startswith(word.split("-")[0] + "-")]
        raise ValueError(
            f"{text!r} is not a move of {self.colour(player)} here; moves of that ship are "
            f"{', '.join(near) or 'none'}"
        )

    def information_string(self, player: int, tokens: np.ndarray) -> str:
        actions = self.num_distinct_actions()
        words = []
        for token in tokens.tolist():
            if token < actions:
                words.append(self.action_to_string(player, token))
            else:
                cell, owner = divmod(token - actions, 2)
                words.append(f"{'WB'[owner ^ self.first]}{self.cell_to_string(cell)}")
        return " ".join([f"P{player}", *words])

    def owners(self, state: State) -> list[int]:
        """Per cell the colour of the ship there (0 White, 1 Black), -1 where there is none."""
        return [v - 1 ^ self.first if v else -1 for v in state.row[BOARD : BOARD + self.cells].tolist()]

    def _caption(self, state: State) -> str:
        row = state.row
        if state.is_terminal():
            result = int(row[RESULT])
            return f"draw ({state.reason()})" if result == DRAW else f"{self.colour(result)} wins ({state.reason()})"
        if row[PENDING]:
            move = int(row[PENDING]) - 1
            target = landing(self.params, row, 1 - int(row[MOVER]), move >> 3, move & 7)
            return f"{self.colour(state.current_player())} chooses where {self.cell_to_string(target)} goes"
        return f"{self.colour(state.current_player())} to move{' after 1 pass' if row[PASSED] else ''}"

    def state_to_string(self, state: State, player: int | None) -> str:
        symbols = [".WB"[owner + 1] for owner in self.owners(state)]
        return f"{board.diagram(symbols, self.rows, self.cols, bottom_up=True)}\n{self._caption(state)}"

    def state_from_string(self, text: str) -> State:
        """A position from a diagram of ``W``, ``B`` and ``.`` (rank 1 at the bottom), or from a list of moves.

        A diagram may end ``Black to move`` or ``Black to move after 1 pass``; player 0 is to move otherwise. It may
        have other numbers of ships than the layout. A docked fleet ends the game as after a move of the other side;
        crashes are judged from the next move on.
        """
        state = self.new_initial_state()
        if board.is_moves(text, r"[a-z]+\d+-\w+(/\w+)?|pass"):
            for word in board.words(text):
                state.apply_action(state.string_to_action(word))
            return state
        rest, colour, passes = board.split_mover(text, COLOURS)
        if passes > 1:
            raise ValueError(f"{passes} passes in a row end the game; a running game has at most 1")
        symbols = board.parse_diagram(rest, self.rows, self.cols, "WB.", bottom_up=True)
        fleets = [[cell for cell, symbol in enumerate(symbols) if symbol == name] for name in "WB"]
        if not all(fleets):
            raise ValueError("a diagram needs ships of both sides, W and B")
        start = [fleets[self.first], fleets[1 - self.first]]
        row = state.row
        row[SHIPS_0], row[SHIPS_1] = len(start[0]), len(start[1])
        ships = start[0] + start[1]
        row[BOARD + self.cells : BOARD + self.cells + len(ships)] = ships
        set_out(self.params, row)
        actions, log_at = self.num_distinct_actions(), int(self.params[LOG_AT])
        tokens = sorted(actions + 2 * cell + owner for owner in (0, 1) for cell in start[owner])
        row[log_at : log_at + len(tokens)] = tokens
        row[LOG] = len(tokens)
        row[MOVER] = 0 if colour is None else colour ^ self.first
        row[PASSED] = passes
        row[RESULT], row[REASON] = -1, NONE
        row[BROKEN_0] = row[BROKEN_1] = 0
        docking_only = self.params.copy()
        docking_only[CRASH] = 0
        adjudicate(docking_only, row, 1 - int(row[MOVER]))
        begin(self.params, row)
        return state

    def picture(self, state: State, player: int | None = None) -> Any:
        from envs.render import BoardPicture

        last = [int(cell) for cell in state.row[[LAST_FROM, LAST_TO, LAST_DISPLACED]] if cell >= 0]
        return BoardPicture(
            kind="square",
            pieces="ship",
            rows=self.rows,
            cols=self.cols,
            owners=tuple(self.owners(state)),
            names=COLOURS,
            symbols="WB",
            colours=("white", "black"),
            bottom_up=True,
            last=last[1] if last else None,
            trace=tuple(last),
            witness=state.witness(),
            turn=None if state.is_terminal() else state.current_player() ^ self.first,
            caption=self._caption(state),
        )

    # -- the end ----------------------------------------------------------------------------------------
    def reason(self, state: State) -> str | None:
        return REASONS[int(state.row[REASON])]

    def _ships(self, row: np.ndarray, player: int) -> list[int]:
        return np.flatnonzero(row[BOARD : BOARD + self.cells] == player + 1).tolist()

    def _wrecks(self, row: np.ndarray, player: int) -> list[int]:
        return [cell for cell in self._ships(row, player) if crashed(self.params, row, cell)]

    def witness(self, state: State) -> tuple[int, ...]:
        """The docked fleet (both with ``both_docked``), or the ships that crashed."""
        reason, result = int(state.row[REASON]), int(state.row[RESULT])
        if reason in (DOCKED, OPPONENT_DOCKED):
            return tuple(self._ships(state.row, result))
        if reason == BOTH_DOCKED_:
            return tuple(sorted(self._ships(state.row, 0) + self._ships(state.row, 1)))
        if reason in (CRASHED, SELF_CRASHED):
            return tuple(self._wrecks(state.row, 1 - result))
        return ()


GAME = DockingGame
