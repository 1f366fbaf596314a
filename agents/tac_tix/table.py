"""Exhaustive tables of Tac-Tix: for every set of counters, whether the player to move loses.

One bit a position, in one pass from small masks to large (a move always leads to a smaller mask). Bit ``mask`` of
the table is bit ``mask & 63`` of word ``mask >> 6``. A word holds the 64 positions that differ in the six lowest
cells; a block holds the words that differ in the twelve lowest. Let a run of a move be (h, w, l): its part above
cell 12, its part in cells 6 to 11, its part in cells 0 to 5.

* h != 0: if block ``b`` contains h, the move leads from all positions of block b that contain (w, l) to those of
  block ``b ^ h`` at once: whole blocks are combined, shifted by w words and l bits (``p ^ l == p - l`` where p
  contains l).
* h == 0, w != 0: the same with single words, in increasing order of words.
* h == w == 0: within a word, from the lowest position not yet won upwards: it is lost, and so every position from
  which it can be reached is won (one precomputed word of predecessors).

Per word that is (6x6, on average) about 40 reads of a 512-byte block for 64 words, 10 single words, and 6 lost
positions: some 30 ns for 64 positions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import types

from agents.tac_tix.bits import count_bits, lowest
from envs.games.hex_board import cell_name
from envs.games.tac_tix import runs
from envs.kernels import kernel

CONVENTIONS = ("misere", "normal")
WORD, BLOCK = 6, 12  # cells inside a word, inside a block
MAX_CELLS = 36  # 2**36 bits are 8 GiB
_WORDS = types.Array(types.uint64, 1, "C")
_PAIRS = types.Array(types.int64, 2, "C")
_CELL = np.array([0xAAAAAAAAAAAAAAAA, 0xCCCCCCCCCCCCCCCC, 0xF0F0F0F0F0F0F0F0, 0xFF00FF00FF00FF00, 0xFFFF0000FFFF0000,
                  0xFFFFFFFF00000000], dtype=np.uint64)  # fmt: skip  # positions of a word that have cell 0 .. 5


def check_board(rows: int, cols: int, convention: str, max_cells: int) -> None:
    """ValueError unless the board has 1 to ``max_cells`` cells and the convention exists."""
    if convention not in CONVENTIONS:
        raise ValueError(f"convention={convention!r} is not allowed; choose one of {', '.join(CONVENTIONS)}")
    for name, value in (("rows", rows), ("cols", cols)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise ValueError(f"{name}={value!r} is not allowed; it must be an integer of at least 1")
    if rows * cols > max_cells:
        raise ValueError(
            f"a {rows}x{cols} board has {rows * cols} cells; at most {max_cells} are possible here, choose fewer rows "
            "or columns"
        )


@kernel(types.void(_WORDS, types.int64, types.int64, types.int64, types.uint64, types.boolean, _PAIRS,
                   types.Array(types.uint64, 2, "C"), types.Array(types.int64, 1, "C"), _PAIRS, _WORDS, _WORDS,
                   _WORDS))  # fmt: skip
def _fill(table, first, last, words, valid, misere, outer, outer_masks, inner_start, inner, in_word, predecessors, won):
    """Fill blocks first..last-1.

    ``outer`` [k, 3] (h, w, l) and ``outer_masks`` [k, words] (which positions contain w and l); ``inner_start`` and
    ``inner`` [k, 2] (source word, l) of every word; ``in_word`` [64] positions that contain l; ``predecessors`` [64];
    ``won`` [words] is scratch.
    """
    one = np.uint64(1)
    for block in range(first, last):
        base = block * words
        won[:] = np.uint64(0)
        for k in range(outer.shape[0]):
            h = outer[k, 0]
            if block & h == h:
                source = (block ^ h) * words
                w, shift = outer[k, 1], np.uint64(outer[k, 2])
                there = table[source : source + words - w]
                here = won[w:]
                if w == 0 and shift == np.uint64(0):
                    for j in range(there.size):
                        here[j] |= there[j]
                else:
                    holding = outer_masks[k, w:]
                    for j in range(there.size):
                        here[j] |= (there[j] << shift) & holding[j]
        if block == 0 and misere:
            won[0] |= one
        for j in range(words):
            reached = won[j] | ~valid
            for k in range(inner_start[j], inner_start[j + 1]):
                low = inner[k, 1]
                reached |= (table[base + inner[k, 0]] << np.uint64(low)) & in_word[low]
            lost = np.uint64(0)
            while reached != ~np.uint64(0):
                bit = ~reached & (reached + one)  # the lowest position not won
                lost |= bit
                reached |= bit | predecessors[lowest(bit)]
            table[base + j] = lost


@kernel(types.int64(_WORDS))
def _count(table):
    total = 0
    for j in range(table.size):
        total += count_bits(table[j])
    return total


@dataclass(frozen=True)
class Table:
    """What every position is worth that can arise from ``start``, the mask of a board with or without holes.

    ``lost`` is uint64[2**max(counters - 6, 0)], one bit a position; a position's number has one bit for each counter
    of ``start``, in the order of the cells. With a full board that is the mask itself.
    """

    rows: int
    cols: int
    convention: str
    start: int
    lost: np.ndarray
    seconds: float

    def is_lost(self, mask: int) -> bool:
        """Whether the player to move loses, counters lying on the cells of ``mask`` (cell 0 is the lowest bit)."""
        if mask & ~self.start or mask < 0:
            raise ValueError(f"mask {mask:#x} has counters where the board of this table, {self.start:#x}, has none")
        number = _compressed(mask, self.start)
        return bool(int(self.lost[number >> WORD]) >> (number & 63) & 1)

    def count_lost(self) -> int:
        """How many positions are lost for the player to move (the empty board counts where it is lost)."""
        return int(_count(self.lost))

    def winning_moves(self, mask: int | None = None) -> list[int]:
        """Masks of the runs that win, in the order of the game's action numbers; of ``start`` unless given."""
        mask = self.start if mask is None else mask
        return [run for run in run_masks(self.rows, self.cols) if run & mask == run and self.is_lost(mask ^ run)]


