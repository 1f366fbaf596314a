"""Policies on merged nodes: the same distribution at all information states that differ in the order of collisions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cfr.errors import PolicyMismatchError, StoredFileError
from cfr.policy import tokens_of
from cfr.storage import load_arrays, save_arrays, with_suffix

KIND, FORMAT = "merged_policy", 1


class MergedPolicy:
    """``behaviours``: float64[sequences] per player, in the order of the form's nodes. ``form``: the nodes; built from
    the game when first needed, which takes seconds on 3x3."""

    complete = True
    key_kind = "tokens"

    def __init__(self, spec: str, behaviours: Sequence[np.ndarray], form: Any) -> None:
        self.spec, self.form = spec, form
        self.behaviours = tuple(np.array(values) for values in behaviours)
        self.num_actions = form.game.num_distinct_actions()

    def knows(self, key: bytes, player: int) -> bool:
        """Whether ``player`` decides at this key."""
        try:
            self.form.find(player, np.frombuffer(key, dtype=np.int32))
        except KeyError:
            return False
        return True

    def probabilities(self, state: Any, player: int | None = None) -> np.ndarray:
        """float64[num_actions]: probability of each action of ``player`` (None: whoever is to move) in a state of the
        game, or, with ``player``, at a key (the bytes of his tokens). KeyError when no game reaches it."""
        player, tokens = tokens_of(state, player, self.spec)
        actions, sequences = self.form.find(player, tokens)
        out = np.zeros(self.num_actions)
        out[actions] = self.behaviours[player][sequences]
        return out

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """``{action: probability}`` of the legal actions, the call of OpenSpiel's Python policies."""
        values = self.probabilities(state, player_id)
        return {action: float(values[action]) for action in state.legal_actions()}

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write to ``path`` (.npz with a JSON header); the previous file survives a failure."""
        arrays = {f"behaviour_{player}": values for player, values in enumerate(self.behaviours)}
        return save_arrays(path, KIND, FORMAT, {"game": self.spec}, arrays, compress=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str], form: Any) -> MergedPolicy:
        """Read a policy of the form's game; StoredFileError or PolicyMismatchError, naming the file."""
        header, arrays = load_arrays(path, KIND, FORMAT)
        if header.get("game") != form.spec:
            raise PolicyMismatchError(
                f"{with_suffix(path)}: this is a policy for {header.get('game')}, wanted is {form.spec}"
            )
        behaviours = []
        for player in range(form.num_players):
            values = arrays.get(f"behaviour_{player}")
            if values is None or values.shape != (int(form.first_sequence(player)[-1]),):
                raise StoredFileError(f"{with_suffix(path)}: damaged policy, the part of player {player} does not fit")
            behaviours.append(values)
        return cls(form.spec, behaviours, form)
