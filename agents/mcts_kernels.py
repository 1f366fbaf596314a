"""Compiled Monte Carlo tree search on any game's kernels: selection, expansion, playouts, backup and proofs.

The tree lives in two arrays of records that the caller owns. A node holds the statistics of its player to move,
an edge those of one action, always in that player's own returns: max^n (Luckhardt and Irani, AAAI 1986), nothing
assumes two players or alternation.

Leaves are expanded with a look at every successor: an action that ends the game with the best possible return
decides it ("decisive moves", Teytaud and Teytaud, CIG 2010), and results that are certain move up the tree
("MCTS-Solver", Winands, Bjornsson and Saito, CG 2008), here as vectors of all players' returns. A node is
settled by an action that gives its player the game's best return (a win, which fixes what the others get), or when
all its actions are settled and the best of them does not leave the choice between different results for the others.
"""

from __future__ import annotations

import numba
import numpy as np
from numba import types

from envs.kernels import (
    F32,
    F64,
    MASK,
    PARAMS,
    ROW,
    TABLE,
    apply_of,
    current_player_of,
    helper,
    kernel,
    legal_of,
    observe_of,
    returns_of,
)
from envs.lanes import lane_of
from envs.rng import RNG, next_below

NODE = np.dtype(
    [
        ("first", np.int32),  # its edges are first .. first + count - 1, in increasing order of their actions
        ("count", np.int32),
        ("mover", np.int32),
        ("visits", np.int32),
        ("unsettled", np.int32),  # edges whose result is not certain
        ("settled", np.int32),  # the row of ``exact`` is the result
    ]
)
EDGE = np.dtype(
    [
        ("action", np.int32),
        ("child", np.int32),  # node, -1 before it is made
        ("visits", np.int32),
        ("amaf_visits", np.int32),
        ("total", np.float64),  # sum of the mover's returns over the visits
        ("amaf_total", np.float64),  # the same over the simulations in which he took the action later
        ("prior", np.float64),
    ]
)
NODES = types.Array(numba.from_dtype(NODE), 1, "C")
EDGES = types.Array(numba.from_dtype(EDGE), 1, "C")
I64 = types.Array(types.int64, 1, "C")
PATH = types.Array(types.int64, 2, "C")
EXACT = types.Array(types.float64, 2, "C")

# Settings (float64): exploration constant, whether PUCT or UCT, AMAF visits that weigh as much as real ones
# (0: no RAVE), lowest and highest return of the game, visits of a leaf before it is expanded.
EXPLORATION, PUCT, RAVE, LOW, HIGH, EXPAND = range(6)
NUM_SETTINGS = 6
# Used (int64): nodes, edges.
USED_NODES, USED_EDGES = 0, 1
EPSILON = 1e-9

LEAF, SETTLED, END = 0, 1, 2  # how a descent ended: an open leaf, a certain result, the end of the game


@kernel(types.int64(NODES, EDGES, EXACT, types.int64, F64))
def select(nodes, edges, exact, node, settings):
    """Edge with the largest upper bound; the lowest action among equals."""
    first = nodes[node].first
    mover = nodes[node].mover
    low, span = settings[LOW], settings[HIGH] - settings[LOW]
    exploration, rave = settings[EXPLORATION], settings[RAVE]
    parent_visits = np.float64(nodes[node].visits)
    puct = settings[PUCT] != 0.0
    scale = np.sqrt(parent_visits) if puct else np.sqrt(np.log(parent_visits + 1.0))
    mean = 0.0
    if puct:  # an action that was never tried is taken to be as good as the tried ones are on average
        total, tried = 0.0, 0
        for e in range(first, first + nodes[node].count):
            total += edges[e].total
            tried += edges[e].visits
        mean = (total / tried - low) / span if tried else 0.5
    best, best_score = first, -np.inf
    for e in range(first, first + nodes[node].count):
        visits = edges[e].visits
        child = edges[e].child
        if child >= 0 and nodes[child].settled:
            score = (exact[child, mover] - low) / span  # nothing to explore
        elif puct:
            value = (edges[e].total / visits - low) / span if visits else mean
            score = value + exploration * edges[e].prior * scale / (1.0 + visits)
        else:
            amaf = edges[e].amaf_visits
            if visits == 0 and (rave == 0.0 or amaf == 0):
                score = 1e9
            else:
                value = (edges[e].total / visits - low) / span if visits else 0.0
                if rave > 0.0 and amaf:
                    weight = np.sqrt(rave / (3.0 * visits + rave))  # Gelly and Silver, ICML 2007
                    value += weight * ((edges[e].amaf_total / amaf - low) / span - value)
                    score = value + exploration * scale / np.sqrt(visits + 1.0)
                else:
                    score = value + exploration * scale / np.sqrt(np.float64(visits))
        if score > best_score:
            best, best_score = e, score
    return best


