"""What a player hears of the opponent's actions (``info`` of a game): its tokens, and what they say.

``announce`` tells a placement (token ``2 * cells``) from a collision (``2 * cells + 1``); ``numturns`` says
``2 * cells`` for either. In the classical version both come to the number of collisions in each of the opponent's
turns, in the abrupt one ``numturns`` says nothing new.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np


def announced_tokens(game: Any) -> tuple[int, int]:
    """The tokens that announce the opponent's (placement, collision)."""
    return 2 * game.cells, 2 * game.cells + (game.info == "announce")


def heard_counts(game: Any, player: int, tokens: np.ndarray) -> tuple[np.ndarray, list[int]] | None:
    """Of a player's tokens at a decision of a classical game: those of his own actions int32[k], and the number of
    collisions in each of the opponent's turns so far. None when they are not those of a decision."""
    placed, collided = announced_tokens(game)
    own: list[int] = []
    counts: list[int] = []
    due = player == 1  # whether the opponent's turn comes next
    for heard, group in groupby(tokens.tolist(), lambda token: token >= placed):
        run = list(group)
        if heard:
            if not due or run != [collided] * (len(run) - 1) + [placed]:
                return None
            counts.append(len(run) - 1)
            due = False
        else:
            for token in run:
                if due:
                    return None
                due = token & 1 == 0
            own += run
    return None if due else (np.array(own, dtype=np.int32), counts)


def heard_turns(game: Any, player: int, tokens: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]] | None:
    """Of a player's tokens at a decision of an abrupt game: those of his own actions int32[k], and which of the
    opponent's actions were collisions (1) when this is announced. None when they are not those of a decision."""
    if game.info == "silent":
        return tokens, ()
    placed, collided = announced_tokens(game)
    own, heard = tokens[player::2], tokens[1 - player :: 2]
    if heard.size != own.size + player or (own >= placed).any() or not np.isin(heard, [placed, collided]).all():
        return None
    return own, tuple((heard - placed).tolist()) if game.info == "announce" else ()


def with_heard(game: Any, player: int, own: np.ndarray, heard: Sequence[int]) -> np.ndarray:
    """int32[B, length]: the player's tokens. ``own`` int32[B, turns], ``heard``: as from ``heard_turns``."""
    if game.info == "silent":
        return own
    turns = own.shape[1]
    result = np.full((own.shape[0], 2 * turns + player), announced_tokens(game)[0], dtype=np.int32)
    result[:, player::2] = own
    if game.info == "announce":
        result[:, 1 - player :: 2] += np.array(heard, dtype=np.int32)
    return result
