"""Reaches forward, values and best responses backward, on the blocks of an abrupt game (``cfr.phantom.abrupt``).

Everything follows from the masses of nodes, of collisions (``cfr.phantom.abrupt_masses``) and of draws
(``cfr.phantom.abrupt_draws``), because the payoff of a game that is not drawn is +1 or -1. Take an action at a node of
mass M that collides in H. If it cannot win, what does not arrive at the player's next node, after a collision or a
placement, is lost or drawn. If it can, the placed mass M - H is won, and of H what does not arrive is lost or drawn.
With ``worth`` = payoff + mass of a node, the payoff is

    worth of the nodes that the action leads to + correction - M    (cannot win: correction = drawn mass)
    worth of the nodes that the action leads to + correction + M    (can win: correction = drawn mass - 2 H).

Kernels take ranges of blocks: blocks of one level do not touch each other's results.
"""

from __future__ import annotations

from numba import types

from cfr.phantom.abrupt_draws import HIT_AT, HIT_FIRST, PUT_AT, PUT_FIRST
from cfr.phantom.abrupt_graph import (
    AFTER_PLACEMENT,
    COUNT,
    FIRST_NODE,
    FIRST_SEQUENCE,
    NUMBERS,
    ON_COLLISION,
    ON_PLACEMENT,
    PLACES,
    WIDTH,
)
from cfr.phantom.abrupt_words import I32, WON
from envs.kernels import F64, helper, kernel

ROWS = types.Array(types.int64, 2, "C")
_GRAPH = types.int64, types.int64, ROWS, I32, I32, I32


@helper
def _arrival(block, blocks):
    """Where the numbers of a block's places start and what to add to them to get nodes; -1 when there is no block."""
    if block < 0:
        return -1, 0
    return blocks[block, NUMBERS], blocks[block, FIRST_NODE]


@helper
def _node(numbers, numbers_at, first, place, nowhere):
    """The node at a place of a block as in ``_arrival``, or ``nowhere``. Free of branches that depend on the node."""
    if numbers_at < 0:
        return nowhere
    number = numbers[numbers_at + max(place, 0)]
    return number + first if (number >= 0) & (place >= 0) else nowhere


@kernel(types.void(*_GRAPH, F64, F64, F64))
def reaches(start, stop, blocks, places, numbers, placed, behaviour, node_reach, reach):
    """Own probability of the sequences of the blocks start..stop-1, and of the nodes they lead to.

    ``node_reach`` float64[N + 1]; the last place is for what leads nowhere.
    """
    nowhere = node_reach.size - 1
    for block in range(start, stop):
        width, first_node = blocks[block, WIDTH], blocks[block, FIRST_NODE]
        hit_at, hit_first = _arrival(blocks[block, ON_COLLISION], blocks)
        put_at, put_first = _arrival(blocks[block, ON_PLACEMENT], blocks)
        places_at, placed_at = blocks[block, PLACES], blocks[block, AFTER_PLACEMENT]
        s = blocks[block, FIRST_SEQUENCE]
        for i in range(blocks[block, COUNT]):
            here = node_reach[first_node + i]
            at = places[places_at + i] * width
            for a in range(at, at + width):
                r = here * behaviour[s]
                reach[s] = r
                s += 1
                node_reach[_node(numbers, hit_at, hit_first, a, nowhere)] = r
                node_reach[_node(numbers, put_at, put_first, placed[placed_at + a], nowhere)] = r


@helper
def _payoff(here, correction, hit, put, won, worth):
    """Payoff times mass of an action at a node of mass ``here``."""
    return worth[hit] + worth[put] + correction + (here if won else -here)


@kernel(types.void(*_GRAPH, ROWS, F64, F64))
def add_draws(start, stop, blocks, places, numbers, placed, after, ends, correction):
    """Add the masses of the ends (float64, the last is 0) that actions lead to. ``after`` and ``numbers``: of
    ``cfr.phantom.abrupt_draws.Draws``."""
    nowhere = ends.size - 1
    for block in range(start, stop):
        hit_at, hit_first = after[block, HIT_AT], after[block, HIT_FIRST]
        put_at, put_first = after[block, PUT_AT], after[block, PUT_FIRST]
        if hit_at < 0 and put_at < 0:
            continue
        width, s = blocks[block, WIDTH], blocks[block, FIRST_SEQUENCE]
        places_at, placed_at = blocks[block, PLACES], blocks[block, AFTER_PLACEMENT]
        for i in range(blocks[block, COUNT]):
            at = places[places_at + i] * width
            for a in range(at, at + width):
                correction[s] += ends[_node(numbers, hit_at, hit_first, a, nowhere)]
                correction[s] += ends[_node(numbers, put_at, put_first, placed[placed_at + a], nowhere)]
                s += 1


