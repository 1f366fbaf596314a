"""How good a Hex position is: the board as an electric circuit.

For each colour its own two sides are the poles. A cell resists little where the colour's stone lies, more where it is
empty, and does not conduct where the other colour's stone lies. The value is the logarithm of the ratio of the two
conductances; the current through a cell says how much the connection runs through it, which orders the moves. Cells
a bridge apart, and second-row cells with their two side cells free, count as linked.

Source: Anshelevich, "A hierarchical approach to computer Hex", Artificial Intelligence 134 (2002), sections 6-7; the
links of bridges are a small part of his virtual connections.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from agents.alpha_beta import EVALUATE, EVALUATION_LIMIT, POSITION, PRIORITISE, Heuristics
from envs.games.hex import REX, swap_available
from envs.games.hex_board import BOARD, CELLS, COLOR_OF_0, COLS, MOVER, OWNER, RED, ROWS
from envs.kernels import F64, PARAMS, ROW, helper, kernel

__all__ = ["hex_heuristics"]

STONE, EMPTY = 0.02, 1.0  # resistance from the middle of a cell to its rim
BRIDGE = 0.5  # conductance of a bridge, relative to that of adjacent cells
LEAK = 1e-9  # keeps cells without any link from making the equations singular
SCALE = 10_000.0

# Links of a cell that lead to larger cell numbers, as (rows, columns); bridges with their two carriers.
_ADJACENT = ((0, 1), (1, -1), (1, 0))
_BRIDGES = ((1, 1, 0, 1, 1, 0), (1, -2, 0, -1, 1, -1), (2, -1, 1, -1, 1, 0))


@helper
def _resistance(row, cell, colour):
    """Of a cell to its rim for a colour; negative where the other colour's stone lies."""
    owner = row[BOARD + cell] & OWNER
    if owner == 0:
        return EMPTY
    return STONE if owner == colour + 1 else -1.0


@helper
def _open(params, row, colour, r, c):
    """Whether a cell of the board is free for a colour: empty or its own, so that a stone never cuts its own links."""
    inside = 0 <= r < params[ROWS] and 0 <= c < params[COLS]
    return inside and row[BOARD + r * params[COLS] + c] & OWNER != 2 - colour


@helper
def _link(params, row, colour, r, c, k):
    """(cell, conductance) of the k-th link of cell (r, c) to a larger one; conductance 0 where there is none."""
    rows, cols = params[ROWS], params[COLS]
    if k < 3:
        dr, dc = _ADJACENT[k]
        factor = 1.0
    else:
        dr, dc, ar, ac, br, bc = _BRIDGES[k - 3]
        factor = BRIDGE
        if not (_open(params, row, colour, r + ar, c + ac) and _open(params, row, colour, r + br, c + bc)):
            return 0, 0.0
    if not (0 <= r + dr < rows and 0 <= c + dc < cols):
        return 0, 0.0
    other = (r + dr) * cols + c + dc
    there = _resistance(row, other, colour)
    if there < 0:
        return 0, 0.0
    return other, factor / (_resistance(row, r * cols + c, colour) + there)


@helper
def _pole(params, row, colour, r, c, last):
    """Conductance between a cell and its colour's first side, or its last one."""
    if colour == RED:
        distance = params[ROWS] - 1 - r if last else r
    else:
        distance = params[COLS] - 1 - c if last else c
    if distance > 1:
        return 0.0
    own = _resistance(row, r * params[COLS] + c, colour)
    if distance == 0:
        return 1.0 / own
    # The second row: its two side cells must be free and on the board.
    step = -1 if last else 1
    if colour == RED:
        free = _open(params, row, colour, r - step, c) and _open(params, row, colour, r - step, c + step)
    else:
        free = _open(params, row, colour, r, c - step) and _open(params, row, colour, r + step, c - step)
    return BRIDGE / own if free else 0.0


