"""Forms and random policies shared by the tests of the exact engine."""

from __future__ import annotations

import numpy as np

import envs
from cfr import AbruptForm, ClassicalForm, PhantomForm

VERSIONS = ("classical", "abrupt")


def form_of(rows: int, cols: int, version: str) -> PhantomForm:
    """The form of a silent Dark Hex board; nothing is read from the cache."""
    game = envs.make("dark_hex", rows=rows, cols=cols, version=version, info="silent")
    return ClassicalForm(game) if version == "classical" else AbruptForm(game)


def random_behaviours(form: PhantomForm, seed: int, spread: float) -> list[np.ndarray]:
    """Weights 1 + spread * (exponential random number) at every node; large spreads are far from uniform."""
    rng, result = np.random.default_rng(seed), []
    for player in (0, 1):
        first = form.first_sequence(player)
        weights = 1.0 + spread * rng.exponential(size=int(first[-1]) - 1)
        totals = np.add.reduceat(weights, first[:-1] - 1)
        result.append(np.concatenate([[1.0], weights / np.repeat(totals, np.diff(first))]))
    return result
