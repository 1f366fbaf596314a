"""The information states behind merged nodes: one for every order of the collisions within a turn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba import types

from cfr.keys import KeyTable
from cfr.phantom.classical import I32, I64, Graph
from cfr.sweeps import behaviour_of
from envs.kernels import F64, kernel


@kernel(types.int64(I64, I32, I32, I32, I32, I32, I64))
def _expand(first, collide, place, node, parent_sequence, token_outcome, first_unmerged):
    """All information states, parents before children; returns their number. With empty arrays it only counts.

    ``parent_sequence`` counts the unmerged sequences; ``token_outcome``: how the parent's action ended.
    """
    counting = first_unmerged.size == 0
    capacity = 1024 if counting else node.size
    at = node if not counting else np.empty(capacity, dtype=np.int32)
    size = min(1, first.size - 1)  # a player who never decides has no nodes
    if size:
        at[0] = 0
        if not counting:
            parent_sequence[0] = 0
            token_outcome[0] = 0
    sequences = 1
    i = 0
    while i < size:
        here = at[i]
        if not counting:
            first_unmerged[i] = sequences
        for s in range(first[here], first[here + 1]):
            for outcome in range(2):
                child = place[s] if outcome == 0 else collide[s]
                if child < 0 or first[child] == first[child + 1]:
                    continue
                if counting and size == capacity:
                    longer = np.empty(2 * capacity, dtype=np.int32)
                    longer[:capacity] = at
                    at = longer
                    capacity *= 2
                at[size] = child
                if not counting:
                    parent_sequence[size] = sequences
                    token_outcome[size] = outcome
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


@kernel(types.int64(I64, I32, I32, I32, I32, I64, I32))
def _tokens(first_unmerged, action, parent_sequence, outcome, infoset_of, offsets, out):
    """Information tokens of all states, one after the other (``offsets``, in tokens); returns their number."""
    offsets[0] = 0
    for i in range(offsets.size - 1):
        length = 0
        if parent_sequence[i] > 0:
            parent = infoset_of[parent_sequence[i]]
            length = offsets[parent + 1] - offsets[parent] + 1
            if out.size:
                for k in range(length - 1):
                    out[offsets[i] + k] = out[offsets[parent] + k]
                out[offsets[i] + length - 1] = 2 * action[parent_sequence[i]] + outcome[i]
        offsets[i + 1] = offsets[i] + length
    return offsets[offsets.size - 1]


class Unmerged:
    """``node`` int32[n]: the merged node of information state i; ``parent_sequence`` int32[n] and ``first``
    int64[n + 1] as in ``cfr.tree.Treeplex``; ``action`` int32[sequences]; ``outcome`` int32[n]: whether the parent's
    action collided (1) or placed (0). Only information states with a decision."""

    def __init__(self, graph: Graph, player: int) -> None:
        self.graph, self.player = graph, player
        links = graph.first, graph.collide, graph.place
        none = np.empty(0, dtype=np.int32)
        n = _expand(*links, none, none, none, np.empty(0, dtype=np.int64))
        self.node, self.parent_sequence, self.outcome = (np.empty(n, dtype=np.int32) for _ in range(3))
        self.first = np.empty(n + 1, dtype=np.int64)
        _expand(*links, self.node, self.parent_sequence, self.outcome, self.first)
        counts = np.diff(self.first)
        within = np.arange(int(self.first[-1]) - 1) - np.repeat(self.first[:-1] - 1, counts)
        self.action = np.full(int(self.first[-1]), -1, dtype=np.int32)
        self.action[1:] = graph.action[np.repeat(graph.first[self.node], counts) + within]

    @property
    def num_infosets(self) -> int:
        return self.node.size

    def keys(self) -> KeyTable:
        """The information states' keys (tokens), as in a TabularPolicy."""
        infoset_of = np.zeros(self.action.size, dtype=np.int32)
        infoset_of[1:] = np.repeat(np.arange(self.node.size, dtype=np.int32), np.diff(self.first))
        offsets = np.empty(self.node.size + 1, dtype=np.int64)
        arguments = self.first, self.action, self.parent_sequence, self.outcome, infoset_of, offsets
        tokens = np.empty(_tokens(*arguments, np.empty(0, dtype=np.int32)), dtype=np.int32)
        _tokens(*arguments, tokens)
        return KeyTable.from_tokens(tokens, offsets)

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
