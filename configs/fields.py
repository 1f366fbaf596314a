"""Declarations of configuration fields: a default, the allowed values, and the help text in one place.

The frozen dataclasses live beside the code that uses them; `configs.load` reads the ranges declared here::

    @dataclass(frozen=True)
    class Settings:
        lr: float = bounded(1e-3, 0, 1, help="Adam's step size")
        version: str = choice("classical", ("classical", "abrupt"), help="what a collision does")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import MISSING, field
from typing import Any

__all__ = ["bounded", "choice", "described", "factory"]


def bounded(
    default: Any,
    low: float | None = None,
    high: float | None = None,
    *,
    help: str = "",
    above: bool = False,
) -> Any:
    """A number in [low, high] (None: open on that side); `above=True` excludes `low` itself.

    For a tuple of numbers the range holds for each of them. A default of None needs an optional type.
    """
    return field(default=default, metadata={"low": low, "high": high, "above": above, "help": help})


def choice(default: Any, options: Iterable[Any], *, help: str = "") -> Any:
    """One of `options`."""
    return field(default=default, metadata={"options": tuple(options), "help": help})


def described(default: Any = MISSING, *, help: str = "") -> Any:
    """A field whose type is its only restriction; without a default it must be given."""
    return field(default=default, metadata={"help": help})


def factory(make: Callable[[], Any], *, help: str = "") -> Any:
    """A nested section, or a mutable default."""
    return field(default_factory=make, metadata={"help": help})
