"""What the scripts share: how they start, how they fail, how they end."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

import cfr
import envs
from configs import ConfigError, apply, describe

USAGE_ERROR = 2
OPENSPIEL = "openspiel:"


class UserError(ValueError):
    """Something the user can put right; the message says what."""


# Errors that are the user's to put right. Anything else is a fault of the program and keeps its traceback.
EXPECTED = (
    ConfigError,
    UserError,
    OSError,
    cfr.PerfectRecallError,
    cfr.PolicyMismatchError,
    cfr.StoredFileError,
    cfr.TreeTooLargeError,
    cfr.UnsupportedGameError,
)


def start(main: Callable[[list[str]], dict[str, Any]]) -> None:
    """Run a script: its result as one JSON line, the last of stdout; exit code 2 and one line for user errors."""
    raise SystemExit(run(main, sys.argv[1:]))


def run(main: Callable[[list[str]], dict[str, Any]], arguments: Sequence[str]) -> int:
    """`start` without leaving Python: prints, and returns the exit code."""
    try:
        result = main(list(arguments))
        print(json.dumps(_finite(result)), flush=True)
    except BrokenPipeError:
        # Whoever read our output is gone; nothing can be told to him, not even by the flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except EXPECTED as error:
        print(f"error: {one_line(error)}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130
    return 0


def one_line(error: BaseException) -> str:
    """The message of an error without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__


def wants_help(arguments: Sequence[str]) -> bool:
    return any(argument in ("help", "-h", "--help") for argument in arguments)


def print_help(text: str, schema: type) -> None:
    """The script's docstring, then every key with its default and allowed values."""
    print(f"{text.strip()}\n\nKeys:\n{describe(schema)}")
    raise SystemExit(0)


def log(text: str) -> None:
    """A line for people: stderr, so that stdout stays readable for programs."""
    print(text, file=sys.stderr, flush=True)


# -- games --------------------------------------------------------------------------------------------------


def openspiel_arguments(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """`game=openspiel:NAME` turned into a section, which no file describes; and whether there was one."""
    rewritten, found = [], False
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key.strip() == "game" and value.strip().startswith(OPENSPIEL):
            argument, found = f"game={json.dumps({'name': value.strip()})}", True
        rewritten.append(argument)
    return rewritten, found


def named_game(arguments: Sequence[str]) -> bool:
    """Whether the arguments say anything about the game."""
    return any(re.match(r"\s*(game|experiment|config)\b", argument) for argument in arguments)


def make_game(section: dict[str, Any]) -> Any:
    """The game that a `game` section describes, ours or OpenSpiel's."""
    values = dict(section)
    name = str(values.get("name", ""))
    if not name.startswith(OPENSPIEL):
        if not name:
            raise ConfigError(f"game.name: missing; give game=NAME, one of {', '.join(envs.game_names())}")
        return apply("game", envs.make, values)
    del values["name"]
    return load_openspiel(name.removeprefix(OPENSPIEL), values)


def load_openspiel(text: str, parameters: dict[str, Any] | None = None) -> Any:
    """A game of OpenSpiel by its own text form, such as `leduc_poker(players=3)`, and further parameters."""
    try:
        import pyspiel
    except ImportError:
        raise UserError(
            f"game={OPENSPIEL}{text} needs OpenSpiel, which is not installed: pip install open_spiel"
        ) from None
    short = text.partition("(")[0]
    if short not in pyspiel.registered_names():
        raise UserError(f"game={OPENSPIEL}{text}: OpenSpiel has no game {short!r}; its list: "
                        'python -c "import pyspiel; print(pyspiel.registered_names())"')
    try:
        with _silenced():
            given = pyspiel.game_parameters_from_string(text) | (parameters or {})
            given.pop("name", None)
            allowed = pyspiel.load_game(short).get_type().parameter_specification
            for key in given:
                if key not in allowed:
                    raise UserError(f"game={OPENSPIEL}{short} has no parameter {key!r}; "
                                    f"its parameters are {', '.join(sorted(allowed)) or 'none'}")
            return pyspiel.load_game(short, given)
    except (pyspiel.SpielError, TypeError) as error:
        raise UserError(f"game={OPENSPIEL}{text}: {one_line(error)}") from error


@contextmanager
def _silenced() -> Iterator[None]:
    """OpenSpiel writes its exceptions to file descriptor 2 before Python sees them."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def game_from_spec(spec: str) -> Any:
    """The game that a stored file names."""
    try:
        return cfr.game_from_spec(spec)
    except (ValueError, ImportError) as error:
        raise UserError(f"{spec}: {one_line(error)}") from error


def folder_name(spec: str) -> str:
    """A game's text as the name of a folder: `dark_hex-2-3-abrupt-silent`."""
    values = re.sub(r"\w+=", "", spec)
    return re.sub(r"[^\w.]+", "-", values).strip("-")


# -- files --------------------------------------------------------------------------------------------------


def write_json(path: Path, content: Any) -> None:
    """A readable JSON file, complete or not there."""
    write_text(path, json.dumps(_finite(content), indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """A text file, complete or as it was before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def dump_yaml(content: dict[str, Any]) -> str:
    return yaml.safe_dump(content, sort_keys=False, default_flow_style=None)


def _finite(value: Any) -> Any:
    """JSON has no nan and no infinity: null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
