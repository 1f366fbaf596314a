"""Merged information states of a classical phantom placement game, and which of them meet.

Classical: a turn is a set of collisions followed by one placement. The order of the collisions within a turn
does not matter to what follows, so a *node* of a player is (own stones in order, found cell -> turn in which it
was found); it stands for all information states that differ in that order only.

Given both players' placement orders, a player's node is *compatible* with the pair when every stone it has found
in turn t had been placed before his turn t. Nothing else ties the two players' nodes together: this is what makes
the sums of ``cfr.phantom.masses`` replace the walk over histories.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numba import types

from envs.kernels import kernel

I8 = types.Array(types.int8, 1, "C")
I8 = types.Array(types.int8, 1, "C")
I32 = types.Array(types.int32, 1, "C")
I64 = types.Array(types.int64, 1, "C")
I32_2D = types.Array(types.int32, 2, "C")
WINS = types.Array(types.bool_, 2, "C")

NO_NODE = -1  # the collision cannot happen / the opponent wins before the player is asked again
WON = -2  # the placement wins
DRAWN = -3  # the placement fills the board and nobody has won


@kernel(types.Array(types.int32, 1, "C")(I32, types.int64))
def _longer(array, size):
    """The array with room for ``size`` entries at least."""
    if size <= array.size:
        return array
    result = np.empty(max(size, 2 * array.size), dtype=np.int32)
    result[: array.size] = array
    return result


@kernel(types.Array(types.int32, 2, "C")(I32_2D, types.int64))
def _taller(array, size):
    """The array with room for ``size`` rows at least; new entries are -1."""
    if size <= array.shape[0]:
        return array
    result = np.full((max(size, 2 * array.shape[0]), array.shape[1]), -1, dtype=np.int32)
    result[: array.shape[0]] = array
    return result


_GROWN = types.Tuple((I32_2D, I32_2D, I32_2D, I32, I64, I32, I64))


@kernel(_GROWN(types.int64, types.int64, WINS))
def _grow(player, n, wins):
    """Walk all pairs of placement orders, growing one player's nodes.

    Returns ``info`` int32[N, 6] (own stones, found cells, last cell found this turn or -1, node before that
    collision, placement order, placements), ``found`` and ``placed`` int32[N, n] (children by cell), then for the
    pairs in which the player is to move: the compatible nodes, one pair after the other, and where each pair starts;
    and the same for the pairs in which the other is to move, with the nodes that this player's last placement led to.
    """
    info = np.full((1024, 6), -1, dtype=np.int32)
    collide = np.full((1024, n), -1, dtype=np.int32)
    placed = np.full((1024, n), -1, dtype=np.int32)
    order_child = np.full((1024, n), -1, dtype=np.int32)
    nodes = 1
    info[0, 0] = 0
    info[0, 1] = 0
    info[0, 4] = 0
    info[0, 5] = 0
    orders = 1
    own_entries = np.empty(1024, dtype=np.int32)
    own_size = 0
    own_start = np.zeros(1024, dtype=np.int64)
    own_pairs = 0
    other_entries = np.empty(1024, dtype=np.int32)
    other_size = 0
    other_start = np.zeros(1024, dtype=np.int64)
    other_pairs = 0

    levels = n + 2
    # Level l: mover l % 2 has placed l // 2 stones. made[l]: this player's nodes after the placement at level l - 2.
    stones = np.zeros((levels, 2), dtype=np.int64)
    order = np.zeros(levels, dtype=np.int64)  # placement order of this player
    action = np.full(levels, -1, dtype=np.int64)
    width = 1
    for k in range(2, n // 2 + 3):
        width *= k
    made = np.zeros((levels + 2, width), dtype=np.int32)
    made_size = np.zeros(levels + 2, dtype=np.int64)
    made[player, 0] = 0  # the root, as if placed before the first own level
    made_size[player] = 1
    dec = np.zeros((levels, width), dtype=np.int32)
    dec_size = np.zeros(levels, dtype=np.int64)

    level = 0
    entering = True
    while level >= 0:
        mover = level % 2
        if entering:
            entering = False
            action[level] = -1
            if mover == player:
                size = 0
                theirs = stones[level, 1 - player]
                for i in range(made_size[level]):
                    dec[level, size] = made[level, i]
                    size += 1
                i = 0
                while i < size and level < n:  # a full board is drawn: nobody acts any more
                    node = dec[level, i]
                    i += 1
                    for cell in range(info[node, 2] + 1, n):
                        if theirs >> cell & 1 == 0 or info[node, 1] >> cell & 1:
                            continue
                        child = collide[node, cell]
                        if child < 0:
                            child = nodes
                            nodes += 1
                            info = _taller(info, nodes)
                            collide = _taller(collide, nodes)
                            placed = _taller(placed, nodes)
                            info[child, 0] = info[node, 0]
                            info[child, 1] = info[node, 1] | 1 << cell
                            info[child, 2] = cell
                            info[child, 3] = node
                            info[child, 4] = info[node, 4]
                            info[child, 5] = info[node, 5]
                            collide[node, cell] = child
                        dec[level, size] = child
                        size += 1
                dec_size[level] = size
                own_entries = _longer(own_entries, own_size + size)
                own_entries[own_size : own_size + size] = dec[level, :size]
                own_size += size
                own_pairs += 1
                if own_pairs >= own_start.size:
                    longer = np.empty(2 * own_start.size, dtype=np.int64)
                    longer[: own_start.size] = own_start
                    own_start = longer
                own_start[own_pairs] = own_size
            else:
                # The player's last placement was at level - 1, its nodes are made[level + 1].
                size = made_size[level + 1]
                other_entries = _longer(other_entries, other_size + size)
                other_entries[other_size : other_size + size] = made[level + 1, :size]
                other_size += size
                other_pairs += 1
                if other_pairs >= other_start.size:
                    longer = np.empty(2 * other_start.size, dtype=np.int64)
                    longer[: other_start.size] = other_start
                    other_start = longer
                other_start[other_pairs] = other_size
        # Next placement at this level.
        cell = action[level] + 1
        taken = stones[level, 0] | stones[level, 1]
        while cell < n and (taken >> cell & 1 or wins[mover, stones[level, mover] | 1 << cell]):
            cell += 1
        if cell == n:
            level -= 1
            continue
        action[level] = cell
        stones[level + 1, 1 - mover] = stones[level, 1 - mover]
        stones[level + 1, mover] = stones[level, mover] | 1 << cell
        order[level + 1] = order[level]
        if mover == player:
            longer_order = order_child[order[level], cell]
            if longer_order < 0:
                longer_order = orders
                orders += 1
                order_child = _taller(order_child, orders)
                order_child[order[level], cell] = longer_order
            order[level + 1] = longer_order
            for i in range(dec_size[level]):
                node = dec[level, i]
                child = placed[node, cell]
                if child < 0:
                    child = nodes
                    nodes += 1
                    info = _taller(info, nodes)
                    collide = _taller(collide, nodes)
                    placed = _taller(placed, nodes)
                    info[child, 0] = info[node, 0] | 1 << cell
                    info[child, 1] = info[node, 1]
                    info[child, 2] = -1
                    info[child, 3] = -1
                    info[child, 4] = longer_order
                    info[child, 5] = info[node, 5] + 1
                    placed[node, cell] = child
                made[level + 2, i] = child
            made_size[level + 2] = dec_size[level]
        level += 1
        entering = True
    return (
        info[:nodes].copy(), collide[:nodes].copy(), placed[:nodes].copy(),
        own_entries[:own_size].copy(), own_start[: own_pairs + 1].copy(),
        other_entries[:other_size].copy(), other_start[: other_pairs + 1].copy(),
    )


@dataclasses.dataclass(frozen=True, eq=False)
class Graph:
    """One player's nodes, parents before children, and the pairs they meet in.

    Sequences as in ``cfr.tree.Treeplex``: sequence 0 is the empty one, node i owns ``first[i]:first[i + 1]`` (int64),
    one a legal action. ``action`` int32[S]; ``collide`` int32[S]: the node that a collision leads to, or NO_NODE;
    ``place`` int32[S]: the node after a placement and the opponent's turn, WON, DRAWN or NO_NODE. A node has one
    parent by placement, or one by collision for each cell found this turn. A node without actions is a drawn game
    that the opponent ended.
    ``own_start``/``own_nodes``: the compatible nodes of each pair of placement orders in which this player is to
    move; ``other_start``/``other_sequences``: of each pair in which the opponent is, the placements (sequences of
    this player) that lead there.
    """

    first: np.ndarray
    action: np.ndarray
    collide: np.ndarray
    place: np.ndarray
    own_start: np.ndarray
    own_nodes: np.ndarray
    other_start: np.ndarray
    other_sequences: np.ndarray

    @property
    def num_nodes(self) -> int:
        return self.first.size - 1

    @property
    def num_places(self) -> int:
        """Size of arrays over the nodes."""
        return self.num_nodes

    @property
    def num_sequences(self) -> int:
        return self.action.size

    @property
    def nbytes(self) -> int:
        return sum(getattr(self, field.name).nbytes for field in dataclasses.fields(self))

    def find(self, tokens: np.ndarray) -> int:
        """The node after own actions (``2 * cell + collided`` each); -1 when there is none."""
        node = 0 if self.num_nodes else -1
        for token in tokens.tolist():
            own = slice(int(self.first[node]), int(self.first[node + 1]))
            at = int(np.searchsorted(self.action[own], token >> 1)) + own.start
            if at >= own.stop or self.action[at] != token >> 1:
                return -1
            node = int(self.collide[at] if token & 1 else self.place[at])
            if node < 0:
                return -1
        return node


@kernel(types.int64(I32_2D, I32_2D, types.int64, types.int64))
def _after_collision(info, collide, node, cell):
    """The node after running into ``cell`` at ``node``. Links were made for increasing cells of a turn only;
    the others go back to before the larger cells and take them again."""
    larger = 0
    while info[node, 2] > cell:
        larger |= 1 << info[node, 2]
        node = info[node, 3]
    node = collide[node, cell]
    while node >= 0 and larger:
        lowest = 0
        while larger >> lowest & 1 == 0:
            lowest += 1
        larger &= larger - 1
        node = collide[node, lowest]
    return node


@kernel(types.int64(I32_2D, I32, I32, types.int64, types.int64, WINS, I32_2D, I32_2D, I64, I32, I32, I32))
def _link(info, rank, by_rank, player, n, wins, collide, placed, first, action, collide_to, place_to):
    """Sequences of the ranked nodes; returns their number. With empty output arrays only ``first`` is written."""
    at = 1
    for new in range(by_rank.size):
        node = by_rank[new]
        first[new] = at
        own, found = info[node, 0], info[node, 1]
        for cell in range(n):
            if (own | found) >> cell & 1 or 2 * info[node, 5] + player >= n:
                continue
            if action.size:
                action[at] = cell
                collide_to[at] = NO_NODE
                child = _after_collision(info, collide, node, cell)
                if child >= 0:
                    collide_to[at] = rank[child]
                place_to[at] = NO_NODE
                if wins[player, own | 1 << cell]:
                    place_to[at] = WON
                elif 2 * info[node, 5] + player == n - 1:
                    place_to[at] = DRAWN
                elif placed[node, cell] >= 0:
                    place_to[at] = rank[placed[node, cell]]
            at += 1
    first[by_rank.size] = at
    return at


@kernel(types.void(I32_2D, I32_2D, I32, I64, I32, types.int64, I32))
def _placements(info, placed, rank, first, action, n, sequence_of):
    """``sequence_of[child]``: the sequence whose placement leads to a node (ranked or not)."""
    for node in range(info.shape[0]):
        if rank[node] < 0:
            continue
        for at in range(first[rank[node]], first[rank[node] + 1]):
            child = placed[node, action[at]]
            if child >= 0:
                sequence_of[child] = at


def build_graph(player: int, n: int, wins: np.ndarray) -> Graph:
    """Nodes of ``player`` on a board of ``n`` cells; ``wins`` bool[2, 2**n]: the stones (bit mask) of each player
    that win."""
    info, collide, placed, own_nodes, own_start, other_nodes, other_start = _grow(player, n, wins)
    total = info.shape[0]
    decides = np.zeros(total, dtype=np.bool_)
    decides[own_nodes] = True
    nodes = np.flatnonzero(decides)
    found = np.bitwise_count(info[nodes, 1].astype(np.uint32))
    by_rank = nodes[np.lexsort((found, info[nodes, 4], info[nodes, 5]))].astype(np.int32)
    rank = np.full(total, NO_NODE, dtype=np.int32)
    rank[by_rank] = np.arange(by_rank.size, dtype=np.int32)
    first = np.empty(by_rank.size + 1, dtype=np.int64)
    nothing = np.empty(0, dtype=np.int32)
    arguments = info, rank, by_rank, player, n, wins, collide, placed, first
    size = _link(*arguments, nothing, nothing, nothing)
    action, collide_to, place_to = (np.full(size, -1, dtype=np.int32) for _ in range(3))
    _link(*arguments, action, collide_to, place_to)
    sequence_of = np.zeros(total, dtype=np.int32)  # the root follows the empty sequence
    _placements(info, placed, rank, first, action, n, sequence_of)
    return Graph(first, action, collide_to, place_to, own_start, rank[own_nodes], other_start, sequence_of[other_nodes])
