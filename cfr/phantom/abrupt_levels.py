"""Which sums make up the masses of one player's nodes after a number of turns, as rows of numbers for the kernels."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from cfr.phantom.abrupt_chains import Chains, chain_of_arrangement, chain_of_word, find_chains, prefix_chain
from cfr.phantom.abrupt_graph import Graph
from cfr.phantom.abrupt_lanes import LANES
from cfr.phantom.abrupt_patterns import COLLIDED, Known, Meeting, Sizes, stones_of
from cfr.phantom.abrupt_pool import Pool
from cfr.phantom.abrupt_words import Orders, meetings

# Columns of ``Level.senders``, ``Level.sums``, ``Level.groups``, ``Level.kinds`` and ``Level.pairs``.
SENDER_PARENT, SENDER_COLLIDED, SENDER_ORDERS, SENDER_WORDS, SENDER_PARTS, SENDER_STOP, SENDER_SUMS = range(7)
SUM_FIRST, SUM_CHAINS, SUM_STARTS, SUM_LABELS = range(4)
GROUP_CHAINS, GROUP_STARTS, GROUP_LISTS, GROUP_KINDS = range(4)
KIND_CHAINS, KIND_PREFIX, KIND_STARTS, KIND_LISTS, KIND_WORD_CHAINS, KIND_MEETINGS, KIND_MET, KIND_PAIRS = range(8)
PAIR_SUM, PAIR_CHAINS, PAIR_ARRANGEMENTS = range(3)


@dataclasses.dataclass(frozen=True, eq=False)
class Level:
    """How the masses of a player's ``blocks`` after t turns are summed: int64 rows, which refer to ranges of the next
    table and to arrays of ``Tables``.

    * ``senders``: the opponent's patterns (and what he had heard before his last action), with the block whose
      sequences end in them (-1: no action yet); his orders are summed in parts of LANES, those listed at
      SENDER_PARTS..SENDER_STOP-1.
    * ``sums``: per sender, his reaches summed over labels, once for every list of chain sizes that he meets; where they
      are written. All together are ``sums_size`` numbers.
    * ``groups``: per own block, its lists of chain sizes; ``group_starts`` int64[blocks + 1].
    * ``kinds``: per group, the number of stones the opponent has now. An action collides with those not found: the
      chain gets one more set. KIND_CHAINS is 0 when all of them are found.
    * ``pairs``: per kind, the sums that are added up.

    Senders, groups and kinds have a closing row. The costs are estimates, to share out the work.
    """

    blocks: range
    senders: np.ndarray
    sums: np.ndarray
    groups: np.ndarray
    kinds: np.ndarray
    pairs: np.ndarray
    group_starts: np.ndarray
    sums_size: int
    sender_costs: np.ndarray
    block_costs: np.ndarray


PlayersOrders = tuple[tuple[Orders, ...], ...]  # by player and number of stones


class Tables:
    """Chains and meetings of orders, each made once: ``small`` and ``met`` uint32. ``drawn``: the orders that can be a
    player's on a full board."""

    def __init__(self, n: int, orders: PlayersOrders, drawn: PlayersOrders) -> None:
        self.n = n
        self.orders, self.drawn = orders, drawn
        self.small, self.met = Pool(np.uint32), Pool(np.uint32)
        self._chains: dict[tuple[int, Sizes], Chains] = {}
        self._meetings: dict[tuple[int, int, int, bool], tuple[int, int]] = {}
        self._parts: dict[tuple[int, int, bool], tuple[int, int]] = {}

    def chains(self, f: int, sizes: Sizes) -> Chains:
        if (f, sizes) not in self._chains:
            self._chains[f, sizes] = find_chains(f, sizes)
        return self._chains[f, sizes]

    def labels_of_chains(self, f: int, sizes: Sizes) -> tuple[int, int]:
        """Where the starts of the chains' lists of label words are, and the lists."""
        chains = self.chains(f, sizes)
        return (
            self.small.add(("chain starts", f, sizes), chains.chain_start),
            self.small.add(("labels", f, sizes), chains.labels),
        )

    def chains_of_labels(self, f: int, sizes: Sizes) -> tuple[int, int]:
        """Where the starts of the label words' lists of chains are, and the lists."""
        chains = self.chains(f, sizes)
        return (
            self.small.add(("label starts", f, sizes), chains.label_start),
            self.small.add(("chains", f, sizes), chains.chains),
        )

    def chains_of_words(self, f: int, length: int, sizes: Sizes) -> int:
        key = "words", f, length, sizes
        return self.small.offset(key, lambda: chain_of_word(self.chains(f, sizes), f, length))

    def chains_of_arrangements(self, f: int, length: int, sizes: Sizes) -> int:
        key = "arrangements", f, length, sizes
        return self.small.offset(key, lambda: chain_of_arrangement(self.chains(f, sizes), f, length).ravel())

    def prefixes(self, f: int, sizes: Sizes) -> int:
        key = "prefixes", f, sizes
        return self.small.offset(key, lambda: prefix_chain(self.chains(f, sizes), self.chains(f, sizes[:-1])))

    def own_orders(self, player: int, full: bool) -> tuple[Orders, ...]:
        return (self.drawn if full else self.orders)[player]

    def parts(self, player: int, stones: int, full: bool) -> tuple[int, int]:
        """Where the list of parts of LANES orders starts and stops; ``full``: of those with orders that can be a
        player's on a full board."""
        key = player, stones, full
        if key not in self._parts:
            draws = np.isin(self.orders[player][stones].stones, self.own_orders(player, full)[stones].sets)
            parts = np.unique(np.flatnonzero(draws) // LANES)
            start = self.small.add(("parts", *key), parts)
            self._parts[key] = start, start + parts.size
        return self._parts[key]

    def meetings(self, player: int, own: int, other: int, full: bool) -> tuple[int, int]:
        """Where the starts of the meetings of a player's sets of stones are, and the meetings: three numbers each.
        ``full``: of the sets that can be his on a full board."""
        key = player, own, other, full
        if key not in self._meetings:
            start, met = meetings(self.own_orders(player, full)[own], self.orders[1 - player][other])
            self._meetings[key] = self.small.add(("meetings", *key), start), self.met.add(key, met.ravel())
        return self._meetings[key]


Senders = dict[Known, dict[Sizes, int]]  # where the sums of a sender's list of chain sizes start


def _build_senders(
    tables: Tables, graph: Graph, senders: Senders, full: bool
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]], list[int], int]:
    """Rows of senders and sums, the costs, and the number of all sums; fills in where they start."""
    block_of = {known: block for block, known in enumerate(graph.known)}
    orders = tables.orders[graph.player]
    rows: list[tuple[int, ...]] = []
    sums: list[tuple[int, ...]] = []
    costs: list[int] = []
    size = 0
    for (pattern, heard), starts in senders.items():
        s = stones_of(pattern)
        f = tables.n - s
        parent = block_of[Known(pattern[:-1], heard)] if pattern else -1
        collided = bool(pattern) and pattern[-1] == COLLIDED
        start, stop = tables.parts(graph.player, s, full)
        words = math.perm(f, len(pattern) - s)
        rows.append((parent, int(collided), orders[s].count, words, start, stop, len(sums)))
        cost = 0
        for sizes in starts:
            chains = tables.chains(f, sizes)
            starts[sizes] = size
            sums.append((size, chains.count, *tables.labels_of_chains(f, sizes)))
            size += orders[s].count * chains.count
            cost += (stop - start) * LANES * (chains.labels.size + 4 * chains.count)
        costs.append(cost)
    rows.append((0, 0, 0, 0, 0, 0, len(sums)))
    return rows, sums, costs, size


