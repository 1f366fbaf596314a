"""Phantom tic-tac-toe: each player sees only his own marks and those he has run into. PettingZoo façade.

Agents        ``player_0`` (X, moves first), ``player_1`` (O)
Parameters    ``rows=3``, ``cols=rows`` (1 to 19 each), ``line=3`` (the longer side where that is less);
              ``version="classical"`` or ``"abrupt"``; ``info="announce"``, ``"numturns"`` or ``"silent"``
Options       ``observation="information_state"`` or ``"view"``, ``render_mode``, ``render_omniscient``
Actions       ``Discrete(rows * cols)``: a mark on cell ``row * cols + col``
Action mask   1 on every cell that the player does not know to be occupied: a hidden mark may be run into
Observation   own marks, known enemy marks, when each was learnt, seat, what was announced;
              ``env().game.observation_layout()`` says where
Rewards       +1 / -1 at the end, 0 / 0 after a draw; an illegal action: -1 for the offender, 0 for the other
Turns         after a collision the same agent moves again (classical) or the turn ends (abrupt): agents need
              not alternate

Hidden is what is hidden at a player's decisions: in the classical silent game somebody who looks on step by step
(the parallel face, or polling ``agent_selection``) can count the opponent's collisions.

    from envs import phantom_ttt_v0

    env = phantom_ttt_v0.env(version="abrupt", info="silent")
"""

from envs.pettingzoo_env import facade

__all__ = ["env", "parallel_env", "raw_env"]

env, raw_env, parallel_env = facade("phantom_ttt", version=0)