def run_masks(rows: int, cols: int) -> list[int]:
    """Masks of all runs, in the order of the game's action numbers."""
    return [sum(1 << cell for cell in run) for run in runs(rows, cols)]


def run_name(run: int, cols: int) -> str:
    """``b2`` or ``a1-c1``: the game's text of the move that takes the counters of mask ``run``."""
    first, last = (run & -run).bit_length() - 1, run.bit_length() - 1
    return cell_name(first, cols) if first == last else f"{cell_name(first, cols)}-{cell_name(last, cols)}"


def full_board(rows: int, cols: int) -> int:
    """The mask of a board without holes."""
    return (1 << rows * cols) - 1


def table_bytes(counters: int) -> int:
    """Size in bytes of the table of a board with so many counters."""
    return 8 << max(counters - WORD, 0)


def _compressed(mask: int, start: int) -> int:
    """The bits of ``mask`` at the cells of ``start``, pushed together."""
    if start & (start + 1) == 0:
        return mask
    return sum((mask >> cell & 1) << n for n, cell in enumerate(c for c in range(start.bit_length()) if start >> c & 1))


def build_table(
    rows: int,
    cols: int,
    convention: str = "misere",
    start: int | None = None,
    memory: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Table:
    """Solve every position that can arise from ``start`` (a mask of at most 36 counters; the full board).

    ``memory`` (bytes) bounds the table, MemoryError if it is larger; ``progress(fraction)`` is called now and then.
    30 counters take 128 MiB, 36 counters 8 GiB.
    """
    check_board(rows, cols, convention, MAX_CELLS if start is None else 62)
    start = full_board(rows, cols) if start is None else start
    if start <= 0 or start & ~full_board(rows, cols):
        raise ValueError(f"start={start:#x} is not allowed; it must be a mask of cells of the {rows}x{cols} board")
    cells = start.bit_count()
    if cells > MAX_CELLS:
        raise ValueError(f"start={start:#x} has {cells} counters; a table takes at most {MAX_CELLS}")
    if memory is not None and table_bytes(cells) > memory:
        raise MemoryError(
            f"the table of {cells} counters takes {table_bytes(cells) / 2**20:,.0f} MiB, allowed are "
            f"{memory / 2**20:,.0f} MiB; raise the memory cap or use the proof search"
        )
    began = time.perf_counter()
    words = 1 << max(min(cells, BLOCK) - WORD, 0)
    blocks = 1 << max(cells - BLOCK, 0)
    here = [_compressed(run, start) for run in run_masks(rows, cols) if run & start == run]
    parts = [(run >> BLOCK, run >> WORD & 63, run & 63) for run in here]
    in_word = np.array([_containing(low) for low in range(64)], dtype=np.uint64)
    outer = sorted(part for part in parts if part[0])
    outer_masks = np.zeros((len(outer), words), dtype=np.uint64)
    for k, (_, w, low) in enumerate(outer):
        outer_masks[k, [j for j in range(words) if j & w == w]] = in_word[low]
    inner = [[(j ^ w, low) for h, w, low in parts if not h and w and j & w == w] for j in range(words)]
    predecessors = np.zeros(64, dtype=np.uint64)
    for p in range(64):
        for h, w, low in parts:
            if not h and not w and not p & low:
                predecessors[p] |= np.uint64(1 << (p | low))
    lost = np.zeros(blocks * words, dtype=np.uint64)
    arguments = (
        words,
        np.uint64((1 << (1 << min(cells, WORD))) - 1),
        convention == "misere",
        np.array(outer, dtype=np.int64).reshape(-1, 3),
        outer_masks,
        np.cumsum([0] + [len(entries) for entries in inner]),
        np.array([entry for entries in inner for entry in entries], dtype=np.int64).reshape(-1, 2),
        in_word,
        predecessors,
        np.zeros(words, dtype=np.uint64),
    )
    step = max(blocks >> 8, 1 << 10)
    for first in range(0, blocks, step):
        _fill(lost, first, min(first + step, blocks), *arguments)
        if progress is not None:
            progress(min(first + step, blocks) / blocks)
    return Table(rows, cols, convention, start, lost, time.perf_counter() - began)


def _containing(low: int) -> int:
    """The positions of a word that have all of these lowest cells."""
    positions = (1 << 64) - 1
    for cell in range(WORD):
        if low >> cell & 1:
            positions &= int(_CELL[cell])
    return positions
