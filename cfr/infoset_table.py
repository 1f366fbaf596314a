"""The growing table of information sets behind the samplers: one trie a player over his information tokens.

A player's information tokens only grow along a game, so a walk keeps a position per player and looks at new tokens
alone: the whole key is compared, token by token, without hashing. Everything lives in one pool of 8-byte words:

* position (``block``): uint32 word of its links (0: none yet), uint16 number of legal actions, uint16 legal
  actions, then float64 regrets and float64 cumulative policy, one a legal action, where there is a choice (two
  actions or more). What a visit reads lies together, so it costs one or two cache lines.
* position at which nobody has had to decide yet (number of actions 0): its second word is the block of its
  decision, if it ever gets one.
* links: uint32 a token, the block after that token (0: none yet). Positions without successors have no links.

Each player's blocks come from chunks of his own, so that neighbours in his trie are neighbours in memory.
"""

from __future__ import annotations

import numpy as np
from numba import types

from cfr.prefetch import prefetch
from envs.kernels import ROW, helper, kernel

F64 = types.Array(types.float64, 1, "C")
U32 = types.Array(types.uint32, 1, "C")
U16 = types.Array(types.uint16, 1, "C")
I64 = types.Array(types.int64, 1, "C")

WORD = 8
MAX_BYTES = WORD << 32  # links are 32-bit word numbers
MOST_WORDS = 1 << 24  # taken at once: zeroing more would be felt as a pause
# Positions in the counters; two more per player follow: next free word of his chunk, and its end.
TOP, INFOSETS, CHUNK, NUM_TOKENS, ARENAS = 0, 1, 2, 3, 4
ROOT_LINKS = 1  # word of the links that lead to each player's empty information state


@helper
def header_words(k):
    return (13 + 2 * k) >> 3


@helper
def block_words(k):
    return header_words(k) + (2 * k if k > 1 else 0)


@helper
def allocate(counters, player, words):
    """First word of a new block; the pool has room (``InfosetTable.reserve``)."""
    at = counters[ARENAS + 2 * player]
    if words <= 8 and (at & 7) + words > 8:
        at = (at + 7) & ~7  # a small block does not straddle a cache line
    if at + words > counters[ARENAS + 2 * player + 1]:
        at = counters[TOP]
        counters[TOP] = at + counters[CHUNK]
        counters[ARENAS + 2 * player + 1] = counters[TOP]
    counters[ARENAS + 2 * player] = at + words
    return at


@helper
def _new_decision(pool16, counters, player, mask, k):
    block = allocate(counters, player, block_words(k))
    pool16[4 * block + 2] = k
    at = 4 * block + 3
    for action in range(mask.size):
        if mask[action]:
            pool16[at] = action
            at += 1
    counters[INFOSETS] += 1
    return block


@helper
def follow(pool, pool32, row, start, stop, player, cursors):
    """Move a player's position along new tokens as far as the trie goes, and prefetch where it ends."""
    position = cursors[2 * player]
    at = start + cursors[2 * player + 1]
    if at == stop:
        return
    while at < stop:
        links = np.int64(pool32[2 * position])
        if links == 0:
            break
        child = np.int64(pool32[2 * links + row[at]])
        if child == 0:
            break
        position = child
        at += 1
    prefetch(pool, position)
    prefetch(pool, position + 8)
    cursors[2 * player] = position
    cursors[2 * player + 1] = at - start


@helper
def prefetch_next(pool, pool32, row, start, stop, player, cursors):
    """Prefetch the position after a player's next token, if there is one."""
    at = start + cursors[2 * player + 1]
    links = np.int64(pool32[2 * cursors[2 * player]])
    if at < stop and links != 0:
        child = np.int64(pool32[2 * links + row[at]])
        prefetch(pool, child)
        prefetch(pool, child + 8)


@helper
def decision(legal, params, mask, pool, pool32, pool16, counters, row, start, stop, player, cursors):
    """Block of the decision of ``player``, who is to move; makes what is missing on the way."""
    position = cursors[2 * player]
    for at in range(start + cursors[2 * player + 1], stop):
        links = np.int64(pool32[2 * position])
        if links == 0:
            links = allocate(counters, player, (counters[NUM_TOKENS] + 1) >> 1)
            pool32[2 * position] = links
        slot = 2 * links + row[at]
        child = np.int64(pool32[slot])
        if child == 0:
            if at == stop - 1:
                k = legal(params, row, mask)
                child = _new_decision(pool16, counters, player, mask, k)
            else:
                child = allocate(counters, player, 2)
            pool32[slot] = child
        position = child
    cursors[2 * player] = position
    cursors[2 * player + 1] = stop - start
    links = np.int64(pool32[2 * position])
    prefetch(pool, links)  # needed as soon as he has acted
    prefetch(pool, links + 8)
    if pool16[4 * position + 2] > 0:
        return position
    block = np.int64(pool32[2 * position + 2])
    if block == 0:
        k = legal(params, row, mask)
        block = _new_decision(pool16, counters, player, mask, k)
        pool32[2 * position + 2] = block
    return block


