"""All positions of a small board, up to what play can tell apart: their misere canonical forms.

A *class* is a canonical position (``polyomino``). Two positions are *equal* if, whatever further groups X lie beside
them, the player to move wins either both or neither. Two rules find equal positions:

1. Positions whose options (the positions that one move leads to) are equal, as sets, are equal. By induction on X.
2. Let G have every option of H and further ones, each of which has an option equal to H; if H is empty, let G by
   itself be won for the player to move. Then G equals H. By induction on X:

   * H + X is empty: it is won, and so is G by assumption.
   * H + X is won otherwise: by a move in H, which G has too, or by one to a lost H + X', where G + X' is lost by
     induction. So G + X is won.
   * H + X is lost: after a further option of G the opponent moves on to H + X and wins. Every other move has its
     like from H + X and leads to a won position. So G + X is lost.

This is the canonical form of misere impartial games (Conway, On Numbers and Games, ch. 12; Winning Ways, ch. 13). A
*form* is what all equal classes have in common, as the set of its options' forms: 3x7 has 2,097,152 positions, 72,537
classes and 50,848 forms. Nothing else is merged: that two groups behave alike among *tame* groups (of the same
genus) does not make them equal, and decides only some 3 % of the positions that a search meets.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numba import types

from agents.tac_tix.bits import count_bits
from agents.tac_tix.polyomino import MASKS, MAX_GROUPS, SIDE, add_groups, decode, encode, runs_of
from envs.kernels import kernel

MAX_PART_CELLS = 24
_KEYS = types.Array(types.uint64, 2, "C")
_INTS = types.Array(types.int64, 1, "C")
_IDS = types.Array(types.int32, 1, "C")
_FLAGS = types.Array(types.bool_, 1, "C")
_MOST_OPTIONS = 512
_NONE = np.uint64(0)
_A, _B = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_29, _32 = np.uint64(29), np.uint64(32)


@kernel(types.int64(_KEYS, types.uint64, types.uint64))
def slot_of(index, key0, key1):
    """Where a key is in ``index`` uint64[2**k, 3] (key, then what is kept of it + 1), or the free place for it."""
    x = (key0 ^ (key1 * _A)) * _B
    x ^= x >> _29
    x *= _A
    x ^= x >> _32
    last = index.shape[0] - 1
    at = np.int64(x & np.uint64(last))
    while index[at, 2] != _NONE and (index[at, 0] != key0 or index[at, 1] != key1):
        at = (at + 1) & last
    return at


@kernel(types.void(_KEYS, _KEYS, types.int64))
def enter(index, keys, first):
    """Number the keys first, first + 1, ... in an index that has room for them."""
    for number in range(first, keys.shape[0]):
        at = slot_of(index, keys[number, 0], keys[number, 1])
        index[at, 0] = keys[number, 0]
        index[at, 1] = keys[number, 1]
        index[at, 2] = np.uint64(number + 1)


@kernel(types.int64(types.int64, types.int64, types.int64, types.int64, _KEYS, MASKS))
def _find_classes(rows, cols, first, last, index, cache):
    """Enter the classes of the masks first .. last - 1 with their counters; returns how many, or -1 - a mask whose
    key does not fit."""
    groups = np.empty(64, dtype=np.uint64)
    key = np.empty(2, dtype=np.uint64)
    found = 0
    for mask in range(first, last):
        wide = np.uint64(0)
        for r in range(rows):
            wide |= np.uint64((mask >> (r * cols)) & ((1 << cols) - 1)) << np.uint64(8 * r)
        count = add_groups(groups, 0, wide, cache)
        if not encode(groups, count, key):
            return -1 - mask
        at = slot_of(index, key[0], key[1])
        if index[at, 2] == _NONE:
            counters = 0
            for i in range(count):
                counters += count_bits(groups[i])
            index[at, 0] = key[0]
            index[at, 1] = key[1]
            index[at, 2] = np.uint64(counters + 1)
            found += 1
    return found


@kernel(types.int64(_KEYS, _KEYS, MASKS, _INTS, _IDS))
def _find_options(keys, index, cache, starts, out):
    """Write the classes that each class has as options; returns how many (only counted if ``out`` is empty)."""
    groups = np.empty(64, dtype=np.uint64)
    child = np.empty(64, dtype=np.uint64)
    runs = np.empty(512, dtype=np.uint64)
    key = np.empty(2, dtype=np.uint64)
    found = np.empty(_MOST_OPTIONS, dtype=np.int64)
    total = 0
    for number in range(keys.shape[0]):
        count = decode(keys[number, 0], keys[number, 1], groups)
        options = 0
        for i in range(count):
            if i > 0 and groups[i] == groups[i - 1]:
                continue
            for k in range(runs_of(groups[i], runs)):
                n = 0
                for j in range(count):
                    if j != i:
                        child[n] = groups[j]
                        n += 1
                n = add_groups(child, n, groups[i] ^ runs[k], cache)
                encode(child, n, key)
                found[options] = np.int64(index[slot_of(index, key[0], key[1]), 2]) - 1
                options += 1
        previous = np.int64(-1)
        for option in np.sort(found[:options]):
            if option != previous:
                if out.size:
                    out[total] = option
                total += 1
                previous = option
        starts[number + 1] = total
    return total


@kernel(types.boolean(_IDS, types.int64, types.int64, types.int64))
def _has(options, low, high, wanted):
    """Whether the ascending ``options[low:high]`` hold ``wanted``."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if options[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low < end and options[low] == wanted


