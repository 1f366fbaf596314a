"""Configurations: YAML files by name, `key=value` arguments, frozen dataclasses with declared ranges."""

from configs.fields import bounded, choice, described, factory
from configs.loader import ConfigError, apply, describe, load, names, read, to_dict, to_yaml

__all__ = [
    "ConfigError",
    "apply",
    "bounded",
    "choice",
    "describe",
    "described",
    "factory",
    "load",
    "names",
    "read",
    "to_dict",
    "to_yaml",
]
