"""The board of Docking: row layout, one move with its displaced ship, docked fleets and crashed ships.

A row holds the board, the ships of both sides as a list (so that nothing scans the board), per line and direction
the bits of both sides (so that a move's length is a count of bits), then the moves and positions of the game
(``docking``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from envs.kernels import PARAMS, ROW, helper, kernel

# Params: sizes and switches; the steps of the 8 directions; the ray of each (cell, direction); the layout. A ray is
# the number of its line * 1024 + the cell's position on the line * 32 + the cells ahead; a line is numbered once for
# each of its two directions.
(
    COLS, CELLS, START_0, START_1, COUNT_OWN, COUNT_ENEMY, OWN_BLOCK, MIN_DIAG, TO_EDGE, VACATED, DISPLACE, STRIDE,
    DISTANCES, OWNER_CHOOSES, BOTH, CRASH, SELF_CRASH, NO_MOVE, REPETITION, MAX_PLIES, AFTER_BREAK, WORDS, LINES_AT,
    LOG_AT, KEYS_AT, POSITIONS_AT, LAYOUT_AT,
) = range(27)  # fmt: skip
STEP, RAYS = 32, 40
COUNT_COLORS = ("both", "own", "enemy")
DISPLACE_TO = ("end", "exact", "any")
BOTH_DOCKED = ("mover", "draw", "opponent")
CRASHES = ("off", "enemy_edge", "enemy", "any")
SELF_CRASHES = ("loss", "ignore", "illegal")
NO_MOVES = ("pass", "loss", "draw")
# Row header. RESULT is -1 while the game runs, the winner, or DRAW. PENDING is 1 + the move (cell * 8 + direction)
# whose displaced ship waits for its owner's choice. BROKEN: the side has been undocked. LAST_*: for display.
(
    MOVER, RESULT, REASON, PLY, LOG, PASSED, PENDING, BROKEN_0, BROKEN_1, POSITIONS, REPEATS, SHIPS_0, SHIPS_1,
    LAST_FROM, LAST_TO, LAST_DISPLACED, BOARD,
) = range(17)  # fmt: skip
DRAW = 2
REASONS = (
    "", "docked", "both_docked", "crash", "opponent_docked", "self_crash", "repetition", "max_plies", "stuck",
)  # fmt: skip
NONE, DOCKED, BOTH_DOCKED_, CRASHED, OPPONENT_DOCKED, SELF_CRASHED, REPEATED, TOO_LONG, STUCK = range(9)

DIRECTIONS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
STEPS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))
COLOURS = ("White", "Black")


# -- one move -----------------------------------------------------------------------------------------------


@intrinsic
def _bit_count(typingctx: Any, value: Any) -> Any:
    """How many bits of an int64 are set: one instruction."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@helper
def _ahead(params, row, player, cell, direction):
    """Ships of a side on the ray from a cell: bit j - 1 is the cell at distance j."""
    ray = params[RAYS + 8 * cell + direction]
    return np.int64(row[params[LINES_AT] + 2 * (ray >> 10) + player]) >> ((ray >> 5 & 31) + 1)


@helper
def ray_distance(row, lines, ray, player, count_own, count_enemy, own_block):
    """How far a ship goes along a ray, 0 when it cannot. The last three are -1 (yes) or 0: parameters, hoisted."""
    line = lines + 2 * (ray >> 10)
    shift = (ray >> 5 & 31) + 1
    own = np.int64(row[line + player] >> shift)
    enemy = np.int64(row[line + 1 - player] >> shift)
    before = _bit_count(own & count_own | enemy & count_enemy)
    passed = (1 << before) - 1
    blocked = (enemy | own & own_block) & passed | (own >> before & 1)
    return before + 1 if before < ray & 31 and blocked == 0 else 0


@kernel(types.int64(PARAMS, ROW, types.int64, types.int64, types.int64))
def landing(params, row, player, cell, direction):
    """Where a ship of ``player`` lands, -1 when it cannot move that way; a landing on an enemy ship needs more."""
    distance = ray_distance(
        row, params[LINES_AT], params[RAYS + 8 * cell + direction], player, params[COUNT_OWN], params[COUNT_ENEMY],
        params[OWN_BLOCK],
    )  # fmt: skip
    return cell + distance * params[STEP + direction] if distance else -1


@helper
def free_cells(params, row, origin, cell, direction):
    """Free cells ahead of a ship that is pushed by one from ``origin``, 0 when they do not suffice."""
    ray = params[RAYS + 8 * cell + direction]
    reach = np.int64(ray & 31)
    if reach < params[MIN_DIAG]:
        return np.int64(0)
    ships = _ahead(params, row, 0, cell, direction) | _ahead(params, row, 1, cell, direction)
    if params[VACATED]:
        through = params[RAYS + 8 * origin + direction]
        apart = (through >> 5 & 31) - (ray >> 5 & 31)
        if through >> 10 == ray >> 10 and apart > 0:
            ships &= ~(np.int64(1) << (apart - 1))
    free = min(reach, _bit_count((ships & -ships) - 1))  # cells before the first ship
    return np.int64(0) if free < params[MIN_DIAG] or (params[TO_EDGE] and free < reach) else free


@helper
def push_distance(params, free, choice):
    """How far a pushed ship goes with so many free cells, 0 when ``choice`` (distance - 1) is none."""
    if params[DISPLACE] == 0:
        return np.int64(free)
    if params[DISPLACE] == 1:
        return np.int64(params[MIN_DIAG])
    return np.int64(choice + 1) if params[MIN_DIAG] <= choice + 1 <= free else np.int64(0)


