"""Alpha-beta search for two-player games in which nothing is hidden.

Negamax with a transposition table, iterative deepening and a budget in nodes: the answer depends on the position and
the settings alone, never on the clock. Values are integers; equal moves are decided by their number.

What a game may add is a `Heuristics`: how good a position is for the player to move, which moves to look at first,
and by what positions are recognised. Without one a search sees wins and losses only, tries moves in their order, and
recognises positions by the list of moves. The transposition table stores whole keys and compares them.

Source: Knuth and Moore, "An analysis of alpha-beta pruning", Artificial Intelligence 6 (1975); Slate and Atkin,
"Chess 4.5" (1977) for iterative deepening with a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from agents.agent import Observation, position_of
from envs.core import Game, State
from envs.kernels import (
    F64,
    PARAMS,
    ROW,
    TABLE,
    TERMINAL,
    address_of,
    apply_of,
    current_player_of,
    function_at,
    information_span_of,
    kernel,
    legal_of,
    returns_of,
)
from envs.lanes import lane_of

__all__ = ["AlphaBetaAgent", "Heuristics", "Search", "WIN", "search"]

# The value of a win in n plies is WIN - n; evaluations stay below EVALUATION_LIMIT.
WIN = 1_000_000
EVALUATION_LIMIT = 900_000
_INFINITY = 2 * WIN

# evaluate(params, row, scratch) -> value for the player to move, of a position that is not the end.
EVALUATE = types.int64(PARAMS, ROW, F64)
# prioritise(params, row, scratch, out): a number per action, the largest are searched first.
PRIORITISE = types.void(PARAMS, ROW, F64, F64)
# position(table, params, row, out) -> how many integers of ``out`` are the key of the position. Two positions may have
# the same key only if the same play follows from them.
POSITION = types.int64(TABLE, PARAMS, ROW, ROW)

_evaluate_of = function_at(0, EVALUATE)
_prioritise_of = function_at(1, PRIORITISE)
_position_of = function_at(2, POSITION)


@kernel(EVALUATE, allocates=False)
def no_evaluation(params, row, scratch):
    """Nothing is known of a position that is not the end."""
    return 0


@kernel(PRIORITISE, allocates=False)
def no_priorities(params, row, scratch, out):
    """Moves in their order."""
    for action in range(out.size):
        out[action] = 0.0


@kernel(POSITION, allocates=False)
def history_position(table, params, row, out):
    """The moves so far. Right for every game, and blind to transpositions."""
    start, stop = information_span_of(table)(params, row, 0)
    for i in range(start, stop):
        out[i - start] = row[i]
    return stop - start


@dataclass(frozen=True)
class Heuristics:
    """What a game tells the search: three kernels, and how many integers a key and numbers of scratch they need.

    ``key_size`` 0 stands for the longest list of moves. ``actions`` restricts nothing: ``width`` of a search does.
    """

    evaluate: Any = no_evaluation
    prioritise: Any = no_priorities
    position: Any = history_position
    key_size: int = 0
    scratch_size: int = 1

    @property
    def table(self) -> np.ndarray:
        """int64[3]: the addresses that the search reads."""
        return np.array([address_of(k) for k in (self.evaluate, self.prioritise, self.position)], dtype=np.int64)


# What the search keeps between its calls, int64: nodes used, the budget, whether it ran out, entries in the table.
_NODES, _BUDGET, _STOPPED = 0, 1, 2
# Columns of an entry of the transposition table before the key: key length + 1, depth, bound, value, action.
_LENGTH, _DEPTH, _BOUND, _VALUE, _ACTION, _KEY = 0, 1, 2, 3, 4, 5
_EXACT, _LOWER, _UPPER = 0, 1, 2

_ROWS = types.Array(types.int32, 2, "C")
_MASKS = types.Array(types.bool_, 2, "C")
_NUMBERS = types.Array(types.float64, 2, "C")
_COUNTERS = types.Array(types.int64, 1, "C")


@kernel(types.int64(ROW, types.int64, types.int64), allocates=False)
def _slot(key, length, slots):
    """Where a key belongs: a hash of its integers, modulo the number of slots."""
    value = np.uint64(length)
    for i in range(length):
        value = (value ^ np.uint64(key[i])) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(29)
    return np.int64(value % np.uint64(slots))


@kernel(types.int64(F64, types.Array(types.bool_, 1, "C"), ROW, types.int64, types.int64), allocates=False)
def _order(priorities, mask, out, first, width):
    """Legal actions by falling priority, ties by number, ``first`` (if not -1) before all; at most ``width``."""
    count = 0
    for action in range(mask.size):
        if not mask[action]:
            continue
        priority = priorities[action]
        at = count
        if count == width:
            if action != first and priorities[out[width - 1]] >= priority:
                continue
            at = width - 1
        else:
            count += 1
        while at > 0 and out[at - 1] != first and (action == first or priorities[out[at - 1]] < priority):
            out[at] = out[at - 1]
            at -= 1
        out[at] = action
    return count


_SEARCH = types.int64(
    TABLE, TABLE, PARAMS, _ROWS, _MASKS, _NUMBERS, _ROWS, _ROWS, _ROWS, F64, F64, _COUNTERS,
    types.int64, types.int64, types.int64, types.int64, types.int64,
)  # fmt: skip


@kernel(_SEARCH)
def _negamax(
    table, hooks, params, rows, masks, priorities, orders, keys, entries, scratch, payoffs, counters,
    ply, depth, alpha, beta, width,
):  # fmt: skip
    """Value of the position in ``rows[ply]`` for its player to move, searched ``depth`` plies deep."""
    row = lane_of(rows, ply)
    player = current_player_of(table)(params, row)
    counters[_NODES] += 1
    if player == TERMINAL:
        # Nobody is to move: the value is player 0's, the caller turns it round.
        returns_of(table)(params, row, payoffs)
        return np.int64(np.sign(payoffs[0])) * (WIN - ply)
    if counters[_NODES] > counters[_BUDGET]:
        counters[_STOPPED] = 1
        return 0
    if depth == 0:
        return _evaluate_of(hooks)(params, row, scratch)
    key = lane_of(keys, ply)
    length = _position_of(hooks)(table, params, row, key)
    entry = lane_of(entries, _slot(key, length, entries.shape[0]))
    hint = np.int64(-1)
    if entry[_LENGTH] == length + 1:
        same = True
        for i in range(length):
            if entry[_KEY + i] != key[i]:
                same = False
                break
        if same:
            hint = np.int64(entry[_ACTION])
            # A stored win counts from where it was stored.
            value = np.int64(entry[_VALUE])
            if value > EVALUATION_LIMIT:
                value -= ply
            elif value < -EVALUATION_LIMIT:
                value += ply
            bound = entry[_BOUND]
            if ply > 0 and (entry[_DEPTH] >= depth or abs(value) > EVALUATION_LIMIT):
                if bound == _EXACT or (bound == _LOWER and value >= beta) or (bound == _UPPER and value <= alpha):
                    return value
    mask = lane_of(masks, ply)
    legal_of(table)(params, row, mask)
    _prioritise_of(hooks)(params, row, scratch, lane_of(priorities, ply))
    order = lane_of(orders, ply)
    count = _order(lane_of(priorities, ply), mask, order, hint, width)
    best, best_action = -_INFINITY, np.int64(-1)
    child = lane_of(rows, ply + 1)
    for i in range(count):
        action = np.int64(order[i])
        for k in range(row.size):
            child[k] = row[k]
        apply_of(table)(params, child, action)
        # At the root a smaller number wins ties, so equality must be told from less.
        low = max(alpha, best)
        if ply == 0 and action < best_action:
            low -= 1
        mover = current_player_of(table)(params, child)
        same_side = mover == player or (mover == TERMINAL and player == 0)
        if same_side:
            value = _negamax(
                table, hooks, params, rows, masks, priorities, orders, keys, entries, scratch, payoffs, counters,
                ply + 1, depth - 1, low, beta, width,
            )  # fmt: skip
        else:
            value = -_negamax(
                table, hooks, params, rows, masks, priorities, orders, keys, entries, scratch, payoffs, counters,
                ply + 1, depth - 1, -beta, -low, width,
            )  # fmt: skip
        if counters[_STOPPED]:
            if ply == 0:
                break  # what is finished counts: the best move of the last depth came first
            return 0
        if value > best or (ply == 0 and value == best and action < best_action):
            best, best_action = value, action
        if best >= beta:
            break
    if ply == 0:
        counters[3], counters[4] = best, best_action
    if counters[_STOPPED]:
        return best
    entry[_LENGTH] = length + 1
    entry[_DEPTH] = depth
    entry[_BOUND] = _LOWER if best >= beta else _UPPER if best <= alpha else _EXACT
    entry[_VALUE] = best + ply if best > EVALUATION_LIMIT else best - ply if best < -EVALUATION_LIMIT else best
    entry[_ACTION] = best_action
    for i in range(length):
        entry[_KEY + i] = key[i]
    return best


@dataclass(frozen=True)
class Search:
    """What a search found: ``value`` for the player to move (a win in n plies is ``WIN - n``), ``depth`` finished."""

    action: int
    value: int
    depth: int
    nodes: int


def _check(game: Game) -> None:
    if game.num_players != 2 or not game.perfect_information:
        raise ValueError(
            f"{game.spec()}: alpha-beta search plays games of two players in which nothing is hidden; "
            "hex, tac_tix and docking are such games"
        )


class _Searcher:
    """The arrays of a search, made once a game."""

    def __init__(self, game: Game, heuristics: Heuristics, depth: int, slots: int) -> None:
        actions, plies = game.num_distinct_actions(), depth + 1
        self.game, self.heuristics, self.depth = game, heuristics, depth
        self.hooks, self.table = heuristics.table, game.kernels.table
        self.rows = np.zeros((plies + 1, game.row_size), dtype=np.int32)
        self.masks = np.zeros((plies, actions), dtype=np.bool_)
        self.priorities = np.zeros((plies, actions), dtype=np.float64)
        self.orders = np.zeros((plies, actions), dtype=np.int32)
        key_size = heuristics.key_size or max(1, game.max_information_length)
        self.keys = np.zeros((plies, key_size), dtype=np.int32)
        self.entries = np.zeros((slots, _KEY + key_size), dtype=np.int32)
        self.scratch = np.zeros(heuristics.scratch_size, dtype=np.float64)
        self.payoffs = np.zeros(game.num_players, dtype=np.float64)

    def run(self, state: State, budget: int, width: int) -> Search:
        self.entries[:, 0] = 0  # the answer must not depend on earlier positions
        self.rows[0] = state.row
        legal = state.legal_actions()
        found = Search(legal[0], 0, 0, 0)
        if len(legal) == 1:
            return found
        counters = np.zeros(5, dtype=np.int64)
        counters[_BUDGET] = budget
        for depth in range(1, self.depth + 1):
            _negamax(
                self.table, self.hooks, self.game.params, self.rows, self.masks, self.priorities, self.orders,
                self.keys, self.entries, self.scratch, self.payoffs, counters,
                0, depth, -_INFINITY, _INFINITY, width,
            )  # fmt: skip
            stopped = bool(counters[_STOPPED])
            if counters[4] >= 0:
                found = Search(int(counters[4]), int(counters[3]), depth - stopped, int(counters[_NODES]))
            if stopped or abs(found.value) > EVALUATION_LIMIT:
                break
        return found


def search(
    state: State,
    heuristics: Heuristics | None = None,
    *,
    depth: int = 64,
    nodes: int = 1_000_000,
    width: int | None = None,
    slots: int = 1 << 16,
) -> Search:
    """The best move of the player to move.

    Args:
        state: a position of a two-player game in which nothing is hidden, not the end.
        heuristics: what the game adds, see the module; None: nothing.
        depth: at most so many plies.
        nodes: at most so many positions in all depths together; the last depth that was begun counts as far as its
            moves were finished, the best move of the depth before being the first of them.
        width: only so many moves of the highest priority in each position; None: all. Wins are proved only without it.
        slots: of the transposition table; the newest entry replaces.

    Raises:
        ValueError: another kind of game, a finished game, or a setting out of range.
    """
    _check(state.game)
    if state.is_terminal():
        raise ValueError(f"{state.game.spec()}: the game is over, there is no move to search for")
    _check_settings(depth, nodes, width, slots)
    depth = min(depth, state.game.max_game_length())
    searcher = _Searcher(state.game, heuristics or Heuristics(), depth, slots)
    return searcher.run(state, nodes, width or state.game.num_distinct_actions())


def _check_settings(depth: int, nodes: int, width: int | None, slots: int) -> None:
    for name, value in (("depth", depth), ("nodes", nodes), ("width", width), ("slots", slots)):
        if value is not None and value < 1:
            raise ValueError(f"{name}={value}: must be at least 1")


class AlphaBetaAgent:
    """Plays what `search` finds; deterministic, so that a seed changes nothing. Settings as in `search`."""

    parts = frozenset({"state"})

    def __init__(
        self,
        game: Game,
        heuristics: Heuristics | None = None,
        *,
        depth: int = 64,
        nodes: int = 100_000,
        width: int | None = None,
        slots: int = 1 << 14,
        name: str = "alpha_beta",
    ) -> None:
        _check(game)
        _check_settings(depth, nodes, width, slots)
        self.game, self.name = game, name
        self.nodes, self.width = nodes, width or game.num_distinct_actions()
        self._searcher = _Searcher(game, heuristics or Heuristics(), min(depth, game.max_game_length()), slots)

    def reset(self, seed: int) -> None:
        """Nothing is random, nothing is remembered."""

    def act(self, observation: Observation) -> int:
        state = position_of(observation, self.game, self.name)
        return self.choose(state)

    def choose(self, state: State) -> int:
        """The move in a position of the agent's game."""
        return self._searcher.run(state, self.nodes, self.width).action
