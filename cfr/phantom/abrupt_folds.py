"""Where collisions are announced, an action leads to two nodes: the opponent then places a stone, or collides.

Both have the same own actions, so the same place in their blocks, and what can be reached with one stone more can be
reached without it. One of the blocks, that of the collision where there is one, stands for both where actions lead, and
the other is *folded into* it: backward its worth is added, forward it gets the same reach. Kernels take ranges of
blocks of one level.
"""

from __future__ import annotations

from numba import types

from cfr.phantom.abrupt_graph import COUNT, FIRST_NODE, FOLDED_INTO, NUMBERS, PLACES
from cfr.phantom.abrupt_words import I32
from envs.kernels import F64, kernel

_GRAPH = types.int64, types.int64, types.Array(types.int64, 2, "C"), I32, I32


@kernel(types.void(*_GRAPH, F64))
def fold(start, stop, blocks, places, numbers, worth):
    """Add what the nodes of the folded blocks are worth to the nodes that stand for them."""
    for block in range(start, stop):
        into = blocks[block, FOLDED_INTO]
        if into < 0:
            continue
        for i in range(blocks[block, COUNT]):
            number = numbers[blocks[into, NUMBERS] + places[blocks[block, PLACES] + i]]
            worth[blocks[into, FIRST_NODE] + number] += worth[blocks[block, FIRST_NODE] + i]


@kernel(types.void(*_GRAPH, F64))
def unfold(start, stop, blocks, places, numbers, node_reach):
    """Give the nodes of the folded blocks the reach of those that stand for them."""
    for block in range(start, stop):
        into = blocks[block, FOLDED_INTO]
        if into < 0:
            continue
        for i in range(blocks[block, COUNT]):
            number = numbers[blocks[into, NUMBERS] + places[blocks[block, PLACES] + i]]
            node_reach[blocks[block, FIRST_NODE] + i] = node_reach[blocks[into, FIRST_NODE] + number]
