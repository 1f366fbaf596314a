"""The search behind sure wins: sets of cells as bit masks, a table of settled positions, one recursion.

A position is what the player who wants to be sure knows: his own stones, the enemy stones he has found, and the
number of enemy stones he has not found, the enemy's *hand* (``docs/sure_wins.md`` shows why nothing else matters).
The enemy decides where a stone of his hand stands when it is probed. He has won as soon as his hand is as large as
the number of cells that complete his chain.
"""

from __future__ import annotations

import numpy as np
from numba import types

from envs.games.hex_board import neighbours, side_cells
from envs.kernels import helper, kernel

MAX_CELLS = 62  # a set of cells is an int64

WORDS = types.Array(types.int64, 1, "C")
KEYS = types.Array(types.int64, 2, "C")
VERDICTS = types.Array(types.int8, 1, "C")
SCORES = types.Array(types.int64, 2, "C")

# The board as numbers, seen by one player. Two tables hold the image of every byte of a set of cells: all neighbours,
# and the cells rotated by 180 degrees (which keeps everybody's sides).
CELLS, ABRUPT, OWN_SIDES, ENEMY_SIDES, AROUND, ROTATED, BOARD_WORDS = 0, 1, 2, 4, 6, 6 + 8 * 256, 6 + 16 * 256
SETTLED, LIMIT = 0, 1  # counters: positions in the table; where to stop
OPEN, LOST, WON = 0, 1, 2  # verdicts; WON + cell: won by probing this cell


