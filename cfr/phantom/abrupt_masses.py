"""Masses of the nodes of an abrupt game (``cfr.phantom.abrupt``), and of their collisions.

The mass of a node is the opponent's part of its probability. For every action there is a second mass, one half step
later: that in which it collides; it enters the payoff of actions that can win (``cfr.phantom.abrupt_sweeps``). Kernels
take ranges of rows: they do not touch each other's results.
"""

from __future__ import annotations

import numpy as np
from numba import types

from cfr.phantom.abrupt_graph import (
    AFTER_PLACEMENT,
    ARRANGEMENTS,
    COUNT,
    FIRST_NODE,
    FIRST_SEQUENCE,
    NUMBERS,
    PLACES,
    SETS,
    WIDTH,
    WORDS,
)
from cfr.phantom.abrupt_lanes import LANES, add_rows
from cfr.phantom.abrupt_levels import (
    GROUP_CHAINS,
    GROUP_KINDS,
    GROUP_LISTS,
    GROUP_STARTS,
    KIND_CHAINS,
    KIND_LISTS,
    KIND_MEETINGS,
    KIND_MET,
    KIND_PAIRS,
    KIND_PREFIX,
    KIND_STARTS,
    KIND_WORD_CHAINS,
    PAIR_ARRANGEMENTS,
    PAIR_CHAINS,
    PAIR_SUM,
    SENDER_COLLIDED,
    SENDER_ORDERS,
    SENDER_PARENT,
    SENDER_PARTS,
    SENDER_STOP,
    SENDER_SUMS,
    SENDER_WORDS,
    SUM_CHAINS,
    SUM_FIRST,
    SUM_LABELS,
    SUM_STARTS,
)
from cfr.phantom.abrupt_words import I32, I64, WON
from cfr.prefetch import prefetch
from envs.kernels import F64, helper, kernel

ROWS = types.Array(types.int64, 2, "C")
U32 = types.Array(types.uint32, 1, "C")

AHEAD = 4  # rows asked for before they are needed
LINE = 8  # numbers in a cache line


@helper
def _add_lists(count, starts, lists, tables, source, target):
    """Add to every row of ``target`` the rows of ``source`` in its list; a row has LANES numbers."""
    for row in range(count):
        start, stop = tables[starts + row], tables[starts + row + 1]
        add_rows(target, row, source, tables, lists + start, lists + stop)


@helper
def _add_gathered(target, to, source, at, tables, chain, count):
    """``target[to + v] += source[at + tables[chain + v]]``; unsigned, which spares the tests for negative indices."""
    to, at, chain = np.uint64(to), np.uint64(at), np.uint64(chain)
    for v in range(np.uint64(count)):
        target[to + v] += source[at + tables[chain + v]]


@kernel(types.void(types.int64, types.int64, ROWS, ROWS, ROWS, I32, I32, U32, F64, F64))
def sum_labels(start, stop, senders, sums, blocks, places, placed, tables, reach, out):
    """The reaches of the senders start..stop-1 summed over the labels that a chain allows, into
    ``out[SUM_FIRST + order * chains + chain]``. ``blocks``, ``places``, ``placed``, ``reach``: of that player."""
    for j in range(start, stop):
        orders, words = senders[j, SENDER_ORDERS], senders[j, SENDER_WORDS]
        by_place = np.zeros(orders * words)
        parent = senders[j, SENDER_PARENT]
        if parent < 0:
            by_place[0] = 1.0
        else:
            width = blocks[parent, WIDTH]
            s = blocks[parent, FIRST_SEQUENCE]
            for i in range(blocks[parent, COUNT]):
                at = places[blocks[parent, PLACES] + i] * width
                for a in range(width):
                    if senders[j, SENDER_COLLIDED]:
                        by_place[at + a] = reach[s]
                    else:
                        to = placed[blocks[parent, AFTER_PLACEMENT] + at + a]
                        if to >= 0:
                            by_place[to] = reach[s]
                    s += 1
        most = 0
        for k in range(senders[j, SENDER_SUMS], senders[j + 1, SENDER_SUMS]):
            most = max(most, sums[k, SUM_CHAINS])
        lanes = np.empty(words * LANES)
        total = np.empty(most * LANES)
        for part in range(senders[j, SENDER_PARTS], senders[j, SENDER_STOP]):
            first = LANES * np.int64(tables[part])
            size = min(LANES, orders - first)
            for v in range(size):
                for label in range(words):
                    lanes[label * LANES + v] = by_place[(first + v) * words + label]
            for k in range(senders[j, SENDER_SUMS], senders[j + 1, SENDER_SUMS]):
                chains = sums[k, SUM_CHAINS]
                total[: chains * LANES] = 0.0
                _add_lists(chains, sums[k, SUM_STARTS], sums[k, SUM_LABELS], tables, lanes, total)
                for v in range(size):
                    at = sums[k, SUM_FIRST] + (first + v) * chains
                    for c in range(chains):
                        out[at + c] = total[c * LANES + v]


