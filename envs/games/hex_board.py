"""The Hex board shared by Hex and Dark Hex: row layout, neighbours, connection, cell names, chains, patterns.

Cells are numbered row-major. Neighbours of (r, c) are (r, c+-1), (r+-1, c), (r-1, c+1), (r+1, c-1). Red joins
the first row with the last one, Blue the first column with the last one.

A state row is a header, one integer per cell, then information tokens (the game's business). The integer of a
cell holds its owner and whether its chain reaches the owner's two sides, so a placement is a look at six
neighbours, and each cell changes its marks at most twice in a game: no search is needed for the win test.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

import numpy as np
from numba import types

from envs.kernels import PARAMS, ROW, helper, kernel

# Params: sizes and the game's own switches, then six neighbours a cell (-1 where the board ends).
ROWS, COLS, CELLS, OPTION_0, OPTION_1, LOG_CAPACITY, NEIGHBOURS = 0, 1, 2, 3, 4, 5, 8
# Row header.
MOVER, WINNER, PLY, COLOR_OF_0, LOG_0, LOG_1, BOARD = 0, 1, 2, 3, 4, 5, 8
# Bits of a cell.
OWNER = 3  # 0 empty, 1 red, 2 blue
DISCOVERED = 4  # the other player has found this stone (Dark Hex)
FIRST_SIDE, SECOND_SIDE = 8, 16  # the stone's chain reaches the owner's first / second side
BOTH_SIDES = FIRST_SIDE | SECOND_SIDE

RED, BLUE = 0, 1
COLOUR_NAMES = ("red", "blue")

# In increasing cell number, which is the order the shortest chain is defined by.
NEIGHBOUR_STEPS = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))


def board_params(rows: int, cols: int, option_0: int = 0, option_1: int = 0, log_capacity: int = 0) -> np.ndarray:
    """int32[8 + 6 * rows * cols], the kernels' first argument."""
    params = np.full(NEIGHBOURS + 6 * rows * cols, -1, dtype=np.int32)
    params[:NEIGHBOURS] = rows, cols, rows * cols, option_0, option_1, log_capacity, 0, 0
    for cell in range(rows * cols):
        for k, (dr, dc) in enumerate(NEIGHBOUR_STEPS):
            r, c = cell // cols + dr, cell % cols + dc
            if 0 <= r < rows and 0 <= c < cols:
                params[NEIGHBOURS + 6 * cell + k] = r * cols + c
    return params


@kernel(types.void(PARAMS, ROW), allocates=False)
def clear(params, row):
    """Empty board, Red to move, no winner, no tokens."""
    for i in range(BOARD + params[CELLS]):
        row[i] = 0
    row[WINNER] = -1


@helper
def _side_marks(params, cell, colour):
    """Marks that a stone has from the sides it touches."""
    if colour == RED:
        position = cell // params[COLS]
        last = params[ROWS] - 1
    else:
        position = cell % params[COLS]
        last = params[COLS] - 1
    marks = 0
    if position == 0:
        marks |= FIRST_SIDE
    if position == last:
        marks |= SECOND_SIDE
    return marks


@kernel(types.void(PARAMS, ROW, types.int64, types.int64, types.int64), allocates=False)
def _spread(params, row, cell, owner, marks):
    """Give the marks of ``cell`` to its whole chain."""
    # The stack is a list threaded through the stones themselves, above the eight bits of the marks: no memory is taken.
    top = cell
    while top >= 0:
        stone = top
        top = (row[BOARD + stone] >> 8) - 1
        row[BOARD + stone] &= 255
        first = NEIGHBOURS + 6 * stone
        for k in range(first, first + 6):
            other = params[k]
            if other >= 0:
                value = row[BOARD + other]
                if value & OWNER == owner and value & marks != marks:
                    row[BOARD + other] = value | marks | (top + 1) << 8
                    top = other


