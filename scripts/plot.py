"""Draw the curves of one or more training runs.

    plot.py run=runs/mine
    plot.py run=runs/a run=runs/b out=pictures

Writes PNG files (into the first run's folder unless `out=` names another) and prints their names as one JSON
object on the last line of stdout.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _common import UserError, start, wants_help

from agents.run_folder import read_metrics

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")  # Okabe and Ito


@dataclass(frozen=True)
class Run:
    """The metrics of one run, as columns of numbers; `name` is what the legend calls it."""

    name: str
    path: Path
    rows: list[dict[str, str]]

    def column(self, name: str) -> tuple[list[int], list[float]]:
        """(steps, values) of the rows that have a value."""
        found = [(int(row["steps"]), float(row[name])) for row in self.rows if row.get(name)]
        return [step for step, _ in found], [value for _, value in found]

    @property
    def seats(self) -> int:
        return sum(name.startswith("uniform/return_seat_") for name in self.rows[0])


def main(arguments: list[str]) -> dict[str, Any]:
    """Draw; returns the object for the last line of stdout."""
    if wants_help(arguments):
        print(__doc__.strip())
        raise SystemExit(0)
    paths, out = _parse(arguments)
    files = draw(_read(paths), out or paths[0])
    return {"runs": [str(path) for path in paths], "files": [str(file) for file in files]}


def draw(runs: Sequence[Run], out: Path) -> list[Path]:
    """Write the pictures that the runs have data for; returns their paths."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    style: Any = {
        "font.size": 11,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "legend.frameon": False,
        "lines.linewidth": 1.8,
        "figure.constrained_layout.use": True,
    }
    files = []
    with plt.rc_context(style):
        for name, picture in (("return", _returns), ("learning", _learning), ("nash_conv", _nash_conv)):
            figure = picture(plt, runs)
            if figure is not None:
                out.mkdir(parents=True, exist_ok=True)
                files.append(out / f"{name}.png")
                figure.savefig(files[-1], dpi=130)
                plt.close(figure)
    if not files:
        raise UserError(f"{', '.join(run.name for run in runs)}: nothing to draw yet; let the run go on for a while")
    return files


def _returns(plt: Any, runs: Sequence[Run]) -> Any:
    """Mean return against the uniform player, a panel a seat, with 95 % bands."""
    if not any(run.column("uniform/return_seat_0")[0] for run in runs):
        return None
    seats = max(run.seats for run in runs)
    figure, axes = plt.subplots(1, seats, figsize=(5.2 * seats, 4), sharey=True, squeeze=False)
    for seat, axis in enumerate(axes[0]):
        for run, colour in zip(runs, _cycle(), strict=False):
            steps, mean = run.column(f"uniform/return_seat_{seat}")
            axis.plot(steps, mean, color=colour, label=run.name, marker="o", markersize=3)
            low, high = run.column(f"uniform/low_seat_{seat}")[1], run.column(f"uniform/high_seat_{seat}")[1]
            axis.fill_between(steps, low, high, color=colour, alpha=0.18, linewidth=0)
        axis.axhline(0, color="0.6", linewidth=0.8)
        axis.set(title=f"Against the uniform player, seat {seat}", xlabel="environment steps")
        _steps(axis)
    axes[0][0].set_ylabel("mean return, 95 % interval")
    axes[0][-1].legend(loc="lower right")
    return figure


def _learning(plt: Any, runs: Sequence[Run]) -> Any:
    """Losses, entropy, and how far the policy moves."""
    panels = (
        ("policy/entropy", "Entropy of the policy (nats)"),
        ("loss/value", "Value loss"),
        ("loss/policy", "Policy loss"),
        ("policy/approx_kl", "KL divergence per update (nats)"),
    )
    if not any(run.column("policy/entropy")[0] for run in runs):
        return None
    figure, axes = plt.subplots(2, 2, figsize=(10.4, 7), sharex=True)
    for axis, (column, title) in zip(axes.flat, panels, strict=True):
        for run, colour in zip(runs, _cycle(), strict=False):
            steps, values = run.column(column)
            axis.plot(steps, values, color=colour, alpha=0.2, linewidth=0.8)
            axis.plot(steps, _smooth(values), color=colour, label=run.name)
        axis.set_title(title)
        _steps(axis)
    for axis in axes[1]:
        axis.set_xlabel("environment steps")
    axes[0][1].legend(loc="upper right")
    return figure


