"""Compiled information-set Monte Carlo tree search on any game's kernels.

Nodes are information states: a player and his information tokens, found through a hash table of 64-bit fingerprints
(two information states in one tree share one with probability n**2 / 2**65; they would share statistics).
Every player's choices in the tree depend on his own tokens alone, so the tree holds a tree for each player (multiple
observers), and the legal actions of a node are the same in every simulation that comes there.
"""

from __future__ import annotations

import numpy as np
from numba import types

from agents.mcts_kernels import EDGES, F64, I64, NODES, PATH, play_out
from envs.kernels import (
    MASK,
    PARAMS,
    ROW,
    TABLE,
    apply_of,
    current_player_of,
    helper,
    information_span_of,
    kernel,
    legal_of,
)
from envs.lanes import lane_of
from envs.rng import RNG

ROWS = types.Array(types.int32, 2, "C")
KEYS = types.Array(types.uint64, 1, "C")


@helper
def _fingerprint(row, start, stop, player):
    """64 bits of a player's tokens (the finalizer of splitmix64 over a running sum); never 0."""
    state = np.uint64(player + 1)
    for i in range(start, stop):
        state += np.uint64(row[i] + 1) + np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return state | np.uint64(1)


@helper
def _slot(keys, key):
    """Where a fingerprint is in the table, or the free place for it."""
    at = np.int64(key >> np.uint64(1)) & (keys.size - 1)
    while keys[at] != 0 and keys[at] != key:
        at = (at + 1) & (keys.size - 1)
    return at


@kernel(types.int64(TABLE, PARAMS, NODES, EDGES, I64, ROW, MASK))
def _make(table, params, nodes, edges, used, row, mask):
    """The node of the mover's information state, without statistics; -1 where there is no room."""
    count = legal_of(table)(params, row, mask)
    if used[0] == nodes.size or used[1] + count > edges.size:
        return -1
    node = used[0]
    used[0] += 1
    e = used[1]
    used[1] += count
    nodes[node].first, nodes[node].count, nodes[node].visits = e, count, 0
    nodes[node].mover = current_player_of(table)(params, row)
    for action in range(mask.size):
        if mask[action]:
            edges[e].action, edges[e].visits, edges[e].total = action, 0, 0.0
            e += 1
    return node


@kernel(types.int64(NODES, EDGES, types.int64, types.float64, types.float64, types.float64))
def _select(nodes, edges, node, exploration, low, span):
    """Edge with the largest upper confidence bound; the lowest action among equals."""
    first = nodes[node].first
    scale = exploration * np.sqrt(np.log(nodes[node].visits + 1.0))
    best, best_score = first, -np.inf
    for e in range(first, first + nodes[node].count):
        visits = edges[e].visits
        if visits == 0:
            return e
        score = (edges[e].total / visits - low) / span + scale / np.sqrt(np.float64(visits))
        if score > best_score:
            best, best_score = e, score
    return best


@kernel(types.void(
    TABLE, PARAMS, ROWS, NODES, EDGES, KEYS, I64, I64, ROW, MASK, F64, PATH, PATH, RNG, types.float64, types.float64,
    types.float64, types.int64))
def simulate(
    table, params, roots, nodes, edges, keys, node_of, used, row, mask, values, path, trace, rng, exploration, low,
    high, count
):
    """``count`` simulations, each from the next of the sampled positions ``roots``, all of one information state.

    Each simulation adds one node, where there is room; the first one is that of the root player. ``keys`` (zeros at
    first, a power of two of them, at least twice the nodes) and ``node_of`` are the hash table.
    """
    apply, current_player, span_of = apply_of(table), current_player_of(table), information_span_of(table)
    for simulation in range(count):
        root = lane_of(roots, simulation % roots.shape[0])
        for i in range(row.size):
            row[i] = root[i]
        decisions = 0
        depth = 0
        while True:
            mover = current_player(params, row)
            if mover < 0:
                play_out(table, params, row, mask, values, rng, trace, depth)  # over already: writes the returns
                break
            start, stop = span_of(params, row, mover)
            key = _fingerprint(row, start, stop, mover)
            slot = _slot(keys, key)
            known = keys[slot] != 0
            node = node_of[slot]
            if not known:
                node = _make(table, params, nodes, edges, used, row, mask)
                if node >= 0:
                    keys[slot] = key
                    node_of[slot] = node
            if node >= 0:
                e = _select(nodes, edges, node, exploration, low, high - low)
                path[decisions, 0], path[decisions, 1] = node, e
                decisions += 1
                apply(params, row, edges[e].action)
                depth += 1
            if not known:
                play_out(table, params, row, mask, values, rng, trace, depth)
                break
        for d in range(decisions):
            node, e = path[d, 0], path[d, 1]
            nodes[node].visits += 1
            edges[e].visits += 1
            edges[e].total += values[nodes[node].mover]
