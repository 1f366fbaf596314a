"""Interleaved measurements and the table of ratios."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any


class Report:
    """Rows of work, ours, peer, ratio (how many times faster ours is) and what is asked for."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(self, work: str, peer: str, unit: str, ours: float, theirs: float, ratio: float, goal: float) -> None:
        row = {
            "work": work, "peer": peer, "unit": unit, "ours": ours, "theirs": theirs, "ratio": ratio, "goal": goal,
        }  # fmt: skip
        self.rows.append(row)
        print(self._line(row), file=sys.stderr)

    def table(self) -> str:
        header = f"{'work':<58} {'against':<34} {'ours':>11} {'theirs':>11}  {'unit':<14} {'ratio':>8} {'goal':>6}"
        return "\n".join([header, *(self._line(row) for row in self.rows)])

    @staticmethod
    def _line(row: dict[str, Any]) -> str:
        return (
            f"{row['work']:<58} {row['peer']:<34} {row['ours']:>11.4g} {row['theirs']:>11.4g}  {row['unit']:<14} "
            f"{row['ratio']:>7.1f}x {row['goal']:>5.0f}x"
        )


def note(text: str) -> None:
    """A remark on stderr."""
    print(f"  {text}", file=sys.stderr)


def rate(work: Callable[[], int], seconds: float, clock: Callable[[], float] = time.perf_counter) -> float:
    """Units of work per second: calls ``work`` (which returns how many units it did) for about ``seconds``."""
    start, done = clock(), 0
    while True:
        done += work()
        elapsed = clock() - start
        if elapsed >= seconds:
            return done / elapsed


def interleaved(
    ours: Callable[[], float], theirs: Callable[[], float], repeats: int
) -> tuple[float, float, float]:
    """Medians of both and the median of the pairwise quotients ours / theirs."""
    pairs = [(ours(), theirs()) for _ in range(repeats)]
    return (
        median(a for a, _ in pairs),
        median(b for _, b in pairs),
        median(a / b for a, b in pairs),
    )
