"""Proof search for misere Tac-Tix on boards too large for a table: depth first, with a table of exact results.

A position is a list of canonical connected groups (``polyomino``). What a position is worth is kept in a hash table
under its full key (118 bits: equal hashes of different positions cannot be mistaken). A position whose key does not
fit is searched whenever it is met. Replies that leave a position of paired or self-mirroring groups come first, then
those that leave few counters in many groups.

The search is one kernel whose whole state lies in arrays: it runs in slices, between which progress is shown, the
table grows and checkpoints are written. The table grows up to the memory cap. Then wins *at first look* (one move leads
to a position that the table knows as lost) are given up and no longer stored: nine of ten results are such, and finding
one again costs one expansion (4x8: 526 thousand results stored instead of 4.8 million, in 1.7 times the time). When
the table is full again, new results replace those in their neighbourhood that took the least work. A checkpoint is the
table: a resumed search starts at the root and finds everything solved before in it.
"""

from __future__ import annotations

import json
import os
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import types

from agents.tac_tix.bits import count_bits
from agents.tac_tix.polyomino import (
    KEY_BITS,
    MASKS,
    MAX_GROUPS,
    SIDE,
    add_groups,
    encode,
    is_symmetric,
    runs_of,
)
from agents.tac_tix.table import check_board, full_board
from envs.kernels import helper, kernel

FORMAT = "tac_tix results 1"
MAX_CELLS = 62
UNKNOWN, WON, LOST = 0, 1, 2  # for the player to move
RUNNING, SOLVED, FULL = 0, 1, 2  # what a slice of the search ends with
GROWING, FILLING, REPLACING = 0, 1, 2  # how a result is stored

_INTS = types.Array(types.int64, 1, "C")
_LEVELS = types.Array(types.int64, 2, "C")
KEYS = types.Array(types.uint64, 2, "C")
# Counters of a search.
LEVEL, NODES, STORED, REPLACED, UNSTORED, RESULT, MAY_GROW, SPARING = range(8)
# Fields of a level: its groups in the arena, its open children, the work done before it.
_AT, _COUNT, _NEXT, _CHILDREN, _TOP, _BEFORE, _KEPT = range(7)
_MOST_CHILDREN = 448  # runs of a 7x8 board: 420
_WINDOW = 16  # places a result may take away from its own, once the table is full
_FILL = 0.8  # of the table, before it grows
_MOST_FILL = 0.9
_FIRST_SIZE = 1 << 16  # entries
WORK_SHIFT = np.uint64(KEY_BITS - 64)
_WORK = np.uint64(255)
_LOW = np.uint64((1 << (KEY_BITS - 64)) - 1)
_EMPTY = np.uint64(0)
_33, _29, _31, _32 = (np.uint64(n) for n in (33, 29, 31, 32))
_A, _B = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)


@helper
def _home(key0, key1, size):
    """The place of a key in a table of ``size`` < 2**32 entries."""
    x = key0 ^ (key1 * _A)
    x ^= x >> _33
    x *= _A
    x ^= x >> _29
    x *= _B
    x ^= x >> _31
    return np.int64(((x >> _32) * np.uint64(size)) >> _32)


@kernel(types.int64(KEYS, types.uint64, types.uint64))
def find(table, key0, key1):
    """Where the entry of a key is, -1 if there is none.

    ``table`` uint64[size, 2]: the key's low word; its high word with log2 of the work in bits 54-61 and the value in
    bits 62-63. A value of 0 marks a free entry.
    """
    at = _home(key0, key1, table.shape[0])
    while table[at, 1] != _EMPTY:
        if table[at, 0] == key0 and table[at, 1] & _LOW == key1:
            return at
        at += 1
        if at == table.shape[0]:
            at = 0
    return -1


@kernel(types.int64(KEYS, types.uint64, types.uint64))
def look_up(table, key0, key1):
    """What the position of a key is worth, UNKNOWN if the table does not say."""
    at = find(table, key0, key1)
    return np.int64(table[at, 1] >> np.uint64(62)) if at >= 0 else 0


