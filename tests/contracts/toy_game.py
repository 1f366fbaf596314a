"""A three-player game with hidden choices and players who drop out, to hold the faces to what later games need.

In turn each player takes a number 0..3 that he has not taken yet, in secret; 3 means that he leaves and is skipped
from then on. The game ends after ``plies`` actions or when one player is left. A player's return is a fifth of what
he has taken (a leave counts 0), less the mean of all.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from envs.core import Game, Parameters, State, parameter
from envs.kernels import (
    APPLY,
    CURRENT_PLAYER,
    INFORMATION_SPAN,
    LEGAL,
    OBSERVE,
    RESET,
    RETURNS,
    TERMINAL,
    Kernels,
    kernel,
)

PLAYERS, ACTIONS = 3, 4
LEAVE = ACTIONS - 1
MOVER, PLY, OUT, LENGTH, LOG = 0, 1, 2, 5, 8  # OUT and LENGTH: one integer a player; LOG: ACTIONS a player


@kernel(RESET)
def reset(params, row):
    for i in range(row.size):
        row[i] = 0


@kernel(CURRENT_PLAYER)
def current_player(params, row):
    over = row[PLY] == params[0] or row[OUT] + row[OUT + 1] + row[OUT + 2] >= PLAYERS - 1
    return TERMINAL if over else row[MOVER]


@kernel(LEGAL)
def legal(params, row, mask):
    running = current_player(params, row) >= 0
    player = row[MOVER]
    count = 0
    for action in range(ACTIONS):
        mask[action] = running
        for i in range(row[LENGTH + player]):
            if row[LOG + ACTIONS * player + i] == action:
                mask[action] = False
        count += mask[action]
    return count


@kernel(APPLY)
def apply(params, row, action):
    player = row[MOVER]
    row[LOG + ACTIONS * player + row[LENGTH + player]] = action
    row[LENGTH + player] += 1
    row[PLY] += 1
    if action == LEAVE:
        row[OUT + player] = 1
    for _ in range(PLAYERS):
        player = (player + 1) % PLAYERS
        if not row[OUT + player]:
            break
    row[MOVER] = player


@kernel(RETURNS)
def returns(params, row, out):
    total = 0.0
    for player in range(PLAYERS):
        out[player] = 0.0
        if current_player(params, row) < 0:
            for i in range(row[LENGTH + player]):
                taken = row[LOG + ACTIONS * player + i]
                if taken != LEAVE:
                    out[player] += taken / 5.0
        total += out[player]
    for player in range(PLAYERS):
        out[player] -= total / PLAYERS


@kernel(INFORMATION_SPAN)
def information_span(params, row, player):
    start = LOG + ACTIONS * player
    return start, start + np.int64(row[LENGTH + player])


@kernel(OBSERVE)
def observe(params, row, player, view, out):
    for i in range(out.size):
        out[i] = 0.0
    out[player] = 1.0
    start, stop = information_span(params, row, player)
    for i in range(start, stop):
        out[PLAYERS + row[i]] = 1.0 if view else i - start + 1.0


@dataclasses.dataclass(frozen=True)
class ToyParameters(Parameters):
    plies: int = parameter(7, low=1, high=12, help="actions in a game")


class ToyGame(Game):
    name = "toy"
    parameters_class = ToyParameters
    kernels = Kernels(reset, current_player, legal, apply, returns, observe, information_span)
    num_players = PLAYERS
    perfect_information = False

    def __init__(self, parameters: ToyParameters) -> None:
        super().__init__(parameters)
        self.params = np.array([parameters.plies], dtype=np.int32)
        self.row_size = LOG + PLAYERS * ACTIONS
        self.num_tokens = ACTIONS
        self.max_information_length = ACTIONS

    def __reduce__(self) -> Any:
        return ToyGame, (self.parameters,)

    def num_distinct_actions(self) -> int:
        return ACTIONS

    def max_game_length(self) -> int:
        return int(self.params[0])

    def observation_layout(self, view: bool = False) -> tuple[tuple[str, int, int], ...]:
        return ("seat", 0, PLAYERS), ("taken", PLAYERS, PLAYERS + ACTIONS)

    def action_to_string(self, player: int, action: int) -> str:
        return str(action)

    def string_to_action(self, text: str, player: int | None = None) -> int:
        return int(text)

    def information_string(self, player: int, tokens: np.ndarray) -> str:
        return f"P{player} {tokens.tolist()}"

    def state_to_string(self, state: State, player: int | None) -> str:
        return "\n".join(
            self.information_string(p, state.information_tokens(p)) for p in range(PLAYERS) if player in (None, p)
        )

    def picture(self, state: State, player: int | None = None) -> Any:
        from envs.render import BoardPicture

        shown = set().union(*(state.information_tokens(p).tolist() for p in range(PLAYERS) if player in (None, p)))
        return BoardPicture(rows=1, cols=ACTIONS, owners=tuple(0 if a in shown else -1 for a in range(ACTIONS)))

    def reason(self, state: State) -> str | None:
        return "plies" if state.row[PLY] == self.params[0] else "left"

    def witness(self, state: State) -> tuple[int, ...]:
        return ()
