"""Masses of the nodes of ``cfr.phantom.announced``, and what arrivals are: sums over their nodes.

Given both placement orders and both count vectors, the players' collisions are independent: the sums of
``cfr.phantom.masses`` become sums of rows, a row for each vector.
"""

from __future__ import annotations

import numpy as np
from numba import types

from cfr.phantom.classical import I8, I32, I64
from cfr.prefetch import prefetch
from envs.kernels import F64, kernel

I16 = types.Array(types.int16, 1, "C")

AHEAD = 16  # entries whose numbers are asked for before they are needed
LINE = 8  # numbers in a cache line


@kernel(types.void(I64, I32, I16, I8, I64, I32, I8, I16, I64, I64, F64, F64))
def masses(
    own_start, own_places, own_lanes, own_stones, other_start, other_sequences, other_strides, other_lanes, widths,
    heights, reach, mass,
):  # fmt: skip
    """Masses of the decisions and the leaves; ``mass`` float64[places] holds zeros before.

    ``own_*``: of the player's ``Pairs``; ``other_*``, ``reach``: of the opponent; ``widths``, ``heights``: how many
    vectors the player has heard, and of his own, by his stones.
    """
    sums = np.empty(np.max(widths * heights))
    for pair in range(own_start.size - 1):
        width, height = widths[own_stones[pair]], heights[own_stones[pair]]
        sums[: width * height] = 0.0
        for e in range(other_start[pair], other_start[pair + 1]):
            if e + AHEAD < other_sequences.size:
                at = other_sequences[e + AHEAD]
                for part in range(0, height * other_strides[e + AHEAD], LINE):
                    prefetch(reach, at + part)
            at, stride, lane = other_sequences[e], other_strides[e], other_lanes[e]
            for row in range(height):
                sums[row * width + lane] += reach[at + row * stride]
        for e in range(own_start[pair], own_start[pair + 1]):
            if e + AHEAD < own_places.size:
                prefetch(mass, np.int64(own_places[e + AHEAD]))
            at, row = own_places[e], own_lanes[e] * width
            for lane in range(width):
                mass[at + lane] += sums[row + lane]


_ARRIVALS = types.int64, types.int64, types.int64, I32, I8, F64


@kernel(types.void(*_ARRIVALS))
def gather(start, stop, first, child, ways, numbers):
    """``numbers`` of the arrivals start..stop-1: the sums over their nodes. ``first``: the place of arrival 0."""
    for i in range(start, stop):
        total = 0.0
        for way in range(ways[i - first]):
            total += numbers[child[i - first] + way]
        numbers[i] = total


@kernel(types.void(*_ARRIVALS))
def spread(start, stop, first, child, ways, numbers):
    """Give the nodes of the arrivals start..stop-1 the number of their arrival."""
    for i in range(start, stop):
        for way in range(ways[i - first]):
            numbers[child[i - first] + way] = numbers[i]