@kernel(types.int64(KEYS, types.uint64, types.uint64, types.int64))
def store(table, key0, key1, mode):
    """Put an entry, ``key1`` with work and value; 1 if a free place was taken, 0 if a result was given up.

    ``mode``: GROWING takes the first free place; FILLING too, but from its own place it looks no further than 16 and
    then replaces the result of the least work; REPLACING takes no free place, so that some are left and ``find``
    ends (where its own place is free the new result is dropped).
    """
    at = _home(key0, key1 & _LOW, table.shape[0])
    least, victim = np.uint64(1 << 62), np.int64(-1)
    for _ in range(table.shape[0] if mode == GROWING else _WINDOW):
        if table[at, 1] == _EMPTY:
            if mode == REPLACING:
                break
            table[at, 0] = key0
            table[at, 1] = key1
            return 1
        work = (table[at, 1] >> WORK_SHIFT) & np.uint64(255)
        if work < least:
            least, victim = work, at
        at += 1
        if at == table.shape[0]:
            at = 0
    if victim >= 0:
        table[victim, 0] = key0
        table[victim, 1] = key1
    return 0


@kernel(types.void(KEYS, KEYS))
def _rehash(old, new):
    for at in range(old.shape[0]):
        if old[at, 1] != _EMPTY:
            store(new, old[at, 0], old[at, 1], GROWING)


@kernel(types.int64(KEYS, MASKS, MASKS, _LEVELS, KEYS, _LEVELS, _INTS, types.int64))
def _search(table, cache, arena, levels, level_keys, children, counters, budget):
    """Run until ``budget`` positions are expanded, the table is full, or the root is solved; see ``Search``.

    ``arena`` holds the groups of the positions on the current line and of their open children; ``levels`` [64, 7];
    ``level_keys`` [64, 2]; ``children`` [64 * 448, 3] (order, first group in the arena, number of groups).
    """
    runs = np.empty(512, dtype=np.uint64)
    key = np.empty(2, dtype=np.uint64)
    limit = counters[NODES] + budget
    level = counters[LEVEL]
    capacity, most = np.int64(table.shape[0] * _FILL), np.int64(table.shape[0] * _MOST_FILL)
    above = 0  # what the last result says about the position above it
    while True:
        here = levels[level]
        value, above = above, 0
        if value == 0 and here[_CHILDREN] < 0:  # not expanded yet
            if counters[NODES] >= limit:
                counters[LEVEL] = level
                return RUNNING
            if counters[STORED] >= capacity and counters[MAY_GROW]:
                counters[LEVEL] = level
                return FULL
            here[_BEFORE] = counters[NODES]
            counters[NODES] += 1
            at, count, top = here[_AT], here[_COUNT], here[_AT] + here[_COUNT]
            first = level * _MOST_CHILDREN
            open_children = 0
            for i in range(count):
                if i > 0 and arena[at + i] == arena[at + i - 1]:
                    continue  # the same group again
                group = arena[at + i]
                for k in range(runs_of(group, runs)):
                    child = arena[top:]
                    n = 0
                    for j in range(count):
                        if j != i:
                            child[n] = arena[at + j]
                            n += 1
                    n = add_groups(child, n, group ^ runs[k], cache)
                    if n == 0:
                        continue  # won by whoever faces the empty board
                    known = look_up(table, key[0], key[1]) if encode(child, n, key) else 0
                    if known == LOST:
                        value = WON
                        break
                    if known == WON:
                        continue
                    order = (0 if is_symmetric(child, n) else 1 << 10) - 3 * n
                    for j in range(n):
                        order += count_bits(child[j])
                    j = first + open_children
                    while j > first and children[j - 1, 0] > order:
                        children[j, 0], children[j, 1], children[j, 2] = (
                            children[j - 1, 0], children[j - 1, 1], children[j - 1, 2])  # fmt: skip
                        j -= 1
                    children[j, 0], children[j, 1], children[j, 2] = order, top, n
                    open_children += 1
                    top += n
                if value:
                    break
            here[_CHILDREN] = open_children
            here[_NEXT] = 0
            here[_TOP] = top
        while value == 0 and here[_NEXT] < here[_CHILDREN]:
            k = level * _MOST_CHILDREN + here[_NEXT]
            at, count = children[k, 1], children[k, 2]
            groups = arena[at:]
            kept = encode(groups, count, key)
            known = look_up(table, key[0], key[1]) if kept else 0  # it may have been solved below a sibling
            if known == LOST:
                value = WON
            elif known == WON:
                here[_NEXT] += 1
            else:
                break
        if value == 0 and here[_NEXT] < here[_CHILDREN]:
            below = levels[level + 1]
            below[_AT] = here[_TOP]
            below[_COUNT] = count
            for j in range(count):
                arena[here[_TOP] + j] = groups[j]
            below[_CHILDREN] = -1
            below[_KEPT] = kept
            level_keys[level + 1, 0] = key[0]
            level_keys[level + 1, 1] = key[1]
            level += 1
            continue
        if value == 0:
            value = LOST
        if counters[SPARING] and value == WON and counters[NODES] - here[_BEFORE] == 1:
            counters[UNSTORED] += 1  # at first look
        elif here[_KEPT]:
            work = np.int64(0)
            while (counters[NODES] - here[_BEFORE]) >> (work + 1):
                work += 1
            entry = level_keys[level, 1] | (np.uint64(work) << WORK_SHIFT) | (np.uint64(value) << np.uint64(62))
            mode = FILLING if counters[STORED] < most else REPLACING
            if counters[MAY_GROW] or counters[STORED] < capacity:
                mode = GROWING
            if store(table, level_keys[level, 0], entry, mode):
                counters[STORED] += 1
            else:
                counters[REPLACED] += 1
        else:
            counters[UNSTORED] += 1
        if level == 0:
            counters[RESULT] = value
            counters[LEVEL] = 0
            return SOLVED
        level -= 1
        if value == LOST:
            above = WON
        else:
            levels[level, _NEXT] += 1


