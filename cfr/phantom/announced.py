"""Merged nodes of a classical game in which collisions are announced.

A player hears how often the opponent collides in each of his turns: a count vector (``cfr.phantom.counts``). A node is
a node of the silent game (``cfr.phantom.classical``), which says what the player's own actions were, times a vector
that he has heard: its *lane*. A placement leads to an *arrival* (the node after it, the lane before it), where the
opponent's turn is heard of; the arrival stands for all nodes that continue its lane.

In a game that cannot be drawn the last stone wins, whatever the player does in the turn in which one cell is empty. The
nodes of that turn are left out; their arrivals are *leaves*, worth their mass. The actions there are those of a few
idle nodes, one for every number of cells not known, which no sweep visits. In other games the leaves are the full
boards, worth nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from cfr.phantom.classical import Graph


@dataclasses.dataclass(frozen=True)
class Level:
    """A player's nodes with k own stones.

    ``lanes``: count vectors that he can have heard; ``own_lanes``: his own ones, of finished turns; ``decisions`` and
    ``arrivals``: their places. The arrivals of a ``leaf`` level are leaves, and it has no decisions.
    """

    lanes: int
    own_lanes: int
    leaf: bool
    decisions: slice
    arrivals: slice


@dataclasses.dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of placement orders that masses are summed over.

    ``own_start`` int64: where the compatible nodes of each pair in which this player is to move start; of each node
    ``own_places`` int32, the place of its lane 0, and ``own_lanes`` int16, its own lane. Of each such pair
    ``own_stones`` int8, the player's stones.
    ``other_start`` int64: where the placements that lead to each pair in which the opponent is to move start; of each
    placement ``other_sequences`` int32, the sequence at lane 0, ``other_strides`` int8, how far it is to the one at
    the next lane, and ``other_lanes`` int16, its own lane: after the placement, but at a leaf, where nothing is heard
    of this turn, before it.
    """

    own_start: np.ndarray
    own_places: np.ndarray
    own_lanes: np.ndarray
    own_stones: np.ndarray
    other_start: np.ndarray
    other_sequences: np.ndarray
    other_strides: np.ndarray
    other_lanes: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Announced:
    """One player's nodes. Places: the decisions, the arrivals (leaves last), the idle nodes.

    ``first`` int64, ``action`` int8, ``collide`` and ``place`` int32: as in ``cfr.phantom.classical.Graph``; ``place``
    leads to arrivals. ``child`` int32 and ``ways`` int8, one an arrival: it stands for the nodes
    ``child:child + ways``, for none when it is a leaf.
    ``silent``: the nodes without lanes, its pairs left out, with ``base`` int32, the place of their lane 0, and
    ``stones`` int8, the player's. ``heard``: the opponent's count vectors. ``settled``: whether the leaves are won.
    """

    levels: tuple[Level, ...]
    first: np.ndarray
    action: np.ndarray
    collide: np.ndarray
    place: np.ndarray
    child: np.ndarray
    ways: np.ndarray
    silent: Graph
    base: np.ndarray
    stones: np.ndarray
    heard: tuple[np.ndarray, ...]
    pairs: Pairs
    settled: bool

    @property
    def num_nodes(self) -> int:
        """Decisions."""
        return self.levels[-1].decisions.stop

    @property
    def leaves(self) -> slice:
        """Their places."""
        stop = self.num_nodes + self.child.size
        return slice(min((level.arrivals.start for level in self.levels if level.leaf), default=stop), stop)

    @property
    def idle_nodes(self) -> slice:
        """Their places: first that with one action."""
        return slice(self.num_nodes + self.child.size, self.num_places)

    @property
    def idle(self) -> slice:
        """Their sequences."""
        return slice(int(self.first[self.idle_nodes.start]), self.num_sequences)

    @property
    def num_places(self) -> int:
        """Size of arrays over the nodes."""
        return self.first.size - 1

    @property
    def num_sequences(self) -> int:
        return int(self.first[-1])

    @property
    def nbytes(self) -> int:
        parts = [getattr(part, field.name) for part in (self, self.pairs) for field in dataclasses.fields(part)]
        return self.silent.nbytes + sum(part.nbytes for part in parts if isinstance(part, np.ndarray))

    def find(self, own: np.ndarray, counts: Sequence[int]) -> tuple[np.ndarray, int]:
        """(Legal actions, place) after own actions (as in ``Graph.find``) and what was heard; place -1: never."""
        node = self.silent.find(own)
        actions = self.silent.action[self.silent.first[node] : self.silent.first[node + 1]] if node >= 0 else own[:0]
        if actions.size == 0:
            return actions, -1
        lane = 0
        for starts, count in zip(self.heard, counts, strict=False):
            if count >= starts[lane + 1] - starts[lane]:
                return actions, -1
            lane = int(starts[lane] + count)
        if self.levels[self.stones[node]].leaf:
            return actions, self.idle_nodes.start + actions.size - 1
        return actions, int(self.base[node]) + lane
