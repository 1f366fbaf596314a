"""Built graphs on disk: building takes seconds, reading them back a fraction of that."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path

from cfr.errors import StoredFileError
from cfr.phantom import classical
from cfr.phantom.classical import Graph
from cfr.storage import load_arrays, save_arrays

KIND, FORMAT = "phantom_graphs", 1


def folder() -> Path:
    """Where graphs are kept: ``darkgames/graphs`` in the user's cache folder (XDG_CACHE_HOME, else ~/.cache)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "darkgames" / "graphs"


def cached(spec: str, build: Callable[[], tuple[Graph, ...]]) -> tuple[tuple[Graph, ...], bool]:
    """The graphs of a game, and whether they came from the cache.

    The file's name holds a digest of the code that builds graphs: another version never reads it, and removes it.
    A file that is damaged is built again; a folder that cannot be written to costs nothing but the time.
    """
    code = hashlib.sha256(Path(classical.__file__).read_bytes()).hexdigest()[:12]
    name = re.sub(r"[^\w]+", "-", spec).strip("-")
    path = folder() / f"{name}.{code}.npz"
    try:
        header, arrays = load_arrays(path, KIND, FORMAT)
        if header.get("game") == spec:
            return _graphs(arrays), True
    except (FileNotFoundError, StoredFileError, KeyError, PermissionError):
        pass
    graphs = build()
    try:
        for old in folder().glob(f"{name}.*.npz"):
            old.unlink()
        save_arrays(path, KIND, FORMAT, {"game": spec}, {
            f"{field.name}_{player}": getattr(graph, field.name)
            for player, graph in enumerate(graphs)
            for field in dataclasses.fields(graph)
        })  # fmt: skip
    except OSError:
        pass
    return graphs, False


def _graphs(arrays: dict) -> tuple[Graph, ...]:
    names = [field.name for field in dataclasses.fields(Graph)]
    return tuple(Graph(*(arrays[f"{name}_{player}"] for name in names)) for player in (0, 1))