def _nash_conv(plt: Any, runs: Sequence[Run]) -> Any:
    """Exact NashConv of the current policy, and beside it the value that it reaches and what it leaves open.

    Best responses to a policy bound the value of a two-player game: the band between them is as wide as NashConv.
    """
    drawn = [run for run in runs if run.column("nash_conv")[0]]
    if not drawn:
        return None
    valued = [run for run in drawn if run.seats in (0, 2) and run.column("exact/value_seat_0")[0]]
    panels = 2 if valued else 1
    figure, axes = plt.subplots(1, panels, figsize=(6.4 * panels - 1.2 * (panels - 1), 4), squeeze=False)
    colours = dict(zip((run.path for run in drawn), _cycle(), strict=False))
    axis = axes[0][0]
    for run in drawn:
        steps, values = run.column("nash_conv")
        axis.plot(steps, values, color=colours[run.path], label=run.name, marker="o", markersize=3)
    axis.set(title="Distance from equilibrium", xlabel="environment steps", ylabel="NashConv (exact)")
    axis.set_ylim(bottom=0)
    _steps(axis)
    axis.legend(loc="best")
    axis = axes[0][-1]
    for run in valued:
        steps, values = run.column("exact/value_seat_0")
        (_, high), (_, low) = (run.column(f"exact/best_response_seat_{seat}") for seat in (0, 1))
        first = run is valued[0]
        axis.plot(
            steps, values, color=colours[run.path], marker="o", markersize=3, label="of self-play" if first else None
        )
        axis.fill_between(
            steps, [-value for value in low], high, color=colours[run.path], alpha=0.18, linewidth=0,
            label="of the game: somewhere here" if first else None,
        )  # fmt: skip
    if valued:
        axis.set(title="Value for player 0 (exact)", xlabel="environment steps", ylabel="expected return")
        _steps(axis)
        axis.legend(loc="best")
    return figure


def _parse(arguments: Sequence[str]) -> tuple[list[Path], Path | None]:
    paths, out = [], None
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if key == "run" and value:
            paths.append(Path(value))
        elif key == "out" and value:
            out = Path(value)
        else:
            raise UserError(f"{argument!r}: unknown; allowed: run=FOLDER (several), out=FOLDER")
    if not paths:
        raise UserError("no run: give run=FOLDER, the folder that train.py printed")
    return paths, out


def _read(paths: Sequence[Path]) -> list[Run]:
    runs = []
    for path in paths:
        file = path / "metrics.csv"
        if not file.is_file():
            raise UserError(f"run={path}: no metrics.csv there; give the folder of a training run")
        rows = read_metrics(file)
        if not rows:
            raise UserError(f"run={path}: metrics.csv has no rows yet")
        same = sum(other.name == path.name for other in paths) > 1
        runs.append(Run(str(path) if same else path.name, path, rows))
    return runs


def _cycle() -> Any:
    return itertools.cycle(_COLOURS)


def _smooth(values: Sequence[float]) -> list[float]:
    """Exponential average over about a fortieth of the curve, without the bias of its first value."""
    decay = 1 - 1 / max(1.0, len(values) / 40)
    smooth, weight, out = 0.0, 0.0, []
    for value in values:
        smooth, weight = decay * smooth + (1 - decay) * value, decay * weight + (1 - decay)
        out.append(smooth / weight)
    return out


def _steps(axis: Any) -> None:
    from matplotlib.ticker import EngFormatter

    axis.xaxis.set_major_formatter(EngFormatter(sep=""))


if __name__ == "__main__":
    start(main)
