"""The folder of one training run: configuration, facts about the machine, metrics, checkpoints.

config.yaml      the complete configuration; `config=FOLDER/config.yaml` starts the same run again
metadata.json    versions, commit, machine, seed, command line; one entry per start
metrics.csv      one row per update, the columns fixed at the start
events.*         the same for TensorBoard
checkpoints/     step_*.pt (the last k) and best.pt
"""

from __future__ import annotations

import csv
import io
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from agents.checkpoint import Checkpoints, write_atomically
from configs import ConfigError

__all__ = ["RunFolder", "facts", "read_metrics"]

_PACKAGES = ("darkgames", "numpy", "numba", "torch", "omegaconf", "gymnasium")


class RunFolder:
    """Create with `RunFolder.create`, open an existing one with `RunFolder.open`."""

    def __init__(self, path: Path, columns: Sequence[str], keep: int, tensorboard: bool) -> None:
        self.path = path
        self.columns = list(columns)
        self.checkpoints = Checkpoints(path / "checkpoints", keep)
        self._csv = open(path / "metrics.csv", "a", newline="", encoding="utf-8")
        self._writer = csv.DictWriter(self._csv, self.columns, restval="")
        self._board: Any = None
        self._purge: int | None = None
        self._tensorboard = tensorboard

    @classmethod
    def create(
        cls, path: Path, config: str, columns: Sequence[str], seed: int, keep: int, tensorboard: bool
    ) -> RunFolder:
        """A new folder; an existing run is never written over."""
        if (path / "config.yaml").exists():
            raise ConfigError(
                f"run = {str(path)!r}: this folder holds a run already; "
                f"go on with resume={path}, or give another folder"
            )
        (path / "checkpoints").mkdir(parents=True, exist_ok=True)
        write_atomically(path / "config.yaml", lambda file: file.write(config.encode()))
        _append_facts(path, seed)
        folder = cls(path, columns, keep, tensorboard)
        folder._writer.writeheader()
        folder._csv.flush()
        return folder

    @classmethod
    def open(cls, path: Path, columns: Sequence[str], seed: int, step: int, keep: int, tensorboard: bool) -> RunFolder:
        """Go on after `step`: rows of metrics beyond it are dropped, they will come again."""
        file = path / "metrics.csv"
        rows = [row for row in read_metrics(file) if int(row["steps"]) <= step] if file.is_file() else []

        def write(out: Any) -> None:
            text = io.StringIO(newline="")
            writer = csv.DictWriter(text, list(columns), restval="", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
            out.write(text.getvalue().encode())

        write_atomically(file, write)
        _append_facts(path, seed)
        folder = cls(path, columns, keep, tensorboard)
        folder.checkpoints.remove_temporaries()
        folder._purge = step
        return folder

    def log(self, metrics: dict[str, float]) -> None:
        """Append one row; `steps` must be among the metrics."""
        self._writer.writerow({name: _short(value) for name, value in metrics.items()})
        self._csv.flush()
        if self._tensorboard:
            if self._board is None:
                from torch.utils.tensorboard import SummaryWriter

                # After a resumed checkpoint TensorBoard must forget what came later.
                self._board = SummaryWriter(str(self.path), purge_step=self._purge)
            for name, value in metrics.items():
                if name != "steps":
                    self._board.add_scalar(name, value, int(metrics["steps"]))

    def close(self) -> None:
        self._csv.close()
        if self._board is not None:
            self._board.close()


def read_metrics(file: Path) -> list[dict[str, str]]:
    """Rows of a metrics.csv as texts; a last row cut off by a crash is left out."""
    with open(file, newline="", encoding="utf-8") as lines:
        reader = csv.DictReader(lines)
        rows = list(reader)
        if not reader.fieldnames or "steps" not in reader.fieldnames:
            raise ValueError(f"{file}: not a metrics file (no column `steps`)")
    last = reader.fieldnames[-1]
    return [row for row in rows if row[last] is not None and row["steps"].isdigit()]


def facts(seed: int) -> dict[str, Any]:
    """Versions, commit, machine: what someone needs to repeat or explain a run."""
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "command": sys.argv,
        "seed": seed,
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in _PACKAGES},
        "commit": _commit(),
        "host": {
            "name": platform.node(),
            "system": platform.platform(),
            "processor": _processor(),
            "cpus": os.cpu_count(),
        },
    }


def _append_facts(path: Path, seed: int) -> None:
    file = path / "metadata.json"
    starts = json.loads(file.read_text())["starts"] if file.is_file() else []
    content = json.dumps({"starts": [*starts, facts(seed)]}, indent=2) + "\n"
    write_atomically(file, lambda out: out.write(content.encode()))


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit of the source tree, with a mark when files differ from it; None outside a repository."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=Path(__file__).parent, capture_output=True, text=True, check=True, timeout=10
        ).stdout.strip()

    try:
        commit = git("rev-parse", "HEAD")
        return commit + ("+changes" if git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def _short(value: float) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value
