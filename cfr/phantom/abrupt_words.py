"""Ordered choices of cells, numbered: the coordinates of the abrupt engine.

A *word* over f cells is a sequence of different cells. Words of length s have ranks 0..f!/(f-s)!-1 in
lexicographic order: the rank of a word with one more cell is ``rank * (f - s) + (position of the cell among the
cells not used yet)``.

* An *order* is a word over the board: a player's own stones in the order he placed them. Only orders whose stones
  do not win are kept. They are numbered by their sets of stones first: all arrangements of one set are neighbours.
* The *free* cells of an order are the others, numbered 0.. in increasing order. The cells that a player has found
  (his *labels*) and the opponent's orders are words over them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from numba import types

from envs.kernels import helper, kernel

I8 = types.Array(types.int8, 1, "C")
I8_2D = types.Array(types.int8, 2, "C")
I32 = types.Array(types.int32, 1, "C")
I32_2D = types.Array(types.int32, 2, "C")
I64 = types.Array(types.int64, 1, "C")
FLAGS = types.Array(types.bool_, 1, "C")

WON = -2  # the stone completes the mover's line


@helper
def unrank(rank, f, s, word):
    """Write word ``rank`` of length s over f cells."""
    for i in range(s - 1, -1, -1):
        word[i] = rank % (f - i)
        rank //= f - i
    for i in range(s - 2, -1, -1):  # positions among the unused cells -> cells
        for k in range(i + 1, s):
            word[k] += word[i] <= word[k]


@helper
def rank_of(word, f, s):
    rank = 0
    for i in range(s):
        digit = word[i]
        for k in range(i):
            digit -= word[k] < word[i]
        rank = rank * (f - i) + digit
    return rank


@kernel(types.void(types.int64, types.int64, I32_2D))
def _all_words(f, s, out):
    word = np.empty(f + 1, dtype=np.int64)
    for rank in range(out.shape[0]):
        unrank(rank, f, s, word)
        for i in range(s):
            out[rank, i] = word[i]


def all_words(f: int, length: int) -> np.ndarray:
    """int32[words, length], by rank."""
    out = np.empty((math.perm(f, length), length), dtype=np.int32)
    _all_words(f, length, out)
    return out


def word_sets(f: int, length: int) -> np.ndarray:
    """int32: the cells of each word as a bit mask, by rank."""
    return (1 << all_words(f, length)).sum(axis=1, dtype=np.int32)


def word_rank(word: Sequence[int], cells: Sequence[int]) -> int:
    """Rank of a word over ``cells`` (increasing)."""
    left, rank = list(cells), 0
    for cell in word:
        rank = rank * len(left) + left.index(cell)
        left.remove(cell)
    return rank


@kernel(types.void(types.int64, types.int64, I64, I8_2D))
def _order_cells(n, s, ranks, cells):
    """``cells`` int8[orders, n]: the stones of every order followed by its free cells."""
    word = np.empty(n + 1, dtype=np.int64)
    for o in range(ranks.size):
        unrank(ranks[o], n, s, word)
        mask = 0
        for i in range(s):
            mask |= 1 << word[i]
            cells[o, i] = word[i]
        at = s
        for cell in range(n):
            if mask >> cell & 1 == 0:
                cells[o, at] = cell
                at += 1


@dataclasses.dataclass(frozen=True, eq=False)
class Orders:
    """The orders of ``length`` stones that do not win, for one player, or some of them.

    ``index`` int32: number of the order by its rank, or WON (also for those that are not among them); ``cells``
    int8[count, n]: the stones in order, then the free cells; ``stones`` int32[count]: bit mask.
    """

    n: int
    length: int
    index: np.ndarray
    cells: np.ndarray
    stones: np.ndarray

    @property
    def count(self) -> int:
        return self.stones.size

    @property
    def sets(self) -> np.ndarray:
        """int32: the different ``stones``, increasing."""
        return self.stones[:: math.factorial(self.length)]


def number_orders(n: int, length: int, wins: np.ndarray) -> Orders:
    """``wins`` bool[2**n]: the sets of stones that win."""
    stones = word_sets(n, length)
    ranks = np.flatnonzero(~wins[stones])
    ranks = ranks[np.argsort(stones[ranks], kind="stable")]
    index = np.full(stones.size, WON, dtype=np.int32)
    index[ranks] = np.arange(ranks.size, dtype=np.int32)
    cells = np.empty((ranks.size, n), dtype=np.int8)
    _order_cells(n, length, ranks, cells)
    return Orders(n, length, index, cells, stones[ranks])


def some_orders(orders: Orders, allowed: np.ndarray) -> Orders:
    """Those whose sets of stones are ``allowed`` (bool[2**n]), numbered among themselves."""
    kept = allowed[orders.stones]
    number = np.where(kept, np.cumsum(kept) - 1, WON)
    number = np.append(number, WON).astype(np.int32)  # the last is for WON itself
    index = number[np.where(orders.index < 0, orders.count, orders.index)]
    return Orders(orders.n, orders.length, index, orders.cells[kept], orders.stones[kept])


@kernel(types.void(types.int64, types.int64, types.int64, I8_2D, I32, I32))
def _placed(n, s, x, cells, longer, out):
    """See ``placements``."""
    f = n - s
    labels_count = 1
    for i in range(x):
        labels_count *= f - i
    word = np.empty(n, dtype=np.int64)
    order = np.empty(n, dtype=np.int64)
    fewer = np.empty(n, dtype=np.int64)
    used = np.empty(n, dtype=np.bool_)
    fewer_count = 1
    for i in range(x):
        fewer_count *= f - 1 - i
    at = 0
    for o in range(cells.shape[0]):
        for i in range(s):
            order[i] = cells[o, i]
        for label in range(labels_count):
            unrank(label, f, x, word)
            used[:] = False
            for i in range(x):
                used[word[i]] = True
            for cell in range(f):
                if used[cell]:
                    continue
                order[s] = cells[o, s + cell]
                child = longer[rank_of(order, n, s + 1)]
                if child >= 0:
                    for i in range(x):
                        fewer[i] = word[i] - (word[i] > cell)
                    out[at] = child * fewer_count + rank_of(fewer, f - 1, x)
                else:
                    out[at] = child
                at += 1


def placements(orders: Orders, longer: Orders, labels: int) -> np.ndarray:
    """Where a placement leads. A player's *place* is ``order * words + rank of his labels``; for each place and
    each cell he does not know, in increasing order: the place after putting a stone there, or WON. int32."""
    n, s = orders.n, orders.length
    out = np.empty(orders.count * math.perm(n - s, labels + 1), dtype=np.int32)
    _placed(n, s, labels, orders.cells, longer.index, out)
    return out


@kernel(types.int64(types.int64, types.int64, types.int64, I32, I8_2D, I32, I32, I32, I32_2D))
def _meet(n, s, other_s, sets, other_cells, other_stones, set_number, start, met):
    word = np.empty(n, dtype=np.int64)
    free_rank = np.zeros(n, dtype=np.int64)
    at = 0
    for a in range(sets.size):
        start[a] = at
        free = 0
        for cell in range(n):
            if sets[a] >> cell & 1 == 0:
                free_rank[cell] = free
                free += 1
        for o in range(other_stones.size):
            if other_stones[o] & sets[a]:
                continue
            if met.size:
                for i in range(other_s):
                    word[i] = free_rank[other_cells[o, i]]
                own = 0
                for i in range(other_s, n):
                    if sets[a] >> other_cells[o, i] & 1:
                        own |= 1 << (i - other_s)
                met[at, 0] = o
                met[at, 1] = rank_of(word, n - s, other_s)
                met[at, 2] = set_number[own]
            at += 1
    start[sets.size] = at
    return at


def meetings(own: Orders, other: Orders) -> tuple[np.ndarray, np.ndarray]:
    """Sets of own stones and orders of the other's without a common cell. ``start`` int32[sets + 1]; for own set a at
    ``met[start[a]:start[a + 1]]`` (int32[pairs, 3]): the number of the other's order, its rank as a word over the
    cells free of own stones, and the number of the own set among the sets of that size over the other's free cells."""
    n, s, f = own.n, own.length, own.n - other.length
    sizes = np.bitwise_count(np.arange(1 << f, dtype=np.uint32))
    set_number = np.cumsum(sizes == s, dtype=np.int32) - 1
    start = np.empty(own.sets.size + 1, dtype=np.int32)
    arguments = n, s, other.length, own.sets.copy(), other.cells, other.stones, set_number.astype(np.int32), start
    met = np.empty((_meet(*arguments, np.empty((0, 3), dtype=np.int32)), 3), dtype=np.int32)
    if met.size:
        _meet(*arguments, met)
    return start, met


