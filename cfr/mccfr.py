"""Monte Carlo CFR: external and outcome sampling on games of any size.

Our games are sampled on their kernels, with a table of the infosets that have been met; OpenSpiel's on their tree. Both
samplers follow OpenSpiel's C++ solvers: what one iteration is, the weights of the average policy.

Sources: Lanctot, Waugh, Zinkevich, Bowling, "Monte Carlo Sampling for Regret Minimization in Extensive Games",
NIPS 2009; Lanctot, "Monte Carlo Sampling and Regret Minimization for Equilibrium Computation and Decision-Making in
Large Extensive Form Games", PhD thesis, 2013 (simple and stochastically weighted averages, chapter 4).
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cfr.errors import PolicyMismatchError, StoredFileError, TreeTooLargeError
from cfr.history_game import HistoryGame
from cfr.infoset_table import TOP, InfosetTable, TableFullError
from cfr.keys import KeyTable
from cfr.mccfr_kernels import (
    DEPTH,
    ITERATION,
    NUM_COUNTERS,
    OVERFLOW,
    POOL_FULL,
    STACK_FULL,
    external_sampling,
    outcome_sampling,
)
from cfr.memory import FRACTION_OF_FREE_MEMORY, available_memory
from cfr.policy import PlayerTable, TabularPolicy
from cfr.storage import load_arrays, save_arrays, with_suffix
from cfr.tree import Tree, build_tree, game_spec
from envs.core import Game
from envs.rng import rng_state

__all__ = ["ExternalSampler", "OutcomeSampler", "Sampler", "SamplerProgress", "TableFullError", "make_sampler"]

KIND, FORMAT = "mccfr_checkpoint", 1
_NO_CHOICES, _NO_P = np.zeros(0, dtype=np.int64), np.zeros(0)
SMALL_TREE_BYTES = 2**28  # a tree of this size is made within seconds, to export a complete policy
SLICE_SECONDS = 0.1  # compiled code looks up so often: progress, time limit, interrupts


@dataclasses.dataclass(frozen=True)
class SamplerProgress:
    """Where a run stands. ``iterations`` and ``seconds`` count from the sampler's beginning, over all runs and
    resumptions; ``stopped_by`` is "iterations" or "seconds" at the end of a run, None before."""

    iterations: int
    seconds: float
    num_infosets: int
    memory_bytes: int
    stopped_by: str | None = None


class Sampler:
    """Base of both samplers; make one with ``make_sampler``. The seed alone decides what is drawn: a sampler runs in
    one thread, and where runs stop and go on makes no difference."""

    name: str

    _growable: tuple[str, ...] = ()  # arrays of the state whose length may differ between checkpoints

    def __init__(self, game: Any, seed: int | None = 0, memory_limit: int | None = None) -> None:
        tree = None
        if isinstance(game, Tree):
            game, tree = game.game, game
        self.game = game
        self._tree: Tree | None = tree
        self._tree_too_large = False
        if isinstance(game, Game):
            self._walked: Game | HistoryGame = game
            self._chance = np.zeros(1, dtype=np.int64), np.zeros(0)
        else:
            if tree is None:
                self._tree = tree = build_tree(game, memory_limit, keep_histories=True)
            histories = HistoryGame(tree)
            self._walked = histories
            self._chance = histories.chance_first, histories.chance_p
        walked = self._walked
        if memory_limit is None:
            memory_limit = int(available_memory() * FRACTION_OF_FREE_MEMORY)
        self._num_actions = walked.num_distinct_actions()
        self._table = InfosetTable(
            walked.num_players,
            self._num_actions,
            walked.num_tokens,
            walked.max_information_length,
            memory_limit,
        )
        self.seconds = 0.0
        self._state = {
            "rng": rng_state(seed),
            "walk": np.zeros(NUM_COUNTERS, dtype=np.int64),
            "row": np.zeros(walked.row_size, dtype=np.int32),
            "cursors": np.zeros(2 * walked.num_players, dtype=np.int64),
        }
        self._state["walk"][DEPTH] = -1
        self._mask = np.zeros(self._num_actions, dtype=np.bool_)
        self._payoffs = np.zeros(walked.num_players)
        self._address_table = walked.kernels.table

    def _settings(self) -> dict[str, Any]:
        """What a checkpoint must agree in."""
        return {"game": game_spec(self.game), "sampler": self.name}

    # -- sampling -------------------------------------------------------------------------------------------
    @property
    def iterations(self) -> int:
        """Iterations finished so far."""
        return int(self._state["walk"][ITERATION])

    @property
    def num_infosets(self) -> int:
        """Infosets met so far, of all players."""
        return self._table.num_infosets

    @property
    def memory_bytes(self) -> int:
        """Bytes of the infoset table and of everything that grows with it."""
        return self._table.nbytes

    def run(
        self,
        iterations: int | None = None,
        seconds: float | None = None,
        progress: Callable[[SamplerProgress], None] | None = None,
    ) -> SamplerProgress:
        """Sample until the first limit that is reached: so many more ``iterations``, or ``seconds`` from now (then an
        iteration may be under way; the next run goes on in it). ``progress`` is called about ten times a second and at
        the end. Returns the last progress. TableFullError at the memory limit.
        """
        if iterations is None and seconds is None:
            raise ValueError("say when to stop: iterations= or seconds=")
        for name, value in (("iterations", iterations), ("seconds", seconds)):
            if value is not None and not value >= 0:
                raise ValueError(f"{name}={value!r} is not allowed; it must be at least 0")
        start, before = time.perf_counter(), self.seconds
        last = None if iterations is None else self.iterations + iterations
        effort = 64  # episodes, or lines of play, per slice
        while True:
            left = None if last is None else last - self.iterations
            elapsed = time.perf_counter() - start
            stopped_by = None
            if left == 0:
                stopped_by = "iterations"
            elif seconds is not None and elapsed >= seconds:
                stopped_by = "seconds"
            self.seconds = before + elapsed
            if progress is not None or stopped_by:
                now = SamplerProgress(
                    self.iterations, self.seconds, self.num_infosets, self.memory_bytes, stopped_by
                )
                if progress is not None:
                    progress(now)
                if stopped_by:
                    return now
            self._advance(2**62 if left is None else left, effort)
            spent = time.perf_counter() - start - elapsed
            if spent < SLICE_SECONDS / 2:
                effort *= 2
            elif spent > SLICE_SECONDS * 2:
                effort = max(1, effort // 2)

    def _advance(self, iterations: int, effort: int) -> None:
        """Go on for at most so many iterations, and ``effort`` episodes or lines of play; make room when needed."""
        status = self._walk(iterations, effort)
        if status == POOL_FULL:
            self._table.reserve()
        elif status == STACK_FULL:
            self._grow_stack()
        elif status == OVERFLOW:
            raise OverflowError(
                f"a game of {game_spec(self.game)} was so improbable that its importance weight leaves the range "
                "of float64; games this long cannot be outcome-sampled: take a smaller board, or "
                'make_sampler("external", ...)'
            )

    def _arguments(self, forced: np.ndarray, forced_p: np.ndarray) -> tuple[Any, ...]:
        state, table = self._state, self._table
        return (
            self._address_table, self._walked.params, state["row"], self._mask, *self._chance,
            table.pool, table.pool32, table.pool16, table.counters, state["cursors"], state["walk"],
            self._payoffs, state["rng"], forced, forced_p, table.room,
        )  # fmt: skip

    def _walk(
        self, iterations: int, effort: int, forced: np.ndarray = _NO_CHOICES, forced_p: np.ndarray = _NO_P
    ) -> int:
        raise NotImplementedError

    def _grow_stack(self) -> None:
        raise NotImplementedError

    # -- policies -------------------------------------------------------------------------------------------
    def average_policy(self, tree: Tree | None = None) -> TabularPolicy:
        """The average policy, which approaches an equilibrium in two-player zero-sum games.

        Over all infosets of ``tree``, uniform where the sampler has never been. Without a tree, one is made if it
        is small; else the policy holds the infosets that have been met, and others are played uniformly
        (``complete=False``).
        """
        if tree is None:
            tree = self._small_tree()
        if tree is not None:
            if tree.spec != game_spec(self.game):
                raise PolicyMismatchError(
                    f"the tree is of {tree.spec}, but this sampler's game is {game_spec(self.game)}"
                )
            behaviour = []
            for player, plex in enumerate(tree.treeplexes):
                blocks = self._table.blocks(player, *self._tree_tokens(tree, player))
                behaviour.append(np.concatenate([[1.0], self._table.average(blocks, plex.first_sequence - 1)]))
            return TabularPolicy.from_behaviour(tree, behaviour)
        tables = []
        for player in range(self._walked.num_players):
            tokens, offsets, first, actions = self._table.infosets(player)
            blocks = self._table.blocks(player, tokens, offsets)
            probabilities = self._table.average(blocks, first)
            tables.append(PlayerTable(KeyTable.from_tokens(tokens, offsets), first, actions, probabilities))
        return TabularPolicy(game_spec(self.game), "tokens", self._num_actions, tables, complete=False)

    def _small_tree(self) -> Tree | None:
        if self._tree is None and not self._tree_too_large:
            try:
                self._tree = build_tree(self.game, SMALL_TREE_BYTES)
            except TreeTooLargeError:
                self._tree_too_large = True
        return self._tree

    def _tree_tokens(self, tree: Tree, player: int) -> tuple[np.ndarray, np.ndarray]:
        """Information tokens of all infosets of a tree, and their offsets."""
        if isinstance(self._walked, HistoryGame):
            if tree is not self._tree:
                raise PolicyMismatchError("leave tree=None: OpenSpiel's games are sampled on a tree of their own")
            return self._walked.information_tokens(player)
        keys = tree.treeplexes[player].keys
        return keys.data.view(np.int32), keys.offsets // 4

    # -- checkpoints ----------------------------------------------------------------------------------------
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write everything that the next iterations depend on; the previous file survives a failure."""
        header = {**self._settings(), "iterations": self.iterations, "seconds": self.seconds}
        arrays = {
            "counters": self._table.counters,
            "pool": self._table.pool[: int(self._table.counters[TOP])],
            **self._state,
        }
        return save_arrays(path, KIND, FORMAT, header, arrays)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Go on where ``save`` was called, bit for bit.

        StoredFileError, naming the file, when it is damaged or of another game, sampler or epsilon; then nothing is
        changed.
        """
        header, arrays = load_arrays(path, KIND, FORMAT)
        source = with_suffix(path)
        for field, wanted in self._settings().items():
            if header.get(field) != wanted:
                raise StoredFileError(f"{source}: its {field} is {header.get(field)!r}, this sampler's is {wanted!r}")
        own = {"counters": self._table.counters, **self._state}
        for name, like in own.items():
            values = arrays.get(name)
            growable = name in self._growable
            if values is None or values.dtype != like.dtype or not (growable or values.shape == like.shape):
                raise StoredFileError(f"{source}: damaged checkpoint, {name} does not fit")
        pool = arrays.get("pool")
        if pool is None or pool.dtype != np.float64 or pool.shape != (int(arrays["counters"][TOP]),):
            raise StoredFileError(f"{source}: damaged checkpoint, the infoset table does not fit")
        self._table.restore(pool, arrays["counters"])
        self._state = {name: arrays[name] for name in self._state}
        self.seconds = float(header["seconds"])


class ExternalSampler(Sampler):
    """External sampling: in an iteration every player in turn walks all his actions, while the others' actions and
    chance are drawn. The average is OpenSpiel's "simple" one: policies added up where the player is drawn."""

    name = "external"
    _growable = ("rows", "ranks", "values")

    def __init__(self, game: Any, seed: int | None = 0, memory_limit: int | None = None) -> None:
        super().__init__(game, seed, memory_limit)
        depth = self._walked.max_information_length + 1
        self._scratch = np.zeros_like(self._state["row"])
        self._state["frames"] = np.zeros(5 * depth, dtype=np.int64)
        self._state["saved_cursors"] = np.zeros(2 * self._walked.num_players * depth, dtype=np.int64)
        self._state["rows"] = np.zeros(0, dtype=np.int32)
        self._state["ranks"] = np.zeros(0, dtype=np.int64)
        self._state["values"] = np.zeros(0)
        self._grow_stack()

    def _grow_stack(self) -> None:
        more_actions = 8 * self._num_actions
        sizes = {"values": more_actions, "ranks": more_actions, "rows": more_actions * self._scratch.size}
        for name, more in sizes.items():
            old = self._state[name]
            self._state[name] = np.concatenate([old, np.zeros(max(more, old.size), dtype=old.dtype)])

    def _walk(
        self, iterations: int, effort: int, forced: np.ndarray = _NO_CHOICES, forced_p: np.ndarray = _NO_P
    ) -> int:
        state = self._state
        return external_sampling(
            *self._arguments(forced, forced_p), iterations, effort, state["frames"], state["saved_cursors"],
            self._scratch, state["rows"], state["ranks"], state["values"],
        )  # fmt: skip


