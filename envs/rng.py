"""Random numbers inside kernels: xoshiro256++ on a uint64[4] array that belongs to the caller.

Passing a ``numpy.random.Generator`` into compiled code costs microseconds a call and cannot be saved from
there; these four words can be saved, restored and split.
Source: Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 2021 (xoshiro256++).
"""

from __future__ import annotations

import numpy as np
from numba import types

from envs.kernels import helper

RNG = types.Array(types.uint64, 1, "C")


def rng_state(seed: int | np.random.SeedSequence | None) -> np.ndarray:
    """uint64[4] generator state from a seed (0 is a seed, None draws entropy)."""
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return sequence.generate_state(4, np.uint64)


@helper
def _rotl(x, k):
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))


@helper
def next_u64(state):
    """Next 64 random bits; advances ``state``."""
    result = _rotl(state[0] + state[3], 23) + state[0]
    t = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= t
    state[3] = _rotl(state[3], 45)
    return result


@helper
def next_float(state):
    """Uniform float64 in [0, 1) with 53 random bits."""
    return np.float64(next_u64(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@helper
def next_below(state, n):
    """Uniform int64 in [0, n) for 1 <= n <= 2**31; bias below n / 2**53."""
    return np.int64(next_float(state) * n)
