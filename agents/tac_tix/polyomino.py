"""Connected groups of counters (polyominoes) as 64-bit masks, and positions as lists of them.

The cell in row r, column c of a polyomino is bit ``8 * r + c``; pushed into the corner (row 0 and column 0 in use)
it is *normalised*, and the smallest normalised mask of its 8 rotations and reflections is its *canonical* form. A
run never crosses a hole, so a position is worth what its connected groups are worth together, wherever they lie:
the *canonical position* is the list of canonical groups in descending order.

Pairs of single counters are left out. That loses nothing, also in misere play: for every position G, the player to
move wins G + 1 + 1 (two isolated counters more) exactly if he wins G. By induction on the counters of G:

* G empty: he wins G. In 1 + 1 he takes one counter and the opponent has to take the last.
* G won and not empty: some move leads to a lost G'. The same move leads from G + 1 + 1 to G' + 1 + 1, lost by
  induction. So G + 1 + 1 is won.
* G lost (hence not empty): a move in G leads to a won G', and G' + 1 + 1 is won by induction; a move in 1 + 1 leads
  to G + 1, where the opponent takes the other counter and leaves the lost G. So G + 1 + 1 is lost.

Nothing of the kind holds for two equal groups of more counters: two rows of two are lost, the empty board is won.
"""

from __future__ import annotations

import numpy as np
from numba import types

from agents.tac_tix.bits import highest, lowest
from envs.kernels import helper, kernel

SIDE = 8  # longest side of a board
KEY_BITS = 118  # of a key; the ten bits left of its two words belong to the table of results
MAX_GROUPS = 32
MASKS = types.Array(types.uint64, 1, "C")

_1, _2, _3, _4, _6, _7, _8, _9 = (np.uint64(n) for n in (1, 2, 3, 4, 6, 7, 8, 9))
_14, _16, _28, _32, _56, _64, _255 = (np.uint64(n) for n in (14, 16, 28, 32, 56, 64, 255))
_NOT_LAST = np.uint64(0x7F7F7F7F7F7F7F7F)
_NOT_FIRST = np.uint64(0xFEFEFEFEFEFEFEFE)
_ODD, _PAIR, _NIBBLE = (np.uint64(n) for n in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F))
_BYTE, _SHORT = (np.uint64(n) for n in (0x00FF00FF00FF00FF, 0x0000FFFF0000FFFF))
_T7, _T14, _T28 = (np.uint64(n) for n in (0x00AA00AA00AA00AA, 0x0000CCCC0000CCCC, 0x00000000F0F0F0F0))
_MIX = np.uint64(0x9E3779B97F4A7C15)


@helper
def neighbours(mask):
    """The cells of a mask and those beside them."""
    return mask | (mask << _8) | (mask >> _8) | ((mask & _NOT_LAST) << _1) | ((mask & _NOT_FIRST) >> _1)


@helper
def group_of(mask, seed):
    """The connected group of ``mask`` that contains the cell ``seed``."""
    group = seed
    while True:
        larger = neighbours(group) & mask
        if larger == group:
            return group
        group = larger


@helper
def columns_of(mask):
    """Which columns a mask uses, as 8 bits."""
    mask |= mask >> _32
    mask |= mask >> _16
    mask |= mask >> _8
    return mask & _255


@helper
def normalised(mask):
    mask >>= np.uint64(lowest(mask)) & _56
    return mask >> np.uint64(lowest(columns_of(mask)))


@helper
def flip_rows(x):
    x = ((x >> _8) & _BYTE) | ((x & _BYTE) << _8)
    x = ((x >> _16) & _SHORT) | ((x & _SHORT) << _16)
    return (x >> _32) | (x << _32)


@helper
def flip_columns(x):
    x = ((x >> _1) & _ODD) | ((x & _ODD) << _1)
    x = ((x >> _2) & _PAIR) | ((x & _PAIR) << _2)
    return ((x >> _4) & _NIBBLE) | ((x & _NIBBLE) << _4)


@helper
def transpose(x):
    t = (x ^ (x >> _7)) & _T7
    x ^= t ^ (t << _7)
    t = (x ^ (x >> _14)) & _T14
    x ^= t ^ (t << _14)
    t = (x ^ (x >> _28)) & _T28
    return x ^ t ^ (t << _28)


@kernel(types.uint64(types.uint64))
def canonical(mask):
    """The canonical form of a polyomino, in about 150 instructions."""
    best = ~np.uint64(0)
    for turned in range(2):
        x = transpose(mask) if turned else mask
        for reflected in range(2):
            if reflected:
                x = flip_columns(x)
            best = min(best, normalised(x), normalised(flip_rows(x)))
    return best


