"""Merged nodes of a classical game in which collisions are announced.

A player hears how often the opponent collides in each of his turns: a *count vector*, one number a turn. Which vectors
there are depends on the numbers of stones alone (in every turn at most as many collisions as there are stones not
found yet). They are numbered so that the vectors that continue one are neighbours. A node is a node of the silent game
(``cfr.phantom.classical``), which says what the player's own actions were, times a vector that he has heard: its
*lane*.

A placement leads to an *arrival* (the node after it, the lane before it), where the opponent's turn is heard of; the
arrival is every one of the nodes that continue its lane.

In a game that cannot be drawn the last stone wins, whatever the player does in the turn in which one cell is empty. The
nodes of that turn are left out: their arrivals are *settled*, worth their mass. The actions there are those of a few
idle nodes, one for every number of cells not known, which no sweep visits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numba import types

from cfr.phantom.classical import I32, I64, Graph
from envs.kernels import kernel

I8 = types.Array(types.int8, 1, "C")


def count_vectors(player: int, turns: int) -> list[np.ndarray]:
    """How ``player`` can collide in his first ``turns`` turns: the vectors of t + 1 turns that continue vector v of t
    turns are ``starts[t][v]:starts[t][v + 1]``, by their last number."""
    starts = []
    collisions = np.zeros(1, dtype=np.int64)
    for turn in range(turns):
        most = turn + player - collisions  # stones that stand and were not found before
        start = np.concatenate([[0], np.cumsum(most + 1)])
        starts.append(start)
        collisions = np.repeat(collisions - start[:-1], most + 1) + np.arange(start[-1])
    return starts


def number_of_vectors(player: int, turns: int) -> int:
    return int(count_vectors(player, turns)[-1][-1]) if turns else 1


@dataclasses.dataclass(frozen=True)
class Level:
    """What is known of a player's nodes with k own stones.

    ``lanes``: count vectors that he can have heard; ``own_lanes``: his own ones; ``leaf``: settled or drawn, only
    arrivals; ``decisions``, ``arrivals``: their places.
    """

    lanes: int
    own_lanes: int
    leaf: bool
    decisions: slice
    arrivals: slice


@dataclasses.dataclass(frozen=True, eq=False)
class Announced:
    """One player's nodes. Places: the decisions (``num_nodes``), then the arrivals, then the idle nodes.

    ``first`` int64, ``action`` int8, ``collide`` and ``place`` int32: as in ``cfr.phantom.classical.Graph``, ``place``
    leads to arrivals. ``child`` int32, ``ways`` int8, one an arrival: the nodes that it is are
    ``child:child + ways``; none at a leaf.
    ``silent``: the nodes without lanes (and without pairs); ``base`` int32: the place of their lane 0; ``stones`` int8: own ones.
    ``own_start``: as in ``Graph``, of each pair of placement orders in which this player is to move the compatible
    nodes, each with the place of lane 0 (``own_places`` int32) and the own lane (``own_lanes`` int16);
    ``own_stones`` int8[pairs]. ``other_start``: of each pair in which the opponent is, the placements that lead there,
    each with its sequence at lane 0 (int32), how far the next lane's is (``other_strides`` int8), and the own lane
    after it (``other_lanes`` int16), at a leaf before that turn, of which nothing is heard.
    ``heard``: the opponent's count vectors. ``settled``: whether leaves are settled (worth their mass) or drawn (worth
    nothing).
    """

    silent: Graph
    levels: tuple[Level, ...]
    first: np.ndarray
    action: np.ndarray
    collide: np.ndarray
    place: np.ndarray
    child: np.ndarray
    ways: np.ndarray
    base: np.ndarray
    stones: np.ndarray
    own_start: np.ndarray
    own_stones: np.ndarray
    own_places: np.ndarray
    own_lanes: np.ndarray
    other_start: np.ndarray
    other_sequences: np.ndarray
    other_strides: np.ndarray
    other_lanes: np.ndarray
    heard: tuple[np.ndarray, ...]
    settled: bool

    @property
    def num_nodes(self) -> int:
        return self.levels[-1].decisions.stop

    @property
    def num_places(self) -> int:
        """Decisions and arrivals."""
        return self.num_nodes + self.child.size

    @property
    def num_sequences(self) -> int:
        return int(self.first[-1])

    @property
    def nbytes(self) -> int:
        arrays = [getattr(self, field.name) for field in dataclasses.fields(self)]
        return self.silent.nbytes + sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))

    def find(self, own: np.ndarray, counts: Sequence[int]) -> tuple[np.ndarray, int]:
        """(Legal actions, place) after own actions (as in ``Graph.find``) and what was heard; place -1: never."""
        nowhere = np.empty(0, dtype=np.int32), -1
        node = self.silent.find(own)
        if node < 0:
            return nowhere
        lane = 0
        for starts, count in zip(self.heard, counts, strict=False):
            if count >= starts[lane + 1] - starts[lane]:
                return nowhere
            lane = int(starts[lane] + count)
        actions = self.silent.action[self.silent.first[node] : self.silent.first[node + 1]]
        if self.levels[self.stones[node]].leaf:
            return actions, self.num_places + actions.size - 1 if actions.size else -1
        return actions, int(self.base[node]) + lane


@kernel(types.void(I64, I32, I32, I64, I64, I8, I8, I32))
def _follow(first, collide, place, starts, starts_at, stones, collisions, own_lane):
    """Own stones, collisions in this turn, and the lane of the own finished turns, of all nodes of a silent graph.
    ``starts``: the count vectors of all turns, those of turn t from ``starts_at[t]``."""
    if stones.size:
        stones[0] = 0
        collisions[0] = 0
        own_lane[0] = 0
    for i in range(first.size - 1):
        for s in range(first[i], first[i + 1]):
            child = collide[s]
            if child >= 0:
                stones[child] = stones[i]
                collisions[child] = collisions[i] + 1
                own_lane[child] = own_lane[i]
            child = place[s]
            if child >= 0:
                stones[child] = stones[i] + 1
                collisions[child] = 0
                own_lane[child] = starts[starts_at[stones[i]] + own_lane[i]] + collisions[i]


@kernel(types.void(I64, I32, I32, I32, I32, I32, I32, I64, I8, I32, I32))
def _expand(first, action, collide, place, lanes, base, arrival, first_of, action_of, collide_to, place_to):
    """Repeat the decisions of a silent graph for their lanes."""
    at = 1
    node = 0
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
    stones = np.arange(1 << n, dtype=np.uint32)
    stones = stones[np.bitwise_count(stones) == (n + 1) // 2]
    return bool((~wins[0][stones] & ~wins[1][(1 << n) - 1 - stones]).any())


def announce(player: int, n: int, graph: Graph, settle: bool) -> Announced:
    """The nodes of ``player`` on a board of ``n`` cells. ``graph``: his silent ones; ``settle``: leave out the turn in
    which one cell is empty, which takes a game that cannot be drawn."""
    own, heard = count_vectors(player, n // 2 + 1), count_vectors(1 - player, n // 2 + 1)
    starts_at = np.cumsum([0, *(starts.size for starts in own)])
    own_starts = np.concatenate(own)
    stones, collisions = (np.zeros(graph.num_nodes, dtype=np.int8) for _ in range(2))
    own_lane = np.zeros(graph.num_nodes, dtype=np.int32)
    _follow(graph.first, graph.collide, graph.place, own_starts, starts_at, stones, collisions, own_lane)

    # Places of the decisions, in the order of the silent nodes, then of the arrivals.
    leaf_stones = (n - settle - player + 1) // 2
    leaf = stones >= leaf_stones
    lanes = np.array([number_of_vectors(1 - player, k + player) for k in range(n // 2 + 1)])
    lanes_told = np.array([number_of_vectors(1 - player, max(0, k + player - 1)) for k in range(n // 2 + 1)])
    repeats = np.where(leaf, 0, lanes[stones])
    decisions = np.concatenate([[0], np.cumsum(repeats)])
    arrives = (collisions == 0) & (leaf | (stones > 0))
    arrivals = decisions[-1] + np.concatenate([[0], np.cumsum(np.where(arrives, lanes_told[stones], 0))])
    arrival = np.where(arrives, arrivals[:-1], -1).astype(np.int32)
    base = np.where(leaf, arrival, decisions[:-1]).astype(np.int32)

    levels = []
    child, ways = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int8)]
    for k in range(n // 2 + 1):
        start, stop = np.searchsorted(stones, [k, k + 1])
        levels.append(Level(
            int((lanes_told if k >= leaf_stones else lanes)[k]), number_of_vectors(player, k), k >= leaf_stones,
            slice(int(decisions[start]), int(decisions[stop])), slice(int(arrivals[start]), int(arrivals[stop])),
        ))  # fmt: skip
        here = base[start:stop][arrives[start:stop]]
        if k >= leaf_stones:
            child.append(np.full(here.size * lanes_told[k], -1, dtype=np.int32))
            ways.append(np.zeros(child[-1].size, dtype=np.int8))
        elif k:
            starts = heard[k + player - 1]
            child.append((here[:, None] + starts[:-1].astype(np.int32)).ravel())
            ways.append(np.tile(np.diff(starts).astype(np.int8), here.size))

    width = np.diff(graph.first)
    last = 1 + int((width * repeats).sum())
    first = np.full(int(arrivals[-1]) + n + 1, last, dtype=np.int64)
    first[arrivals[-1] :] += np.arange(n + 1) * np.arange(1, n + 2) // 2
    action = np.full(last, -1, dtype=np.int8)
    collide, place = (np.full(last, -1, dtype=np.int32) for _ in range(2))
    _expand(
        graph.first, graph.action, graph.collide, graph.place, repeats.astype(np.int32), base, arrival, first, action,
        collide, place,
    )  # fmt: skip

    own_nodes, own_start = graph.own_nodes, graph.own_start
    kept = base[own_nodes] >= 0
    own_stones = stones[own_nodes[own_start[:-1]]]
    own_start, own_nodes = np.concatenate([[0], np.cumsum(kept)])[own_start], own_nodes[kept]

    # Of every silent sequence: itself at lane 0, and the own lane that the opponent knows of when it ends the turn.
    told = np.where(2 * stones + player + 1 >= n - settle, own_lane, own_starts[starts_at[stones] + own_lane] + collisions)
    node = np.repeat(np.arange(graph.num_nodes), width)
    sequence, stride, lane = (np.zeros(graph.num_sequences, dtype=d) for d in (np.int32, np.int8, np.int16))
    sequence[1:] = first[base[node]] + np.arange(1, graph.num_sequences) - graph.first[node]
    stride[1:] = width[node]
    lane[1:] = told[node]
    ends = graph.other_sequences

    nothing = np.empty(0, dtype=np.int32)
    silent = dataclasses.replace(
        graph, own_start=nothing, own_nodes=nothing, other_start=nothing, other_sequences=nothing
    )  # fmt: skip
    return Announced(
        silent, tuple(levels), first, action, collide, place, np.concatenate(child), np.concatenate(ways), base, stones,
        own_start, own_stones, base[own_nodes], own_lane[own_nodes].astype(np.int16),
        graph.other_start, sequence[ends], stride[ends], lane[ends], tuple(heard), settle,
    )  # fmt: skip
