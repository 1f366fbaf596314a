"""Arrays with a JSON header in one ``.npz`` file: written in one step or not at all, read without pickle.

The file is an ordinary zip archive: ``numpy.load`` reads the arrays, ``unzip -p FILE header.json`` shows the header.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from cfr.errors import StoredFileError

HEADER = "header.json"


def with_suffix(path: str | os.PathLike[str]) -> Path:
    """The file that a path without or with the suffix ``.npz`` stands for."""
    path = Path(path)
    return path if path.suffix == ".npz" else path.with_name(path.name + ".npz")


def save_arrays(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    header: dict[str, Any],
    arrays: dict[str, np.ndarray],
    compress: bool = False,
) -> Path:
    """Write ``header`` (JSON values) and ``arrays`` to ``path`` (suffix .npz added when absent).

    Written to a temporary file beside the target, flushed to disk, then renamed over it: whatever fails, the
    previous file survives. Missing folders are made. Returns the file's path.
    """
    target = with_suffix(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
            with zipfile.ZipFile(stream, "w", method, compresslevel=1 if compress else None) as archive:
                text = json.dumps({"kind": kind, "format": version, **header}, indent=1)
                archive.writestr(HEADER, text)
                for name, values in arrays.items():
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                        np.lib.format.write_array(member, np.asarray(values), allow_pickle=False)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return target


def load_arrays(
    path: str | os.PathLike[str], kind: str, version: int
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what ``save_arrays`` wrote. FileNotFoundError when there is no such file; StoredFileError, naming the file,
    when it is truncated or damaged, of another kind, or of a format this version does not read."""
    source = with_suffix(path)
    if not source.is_file():
        raise FileNotFoundError(f"{source}: no such file")
    try:
        with zipfile.ZipFile(source) as archive:
            header = json.loads(archive.read(HEADER))
            arrays = {}
            for name in archive.namelist():
                if name.endswith(".npy"):
                    with archive.open(name) as member:
                        arrays[name[:-4]] = np.lib.format.read_array(member, allow_pickle=False)
                        if member.read(1):  # reading to the end checks the checksum
                            raise ValueError(f"bytes after the end of {name}")
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError, OSError, NotImplementedError) as error:
        raise StoredFileError(f"{source}: truncated or damaged, or not a file of darkgames ({error})") from error
    if not isinstance(header, dict) or header.get("kind") != kind:
        found = header.get("kind") if isinstance(header, dict) else header
        raise StoredFileError(f"{source}: this is a file of kind {found!r}, wanted is {kind!r}")
    if header.get("format") != version:
        raise StoredFileError(
            f"{source}: its format is {header.get('format')!r}, this version reads format {version}; "
            "write it again with this version"
        )
    return header, arrays


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """The kind of a stored file; None when it is damaged or no file of ours (``load_arrays`` says what is wrong)."""
    try:
        with zipfile.ZipFile(with_suffix(path)) as archive:
            return str(json.loads(archive.read(HEADER))["kind"])
    except (zipfile.BadZipFile, zlib.error, KeyError, TypeError, ValueError, EOFError, OSError):
        return None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
