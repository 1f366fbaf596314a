"""Names of the environments in Gymnasium's and PettingZoo's registries: ``darkgames/DarkHex-v0``.

``import envs`` registers them. Gymnasium can do that import itself: ``gymnasium.make("envs:darkgames/DarkHex-v0")``.
The version changes when an environment's behaviour does.
"""

from __future__ import annotations

NAMESPACE = "darkgames"
NAMES = {"dark_hex": "DarkHex-v0", "hex": "Hex-v0"}  # game -> name of its environments


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