@helper
def _settle(nodes, exact, node, values):
    nodes[node].settled = 1
    for player in range(values.size):
        exact[node, player] = values[player]


@helper
def _conclude(nodes, edges, exact, node, settings):
    """Settle a node whose edges decide it."""
    if nodes[node].settled or nodes[node].unsettled:
        return
    mover = nodes[node].mover
    first = nodes[node].first
    best = -1
    for e in range(first, first + nodes[node].count):
        child = edges[e].child
        if best < 0 or exact[child, mover] > exact[best, mover] + EPSILON:
            best = child
    for e in range(first, first + nodes[node].count):
        child = edges[e].child
        if exact[child, mover] >= exact[best, mover] - EPSILON:
            for player in range(exact.shape[1]):
                if abs(exact[child, player] - exact[best, player]) > EPSILON:
                    return  # the mover decides between others, and it is open how
    _settle(nodes, exact, node, lane_of(exact, best))


@kernel(types.int64(TABLE, PARAMS, NODES, EDGES, EXACT, I64, F64, ROW, ROW, MASK, F64, types.int64))
def expand(table, params, nodes, edges, exact, used, settings, row, after, mask, values, is_root):
    """Make the node of the running position ``row``; its number, or -1 where the tree has no room for it.

    ``after``, ``mask`` and ``values`` are scratch. The root keeps all its edges even when one of them decides.
    """
    apply, current_player, legal, returns = (apply_of(table), current_player_of(table), legal_of(table),
                                             returns_of(table))
    count = legal(params, row, mask)
    mover = current_player(params, row)
    if used[USED_NODES] + 1 + count > nodes.size or used[USED_EDGES] + count > edges.size:
        return -1
    node = used[USED_NODES]
    used[USED_NODES] += 1
    first = used[USED_EDGES]
    nodes[node].first, nodes[node].count, nodes[node].mover = first, count, mover
    nodes[node].visits, nodes[node].unsettled, nodes[node].settled = 0, count, 0
    e = first
    for action in range(mask.size):
        if not mask[action]:
            continue
        edges[e].action, edges[e].child, edges[e].visits, edges[e].amaf_visits = action, -1, 0, 0
        edges[e].total, edges[e].amaf_total, edges[e].prior = 0.0, 0.0, 1.0 / count
        for i in range(row.size):
            after[i] = row[i]
        apply(params, after, action)
        if current_player(params, after) < 0:
            returns(params, after, values)
            decisive = values[mover] >= settings[HIGH] - EPSILON
            if decisive:
                _settle(nodes, exact, node, values)
                if not is_root:
                    nodes[node].count = 0
                    used[USED_NODES] = node + 1
                    return node
            child = used[USED_NODES]
            used[USED_NODES] += 1
            nodes[child].first, nodes[child].count, nodes[child].mover = 0, 0, mover
            nodes[child].visits, nodes[child].unsettled = 0, 0
            _settle(nodes, exact, child, values)
            edges[e].child = child
            nodes[node].unsettled -= 1
        e += 1
    used[USED_EDGES] = first + count
    _conclude(nodes, edges, exact, node, settings)
    return node


@kernel(types.UniTuple(types.int64, 2)(
    TABLE, PARAMS, NODES, EDGES, EXACT, I64, F64, ROW, ROW, MASK, F64, PATH, PATH))
def descend(table, params, nodes, edges, exact, used, settings, row, after, mask, values, path, trace):
    """From the root position in ``row`` down to a leaf, which is expanded when it is time: (depth, how it ended).

    ``path[d]`` becomes (node, edge), ``trace[d]`` (player, action). With SETTLED and END, ``values`` holds the result;
    with LEAF, ``row`` is a running position, whose node (if it was made) is the child of the last edge.
    """
    apply, current_player = apply_of(table), current_player_of(table)
    node = 0
    depth = 0
    while True:
        e = select(nodes, edges, exact, node, settings)
        path[depth, 0], path[depth, 1] = node, e
        trace[depth, 0], trace[depth, 1] = nodes[node].mover, edges[e].action
        depth += 1
        child = edges[e].child
        if child < 0 or not nodes[child].settled:
            apply(params, row, edges[e].action)
            if child < 0:
                if current_player(params, row) < 0:
                    returns_of(table)(params, row, values)
                    return depth, END
                if edges[e].visits + 1 < settings[EXPAND]:
                    return depth, LEAF
                child = expand(table, params, nodes, edges, exact, used, settings, row, after, mask, values, 0)
                if child < 0:
                    return depth, LEAF
                edges[e].child = child
                if not nodes[child].settled:
                    return depth, LEAF
        if nodes[child].settled:
            for player in range(values.size):
                values[player] = exact[child, player]
            return depth, SETTLED
        node = child


