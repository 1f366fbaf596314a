"""Chains: what a player's collisions depend on, besides his own actions.

A *chain* is a list of nested sets of cells: the stones that the other had at each turn in which the player ran
into one. The cell he found the i-th time is any of the i-th set that he had not found before. The sizes of the
sets follow from the patterns of both players; cells are numbered as the player's free cells
(``cfr.phantom.abrupt_words``).
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numba import types

from cfr.phantom.abrupt_words import I32, I64, rank_of, unrank, word_sets
from envs.kernels import kernel


@kernel(types.void(types.int64, types.int64, I64, I64))
def _chain_keys(f, s, sizes, keys):
    """``keys[rank]``: number that tells the chains of first stones of the words apart."""
    word = np.empty(f, dtype=np.int64)
    base = sizes.size + 1
    for rank in range(keys.size):
        unrank(rank, f, s, word)
        key = 0
        for i in range(s):
            part = 0
            while part < sizes.size and i >= sizes[part]:
                part += 1
            if part < sizes.size:
                weight = 1
                for _ in range(word[i]):
                    weight *= base
                key += (part + 1) * weight
        keys[rank] = key


def chain_keys(f: int, length: int, sizes: tuple[int, ...]) -> np.ndarray:
    keys = np.empty(math.perm(f, length), dtype=np.int64)
    _chain_keys(f, length, np.array(sizes, dtype=np.int64), keys)
    return keys


@kernel(types.int64(types.int64, types.int64, I64, I32, I32))
def _labels_in(f, x, keys, chain, label):
    """Pairs of a chain and a word of x labels, the i-th of them in the chain's i-th set. Returns their number."""
    base = x + 1
    part = np.empty(f, dtype=np.int64)
    word = np.empty(f + 1, dtype=np.int64)
    used = np.zeros(f, dtype=np.bool_)
    at = 0
    for c in range(keys.size):
        key = keys[c]
        for cell in range(f):
            part[cell] = key % base
            key //= base
        depth = 0
        word[0] = -1
        while depth >= 0:
            if depth == x:
                if chain.size:
                    chain[at] = c
                    label[at] = rank_of(word, f, x)
                at += 1
                depth -= 1
                continue
            cell = word[depth]
            if cell >= 0:
                used[cell] = False
            cell += 1
            while cell < f and (used[cell] or part[cell] == 0 or part[cell] > depth + 1):
                cell += 1
            if cell == f:
                depth -= 1
                continue
            word[depth] = cell
            used[cell] = True
            depth += 1
            word[depth] = -1
    return at


@dataclasses.dataclass(frozen=True, eq=False)
class Chains:
    """Nested sets of cells of given sizes: the other's stones at the turns in which a player ran into one.

    ``keys`` int64[count]: increasing; ``chain_start``, ``labels``: for each chain the label words it allows (int32);
    ``label_start``, ``chains``: for each label word the chains that allow it.
    """

    sizes: tuple[int, ...]
    keys: np.ndarray
    chain_start: np.ndarray
    labels: np.ndarray
    label_start: np.ndarray
    chains: np.ndarray

    @property
    def count(self) -> int:
        return self.keys.size


def _starts(values: np.ndarray, count: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(values, minlength=count))]).astype(np.int32)


def find_chains(f: int, sizes: tuple[int, ...]) -> Chains:
    """All chains of these sizes over f cells."""
    keys = np.unique(chain_keys(f, sizes[-1] if sizes else 0, sizes))
    x = len(sizes)
    nothing = np.empty(0, dtype=np.int32)
    size = _labels_in(f, x, keys, nothing, nothing)
    chain, label = (np.empty(size, dtype=np.int32) for _ in range(2))
    _labels_in(f, x, keys, chain, label)
    by_label = np.argsort(label, kind="stable")
    return Chains(
        sizes, keys, _starts(chain, keys.size), label, _starts(label, math.perm(f, x)), chain[by_label]
    )


def chain_of_word(chains: Chains, f: int, length: int) -> np.ndarray:
    """int32: the chain of each word of ``length`` stones over f cells."""
    return np.searchsorted(chains.keys, chain_keys(f, length, chains.sizes)).astype(np.int32)


def chain_of_arrangement(chains: Chains, f: int, length: int) -> np.ndarray:
    """int32[sets, length!]: as ``chain_of_word``, the words by their sets of cells and then by rank."""
    by_set = np.argsort(word_sets(f, length), kind="stable")
    return chain_of_word(chains, f, length)[by_set].reshape(-1, math.factorial(length))


def prefix_chain(chains: Chains, shorter: Chains) -> np.ndarray:
    """int32[count]: the chain without its last set, among ``shorter`` (whose sizes are all but the last)."""
    base, keys = len(chains.sizes) + 1, chains.keys.copy()
    result = np.zeros_like(keys)
    weight = 1
    while keys.any():
        part = keys % base
        result += np.where(part == len(chains.sizes), 0, part) * weight
        keys //= base
        weight *= len(shorter.sizes) + 1
    return np.searchsorted(shorter.keys, result).astype(np.int32)
