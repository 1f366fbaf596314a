"""Exact results of Hex positions on small boards: who wins, with which move, and on which cells the proof stands.

`HexSolver` is a depth-first search with these parts, each of which is sound on its own:

* A *carrier* goes with every result: a set of empty cells such that the winner wins even if all other empty cells are
  the loser's. A move that fails leaves the carrier of its refutation: only moves inside it can do better. What
  remains is the *must-play region*.
* *Virtual connections*: groups of stones (and sides) with two common empty neighbours are linked. A chain of links
  with disjoint carriers from side to side has won already.
* *Dead cells* matter to nobody, *captured pairs* are as good as their owner's stones; both are filled in.

`brute_force` has none of this and remembers every position of the board by its number: the check, and the way to
solve Rex, where a spare move can be a burden and the rules above do not hold.

Sources: Hayward, Bjornsson, Johanson, Kan, Po, van Rijswijck, "Solving 7x7 Hex with domination, fill-in, and virtual
connections", Theoretical Computer Science 349 (2005); Anshelevich (2002) for virtual connections.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numba import types

from agents.hex_heuristics import hex_heuristics, prioritise
from envs.core import Game, State
from envs.games.hex import swap_available
from envs.games.hex_board import BLUE, BOARD, COLOR_OF_0, OWNER, PLY, RED, neighbours, side_cells, win_table
from envs.kernels import F64, PARAMS, ROW, helper, kernel

__all__ = ["HexSolver", "Solution", "brute_force"]

MAX_CELLS = 62
MAX_BRUTE_CELLS = 16

_WORDS = types.Array(types.int64, 1, "C")
_ENTRIES = types.Array(types.int64, 2, "C")
_FLAGS = types.Array(types.bool_, 1, "C")

# The board as numbers (int64): cells, then per colour the cells of its first and its last side, then per cell its
# neighbours as a set, then per cell six ring neighbours in cyclic order: a cell, or RED_SIDE or BLUE_SIDE.
_CELLS, _SIDES, _AROUND = 0, 1, 5
_RED_SIDE, _BLUE_SIDE = -1, -2
_RING = ((-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1))
# Counters: nodes, the budget, whether it ran out.
_NODES, _BUDGET, _STOPPED = 0, 1, 2


def _board(rows: int, cols: int) -> np.ndarray:
    cells = rows * cols
    words = [cells]
    for colour, which in itertools.product((RED, BLUE), (0, 1)):
        words.append(sum(1 << cell for cell in side_cells(colour, which, rows, cols)))
    words += [sum(1 << other for other in neighbours(cell, rows, cols)) for cell in range(cells)]
    for cell in range(cells):
        for dr, dc in _RING:
            r, c = cell // cols + dr, cell % cols + dc
            inside = 0 <= r < rows and 0 <= c < cols
            # Beyond a corner either side will do: it lies between a red and a blue one.
            words.append(r * cols + c if inside else _RED_SIDE if not 0 <= r < rows else _BLUE_SIDE)
    return np.array(words, dtype=np.int64)


@cache
def _dead_rings() -> np.ndarray:
    """bool[729]: rings (0 empty, 1 red, 2 blue, first neighbour lowest) in which the cell in the middle is dead.

    Dead: however the empty ones are filled, each colour's neighbours are one arc, hence joined without the cell.
    """
    dead = np.zeros(3**6, dtype=np.bool_)
    for ring in itertools.product((0, 1, 2), repeat=6):
        fillings = itertools.product(*((1, 2) if value == 0 else (value,) for value in ring))
        dead[sum(value * 3**k for k, value in enumerate(ring))] = all(
            sum(filled[k] != filled[k - 1] for k in range(6)) <= 2 for filled in fillings
        )
    return dead


@helper
def _lowest(cells):
    """Number of the lowest cell of a set that is not empty."""
    number = 0
    while cells & 0xFF == 0:
        cells >>= 8
        number += 8
    while cells & 1 == 0:
        cells >>= 1
        number += 1
    return number


@helper
def _around(board, stones):
    """All neighbours of a set."""
    found = np.int64(0)
    while stones:
        cell = _lowest(stones)
        stones &= stones - 1
        found |= board[_AROUND + cell]
    return found


@kernel(types.int64(_WORDS, types.int64, types.int64, types.int64, _WORDS), allocates=False)
def _linked(board, colour, own, other, groups):
    """Carrier of a chain of links between a colour's sides, -1 when none is found.

    ``groups``: scratch for four numbers a group: empty neighbours, carrier of the way to it, whether it was reached.
    """
    empty = ~(own | other) & ((np.int64(1) << board[_CELLS]) - 1)
    # Groups 0 and 1 are the sides with the stones that touch them.
    count = 2
    left = own
    for which in range(2):
        side = board[_SIDES + 2 * colour + which]
        stones = side & own
        fresh = stones
        while fresh:
            spread = _around(board, fresh) & own & ~stones
            stones |= spread
            fresh = spread
        if which == 0 and stones & board[_SIDES + 2 * colour + 1]:
            return np.int64(0)
        left &= ~stones
        groups[3 * which] = (side | _around(board, stones)) & empty
    while left:
        stones = left & -left
        fresh = stones
        while fresh:
            spread = _around(board, fresh) & own & ~stones
            stones |= spread
            fresh = spread
        left &= ~stones
        groups[3 * count] = _around(board, stones) & empty
        count += 1
    for g in range(count):
        groups[3 * g + 1] = 0
        groups[3 * g + 2] = -1
    # Breadth first: fewest links. The queue is a list threaded through the third numbers.
    head, tail = 0, 0
    groups[2] = 0
    while True:
        carrier = groups[3 * head + 1]
        for g in range(1, count):
            if groups[3 * g + 2] >= 0:
                continue
            common = groups[3 * head] & groups[3 * g] & ~carrier
            one = common & -common
            two = (common ^ one) & -(common ^ one)
            if two == 0:
                continue
            if g == 1:
                return carrier | one | two
            groups[3 * g + 1] = carrier | one | two
            groups[3 * g + 2] = 0
            groups[3 * tail + 2] = g
            tail = g
        head = groups[3 * head + 2]
        if head == 0:
            return np.int64(-1)


@helper
def _ring(board, cell, red, blue):
    """The colours around a cell as a number of ``_dead_rings``."""
    first = _AROUND + board[_CELLS] + 6 * cell
    code, weight = 0, 1
    for k in range(first, first + 6):
        other = board[k]
        if other == _RED_SIDE or (other >= 0 and red >> other & 1):
            code += weight
        elif other == _BLUE_SIDE or (other >= 0 and blue >> other & 1):
            code += 2 * weight
        weight *= 3
    return code


@kernel(types.UniTuple(types.int64, 2)(_WORDS, _FLAGS, types.int64, types.int64), allocates=False)
def _fill_in(board, dead, red, blue):
    """Both sets of stones with dead cells (given to Red) and captured pairs filled in, again until nothing changes."""
    everything = (np.int64(1) << board[_CELLS]) - 1
    changed = True
    while changed:
        changed = False
        empty = everything & ~(red | blue)
        todo = empty
        while todo:
            a = _lowest(todo)
            todo &= todo - 1
            bit = np.int64(1) << a
            if dead[_ring(board, a, red, blue)]:
                red |= bit
                empty &= ~bit
                changed = True
                continue
            others = board[_AROUND + a] & todo & empty
            while others:
                b = _lowest(others)
                pair = np.int64(1) << b
                others &= others - 1
                if dead[_ring(board, a, red | pair, blue)] and dead[_ring(board, b, red | bit, blue)]:
                    red |= bit | pair
                elif dead[_ring(board, a, red, blue | pair)] and dead[_ring(board, b, red, blue | bit)]:
                    blue |= bit | pair
                else:
                    continue
                todo &= ~pair
                empty &= ~(bit | pair)
                changed = True
                break
    return red, blue


@helper
def _find(entries, first, second):
    """The entry that holds a position, or the one it would replace."""
    value = (np.uint64(first) * np.uint64(0x9E3779B97F4A7C15)) ^ (np.uint64(second) * np.uint64(0xC2B2AE3D27D4EB4F))
    value ^= value >> np.uint64(31)
    value *= np.uint64(0x9E3779B97F4A7C15)
    return np.int64((value >> np.uint64(20)) % np.uint64(entries.shape[0]))


# Columns of an entry: red stones with the mover in the sign bit's place and one for "used", blue stones, carrier with
# the winner, move.
_KEY_0, _KEY_1, _CARRIER, _RESULT = 0, 1, 2, 3


@kernel(
    types.UniTuple(types.int64, 2)(
        _WORDS, PARAMS, _FLAGS, _ENTRIES, _WORDS, ROW, F64, F64, _WORDS, types.int64, types.int64, types.int64
    )
)
def _solve(board, params, dead, entries, groups, row, scratch, priorities, counters, mover, red, blue):
    """(winning move of the mover, or -1 where he loses, or cells where he has won already; carrier of the winner)."""
    cells = board[_CELLS]
    counters[_NODES] += 1
    red_before, blue_before = red, blue
    red, blue = _fill_in(board, dead, red, blue)
    own, other = (red, blue) if mover == RED else (blue, red)
    own_filled, other_filled = red & ~red_before, blue & ~blue_before
    if mover == BLUE:
        own_filled, other_filled = other_filled, own_filled
    carrier = _linked(board, 1 - mover, other, own, groups)
    if carrier >= 0:
        return np.int64(-1), carrier | other_filled
    carrier = _linked(board, mover, own, other, groups)
    if carrier >= 0:
        return cells, carrier | own_filled
    key_0, key_1 = red << 1 | mover, blue << 1 | 1
    entry = _find(entries, key_0, key_1)
    if entries[entry, _KEY_0] == key_0 and entries[entry, _KEY_1] == key_1:
        move = entries[entry, _RESULT]
        return move, entries[entry, _CARRIER] | (own_filled if move >= 0 else other_filled)
    if counters[_NODES] >= counters[_BUDGET]:
        counters[_STOPPED] = 1
        return np.int64(-1), np.int64(0)
    empty = ((np.int64(1) << cells) - 1) & ~(own | other)
    must, proof, move = empty, np.int64(0), np.int64(-1)
    todo = empty
    while todo and move < 0:
        bit = todo & -todo
        todo ^= bit
        carrier = _linked(board, mover, own | bit, other, groups)
        if carrier >= 0:
            move, proof = np.int64(_lowest(bit)), carrier | bit
    if move < 0:
        todo = empty
        while todo:
            bit = todo & -todo
            todo ^= bit
            carrier = _linked(board, 1 - mover, other | bit, own, groups)
            if carrier >= 0:
                must &= carrier | bit
                proof |= carrier | bit
    if move < 0 and must:
        for cell in range(cells):
            row[BOARD + cell] = (red >> cell & 1) + 2 * (blue >> cell & 1)
        row[PLY] = 2
        prioritise(params, row, scratch, priorities)
        # Sorted by insertion; the list lies on the stack of this call.
        order = np.empty(cells, dtype=np.int64)
        count = 0
        todo = must
        while todo:
            cell = _lowest(todo)
            todo &= todo - 1
            at = count
            while at > 0 and priorities[order[at - 1]] < priorities[cell]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = cell
            count += 1
        for i in range(count):
            bit = np.int64(1) << order[i]
            if must & bit == 0:
                continue
            # The signature's own types: a literal colour would ask numba for a second function, which no cache holds.
            answer, carrier = _solve(
                board, params, dead, entries, groups, row, scratch, priorities, counters,
                1 - mover, red | bit if mover == RED else red, blue if mover == RED else blue | bit,
            )  # fmt: skip
            if counters[_STOPPED]:
                return np.int64(-1), np.int64(0)
            if answer < 0:
                move, proof = order[i], carrier | bit
                break
            must &= carrier
            proof |= carrier
    entries[entry, _KEY_0], entries[entry, _KEY_1] = key_0, key_1
    entries[entry, _CARRIER], entries[entry, _RESULT] = proof, move
    return move, proof | (own_filled if move >= 0 else other_filled)


@dataclass(frozen=True)
class Solution:
    """The result of a position.

    Attributes:
        winner: player who wins.
        move: a winning move of the player to move, None where he loses.
        carrier: empty cells that the proof needs: the winner wins even if the other colour has all others.
        nodes: positions searched.
    """

    winner: int
    move: int | None
    carrier: tuple[int, ...]
    nodes: int


class HexSolver:
    """Solves positions of one game of Hex (no Rex), up to 62 cells; how far it gets in time is another matter.

    Args:
        game: from ``envs.make("hex", ...)``; a swap that is on offer is part of the result.
        slots: of the table of solved positions, 32 bytes each; the newest entry replaces.

    ``nodes`` counts the positions searched since the solver was made.
    """

    def __init__(self, game: Game, slots: int = 1 << 20) -> None:
        _check_hex(game)
        rows, cols = game.rows, game.cols  # type: ignore[attr-defined]
        if game.explicit_parameters()["rex"]:
            raise ValueError(f"{game.spec()}: virtual connections prove nothing in Rex; use brute_force")
        if rows * cols > MAX_CELLS:
            raise ValueError(f"{game.spec()}: {rows * cols} cells, at most {MAX_CELLS} (a position is a bit mask)")
        if slots < 1:
            raise ValueError(f"slots={slots}: must be at least 1")
        self.game, self.cells, self.nodes = game, rows * cols, 0
        self._board, self._dead = _board(rows, cols), _dead_rings()
        self._entries = np.zeros((slots, 4), dtype=np.int64)
        self._groups = np.zeros(3 * (self.cells + 2), dtype=np.int64)
        self._row = np.zeros(game.row_size, dtype=np.int32)
        self._scratch = np.zeros(hex_heuristics(game).scratch_size, dtype=np.float64)
        self._priorities = np.zeros(game.num_distinct_actions(), dtype=np.float64)

    def solve(self, state: State, nodes: int | None = None) -> Solution | None:
        """Who wins; None when more than ``nodes`` positions would have to be searched.

        Raises ValueError for a position of another game and for a finished one.
        """
        if state.game != self.game:
            raise ValueError(f"this solver is for {self.game.spec()}, not for {state.game.spec()}")
        if state.is_terminal():
            raise ValueError(f"{state.game.spec()}: the game is over")
        mover = state.current_player()
        colour = mover ^ int(state.row[COLOR_OF_0])
        red, blue = _stones(state)
        if swap_available(self.game.params, state.row):
            return self._solve_with_swap(mover, colour, red, blue, nodes)
        if not red and not blue and self.game.num_distinct_actions() > self.cells:
            return self._solve_before_swap(mover)
        return self._run(mover, colour, red, blue, nodes)

    def forget(self) -> None:
        """Empty the table of solved positions: what a budget suffices for no longer depends on earlier questions."""
        self._entries[:] = 0

    def openings(self) -> tuple[bool, ...]:
        """Per cell whether Red, opening there, wins the game without a swap."""
        wins: dict[int, bool] = {}
        for cell in range(self.cells):
            turned = self.cells - 1 - cell  # the board turned by half a turn is the same board
            if turned in wins:
                wins[cell] = wins[turned]
                continue
            found = self._run(1, BLUE, 1 << cell, 0, None)
            wins[cell] = found is not None and found.winner == 0
        return tuple(wins[cell] for cell in range(self.cells))

    def _run(self, player: int, colour: int, red: int, blue: int, nodes: int | None) -> Solution | None:
        counters = np.array([0, (1 << 62) if nodes is None else nodes, 0], dtype=np.int64)
        move, carrier = self._call(counters, colour, red, blue)
        if counters[_STOPPED]:
            return None
        wins = move >= 0
        if wins and not self._playable(move, red | blue):
            move = self._continuation(colour, red, blue)
        cells = tuple(cell for cell in range(self.cells) if carrier >> cell & 1)
        return Solution(player if wins else 1 - player, int(move) if wins else None, cells, int(counters[_NODES]))

    def _playable(self, move: int, stones: int) -> bool:
        return move < self.cells and not stones >> move & 1

    def _continuation(self, colour: int, red: int, blue: int) -> int:
        """A winning move where the position counts as won before it: the first one that stays won."""
        for cell in range(self.cells):
            bit = 1 << cell
            if not (red | blue) & bit:
                after = (red | bit, blue) if colour == RED else (red, blue | bit)
                if self._loses(1 - colour, *after):
                    return cell
        raise AssertionError("a won position has a winning move")

    def _loses(self, colour: int, red: int, blue: int) -> bool:
        """Whether the colour to move loses."""
        move, _ = self._call(np.array([0, 1 << 62, 0], dtype=np.int64), colour, red, blue)
        return move < 0

    def _call(self, counters: np.ndarray, colour: int, red: int, blue: int) -> tuple[int, int]:
        move, carrier = _solve(
            self._board, self.game.params, self._dead, self._entries, self._groups, self._row, self._scratch,
            self._priorities, counters, colour, red, blue,
        )  # fmt: skip
        self.nodes += int(counters[_NODES])
        return move, carrier

    def _solve_with_swap(self, mover: int, colour: int, red: int, blue: int, nodes: int | None) -> Solution | None:
        """The answer to the first stone: who may swap wins, by the swap exactly where that stone wins."""
        found = self._run(mover, colour, red, blue, nodes)
        if found is None or found.winner == mover:
            return found
        return Solution(mover, self.cells, found.carrier, found.nodes)

    def _solve_before_swap(self, mover: int) -> Solution:
        """The first stone will be answered by the better side of it, unless it ends the game."""
        if int(self.game.params[0]) == 1:  # one row: any stone joins Red's sides
            return Solution(mover, 0, (0,), 1)
        return Solution(1 - mover, None, (), 1)


def _check_hex(game: Game) -> None:
    if game.name != "hex":
        raise ValueError(f"{game.spec()}: this solver is for hex")


def _stones(state: State) -> tuple[int, int]:
    """Red and blue stones as bit masks."""
    owners = state.row[BOARD : BOARD + int(state.game.params[2])] & OWNER
    return tuple(sum(1 << int(c) for c in np.flatnonzero(owners == colour + 1)) for colour in (RED, BLUE))  # type: ignore[return-value]


# -- every position, for the check and for Rex --------------------------------------------------------------

_MEMO = types.Array(types.int8, 1, "C")
_WINS = types.Array(types.bool_, 2, "C")


@kernel(
    types.bool_(
        _MEMO, _WINS, _WORDS, _WORDS, types.int64, types.bool_, types.int64, types.int64, types.int64, types.int64
    )
)
def _brute(memo, wins, powers, counters, cells, rex, mover, red, blue, index):
    """Whether the colour to move wins; ``memo[index]`` is 1 or 2 once known, ``index`` the position in base 3."""
    if memo[index]:
        return memo[index] == 2
    counters[_NODES] += 1
    won = False
    for cell in range(cells):
        bit = np.int64(1) << cell
        if (red | blue) & bit:
            continue
        if mover == RED:
            red_after, blue_after, after = red | bit, blue, index + powers[cell]
            joined = wins[RED, red_after]
        else:
            red_after, blue_after, after = red, blue | bit, index + 2 * powers[cell]
            joined = wins[BLUE, blue_after]
        if joined:
            won = not rex
        else:
            won = not _brute(memo, wins, powers, counters, cells, rex, 1 - mover, red_after, blue_after, after)
        if won:
            break
    memo[index] = 2 if won else 1
    return won


def brute_force(game: Game) -> tuple[tuple[bool, ...], int]:
    """Per cell whether Red, opening there, wins Hex or Rex without a swap; and how many positions it took.

    Boards up to 16 cells (43 MB); ValueError for larger ones and for other games.
    """
    _check_hex(game)
    parameters: dict[str, Any] = game.explicit_parameters()
    cells = parameters["rows"] * parameters["cols"]
    if cells > MAX_BRUTE_CELLS:
        raise ValueError(f"{game.spec()}: {cells} cells, at most {MAX_BRUTE_CELLS} (every position is remembered)")
    wins, rex = win_table(game.params), bool(parameters["rex"])
    memo = np.zeros(3**cells, dtype=np.int8)
    powers = np.array([3**cell for cell in range(cells)], dtype=np.int64)
    counters = np.zeros(3, dtype=np.int64)
    result = []
    for cell in range(cells):
        stone = 1 << cell
        if wins[RED, stone]:
            result.append(not rex)
        else:
            result.append(not _brute(memo, wins, powers, counters, cells, rex, BLUE, stone, 0, int(powers[cell])))
    return tuple(result), int(counters[_NODES])
