"""Histories and terminal histories of silent Dark Hex, counted without walking them.

What can still happen depends on both players' stones and on what each has found. So histories that agree in these are
counted together, ply by ply: a code (a digit a cell) and the number of histories that lead there.
"""

from __future__ import annotations

import numpy as np
import pytest
from plain_rules import wins

FREE, RED, RED_FOUND, BLUE, BLUE_FOUND = range(5)

# Board: all histories, terminals.
COUNTS = {
    (2, 2, "classical"): (441, 216),
    (2, 2, "abrupt"): (471, 234),
    (2, 3, "classical"): (104_229, 53_920),
    (2, 3, "abrupt"): (149_953, 75_578),
    (3, 2, "classical"): (196_357, 95_760),
    (3, 2, "abrupt"): (245_243, 122_032),
    (3, 3, "classical"): (19_119_486_979, 9_469_697_760),
    (3, 3, "abrupt"): (29_311_526_419, 14_663_760_672),
}


def added(codes: list[np.ndarray], counts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Equal codes become one."""
    code, which = np.unique(np.concatenate(codes), return_inverse=True)
    total = np.zeros(code.size, dtype=np.int64)
    np.add.at(total, which, np.concatenate(counts))
    return code, total


def count(rows: int, cols: int, abrupt: bool) -> tuple[int, int]:
    """(all histories, terminal histories)."""
    cells = rows * cols
    weights = 5 ** np.arange(cells)
    won = np.array([[wins(rows, cols, player, stones) for stones in range(1 << cells)] for player in (0, 1)])
    # Histories at one ply in which nobody has won, by the player to move.
    now = [(np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)), (np.zeros(0, np.int64), np.zeros(0, np.int64))]
    histories = terminals = 0
    while any(codes.size for codes, _ in now):
        after: list[tuple[list[np.ndarray], list[np.ndarray]]] = [([], []), ([], [])]
        for mover, (codes, counts) in enumerate(now):
            histories += int(counts.sum())
            mine, hidden, found = ((RED, BLUE, BLUE_FOUND), (BLUE, RED, RED_FOUND))[mover]
            digits = codes[:, None] // weights % 5
            owned = (digits == mine) | (digits == mine + 1)
            stones = owned @ (1 << np.arange(cells))
            for cell in range(cells):
                collides = digits[:, cell] == hidden
                then = after[1 - mover if abrupt else mover]
                then[0].append(codes[collides] + (found - hidden) * weights[cell])
                then[1].append(counts[collides])
                placed = digits[:, cell] == FREE
                ends = placed & won[mover, stones | 1 << cell]
                terminals += int(counts[ends].sum())
                goes_on = placed & ~ends
                after[1 - mover][0].append(codes[goes_on] + mine * weights[cell])
                after[1 - mover][1].append(counts[goes_on])
        now = [added(*parts) for parts in after]
    return histories + terminals, terminals


@pytest.mark.parametrize("board", COUNTS, ids=str)
def test_counts(board: tuple[int, int, str]) -> None:
    rows, cols, version = board
    assert count(rows, cols, version == "abrupt") == COUNTS[board]
