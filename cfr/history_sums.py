"""Counterfactual regrets summed history by history, in the order and with the rounding of OpenSpiel.

The sequence form gives the same regrets up to rounding, many times faster. But where all regrets of an
information set are zero but for rounding (frequent on small symmetric boards), the sign of the rounding error
decides the next strategy. Comparing iterates with OpenSpiel's therefore needs its very operations: post-order
over the histories, each one's ``reach of the others * (value of the action - value of the node)`` added on its
own. Meant for cross-checks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import types

from cfr.tree import Tree
from envs.kernels import F64, kernel

I32 = types.Array(types.int32, 1, "C")
I64 = types.Array(types.int64, 1, "C")
F64_2D = types.Array(types.float64, 2, "C")


@kernel(types.void(I64, I64, I64))
def _post_order(first_child, children, out):
    """Nodes such that each comes after its children, and these in their order."""
    stack = np.empty(first_child.size, dtype=np.int64)
    cursor = first_child[:-1].copy()
    stack[0], depth, count = 0, 0, 0
    while depth >= 0:
        node = stack[depth]
        if cursor[node] < first_child[node + 1]:
            depth += 1
            stack[depth] = children[cursor[node]]
            cursor[node] += 1
        else:
            out[count] = node
            count += 1
            depth -= 1


@kernel(
    types.void(
        types.int64, I64, I32, I64, I64, F64, F64_2D, I64, I64, F64, F64_2D, F64, F64, F64
    )
)  # fmt: skip
def _add_regrets(
    me, order, player, first_child, children, chance, returns,
    offsets, first_sequence_of_node, behaviour, reach, value, instantaneous, regrets,
):  # fmt: skip
    num_players = reach.shape[1] - 1  # the last column is chance's
    for p in range(num_players + 1):
        reach[0, p] = 1.0
    for node in range(player.size):  # parents come before their children
        mover = player[node]
        for c in range(first_child[node], first_child[node + 1]):
            child = children[c]
            for p in range(num_players + 1):
                reach[child, p] = reach[node, p]
            if mover >= 0:
                reach[child, mover] *= behaviour[first_sequence_of_node[node] + c - first_child[node]]
            else:
                reach[child, num_players] *= chance[c]
    for at in range(order.size):
        node = order[at]
        mover = player[node]
        start, stop = first_child[node], first_child[node + 1]
        if start == stop:
            value[node] = returns[node, me]
            continue
        total = 0.0
        for c in range(start, stop):
            if mover >= 0:
                total += behaviour[first_sequence_of_node[node] + c - start] * value[children[c]]
            else:
                total += chance[c] * value[children[c]]
        value[node] = total
        if mover == me:
            others = 1.0
            for p in range(num_players + 1):
                if p != me:
                    others *= reach[node, p]
            first = first_sequence_of_node[node] - offsets[me]
            for c in range(start, stop):
                regret = others * (value[children[c]] - total)
                instantaneous[first + c - start] += regret
                regrets[first + c - start] += regret


class HistorySums:
    """Scratch arrays of the sums on one tree (built with ``keep_histories=True``)."""

    def __init__(self, tree: Tree) -> None:
        if tree.histories is None:
            raise ValueError(
                f"the tree of {tree.spec} holds no histories; build it with build_tree(game, keep_histories=True)"
            )
        self._tree, self._nodes = tree, tree.histories
        count = self._nodes.player.size
        self._order = np.empty(count, dtype=np.int64)
        _post_order(self._nodes.first_child, self._nodes.children, self._order)
        self._first = np.full(count, -1, dtype=np.int64)  # first sequence of a decision, through all players
        for player, plex in enumerate(tree.treeplexes):
            mine = self._nodes.player == player
            self._first[mine] = plex.first_sequence[self._nodes.infoset[mine]] + tree.offsets[player]
        self._reach = np.empty((count, tree.num_players + 1))
        self._value = np.empty(count)

    def add_regrets(
        self, player: int, behaviour: Sequence[np.ndarray], instantaneous: np.ndarray, regrets: np.ndarray
    ) -> None:
        """Add the player's instantaneous regrets to ``regrets`` and leave them in ``instantaneous`` (float64[S])."""
        instantaneous.fill(0.0)
        nodes = self._nodes
        _add_regrets(
            player, self._order, nodes.player, nodes.first_child, nodes.children, nodes.chance,
            nodes.returns, self._tree.offsets, self._first, np.concatenate(behaviour), self._reach, self._value,
            instantaneous, regrets,
        )  # fmt: skip