@kernel(types.int64(PARAMS, ROW, types.int64, types.int64, types.int64))
def displacement(params, row, origin, cell, slot):
    """Where the ship on ``cell`` is pushed by a ship from ``origin``, -1 when ``slot`` offers nothing.

    A slot is a diagonal (NE, SE, SW, NW) times the distances that can be chosen (one, or all with displace_to=any).
    """
    direction = 2 * (slot // params[DISTANCES]) + 1
    free = free_cells(params, row, origin, cell, direction)
    distance = push_distance(params, free, slot % params[DISTANCES]) if free else 0
    return cell + distance * params[STEP + direction] if distance else -1


@helper
def put(params, row, cell, value):
    """Set a cell (0 empty, player + 1) on the board and in its lines."""
    before = row[BOARD + cell]
    row[BOARD + cell] = value
    for direction in range(8):
        ray = params[RAYS + 8 * cell + direction]
        line = params[LINES_AT] + 2 * (ray >> 10)
        bit = 1 << (ray >> 5 & 31)
        if before:
            row[line + before - 1] &= ~bit
        if value:
            row[line + value - 1] |= bit


@helper
def _renumber(row, cells, player, before, after):
    """A ship changes its cell in the list of ships."""
    start = BOARD + cells + (row[SHIPS_0] if player else 0)
    for i in range(start, start + row[SHIPS_0 + player]):
        if row[i] == before:
            row[i] = after
            return


@kernel(types.void(PARAMS, ROW, types.int64, types.int64, types.int64, types.int64))
def relocate(params, row, player, origin, target, displaced):
    """A ship moves from ``origin`` to ``target``, the enemy ship there (if displaced >= 0) to ``displaced``."""
    cells = params[CELLS]
    put(params, row, origin, 0)
    put(params, row, target, player + 1)
    _renumber(row, cells, player, origin, target)
    if displaced >= 0:
        put(params, row, displaced, 2 - player)
        _renumber(row, cells, 1 - player, target, displaced)


@kernel(types.void(PARAMS, ROW, types.int64, types.int64, types.int64, types.int64))
def take_back(params, row, player, origin, target, displaced):
    cells = params[CELLS]
    put(params, row, target, 0)
    if displaced >= 0:
        put(params, row, displaced, 0)
        put(params, row, target, 2 - player)
        _renumber(row, cells, 1 - player, displaced, target)
    put(params, row, origin, player + 1)
    _renumber(row, cells, player, target, origin)


# -- the end ------------------------------------------------------------------------------------------------


@kernel(types.bool_(PARAMS, ROW, types.int64))
def connected(params, row, player):
    """Whether the ships of a side are one orthogonally connected group. Marks ships on the board meanwhile."""
    start = BOARD + params[CELLS] + (row[SHIPS_0] if player else 0)
    stop = start + row[SHIPS_0 + player]
    own = player + 1
    if stop - start > 1:  # most positions have a ship without a neighbour
        for i in range(start, stop):
            cell = row[i]
            alone = True
            for direction in range(0, 8, 2):
                if params[RAYS + 8 * cell + direction] & 31 and row[BOARD + cell + params[STEP + direction]] == own:
                    alone = False
                    break
            if alone:
                return False
    row[BOARD + row[start]] = own | 4
    found = 1
    grew = True
    while grew:
        grew = False
        for i in range(start, stop):
            cell = row[i]
            if row[BOARD + cell] == own:
                for direction in range(0, 8, 2):
                    if (
                        params[RAYS + 8 * cell + direction] & 31
                        and row[BOARD + cell + params[STEP + direction]] == own | 4
                    ):
                        row[BOARD + cell] = own | 4
                        found += 1
                        grew = True
                        break
    for i in range(start, stop):
        row[BOARD + row[i]] = own
    return found == stop - start


@kernel(types.bool_(PARAMS, ROW, types.int64))
def crashed(params, row, cell):
    """Whether the ship on ``cell`` is shut in."""
    kind = params[CRASH]
    own = row[BOARD + cell]
    enemies = 0
    blocked = 0
    for direction in range(0, 8, 2):
        if params[RAYS + 8 * cell + direction] & 31 == 0:
            blocked += kind != 2
        else:
            value = row[BOARD + cell + params[STEP + direction]]
            if value == 0:
                return False
            if value != own:
                enemies += 1
                blocked += 1
            else:
                blocked += kind == 3
    return kind != 0 and blocked == 4 and enemies > 0


@helper
def _any_crashed(params, row, player):
    start = BOARD + params[CELLS] + (row[SHIPS_0] if player else 0)
    for i in range(start, start + row[SHIPS_0 + player]):
        if crashed(params, row, row[i]):
            return True
    return False


@helper
def _docked(params, row, player):
    return connected(params, row, player) and (not params[AFTER_BREAK] or row[BROKEN_0 + player] != 0)


@kernel(types.int64(PARAMS, ROW, types.int64))
def verdict(params, row, mover):
    """Why the position after a ply of ``mover`` ends the game, NONE when it does not (docking and crashes only)."""
    other = 1 - mover
    mine, theirs = _docked(params, row, mover), _docked(params, row, other)
    if mine:
        return BOTH_DOCKED_ if theirs else DOCKED
    if params[CRASH] and _any_crashed(params, row, other):
        return CRASHED
    if theirs:
        return OPPONENT_DOCKED
    if params[CRASH] and params[SELF_CRASH] != 1 and _any_crashed(params, row, mover):
        return SELF_CRASHED
    return NONE
