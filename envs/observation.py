"""What an agent is handed: one player's own information, without a way back to the position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from envs.core import State

PARTS = frozenset(("information_state", "view", "key", "text", "state"))


@dataclass(frozen=True, slots=True)
class Observation:
    """One player's information at one of his decisions. Parts that his agent does not ask for are None.

    Attributes:
        player: his seat.
        mask: bool [A], true for legal actions.
        information_state: float32 [D], all that he has learnt and when.
        view: float32 [D'], what he knows now.
        key: the tokens of his information state as bytes.
        text: his view of the board, for people.
        state: a copy of the whole position; only games of perfect information give it.
    """

    player: int
    mask: np.ndarray
    information_state: np.ndarray | None = None
    view: np.ndarray | None = None
    key: bytes | None = None
    text: str | None = None
    state: State | None = None


def observe(state: State, parts: frozenset[str] = frozenset()) -> Observation:
    """The observation of the player to move, with the optional ``parts`` by name; ValueError names them."""
    player = state.current_player()
    if parts - PARTS:
        raise ValueError(
            f"an observation has no part {sorted(parts - PARTS)}; parts are {', '.join(sorted(PARTS))}"
        )
    if "state" in parts and not state.game.perfect_information:
        raise ValueError(
            f"{state.game.spec()} hides things from its players: an observation has no part 'state' there; "
            "use an agent that plays on its own information"
        )
    return Observation(
        player=player,
        mask=state.legal_actions_mask(player),
        information_state=state.information_state_tensor(player) if "information_state" in parts else None,
        view=state.observation_tensor(player) if "view" in parts else None,
        key=state.information_tokens(player).tobytes() if "key" in parts else None,
        text=state.to_string(player) if "text" in parts else None,
        state=state.clone() if "state" in parts else None,
    )
