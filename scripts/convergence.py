"""NashConv over iterations, for all variants of CFR and mirror descent on one board: a table and a picture.

    python scripts/convergence.py game=dark_hex game.rows=3 game.info=silent iterations=100 output=docs/images/NAME

Writes NAME.csv and NAME.png. NashConv is exact, of the average policy and of the last one (mirror descent: of the
last), and computed at 1, 2, 3, ... iterations in steps that grow by a quarter. The picture shows 0 as 1e-9. The last
line of stdout is one JSON object.
"""

from __future__ import annotations

import csv
import dataclasses
import time
from pathlib import Path
from typing import Any

from _common import UserError, log, make_game, print_help, start, wants_help

import cfr
from cfr.regret import AVERAGES, RULES
from configs import bounded, described, factory, load

LEAST = 1e-9
# Curves may coincide; all stay visible.
LOOKS = ((3.5, "-"), (5, "-"), (2, "-"), (3.5, "-"), (1.5, "--"), (2, "-"))


@dataclasses.dataclass(frozen=True)
class ConvergenceConfig:
    game: dict = factory(dict, help="game=NAME, then game.PARAMETER=VALUE")
    solvers: tuple[str, ...] = described(tuple(RULES), help=f"some of {', '.join(RULES)}")
    iterations: int = bounded(100, 1, help="of each solver")
    output: str = described("convergence", help="path of the files, without a suffix")


def main(arguments: list[str]) -> dict[str, Any]:
    """Run every solver; returns the final NashConvs."""
    if wants_help(arguments):
        print_help(__doc__ or "", ConvergenceConfig)
    config = load(ConvergenceConfig, arguments, defaults={"game": "dark_hex"})
    unknown = [name for name in config.solvers if name not in RULES]
    if unknown:
        raise UserError(f"solvers: unknown {unknown[0]!r}; choose from {', '.join(RULES)}")
    game = make_game(config.game)
    source: Any = cfr.phantom_form(game) if cfr.prefers_phantom(game) else cfr.build_tree(game)
    base = Path(config.output)
    base.parent.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    for name in config.solvers:
        began = time.perf_counter()
        rows += curve(cfr.make_solver(name, source), config.iterations)
        log(f"{name}: NashConv {rows[-1].nash_conv:.3g} ({rows[-1].average}), value {rows[-1].value:.6f}, "
            f"{time.perf_counter() - began:.0f} s")
        write(rows, base.with_suffix(".csv"))
    draw(rows, cfr.game_spec(game), base.with_suffix(".png"))
    return {
        "game": cfr.game_spec(game),
        "nash_conv": {f"{row.solver} ({row.average})": row.nash_conv for row in rows},  # the final ones
        "files": [str(base.with_suffix(suffix)) for suffix in (".csv", ".png")],
    }


@dataclasses.dataclass(frozen=True)
class Row:
    """One point; ``average``: "last", or the weights of the average."""

    solver: str
    average: str
    iteration: int
    nash_conv: float
    value: float


def curve(solver: cfr.Solver, iterations: int) -> list[Row]:
    """The points of one solver's two curves."""
    averages = {gamma: name for name, gamma in AVERAGES.items()}
    rows = []
    next_point = 1
    while solver.iteration < iterations:
        solver.step()
        if solver.iteration < next_point and solver.iteration != iterations:
            continue
        found = {"last": solver.evaluate_current()}
        if not solver.returns_last:
            found[averages[solver.rule.gamma]] = solver.evaluate()
        # Rounding can leave a sum of gains a hair below zero.
        rows += [
            Row(solver.name, average, solver.iteration, max(0.0, one.nash_conv), one.values[0])
            for average, one in found.items()
        ]
        next_point = solver.iteration + 1 + solver.iteration // 4
    return rows


def write(rows: list[Row], path: Path) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(field.name for field in dataclasses.fields(Row))
        table.writerows(map(dataclasses.astuple, rows))


def draw(rows: list[Row], title: str, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, sides = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True)
    names = list(dict.fromkeys(row.solver for row in rows))
    for axes, what in zip(sides, ("average", "last"), strict=True):
        for number, name in enumerate(names):
            points = [
                (row.iteration, max(row.nash_conv, LEAST))
                for row in rows
                if row.solver == name and (row.average == "last") == (what == "last")
            ]
            if points:
                width, style = LOOKS[number % len(LOOKS)]
                axes.plot(*zip(*points, strict=True), linewidth=width, linestyle=style, label=name, color=f"C{number}")
        axes.set(xscale="log", yscale="log", xlabel="iterations", title=f"{what} policy")
        axes.grid(True, which="both", alpha=0.25)
        axes.legend(fontsize=8)
    sides[0].set_ylabel("NashConv")
    figure.suptitle(title, fontsize=10)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    start(main)
