"""Numbered words, orders, chains and reachable places against plain enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from cfr.phantom import abrupt_chains
from cfr.phantom import abrupt_words as words
from envs.core import make


@pytest.mark.parametrize(("f", "length"), [(1, 0), (1, 1), (4, 2), (5, 5), (6, 3)])
def test_words_are_in_lexicographic_order(f: int, length: int) -> None:
    expected = list(itertools.permutations(range(f), length))
    assert [tuple(word) for word in words.all_words(f, length).tolist()] == expected
    assert [words.word_rank(word, range(f)) for word in expected] == list(range(len(expected)))


def test_a_longer_word_extends_the_rank() -> None:
    for rank, word in enumerate(itertools.permutations(range(6), 3)):
        unused = [cell for cell in range(6) if cell not in word]
        for position, cell in enumerate(unused):
            assert words.word_rank((*word, cell), range(6)) == rank * 3 + position


@pytest.mark.parametrize("player", [0, 1])
def test_orders_are_grouped_by_their_sets(player: int) -> None:
    wins = make("dark_hex", rows=3, cols=2).win_table()[player]
    for length in range(5):
        orders = words.number_orders(6, length, wins)
        losing = [w for w in itertools.permutations(range(6), length) if not wins[sum(1 << c for c in w)]]
        assert sorted(tuple(row[:length]) for row in orders.cells.tolist()) == losing
        assert np.array_equal(orders.stones, np.repeat(orders.sets, math.factorial(length)))
        for number, row in enumerate(orders.cells.tolist()):
            assert orders.index[words.word_rank(row[:length], range(6))] == number
            assert row[length:] == [cell for cell in range(6) if cell not in row[:length]]


def test_meetings_are_the_pairs_without_a_common_cell() -> None:
    wins = make("dark_hex", rows=2, cols=3).win_table()
    own, other = words.number_orders(6, 2, wins[0]), words.number_orders(6, 3, wins[1])
    start, met = words.meetings(own, other)
    for a, stones in enumerate(own.sets):
        rows = met[start[a] : start[a + 1]]
        assert [o for o in range(other.count) if not other.stones[o] & stones] == rows[:, 0].tolist()
        free = [cell for cell in range(6) if not stones >> cell & 1]
        for o, word, own_set in rows.tolist():
            assert words.word_rank(other.cells[o, :3].tolist(), free) == word
            by_mask = sorted(itertools.combinations(range(3), 2), key=lambda pair: sum(1 << i for i in pair))
            assert sum(1 << other.cells[o, 3 + i] for i in by_mask[own_set]) == stones


@pytest.mark.parametrize("sizes", [(), (1,), (2, 2), (1, 2, 4), (3, 3, 3)])
def test_chains_and_their_labels(sizes: tuple[int, ...]) -> None:
    f = 5
    chains = abrupt_chains.find_chains(f, sizes)
    length = max(sizes, default=0)
    of_word = abrupt_chains.chain_of_word(chains, f, length)
    expected: dict[tuple[frozenset[int], ...], int] = {}
    for word, chain in zip(itertools.permutations(range(f), length), of_word, strict=True):
        sets = tuple(frozenset(word[:size]) for size in sizes)
        assert expected.setdefault(sets, int(chain)) == chain
    assert sorted(expected.values()) == list(range(chains.count))
    for sets, chain in expected.items():
        allowed = [
            words.word_rank(label, range(f))
            for label in itertools.permutations(range(f), len(sizes))
            if all(cell in cells for cell, cells in zip(label, sets, strict=True))
        ]
        assert chains.labels[chains.chain_start[chain] : chains.chain_start[chain + 1]].tolist() == allowed
        for label in allowed:
            assert chain in chains.chains[chains.label_start[label] : chains.label_start[label + 1]]
    assert chains.chains.size == chains.labels.size
    if sizes:
        shorter = abrupt_chains.find_chains(f, sizes[:-1])
        prefixes = abrupt_chains.prefix_chain(chains, shorter)
        of_shorter = abrupt_chains.chain_of_word(shorter, f, length)
        assert np.array_equal(prefixes[of_word], of_shorter)
    by_set = abrupt_chains.chain_of_arrangement(chains, f, length)
    sets_of_words = words.word_sets(f, length)
    assert np.array_equal(by_set.ravel(), of_word[np.argsort(sets_of_words, kind="stable")])


def test_the_most_stones_without_winning() -> None:
    wins = make("dark_hex", rows=2, cols=2).win_table()[1]
    most = words.most_stones(4, wins)
    for a in range(16):
        for b in range(16):
            larger = [c for c in range(16) if c & b == b and c & a == 0 and not wins[c]]
            assert most[a, b] == max((c.bit_count() for c in larger), default=-1)
