"""Renju for three: exactly four in a row wins, and so does deciding which of the others would. PettingZoo façade.

Agents        ``player_0`` (Blue, moves first), ``player_1`` (Red), ``player_2`` (Green)
Parameters    ``rows=19``, ``cols=rows``, ``win_len=4``; ``antonov="exact"``, ``"literal"`` or ``"off"``;
              ``own_four="play"`` or ``"auto"``; ``payoff="zero_sum"``, ``"winner_only"`` or ``"share"``;
              ``allow_pass=True``, ``threat_planes=False``
Options       ``observation="information_state"`` or ``"view"`` (the same here), ``render_mode``,
              ``render_omniscient``
Actions       ``Discrete(rows * cols + 1)``: a stone on cell ``row * cols + col``, then pass (not with
              ``allow_pass=False``)
Action mask   1 on every empty cell and on pass
Observation   stones of the observer, of the next player, of the next but one; empty cells, passes in a row, whose
              turn, seat; ``env().game.observation_layout()`` says where
Rewards       +1 for the winner, -1/2 for the others, 0 for a draw (``payoff="zero_sum"``); an illegal action: -1
              for the offender, 0 for the others

    from envs import renju3_v0

    env = renju3_v0.env(rows=9)
"""

from envs.pettingzoo_env import facade

__all__ = ["env", "parallel_env", "raw_env"]

env, raw_env, parallel_env = facade("renju3", version=0)
