"""Equilibrium solvers and exact evaluation against OpenSpiel's C++ ones."""

from __future__ import annotations

import math
import time
from typing import Any

import pyspiel

import cfr as solvers
import envs
from benchmarks.measure import Report, interleaved, note, rate

BOARDS = [(2, 3, "classical"), (2, 3, "abrupt"), (3, 2, "classical"), (3, 2, "abrupt")]


def _games(rows: int, cols: int, version: str) -> tuple[Any, Any]:
    """The same game twice: ours and OpenSpiel's."""
    theirs = pyspiel.load_game(
        "dark_hex",
        {
            "num_rows": rows,
            "num_cols": cols,
            "gameversion": "cdh" if version == "classical" else "adh",
            "obstype": "reveal-nothing",
        },
    )
    return envs.make("dark_hex", rows=rows, cols=cols, version=version, info="silent"), theirs


def _tree(game: Any) -> Any:
    start = time.perf_counter()
    tree = solvers.build_tree(game)
    note(f"{game.spec()}: tree built in {time.perf_counter() - start:.2f} s (not counted)")
    return tree


def cfr(report: Report, config: Any) -> None:
    """Seconds to the NashConv that OpenSpiel reaches in the given time, like with like."""
    for rows, cols, version in BOARDS:
        ours, theirs = _games(rows, cols, version)
        tree = _tree(ours)
        for name, peer_class in (("cfr", pyspiel.CFRSolver), ("cfr_plus", pyspiel.CFRPlusSolver)):
            peer = peer_class(theirs)
            iterations, spent = 0, 0.0
            while spent < config.seconds:
                start = time.perf_counter()
                peer.evaluate_and_update_policy()
                spent += time.perf_counter() - start
                iterations += 1
            target = pyspiel.nash_conv(theirs, peer.average_policy())
            found = solvers.make_solver(name, tree).run(target_nash_conv=target)
            note(
                f"{name} {rows}x{cols} {version}: NashConv {target:.3g}, iterations {found.iteration} (ours, with the "
                f"checks of NashConv) and {iterations} (OpenSpiel, without)"
            )
            report.add(
                f"{name} {rows}x{cols} {version}, to NashConv {target:.2g}", f"pyspiel.{peer_class.__name__}",
                "seconds", found.seconds, spent, spent / found.seconds, 15,
            )  # fmt: skip


def evaluate(report: Report, config: Any) -> None:
    """NashConv of a tabular policy."""
    for rows, cols, version in BOARDS:
        ours, theirs = _games(rows, cols, version)
        tree = _tree(ours)
        solver = solvers.make_solver("cfr_plus", tree)
        solver.run(iterations=10)
        policy = solver.average_policy()
        exported = policy.to_openspiel(theirs)
        values = [solvers.nash_conv(tree, policy), pyspiel.nash_conv(theirs, exported)]
        if not math.isclose(*values, rel_tol=0, abs_tol=1e-9):
            raise RuntimeError(f"{ours.spec()}: the two NashConvs differ: {values}")

        def mine(tree: Any = tree, policy: Any = policy) -> float:
            return 1.0 / rate(lambda: bool(solvers.nash_conv(tree, policy)) or 1, 0.2)

        def peer(game: Any = theirs, policy: Any = exported) -> float:
            start = time.perf_counter()
            pyspiel.nash_conv(game, policy)
            return time.perf_counter() - start

        a, b, quotient = interleaved(mine, peer, config.repeats)
        report.add(
            f"NashConv {rows}x{cols} {version} (= {values[0]:.9f})", "pyspiel.nash_conv", "seconds",
            a, b, 1.0 / quotient, 100,
        )  # fmt: skip


def outcome(report: Report, config: Any) -> None:
    """Iterations per second of outcome sampling (an iteration samples once for each player)."""
    _sampling(report, config, "outcome", pyspiel.OutcomeSamplingMCCFRSolver, 5)


def external(report: Report, config: Any) -> None:
    """Iterations per second of external sampling."""
    _sampling(report, config, "external", pyspiel.ExternalSamplingMCCFRSolver, 10)


def _sampling(report: Report, config: Any, kind: str, peer_class: Any, goal: float) -> None:
    for version in ("classical", "abrupt"):
        ours, theirs = _games(3, 3, version)
        sampler = solvers.make_sampler(kind, ours, seed=0)
        peer = peer_class(theirs, seed=0)
        peer_batch = 100 if kind == "outcome" else 1
        sampler.run(iterations=1)  # compile or load

        def mine(sampler: Any = sampler) -> float:
            before, start = sampler.iterations, time.perf_counter()
            sampler.run(seconds=config.slice)
            return (sampler.iterations - before) / (time.perf_counter() - start)

        def theirs_rate(peer: Any = peer, batch: int = peer_batch) -> float:
            def some() -> int:
                for _ in range(batch):
                    peer.run_iteration()
                return batch

            return rate(some, config.slice)

        a, b, quotient = interleaved(mine, theirs_rate, config.repeats)
        report.add(
            f"{kind}-sampling MCCFR 3x3 {version}", f"pyspiel.{peer_class.__name__}", "iterations/s",
            a, b, quotient, goal,
        )  # fmt: skip