_LEVEL = types.int64, types.int64, types.int64, I64, ROWS, ROWS, ROWS


@kernel(types.void(*_LEVEL, ROWS, I32, I32, U32, U32, F64, F64, F64))
def masses(
    first_block, start, stop, group_starts, groups, kinds, pairs, blocks, numbers, placed, tables, met, sums, mass,
    correction,
):
    """Masses of the nodes of the blocks start..stop-1, and from the masses in which their actions collide the
    corrections of those that can win (0 for the others).

    ``first_block``: the level's first block; ``sums``: what ``sum_labels`` wrote; ``mass`` float64[N], ``correction``
    float64[S] are written.
    """
    for block in range(start, stop):
        words, width, arrangements = blocks[block, WORDS], blocks[block, WIDTH], blocks[block, ARRANGEMENTS]
        orders = blocks[block, SETS] * arrangements
        group_start = group_starts[block - first_block]
        group_stop = group_starts[block - first_block + 1]
        here = np.empty(words * LANES)
        later = np.empty(words * width * LANES)
        most, most_seen = 1, 1
        for g in range(group_start, group_stop):
            most = max(most, groups[g, GROUP_CHAINS])
            for k in range(groups[g, GROUP_KINDS], groups[g + 1, GROUP_KINDS]):
                most_seen = max(most_seen, kinds[k, KIND_CHAINS])
        by_chain = np.empty(most * LANES)
        by_seen = np.empty(most_seen * LANES)
        for first in range(0, orders, LANES):
            size = min(LANES, orders - first)
            here[:] = 0.0
            later[:] = 0.0
            for g in range(group_start, group_stop):
                chains = groups[g, GROUP_CHAINS]
                by_chain[: chains * LANES] = 0.0
                for k in range(groups[g, GROUP_KINDS], groups[g + 1, GROUP_KINDS]):
                    seen = kinds[k, KIND_CHAINS]
                    target = by_chain
                    if seen:
                        target = by_seen
                        by_seen[: seen * LANES] = 0.0
                    own_chains = kinds[k, KIND_WORD_CHAINS]
                    for own_set in range(first // arrangements, (first + size - 1) // arrangements + 1):
                        lane = max(0, own_set * arrangements - first)
                        arrangement = max(0, first - own_set * arrangements)
                        together = min(size, arrangements)
                        met_start = kinds[k, KIND_MET] + 3 * tables[kinds[k, KIND_MEETINGS] + own_set]
                        met_stop = kinds[k, KIND_MET] + 3 * tables[kinds[k, KIND_MEETINGS] + own_set + 1]
                        for p in range(kinds[k, KIND_PAIRS], kinds[k + 1, KIND_PAIRS]):
                            sum_at, sum_chains = pairs[p, PAIR_SUM], pairs[p, PAIR_CHAINS]
                            other_chains = pairs[p, PAIR_ARRANGEMENTS] + arrangement
                            for m in range(met_start, met_stop, 3):
                                to = tables[own_chains + met[m + 1]] * LANES + lane
                                row = sum_at + met[m] * sum_chains
                                chain = other_chains + met[m + 2] * arrangements
                                if m + 3 * AHEAD < met_stop:
                                    later_row = sum_at + met[m + 3 * AHEAD] * sum_chains
                                    for c in range(0, sum_chains, LINE):
                                        prefetch(sums, later_row + c)
                                _add_gathered(target, to, sums, row, tables, chain, together)
                    if seen:
                        for c in range(seen):
                            to = tables[kinds[k, KIND_PREFIX] + c] * LANES
                            for v in range(LANES):
                                by_chain[to + v] += by_seen[c * LANES + v]
                        _add_lists(words * width, kinds[k, KIND_STARTS], kinds[k, KIND_LISTS], tables, by_seen, later)
                _add_lists(words, groups[g, GROUP_STARTS], groups[g, GROUP_LISTS], tables, by_chain, here)
            for v in range(size):
                place = (first + v) * words
                for label in range(words):
                    i = numbers[blocks[block, NUMBERS] + place + label]
                    if i < 0:
                        continue
                    mass[blocks[block, FIRST_NODE] + i] = here[label * LANES + v]
                    s = blocks[block, FIRST_SEQUENCE] + i * width
                    to = blocks[block, AFTER_PLACEMENT] + (place + label) * width
                    for a in range(width):
                        wins = placed[to + a] == WON
                        correction[s + a] = -2.0 * later[(label * width + a) * LANES + v] if wins else 0.0
