"""Kernels: the compiled functions that hold every rule, and how they are compiled, cached and passed around.

A kernel is a numba function with an explicit signature over flat integer rows. Two properties of numba
shape this file (checked with numba 0.68):

* A cached caller is not invalidated when a function it calls in *another* file changes. Therefore every
  kernel is cached in a directory named by a digest of its module's source and of all first-party modules
  that the module imports, directly or not: an edit anywhere below opens a new directory, and the old one is
  removed.
* Functions passed as arguments cost 20 us each at the Python boundary, and closures over functions miss the
  cache in every process. Therefore a game hands its kernels over as a table of addresses (``TABLE``), and a
  generic driver turns an address back into a first-class function with ``apply_of(table)`` and its kin:
  nothing at the boundary, 2 ns a call, and a driver is compiled once for all games.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core import config as numba_config
from numba.core.errors import NumbaExperimentalFeatureWarning
from numba.extending import intrinsic

TERMINAL = -4  # what current_player returns at the end of the game (OpenSpiel's PlayerId.TERMINAL)

ROW = types.Array(types.int32, 1, "C")
PARAMS = types.Array(types.int32, 1, "C")
MASK = types.Array(types.bool_, 1, "C")
F32 = types.Array(types.float32, 1, "C")
F64 = types.Array(types.float64, 1, "C")
TABLE = types.Array(types.int64, 1, "C")

# The kernels of a game, in the order of the address table. None of them raises or allocates for the caller.
RESET = types.void(PARAMS, ROW)
CURRENT_PLAYER = types.int64(PARAMS, ROW)
LEGAL = types.int64(PARAMS, ROW, MASK)
APPLY = types.void(PARAMS, ROW, types.int64)
RETURNS = types.void(PARAMS, ROW, F64)
OBSERVE = types.void(PARAMS, ROW, types.int64, types.int64, F32)
INFORMATION_SPAN = types.UniTuple(types.int64, 2)(PARAMS, ROW, types.int64)

_FIRST_PARTY = ("envs", "cfr", "agents")


@cache
def _sources(module_file: str) -> dict[str, str]:
    """First-party source files that ``module_file`` depends on, itself included: path -> text."""
    found: dict[str, str] = {}
    todo = [module_file]
    while todo:
        path = todo.pop()
        if path in found:
            continue
        text = Path(path).read_text(encoding="utf-8")
        found[path] = text
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                names = [node.module] + [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                if name.split(".")[0] in _FIRST_PARTY:
                    origin = _module_file(name)
                    if origin is not None:
                        todo.append(origin)
    return found


def _module_file(name: str) -> str | None:
    """Source file of a first-party module, found without importing it; None when the name is no module."""
    package, *rest = name.split(".")
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    base = Path(spec.origin).parent.joinpath(*rest)
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return str(candidate)
    return None


@cache
def _cache_directory(module_file: str) -> str:
    """Directory for the compiled kernels of one module, named by the digest of all sources it depends on."""
    digest = hashlib.sha256()
    for path, text in sorted(_sources(module_file).items()):
        digest.update(f"{Path(path).name}\0{text}\0".encode())
    source = Path(module_file)
    override = os.environ.get("NUMBA_CACHE_DIR")
    roots = [Path(override)] if override else [source.parent / "__pycache__"]
    place = hashlib.sha256(str(source.parent).encode()).hexdigest()[:8]
    roots.append(Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "darkgames" / place)
    roots.append(Path(tempfile.gettempdir()) / f"darkgames-{os.getuid() if hasattr(os, 'getuid') else 0}" / place)
    for root in roots:
        directory = root / f"kernels-{source.stem}-{digest.hexdigest()[:16]}"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=directory):
                pass
        except OSError:
            continue
        for stale in root.glob(f"kernels-{source.stem}-*"):
            if stale != directory:
                shutil.rmtree(stale, ignore_errors=True)
        return str(directory)
    raise OSError(f"no writable directory for compiled kernels; tried {', '.join(map(str, roots))}. "
                  "Set NUMBA_CACHE_DIR to a writable directory.")


def kernel(signature: Any, allocates: bool = True, **options: Any) -> Any:
    """Decorator: compile a function for one explicit signature, cached on disk, releasing the GIL.

    Ordinary calls between kernels, also across files, are safe: see the module docstring. ``allocates=False``
    promises that the function makes no arrays: its arguments are then borrowed instead of being counted up and down
    atomically, which is most of the time of a small kernel.
    """
    if not allocates:
        options["_nrt"] = False

    def decorate(function: Any) -> Any:
        module_file = sys.modules[function.__module__].__file__
        config: Any = numba_config
        saved = config.CACHE_DIR
        config.CACHE_DIR = _cache_directory(str(module_file))  # read by numba when the decorator runs
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
                return numba.njit(signature, cache=True, nogil=True, **options)(function)
        finally:
            config.CACHE_DIR = saved

    return decorate


def helper(function: Any) -> Any:
    """Decorator: a small function compiled into the kernels that call it (no signature, no cache file)."""
    return numba.njit(function, nogil=True)


def function_at(index: int, signature: Any) -> Any:
    """An intrinsic ``f(table)`` that returns entry ``index`` of an address table as a first-class function.

    It fills the struct behind numba's ``FunctionType`` with the address of the compiled function, as numba
    itself does when a dispatcher is passed as an argument (numba.experimental.function_type).
    """
    function_type = types.FunctionType(signature)

    @intrinsic
    def function_of(typingctx: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            struct = cgutils.create_struct_proxy(function_type)(context, builder)
            pointer = builder.inttoptr(args[0], cgutils.voidptr_t)
            struct.c_addr = pointer
            struct.jit_addr = pointer
            struct.py_addr = context.get_constant_null(types.voidptr)
            return struct._getvalue()

        return function_type(types.int64), codegen

    @numba.njit
    def at(table: Any) -> Any:
        return function_of(table[index])  # type: ignore[call-arg]

    return at


reset_of = function_at(0, RESET)
current_player_of = function_at(1, CURRENT_PLAYER)
legal_of = function_at(2, LEGAL)
apply_of = function_at(3, APPLY)
returns_of = function_at(4, RETURNS)
observe_of = function_at(5, OBSERVE)
information_span_of = function_at(6, INFORMATION_SPAN)


def address_of(dispatcher: Any) -> int:
    """Address of a kernel's compiled code; valid as long as the process lives."""
    compiled = dispatcher.overloads[tuple(dispatcher.signatures[0])]
    code, function = (compiled._asdict()[part] for part in ("library", "fndesc"))
    return int(code.get_pointer_to_function(function.mangled_name))


class Kernels(NamedTuple):
    """The rules of a game: seven kernels (signatures above) over its parameters and a state row.

    ``reset(params, row)``; ``current_player(params, row)`` gives a player index or TERMINAL;
    ``legal(params, row, mask)`` writes the actions of the player to move (none at the end) and returns how
    many; ``apply(params, row, action)`` takes a legal action; ``returns(params, row, out)`` is zero before the
    end; ``observe(params, row, player, view, out)`` writes the information state (view = 0) or what is known
    now (view = 1); ``information_span(params, row, player)`` gives (start, stop): the player's information
    state with perfect recall is the integer tokens ``row[start:stop]``, which only grow along a game.
    """

    reset: Any
    current_player: Any
    legal: Any
    apply: Any
    returns: Any
    observe: Any
    information_span: Any

    @property
    def table(self) -> np.ndarray:
        """int64[7], the addresses that ``apply_of`` and its kin read."""
        return np.array([address_of(k) for k in self], dtype=np.int64)