@kernel(types.void(types.int64, FLAGS, I8_2D))
def _most_stones(n, wins, out):
    """``out[a, b]``: the most stones the other can have, b among them and none in a, without winning; -1: none."""
    full = (1 << n) - 1
    for a in range(1 << n):
        rest = full & ~a
        b = rest
        while True:
            if wins[b]:
                out[a, b] = -1
            else:
                best = 0
                for cell in range(n):
                    best += b >> cell & 1
                for cell in range(n):
                    if (rest & ~b) >> cell & 1:
                        best = max(best, out[a, b | 1 << cell])
                out[a, b] = best
            if b == 0:
                break
            b = (b - 1) & rest


def most_stones(n: int, wins: np.ndarray) -> np.ndarray:
    """int8[2**n, 2**n]; ``wins`` bool[2**n]: the other's winning sets."""
    out = np.full((1 << n, 1 << n), -1, dtype=np.int8)
    _most_stones(n, wins, out)
    return out


@kernel(types.int64(types.int64, types.int64, types.int64, I8_2D, I32, I8_2D, types.int64, I32, I32))
def _reachable(n, s, x, cells, stones, most, least, number, place):
    """Number the places where the other can have ``least`` stones without having won. Returns how many."""
    f = n - s
    words = 1
    for i in range(x):
        words *= f - i
    word = np.empty(n, dtype=np.int64)
    count = 0
    at = 0
    for o in range(cells.shape[0]):
        for rank in range(words):
            unrank(rank, f, x, word)
            found = 0
            for i in range(x):
                found |= 1 << cells[o, s + word[i]]
            if most[stones[o], found] >= least:
                if place.size:
                    place[count] = at
                    number[at] = count
                count += 1
            elif number.size:
                number[at] = -1
            at += 1
    return count


def reachable_places(orders: Orders, labels: int, most: np.ndarray, least: int) -> tuple[np.ndarray, np.ndarray]:
    """``number`` int32[places]: consecutive numbers of the places at which the other can have ``least`` stones without
    having won, -1 for the others; ``place`` int32: the places by number."""
    n, s = orders.n, orders.length
    arguments = n, s, labels, orders.cells, orders.stones, most, least
    nothing = np.empty(0, dtype=np.int32)
    place = np.empty(_reachable(*arguments, nothing, nothing), dtype=np.int32)
    number = np.full(orders.count * math.perm(n - s, labels), -1, dtype=np.int32)
    if place.size:
        _reachable(*arguments, number, place)
    return number, place