@dataclass(frozen=True)
class Progress:
    """How far a search is: positions expanded and in the table, the table's size, replaced results, seconds."""

    positions: int
    stored: int
    size: int
    replaced: int
    seconds: float


class Search:
    """Solves misere positions of one board size; results are kept from one position to the next.

    ``memory`` (bytes) bounds the table of results, 16 bytes each, the old table included while it grows. Both sides
    of the board are at most 8, its cells at most 62. ``table`` uint64[size, 2], see ``find``.
    """

    def __init__(self, rows: int, cols: int, memory: float = 4 * 2**30) -> None:
        check_board(rows, cols, "misere", MAX_CELLS)
        if max(rows, cols) > SIDE:
            raise ValueError(f"a {rows}x{cols} board is too long; sides are at most {SIDE} in the proof search")
        self.rows, self.cols = rows, cols
        self._most = min(int(memory // 16), 2**32 - 1)
        if self._most < _FIRST_SIZE:
            raise ValueError(f"memory={memory:,.0f} bytes is not enough; at least {16 * _FIRST_SIZE:,} are needed")
        self.table = np.zeros((_FIRST_SIZE, 2), dtype=np.uint64)
        self.cache = np.zeros(2 << 15, dtype=np.uint64)
        self._arena = np.zeros(1 << 20, dtype=np.uint64)
        self._levels = np.zeros((64, 7), dtype=np.int64)
        self._level_keys = np.zeros((64, 2), dtype=np.uint64)
        self._children = np.zeros((64 * _MOST_CHILDREN, 3), dtype=np.int64)
        self.counters = np.zeros(8, dtype=np.int64)
        self.counters[MAY_GROW] = 1
        self.seconds = 0.0

    def groups(self, mask: int) -> np.ndarray:
        """The canonical groups (uint64) of a row-major mask of the board."""
        wide = sum(((mask >> r * self.cols) & ((1 << self.cols) - 1)) << 8 * r for r in range(self.rows))
        out = np.zeros(MAX_GROUPS, dtype=np.uint64)
        return out[: add_groups(out, 0, np.uint64(wide), self.cache)]

    def solve(
        self,
        mask: int | None = None,
        progress: Callable[[Progress], None] | None = None,
        checkpoint: Path | None = None,
        checkpoint_seconds: float = 300.0,
        seconds: float | None = None,
        slice_positions: int = 100_000,
    ) -> int | None:
        """WON or LOST for the player to move (full board unless ``mask`` is given); None if ``seconds`` ran out.

        ``progress`` is called after every slice of ``slice_positions`` positions (a fraction of a second). The file
        ``checkpoint`` is written every ``checkpoint_seconds``, when time runs out, and on Ctrl-C.
        """
        mask = full_board(self.rows, self.cols) if mask is None else mask
        groups = self.groups(mask)
        if groups.size == 0:
            return WON
        key = np.zeros(2, dtype=np.uint64)
        kept = encode(groups, groups.size, key)
        self._arena[: groups.size] = groups
        self._levels[0] = (0, groups.size, 0, -1, 0, 0, kept)
        self._level_keys[0] = key
        self.counters[LEVEL] = 0
        if kept and (known := look_up(self.table, key[0], key[1])):
            return int(known)
        began = saved = time.perf_counter()
        before = self.seconds
        try:
            while True:
                status = _search(self.table, self.cache, self._arena, self._levels, self._level_keys, self._children,
                                 self.counters, slice_positions)  # fmt: skip
                now = time.perf_counter()
                self.seconds = before + now - began
                if status == FULL:
                    self._grow()
                if progress is not None:
                    progress(self.progress())
                if status == SOLVED:
                    return int(self.counters[RESULT])
                if seconds is not None and now - began > seconds:
                    if checkpoint is not None:
                        self.save(checkpoint)
                    return None
                if checkpoint is not None and now - saved > checkpoint_seconds:
                    self.save(checkpoint)
                    saved = time.perf_counter()
        except KeyboardInterrupt:  # arrives between two slices
            if checkpoint is not None:
                self.save(checkpoint)
            raise

    def progress(self) -> Progress:
        c = self.counters
        return Progress(int(c[NODES]), int(c[STORED]), len(self.table), int(c[REPLACED]), self.seconds)

    def _grow(self) -> None:
        size = len(self.table)
        larger = min(2 * size, self._most - size, 2**32 - 1)
        if larger < 1.25 * size:
            if self.counters[SPARING]:
                self.counters[MAY_GROW] = 0
            else:
                self._spare()
            return
        table = np.zeros((larger, 2), dtype=np.uint64)
        _rehash(self.table, table)
        self.table = table

    def _spare(self) -> None:
        """Give up the wins at first look, and store no more of them."""
        kept = self.table[(self.table[:, 1] >> np.uint64(62) == LOST) | (self.table[:, 1] >> WORK_SHIFT & _WORK > 0)]
        self.table[:] = 0
        _rehash(kept, self.table)
        self.counters[STORED], self.counters[SPARING] = len(kept), 1

    def value_of(self, mask: int) -> int:
        """What the table says of a position: WON, LOST or UNKNOWN."""
        groups, key = self.groups(mask), np.zeros(2, dtype=np.uint64)
        if groups.size == 0:
            return WON
        return int(look_up(self.table, key[0], key[1])) if encode(groups, groups.size, key) else UNKNOWN

    def keys(self, value: int) -> np.ndarray:
        """Keys of all stored positions of a value: uint64[n, 2]."""
        found = self.table[(self.table[:, 1] >> np.uint64(62)) == np.uint64(value)]
        found[:, 1] &= _LOW
        return found

    def save(self, path: Path) -> None:
        """Write the results to an .npz file, whole or not at all (the old file stays until the new one is there)."""
        header = {"format": FORMAT, "rows": self.rows, "cols": self.cols, "seconds": self.seconds,
                  "counters": self.counters.tolist()}  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".partial")
        with open(partial, "wb") as file:
            np.savez(file, header=np.array(json.dumps(header)), entries=self.table[self.table[:, 1] != 0])
        os.replace(partial, path)

    def load(self, path: Path) -> None:
        """Take over the results of a checkpoint of the same board; ValueError if it is none."""
        try:
            with np.load(path, allow_pickle=False) as file:
                header = json.loads(str(file["header"]))
                entries = np.ascontiguousarray(file["entries"])
        except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path} is no checkpoint of a proof search: {error}") from None
        board = [header.get(name) for name in ("format", "rows", "cols")]
        if board != [FORMAT, self.rows, self.cols] or entries.dtype != np.uint64 or entries.shape[1:] != (2,):
            raise ValueError(
                f"{path} is a checkpoint of {board}, not of [{FORMAT!r}, {self.rows}, {self.cols}]; "
                "name another checkpoint"
            )
        while len(self.table) * _FILL < len(entries) and not self.counters[SPARING]:
            self._grow()
        room = int(len(self.table) * _FILL)
        if room < len(entries):  # less memory than before: keep what took the most work
            entries = entries[np.argsort(entries[:, 1] << np.uint64(2) >> np.uint64(56), kind="stable")[::-1]]
        fits = np.ascontiguousarray(entries[:room])
        _rehash(fits, self.table)
        self.counters[NODES], self.counters[STORED] = header["counters"][NODES], len(fits)
        self.seconds = header["seconds"]
