"""The exact engine on 3x3 Dark Hex and phantom tic-tac-toe, against published figures of other programs (measured on
other machines)."""

from __future__ import annotations

import resource
import time
from statistics import median
from typing import Any

import cfr as solvers
import envs
from benchmarks.measure import Report, note

# Seconds. exp-a-spiel (C++, 2 threads, CPU seconds): building 627, one evaluation 1,043; its abrupt evaluation needs
# more than 30 GB. nashbench (JAX on an RTX A6000), by its own documentation: Dark Hex 5.4 (classical), 9.1 (abrupt),
# phantom tic-tac-toe 5.5 (classical).
BUILD, EVALUATE_CLASSICAL, EVALUATE_ABRUPT, EVALUATE_TTT = 627.0, 1043.0, 9.1, 5.5


def exact(report: Report, config: Any) -> None:
    """Building, evaluation, and the time to NashConv 1e-3 (classical; the abrupt version takes much longer)."""
    game = envs.make("dark_hex", rows=3, cols=3, version="classical", info="silent")
    start = time.perf_counter()
    solvers.ClassicalForm(game)
    build = time.perf_counter() - start
    report.add("exact 3x3 classical: build", "exp-a-spiel (published)", "seconds", build, BUILD, BUILD / build, 31)
    form = solvers.phantom_form(game)  # writes the cache file when there is none
    form = solvers.phantom_form(game)
    note(f"exact 3x3 classical: graphs {form.origin}, {form.nbytes / 2**20:.0f} MiB")
    seconds = _evaluation_seconds(form, config.repeats)
    report.add(
        "exact 3x3 classical: evaluate (values, best responses)", "exp-a-spiel (published)", "seconds",
        seconds, EVALUATE_CLASSICAL, EVALUATE_CLASSICAL / seconds, 1043,
    )  # fmt: skip
    for name, average, target in (("cfr_plus", None, 1e-3), ("pcfr_plus", None, 1e-3), ("pcfr_plus", None, 1e-6),
                                  ("pcfr_plus", "last", 1e-6)):  # fmt: skip
        solver = solvers.make_solver(name, form, average=average)
        found = solver.run(target_nash_conv=target)
        note(f"exact 3x3 classical, {solver.name} to NashConv {target:g}: {found.iteration} iterations, "
             f"{found.seconds:.1f} s, NashConv checks included")  # fmt: skip
    form = solvers.phantom_form(envs.make("dark_hex", rows=3, cols=3, version="abrupt", info="silent"))
    note(f"exact 3x3 abrupt: {form.origin}, {form.nbytes / 2**20:.0f} MiB")
    seconds = _evaluation_seconds(form, config.repeats)
    report.add(
        "exact 3x3 abrupt: evaluate", "nashbench, RTX A6000 (published)", "seconds",
        seconds, EVALUATE_ABRUPT, EVALUATE_ABRUPT / seconds, 0.6,
    )  # fmt: skip
    del form
    _announced(config)
    _phantom_ttt(report, config)


def _announced(config: Any) -> None:
    """No other program is known that evaluates this game: nothing to compare with."""
    form = solvers.phantom_form(envs.make("dark_hex", rows=3, cols=3, version="classical", info="announce"))
    seconds = _evaluation_seconds(form, config.repeats)
    note(f"exact 3x3 classical, announced: {form.origin}, {form.nbytes / 2**20:.0f} MiB, evaluate {seconds:.2f} s")


def _phantom_ttt(report: Report, config: Any) -> None:
    for version in ("classical", "abrupt"):
        form = solvers.phantom_form(envs.make("phantom_ttt", version=version, info="silent"))
        seconds = _evaluation_seconds(form, config.repeats)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        note(f"exact phantom tic-tac-toe 3x3 {version}: {form.origin}, {form.nbytes / 2**20:.0f} MiB, evaluate "
             f"{seconds:.2f} s; peak of the process so far {peak:.1f} GiB")  # fmt: skip
        if version == "classical":
            report.add(
                "exact phantom tic-tac-toe 3x3 classical: evaluate", "nashbench, RTX A6000 (published)", "seconds",
                seconds, EVALUATE_TTT, EVALUATE_TTT / seconds, 2.7,
            )  # fmt: skip
        del form


def _evaluation_seconds(form: Any, repeats: int) -> float:
    behaviours = form.uniform()
    form.evaluate(behaviours)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        form.evaluate(behaviours)
        times.append(time.perf_counter() - start)
    return median(times)