@kernel(types.bool_(PARAMS, ROW, types.int64, types.int64), allocates=False)
def place(params, row, cell, colour):
    """Put a stone on an empty cell; true when it completes a chain of its colour between the colour's sides."""
    owner = colour + 1
    marks = _side_marks(params, cell, colour)
    first = NEIGHBOURS + 6 * cell
    lacking = False
    for k in range(first, first + 6):
        other = params[k]
        if other >= 0 and row[BOARD + other] & OWNER == owner:
            marks |= row[BOARD + other] & BOTH_SIDES
    row[BOARD + cell] = owner | marks
    if marks == 0:
        return False
    for k in range(first, first + 6):
        other = params[k]
        if other >= 0 and row[BOARD + other] & OWNER == owner and row[BOARD + other] & marks != marks:
            lacking = True
    if lacking:
        _spread(params, row, cell, owner, marks)
    return marks == BOTH_SIDES


@kernel(types.void(PARAMS, types.int64, types.Array(types.bool_, 1, "C")))
def _fill_wins(params, colour, out):
    """``out[stones]``: whether a set of cells (bit mask) joins the colour's sides; by flooding whole sets."""
    cells = params[CELLS]
    around = np.zeros(cells, dtype=np.int64)
    first_side, second_side = 0, 0
    for cell in range(cells):
        for k in range(NEIGHBOURS + 6 * cell, NEIGHBOURS + 6 * cell + 6):
            if params[k] >= 0:
                around[cell] |= 1 << params[k]
        marks = _side_marks(params, cell, colour)
        if marks & FIRST_SIDE:
            first_side |= 1 << cell
        if marks & SECOND_SIDE:
            second_side |= 1 << cell
    for stones in range(out.size):
        reached, fresh = 0, stones & first_side
        while fresh:
            reached |= fresh
            spread = 0
            for cell in range(cells):
                if fresh >> cell & 1:
                    spread |= around[cell]
            fresh = spread & stones & ~reached
        out[stones] = reached & second_side != 0


def win_table(params: np.ndarray) -> np.ndarray:
    """bool[2, 2**cells]: which sets of stones (bit masks) win for Red and for Blue; boards up to 24 cells."""
    cells = int(params[CELLS])
    if cells > 24:
        raise ValueError(f"a table of all sets of {cells} cells is too large; boards up to 24 cells have one")
    table = np.empty((2, 1 << cells), dtype=np.bool_)
    for colour in (RED, BLUE):
        _fill_wins(params, colour, table[colour])
    return table


# -- names --------------------------------------------------------------------------------------------------


def cell_name(cell: int, cols: int) -> str:
    """``a1`` is cell 0: column letters (a..z, aa..), then the row number from 1."""
    letters, column = "", cell % cols + 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return f"{letters}{cell // cols + 1}"


def cell_from_name(text: str, rows: int, cols: int) -> int:
    """Cell number of a name like ``e2``; ValueError naming the board's range otherwise."""
    match = re.fullmatch(r"([a-z]+)([1-9][0-9]*)", text.strip().lower()) if text.isascii() else None
    if match:
        column = 0
        for letter in match[1]:
            column = 26 * column + ord(letter) - ord("a") + 1
        row = int(match[2])
        if column <= cols and row <= rows:
            return (row - 1) * cols + column - 1
    raise ValueError(
        f"{text!r} is not a cell of this board; cells are a1 to {cell_name(rows * cols - 1, cols)} "
        "(column letter, then row number)"
    )


# -- chains -------------------------------------------------------------------------------------------------


def neighbours(cell: int, rows: int, cols: int) -> list[int]:
    """Neighbouring cells in increasing number."""
    found = []
    for dr, dc in NEIGHBOUR_STEPS:
        r, c = cell // cols + dr, cell % cols + dc
        if 0 <= r < rows and 0 <= c < cols:
            found.append(r * cols + c)
    return found


def side_cells(colour: int, which: int, rows: int, cols: int) -> list[int]:
    """Cells of a colour's first (0) or second (1) side."""
    if colour == RED:
        return [(rows - 1) * which * cols + c for c in range(cols)]
    return [r * cols + (cols - 1) * which for r in range(rows)]


