"""What alpha-beta search should know of Tac-Tix: positions are sets of counters, long runs are tried first."""

from __future__ import annotations

from agents.alpha_beta import POSITION, PRIORITISE, Heuristics, no_evaluation
from envs.games.tac_tix import ACTIONS, HIGH, LOW, RUNS
from envs.kernels import helper, kernel

__all__ = ["tac_tix_heuristics"]


@helper
def _count(mask):
    found = 0
    while mask:
        mask &= mask - 1
        found += 1
    return found


@kernel(PRIORITISE, allocates=False)
def prioritise(params, row, scratch, out):
    """The number of counters that a move takes."""
    for action in range(out.size):
        out[action] = _count(params[RUNS + action]) + _count(params[RUNS + params[ACTIONS] + action])


@kernel(POSITION, allocates=False)
def position(table, params, row, out):
    """The counters alone: the game is impartial."""
    out[0], out[1] = row[LOW], row[HIGH]
    return 2


def tac_tix_heuristics() -> Heuristics:
    """For any board and both conventions."""
    return Heuristics(no_evaluation, prioritise, position, 2)
