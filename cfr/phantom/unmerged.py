"""The information states behind merged nodes: one for every order of the collisions within a turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import types

from cfr.keys import KeyTable
from cfr.phantom.classical import I8, I32, I64
from cfr.sweeps import behaviour_of
from envs.kernels import F64, kernel


@kernel(types.int64(I64, I32, I32, types.int64, I32, I8, I32, I32, I32, I32, I64))
def _expand(
    first, collide, place, nodes, child_of, ways, node, parent, parent_sequence, outcome, first_unmerged
):
    """All information states, parents before children; returns their number. With empty arrays it only counts."""
    counting = first_unmerged.size == 0
    capacity = 1024 if counting else node.size
    at = node if not counting else np.empty(capacity, dtype=np.int32)
    size = min(1, nodes)  # a player who never decides has no nodes
    if size:
        at[0] = 0
        if not counting:
            parent[0] = -1
            parent_sequence[0] = 0
            outcome[0] = 0
    sequences = 1
    i = 0
    while i < size:
        here = at[i]
        if not counting:
            first_unmerged[i] = sequences
        for s in range(first[here], first[here + 1]):
            for collided in range(2):
                child = np.int64(collide[s] if collided else place[s])
                if child < 0:
                    continue
                children = 1
                if child >= nodes:  # one for each number of collisions heard
                    children = np.int64(ways[child - nodes])
                    child = np.int64(child_of[child - nodes])
                for heard in range(children):
                    if first[child + heard] == first[child + heard + 1]:
                        continue
                    if counting and size == capacity:
                        longer = np.empty(2 * capacity, dtype=np.int32)
                        longer[:capacity] = at
                        at = longer
                        capacity *= 2
                    at[size] = child + heard
                    if not counting:
                        parent[size] = i
                        parent_sequence[size] = sequences
                        outcome[size] = 2 * heard + collided
                    size += 1
            sequences += 1
        i += 1
    if not counting:
        first_unmerged[size] = sequences
    return size


@kernel(types.void(I64, I64, I32, I32, F64, F64, F64))
def _merge(first, first_unmerged, node, parent_sequence, probability, reach, weight):
    """Add up the realisation of an unmerged behaviour over the sequences of merged nodes."""
    weight[:] = 0.0
    reach[0] = 1.0
    for i in range(node.size):
        here = reach[parent_sequence[i]]
        for k in range(first_unmerged[i + 1] - first_unmerged[i]):
            s = first_unmerged[i] + k
            reach[s] = here * probability[s]
            weight[first[node[i]] + k] += reach[s]


@kernel(types.int64(types.int64, types.int64, I32, I32, I32, I32, types.boolean, types.int64, types.int64, I64, I32))
def _tokens(start, stop, parent, parent_sequence, action, outcome, hears_first, placed, collided, offsets, out):
    """Information tokens of the states start..stop-1, one after the other (``offsets``, in tokens); returns their
    number. ``placed``, ``collided``: the tokens that announce the opponent's actions (``placed`` -1: nothing is
    announced); ``hears_first``: he has moved before the player's first decision."""
    offsets[0] = 0
    for i in range(start, stop):
        length = 1 if hears_first else 0
        state = i
        while parent[state] >= 0:
            length += 1
            if placed >= 0 and outcome[state] & 1 == 0:
                length += 1 + (outcome[state] >> 1)
            state = parent[state]
        at = offsets[i - start] + length
        offsets[i - start + 1] = at
        if out.size == 0:
            continue
        state = i
        while parent[state] >= 0:
            if placed >= 0 and outcome[state] & 1 == 0:
                at -= 1
                out[at] = placed
                for _ in range(outcome[state] >> 1):
                    at -= 1
                    out[at] = collided
            at -= 1
            out[at] = 2 * action[parent_sequence[state]] + (outcome[state] & 1)
            state = parent[state]
        if hears_first:
            out[at - 1] = placed
    return offsets[stop - start]


class Unmerged:
    """``node`` int32[n]: the merged node of information state i; ``parent`` int32[n]: the state before (-1: none);
    ``parent_sequence`` int32[n] and ``first`` int64[n + 1] as in ``cfr.tree.Treeplex``; ``action`` int32[sequences];
    ``outcome`` int32[n]: 1 when the parent's action collided, else twice the number of collisions that were heard of
    before the next decision. Only information states with a decision.

    ``arrivals``: see ``cfr.phantom.announced.Announced``; without them nothing is heard.
    ``announced``: the tokens of the opponent's (placement, collision) as they are heard.
    """

    def __init__(
        self,
        graph: Any,
        player: int,
        arrivals: tuple[np.ndarray, np.ndarray] | None = None,
        announced: tuple[int, int] | None = None,
    ) -> None:
        self.graph = graph
        self._placed, self._collided = announced or (-1, -1)
        self._hears_first = player == 1 and announced is not None
        child, ways = arrivals or (np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int8))
        links = graph.first, graph.collide, graph.place, graph.num_nodes, child, ways
        none = np.empty(0, dtype=np.int32)
        n = _expand(*links, none, none, none, none, np.empty(0, dtype=np.int64))
        self.node, self.parent, self.parent_sequence, self.outcome = (np.empty(n, dtype=np.int32) for _ in range(4))
        self.first = np.empty(n + 1, dtype=np.int64)
        _expand(*links, self.node, self.parent, self.parent_sequence, self.outcome, self.first)
        counts = np.diff(self.first)
        within = np.arange(int(self.first[-1]) - 1) - np.repeat(self.first[:-1] - 1, counts)
        self.action = np.full(int(self.first[-1]), -1, dtype=np.int32)
        self.action[1:] = graph.action[np.repeat(graph.first[self.node], counts) + within]

    @property
    def num_infosets(self) -> int:
        return self.node.size

    def tokens(self, part: slice) -> tuple[np.ndarray, np.ndarray]:
        """Information tokens int32 of some states: those of state ``part.start + i`` are at
        ``offsets[i]:offsets[i + 1]``."""
        offsets = np.empty(part.stop - part.start + 1, dtype=np.int64)
        arguments = (
            part.start, part.stop, self.parent, self.parent_sequence, self.action, self.outcome, self._hears_first,
            self._placed, self._collided, offsets,
        )  # fmt: skip
        tokens = np.empty(_tokens(*arguments, np.empty(0, dtype=np.int32)), dtype=np.int32)
        _tokens(*arguments, tokens)
        return tokens, offsets

    def keys(self) -> KeyTable:
        """The information states' keys (tokens), as in a TabularPolicy."""
        return KeyTable.from_tokens(*self.tokens(slice(0, self.num_infosets)))

    def merge(self, probability: np.ndarray) -> np.ndarray:
        """The behaviour on merged nodes with the realisation of ``probability`` float64[sequences]."""
        weight = np.empty(self.graph.num_sequences)
        _merge(
            self.graph.first, self.first, self.node, self.parent_sequence, probability, np.empty(self.action.size),
            weight,
        )  # fmt: skip
        behaviour = np.empty(weight.size)
        behaviour_of(self.graph.first, weight, behaviour)
        return behaviour

    def batches(self, size: int) -> Iterator[slice]:
        """The information states in slices of at most ``size``."""
        return (slice(start, min(start + size, self.node.size)) for start in range(0, self.node.size, size))