def winning_chain(stones: Iterable[int], colour: int, rows: int, cols: int, chain: str) -> tuple[int, ...]:
    """The chain that joins a colour's sides, () when there is none.

    ``chain="shortest"``: breadth-first from the first side in increasing cell number, neighbours in increasing
    number, up to the first stone of the other side; in order from side to side. ``"component"``: the whole
    connected group, sorted.
    """
    own = set(stones)
    sources = [c for c in side_cells(colour, 0, rows, cols) if c in own]
    goal = set(side_cells(colour, 1, rows, cols))
    parent: dict[int, int] = {c: -1 for c in sources}
    queue = deque(sources)
    end = None
    while queue and end is None:
        cell = queue.popleft()
        if cell in goal:
            end = cell
            break
        for other in neighbours(cell, rows, cols):
            if other in own and other not in parent:
                parent[other] = cell
                queue.append(other)
    if end is None:
        return ()
    if chain == "shortest":
        path = []
        while end != -1:
            path.append(end)
            end = parent[end]
        return tuple(reversed(path))
    group, todo = {end}, [end]
    while todo:
        for other in neighbours(todo.pop(), rows, cols):
            if other in own and other not in group:
                group.add(other)
                todo.append(other)
    return tuple(sorted(group))


# -- patterns the help mentions -----------------------------------------------------------------------------

BRIDGE_STEPS = ((1, 1), (-1, -1), (2, -1), (-2, 1), (1, -2), (-1, 2))


def bridges(cell: int, occupied: Iterable[int], rows: int, cols: int) -> dict[int, tuple[int, int]]:
    """Cells bridged from ``cell``: target -> its two common neighbours with ``cell``, both empty.

    ``occupied`` are all cells with a stone. A bridge is not a connection for the win test.
    """
    taken = set(occupied)
    found = {}
    for dr, dc in BRIDGE_STEPS:
        r, c = cell // cols + dr, cell % cols + dc
        if not (0 <= r < rows and 0 <= c < cols):
            continue
        target = r * cols + c
        common = sorted(set(neighbours(cell, rows, cols)) & set(neighbours(target, rows, cols)))
        if len(common) == 2 and not taken & set(common):
            found[target] = (common[0], common[1])
    return dict(sorted(found.items()))


def edge_templates(cell: int, colour: int, occupied: Iterable[int], rows: int, cols: int) -> list[tuple[int, int]]:
    """Second-row edge templates of a stone: the two empty side cells that link it to an own side, per side.

    Next to an obtuse corner only one side cell is adjacent, so there is no template.
    """
    taken = set(occupied)
    found = []
    line, last = (cell // cols, rows - 1) if colour == RED else (cell % cols, cols - 1)
    for which, second in ((0, 1), (1, last - 1)):
        if last < 1 or line != second:
            continue
        side = set(side_cells(colour, which, rows, cols))
        link = sorted(side & set(neighbours(cell, rows, cols)))
        if len(link) == 2 and not taken & set(link):
            found.append((link[0], link[1]))
    return found


# -- board text ---------------------------------------------------------------------------------------------


def rhombus(symbols: list[str], rows: int, cols: int) -> str:
    """A board as text: column letters, then each row shifted by half a cell."""
    width = len(str(rows))
    lines = [" " * (width + 1) + " ".join(cell_name(c, cols)[:-1] for c in range(cols))]
    for r in range(rows):
        cells = " ".join(symbols[r * cols : (r + 1) * cols])
        lines.append(" " * r + f"{r + 1:>{width}} {cells}")
    return "\n".join(lines)


def parse_diagram(text: str, rows: int, cols: int, symbols: str) -> list[str] | None:
    """Cells of a board diagram, or None when the text is no diagram.

    Rows are separated by ``/`` or newlines; row numbers, a line of column letters and spaces do not count.
    """
    lines = []
    for line in re.split(r"[/\n]", text):
        cells = re.sub(r"^\s*\d+", "", line).replace(" ", "")
        header = "".join(cell_name(c, cols)[:-1] for c in range(cols))
        if cells and cells != header:
            lines.append(cells)
    if len(lines) != rows or any(len(line) != cols or set(line) - set(symbols) for line in lines):
        return None
    return list("".join(lines))
