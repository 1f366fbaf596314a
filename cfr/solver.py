"""The textbook loop of counterfactual regret minimisation, over the sequence form.

Updates alternate: in each iteration the players take turns, and each sees the strategies that the players
before him have just changed. The rules differ only in their row of ``cfr.regret.RULES``.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cfr.best_response import Evaluation, evaluate_behaviour
from cfr.errors import StoredFileError, TreeTooLargeError
from cfr.history_sums import HistorySums
from cfr.memory import available_memory, format_bytes
from cfr.policy import TabularPolicy
from cfr.regret import RULES, Rule, add_regrets, add_to_average, next_strategy
from cfr.storage import load_arrays, save_arrays, with_suffix
from cfr.sweeps import behaviour_of, realisation
from cfr.tree import Tree, build_tree

KIND, FORMAT = "cfr_checkpoint", 1
SUMS = ("sequences", "histories")


@dataclasses.dataclass(frozen=True)
class Progress:
    """Where a run stands. ``iteration`` and ``seconds`` count from the solver's beginning, over all runs and
    resumptions; ``nash_conv`` and ``values`` (expected payoffs) are exact and of the average policy; ``stopped_by`` is
    "iterations", "seconds" or "target_nash_conv" at the end of a run, None before."""

    iteration: int
    seconds: float
    nash_conv: float
    values: tuple[float, ...]
    stopped_by: str | None = None


class Solver:
    """A CFR solver on a tree; make one with ``make_solver``."""

    def __init__(self, tree: Tree, rule: Rule, name: str, sums: str = "sequences") -> None:
        if sums not in SUMS:
            raise ValueError(f"sums={sums!r} is not allowed; choose one of {', '.join(SUMS)}")
        self.tree, self.rule, self.name, self.sums = tree, rule, name, sums
        self._histories = HistorySums(tree) if sums == "histories" else None
        self.iteration = 0
        self.seconds = 0.0
        _check_memory(tree)
        self._behaviour = TabularPolicy.uniform(tree).behaviour(tree)
        self._regrets = [np.zeros(plex.num_sequences) for plex in tree.treeplexes]
        self._averages = [np.zeros(plex.num_sequences) for plex in tree.treeplexes]
        self._instantaneous = [np.empty(plex.num_sequences) for plex in tree.treeplexes]
        self._reach = np.empty(int(tree.offsets[-1]))
        self._own_reach = [
            self._reach[start:stop] for start, stop in zip(tree.offsets[:-1], tree.offsets[1:], strict=True)
        ]
        self._realise()

    def _realise(self) -> None:
        for player, plex in enumerate(self.tree.treeplexes):
            realisation(plex.parent_sequence, plex.first_sequence, self._behaviour[player], self._own_reach[player])

    def step(self) -> None:
        """One iteration."""
        self.iteration += 1
        for player in range(self.tree.num_players):
            self._update(player)

    def _update(self, player: int) -> None:
        """The player's part of iteration ``self.iteration``: average, regrets, next strategy."""
        t, rule, plex = self.iteration, self.rule, self.tree.treeplexes[player]
        behaviour, own_reach = self._behaviour[player], self._own_reach[player]
        regrets, instantaneous = self._regrets[player], self._instantaneous[player]
        add_to_average(own_reach, rule.average_weight(t), self._averages[player])
        if self._histories is None:
            self.tree.payoffs[player].gradient(self._reach, instantaneous)
            add_regrets(plex.parent_sequence, plex.first_sequence, instantaneous, behaviour, regrets)
        else:
            self._histories.add_regrets(player, self._behaviour, instantaneous, regrets)
        next_strategy(
            plex.first_sequence, regrets, rule.positive_discount(t), rule.negative_discount(t), instantaneous,
            rule.predictive, behaviour,
        )  # fmt: skip
        realisation(plex.parent_sequence, plex.first_sequence, behaviour, own_reach)

    def run(
        self,
        iterations: int | None = None,
        seconds: float | None = None,
        target_nash_conv: float | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Progress:
        """Iterate until the first limit that is reached: so many more ``iterations``, so many ``seconds`` from
        now, or a NashConv of the average policy of at most ``target_nash_conv``.

        NashConv is computed after each of the first iterations, then whenever the count has grown by a twentieth,
        and at the end; ``progress`` is called with it. Returns the last progress.
        """
        _check_limits(iterations, seconds, target_nash_conv)
        start, before = time.perf_counter(), self.seconds
        last = None if iterations is None else self.iteration + iterations
        stopped_by = None
        next_check = _next_check(self.iteration)
        while True:
            if self.iteration == last:
                stopped_by = "iterations"
            elif seconds is not None and time.perf_counter() - start >= seconds:
                stopped_by = "seconds"
            if stopped_by or self.iteration >= next_check:
                found = self.evaluate()
                if target_nash_conv is not None and found.nash_conv <= target_nash_conv:
                    stopped_by = "target_nash_conv"
                self.seconds = before + time.perf_counter() - start
                now = Progress(self.iteration, self.seconds, found.nash_conv, found.values, stopped_by)
                if progress is not None:
                    progress(now)
                if stopped_by:
                    return now
                next_check = _next_check(self.iteration)
            self.step()

    # -- policies -------------------------------------------------------------------------------------------
    def _average_behaviour(self) -> list[np.ndarray]:
        result = []
        for plex, average in zip(self.tree.treeplexes, self._averages, strict=True):
            behaviour = np.empty(plex.num_sequences)
            behaviour_of(plex.parent_sequence, plex.first_sequence, average, behaviour)
            result.append(behaviour)
        return result

    def average_policy(self) -> TabularPolicy:
        """The average policy, which approaches an equilibrium in two-player zero-sum games. Uniform where its
        player has never been."""
        return TabularPolicy.from_behaviour(self.tree, self._average_behaviour())

    def current_policy(self) -> TabularPolicy:
        """The policy of the next iteration."""
        return TabularPolicy.from_behaviour(self.tree, self._behaviour)

    def evaluate(self) -> Evaluation:
        """Exact values and best-response values of the average policy."""
        return evaluate_behaviour(self.tree, self._average_behaviour())

    def nash_conv(self) -> float:
        """NashConv of the average policy."""
        return self.evaluate().nash_conv

    # -- checkpoints ------------------------------------------------------------------------------------------
    @property
    def nbytes(self) -> int:
        """Bytes of the solver's own arrays; the same from the first iteration to the last."""
        return _solver_bytes(self.tree)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write all that the next iterations depend on; the previous file survives a failure. Returns its path."""
        header = {
            "game": self.tree.spec,
            "keys": self.tree.key_kind,
            "solver": self.name,
            "sums": self.sums,
            "iteration": self.iteration,
            "seconds": self.seconds,
        }
        arrays = {}
        for player in range(self.tree.num_players):
            arrays[f"regrets_{player}"] = self._regrets[player]
            arrays[f"behaviour_{player}"] = self._behaviour[player]
            arrays[f"averages_{player}"] = self._averages[player]
        return save_arrays(path, KIND, FORMAT, header, arrays)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Go on where ``save`` was called, bit for bit.

        StoredFileError, naming the file, when it is damaged or of another game or solver; then nothing is changed.
        """
        header, arrays = load_arrays(path, KIND, FORMAT)
        source = with_suffix(path)
        own = {"game": self.tree.spec, "keys": self.tree.key_kind, "solver": self.name, "sums": self.sums}
        for field, wanted in own.items():
            if header.get(field) != wanted:
                raise StoredFileError(f"{source}: its {field} is {header.get(field)!r}, this solver's is {wanted!r}")
        loaded: dict[str, list[np.ndarray]] = {}
        for name in ("regrets", "behaviour", "averages"):
            loaded[name] = []
            for player, plex in enumerate(self.tree.treeplexes):
                values = arrays.get(f"{name}_{player}")
                if values is None or values.shape != (plex.num_sequences,) or values.dtype != np.float64:
                    raise StoredFileError(f"{source}: damaged checkpoint, {name} of player {player} do not fit")
                loaded[name].append(values)
        try:
            iteration, total_seconds = int(header["iteration"]), float(header["seconds"])
        except (KeyError, TypeError, ValueError) as error:
            raise StoredFileError(f"{source}: damaged checkpoint ({error!r})") from error
        self.iteration, self.seconds = iteration, total_seconds
        self._regrets, self._behaviour = loaded["regrets"], loaded["behaviour"]
        self._averages = loaded["averages"]
        self._realise()


def make_solver(
    name: str, game_or_tree: Any, memory_limit: int | None = None, sums: str = "sequences"
) -> Solver:
    """A solver by name: "cfr", "cfr_plus", "linear_cfr", "dcfr" or "pcfr_plus", on a Tree or on a game (whose tree is
    then built, see ``build_tree``).

    ``sums``: regrets are summed over sequences (the fast way), or over "histories" in OpenSpiel's order with its
    rounding, for comparing iterates: see ``cfr.history_sums``. That needs a tree with ``keep_histories=True``.
    """
    if name not in RULES:
        raise ValueError(f"unknown solver {name!r}; solvers are {', '.join(RULES)}")
    tree = game_or_tree if isinstance(game_or_tree, Tree) else None
    if tree is None:
        tree = build_tree(game_or_tree, memory_limit, keep_histories=sums == "histories")
    return Solver(tree, RULES[name], name, sums)


def _next_check(iteration: int) -> int:
    return iteration + 1 + iteration // 20


def _check_limits(iterations: int | None, seconds: float | None, target_nash_conv: float | None) -> None:
    if iterations is None and seconds is None and target_nash_conv is None:
        raise ValueError("say when to stop: iterations=, seconds= or target_nash_conv=")
    for name, value in (("iterations", iterations), ("seconds", seconds), ("target_nash_conv", target_nash_conv)):
        if value is not None and not value >= 0:
            raise ValueError(f"{name}={value!r} is not allowed; it must be at least 0")


def _solver_bytes(tree: Tree) -> int:
    """Regrets, strategy, average, gradient and reach: five float64 a sequence."""
    return 5 * 8 * int(tree.offsets[-1])


def _check_memory(tree: Tree) -> None:
    needed, limit = _solver_bytes(tree), available_memory()
    if needed > limit:
        raise TreeTooLargeError(
            f"a solver of {tree.spec} needs {format_bytes(np.log10(needed))} and there are "
            f"{format_bytes(np.log10(limit))} free; "
            'sample instead, cfr.make_sampler("external", game)',
            needed,
            limit,
        )