@kernel(types.float64(PARAMS, ROW, types.int64, F64), allocates=False)
def conductance(params, row, colour, scratch):
    """Between the two sides of a colour. Leaves the potentials (first side 1, last side 0) in ``scratch[:cells]``.

    The symmetric system of Kirchhoff's laws is solved by Cholesky's method on its band.
    """
    cols, cells = params[COLS], params[CELLS]
    width = 2 * cols + 1
    band = scratch[cells : cells + cells * (width + 1)]  # band[cell, d]: coefficient of cell and cell - d
    for i in range(band.size):
        band[i] = 0.0
    for cell in range(cells):
        band[cell * (width + 1)] += LEAK
        scratch[cell] = 0.0
        if _resistance(row, cell, colour) < 0:
            band[cell * (width + 1)] = 1.0
            continue
        r, c = cell // cols, cell % cols
        first = _pole(params, row, colour, r, c, False)
        band[cell * (width + 1)] += first + _pole(params, row, colour, r, c, True)
        scratch[cell] = first
        for k in range(6):
            other, link = _link(params, row, colour, r, c, k)
            if link > 0:
                band[cell * (width + 1)] += link
                band[other * (width + 1)] += link
                band[other * (width + 1) + other - cell] -= link
    # Factor into L D L^T: ``pivot`` row by row, rows within the band below it.
    for pivot in range(cells):
        diagonal = band[pivot * (width + 1)]
        end = min(cells, pivot + width + 1)
        for below in range(pivot + 1, end):
            value = band[below * (width + 1) + below - pivot]
            if value == 0.0:
                continue
            factor = value / diagonal
            for k in range(below, end):
                band[k * (width + 1) + k - below] -= factor * band[k * (width + 1) + k - pivot]
            scratch[below] -= factor * scratch[pivot]
    for pivot in range(cells - 1, -1, -1):
        value = scratch[pivot]
        for below in range(pivot + 1, min(cells, pivot + width + 1)):
            value -= band[below * (width + 1) + below - pivot] * scratch[below]
        scratch[pivot] = value / band[pivot * (width + 1)]
    current = 0.0
    for cell in range(cells):
        if _resistance(row, cell, colour) > 0:
            current += _pole(params, row, colour, cell // cols, cell % cols, False) * (1.0 - scratch[cell])
    return max(current, LEAK)


@kernel(EVALUATE, allocates=False)
def evaluate(params, row, scratch):
    """SCALE times the logarithm of the ratio of the conductances; turned round in Rex."""
    colour = row[MOVER] ^ row[COLOR_OF_0]
    own = conductance(params, row, colour, scratch)
    other = conductance(params, row, 1 - colour, scratch)
    value = SCALE * np.log(own / other)
    if params[REX]:
        value = -value
    return types.int64(min(max(value, -1.0 * EVALUATION_LIMIT), 1.0 * EVALUATION_LIMIT))


@kernel(PRIORITISE, allocates=False)
def prioritise(params, row, scratch, out):
    """The share of the current of both colours that runs through each cell."""
    cells, cols = params[CELLS], params[COLS]
    for action in range(out.size):
        out[action] = 0.0
    for colour in range(2):
        whole = conductance(params, row, colour, scratch)
        for cell in range(cells):
            if _resistance(row, cell, colour) < 0:
                continue
            r, c = cell // cols, cell % cols
            first = _pole(params, row, colour, r, c, False) * (1.0 - scratch[cell])
            last = _pole(params, row, colour, r, c, True) * scratch[cell]
            out[cell] += 0.5 * (first + last) / whole
            for k in range(6):
                other, link = _link(params, row, colour, r, c, k)
                if link > 0:
                    flow = 0.5 * link * abs(scratch[cell] - scratch[other]) / whole
                    out[cell] += flow
                    out[other] += flow
    if swap_available(params, row):
        out[cells] = 4.0
    if params[REX]:
        for action in range(cells):
            out[action] = -out[action]


@kernel(POSITION, allocates=False)
def position(table, params, row, out):
    """Two bits a cell, then who is to move, his colour and whether he may swap."""
    cells = params[CELLS]
    words = (cells + 14) // 15
    for i in range(words):
        out[i] = 0
    for cell in range(cells):
        out[cell // 15] |= (row[BOARD + cell] & OWNER) << 2 * (cell % 15)
    out[words] = row[MOVER] | row[COLOR_OF_0] << 1 | (4 if swap_available(params, row) else 0)
    return words + 1


def hex_heuristics(game: Any) -> Heuristics:
    """For a game of Hex of any size."""
    return Heuristics(
        evaluate, prioritise, position, (game.cells + 14) // 15 + 1, game.cells * (2 * game.cols + 3)
    )
