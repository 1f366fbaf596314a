"""An abrupt phantom placement game as the solvers see it: the counterpart of ``cfr.phantom.form.ClassicalForm``."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from cfr.best_response import Evaluation
from cfr.errors import TreeTooLargeError
from cfr.keys import KeyTable
from cfr.memory import available_memory, format_bytes
from cfr.phantom import abrupt_masses, abrupt_sweeps
from cfr.phantom.abrupt import build_abrupt
from cfr.phantom.abrupt_draws import Draws
from cfr.phantom.abrupt_folds import fold, unfold
from cfr.phantom.abrupt_graph import COUNT, FIRST_SEQUENCE, WIDTH, Graph
from cfr.phantom.abrupt_levels import Level
from cfr.phantom.abrupt_size import MOST_CELLS, predict_size
from cfr.phantom.base import BATCH, PhantomForm, PolicyFunction, asked, never_decides, table_probabilities
from cfr.phantom.hearing import heard_turns, with_heard
from cfr.phantom.observations import observations
from cfr.policy import TabularPolicy

COUNTED_CELLS = 10


def _payoff(worth: np.ndarray) -> float:
    """Of the whole game: what does not arrive at the player's first decision is lost."""
    return float(worth[0] - 1.0)


class AbruptForm(PhantomForm):
    """Both players' information states and the sums over them.

    ``graphs``: one a player; ``behaviour`` arrays hold a probability per sequence (place 0, the empty sequence, is
    1). The blocks of a level are shared out among ``threads`` threads (all processors when unset); every number is
    summed by one thread in a fixed order, so results do not depend on how many there are. Methods share scratch
    memory: one at a time.
    """

    graphs: tuple[Graph, Graph]

    def __init__(self, game: Any, memory_limit: int | None = None, threads: int | None = None) -> None:
        super().__init__(game, "abrupt", ("silent", "numturns", "announce"))
        _check_size(game, memory_limit)
        began = time.perf_counter()
        self._abrupt = build_abrupt(game.cells, game.win_table(), game.info == "announce")
        self.graphs = self._abrupt.graphs
        self.origin = f"built in {time.perf_counter() - began:.2f} s"
        self._first = [graph.first_sequence() for graph in self.graphs]
        self._threads = threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self._threads)
        self._nodes = np.empty(max(graph.num_nodes for graph in self.graphs) + 1)
        self._sums = np.empty(max(level.sums_size for level in self._abrupt.all_levels))
        draws = [draws for draws in self._abrupt.draws if draws is not None]
        self._ends = np.zeros(max((part.most for part in draws), default=0) + 1)
        self._identity = np.arange(max((part.largest for part in draws), default=0), dtype=np.int32)

    @property
    def nbytes(self) -> int:
        scratch = self._sums, self._nodes, self._ends, self._identity
        return self._abrupt.nbytes + sum(array.nbytes for array in (*self._first, *scratch))

    def first_sequence(self, player: int) -> np.ndarray:
        """int64[N + 1]: node i owns the sequences ``first[i]:first[i + 1]``."""
        return self._first[player]

    def _share(self, costs: np.ndarray, run: Callable[[int, int], None]) -> None:
        """``run(i, i + 1)`` for every i, the dearest first; at once for all when there is one thread."""
        if self._threads == 1 or costs.sum() < 1e5:
            run(0, costs.size)
        else:
            list(self._pool.map(lambda i: run(i, i + 1), np.argsort(-costs, kind="stable").tolist()))

    def _per_block(self, graph: Graph, blocks: range, run: Callable[[int, int], None]) -> None:
        costs = graph.blocks[blocks.start : blocks.stop, COUNT]
        self._share(costs, lambda start, stop: run(blocks.start + start, blocks.start + stop))

    def realise(self, player: int, behaviour: np.ndarray, reach: np.ndarray) -> None:
        """Own probability of every sequence into ``reach`` float64[S]."""
        graph = self.graphs[player]
        node_reach = self._nodes[: graph.num_nodes + 1]
        node_reach[0] = 1.0
        reach[0] = 1.0
        form = graph.blocks, graph.places, graph.numbers, graph.placed
        for blocks in graph.levels:
            if graph.told:
                self._per_block(graph, blocks, lambda start, stop: unfold(start, stop, *form[:3], node_reach))
            self._per_block(
                graph,
                blocks,
                lambda start, stop: abrupt_sweeps.reaches(start, stop, *form, behaviour, node_reach, reach),
            )

    def masses(
        self, player: int, opponent_reach: np.ndarray, correction: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The opponent's part of the probability of every node of ``player`` (float64[N]), and what completes the
        payoffs of actions (``cfr.phantom.abrupt_sweeps``; float64[S], written to ``correction`` when given)."""
        if correction is None:
            correction = np.empty(self.graphs[player].num_sequences)
        mass = self._masses(player, opponent_reach, correction)
        return mass[:-1].copy(), correction

    def _masses(self, player: int, opponent_reach: np.ndarray, correction: np.ndarray) -> np.ndarray:
        """Scratch float64[N + 1], the masses and a last 0."""
        own = self.graphs[player]
        mass = self._nodes[: own.num_nodes + 1]
        mass[-1] = 0.0
        correction[0] = 0.0
        for level in self._abrupt.levels[player]:
            self._sum_level(player, level, own.blocks, own.numbers, opponent_reach, mass, correction)
        draws = self._abrupt.draws[player]
        if draws is not None:
            self._add_draws(player, draws, opponent_reach, correction)
        return mass

    def _add_draws(self, player: int, draws: Draws, opponent_reach: np.ndarray, correction: np.ndarray) -> None:
        own = self.graphs[player]
        form = own.blocks, own.places, draws.numbers, own.placed, draws.after
        for blocks, level in zip(own.levels, draws.levels, strict=True):
            if level is not None:
                self._sum_level(player, level, draws.blocks, self._identity, opponent_reach, self._ends, correction)
                self._per_block(
                    own, blocks, lambda start, stop: abrupt_sweeps.add_draws(start, stop, *form, self._ends, correction)
                )

    def _sum_level(
        self,
        player: int,
        level: Level,
        blocks: np.ndarray,
        numbers: np.ndarray,
        opponent_reach: np.ndarray,
        mass: np.ndarray,
        correction: np.ndarray,
    ) -> None:
        """Masses of the level's blocks, which are nodes or, without actions, ends."""
        own, other = self.graphs[player], self.graphs[1 - player]
        tables, met = self._abrupt.tables, self._abrupt.met
        self._share(
            level.sender_costs,
            lambda start, stop: abrupt_masses.sum_labels(
                start, stop, level.senders, level.sums, other.blocks, other.places, other.placed, tables,
                opponent_reach, self._sums,
            ),
        )  # fmt: skip
        first = level.blocks.start
        self._share(
            level.block_costs,
            lambda start, stop: abrupt_masses.masses(
                first, first + start, first + stop, level.group_starts, level.groups, level.kinds, level.pairs,
                blocks, numbers, own.placed, tables, met, self._sums, mass, correction,
            ),
        )  # fmt: skip

    def _backward(
        self, graph: Graph, kernel: Callable[..., None], worths: Sequence[np.ndarray], *arrays: np.ndarray
    ) -> None:
        """Run a backward sweep over all blocks; ``worths``: those of its ``arrays`` that it reads at the nodes that
        actions lead to."""
        form = graph.blocks, graph.places, graph.numbers
        for blocks in reversed(graph.levels):
            self._per_block(graph, blocks, lambda start, stop: kernel(start, stop, *form, graph.placed, *arrays))
            for worth in worths if graph.told else ():
                self._fold(graph, blocks, worth)

    def _fold(self, graph: Graph, blocks: range, worth: np.ndarray) -> None:
        form = graph.blocks, graph.places, graph.numbers
        self._per_block(graph, blocks, lambda start, stop: fold(start, stop, *form, worth))

    def add_regrets(
        self,
        player: int,
        behaviours: Sequence[np.ndarray],
        reaches: Sequence[np.ndarray],
        instantaneous: np.ndarray,
        regrets: np.ndarray,
        mass: np.ndarray | None = None,
    ) -> None:
        """Counterfactual regrets of the player's behaviour against the opponent's ``reaches``; ``mass`` float64[N] gets
        the opponent's part of the probability of every node."""
        worth = self._masses(player, reaches[1 - player], instantaneous)
        if mass is not None:
            mass[:] = worth[:-1]
        self._backward(
            self.graphs[player], abrupt_sweeps.add_regrets, [worth], behaviours[player], worth, instantaneous, regrets
        )

    def best_response(self, player: int, opponent_reach: np.ndarray) -> tuple[float, np.ndarray]:
        """The best payoff against the opponent's reach, and a deterministic behaviour that attains it."""
        correction = np.empty(self.graphs[player].num_sequences)
        worth = self._masses(player, opponent_reach, correction)
        behaviour = np.empty(correction.size)
        behaviour[0] = 1.0
        self._backward(self.graphs[player], abrupt_sweeps.best_response, [worth], correction, behaviour, worth)
        return _payoff(worth), behaviour

    def evaluate(self, behaviours: Sequence[np.ndarray]) -> Evaluation:
        """Values and best-response values of both players."""
        values, best_values = [0.0, 0.0], [0.0, 0.0]
        for player in (0, 1):
            reach = np.empty(self.graphs[1 - player].num_sequences)
            self.realise(1 - player, behaviours[1 - player], reach)
            correction = np.empty(self.graphs[player].num_sequences)
            worth = self._masses(player, reach, correction)
            del reach
            best = worth.copy()
            self._backward(
                self.graphs[player], abrupt_sweeps.values, [worth, best], correction, behaviours[player], worth, best
            )
            values[player], best_values[player] = _payoff(worth), _payoff(best)
        return Evaluation(tuple(values), tuple(best_values))

    # -- policies -------------------------------------------------------------------------------------------
    def find(self, player: int, tokens: np.ndarray) -> tuple[np.ndarray, slice]:
        """(legal actions int32[k], their sequences) at a player's information tokens; KeyError when never reached."""
        turns = heard_turns(self.game, player, tokens)
        node = -1 if turns is None else self.graphs[player].find(*turns)
        if turns is None or node < 0:
            raise never_decides(self.spec, player, tokens)
        first = self._first[player]
        known = {token >> 1 for token in turns[0].tolist()}
        actions = np.array([cell for cell in range(self.game.cells) if cell not in known], dtype=np.int32)
        return actions, slice(int(first[node]), int(first[node + 1]))

    def behaviour_of_table(self, player: int, policy: TabularPolicy) -> np.ndarray:
        """One player's part of a tabular policy of the game."""

        def part(tokens: np.ndarray, offsets: np.ndarray, actions: np.ndarray) -> np.ndarray:
            counts = np.full(actions.shape[0], actions.shape[1], dtype=np.int64)
            keys = KeyTable.from_tokens(tokens, offsets)
            return table_probabilities(policy, player, keys, counts, actions.ravel())

        return self._behaviour_by_block(player, part)

    def behaviour_of_function(self, player: int, function: PolicyFunction, view: bool = False) -> np.ndarray:
        """A policy given as a function of observations."""

        def part(tokens: np.ndarray, offsets: np.ndarray, actions: np.ndarray) -> np.ndarray:
            return asked(function, *observations(self.game, player, tokens, offsets, view))

        return self._behaviour_by_block(player, part)

    def _behaviour_by_block(
        self, player: int, part: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """``part(tokens, offsets, actions[B, WIDTH])`` gives the probabilities of B information states."""
        graph = self.graphs[player]
        result = np.empty(graph.num_sequences)
        result[0] = 1.0
        for block, row in enumerate(graph.blocks):
            tokens = with_heard(self.game, player, graph.tokens(block), graph.known[block].heard)
            actions, length, width = graph.actions(block), tokens.shape[1], int(row[WIDTH])
            for start in range(0, tokens.shape[0], BATCH):
                some = tokens[start : start + BATCH]
                offsets = np.arange(some.shape[0] + 1, dtype=np.int64) * length
                at = int(row[FIRST_SEQUENCE]) + start * width
                result[at : at + some.shape[0] * width] = part(some.ravel(), offsets, actions[start : start + BATCH])
        return result


def _check_size(game: Any, memory_limit: int | None) -> None:
    """TreeTooLargeError for a board that does not fit, before anything is built."""
    limit = available_memory() // 2 if memory_limit is None else memory_limit
    needed, told = float("inf"), game.info == "announce"
    if game.cells <= MOST_CELLS:
        # Counting everything takes seconds for as many cells; beyond, it stops when the limit is passed.
        size = predict_size(game.cells, game.win_table(), 1 << 60 if game.cells <= COUNTED_CELLS else limit, told)
        # An evaluation has both players' behaviours, one's reach, the other's corrections and best payoffs.
        arrays = sum(size.sequences) + 2 * max(size.sequences) + sum(size.nodes) + max(size.nodes)
        needed = float(size.table_bytes + 8 * arrays) if size.complete else float("inf")
    if needed > limit:
        text = f"about {format_bytes(math.log10(needed))}" if math.isfinite(needed) else "far more memory than there is"
        raise TreeTooLargeError(
            f"the information states of {game.spec()} need {text}, the limit is {format_bytes(math.log10(limit))}; "
            'sample instead, cfr.make_sampler("external", game)',
            needed,
            limit,
        )