@kernel(types.uint64(types.uint64, MASKS))
def cached_canonical(mask, cache):
    """``canonical(mask)`` of a normalised mask; ``cache``: uint64[2 * size], pairs (mask, form), size 2**k."""
    size = np.uint64(cache.size >> 1)
    slot = np.int64(((mask * _MIX) >> _32) & (size - _1)) * 2
    if cache[slot] != mask:
        cache[slot + 1] = canonical(mask)
        cache[slot] = mask
    return cache[slot + 1]


@helper
def height(mask):
    """Rows of a normalised mask."""
    return (highest(mask) >> 3) + 1


@helper
def width(mask):
    """Columns of a normalised mask."""
    return highest(columns_of(mask)) + 1


@kernel(types.boolean(types.uint64))
def mirrors_itself(mask):
    """Whether a half-turn maps a canonical polyomino onto itself and no run of it onto a run that meets it.

    Then every move can be answered by its image, which is another run of the polyomino.
    """
    if normalised(flip_rows(flip_columns(mask))) != mask:
        return False
    rows, columns = height(mask), width(mask)
    if rows % 2 == 0 and columns % 2 == 0:
        return True
    return (mask >> np.uint64((rows - 1) // 2 * 8 + (columns - 1) // 2)) & _1 == np.uint64(0)


@kernel(types.boolean(MASKS, types.int64))
def is_symmetric(groups, count):
    """Whether the groups of a canonical position are equal in pairs or mirror themselves (``mirrors_itself``)."""
    i = 0
    while i < count:
        if i + 1 < count and groups[i + 1] == groups[i]:
            i += 2
        elif mirrors_itself(groups[i]):
            i += 1
        else:
            return False
    return True


@kernel(types.int64(MASKS, types.int64, types.uint64, MASKS))
def add_groups(groups, count, mask, cache):
    """Append the canonical groups of ``mask`` to a canonical position of ``count`` groups; returns the new count.

    Keeps the descending order and cancels pairs of single counters (a single counter is 1, the smallest mask).
    """
    while mask:
        group = group_of(mask, mask & (~mask + _1))
        mask ^= group
        form = cached_canonical(normalised(group), cache)
        if form == _1 and count > 0 and groups[count - 1] == _1:
            count -= 1
            continue
        i = count
        while i > 0 and groups[i - 1] < form:
            groups[i] = groups[i - 1]
            i -= 1
        groups[i] = form
        count += 1
    return count


@kernel(types.boolean(MASKS, types.int64, MASKS))
def encode(groups, count, key):
    """Write the exact key of a canonical position: uint64[2], at most 118 bits. False where it does not fit.

    From the lowest bit: 4 bits number of groups; for each group 3 bits rows - 1, 3 bits columns - 1, then its
    bounding box row by row, one bit a cell.
    """
    key[0] = np.uint64(count)
    key[1] = np.uint64(0)
    if count > 15:
        return False
    at = np.uint64(4)
    for i in range(count):
        mask = groups[i]
        rows, columns = height(mask), width(mask)
        value = np.uint64(rows - 1) | (np.uint64(columns - 1) << _3)
        place = _6
        while mask:
            value |= (mask & _255) << place
            mask >>= _8
            place += np.uint64(columns)
        place = np.uint64(6 + rows * columns)
        if at + place > np.uint64(KEY_BITS):
            return False
        if at >= _64:
            key[1] |= value << (at - _64)
        else:
            key[0] |= value << at
            if at + place > _64:
                key[1] |= value >> (_64 - at)
        at += place
    return True


@helper
def _take(key0, key1, at, count):
    """Bits at .. at + count - 1 of a key, count <= 8."""
    if at >= _64:
        value = key1 >> (at - _64)
    else:
        value = key0 >> at
        if at + count > _64:
            value |= key1 << (_64 - at)
    return value & ((_1 << count) - _1)


@kernel(types.int64(types.uint64, types.uint64, MASKS))
def decode(key0, key1, groups):
    """Write the groups of a key; returns how many. The inverse of ``encode``."""
    count = np.int64(key0 & np.uint64(15))
    at = _4
    for i in range(count):
        value = _take(key0, key1, at, _6)
        rows, columns = np.int64(value & _7) + 1, np.int64(value >> _3) + 1
        at += _6
        groups[i] = np.uint64(0)
        for r in range(rows):
            groups[i] |= _take(key0, key1, at, np.uint64(columns)) << np.uint64(8 * r)
            at += np.uint64(columns)
    return count


@kernel(types.int64(types.uint64, MASKS))
def runs_of(mask, out):
    """Write all runs of a polyomino; returns how many."""
    count = 0
    starts = mask
    while starts:
        start = starts & (~starts + _1)
        starts ^= start
        out[count] = start
        count += 1
        run, end = start, start
        while True:
            end = (end & _NOT_LAST) << _1
            if end & mask == np.uint64(0):
                break
            run |= end
            out[count] = run
            count += 1
        run, end = start, start
        while True:
            end <<= _8
            if end & mask == np.uint64(0):
                break
            run |= end
            out[count] = run
            count += 1
    return count
