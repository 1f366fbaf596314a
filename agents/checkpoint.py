"""Checkpoints: written atomically, read without running code, the last k and the best kept.

A file is written beside its place, flushed to the disk and then renamed over it: whenever the process dies, the
files that bear a checkpoint's name are complete.
"""

from __future__ import annotations

import os
import pickle
import re
import zipfile
from pathlib import Path
from typing import Any

import torch

__all__ = ["CheckpointError", "Checkpoints", "load", "save"]

FORMAT = 1  # raised when older files can no longer be read


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the message names the file and the fix."""


def save(path: Path, content: dict[str, Any]) -> None:
    """Write tensors, numbers, texts, and dicts and lists of them to `path`, or leave `path` as it was."""
    write_atomically(path, lambda file: torch.save({"format": FORMAT, **content}, file))


def write_atomically(path: Path, write: Any) -> None:
    """Call `write(file)` on a temporary file, flush it to the disk, and rename it to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if os.name == "posix":  # make the new name itself durable
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def load(path: Path | str) -> dict[str, Any]:
    """The content of a checkpoint; nothing in the file is executed (`weights_only=True`).

    Raises:
        CheckpointError: no such file, a truncated or foreign file, another format.
    """
    path = Path(path)
    if not path.is_file():
        near = sorted(p.name for p in path.parent.glob("*.pt")) if path.parent.is_dir() else []
        raise CheckpointError(f"{path}: no such checkpoint" + (f"; this folder has {', '.join(near)}" if near else ""))
    try:
        content = torch.load(path, weights_only=True, map_location="cpu")
    except (RuntimeError, EOFError, OSError, KeyError, ValueError, pickle.UnpicklingError, zipfile.BadZipFile) as error:
        raise CheckpointError(
            f"{path}: damaged, truncated or not a checkpoint ({(str(error) or repr(error)).splitlines()[0]}); "
            + _advice(path)
        ) from error
    if not isinstance(content, dict) or "format" not in content:
        raise CheckpointError(f"{path}: not a checkpoint of this program; {_advice(path)}")
    if content["format"] != FORMAT:
        raise CheckpointError(
            f"{path}: checkpoint format {content['format']}, this version reads {FORMAT}; "
            "train again, or use the version that wrote it (see metadata.json)"
        )
    return content


def _advice(path: Path) -> str:
    others = [other for other in _numbered(path.parent) if other != path]
    if others:
        return f"remove or rename it to use the one before, {others[-1].name}"
    return "give another file, or start a new run"


def _numbered(folder: Path) -> list[Path]:
    """The numbered checkpoints of a folder, oldest first."""
    return sorted(path for path in folder.glob("step_*.pt") if re.fullmatch(r"step_\d{12}\.pt", path.name))


class Checkpoints:
    """The checkpoints of one run: `step_000000123456.pt` (the last `keep` of them) and `best.pt`."""

    def __init__(self, folder: Path, keep: int = 3) -> None:
        self.folder, self.keep = folder, keep

    @property
    def best(self) -> Path:
        return self.folder / "best.pt"

    def newest(self) -> Path:
        """The checkpoint with the most steps."""
        numbered = _numbered(self.folder)
        if not numbered:
            raise CheckpointError(f"{self.folder}: no checkpoint step_*.pt to resume from; start a new run")
        return numbered[-1]

    def save(self, step: int, content: dict[str, Any]) -> Path:
        """Write the checkpoint of `step`; then remove the oldest beyond `keep`."""
        path = self.folder / f"step_{step:012d}.pt"
        save(path, content)
        for old in _numbered(self.folder)[: -self.keep]:
            old.unlink()
        return path

    def save_best(self, content: dict[str, Any]) -> Path:
        save(self.best, content)
        return self.best

    def remove_temporaries(self) -> None:
        """Delete what a killed process left half-written."""
        for path in self.folder.glob(".*.tmp"):
            path.unlink()
