"""A game given as a list of histories, walked by the same compiled drivers as our own games.

OpenSpiel's games have no kernels, but a tree of theirs (``Tree.histories``) is as good: a state is the number of
a node, an action the rank of a child. A player's information tokens are one a decision: the rank of the infoset
among those with the same previous infoset of his.
"""

from __future__ import annotations

import numpy as np

from cfr.tree import Tree
from envs.kernels import (
    APPLY,
    CURRENT_PLAYER,
    INFORMATION_SPAN,
    LEGAL,
    OBSERVE,
    RESET,
    RETURNS,
    Kernels,
    helper,
    kernel,
)

# Params: sizes, then where the sections start.
PLAYERS, LOG_CAPACITY, MOVER, TOKEN, FIRST_CHILD, CHILDREN, PAYOFFS, NUM_PARAMS = range(8)
# Row: the node, the length of each player's log, the logs.
NODE, LOG_LENGTH = 0, 1


@helper
def _enter(params, row, node):
    """Go to a node and tell its player which infoset it is in."""
    row[NODE] = node
    player = params[params[MOVER] + node]
    if player >= 0:
        length = row[LOG_LENGTH + player]
        row[LOG_LENGTH + params[PLAYERS] + player * params[LOG_CAPACITY] + length] = params[params[TOKEN] + node]
        row[LOG_LENGTH + player] = length + 1


@kernel(RESET, allocates=False)
def reset(params, row):
    for player in range(params[PLAYERS]):
        row[LOG_LENGTH + player] = 0
    _enter(params, row, 0)


@kernel(CURRENT_PLAYER, allocates=False)
def current_player(params, row):
    return params[params[MOVER] + row[NODE]]


@kernel(LEGAL, allocates=False)
def legal(params, row, mask):
    first = params[FIRST_CHILD] + row[NODE]
    count = np.int64(params[first + 1] - params[first])
    for i in range(mask.size):
        mask[i] = i < count
    return count


@kernel(APPLY, allocates=False)
def apply(params, row, action):
    first = params[params[FIRST_CHILD] + row[NODE]]
    _enter(params, row, params[params[CHILDREN] + first + action])


@kernel(RETURNS)
def returns(params, row, out):
    payoffs = params[params[PAYOFFS] :].view(np.float64)
    for player in range(params[PLAYERS]):
        out[player] = payoffs[row[NODE] * params[PLAYERS] + player]


@kernel(OBSERVE, allocates=False)
def observe(params, row, player, view, out):
    out[:] = 0.0  # there is nothing to see in a list of histories


@kernel(INFORMATION_SPAN, allocates=False)
def information_span(params, row, player):
    start = np.int64(LOG_LENGTH + params[PLAYERS] + player * params[LOG_CAPACITY])
    return start, start + np.int64(row[LOG_LENGTH + player])


class HistoryGame:
    """What a sampler needs of a game, made from a tree that was built with ``keep_histories=True``.

    Beside the attributes of ``envs.core.Game`` that samplers use: ``chance_first`` int64[N + 1] and ``chance_p``, the
    probability of each child of a chance node.
    """

    kernels = Kernels(reset, current_player, legal, apply, returns, observe, information_span)

    def __init__(self, tree: Tree) -> None:
        histories = tree.histories
        if histories is None:
            raise ValueError(
                f"this tree of {tree.spec} has no histories; build it with build_tree(game, keep_histories=True)"
            )
        self.num_players = tree.num_players
        num_nodes = histories.player.size
        counts = np.diff(histories.first_child)
        decides = histories.player >= 0
        self._num_actions = int(counts[decides].max(initial=1))
        # Per player: previous own infoset, rank among those with the same one, own decisions before and here.
        self._previous, self._rank = [], []
        token = np.zeros(num_nodes, dtype=np.int32)
        depth, num_tokens = 1, 1
        for player, plex in enumerate(tree.treeplexes):
            previous = plex.infoset_of_sequence[plex.parent_sequence]
            order = np.argsort(previous, kind="stable")
            runs = np.flatnonzero(np.diff(previous[order], prepend=-2))
            rank = np.empty(previous.size, dtype=np.int32)
            rank[order] = np.arange(previous.size) - np.repeat(runs, np.diff(runs, append=previous.size))
            mine = histories.player == player
            token[mine] = rank[histories.infoset[mine]]
            level = np.ones(previous.size, dtype=np.int64)
            for i in range(previous.size):  # ancestors come first
                if previous[i] >= 0:
                    level[i] += level[previous[i]]
            depth = max(depth, int(level.max(initial=1)))
            num_tokens = max(num_tokens, int(rank.max(initial=0)) + 1)
            self._previous.append(previous)
            self._rank.append((rank, level))
        self.num_tokens, self.max_information_length = num_tokens, depth
        self.row_size = LOG_LENGTH + self.num_players * (1 + depth)
        sections = [histories.player, token, histories.first_child, histories.children]
        starts = NUM_PARAMS + np.cumsum([0, *(section.size for section in sections)])
        starts[-1] += starts[-1] % 2  # float64 payoffs are aligned
        payoffs = histories.returns.astype(np.float64).reshape(-1).view(np.int32)
        if starts[-1] + payoffs.size >= 2**31:
            raise ValueError(f"{tree.spec} has too many histories to be sampled: {num_nodes:,}")
        self.params = np.zeros(starts[-1] + payoffs.size, dtype=np.int32)
        self.params[:NUM_PARAMS] = self.num_players, depth, *starts
        for start, section in zip(starts, [*sections, payoffs], strict=True):
            self.params[start : start + section.size] = section
        self.chance_first, self.chance_p = histories.first_child, histories.chance

    def num_distinct_actions(self) -> int:
        """Most children of a decision."""
        return self._num_actions

    def information_tokens(self, player: int) -> tuple[np.ndarray, np.ndarray]:
        """Tokens (int32) of every infoset of the tree, and their offsets (int64[n + 1])."""
        previous, (rank, level) = self._previous[player], self._rank[player]
        offsets = np.zeros(level.size + 1, dtype=np.int64)
        np.cumsum(level, out=offsets[1:])
        tokens = np.empty(int(offsets[-1]), dtype=np.int32)
        at = offsets[1:] - 1  # fill from the last token backwards, all infosets at once
        infoset = np.arange(level.size)
        while infoset.size:
            tokens[at] = rank[infoset]
            infoset, at = previous[infoset], at - 1
            keep = infoset >= 0
            infoset, at = infoset[keep], at[keep]
        return tokens, offsets
