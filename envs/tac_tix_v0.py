"""Tac-Tix: take a run of counters from one row or column. PettingZoo façade.

Agents        ``player_0`` (moves first), ``player_1``
Parameters    ``rows=4``, ``cols=rows`` (at most 62 cells); ``convention="misere"`` (who takes the last counter
              loses) or ``"normal"``; ``initial="full"`` or rows of ``O`` and ``.`` separated by ``/``
Options       ``observation="information_state"`` or ``"view"`` (the same here), ``render_mode``,
              ``render_omniscient``
Actions       ``Discrete(rows * cols * (rows + cols) / 2)``: the horizontal runs row by row, then the vertical runs
              of two and more column by column
Action mask   1 on every run whose counters are all there
Observation   counters, seat, on turn; ``env().game.observation_layout()`` says where
Rewards       +1 / -1 at the end, no draws; an illegal action: -1 for the offender, 0 for the other

    from envs import tac_tix_v0

    env = tac_tix_v0.env(rows=5, convention="normal")
"""

from envs.pettingzoo_env import facade

__all__ = ["env", "parallel_env", "raw_env"]

env, raw_env, parallel_env = facade("tac_tix", version=0)
