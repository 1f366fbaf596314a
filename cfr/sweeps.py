"""Passes over one player's treeplex: forward for realisation probabilities, backward for values."""

from __future__ import annotations

from numba import types

from envs.kernels import F64, kernel

I32 = types.Array(types.int32, 1, "C")
I64 = types.Array(types.int64, 1, "C")


@kernel(types.void(I32, I64, F64, F64))
def realisation(parent_sequence, first_sequence, behaviour, reach):
    """``reach[s]``: product of the player's own probabilities along sequence s (1 for the empty sequence)."""
    reach[0] = 1.0
    for i in range(parent_sequence.size):
        above = reach[parent_sequence[i]]
        for s in range(first_sequence[i], first_sequence[i + 1]):
            reach[s] = above * behaviour[s]


@kernel(types.void(I64, F64, F64))
def behaviour_of(first_sequence, weights, behaviour):
    """Normalise non-negative ``weights`` at every infoset; uniform where they are all zero."""
    behaviour[0] = 1.0
    for i in range(first_sequence.size - 1):
        first, stop = first_sequence[i], first_sequence[i + 1]
        total = 0.0
        for s in range(first, stop):
            total += weights[s]
        for s in range(first, stop):
            behaviour[s] = weights[s] / total if total > 0.0 else 1.0 / (stop - first)


@kernel(types.float64(F64, F64))
def dot(x, y):
    """Sum of products in index order (a BLAS dot product may depend on the number of threads)."""
    total = 0.0
    for s in range(x.size):
        total += x[s] * y[s]
    return total


@kernel(types.void(I32, I64, F64, F64, F64))
def infoset_values(parent_sequence, first_sequence, gradient, behaviour, value):
    """``value[i]``: what ``behaviour`` gets against ``gradient`` (overwritten as below) from infoset i on."""
    for i in range(parent_sequence.size - 1, -1, -1):
        total = 0.0
        for s in range(first_sequence[i], first_sequence[i + 1]):
            total += behaviour[s] * gradient[s]
        value[i] = total
        gradient[parent_sequence[i]] += total


@kernel(types.float64(I32, I64, F64, F64))
def best_response_sweep(parent_sequence, first_sequence, gradient, behaviour):
    """Best value against ``gradient`` (overwritten: values of continuing after each sequence), and a
    deterministic ``behaviour`` that attains it; of equal actions the first."""
    behaviour[0] = 1.0
    for i in range(parent_sequence.size - 1, -1, -1):
        first, stop = first_sequence[i], first_sequence[i + 1]
        best = first
        for s in range(first, stop):
            behaviour[s] = 0.0
            if gradient[s] > gradient[best]:
                best = s
        behaviour[best] = 1.0
        gradient[parent_sequence[i]] += gradient[best]
    return gradient[0]
