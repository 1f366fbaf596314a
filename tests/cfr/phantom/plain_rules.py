"""Which stones win, in plain Python: the tests' own rules. Sets of cells are bit masks, cells are row-major."""

from __future__ import annotations

import functools


@functools.cache
def neighbours(rows: int, cols: int) -> tuple[int, ...]:
    """Per cell the set of its neighbours on a rhombus of hexagons."""
    steps = ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0))
    result = []
    for cell in range(rows * cols):
        row, col = divmod(cell, cols)
        near = ((row + down, col + right) for down, right in steps)
        result.append(sum(1 << (r * cols + c) for r, c in near if 0 <= r < rows and 0 <= c < cols))
    return tuple(result)


@functools.cache
def wins(rows: int, cols: int, player: int, stones: int) -> bool:
    """Whether player 0's stones join the first row with the last, or player 1's the first column with the last."""
    cells = range(rows * cols)
    place = [divmod(cell, cols)[player] for cell in cells]
    last = (rows, cols)[player] - 1
    joined = sum(1 << cell for cell in cells if place[cell] == 0) & stones
    while True:
        larger = joined
        for cell in cells:
            if joined >> cell & 1:
                larger |= neighbours(rows, cols)[cell] & stones
        if larger == joined:
            return any(joined >> cell & 1 for cell in cells if place[cell] == last)
        joined = larger
