"""Payoff entries, one per combination of the players' last sequences, and products with them."""

from __future__ import annotations

import dataclasses

import numpy as np
from numba import types

from envs.kernels import F64, kernel

I32 = types.Array(types.int32, 1, "C")
I32_2D = types.Array(types.int32, 2, "C")
I64 = types.Array(types.int64, 1, "C")
F64_2D = types.Array(types.float64, 2, "C")


@dataclasses.dataclass(frozen=True)
class Payoffs:
    """One player's payoffs as a sparse array, rows = the player's own last sequence (compressed rows).

    ``start`` int64[own sequences + 1]; ``others`` int32[num_players - 1, entries]: the other players' last
    sequences, numbered through all players (``Tree.offsets``); ``value`` float64[entries]: own payoff times
    probability of chance, summed over the terminals with these last sequences. Zero entries are left out.
    """

    start: np.ndarray
    others: np.ndarray
    value: np.ndarray

    def gradient(self, reach: np.ndarray, out: np.ndarray) -> np.ndarray:
        """``out[s]`` = sum over entries of row s of value * the others' ``reach`` (realisation probabilities of
        all players' sequences, one after the other). Sums run in a fixed order."""
        if self.others.shape[0] == 1:
            _gradient_2(self.start, self.others[0], self.value, reach, out)
        else:
            _gradient_n(self.start, self.others, self.value, reach, out)
        return out

    @property
    def nbytes(self) -> int:
        return self.start.nbytes + self.others.nbytes + self.value.nbytes


@kernel(types.void(I64, I32, F64, F64, F64))
def _gradient_2(start, other, value, reach, out):
    for s in range(start.size - 1):
        total = 0.0
        for e in range(start[s], start[s + 1]):
            total += value[e] * reach[other[e]]
        out[s] = total


@kernel(types.void(I64, I32_2D, F64, F64, F64))
def _gradient_n(start, others, value, reach, out):
    for s in range(start.size - 1):
        total = 0.0
        for e in range(start[s], start[s + 1]):
            term = value[e]
            for j in range(others.shape[0]):
                term *= reach[others[j, e]]
            total += term
        out[s] = total


@kernel(types.void(I32, I64, I64, I64))
def _sort_by(column, order, start, out):
    """Stable counting sort of the entries in ``order`` by ``column``; ``start`` becomes the row starts."""
    start[:] = 0
    for i in range(order.size):
        start[column[order[i]] + 1] += 1
    for s in range(start.size - 1):
        start[s + 1] += start[s]
    free = start.copy()
    for i in range(order.size):
        e = order[i]
        out[free[column[e]]] = e
        free[column[e]] += 1


@kernel(types.int64(I32_2D, F64_2D, I64, I32_2D, F64_2D))
def _merge(sequences, payoffs, order, merged_sequences, merged_payoffs):
    """Add up neighbours (in ``order``) with equal sequences; returns the number of entries left."""
    count = 0
    num_players = sequences.shape[1]
    for i in range(order.size):
        e = order[i]
        same = count > 0
        if same:
            for p in range(num_players):
                if merged_sequences[count - 1, p] != sequences[e, p]:
                    same = False
        if not same:
            for p in range(num_players):
                merged_sequences[count, p] = sequences[e, p]
                merged_payoffs[count, p] = 0.0
            count += 1
        for p in range(num_players):
            merged_payoffs[count - 1, p] += payoffs[e, p]
    return count


def build_payoffs(sequences: np.ndarray, payoffs: np.ndarray, num_sequences: list[int]) -> tuple[Payoffs, ...]:
    """Sort and merge terminals (``sequences`` int32[T, P], ``payoffs`` float64[T, P]) into each player's rows."""
    num_players = sequences.shape[1]
    offsets = np.concatenate([[0], np.cumsum(num_sequences)])
    order = np.arange(sequences.shape[0], dtype=np.int64)
    for player in reversed(range(num_players)):
        order = _sorted(sequences, player, order, num_sequences)[0]
    merged = np.empty_like(sequences), np.empty_like(payoffs)
    count = _merge(sequences, payoffs, order, *merged)
    sequences, payoffs = merged[0][:count], merged[1][:count]
    result = []
    for player in range(num_players):
        order, start = _sorted(sequences, player, np.flatnonzero(payoffs[:, player]), num_sequences)
        others = [p for p in range(num_players) if p != player]
        columns = np.empty((len(others), order.size), dtype=np.int32)
        for j, other in enumerate(others):
            columns[j] = sequences[order, other] + offsets[other]
        result.append(Payoffs(start=start, others=columns, value=payoffs[order, player]))
    return tuple(result)


def _sorted(
    sequences: np.ndarray, player: int, order: np.ndarray, num_sequences: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """``order`` stably sorted by a player's sequence, and the row starts in the sorted order."""
    start = np.empty(num_sequences[player] + 1, dtype=np.int64)
    out = np.empty_like(order)
    _sort_by(np.ascontiguousarray(sequences[:, player]), order, start, out)
    return out, start
