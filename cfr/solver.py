"""The textbook loop of counterfactual regret minimisation, over the sequence form.

Updates alternate: in each iteration the players take turns, and each sees the strategies that the players
before him have just changed. The rules differ only in their row of ``cfr.regret.RULES``.
"""

from __future__ import annotations

import dataclasses
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cfr.best_response import Evaluation
from cfr.errors import StoredFileError, TreeTooLargeError
from cfr.form import Form, TreeForm
from cfr.memory import available_memory, format_bytes
from cfr.regret import Rule, add_to_average, rule_of
from cfr.storage import load_arrays, save_arrays, with_suffix
from cfr.tree import Tree, build_tree

KIND, FORMAT = "cfr_checkpoint", 1


@dataclasses.dataclass(frozen=True)
class Progress:
    """Where a run stands. ``iteration`` and ``seconds`` count from the solver's beginning, over all runs and
    resumptions; ``nash_conv`` and ``values`` (expected payoffs) are exact and of the resulting policy; ``stopped_by``
    is "iterations", "seconds" or "target_nash_conv" at the end of a run, None before."""

    iteration: int
    seconds: float
    nash_conv: float
    values: tuple[float, ...]
    stopped_by: str | None = None


class Solver:
    """A CFR solver on a form of a game; make one with ``make_solver``."""

    def __init__(self, form: Form, rule: Rule, name: str) -> None:
        self.form, self.rule, self.name = form, rule, name
        self.iteration = 0
        self.seconds = 0.0
        _check_memory(form)
        self._behaviours = form.uniform()
        self._regrets, self._averages = self._zeros(), self._zeros()
        self._instantaneous = self._zeros()
        self._masses = [self._new_masses(player) if rule.uses_masses else None for player in range(form.num_players)]
        self._reaches = form.new_reaches()
        self._realise()

    def _zeros(self) -> list[np.ndarray]:
        return [np.zeros(behaviour.size) for behaviour in self._behaviours]

    def _new_masses(self, player: int) -> np.ndarray:
        return np.empty(self.form.first_sequence(player).size - 1)

    def _realise(self) -> None:
        for player in range(self.form.num_players):
            self.form.realise(player, self._behaviours[player], self._reaches[player])

    @property
    def returns_last(self) -> bool:
        """Whether the last strategy is the result, and not an average."""
        return self.rule.gamma is None

    @property
    def tree(self) -> Tree:
        """The tree that the solver works on, where it works on one."""
        if not isinstance(self.form, TreeForm):
            raise AttributeError(f"this solver of {self.form.spec} works without a tree")
        return self.form.tree

    def step(self) -> None:
        """One iteration."""
        self.iteration += 1
        for player in range(self.form.num_players):
            self._update(player)

    def _update(self, player: int) -> None:
        """The player's part of iteration ``self.iteration``: average, regrets, next strategy."""
        t, rule, form = self.iteration, self.rule, self.form
        regrets, instantaneous = self._regrets[player], self._instantaneous[player]
        mass, behaviour = self._masses[player], self._behaviours[player]
        if not self.returns_last:
            add_to_average(self._reaches[player], rule.average_weight(t), self._averages[player])
        form.add_regrets(player, self._behaviours, self._reaches, instantaneous, regrets, mass)
        rule.next_behaviour(t, form.first_sequence(player), instantaneous, regrets, mass, behaviour)
        form.realise(player, behaviour, self._reaches[player])

    def run(
        self,
        iterations: int | None = None,
        seconds: float | None = None,
        target_nash_conv: float | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Progress:
        """Iterate until the first limit that is reached: so many more ``iterations``, so many ``seconds`` from
        now, or a NashConv of the resulting policy of at most ``target_nash_conv``.

        NashConv is computed after iterations 1, 3, 6, 10, 15, ... (so that neither the checks nor the iterations past
        the target take much of the time) and at the end; ``progress`` is called with it. Returns the last progress.
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
    def _resulting_behaviours(self) -> list[np.ndarray]:
        if self.returns_last:
            return self._behaviours
        return [self.form.normalise(player, average) for player, average in enumerate(self._averages)]

    def average_policy(self) -> Any:
        """The average policy (a TabularPolicy, on a tree), which approaches an equilibrium in two-player zero-sum
        games. Uniform where its player has never been. The current policy of a solver with ``average="last"``."""
        return self.form.policy(self._resulting_behaviours())

    def current_policy(self) -> Any:
        """The policy of the next iteration."""
        return self.form.policy(self._behaviours)

    def evaluate(self) -> Evaluation:
        """Exact values and best-response values of the resulting policy, ``average_policy``."""
        return self.form.evaluate(self._resulting_behaviours())

    def evaluate_current(self) -> Evaluation:
        """Exact values and best-response values of the policy of the next iteration, ``current_policy``."""
        return self.form.evaluate(self._behaviours)

    def nash_conv(self) -> float:
        """NashConv of the resulting policy."""
        return self.evaluate().nash_conv

    # -- checkpoints ------------------------------------------------------------------------------------------
    def _identity(self) -> dict[str, str]:
        form = self.form
        return {"game": form.spec, "keys": form.key_kind, "solver": self.name, "sums": form.sums}

    @property
    def nbytes(self) -> int:
        """Bytes of the solver's own arrays; the same from the first iteration to the last."""
        return _solver_bytes(self.form)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write all that the next iterations depend on; the previous file survives a failure. Returns its path."""
        header = {
            **self._identity(),
            "iteration": self.iteration,
            "seconds": self.seconds,
        }
        arrays = {}
        for player in range(self.form.num_players):
            arrays[f"regrets_{player}"] = self._regrets[player]
            arrays[f"behaviour_{player}"] = self._behaviours[player]
            arrays[f"averages_{player}"] = self._averages[player]
        return save_arrays(path, KIND, FORMAT, header, arrays)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Go on where ``save`` was called, bit for bit.

        StoredFileError, naming the file, when it is damaged or of another game or solver; then nothing is changed.
        """
        header, arrays = load_arrays(path, KIND, FORMAT)
        source = with_suffix(path)
        for field, wanted in self._identity().items():
            if header.get(field) != wanted:
                raise StoredFileError(f"{source}: its {field} is {header.get(field)!r}, this solver's is {wanted!r}")
        loaded: dict[str, list[np.ndarray]] = {}
        for name in ("regrets", "behaviour", "averages"):
            loaded[name] = []
            for player, own in enumerate(self._behaviours):
                values = arrays.get(f"{name}_{player}")
                if values is None or values.shape != own.shape or values.dtype != np.float64:
                    raise StoredFileError(f"{source}: damaged checkpoint, {name} of player {player} do not fit")
                loaded[name].append(values)
        try:
            iteration, total_seconds = int(header["iteration"]), float(header["seconds"])
        except (KeyError, TypeError, ValueError) as error:
            raise StoredFileError(f"{source}: damaged checkpoint ({error!r})") from error
        self.iteration, self.seconds = iteration, total_seconds
        self._regrets, self._behaviours = loaded["regrets"], loaded["behaviour"]
        self._averages = loaded["averages"]
        self._realise()


def make_solver(
    name: str,
    source: Any,
    memory_limit: int | None = None,
    sums: str = "sequences",
    average: str | None = None,
    **options: float | None,
) -> Solver:
    """A solver by name: "cfr", "cfr_plus", "linear_cfr", "dcfr", "pcfr_plus" or "mmd", on a Tree, on a game (whose
    tree is then built, see ``build_tree``), or on another ``cfr.form.Form``.

    ``sums``: regrets are summed over sequences (the fast way), or over "histories" in OpenSpiel's order with its
    rounding, for comparing iterates: see ``cfr.history_sums``. That needs a tree with ``keep_histories=True``.
    ``average``: what results, the "uniform", "linear" or "quadratic" average of the strategies, or the "last" one;
    unset, what belongs to the solver (its row of ``cfr.regret.RULES``). ``options``: other numbers of that row, such
    as ``temperature=0.1, anneal=0`` of "mmd". ValueError for a name, an average or an option that does not exist.
    """
    rule, text = rule_of(name, average=average, **options)
    if hasattr(source, "add_regrets"):
        return Solver(source, rule, text)
    if sums == "histories" and rule.uses_masses:
        raise ValueError(f'sums="histories" is for regret matching; leave it out for {name}')
    tree = source
    if not isinstance(source, Tree):
        tree = build_tree(source, memory_limit, keep_histories=sums == "histories")
    return Solver(TreeForm(tree, sums), rule, text)


def _next_check(iteration: int) -> int:
    """The next triangular number: checks at intervals that grow as the square root of the iterations."""
    row = (math.isqrt(8 * iteration + 1) + 1) // 2
    return row * (row + 1) // 2


def _check_limits(iterations: int | None, seconds: float | None, target_nash_conv: float | None) -> None:
    if iterations is None and seconds is None and target_nash_conv is None:
        raise ValueError("say when to stop: iterations=, seconds= or target_nash_conv=")
    for name, value in (("iterations", iterations), ("seconds", seconds), ("target_nash_conv", target_nash_conv)):
        if value is not None and not value >= 0:
            raise ValueError(f"{name}={value!r} is not allowed; it must be at least 0")


def _solver_bytes(form: Form) -> int:
    """Regrets, strategy, average, instantaneous regrets and reach: five float64 a sequence."""
    return 5 * 8 * sum(int(form.first_sequence(player)[-1]) for player in range(form.num_players))


def _check_memory(form: Form) -> None:
    needed, limit = _solver_bytes(form), available_memory()
    if needed > limit:
        raise TreeTooLargeError(
            f"a solver of {form.spec} needs {format_bytes(np.log10(needed))} and there are "
            f"{format_bytes(np.log10(limit))} free; "
            'sample instead, cfr.make_sampler("external", game)',
            needed,
            limit,
        )
