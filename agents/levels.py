"""The computer opponent at its levels. Deterministic: budgets in positions, ties by the number of the move.

What each level does, and how often it beats the others: ``docs/computer_opponent.md``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.agent import Agent, Observation, position_of
from agents.alpha_beta import AlphaBetaAgent
from agents.docking_heuristics import docking_heuristics
from agents.hex_heuristics import conductance, hex_heuristics
from agents.hex_solver import MAX_CELLS, HexSolver
from agents.renju_player import RenjuPlayer
from agents.tac_tix_heuristics import tac_tix_heuristics
from envs.core import Game, State
from envs.games.hex import swap_available
from envs.games.hex_board import BLUE, BOARD, PLY, RED

__all__ = ["LEVELS", "HexOpponent", "computer_opponent", "levels_of"]

LEVELS = ("easy", "medium", "hard")

# Settings of the searches, see `agents.alpha_beta.search`.
_HEX: dict[str, dict[str, Any]] = {
    "easy": {"depth": 1, "nodes": 10_000},
    "medium": {"depth": 2, "nodes": 10_000, "width": 15},
    "hard": {"depth": 6, "nodes": 30_000, "width": 8},
}
_HARD_SOLVER_NODES = 4000
_DOCKING: dict[str, dict[str, Any]] = {
    "easy": {"depth": 1, "nodes": 10_000},
    "medium": {"depth": 2, "nodes": 20_000},
    "hard": {"depth": 3, "nodes": 100_000},
}
_TAC_TIX: dict[str, dict[str, Any]] = {
    "easy": {"depth": 2, "nodes": 10_000},
    "medium": {"depth": 4, "nodes": 50_000},
    "hard": {"nodes": 1_000_000, "slots": 1 << 18},
}
_RENJU: dict[str, dict[str, Any]] = {"easy": {"careful": False}, "medium": {"careful": True}}
_GAMES = {"hex": _HEX, "docking": _DOCKING, "tac_tix": _TAC_TIX, "renju3": _RENJU}


def levels_of(game: Game) -> tuple[str, ...]:
    """The levels at which the computer plays a game; () for games that it does not play."""
    return tuple(_GAMES.get(game.name, ()))


def computer_opponent(level: str, game: Game) -> Agent:
    """The computer at a level, for one game; ValueError names the levels or the games that there are."""
    known = levels_of(game)
    if not known:
        raise ValueError(f"{game.spec()}: no computer opponent plays this game; it plays {', '.join(_GAMES)}")
    if level not in known:
        raise ValueError(f"level {level!r}: {game.name} is played at the levels {', '.join(known)}")
    settings = _GAMES[game.name][level]
    if game.name == "hex":
        return HexOpponent(game, level)
    if game.name == "docking":
        return AlphaBetaAgent(game, docking_heuristics(), name=level, **settings)
    if game.name == "tac_tix":
        return AlphaBetaAgent(game, tac_tix_heuristics(), name=level, **settings)
    return RenjuPlayer(game, name=level, **settings)


class HexOpponent:
    """Hex at a level: the rule of the swap, the first stone, a solver near the end (hard), a search otherwise.

    Blue swaps exactly when the first red stone is not on the border. Red's first stone, when it may be swapped, is
    the one after which the circuits of both colours are most nearly equal.
    """

    parts = frozenset({"state"})

    def __init__(self, game: Game, level: str) -> None:
        if game.name != "hex" or level not in _HEX:
            raise ValueError(f"{game.spec()} at level {level!r}: this opponent plays hex at {', '.join(_HEX)}")
        self.game, self.name = game, level
        parameters = game.explicit_parameters()
        self.rows, self.cols = parameters["rows"], parameters["cols"]
        self.cells = self.rows * self.cols
        heuristics = hex_heuristics(game)
        self._search = AlphaBetaAgent(game, heuristics, name=level, **_HEX[level])
        self._scratch = np.zeros(heuristics.scratch_size, dtype=np.float64)
        solvable = not parameters["rex"] and self.cells <= MAX_CELLS
        self._solver = HexSolver(game, slots=1 << 16) if level == "hard" and solvable else None

    def reset(self, seed: int) -> None:
        """Nothing is random, nothing is remembered."""

    def act(self, observation: Observation) -> int:
        state = position_of(observation, self.game, self.name)
        cells = self.cells
        if swap_available(self.game.params, state.row):
            stone = int(np.flatnonzero(state.row[BOARD : BOARD + cells])[0])
            if not self._on_border(stone):
                return cells
            state = state.clone()  # the swap is declined: what follows is decided without it
            state.row[PLY] = 2
        elif self.game.num_distinct_actions() > cells and not state.row[BOARD : BOARD + cells].any():
            return self._balanced_opening(state)
        if self._solver is not None:
            self._solver.forget()
            found = self._solver.solve(state, _HARD_SOLVER_NODES)
            if found is not None and found.move is not None and found.move < cells:
                return found.move
        return self._search.choose(state)

    def _on_border(self, cell: int) -> bool:
        r, c = divmod(cell, self.cols)
        return r in (0, self.rows - 1) or c in (0, self.cols - 1)

    def _balanced_opening(self, state: State) -> int:
        best, best_gap = 0, np.inf
        for cell in range(self.cells):
            child = state.child(cell)
            if child.is_terminal():
                return cell
            red = conductance(self.game.params, child.row, RED, self._scratch)
            blue = conductance(self.game.params, child.row, BLUE, self._scratch)
            gap = abs(np.log(red / blue))
            if gap < best_gap - 1e-9:  # cells that are images of each other tie; rounding must not decide
                best, best_gap = cell, gap
        return best