@helper
def start_at_roots(pool32, cursors):
    for player in range(cursors.size // 2):
        cursors[2 * player] = np.int64(pool32[2 * ROOT_LINKS + player])
        cursors[2 * player + 1] = 0


@kernel(types.void(U32, U16, types.int64, ROW, I64, I64), allocates=False, error_model="numpy")
def find_blocks(pool32, pool16, player, tokens, offsets, blocks):
    """Block of each information state ``tokens[offsets[i]:offsets[i + 1]]`` of ``player``, 0 where he has never
    decided."""
    for i in range(blocks.size):
        block = np.int64(pool32[2 * ROOT_LINKS + player])
        for at in range(offsets[i], offsets[i + 1]):
            links = np.int64(pool32[2 * block])
            block = np.int64(pool32[2 * links + tokens[at]]) if links else 0
            if block == 0:
                break
        if block != 0 and pool16[4 * block + 2] == 0:
            block = np.int64(pool32[2 * block + 2])
        blocks[i] = block


@kernel(types.void(F64, U16, I64, I64, F64), allocates=False, error_model="numpy")
def average_probabilities(pool, pool16, blocks, first, out):
    """Average policy at ``blocks[i]`` into ``out[first[i]:first[i + 1]]``; uniform where nothing has been added."""
    for i in range(blocks.size):
        k = first[i + 1] - first[i]
        at = blocks[i] + header_words(k) + k
        total = 0.0
        if blocks[i] != 0 and k > 1:
            for j in range(k):
                total += pool[at + j]
        for j in range(k):
            out[first[i] + j] = pool[at + j] / total if total > 0.0 else 1.0 / k


@kernel(
    types.void(U32, U16, types.int64, types.int64, ROW, I64, I64, I64, I64, ROW, ROW),
    allocates=False,
    error_model="numpy",
)
def list_infosets(pool32, pool16, player, num_tokens, path, nodes, sizes, offsets, first, tokens, actions):
    """A player's infosets, ancestors first. ``sizes`` = their number, that of their tokens, that of their actions.

    With empty ``actions`` it only counts. ``path`` and ``nodes`` have place for the longest information state.
    """
    sizes[:] = 0
    depth = 0
    nodes[0] = np.int64(pool32[2 * ROOT_LINKS + player])
    path[0] = -1  # at depth d: the last token looked at
    entering = True
    while depth >= 0:
        position = nodes[depth]
        if entering:
            block = position
            if pool16[4 * block + 2] == 0:
                block = np.int64(pool32[2 * block + 2])
            if block != 0:
                k = np.int64(pool16[4 * block + 2])
                if actions.size > 0:
                    for i in range(depth):
                        tokens[sizes[1] + i] = path[i]
                    for i in range(k):
                        actions[sizes[2] + i] = np.int32(pool16[4 * block + 3 + i])
                    offsets[sizes[0] + 1] = sizes[1] + depth
                    first[sizes[0] + 1] = sizes[2] + k
                sizes[0] += 1
                sizes[1] += depth
                sizes[2] += k
            path[depth] = -1
        links = np.int64(pool32[2 * position])
        child = np.int64(0)
        token = np.int64(path[depth])
        while links != 0 and child == 0 and token + 1 < num_tokens:
            token += 1
            child = np.int64(pool32[2 * links + token])
        path[depth] = token
        entering = child != 0
        if entering:
            depth += 1
            nodes[depth] = child
        else:
            depth -= 1


class TableFullError(MemoryError):
    """The infoset table has reached its memory limit. The sampler stays usable: policy, evaluation and saving."""


class InfosetTable:
    """The pool and its bookkeeping: ``pool`` float64[words] with its views ``pool32`` and ``pool16``, ``counters``.

    ``room``: free words that a walk may use up before it looks whether there are as many again.
    """

    def __init__(
        self, num_players: int, num_actions: int, num_tokens: int, max_length: int, memory_limit: int
    ) -> None:
        if num_actions >= 2**16:
            raise ValueError(f"{num_actions} actions are too many for the infoset table; it takes up to 65535")
        self.num_players, self.num_tokens, self.max_length = num_players, num_tokens, max_length
        self.memory_limit = min(memory_limit, MAX_BYTES)
        block = (13 + 2 * num_actions) // 8 + 2 * num_actions
        links = (num_tokens + 1) // 2
        chunk = max(4096, 4 * max(block, links))
        self.room = 2 * num_players * (max_length + 1) * (block + links + 8) + (num_players + 1) * chunk
        self.counters = np.zeros(ARENAS + 2 * num_players, dtype=np.int64)
        self.counters[[TOP, CHUNK, NUM_TOKENS]] = ROOT_LINKS + (num_players + 1) // 2, chunk, num_tokens
        self._set_pool(np.zeros(self._size_for(self.counters)))
        for player in range(num_players):
            self.pool32[2 * ROOT_LINKS + player] = self.counters[TOP]
            self.counters[TOP] += 2

    def _set_pool(self, pool: np.ndarray) -> None:
        self.pool, self.pool32, self.pool16 = pool, pool.view(np.uint32), pool.view(np.uint16)

    def _size_for(self, counters: np.ndarray) -> int:
        """Words of a pool that has room beyond ``counters``; TableFullError when the limit forbids it."""
        needed = int(counters[TOP]) + self.room
        words = min(needed + min(needed // 2, MOST_WORDS), self.memory_limit // WORD)
        if words < needed:
            raise TableFullError(
                f"the infoset table holds {int(counters[INFOSETS]):,} information sets in "
                f"{WORD * int(counters[TOP]):,} bytes, needs {WORD * needed:,} to go on and may not grow beyond its "
                f"limit of {self.memory_limit:,} bytes; pass a larger memory_limit= (bytes) or sample a smaller game"
            )
        return words

    def reserve(self) -> None:
        """Make sure that at least ``room`` words are free; TableFullError when the limit forbids it."""
        if int(self.counters[TOP]) + self.room <= self.pool.size:
            return
        words = self._size_for(self.counters)
        pool = self.pool
        self._set_pool(np.zeros(0))  # nothing else may refer to the memory that moves
        pool.resize(words, refcheck=False)  # keeps the contents, the rest is zero
        self._set_pool(pool)

    def restore(self, words: np.ndarray, counters: np.ndarray) -> None:
        """Take over the used words and the counters of another table of the same game."""
        pool = np.zeros(max(self._size_for(counters), self.pool.size))
        pool[: words.size] = words
        self.counters = counters
        self._set_pool(pool)

    @property
    def num_infosets(self) -> int:
        return int(self.counters[INFOSETS])

    @property
    def nbytes(self) -> int:
        return self.pool.nbytes

    def blocks(self, player: int, tokens: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """int64[n]: block of each information state ``tokens[offsets[i]:offsets[i + 1]]``, 0 where it is unknown."""
        found = np.empty(offsets.size - 1, dtype=np.int64)
        find_blocks(self.pool32, self.pool16, player, tokens, offsets, found)
        return found

    def average(self, blocks: np.ndarray, first: np.ndarray) -> np.ndarray:
        """float64[first[-1]]: average policy at ``blocks``; infoset i owns ``first[i]:first[i + 1]``."""
        out = np.empty(int(first[-1]))
        average_probabilities(self.pool, self.pool16, blocks, first, out)
        return out

    def infosets(self, player: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The known infosets of a player, ancestors first: tokens int32, their offsets int64[n + 1], first action
        int64[n + 1], legal actions int32."""
        path = np.zeros(self.max_length + 1, dtype=np.int32)
        nodes = np.zeros(self.max_length + 1, dtype=np.int64)
        sizes = np.zeros(3, dtype=np.int64)
        common = self.pool32, self.pool16, player, self.num_tokens, path, nodes, sizes
        nothing, none = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
        list_infosets(*common, nothing, nothing, none, none)
        count, num_tokens, num_actions = sizes.tolist()
        offsets, first = np.zeros(count + 1, dtype=np.int64), np.zeros(count + 1, dtype=np.int64)
        tokens, actions = np.empty(num_tokens, dtype=np.int32), np.empty(num_actions, dtype=np.int32)
        list_infosets(*common, offsets, first, tokens, actions)
        return tokens, offsets, first, actions
