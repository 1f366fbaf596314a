"""What an agent is handed: one player's own information, without a way back to what is hidden from him."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from envs.core import State

PARTS = ("information_state", "view", "key", "text", "state")


@dataclass(frozen=True, slots=True)
class Observation:
    """One player's information at one of his decisions. Parts that his agent does not ask for are None.

    Attributes:
        player: his seat.
        mask: bool [A], true for legal actions.
        information_state: float32 [D], all that he has learnt and when.
        view: float32 [D'], what he knows now.
        key: the tokens of his information state as bytes, which is how `cfr` policies know it.
        text: his view of the board, for people.
        state: the position (a copy, to search from), only in games that hide nothing from anybody.
    """

    player: int
    mask: np.ndarray
    information_state: np.ndarray | None = None
    view: np.ndarray | None = None
    key: bytes | None = None
    text: str | None = None
    state: State | None = None


def observe(state: State, parts: frozenset[str] = frozenset()) -> Observation:
    """The observation of the player to move, with the optional ``parts`` by name.

    Raises ValueError for an unknown part, and for ``state`` in a game with hidden information.
    """
    player = state.current_player()
    unknown = parts.difference(PARTS)
    if unknown:
        raise ValueError(f"an observation has no part {sorted(unknown)}; parts are {', '.join(PARTS)}")
    if "state" in parts and not state.game.perfect_information:
        raise ValueError(
            f"{state.game.spec()} hides a part of the position from its players: an observation holds no state; "
            "use an agent that needs only its own information (for search: ismcts)"
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
