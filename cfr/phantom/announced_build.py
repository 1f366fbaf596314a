"""Making ``cfr.phantom.announced.Announced`` from the nodes of the silent game."""

from __future__ import annotations

import dataclasses

import numpy as np
from numba import types

from cfr.phantom.abrupt_patterns import drawn_sizes
from cfr.phantom.announced import Announced, Level, Pairs
from cfr.phantom.classical import I8, I32, I64, Graph
from cfr.phantom.counts import count_vectors, number_of_vectors
from envs.kernels import kernel


@dataclasses.dataclass(frozen=True, eq=False)
class Turns:
    """Of every silent node: own stones (int8), collisions in this turn (int8), and the own lane (int32) of the
    finished turns and that after a placement here."""

    stones: np.ndarray
    collisions: np.ndarray
    lane: np.ndarray
    lane_after: np.ndarray


@kernel(types.void(I64, I32, I32, I64, I64, I8, I8, I32, I32))
def _follow(first, collide, place, starts, starts_at, stones, collisions, lane, lane_after):
    """Fill in what ``Turns`` says; ``stones`` ... ``lane`` hold zeros before. ``starts``: the own count vectors of all
    turns, those of turn t from ``starts_at[t]``."""
    for i in range(first.size - 1):
        lane_after[i] = starts[starts_at[stones[i]] + lane[i]] + collisions[i]
        for s in range(first[i], first[i + 1]):
            child = collide[s]
            if child >= 0:
                stones[child] = stones[i]
                collisions[child] = collisions[i] + 1
                lane[child] = lane[i]
            child = place[s]
            if child >= 0:
                stones[child] = stones[i] + 1
                lane[child] = lane_after[i]


def _turns(graph: Graph, vectors: list[np.ndarray]) -> Turns:
    stones, collisions = (np.zeros(graph.num_nodes, dtype=np.int8) for _ in range(2))
    lane, lane_after = (np.zeros(graph.num_nodes, dtype=np.int32) for _ in range(2))
    starts_at = np.cumsum([0, *(starts.size for starts in vectors)])
    _follow(
        graph.first, graph.collide, graph.place, np.concatenate(vectors), starts_at, stones, collisions, lane,
        lane_after,
    )  # fmt: skip
    return Turns(stones, collisions, lane, lane_after)


@kernel(types.void(I64, I32, I32, I32, I32, I32, I32, I64, I8, I32, I32))
def _repeat(first, action, collide, place, lanes, base, arrival, first_of, action_of, collide_to, place_to):
    """The decisions of a silent graph, each as often as it has ``lanes``."""
    node, at = 0, 1
    for i in range(first.size - 1):
        for lane in range(lanes[i]):
            first_of[node] = at
            node += 1
            for s in range(first[i], first[i + 1]):
                action_of[at] = action[s]
                collide_to[at] = base[collide[s]] + lane if collide[s] >= 0 else collide[s]
                place_to[at] = arrival[place[s]] + lane if place[s] >= 0 else place[s]
                at += 1


