"""Boards that fall into two equal halves after the whole central row or column has been taken (misere).

The halves no longer touch, so a position is a pair of positions of one half, and what it is worth depends on the
pair of their forms (``parts``) alone. A table with one bit for every pair of forms holds everything that can happen:
3x7 + 3x7 (the board 7x7 after its central row) has 2**42 positions and 50,848**2 pairs, 308 MiB.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import types

from agents.tac_tix.bits import count_bits, lowest
from agents.tac_tix.parts import MAX_PART_CELLS, Part, build_part, enter, slot_of
from agents.tac_tix.polyomino import MASKS, SIDE, decode, encode
from agents.tac_tix.proof import Proof
from agents.tac_tix.table import full_board, run_name
from envs.kernels import kernel

_KEYS = types.Array(types.uint64, 2, "C")
_INTS = types.Array(types.int64, 1, "C")
_IDS = types.Array(types.int32, 1, "C")
_PAIRS = types.Array(types.int32, 2, "C")
_1, _63 = np.uint64(1), np.uint64(63)
_29, _MIX = np.uint64(29), np.uint64(0x9E3779B97F4A7C15)


@kernel(types.void(_INTS, _IDS, _KEYS, types.int64, types.int64))
def _fill(starts, options, lost, first, last):
    """Fill rows first .. last - 1 of ``lost`` uint64[forms, words]: bit y of row x says that the pair x, y is lost."""
    forms, words = lost.shape
    won = np.empty(words, dtype=np.uint64)
    for x in range(first, last):
        row = lost[x]
        won[:] = np.uint64(0)
        for k in range(starts[x], starts[x + 1]):
            other = lost[options[k]]
            for j in range(words):
                won[j] |= other[j]
        if x == 0:
            won[0] |= _1  # who faces the empty board has won
        if forms & 63:
            won[words - 1] |= ~np.uint64(0) << np.uint64(forms & 63)
        for j in range(words):
            open_bits = ~won[j]
            while open_bits:
                bit = open_bits & (~open_bits + _1)
                open_bits ^= bit
                y = j * 64 + lowest(bit)
                loses = True
                for k in range(starts[y], starts[y + 1]):
                    z = options[k]
                    if (row[z >> 6] >> (np.uint64(z) & _63)) & _1:
                        loses = False
                        break
                if loses:
                    row[j] |= bit


@kernel(types.boolean(_KEYS, types.int64, types.int64))
def _is_lost(lost, x, y):
    return (lost[x, y >> 6] >> (np.uint64(y) & _63)) & _1 == _1


@kernel(types.boolean(_KEYS, types.int64, types.int64, MASKS, MASKS, MASKS))
def _pair_key(keys, a, b, groups, other, key):
    """Write the key of classes a and b side by side, of which at most one has a single counter.

    False where it does not fit. ``groups`` and ``other`` are scratch [64].
    """
    count = decode(keys[a, 0], keys[a, 1], groups)
    for j in range(decode(keys[b, 0], keys[b, 1], other)):
        form = other[j]
        i = count
        while i > 0 and groups[i - 1] < form:
            groups[i] = groups[i - 1]
            i -= 1
        groups[i] = form
        count += 1
    return encode(groups, count, key)


@kernel(types.void(_KEYS, _PAIRS, _KEYS, _INTS, MASKS, types.int64, types.int64, types.int64))
def _append(index, pairs, out, state, key, a, b, counters):
    """Enter a pair of classes with its key into the proof, as the first open one of its counters."""
    number = state[64]
    state[64] += 1
    out[number, 0] = key[0]
    out[number, 1] = key[1]
    at = slot_of(index, key[0], key[1])
    index[at, 0] = key[0]
    index[at, 1] = key[1]
    index[at, 2] = np.uint64(number + 1)
    pairs[number, 0] = a
    pairs[number, 1] = b
    pairs[number, 2] = state[counters]
    state[counters] = number


@kernel(types.void(_KEYS, _KEYS, _INTS, _INTS))
def _count_counters(keys, index, counters, without):
    """Write how many counters each class has, and which class it is without its single counter (-1: it has none)."""
    groups = np.empty(64, dtype=np.uint64)
    key = np.empty(2, dtype=np.uint64)
    for number in range(keys.shape[0]):
        count = decode(keys[number, 0], keys[number, 1], groups)
        counters[number] = 0
        for j in range(count):
            counters[number] += count_bits(groups[j])
        without[number] = -1
        if count > 0 and groups[count - 1] == _1:
            encode(groups, count - 1, key)
            without[number] = np.int64(index[slot_of(index, key[0], key[1]), 2]) - 1


@kernel(types.int64(_KEYS, _INTS, _IDS, _IDS, _INTS, _INTS, _KEYS, _KEYS, _KEYS, _PAIRS, _KEYS, _INTS,
                    types.int64))  # fmt: skip
def _collect(keys, starts, options, form, counters, without, lost, index, answered, pairs, out, state, budget):
    """Close a set of lost pairs of classes under replies: ``budget`` of them at most, those of most counters first.

    ``pairs`` int32[n, 3] holds the pairs with the number of the next one of as many counters (-1: none), ``out``
    uint64[n, 2] their keys and ``index`` [2**k, 3] their numbers. ``counters``, ``without`` [classes] see
    ``_count_counters``: a pair of single counters, one in each half, is left out of every pair, so that a reply to what
    remains is found. ``answered`` [2**k, 2] remembers positions that have a reply; ``state`` [65]: the first open pair
    by counters, then how many pairs there are. Returns how many positions have no reply whose key fits. Ends early
    where the arrays are nearly full.
    """
    groups = np.empty(64, dtype=np.uint64)
    other = np.empty(64, dtype=np.uint64)
    key = np.empty(2, dtype=np.uint64)
    moved = np.empty(2, dtype=np.int64)
    missing = 0
    most = np.int64(63)
    while budget > 0 and state[64] + 512 < pairs.shape[0] and 2 * (state[64] + 512) < index.shape[0]:
        while most >= 0 and state[most] < 0:
            most -= 1
        if most < 0:
            break
        above = pairs[state[most]]
        state[most] = above[2]
        budget -= 1
        for side in range(1 if above[0] == above[1] else 2):
            for k in range(starts[above[side]], starts[above[side] + 1]):
                moved[0], moved[1] = np.int64(options[k]), np.int64(above[1 - side])
                if without[moved[0]] >= 0 and without[moved[1]] >= 0:
                    moved[0], moved[1] = without[moved[0]], without[moved[1]]
                if moved[0] + moved[1] == 0:
                    continue  # the board is empty: who emptied it has lost
                if _pair_key(keys, moved[0], moved[1], groups, other, key):
                    slot = np.int64((key[0] ^ (key[0] >> _29) ^ (key[1] * _MIX)) & np.uint64(answered.shape[0] - 1))
                    if answered[slot, 0] == key[0] and answered[slot, 1] == key[1]:
                        continue
                    answered[slot, 0] = key[0]
                    answered[slot, 1] = key[1]
                best, stays, least = np.int64(-1), np.int64(-1), np.int64(1 << 62)
                found = False
                for half in range(2):
                    for q in range(starts[moved[half]], starts[moved[half] + 1]):
                        reply, rest = np.int64(options[q]), moved[1 - half]
                        if without[reply] >= 0 and without[rest] >= 0:
                            reply, rest = without[reply], without[rest]
                        if not _is_lost(lost, form[reply], form[rest]):
                            continue
                        if not _pair_key(keys, reply, rest, groups, other, key):
                            continue
                        if index[slot_of(index, key[0], key[1]), 2] != np.uint64(0):
                            found = True  # a position of the proof already
                            break
                        cost = counters[reply] + counters[rest] if reply != rest else np.int64(0)  # the mirror image
                        if cost < least:
                            best, stays, least = reply, rest, cost
                    if found:
                        break
                if found:
                    continue
                if best < 0:
                    missing += 1
                    continue
                _pair_key(keys, best, stays, groups, other, key)
                _append(index, pairs, out, state, key, best, stays, counters[best] + counters[stays])
    return missing


@dataclass(frozen=True)
class Halves:
    """Every pair of positions of one half. ``lost`` uint64[forms, words], bit y of row x: the pair x, y is lost.

    ``line`` is the mask of the central row or column of the rows x cols board, which lies empty.
    """

    rows: int
    cols: int
    line: int
    half: Part
    lost: np.ndarray
    seconds: float

    def _classes(self, mask: int) -> tuple[int, int]:
        """The classes of the two halves of a board mask."""
        rows, cols = self.half.rows, self.half.cols
        down, right = self.rows - rows, self.cols - cols  # where the second half begins
        down, right = (down, 0) if rows < self.rows else (0, right)
        parts = [sum((mask >> (r + i * down) * self.cols + i * right & (1 << cols) - 1) << r * cols
                     for r in range(rows)) for i in range(2)]  # fmt: skip
        return self.half.class_of(parts[0]), self.half.class_of(parts[1])

    def is_lost(self, mask: int) -> bool:
        """Whether the player to move loses a position of the board whose central line is empty."""
        if mask & self.line or mask & ~full_board(self.rows, self.cols):
            raise ValueError(f"mask {mask:#x} is no position of a {self.rows}x{self.cols} board with an empty line")
        x, y = (int(self.half.form[number]) for number in self._classes(mask))
        return bool(_is_lost(self.lost, x, y))

    def proof(self, memory: float = 4 * 2**30, progress: Callable[[int], None] | None = None) -> Proof:
        """The proof that taking the whole central line wins; ``progress(positions)`` is called now and then.

        ValueError if it does not win; MemoryError if the proof takes more than ``memory`` bytes.
        """
        start = full_board(self.rows, self.cols)
        if not self.is_lost(start ^ self.line):
            raise ValueError(f"the central line does not win on {self.rows}x{self.cols}, so there is no proof of it")
        half = self.half
        counters = np.zeros(len(half.keys), dtype=np.int64)
        without = np.zeros(len(half.keys), dtype=np.int64)
        _count_counters(half.keys, half.index, counters, without)
        size = 1 << 12
        pairs, out = np.zeros((size, 3), dtype=np.int32), np.zeros((size, 2), dtype=np.uint64)
        index, answered = np.zeros((2 * size, 3), dtype=np.uint64), np.zeros((1 << 20, 2), dtype=np.uint64)
        state = np.full(65, -1, dtype=np.int64)
        state[64] = 0
        scratch, key = np.zeros((2, 64), dtype=np.uint64), np.zeros(2, dtype=np.uint64)
        a, b = self._classes(start ^ self.line)
        if without[a] >= 0:
            a, b = without[a], without[b]
        _pair_key(half.keys, a, b, scratch[0], scratch[1], key)
        _append(index, pairs, out, state, key, a, b, counters[a] + counters[b])
        missing = 0
        while (state[:64] >= 0).any():
            if state[64] + 512 >= len(pairs) or 2 * (state[64] + 512) >= len(index):
                if 2 * (pairs.nbytes + out.nbytes + index.nbytes) > memory:
                    raise MemoryError(f"the proof has more than {state[64]:,} positions; raise the memory cap")
                pairs, out = np.concatenate([pairs, pairs]), np.concatenate([out, out])
                index = np.zeros((2 * len(index), 3), dtype=np.uint64)
                enter(index, out[: state[64]], 0)
            missing += _collect(half.keys, half.starts, half.options, half.form, counters, without, self.lost, index,
                                answered, pairs, out, state, 20_000)  # fmt: skip
            if progress is not None:
                progress(int(state[64]))
        moves = (run_name(self.line, self.cols),)
        return Proof(self.rows, self.cols, start, "first", moves, out[: state[64]].copy(), missing)


def central_lines(rows: int, cols: int) -> list[int]:
    """Masks of the whole central rows and columns that leave halves small enough; the smaller halves first."""
    lines = []
    if rows % 2 and rows > 1:
        lines.append((rows // 2 * cols, (rows // 2, cols), ((1 << cols) - 1) << rows // 2 * cols))
    if cols % 2 and cols > 1:
        lines.append((rows * (cols // 2), (rows, cols // 2), sum(1 << r * cols + cols // 2 for r in range(rows))))
    return [line for cells, sides, line in sorted(lines) if cells <= MAX_PART_CELLS and max(sides) <= SIDE]


def build_halves(
    rows: int,
    cols: int,
    line: int,
    memory: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Halves:
    """Solve every position after the whole central line of mask ``line`` (see ``central_lines``) has been taken.

    MemoryError if the table takes more than ``memory`` bytes; ``progress(fraction)`` is called now and then.
    """
    if line not in central_lines(rows, cols):
        raise ValueError(f"line={line:#x} is no central line of a {rows}x{cols} board that leaves two small halves")
    began = time.perf_counter()
    across = rows > 1 and (cols == 1 or line & (line >> 1) > 0)
    half = build_part(rows // 2, cols) if across else build_part(rows, cols // 2)
    forms = len(half.lost)
    size = 8 * forms * -(-forms // 64)
    if memory is not None and size > memory:
        raise MemoryError(
            f"the table of {forms:,} x {forms:,} pairs takes {size / 2**20:,.0f} MiB, allowed are "
            f"{memory / 2**20:,.0f} MiB; raise the memory cap"
        )
    lost = np.zeros((forms, -(-forms // 64)), dtype=np.uint64)
    step = max(1, forms // 200)
    for first in range(0, forms, step):
        last = min(first + step, forms)
        _fill(half.form_starts, half.form_options, lost, first, last)
        if progress is not None:
            progress(last / forms)
    return Halves(rows, cols, line, half, lost, time.perf_counter() - began)
