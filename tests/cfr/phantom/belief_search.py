"""Best responses to opponents that ignore order, by a search over beliefs: an oracle for the exact engine.

The opponent's policy depends on the set of his stones and the set of those he has found, and on nothing else. Then all
that matters of the past is the pair (his stones, what he has found), of which the responder holds a belief: the
probability (his own part left out) of each pair together with what he, the responder, has seen. His histories are
searched, all those with the same own stones and the same found stones in one matrix with a belief in each row; equal
beliefs are one. Nothing is known here of placement orders, merged nodes or patterns.

Given the responder's stones S, a pair (T, L) of the opponent's stones and of the stones he has found is written as one
bit mask T | L: T lies outside of S, L inside.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from plain_rules import wins

# The opponent: (his stones, what he has found) -> probability of each cell; 0 on the cells he knows.
Policy = Callable[[int, int], np.ndarray]


def best_response_value(rows: int, cols: int, abrupt: bool, responder: int, policy: Policy) -> float:
    """The most that ``responder`` can get against ``policy``."""
    return _Search(rows, cols, abrupt, responder, policy).value()


class _Search:
    def __init__(self, rows: int, cols: int, abrupt: bool, responder: int, policy: Policy) -> None:
        self.cells, self.abrupt, self.responder, self.policy = rows * cols, abrupt, responder, policy
        self.i_win = functools.partial(wins, rows, cols, responder)
        self.he_wins = functools.partial(wins, rows, cols, 1 - responder)
        self.pairs = functools.cache(self._pairs)
        self.turn = functools.cache(self._turn)

    def _pairs(self, stones: int, turns: int) -> np.ndarray:
        """The pairs, as bit masks, after so many turns of the opponent, who has not won."""
        found = [
            pair
            for pair in range(1 << self.cells)
            if (pair if self.abrupt else pair & ~stones).bit_count() == turns and not self.he_wins(pair & ~stones)
        ]
        return np.array(found, dtype=np.int64)

    def _turn(self, stones: int, turns: int) -> tuple[np.ndarray, np.ndarray]:
        """The opponent's next turn: probability [pairs before, pairs after], and of his winning [pairs before]."""
        before, after = self.pairs(stones, turns), self.pairs(stones, turns + 1)
        column = {int(pair): i for i, pair in enumerate(after)}
        moved, lost = np.zeros((before.size, after.size)), np.zeros(before.size)

        def play(row: int, pair: int, probability: float) -> None:
            choices = self.policy(pair & ~stones, pair & stones)
            for cell in range(self.cells):
                p = probability * float(choices[cell])
                if p == 0.0:
                    continue
                reached = pair | 1 << cell
                if stones >> cell & 1 and not self.abrupt:
                    play(row, reached, p)  # he goes on
                elif self.he_wins(reached & ~stones):
                    lost[row] += p
                else:
                    moved[row, column[reached]] += p

        for row, pair in enumerate(before.tolist()):
            play(row, pair, 1.0)
        return moved, lost

    def value(self) -> float:
        beliefs = np.ones((1, 1))
        lost = 0.0
        if self.responder == 1:
            moved, won = self.turn(0, 0)
            beliefs, lost = beliefs @ moved, float(won[0])
        coming = {(0, 0): [beliefs]}
        layers = []
        while coming:
            layer = {group: self._step(*group, *_merge(parts)) for group, parts in coming.items()}
            layers.append(layer)
            coming = {}
            for decision in layer.values():
                for move in decision.moves:
                    parts = coming.setdefault(move.group, [])
                    move.start = sum(part.shape[0] for part in parts)
                    parts.append(move.beliefs)
                    del move.beliefs
        values: dict[tuple[int, int], np.ndarray] = {}
        for layer in reversed(layers):
            values = {group: decision.best(values) for group, decision in layer.items()}
        return float(values[0, 0][0]) - lost

    def _step(self, stones: int, found: int, beliefs: np.ndarray, place: np.ndarray) -> _Decision:
        """All actions at the beliefs of one group."""
        turns = (stones | found if self.abrupt else stones).bit_count() + self.responder
        pairs = self._seen(stones, found, turns)
        decision = _Decision(place)
        for cell in range(self.cells):
            if (stones | found) >> cell & 1:
                continue
            hit = (pairs >> cell & 1).astype(bool)
            payoff, moves = np.zeros(beliefs.shape[0]), []
            # A collision: no turn of the opponent lies between in the classical game.
            after, payoff_of_turn = beliefs[:, hit], 0.0
            if self.abrupt:
                after, payoff_of_turn = self._opponent(stones, found | 1 << cell, turns, pairs[hit], after)
            payoff += payoff_of_turn
            if after.shape[1]:
                moves.append(_Move((stones, found | 1 << cell), after))
            # A placement.
            placed = stones | 1 << cell
            if self.i_win(placed):
                payoff += beliefs[:, ~hit].sum(axis=1)
            elif not hit.all():
                after, payoff_of_turn = self._opponent(placed, found, turns, pairs[~hit], beliefs[:, ~hit])
                payoff += payoff_of_turn
                if after.shape[1]:
                    moves.append(_Move((placed, found), after))
            decision.add(payoff, moves)
        return decision

    def _seen(self, stones: int, found: int, turns: int) -> np.ndarray:
        """The pairs that a responder who has found ``found`` holds possible: the columns of his beliefs."""
        pairs = self.pairs(stones, turns)
        return pairs[pairs & found == found]

    def _opponent(
        self, stones: int, found: int, turns: int, pairs: np.ndarray, beliefs: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Beliefs over ``pairs`` after the opponent's turn, and the payoff of his wins (not positive)."""
        moved, lost = self.turn(stones, turns)
        rows = np.searchsorted(self.pairs(stones, turns), pairs)
        columns = self.pairs(stones, turns + 1) & found == found
        return beliefs @ moved[np.ix_(rows, columns)], -(beliefs @ lost[rows])


class _Move:
    """Rows ``start``, ... of what comes into ``group`` are where the beliefs of a decision lead to."""

    def __init__(self, group: tuple[int, int], beliefs: np.ndarray) -> None:
        self.group, self.beliefs, self.start = group, beliefs, 0


class _Decision:
    """Beliefs (``place[i]``: the row of incoming belief i), and for every action payoffs at once and moves."""

    def __init__(self, place: np.ndarray) -> None:
        self.place = place
        self.payoffs: list[np.ndarray] = []
        self.of_action: list[list[_Move]] = []

    def add(self, payoff: np.ndarray, moves: list[_Move]) -> None:
        self.payoffs.append(payoff)
        self.of_action.append(moves)

    @property
    def moves(self) -> list[_Move]:
        return [move for moves in self.of_action for move in moves]

    def best(self, values: dict[tuple[int, int], np.ndarray]) -> np.ndarray:
        """The value of every incoming belief, from those of the next layer."""
        best = np.full(self.payoffs[0].size, -np.inf) if self.payoffs else np.zeros(self.place.max() + 1)
        for payoff, moves in zip(self.payoffs, self.of_action, strict=True):
            for move in moves:
                payoff = payoff + values[move.group][move.start : move.start + payoff.size]
            np.maximum(best, payoff, out=best)
        return best[self.place]


def _merge(parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(different rows, which of them row i of all parts is)."""
    rows = np.concatenate(parts)
    bits = np.ascontiguousarray(rows + 0.0).view(np.uint64)  # + 0.0: one zero
    factors = np.random.default_rng(0).integers(2**63, size=rows.shape[1], dtype=np.uint64) * 2 + 1
    mixed = (bits ^ bits >> 32) * factors
    hashes = (mixed ^ mixed >> 29).sum(axis=1, dtype=np.uint64)
    _, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    merged = rows[first]
    if not np.array_equal(merged[place], rows):
        raise ArithmeticError("two beliefs with one hash")
    return merged, place
