"""Docking: whoever first joins all own ships orthogonally wins. PettingZoo façade.

Agents        ``player_0`` (moves first: White, unless ``first="B"``), ``player_1``
Parameters    ``rows=8``, ``cols=rows``, ``layout="edges"``, ``first="W"``, ``crash="enemy_edge"``, ``repetition=3``,
              ``max_plies=200`` and more, see ``docs/games/docking.md``
Options       ``observation="information_state"`` or ``"view"`` (the same here), ``render_mode``,
              ``render_omniscient``
Actions       ``Discrete(rows * cols * 8 + 1)``: ``cell * 8 + direction`` (N, NE, E, SE, S, SW, W, NW), then pass;
              more of them where the mover or the owner of a displaced ship has a choice
Action mask   1 on every legal move; on pass only when there is no other
Observation   own ships, enemy ships, seat, on turn, last action a pass, repetitions, plies;
              ``env().game.observation_layout()`` says where
Rewards       +1 / -1 at the end, 0 for a draw; an illegal action: -1 for the offender, 0 for the other

    from envs import docking_v0

    env = docking_v0.env(layout="draughts")
"""

from envs.pettingzoo_env import facade

__all__ = ["env", "parallel_env", "raw_env"]

env, raw_env, parallel_env = facade("docking", version=0)
