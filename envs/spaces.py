"""Observation spaces and options that the Gymnasium-style faces share."""

from __future__ import annotations

import gymnasium
import numpy as np

from envs.core import Game

OBSERVATIONS = ("information_state", "view")  # the position is the observe kernel's ``view`` argument


def vector_space(game: Game, size: int) -> gymnasium.spaces.Box:
    """float32[size] whose entries are indicators, shares and counts of actions: 0 to the longest game's length."""
    return gymnasium.spaces.Box(0.0, float(max(1, game.max_game_length())), (size,), np.float32)


def observation_space(game: Game, view: bool) -> gymnasium.spaces.Dict:
    """``{"observation": float32[observation_size(view)], "action_mask": int8[num_distinct_actions]}``."""
    return gymnasium.spaces.Dict(
        {
            "observation": vector_space(game, game.observation_size(view)),
            "action_mask": gymnasium.spaces.Box(0, 1, (game.num_distinct_actions(),), np.int8),
        }
    )


def observation_kind(observation: str) -> bool:
    """The ``view`` flag that an ``observation=`` option stands for; ValueError names the choices."""
    if observation not in OBSERVATIONS:
        raise ValueError(f"observation={observation!r} is not allowed; choose one of {', '.join(OBSERVATIONS)}")
    return observation == "view"


def render_mode_checked(render_mode: str | None, allowed: tuple[str, ...]) -> str | None:
    """The render mode itself; ValueError names the choices."""
    if render_mode is not None and render_mode not in allowed:
        raise ValueError(f"render_mode={render_mode!r} is not allowed; choose {', '.join(allowed)} or None")
    return render_mode
