"""Masses of the nodes of ``cfr.phantom.announced``, and what arrivals are: sums over their nodes.

Given both placement orders and both count vectors, the players' collisions are independent; the sums of
``cfr.phantom.masses`` become sums of rows over the count vectors.
"""

from __future__ import annotations

import numpy as np
from numba import types

from cfr.phantom.announced import I8, LANE_AFTER, LANE_BEFORE, SEQUENCE, STRIDE
from cfr.phantom.classical import I32, I32_2D, I64
from envs.kernels import F64, kernel

FLAGS = types.Array(types.bool_, 1, "C")


@kernel(types.void(I64, I32, I32, I8, I32, I64, I64, FLAGS, I64, I32, I32_2D, F64, F64))
def masses(
    own_start, own_nodes, base, stones, own_lane, lanes, own_lanes, leaf, other_start, other_sequences, senders, reach,
    mass,
):  # fmt: skip
    """Masses of the decisions and of the leaves' arrivals of ``mass`` float64[places], which holds zeros before.

    ``lanes``, ``own_lanes``, ``leaf``: as in ``Level``, by own stones; ``senders``, ``reach``: of the opponent. At a
    leaf nothing is heard of his last turn.
    """
    sums = np.empty(np.max(lanes * own_lanes))
    for pair in range(own_start.size - 1):
        k = stones[own_nodes[own_start[pair]]]
        width, height = lanes[k], own_lanes[k]
        told = LANE_BEFORE if leaf[k] else LANE_AFTER
        sums[: width * height] = 0.0
        for e in range(other_start[pair], other_start[pair + 1]):
            s = other_sequences[e]
            at, stride, lane = senders[s, SEQUENCE], senders[s, STRIDE], senders[s, told]
            for row in range(height):
                sums[row * width + lane] += reach[at + row * stride]
        for e in range(own_start[pair], own_start[pair + 1]):
            node = own_nodes[e]
            row, to = own_lane[node] * width, base[node]
            for lane in range(width):
                mass[to + lane] += sums[row + lane]


@kernel(types.void(types.int64, types.int64, types.int64, I32, I8, F64))
def gather(start, stop, nodes, child, ways, numbers):
    """``numbers[i]`` of the arrivals start..stop-1: the sum over their nodes. ``nodes``: the place of arrival 0."""
    for i in range(start, stop):
        total = 0.0
        for way in range(ways[i - nodes]):
            total += numbers[child[i - nodes] + way]
        numbers[i] = total


@kernel(types.void(types.int64, types.int64, types.int64, I32, I8, F64))
def spread(start, stop, nodes, child, ways, numbers):
    """Give the nodes of the arrivals start..stop-1 the number of their arrival."""
    for i in range(start, stop):
        for way in range(ways[i - nodes]):
            numbers[child[i - nodes] + way] = numbers[i]