def board_words(rows: int, cols: int, player: int, abrupt: bool) -> np.ndarray:
    """int64[BOARD_WORDS], the kernels' first argument."""
    cells = rows * cols
    board = np.zeros(BOARD_WORDS, dtype=np.int64)
    board[[CELLS, ABRUPT]] = cells, abrupt
    for at, colour in ((OWN_SIDES, player), (ENEMY_SIDES, 1 - player)):
        for which in (0, 1):
            board[at + which] = sum(1 << cell for cell in side_cells(colour, which, rows, cols))
    for cell in range(cells):
        having = 256 * (cell // 8) + np.flatnonzero(np.arange(256) >> cell % 8 & 1)
        board[AROUND + having] |= sum(1 << other for other in neighbours(cell, rows, cols))
        board[ROTATED + having] |= 1 << (cells - 1 - cell)
    return board


@helper
def _image(board, table, cells):
    """Union of the images of all cells in the set."""
    found = np.int64(0)
    while cells:
        found |= board[table + (cells & 255)]
        cells >>= 8
        table += 256
    return found


@helper
def _distance(board, sides, stones, free, most):
    """How many free cells complete a chain of the stones between two sides; most + 1 when it takes more."""
    reached, edge, steps = np.int64(0), board[sides], 0
    goal = board[sides + 1]
    while True:
        fresh = edge & stones & ~reached
        while fresh:
            reached |= fresh
            edge |= _image(board, AROUND, fresh)
            fresh = edge & stones & ~reached
        if reached & goal:
            return steps
        fresh = edge & free & ~reached
        steps += 1
        if steps > most or fresh == 0:
            return most + 1
        reached |= fresh
        edge |= _image(board, AROUND, fresh)


@kernel(types.int64(WORDS, types.int64, types.int64, types.int64), allocates=False)
def enemy_distance(board, own, known, most):
    """How many stones of his hand complete the enemy's chain; most + 1 when it takes more."""
    everything = (np.int64(1) << board[CELLS]) - 1
    return _distance(board, ENEMY_SIDES, known, everything & ~(own | known), most)


@kernel(types.int64(WORDS, types.int64, types.int64, types.int64), allocates=False)
def own_distance(board, own, known, most):
    """How many stones complete the player's chain, if nothing stands in the way; most + 1 when it takes more."""
    everything = (np.int64(1) << board[CELLS]) - 1
    return _distance(board, OWN_SIDES, own, everything & ~(own | known), most)


@helper
def _slot(keys, verdicts, own, known):
    """Where the position is in the table, or the free place where it belongs."""
    mixed = np.uint64(own) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(known) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    last = verdicts.size - 1
    slot = np.int64(mixed & np.uint64(last))
    while verdicts[slot] != OPEN and (keys[slot, 0] != own or keys[slot, 1] != known):
        slot = (slot + 1) & last
    return slot


@helper
def _canonical(board, own, known):
    """The position or its rotation by 180 degrees, whichever comes first; and whether it was rotated."""
    own_rotated, known_rotated = _image(board, ROTATED, own), _image(board, ROTATED, known)
    if own_rotated < own or (own_rotated == own and known_rotated < known):
        return own_rotated, known_rotated, True
    return own, known, False


@kernel(types.void(KEYS, VERDICTS, KEYS, VERDICTS), allocates=False)
def transfer(keys, verdicts, new_keys, new_verdicts):
    """Copy a table into a larger empty one."""
    for i in range(verdicts.size):
        if verdicts[i] != OPEN:
            slot = _slot(new_keys, new_verdicts, keys[i, 0], keys[i, 1])
            new_keys[slot, 0], new_keys[slot, 1] = keys[i, 0], keys[i, 1]
            new_verdicts[slot] = verdicts[i]


@helper
def _size(cells):
    """Number of cells in a set."""
    count = 0
    while cells:
        cells &= cells - 1
        count += 1
    return count


@kernel(
    types.int64(WORDS, KEYS, VERDICTS, WORDS, SCORES, types.int64, types.int64, types.int64, types.int64),
    allocates=False,
)
def settle(board, keys, verdicts, counters, scores, own, known, hand, allowed):
    """Can the player, who is to act, win for certain if his next probe is one of ``allowed``? -1 allows all.

    LOST, or WON + the cell to probe; OPEN when the limit of settled positions was reached: call again with a higher
    one. The enemy has not won yet: his chain takes more stones than his hand.
    """
    cells = board[CELLS]
    key_own, key_known, rotated = _canonical(board, own, known)
    if allowed == -1:
        found = verdicts[_slot(keys, verdicts, key_own, key_known)]
        if found != OPEN:
            return WON + cells - 1 - (found - WON) if rotated and found != LOST else np.int64(found)
    if counters[SETTLED] >= counters[LIMIT]:
        return np.int64(OPEN)
    everything = (np.int64(1) << cells) - 1
    free = everything & ~(own | known)
    # Which probes are worth a try, best first: those that win at once, then those that leave the enemy's chain
    # farthest from complete and one's own nearest.
    level = _size(own | known)
    most = cells + 1
    for cell in range(cells):
        bit = np.int64(1) << cell
        scores[level, cell] = -1
        if free & allowed & bit == 0:
            continue
        mine = _distance(board, OWN_SIDES, own | bit, free & ~bit, most)
        # After the placement the enemy has one stone more.
        ahead = _distance(board, ENEMY_SIDES, known, free & ~bit, most) - (hand + 1)
        if mine == 0:
            scores[level, cell] = most * most
        elif ahead > 0:
            scores[level, cell] = ahead * most + most - mine
    unlimited, verdict = np.int64(-1), np.int64(LOST)
    while True:
        cell = 0
        for other in range(1, cells):
            if scores[level, other] > scores[level, cell]:
                cell = other
        score = scores[level, cell]
        if score < 0:
            break
        scores[level, cell] = -1
        bit = np.int64(1) << cell
        if score < most * most:
            found = settle(board, keys, verdicts, counters, scores, own | bit, known, hand + 1, unlimited)
            if found == OPEN:
                return found
            if found == LOST:
                continue
        if hand > 0:
            # The enemy may have a stone there. Then it is the player's turn again (classical), or the enemy's.
            left = hand if board[ABRUPT] else hand - 1
            if board[ABRUPT] and _distance(board, ENEMY_SIDES, known | bit, free & ~bit, left) <= left:
                continue
            found = settle(board, keys, verdicts, counters, scores, own, known | bit, left, unlimited)
            if found == OPEN:
                return found
            if found == LOST:
                if board[ABRUPT]:
                    continue
                break  # lost though he knows more: then this position is lost whatever he probes
        verdict = WON + np.int64(cell)
        break
    if allowed == -1:
        slot = _slot(keys, verdicts, key_own, key_known)
        keys[slot, 0], keys[slot, 1] = key_own, key_known
        verdicts[slot] = WON + cells - 1 - (verdict - WON) if rotated and verdict != LOST else verdict
        counters[SETTLED] += 1
    return verdict
