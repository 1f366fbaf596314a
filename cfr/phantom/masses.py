"""Masses, values and best responses on the merged nodes of a classical game.

The mass of a node is the probability that the game reaches it when its owner plays towards it: the opponent's
part. Everything follows from the masses:

* at a node, the mass in which an action collides is the mass of the node that the collision leads to, and the
  rest is the mass in which it places a stone;
* of the placed mass, what does not arrive at the player's next node was won by the opponent in between (drawn games
  arrive too, at a node without actions).

The sweeps take a range of nodes, forward after those that come before it and backward after those behind. (Views of
the range spare the compiled loops the question whether an index is negative.)
"""

from __future__ import annotations

import numpy as np
from numba import types

from cfr.phantom.classical import DRAWN, I32, I64, WON
from envs.kernels import F64, kernel


@kernel(types.void(I64, I32, I64, I32, F64, F64))
def masses(own_start, own_nodes, other_start, other_sequences, reach, mass):
    """``mass[node]``: sum over the pairs of placement orders that the node is compatible with, of the sum of the
    opponent's ``reach`` (of sequences) over his placements compatible with the pair."""
    mass[:] = 0.0
    for pair in range(own_start.size - 1):
        total = 0.0
        for e in range(other_start[pair], other_start[pair + 1]):
            total += reach[other_sequences[e]]
        if total != 0.0:
            for e in range(own_start[pair], own_start[pair + 1]):
                mass[own_nodes[e]] += total


_NODES = types.int64, types.int64, I64, I32, I32


@kernel(types.void(*_NODES, F64, F64, F64))
def reaches(start, stop, first, collide, place, behaviour, node_reach, reach):
    """Own probability of every sequence of the nodes start..stop-1, and, added up over the merged orders, of the nodes
    they lead to."""
    first, own_reach = first[start : stop + 1], node_reach[start:stop]
    for i in range(first.size - 1):
        here = own_reach[i]
        for s in range(first[i], first[i + 1]):
            r = here * behaviour[s]
            reach[s] = r
            if collide[s] >= 0:
                node_reach[collide[s]] += r
            if place[s] >= 0:
                node_reach[place[s]] += r


@kernel(types.float64(types.int64, types.float64, I32, I32, F64, F64))
def _action_value(s, here, collide, place, mass, node_value):
    """Payoff times mass of taking sequence s at a node of mass ``here``."""
    value = 0.0
    placing = here
    child = collide[s]
    if child >= 0:
        value = node_value[child]
        placing -= mass[child]
    child = place[s]
    if child >= 0:
        return value + node_value[child] - (placing - mass[child])
    if child == WON:
        return value + placing
    if child == DRAWN:
        return value
    return value - placing


@kernel(types.void(*_NODES, F64, F64, F64))
def values(start, stop, first, collide, place, mass, behaviour, node_value):
    """``node_value[i]``: the player's payoff times mass from node i on under ``behaviour``."""
    first, own_mass, own_value = first[start : stop + 1], mass[start:stop], node_value[start:stop]
    for i in range(first.size - 2, -1, -1):
        total = 0.0
        for s in range(first[i], first[i + 1]):
            probability = behaviour[s]
            if probability == 0.0:
                continue
            total += probability * _action_value(s, own_mass[i], collide, place, mass, node_value)
        own_value[i] = total


@kernel(types.void(*_NODES, F64, F64, F64))
def best_response(start, stop, first, collide, place, mass, behaviour, node_value):
    """The best ``node_value``, and a deterministic ``behaviour`` that attains it; of equal actions the first."""
    first, own_mass, own_value = first[start : stop + 1], mass[start:stop], node_value[start:stop]
    for i in range(first.size - 2, -1, -1):
        if first[i] == first[i + 1]:
            own_value[i] = 0.0
            continue
        best, best_value = first[i], -np.inf
        for s in range(first[i], first[i + 1]):
            value = _action_value(s, own_mass[i], collide, place, mass, node_value)
            behaviour[s] = 0.0
            if value > best_value:
                best, best_value = s, value
        behaviour[best] = 1.0
        own_value[i] = best_value


@kernel(types.void(*_NODES, F64, F64, F64, F64, F64))
def add_regrets(start, stop, first, collide, place, mass, behaviour, instantaneous, regrets, node_value):
    """Counterfactual regrets of ``behaviour``: written to ``instantaneous`` float64[S], added to ``regrets``. The next
    strategy is ``cfr.regret.next_strategy``'s business."""
    first, own_mass, own_value = first[start : stop + 1], mass[start:stop], node_value[start:stop]
    for i in range(first.size - 2, -1, -1):
        total = 0.0
        for s in range(first[i], first[i + 1]):
            instantaneous[s] = _action_value(s, own_mass[i], collide, place, mass, node_value)
            total += behaviour[s] * instantaneous[s]
        own_value[i] = total
        for s in range(first[i], first[i + 1]):
            instantaneous[s] -= total
            regrets[s] += instantaneous[s]