def build_level(
    player: int,
    blocks: range,
    blocks_know: Sequence[Known],
    other: Graph,
    meetings_of_level: list[Meeting],
    tables: Tables,
    full: bool = False,
) -> Level:
    """``blocks_know``: what is known in the player's ``blocks``; ``other``: the opponent's graph;
    ``meetings_of_level``: in which ``player`` is to move; ``full``: in which the board is full, so that nobody is."""
    own_orders = tables.own_orders(player, full)
    kinds_of: dict[Known, dict[Sizes, dict[int, list[Meeting]]]] = {}
    senders: Senders = {}
    for meeting in meetings_of_level:
        others = meeting.acted(1 - player, other.told)
        known = meeting.acted(player, other.told) if full else meeting.known(player, other.told)
        groups = kinds_of.setdefault(known, {})
        groups.setdefault(meeting.sizes[player], {}).setdefault(stones_of(others.own), []).append(meeting)
        senders.setdefault(others, {})[meeting.sizes[1 - player]] = -1
    sender_rows, sum_rows, sender_costs, sums_size = _build_senders(tables, other, senders, full)
    group_rows: list[tuple[int, ...]] = []
    kind_rows: list[tuple[int, ...]] = []
    pair_rows: list[tuple[int, ...]] = []
    group_starts, block_costs = [], []
    for known in blocks_know:
        s = stones_of(known.own)
        f, count = tables.n - s, own_orders[s].count
        cost = 0
        group_starts.append(len(group_rows))
        for sizes, kinds in sorted(kinds_of[known].items()):
            chains = tables.chains(f, sizes)
            group_rows.append((chains.count, *tables.chains_of_labels(f, sizes), len(kind_rows)))
            cost += count * chains.labels.size
            for stones, pairs in sorted(kinds.items()):
                hidden = stones > len(sizes) and not full
                seen = (*sizes, stones) if hidden else sizes
                columns = [0, 0, 0, 0]
                if hidden:
                    larger = tables.chains(f, seen)
                    columns = [larger.count, tables.prefixes(f, seen), *tables.chains_of_labels(f, seen)]
                    cost += count * larger.labels.size
                start, met = tables.meetings(player, s, stones, full)
                kind_rows.append((*columns, tables.chains_of_words(f, stones, seen), start, met, len(pair_rows)))
                for meeting in pairs:
                    other_sizes = meeting.sizes[1 - player]
                    pair_rows.append((
                        senders[meeting.acted(1 - player, other.told)][other_sizes],
                        tables.chains(tables.n - stones, other_sizes).count,
                        tables.chains_of_arrangements(tables.n - stones, s, other_sizes),
                    ))  # fmt: skip
                cost += 8 * len(pairs) * count * math.perm(f, stones)
        block_costs.append(cost)
    group_starts.append(len(group_rows))
    group_rows.append((0, 0, 0, len(kind_rows)))
    kind_rows.append((0, 0, 0, 0, 0, 0, 0, len(pair_rows)))
    return Level(
        blocks=blocks,
        senders=np.array(sender_rows, dtype=np.int64),
        sums=np.array(sum_rows, dtype=np.int64),
        groups=np.array(group_rows, dtype=np.int64),
        kinds=np.array(kind_rows, dtype=np.int64),
        pairs=np.array(pair_rows, dtype=np.int64),
        group_starts=np.array(group_starts, dtype=np.int64),
        sums_size=sums_size,
        sender_costs=np.array(sender_costs, dtype=np.int64),
        block_costs=np.array(block_costs, dtype=np.int64),
    )