@kernel(types.void(*_GRAPH, F64, F64, F64, F64))
def values(start, stop, blocks, places, numbers, placed, correction, behaviour, worth, best):
    """Payoffs of the blocks' nodes under ``behaviour`` and of the best response; from the last level to the first.

    ``worth`` and ``best`` float64[N + 1] hold the masses before, and the payoff added to them afterwards; the last
    place holds 0, for actions that lead nowhere.
    """
    nowhere = worth.size - 1
    for block in range(start, stop):
        width, first_node = blocks[block, WIDTH], blocks[block, FIRST_NODE]
        hit_at, hit_first = _arrival(blocks[block, ON_COLLISION], blocks)
        put_at, put_first = _arrival(blocks[block, ON_PLACEMENT], blocks)
        places_at, placed_at = blocks[block, PLACES], blocks[block, AFTER_PLACEMENT]
        s = blocks[block, FIRST_SEQUENCE]
        for i in range(blocks[block, COUNT]):
            here = worth[first_node + i]
            at = places[places_at + i] * width
            total, most = 0.0, -1e300
            for a in range(at, at + width):
                to = placed[placed_at + a]
                hit = _node(numbers, hit_at, hit_first, a, nowhere)
                put = _node(numbers, put_at, put_first, to, nowhere)
                total += behaviour[s] * _payoff(here, correction[s], hit, put, to == WON, worth)
                most = max(most, _payoff(here, correction[s], hit, put, to == WON, best))
                s += 1
            worth[first_node + i] = here + total
            best[first_node + i] = here + most


@kernel(types.void(*_GRAPH, F64, F64, F64))
def best_response(start, stop, blocks, places, numbers, placed, correction, behaviour, worth):
    """A deterministic ``behaviour`` that is best, of equal actions the first; ``worth`` as in ``values``."""
    nowhere = worth.size - 1
    for block in range(start, stop):
        width, first_node = blocks[block, WIDTH], blocks[block, FIRST_NODE]
        hit_at, hit_first = _arrival(blocks[block, ON_COLLISION], blocks)
        put_at, put_first = _arrival(blocks[block, ON_PLACEMENT], blocks)
        places_at, placed_at = blocks[block, PLACES], blocks[block, AFTER_PLACEMENT]
        s = blocks[block, FIRST_SEQUENCE]
        for i in range(blocks[block, COUNT]):
            here = worth[first_node + i]
            at = places[places_at + i] * width
            best, most = s, -1e300
            for a in range(at, at + width):
                to = placed[placed_at + a]
                hit = _node(numbers, hit_at, hit_first, a, nowhere)
                put = _node(numbers, put_at, put_first, to, nowhere)
                value = _payoff(here, correction[s], hit, put, to == WON, worth)
                behaviour[s] = 0.0
                if value > most:
                    best, most = s, value
                s += 1
            behaviour[best] = 1.0
            worth[first_node + i] = here + most


@kernel(types.void(*_GRAPH, F64, F64, F64, F64))
def add_regrets(start, stop, blocks, places, numbers, placed, behaviour, worth, instantaneous, regrets):
    """``instantaneous`` float64[S] holds the corrections before and the instantaneous regrets of ``behaviour``
    afterwards, which are added to ``regrets``; ``worth`` as in ``values``."""
    nowhere = worth.size - 1
    for block in range(start, stop):
        width, first_node = blocks[block, WIDTH], blocks[block, FIRST_NODE]
        hit_at, hit_first = _arrival(blocks[block, ON_COLLISION], blocks)
        put_at, put_first = _arrival(blocks[block, ON_PLACEMENT], blocks)
        places_at, placed_at = blocks[block, PLACES], blocks[block, AFTER_PLACEMENT]
        s = blocks[block, FIRST_SEQUENCE]
        for i in range(blocks[block, COUNT]):
            here = worth[first_node + i]
            at = places[places_at + i] * width
            total = 0.0
            for a in range(width):
                to = placed[placed_at + at + a]
                hit = _node(numbers, hit_at, hit_first, at + a, nowhere)
                put = _node(numbers, put_at, put_first, to, nowhere)
                value = _payoff(here, instantaneous[s + a], hit, put, to == WON, worth)
                instantaneous[s + a] = value
                total += behaviour[s + a] * value
            for a in range(width):
                instantaneous[s + a] -= total
                regrets[s + a] += instantaneous[s + a]
            s += width
            worth[first_node + i] = here + total
