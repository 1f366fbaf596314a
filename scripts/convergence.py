"""NashConv over iterations, for all variants of CFR on one board: a table and a picture.

    python scripts/convergence.py game=dark_hex game.rows=3 game.info=silent iterations=100 output=docs/images/NAME

Writes NAME.csv and NAME.png. NashConv is exact, of the average policy, and computed at 1, 2, 3, ... iterations in steps
that grow by a quarter. The last line of stdout is one JSON object.
"""

from __future__ import annotations

import csv
import dataclasses
import itertools
import time
from pathlib import Path
from typing import Any

from _common import UserError, log, make_game, print_help, start, wants_help

import cfr
from cfr.regret import RULES
from configs import bounded, described, factory, load


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
    rows = []
    for name in config.solvers:
        solver, began = cfr.make_solver(name, source), time.perf_counter()
        next_point = 1
        while solver.iteration < config.iterations:
            solver.step()
            if solver.iteration >= next_point or solver.iteration == config.iterations:
                found = solver.evaluate()
                rows.append((name, solver.iteration, max(0.0, found.nash_conv), found.values[0]))
                next_point = solver.iteration + 1 + solver.iteration // 4
        log(f"{name}: NashConv {rows[-1][2]:.3g}, value {rows[-1][3]:.6f}, {time.perf_counter() - began:.0f} s")
    base = Path(config.output)
    base.parent.mkdir(parents=True, exist_ok=True)
    with open(base.with_suffix(".csv"), "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("solver", "iteration", "nash_conv", "value"), *rows])
    draw(rows, cfr.game_spec(game), base.with_suffix(".png"))
    return {
        "game": cfr.game_spec(game),
        "nash_conv": {name: [row[2] for row in rows if row[0] == name][-1] for name in config.solvers},
        "files": [str(base.with_suffix(suffix)) for suffix in (".csv", ".png")],
    }


def draw(rows: list[tuple[str, int, float, float]], title: str, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5))
    # Curves may coincide; all stay visible.
    styles = zip((3.5, 5, 2, 3.5, 1.5), ("-", "-", "-", "-", "--"), strict=True)
    for name, (width, style) in zip(dict.fromkeys(row[0] for row in rows), itertools.cycle(styles), strict=False):
        points = [(iteration, value) for solver, iteration, value, _ in rows if solver == name and value > 0]
        axes.plot(*zip(*points, strict=True), linewidth=width, linestyle=style, label=name)
    axes.set(xscale="log", yscale="log", xlabel="iterations", ylabel="NashConv of the average policy", title=title)
    axes.title.set_fontsize(9)
    axes.grid(True, which="both", alpha=0.25)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    start(main)
