"""Games with hidden information and their faces: ``envs.make``, ``envs.dark_hex_v0``, ``gymnasium.make``."""

from envs.core import Game, IllegalActionError, State, game_names, make
from envs.registration import register_environments

__all__ = ["Game", "IllegalActionError", "State", "game_names", "make"]
__version__ = "0.1.0"

register_environments()
