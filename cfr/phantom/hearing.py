"""What a player hears of the opponent's actions (``info`` of a game): its tokens, and what they say.

``announce`` tells a placement (token ``2 * cells``) from a collision (``2 * cells + 1``); ``numturns`` says
``2 * cells`` for either. In the classical version both come to the number of collisions in each of the opponent's
turns, in the abrupt one ``numturns`` says nothing new.
"""

from __future__ import annotations

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
