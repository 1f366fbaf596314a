"""Names of the environments in Gymnasium's and PettingZoo's registries: ``darkgames/DarkHex-v0``.

``import envs`` registers them. Gymnasium can do that import itself: ``gymnasium.make("envs:darkgames/DarkHex-v0")``.
The version changes when an environment's behaviour does.
"""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path

NAMESPACE = "darkgames"


def _environment_names() -> dict[str, str]:
    """Game -> name of its environments, from the facades beside this file: ``dark_hex_v0.py`` is DarkHex-v0."""
    found = {}
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        match = re.fullmatch(r"(\w+)_v(\d+)", module.name)
        if match:
            found[match[1]] = "".join(word.capitalize() for word in match[1].split("_")) + f"-v{match[2]}"
    return found


NAMES = _environment_names()


def environment_id(game: str) -> str:
    """``darkgames/DarkHex-v0`` for ``dark_hex``."""
    return f"{NAMESPACE}/{NAMES[game]}"


def register_environments() -> None:
    """Enter every game into the registries of the libraries that are installed; again is no harm."""
    try:
        import gymnasium
    except ImportError:
        pass
    else:
        for game in NAMES:
            if environment_id(game) not in gymnasium.registry:
                gymnasium.register(
                    environment_id(game), entry_point="envs.gymnasium_env:SingleAgentEnv", kwargs={"game": game}
                )
    try:
        from pettingzoo import aec_registry, parallel_registry, register
    except ImportError:  # not installed, or a version without a registry
        return
    for game, name in NAMES.items():
        module = f"envs.{game}_v{name.rpartition('-v')[2]}"
        if environment_id(game) not in aec_registry:
            register("aec", environment_id(game), f"{module}:env")
        if environment_id(game) not in parallel_registry:
            register("parallel", environment_id(game), f"{module}:parallel_env")
