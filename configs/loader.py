"""YAML files and `key=value` arguments -> one frozen, checked dataclass.

Order of precedence, lowest first: the dataclass defaults; the files chosen by name (`game=dark_hex` reads
`configs/game/dark_hex.yaml`); the sections of `experiment=NAME` or `config=PATH`; the `key=value` arguments.
Naming a file on the command line replaces that section of an experiment as a whole, so that
`experiment=demo game=hex` does not inherit the other game's parameters.

A file may choose for its sections too: `agent: ppo`, or, to choose and then change some values::

    defaults: {game: dark_hex, agent: ppo}
    agent: {entropy: 0.1}

Everything is checked before anything starts; a `ConfigError` names the dotted key, the value and what is
allowed.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

__all__ = ["ConfigError", "apply", "describe", "load", "names", "read", "to_dict", "to_yaml"]

T = TypeVar("T")

GROUPS = {"game": "game", "agent": "algorithm", "solver": "algorithm"}
"""Sections that can be chosen by name, and the folder that holds the files."""


class ConfigError(ValueError):
    """A configuration that cannot be used. Names the dotted key, the value, and what is allowed."""


class _Loader(yaml.SafeLoader):
    """YAML in which only true and false are booleans, and 1e-3 is a number.

    PyYAML follows YAML 1.1: it reads `off` as False (`swap: off` would lose its word) and `1e-3` as a text.
    """


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern) for tag, pattern in resolvers if tag not in ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:float")
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"""^[-+]?(?:(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?
                   |[0-9][0-9_]*[eE][-+]?[0-9]+|\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$""",
        re.X,
    ),
    list("-+0123456789."),
)

_SWITCH = {"on": True, "off": False, "yes": True, "no": False}


def load(
    schema: type[T],
    arguments: Sequence[str] = (),
    *,
    defaults: Mapping[str, str] | None = None,
) -> T:
    """The configuration that the command line `arguments` describe.

    Args:
        schema: a frozen dataclass; nested dataclasses are sections, a field of type `dict` is free-form.
        arguments: `key=value` texts; values are YAML (`agent.hidden=[64,64]`, `swap=off` is the word "off").
        defaults: names of the files for sections that nothing else chooses, such as `{"game": "dark_hex"}`.

    Raises:
        ConfigError: an unknown key, a wrong type, a value out of range, a missing file.
    """
    groups = {key: folder for key, folder in GROUPS.items() if key in _fields(schema)}
    choices: dict[str, str] = dict(defaults or {})
    files: list[dict[str, Any]] = []
    overrides: list[tuple[str, Any]] = []
    for key, value in map(_split, arguments):
        if key == "experiment":
            files.append(_choose(read(_group_file("experiment", value), key), groups, choices))
        elif key == "config":
            files.append(_choose(read(Path(str(value)), key), groups, choices))
        else:
            overrides.append((key, value))
    for key, value in overrides:
        if key in groups and isinstance(value, str):
            choices[key] = value
            for file in files:
                file.pop(key, None)
    try:
        merged: Any = OmegaConf.create({})
        for key, name in choices.items():
            merged = OmegaConf.merge(merged, {key: read(_group_file(groups[key], name), key)})
        merged = OmegaConf.merge(merged, *files)
        for key, value in overrides:
            if not (key in groups and isinstance(value, str)):
                _check_path(schema, key)
                OmegaConf.update(merged, key, value, force_add=True)
        container = OmegaConf.to_container(merged, resolve=True)
    except OmegaConfBaseException as error:
        raise ConfigError(f"{error.full_key or 'configuration'}: {str(error).splitlines()[0]}") from error
    return typing.cast(T, _build(schema, container, ""))


def names(folder: str) -> list[str]:
    """The names that can be chosen in `configs/<folder>`, sorted."""
    root = resources.files("configs") / folder
    return sorted(entry.name[: -len(".yaml")] for entry in root.iterdir() if entry.name.endswith(".yaml"))


def read(file: Any, key: str = "config") -> dict[str, Any]:
    """The mapping in one YAML file (a path, or a package resource)."""
    try:
        content = yaml.load(file.read_text(encoding="utf-8"), Loader=_Loader)
    except OSError as error:
        raise ConfigError(f"{key}={file}: cannot read the file ({error.strerror or error})") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{key}={file}: not valid YAML: {' '.join(str(error).split())}") from error
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise ConfigError(f"{key}={file}: expected `key: value` lines, got {type(content).__name__}")
    return content


def apply(section: str, function: Callable[..., T], values: Mapping[str, Any]) -> T:
    """`function(**values)`, its ValueError or TypeError raised again as a ConfigError with the dotted key.

    For free-form sections: `apply("game", envs.make, config.game)` lets the game check its own parameters.
    """
    try:
        return function(**values)
    except ConfigError:
        raise
    except (ValueError, TypeError) as error:
        text = str(error)
        quoted = [key for key in values if repr(key) in text]
        named = [key for key in values if re.search(rf"\b{re.escape(key)}\b", text)]
        by_value = [key for key, value in values.items() if isinstance(value, str) and repr(value) in text]
        keys = quoted or named or by_value
        where = f"{section}.{keys[0]} = {values[keys[0]]!r}" if keys else section
        raise ConfigError(f"{where}: {error}") from error


def to_dict(config: Any) -> dict[str, Any]:
    """A configuration as plain dicts, lists and scalars."""
    return typing.cast("dict[str, Any]", _plain(dataclasses.asdict(config)))


def to_yaml(config: Any) -> str:
    """A configuration as YAML that `config=PATH` reads back to an equal object."""
    return yaml.safe_dump(to_dict(config), sort_keys=False, default_flow_style=None)


def describe(schema: type) -> str:
    """One line per key: default, allowed values, help. The text that `--help` prints."""
    lines = []
    for path, field, hint in _leaves(schema, ""):
        default = (
            "required"
            if _default(field) is dataclasses.MISSING
            else yaml.safe_dump(_plain(_default(field)), default_flow_style=True).splitlines()[0]
        )
        parts = [f"{path} = {default}", _allowed(path.rsplit(".", 1)[-1], field) or _type_name(hint)]
        lines.append(f"  {parts[0]:<44}{parts[1]:<34}{field.metadata.get('help', '')}".rstrip())
    return "\n".join(lines)


def _split(argument: str) -> tuple[str, Any]:
    key, equals, text = argument.partition("=")
    key = key.strip()
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*(\.\w+)*", key):
        raise ConfigError(f"{argument!r}: expected key=value, such as game.rows=3")
    try:
        return key, yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise ConfigError(f"{key}={text}: not a YAML value: {' '.join(str(error).split())}") from error


def _group_file(folder: str, name: Any) -> Any:
    if str(name) not in names(folder):
        raise ConfigError(
            f"no file {name!r} in configs/{folder}: choose one of {', '.join(names(folder))}"
            f"{_nearest(str(name), names(folder))}"
        )
    return resources.files("configs") / folder / f"{name}.yaml"


def _choose(file: dict[str, Any], groups: Mapping[str, str], choices: dict[str, str]) -> dict[str, Any]:
    """Moves the choices that a file makes into `choices`; returns what is left of it."""
    chosen = file.pop("defaults", {})
    if not isinstance(chosen, dict):
        raise ConfigError(f"defaults = {chosen!r}: expected sections with file names: {{game: dark_hex}}")
    for key in [key for key in groups if isinstance(file.get(key), str)]:
        chosen[key] = file.pop(key)
    for key, name in chosen.items():
        if key not in groups:
            raise ConfigError(
                f"defaults.{key}: no such section{_nearest(key, groups)}; allowed: {', '.join(groups) or 'none here'}"
            )
        choices[key] = name
    # A complete section (a saved run's) needs no file under it: its own `name` says what it is.
    for key in groups:
        if key not in chosen and isinstance(file.get(key), dict) and "name" in file[key]:
            choices.pop(key, None)
    return file


def _check_path(schema: type, key: str) -> None:
    """An override must lead to a key that exists, and not into a scalar."""
    here: Any = schema
    parts = key.split(".")
    for depth, part in enumerate(parts):
        if here is dict or typing.get_origin(here) is dict:
            return
        if not dataclasses.is_dataclass(here):
            raise ConfigError(f"{key}: {'.'.join(parts[:depth])} is a single value, it has no key {part!r}")
        hints = typing.get_type_hints(here)
        if part not in hints:
            raise _unknown(schema, here, ".".join(parts[:depth]), part)
        here = hints[part]


def _unknown(root: type, section: Any, path: str, key: str) -> ConfigError:
    known = [field.name for field in dataclasses.fields(section)]
    dotted = f"{path}.{key}" if path else key
    # Perhaps the right word in the wrong place; otherwise a misspelt one.
    elsewhere = [leaf for leaf, _, _ in _leaves(root, "") if leaf.rsplit(".", 1)[-1] == key]
    prefix = f"{path}." if path else ""
    near = f"; did you mean {elsewhere[0]}?" if elsewhere else _nearest(key, known, prefix)
    return ConfigError(f"{dotted}: unknown key{near}; allowed: {', '.join(known)}")


def _nearest(word: str, known: Any, prefix: str = "") -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {prefix}{close[0]}?" if close else ""


def _build(schema: type, values: Any, path: str, root: type | None = None) -> Any:
    root = root or schema
    if not isinstance(values, dict):
        raise ConfigError(
            f"{path or 'configuration'} = {values!r}: expected a section with the keys {', '.join(_fields(schema))}"
        )
    fields, hints = _fields(schema), typing.get_type_hints(schema)
    for key in values:
        if key not in fields:
            raise _unknown(root, schema, path, str(key))
    made = {}
    for name, field in fields.items():
        dotted = f"{path}.{name}" if path else name
        if name in values:
            made[name] = _convert(hints[name], values[name], dotted, field, root)
        elif dataclasses.is_dataclass(hints[name]):
            made[name] = _build(typing.cast(type, hints[name]), {}, dotted, root)
        elif _default(field) is dataclasses.MISSING:
            raise ConfigError(
                f"{dotted}: missing; give {dotted}=VALUE"
                + (f" ({field.metadata['help']})" if field.metadata.get("help") else "")
            )
    try:
        return schema(**made)
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(f"{path or 'configuration'}: {error}") from error


def _convert(hint: Any, value: Any, path: str, field: dataclasses.Field, root: type) -> Any:
    if dataclasses.is_dataclass(hint):
        return _build(typing.cast(type, hint), value, path, root)
    result = _typed(hint, value)
    if result is _WRONG:
        allowed = _allowed(path, field)
        raise ConfigError(
            f"{path} = {value!r}: expected {_type_name(hint)}, got {type(value).__name__}"
            + (f"; allowed: {allowed}" if allowed else "")
        )
    _check_range(path, result, field)
    return result


_WRONG = object()


def _typed(hint: Any, value: Any) -> Any:
    """`value` as `hint`, or _WRONG. Strict: no text becomes a number, no fraction an integer."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in parts:
            return None
        results = [_typed(part, value) for part in parts if part is not type(None)]
        return next((result for result in results if result is not _WRONG), _WRONG)
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            return _WRONG
        items = tuple(_typed(parts[0], item) for item in value)
        return _WRONG if any(item is _WRONG for item in items) else items
    if hint is dict or origin is dict:
        return dict(value) if isinstance(value, dict) else _WRONG
    if hint is bool:
        if isinstance(value, str):
            return _SWITCH.get(value, _WRONG)
        return value if isinstance(value, bool) else _WRONG
    if hint is int:
        if isinstance(value, float) and value.is_integer():  # 1e6 is a natural way to write a number of steps
            return int(value)
        return value if isinstance(value, int) and not isinstance(value, bool) else _WRONG
    if hint is float:
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else _WRONG
    if hint is str:
        return value if isinstance(value, str) else _WRONG
    raise TypeError(f"configuration fields of type {hint} are not supported")


def _check_range(path: str, value: Any, field: dataclasses.Field) -> None:
    options = field.metadata.get("options")
    if options is not None and value not in options:
        raise ConfigError(
            f"{path} = {value!r}: not allowed{_nearest(str(value), map(str, options))}; "
            f"allowed: {', '.join(map(str, options))}"
        )
    if "low" not in field.metadata or value is None:
        return
    low, high, above = (field.metadata[key] for key in ("low", "high", "above"))
    for item in value if isinstance(value, tuple) else (value,):
        inside = not math.isnan(item) and (low is None or (item > low if above else item >= low))
        if not inside or not (high is None or item <= high):
            raise ConfigError(f"{path} = {value!r}: out of range; allowed: {_allowed(path, field)}")


def _allowed(name: str, field: dataclasses.Field) -> str:
    if "options" in field.metadata:
        return ", ".join(map(str, field.metadata["options"]))
    if "low" not in field.metadata:
        return ""
    low, high = field.metadata["low"], field.metadata["high"]
    left = "" if low is None else f"{low:g} {'<' if field.metadata['above'] else '<='} "
    right = "" if high is None else f" <= {high:g}"
    return f"{left}{name}{right}" if left or right else ""


def _type_name(hint: Any) -> str:
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " or ".join("null" if part is type(None) else _type_name(part) for part in parts)
    if origin is tuple:
        return f"a list of {_type_name(parts[0])}"
    words = {int: "an integer", float: "a number", bool: "true or false", str: "a text", dict: "a section"}
    return words.get(origin or hint, str(hint))


def _fields(schema: type) -> dict[str, dataclasses.Field]:
    return {field.name: field for field in dataclasses.fields(schema)}  # type: ignore[arg-type]


def _default(field: dataclasses.Field) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return dataclasses.MISSING if field.default_factory is dataclasses.MISSING else field.default_factory()


def _leaves(schema: type, prefix: str) -> list[tuple[str, dataclasses.Field, Any]]:
    found: list[tuple[str, dataclasses.Field, Any]] = []
    hints = typing.get_type_hints(schema)
    for name, field in _fields(schema).items():
        if dataclasses.is_dataclass(hints[name]):
            found += _leaves(typing.cast(type, hints[name]), f"{prefix}{name}.")
        else:
            found.append((prefix + name, field, hints[name]))
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