@kernel(types.int64(_INTS, _IDS, _IDS, _INTS, _IDS, _FLAGS, _IDS))
def _find_forms(starts, options, form, form_starts, form_options, lost, index):
    """Number the forms of all classes, the fewest counters first, by the two rules; returns how many forms there are.

    ``form`` [classes]; ``form_starts``, ``form_options`` options of each form, ascending; ``lost`` [forms] whether the
    player to move loses; ``index`` [power of 2] hash table of forms by their options, -1 where free.
    """
    here = np.empty(_MOST_OPTIONS, dtype=np.int32)
    forms = 0
    for number in range(form.size):
        count = 0
        for i in range(starts[number], starts[number + 1]):
            here[count] = form[options[i]]
            count += 1
        ordered = np.sort(here[:count])
        size = 0
        for i in range(count):
            if i == 0 or ordered[i] != ordered[i - 1]:
                ordered[size] = ordered[i]
                size += 1
        digest, won = np.uint64(size), size == 0
        for i in range(size):
            digest = (digest ^ np.uint64(ordered[i])) * _A
            digest ^= digest >> _29
            won = won or lost[ordered[i]]
        found = -1
        at = np.int64(digest & np.uint64(index.size - 1))
        while index[at] >= 0:  # the same options: rule 1
            other = index[at]
            if form_starts[other + 1] - form_starts[other] == size:
                same = True
                for i in range(size):
                    if form_options[form_starts[other] + i] != ordered[i]:
                        same = False
                        break
                if same:
                    found = other
                    break
            at = (at + 1) & (index.size - 1)
        if found < 0 and size > 0:  # rule 2: H is older than all its further options, so the newest option has it
            newest = ordered[size - 1]
            for c in range(form_starts[newest], form_starts[newest + 1]):
                smaller = form_options[c]
                k, end = form_starts[smaller], form_starts[smaller + 1]
                if end - k > size or (k == end and not won):
                    continue
                fits = True
                for i in range(size):
                    option = ordered[i]
                    if k < end and form_options[k] == option:
                        k += 1
                    elif not _has(form_options, form_starts[option], form_starts[option + 1], smaller):
                        fits = False
                        break
                if fits and k == end:
                    found = smaller
                    break
        if found < 0:
            found = forms
            forms += 1
            end = form_starts[found]
            for i in range(size):
                form_options[end + i] = ordered[i]
            form_starts[found + 1] = end + size
            lost[found] = not won
            index[at] = found
        form[number] = found
    return forms


@dataclass(frozen=True)
class Part:
    """The positions of a rows x cols board. Classes and forms are numbered, options have smaller numbers.

    ``keys`` uint64[classes, 2] (``polyomino.encode``); ``options[starts[c]:starts[c + 1]]`` the options of class c;
    ``form`` int32[classes] its form; ``form_options``, ``form_starts`` the same of forms; ``lost`` bool[forms];
    ``index`` the classes by their keys (``slot_of``); ``seconds`` it took.
    """

    rows: int
    cols: int
    keys: np.ndarray
    starts: np.ndarray
    options: np.ndarray
    form: np.ndarray
    form_starts: np.ndarray
    form_options: np.ndarray
    lost: np.ndarray
    index: np.ndarray
    seconds: float

    def class_of(self, mask: int) -> int:
        """The class of a row-major mask of the board."""
        groups, key = np.zeros(MAX_GROUPS, dtype=np.uint64), np.zeros(2, dtype=np.uint64)
        wide = sum(((mask >> r * self.cols) & ((1 << self.cols) - 1)) << 8 * r for r in range(self.rows))
        encode(groups, add_groups(groups, 0, np.uint64(wide), np.zeros(2 << 4, dtype=np.uint64)), key)
        return int(self.index[slot_of(self.index, key[0], key[1]), 2]) - 1


def build_part(rows: int, cols: int) -> Part:
    """Classes and forms of all positions of a board of at most 24 cells and sides of at most 8.

    21 cells take seconds and 0.1 GiB. ValueError if the board is too large.
    """
    cells = rows * cols
    if min(rows, cols) < 1 or max(rows, cols) > SIDE or cells > MAX_PART_CELLS:
        raise ValueError(
            f"a {rows}x{cols} part is not possible; its sides are 1 to {SIDE} and it has at most {MAX_PART_CELLS} cells"
        )
    began = time.perf_counter()
    cache = np.zeros(2 << 15, dtype=np.uint64)
    index = np.zeros((1 << max(cells - 2, 12), 3), dtype=np.uint64)
    found = _find_classes(rows, cols, 0, 1 << cells, index, cache)
    if found < 0:
        raise ValueError(f"position {-1 - found:#x} of a {rows}x{cols} part has no key of the search's length")
    entries = index[index[:, 2] != 0]
    entries = entries[np.argsort(entries[:, 2], kind="stable")]  # by counters: options come first
    keys = np.ascontiguousarray(entries[:, :2])
    enter(index, keys, 0)
    starts = np.zeros(found + 1, dtype=np.int64)
    options = np.empty(_find_options(keys, index, cache, starts, np.empty(0, dtype=np.int32)), dtype=np.int32)
    _find_options(keys, index, cache, starts, options)
    form = np.zeros(found, dtype=np.int32)
    form_starts = np.zeros(found + 1, dtype=np.int64)
    form_options = np.empty(len(options), dtype=np.int32)
    lost = np.zeros(found, dtype=np.bool_)
    table = np.full(1 << (2 * found).bit_length(), -1, dtype=np.int32)
    forms = _find_forms(starts, options, form, form_starts, form_options, lost, table)
    return Part(rows, cols, keys, starts, options, form, form_starts[: forms + 1].copy(),
                form_options[: form_starts[forms]].copy(), lost[:forms].copy(), index,
                time.perf_counter() - began)  # fmt: skip