class OutcomeSampler(Sampler):
    """Outcome sampling: in an iteration one game is played for each player's regrets. The player whose regrets they
    are explores with probability ``epsilon``, drawing uniformly. The average is weighted stochastically."""

    name = "outcome"

    def __init__(
        self, game: Any, seed: int | None = 0, memory_limit: int | None = None, epsilon: float = 0.6
    ) -> None:
        if not 0.0 < epsilon <= 1.0:
            raise ValueError(f"epsilon={epsilon!r} is not allowed; it must be above 0 and at most 1")
        super().__init__(game, seed, memory_limit)
        self.epsilon = float(epsilon)
        length = 3 * (self._walked.max_information_length + 1)
        self._path, self._path_values = np.zeros(length, dtype=np.int64), np.zeros(length)

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "epsilon": self.epsilon}

    def _walk(
        self, iterations: int, effort: int, forced: np.ndarray = _NO_CHOICES, forced_p: np.ndarray = _NO_P
    ) -> int:
        return outcome_sampling(
            *self._arguments(forced, forced_p), iterations, effort, self._path, self._path_values, self.epsilon
        )


def make_sampler(
    name: str,
    game: Any,
    seed: int | None = 0,
    epsilon: float | None = None,
    memory_limit: int | None = None,
) -> Sampler:
    """A sampler by name, "external" or "outcome", for one of our games or a sequential ``pyspiel.Game`` whose tree
    fits. ``game`` may also be a Tree (of an OpenSpiel game: built with ``keep_histories=True``).

    ``seed``: an integer, or None for one that cannot be repeated. ``epsilon`` (outcome): probability of exploring, 0.6
    when unset. ``memory_limit``: bytes that the infoset table may take; half of the memory that is free now when unset.
    """
    if memory_limit is not None and memory_limit <= 0:
        raise ValueError(f"memory_limit={memory_limit!r} is not allowed; give bytes > 0, or None")
    if name == "external":
        if epsilon is not None:
            raise ValueError('epsilon= is for the sampler "outcome"; external sampling does not explore')
        return ExternalSampler(game, seed, memory_limit)
    if name == "outcome":
        return OutcomeSampler(game, seed, memory_limit, 0.6 if epsilon is None else epsilon)
    raise ValueError(f'unknown sampler {name!r}; samplers are "external" and "outcome"')