def can_be_drawn(n: int, wins: np.ndarray) -> bool:
    """Whether a full board can have no winner. ``wins`` bool[2, 2**n]."""
    return bool(drawn_sizes(n, wins)[(n + 1) // 2, n // 2])


def announce(player: int, n: int, graph: Graph, settle: bool) -> Announced:
    """The nodes of ``player`` on a board of ``n`` cells. ``graph``: his silent ones; ``settle``: leave out the turn in
    which one cell is empty, which takes a game that cannot be drawn."""
    heard = count_vectors(1 - player, n // 2 + 1)
    turns = _turns(graph, count_vectors(player, n // 2 + 1))
    leaf_stones = (n - settle - player + 1) // 2
    leaf = turns.stones >= leaf_stones
    lanes, lanes_told = (
        np.array([number_of_vectors(1 - player, k + player - less) for k in range(n // 2 + 1)]) for less in (0, 1)
    )

    repeats = np.where(leaf, 0, lanes[turns.stones])
    decisions = np.concatenate([[0], np.cumsum(repeats)])
    arrives = (turns.collisions == 0) & (leaf | (turns.stones > 0))
    arrivals = decisions[-1] + np.concatenate([[0], np.cumsum(np.where(arrives, lanes_told[turns.stones], 0))])
    arrival = np.where(arrives, arrivals[:-1], -1).astype(np.int32)
    base = np.where(leaf, arrival, decisions[:-1]).astype(np.int32)

    levels, child, ways = [], [], []
    for k in range(n // 2 + 1):
        start, stop = np.searchsorted(turns.stones, [k, k + 1])
        level = Level(
            int((lanes_told if k >= leaf_stones else lanes)[k]), number_of_vectors(player, k), k >= leaf_stones,
            slice(int(decisions[start]), int(decisions[stop])), slice(int(arrivals[start]), int(arrivals[stop])),
        )  # fmt: skip
        levels.append(level)
        if level.leaf:
            size = level.arrivals.stop - level.arrivals.start
            child.append(np.full(size, -1, dtype=np.int32))
            ways.append(np.zeros(size, dtype=np.int8))
        elif k:
            starts, nodes = heard[k + player - 1].astype(np.int32), base[start:stop][arrives[start:stop]]
            child.append((nodes[:, None] + starts[:-1]).ravel())
            ways.append(np.tile(np.diff(starts).astype(np.int8), nodes.size))

    size = 1 + int((np.diff(graph.first) * repeats).sum())
    first = np.full(int(arrivals[-1]) + n + 1, size, dtype=np.int64)
    first[arrivals[-1] :] += np.arange(n + 1) * np.arange(1, n + 2) // 2  # the idle nodes have 1, 2, ... n actions
    action = np.full(size, -1, dtype=np.int8)
    collide, place = (np.full(size, -1, dtype=np.int32) for _ in range(2))
    _repeat(
        graph.first, graph.action, graph.collide, graph.place, repeats.astype(np.int32), base, arrival, first, action,
        collide, place,
    )  # fmt: skip
    nothing = np.empty(0, dtype=np.int32)
    silent = dataclasses.replace(
        graph, own_start=nothing, own_nodes=nothing, other_start=nothing, other_sequences=nothing
    )
    return Announced(
        tuple(levels), first, action, collide, place, np.concatenate(child or [nothing]),
        np.concatenate(ways or [np.empty(0, dtype=np.int8)]), silent, base, turns.stones, tuple(heard),
        _pairs(graph, turns, base, first, 2 * turns.stones + player + 1 >= n - settle), settle,
    )  # fmt: skip


def _pairs(graph: Graph, turns: Turns, base: np.ndarray, first: np.ndarray, before_leaf: np.ndarray) -> Pairs:
    """``before_leaf`` bool, of every silent node: a placement there leads to a leaf of the opponent's."""
    kept = base[graph.own_nodes] >= 0
    own_nodes = graph.own_nodes[kept]
    own_start = np.concatenate([[0], np.cumsum(kept)])[graph.own_start]

    # Of every silent sequence, the empty one included: itself at lane 0, the step to the next lane, the own lane.
    width = np.diff(graph.first)
    node = np.repeat(np.arange(graph.num_nodes), width)
    sequence, stride, lane = (np.zeros(graph.num_sequences, dtype=kind) for kind in (np.int32, np.int8, np.int16))
    sequence[1:] = first[base[node]] + np.arange(1, graph.num_sequences) - graph.first[node]
    stride[1:] = width[node]
    lane[1:] = np.where(before_leaf, turns.lane, turns.lane_after)[node]
    ends = graph.other_sequences
    return Pairs(
        own_start, base[own_nodes], turns.lane[own_nodes].astype(np.int16), turns.stones[own_nodes[own_start[:-1]]],
        graph.other_start, sequence[ends], stride[ends], lane[ends],
    )  # fmt: skip