@kernel(types.void(NODES, EDGES, EXACT, F64, F64, PATH, types.int64, types.int64))
def back_up(nodes, edges, exact, settings, values, path, depth, ended):
    """Add a result to the statistics of the path; where it is certain, settle what follows from it."""
    certain = ended == SETTLED
    for d in range(depth - 1, -1, -1):
        node, e = path[d, 0], path[d, 1]
        mover = nodes[node].mover
        nodes[node].visits += 1
        edges[e].visits += 1
        edges[e].total += values[mover]
        if certain:
            # A settled child is met again only where its parent is not settled by it; count it once.
            child = edges[e].child
            unsettled = 0
            first = nodes[node].first
            for other in range(first, first + nodes[node].count):
                made = edges[other].child
                unsettled += made < 0 or not nodes[made].settled
            nodes[node].unsettled = unsettled
            if exact[child, mover] >= settings[HIGH] - EPSILON:
                _settle(nodes, exact, node, lane_of(exact, child))
            else:
                _conclude(nodes, edges, exact, node, settings)
            certain = nodes[node].settled != 0


@kernel(types.int64(TABLE, PARAMS, ROW, MASK, F64, RNG, PATH, types.int64))
def play_out(table, params, row, mask, values, rng, trace, depth):
    """Uniformly random actions to the end of the game; the number of actions since the root. Writes ``trace``."""
    apply, current_player, legal, returns = (apply_of(table), current_player_of(table), legal_of(table),
                                             returns_of(table))
    while True:
        count = legal(params, row, mask)
        if count == 0:
            returns(params, row, values)
            return depth
        if 8 * count >= mask.size:
            action = next_below(rng, mask.size)
            while not mask[action]:
                action = next_below(rng, mask.size)
        else:
            skip = next_below(rng, count)
            action = 0
            while not mask[action] or skip:
                skip -= mask[action]
                action += 1
        trace[depth, 0], trace[depth, 1] = current_player(params, row), action
        depth += 1
        apply(params, row, action)


@kernel(types.void(NODES, EDGES, F64, PATH, types.int64, PATH, types.int64, PATH, types.int64))
def back_up_amaf(nodes, edges, values, path, depth, trace, length, taken, stamp):
    """All moves as first: credit the actions that the mover of a node took at or after it.

    ``taken[player, action]`` is the last stamp under which he took it; ``stamp`` is new in each simulation.
    """
    at = length
    for d in range(depth - 1, -1, -1):
        while at > d:
            at -= 1
            taken[trace[at, 0], trace[at, 1]] = stamp
        node = path[d, 0]
        mover = nodes[node].mover
        first = nodes[node].first
        for e in range(first, first + nodes[node].count):
            if taken[mover, edges[e].action] == stamp:
                edges[e].amaf_visits += 1
                edges[e].amaf_total += values[mover]


@kernel(types.int64(
    TABLE, PARAMS, ROW, NODES, EDGES, EXACT, I64, F64, ROW, ROW, MASK, F64, PATH, PATH, PATH, RNG, types.int64))
def simulate(
    table, params, root, nodes, edges, exact, used, settings, row, after, mask, values, path, trace, taken, rng, count
):
    """Up to ``count`` simulations with random playouts from an expanded root; stops when it is settled.

    Returns how many were made.
    """
    for simulation in range(count):
        if nodes[0].settled:
            return simulation
        for i in range(root.size):
            row[i] = root[i]
        depth, ended = descend(
            table, params, nodes, edges, exact, used, settings, row, after, mask, values, path, trace
        )
        length = depth
        if ended == LEAF:
            length = play_out(table, params, row, mask, values, rng, trace, depth)
        back_up(nodes, edges, exact, settings, values, path, depth, ended)
        if settings[RAVE] > 0.0:
            back_up_amaf(nodes, edges, values, path, depth, trace, length, taken, simulation + 1)
    return count


@kernel(types.void(TABLE, PARAMS, ROW, types.int64, types.int64, F32))
def observe_one(table, params, row, player, view, out):
    """One player's observation of a position."""
    observe_of(table)(params, row, player, view, out)
