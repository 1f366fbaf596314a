"""Depth-first enumeration of one of our games, entirely in compiled code.

The walk stops whenever a buffer is full; the caller enlarges it (or refuses) and calls again. So memory is
only ever taken in Python, where it is checked against the limit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import types

from cfr.enumeration import Enumeration, Histories, PlayerEnumeration
from cfr.errors import PerfectRecallError
from cfr.keys import KeyTable, hash_of
from envs.core import Game
from envs.kernels import (
    PARAMS,
    TABLE,
    TERMINAL,
    apply_of,
    current_player_of,
    helper,
    information_span_of,
    kernel,
    legal_of,
    returns_of,
)

I32 = types.Array(types.int32, 1, "C")
I32_2D = types.Array(types.int32, 2, "C")
I64 = types.Array(types.int64, 1, "C")
I64_2D = types.Array(types.int64, 2, "C")
F64_2D = types.Array(types.float64, 2, "C")
BOOL_2D = types.Array(types.bool_, 2, "C")

# What the walk returns.
DONE, NODES_FULL, TERMINALS_FULL, INFOSETS_FULL, ACTIONS_FULL, TOKENS_FULL, RECALL, LEGAL_DIFFERS = range(8)
# Positions in the counters array.
DEPTH, NODES, TERMINALS, INFOSETS, ACTIONS, TOKENS, CULPRIT, NUM_COUNTERS = range(8)
# Columns of the infoset array; actions and tokens of infoset i end where those of infoset i + 1 start.
PLAYER, PARENT, FIRST, ACTION_START, TOKEN_START, NUM_COLUMNS = range(6)
ENTER = -2  # cursor of a node that has not been looked at


@helper
def _slot(player, row, start, stop, infosets, tokens, slots):
    """Slot of the infoset (player, row[start:stop]), or the free slot where it belongs."""
    mask = np.uint64(slots.size - 1)
    at = (hash_of(row, start, stop) + np.uint64(player)) & mask
    while True:
        index = slots[np.int64(at)]
        if index < 0:
            return np.int64(at)
        first = infosets[index, TOKEN_START]
        if infosets[index, PLAYER] == player and infosets[index + 1, TOKEN_START] - first == stop - start:
            same = True
            for i in range(stop - start):
                if tokens[first + i] != row[start + i]:
                    same = False
                    break
            if same:
                return np.int64(at)
        at = (at + np.uint64(1)) & mask


@kernel(types.void(I64_2D, I32, I64, types.int64))
def _rehash(infosets, tokens, slots, count):
    for index in range(count):
        start, stop = infosets[index, TOKEN_START], infosets[index + 1, TOKEN_START]
        at = _slot(infosets[index, PLAYER], tokens, start, stop, infosets, tokens, slots)
        slots[at] = index


@kernel(
    types.int64(
        TABLE, PARAMS, I32_2D, BOOL_2D, I32_2D, I32_2D, I64, I64, I64_2D, I32_2D, F64_2D, I64_2D, I32, I32, I64
    )
)
def _walk(
    table, params, rows, masks, frames, sequences, counters, num_sequences,
    nodes, terminal_sequences, terminal_returns, infosets, actions, tokens, slots,
):  # fmt: skip
    """Walk on from where the last call stopped. ``frames[d]`` = (cursor, infoset, actions taken, node) at depth d;
    ``sequences[d]`` = each player's last sequence there; all else grows with the tree. ``nodes[v]`` = (infoset or
    -1, parent node), unless it has no rows: then the nodes are not kept."""
    current_player, legal, apply = current_player_of(table), legal_of(table), apply_of(table)
    returns, information_span = returns_of(table), information_span_of(table)
    num_players = num_sequences.size
    num_actions = masks.shape[1]
    keep_nodes = nodes.shape[0] > 0
    depth = counters[DEPTH]
    while depth >= 0:
        row = rows[depth]
        mask = masks[depth]
        if frames[depth, 0] == ENTER:
            player = current_player(params, row)
            node = counters[NODES]
            if keep_nodes and node == nodes.shape[0]:
                counters[DEPTH] = depth
                return NODES_FULL
            if player == TERMINAL:
                at = counters[TERMINALS]
                if at == terminal_sequences.shape[0]:
                    counters[DEPTH] = depth
                    return TERMINALS_FULL
                for p in range(num_players):
                    terminal_sequences[at, p] = sequences[depth, p]
                returns(params, row, terminal_returns[at])
                counters[TERMINALS] += 1
                counters[NODES] += 1
                if keep_nodes:
                    nodes[node, 0] = -1
                    nodes[node, 1] = frames[depth - 1, 3] if depth > 0 else -1
                depth -= 1
                continue
            count = legal(params, row, mask)
            start, stop = information_span(params, row, player)
            at = _slot(player, row, start, stop, infosets, tokens, slots)
            index = slots[at]
            if index < 0:
                index = counters[INFOSETS]
                status = DONE
                if index + 1 == infosets.shape[0] or 2 * index >= slots.size:
                    status = INFOSETS_FULL
                elif counters[ACTIONS] + count > actions.size:
                    status = ACTIONS_FULL
                elif counters[TOKENS] + stop - start > tokens.size:
                    status = TOKENS_FULL
                if status != DONE:
                    counters[DEPTH] = depth
                    return status
                infosets[index, PLAYER] = player
                infosets[index, PARENT] = sequences[depth, player]
                infosets[index, FIRST] = num_sequences[player]
                for a in range(num_actions):
                    if mask[a]:
                        actions[counters[ACTIONS]] = a
                        counters[ACTIONS] += 1
                for i in range(start, stop):
                    tokens[counters[TOKENS]] = row[i]
                    counters[TOKENS] += 1
                infosets[index + 1, ACTION_START] = counters[ACTIONS]
                infosets[index + 1, TOKEN_START] = counters[TOKENS]
                num_sequences[player] += count
                slots[at] = index
                counters[INFOSETS] += 1
            else:
                if infosets[index, PARENT] != sequences[depth, player]:
                    counters[CULPRIT] = index
                    return RECALL
                first = infosets[index, ACTION_START]
                same = infosets[index + 1, ACTION_START] - first == count
                if same:
                    for i in range(count):
                        if not mask[actions[first + i]]:
                            same = False
                if not same:
                    counters[CULPRIT] = index
                    return LEGAL_DIFFERS
            counters[NODES] += 1
            if keep_nodes:
                nodes[node, 0] = index
                nodes[node, 1] = frames[depth - 1, 3] if depth > 0 else -1
                frames[depth, 3] = node
            frames[depth, 0] = -1
            frames[depth, 1] = index
            frames[depth, 2] = 0
        action = frames[depth, 0] + 1
        while action < num_actions and not mask[action]:
            action += 1
        if action == num_actions:
            depth -= 1
            continue
        frames[depth, 0] = action
        index = frames[depth, 1]
        child = rows[depth + 1]
        for i in range(row.size):
            child[i] = row[i]
        for p in range(num_players):
            sequences[depth + 1, p] = sequences[depth, p]
        sequences[depth + 1, infosets[index, PLAYER]] = infosets[index, FIRST] + frames[depth, 2]
        frames[depth, 2] += 1
        apply(params, child, action)
        depth += 1
        frames[depth, 0] = ENTER
    counters[DEPTH] = -1
    return DONE


def _grown(array: np.ndarray, fill: int | None = None) -> np.ndarray:
    larger = np.empty((2 * array.shape[0], *array.shape[1:]), dtype=array.dtype)
    if fill is not None:
        larger.fill(fill)
    larger[: array.shape[0]] = array
    return larger


def enumerate_kernels(
    game: Game, reserve: Callable[[int, int], None], keep_histories: bool = False
) -> Enumeration:
    """Enumerate ``game``. ``reserve(bytes, terminals)`` is called before a buffer is enlarged and may raise."""
    length, players = game.max_game_length() + 2, game.num_players
    rows = np.zeros((length, game.row_size), dtype=np.int32)
    masks = np.zeros((length, game.num_distinct_actions()), dtype=np.bool_)
    frames = np.zeros((length, 4), dtype=np.int32)
    sequences = np.zeros((length, players), dtype=np.int32)
    counters = np.zeros(NUM_COUNTERS, dtype=np.int64)
    num_sequences = np.ones(players, dtype=np.int64)
    buffers: dict[str, np.ndarray] = {
        "nodes": np.empty((8192 if keep_histories else 0, 2), dtype=np.int64),
        "terminal_sequences": np.empty((4096, players), dtype=np.int32),
        "terminal_returns": np.empty((4096, players), dtype=np.float64),
        "infosets": np.zeros((1024, NUM_COLUMNS), dtype=np.int64),
        "actions": np.empty(4096, dtype=np.int32),
        "tokens": np.empty(8192, dtype=np.int32),
        "slots": np.full(2048, -1, dtype=np.int64),
    }
    full = {
        NODES_FULL: ("nodes",),
        TERMINALS_FULL: ("terminal_sequences", "terminal_returns"),
        INFOSETS_FULL: ("infosets",),
        ACTIONS_FULL: ("actions",),
        TOKENS_FULL: ("tokens",),
    }
    game.kernels.reset(game.params, rows[0])
    frames[0, 0] = ENTER
    table = game.kernels.table
    while True:
        status = _walk(
            table, game.params, rows, masks, frames, sequences, counters, num_sequences, *buffers.values()
        )
        if status not in full:
            break
        taken = sum(buffer.nbytes for buffer in buffers.values())
        more = sum(buffers[name].nbytes for name in full[status])
        reserve(taken + 2 * more, int(counters[TERMINALS]))
        for name in full[status]:
            buffers[name] = _grown(buffers[name])
        if status == INFOSETS_FULL:
            buffers["slots"] = np.full(2 * buffers["slots"].size, -1, dtype=np.int64)
            _rehash(buffers["infosets"], buffers["tokens"], buffers["slots"], counters[INFOSETS])
    count = int(counters[INFOSETS])
    infosets, tokens = buffers["infosets"][: count + 1], buffers["tokens"][: counters[TOKENS]]
    if status != DONE:
        culprit = int(counters[CULPRIT])
        player = int(infosets[culprit, PLAYER])
        seen = tokens[infosets[culprit, TOKEN_START] : infosets[culprit + 1, TOKEN_START]]
        what = (
            "is reached after two different sequences of the player's own actions (no perfect recall)"
            if status == RECALL
            else "has different legal actions in two of its positions"
        )
        raise PerfectRecallError(
            f"{game.spec()}: information set {game.information_string(player, seen)!r} of player {player} {what}"
        )
    returns = buffers["terminal_returns"][: counters[TERMINALS]]
    return Enumeration(
        num_histories=int(counters[NODES]),
        terminal_sequences=buffers["terminal_sequences"][: counters[TERMINALS]],
        terminal_payoffs=returns,
        terminal_chance=np.ones(returns.shape[0]),
        players=tuple(
            _split(p, infosets, buffers["actions"][: counters[ACTIONS]], tokens) for p in range(players)
        ),
        histories=_histories(buffers["nodes"][: counters[NODES]], infosets, returns) if keep_histories else None,
    )


def _histories(nodes: np.ndarray, infosets: np.ndarray, terminal_returns: np.ndarray) -> Histories:
    """The nodes with each player's own numbering of infosets; terminals come in the order of the nodes."""
    player_of, within = infosets[:-1, PLAYER], np.empty(infosets.shape[0] - 1, dtype=np.int32)
    for player in range(terminal_returns.shape[1]):
        mine = player_of == player
        within[mine] = np.arange(int(mine.sum()))
    ended = nodes[:, 0] < 0
    returns = np.zeros((nodes.shape[0], terminal_returns.shape[1]))
    returns[ended] = terminal_returns
    return Histories.from_parents(
        player=np.where(ended, TERMINAL, player_of[nodes[:, 0]]).astype(np.int32),
        infoset=np.where(ended, -1, within[nodes[:, 0]]).astype(np.int32),
        parent=np.ascontiguousarray(nodes[:, 1]),
        probability=np.ones(nodes.shape[0]),
        returns=returns,
    )


def _split(player: int, infosets: np.ndarray, actions: np.ndarray, tokens: np.ndarray) -> PlayerEnumeration:
    """One player's infosets, in the order in which they were found."""
    mine = np.flatnonzero(infosets[:-1, PLAYER] == player)
    own_actions, action_offsets = _pieces(infosets[mine, ACTION_START], infosets[mine + 1, ACTION_START])
    own_tokens, token_offsets = _pieces(infosets[mine, TOKEN_START], infosets[mine + 1, TOKEN_START])
    return PlayerEnumeration(
        parent_sequence=infosets[mine, PARENT].astype(np.int32),
        first_sequence=action_offsets + 1,
        actions=np.concatenate([[-1], actions[own_actions]]).astype(np.int32),
        keys=KeyTable.from_tokens(tokens[own_tokens], token_offsets),
    )


def _pieces(starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the ranges [start, stop) one after the other, and the offsets of the ranges therein."""
    offsets = np.zeros(starts.size + 1, dtype=np.int64)
    np.cumsum(stops - starts, out=offsets[1:])
    return np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], stops - starts), offsets
