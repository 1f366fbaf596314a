"""Dark Hex: Hex in which each player sees only his own stones and those he has run into. PettingZoo façade.

Agents        ``player_0`` (Red, joins top and bottom, moves first), ``player_1`` (Blue, joins left and right)
Parameters    ``rows=3``, ``cols=rows`` (1 to 19 each); ``version="classical"`` or ``"abrupt"``;
              ``info="announce"``, ``"numturns"`` or ``"silent"``
Options       ``observation="information_state"`` or ``"view"``, ``render_mode``, ``render_omniscient``
Actions       ``Discrete(rows * cols)``: a stone on cell ``row * cols + col``
Action mask   1 on every cell that the player does not know to be occupied: a hidden stone may be run into
Observation   own stones, known enemy stones, when each was learnt, seat, what was announced;
              ``env().game.observation_layout()`` says where
Rewards       +1 / -1 at the end, no draws; an illegal action: -1 for the offender, 0 for the other
Turns         after a collision the same agent moves again (classical) or the turn ends (abrupt): agents need
              not alternate

Hidden is what is hidden at a player's decisions: in the classical silent game somebody who looks on step by step
(the parallel face, or polling ``agent_selection``) can count the opponent's collisions.

    from envs import dark_hex_v0

    env = dark_hex_v0.env(rows=3, version="abrupt", info="silent")
"""

from envs.pettingzoo_env import facade

__all__ = ["env", "parallel_env", "raw_env"]

env, raw_env, parallel_env = facade("dark_hex", version=0)
