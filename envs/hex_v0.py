"""Hex, with the swap rule and Rex (misère). PettingZoo façade.

Agents        ``player_0`` (Red, joins top and bottom, moves first), ``player_1`` (Blue, joins left and right)
Parameters    ``rows=11``, ``cols=rows`` (1 to 64 each); ``swap="pieces"``, ``"sides"`` or ``"off"`` (unset: pieces
              on square boards, else off); ``rex=False``; ``chain="shortest"`` or ``"component"``
Options       ``observation="information_state"`` or ``"view"`` (the same here), ``render_mode``,
              ``render_omniscient``
Actions       ``Discrete``: a stone on cell ``row * cols + col``; one more, ``rows * cols``, swaps (unless
              ``swap="off"``)
Action mask   1 on every empty cell, and on the swap while it is offered
Observation   own stones, other stones, seat, colour, on turn, swap available;
              ``env().game.observation_layout()`` says where
Rewards       +1 / -1 at the end, no draws; an illegal action: -1 for the offender, 0 for the other

    from envs import hex_v0

    env = hex_v0.env(rows=7, swap="off")
"""

from envs.pettingzoo_env import facade

__all__ = ["env", "parallel_env", "raw_env"]

env, raw_env, parallel_env = facade("hex", version=0)
