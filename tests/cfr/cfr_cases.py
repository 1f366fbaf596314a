"""Trees and random policies shared by the solver tests."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import cfr
import envs


@functools.cache
def dark_hex_tree(rows: int, cols: int, version: str, info: str = "silent", keep_histories: bool = False) -> cfr.Tree:
    game = envs.make("dark_hex", rows=rows, cols=cols, version=version, info=info)
    return cfr.build_tree(game, keep_histories=keep_histories)


@functools.cache
def openspiel_tree(name: str, keep_histories: bool = False) -> cfr.Tree:
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    return cfr.build_tree(pyspiel.load_game(name), keep_histories=keep_histories)


def random_policy(tree: cfr.Tree, seed: int, pure: bool = False) -> cfr.TabularPolicy:
    """Dirichlet(1/2) at every information set, or a random deterministic policy."""
    rng = np.random.default_rng(seed)
    behaviour = []
    for plex in tree.treeplexes:
        values = np.ones(plex.num_sequences)
        for i in range(plex.num_infosets):
            own = slice(plex.first_sequence[i], plex.first_sequence[i + 1])
            size = own.stop - own.start
            values[own] = np.eye(size)[rng.integers(size)] if pure else rng.dirichlet(np.full(size, 0.5))
        behaviour.append(values)
    return cfr.TabularPolicy.from_behaviour(tree, behaviour)
