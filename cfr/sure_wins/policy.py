"""The strategy of a sure win: one cell to probe for each set of own and found stones that it can lead to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from cfr.errors import PolicyMismatchError, StoredFileError
from cfr.policy import tokens_of
from cfr.storage import load_arrays, save_arrays, with_suffix
from cfr.sure_wins.search import Search, stones_of
from cfr.tree import Tree, game_from_spec
from envs.core import Game

KIND, FORMAT = "sure_win_policy", 1


class SureWinPolicy:
    """Wins every game for ``player``; the other player, and positions it never leads to, are played uniformly.

    ``own``, ``known`` int64[n]: bit masks of the player's stones and of the enemy stones he has found;
    ``action`` int64[n]: the cell he probes then.
    """

    complete = False
    key_kind = "tokens"

    def __init__(self, game: Game, player: int, own: np.ndarray, known: np.ndarray, action: np.ndarray) -> None:
        self.game, self.spec, self.player = game, game.spec(), player
        self.num_actions = game.num_distinct_actions()
        self.own, self.known, self.action = own, known, action
        self._actions = dict(zip(zip(own.tolist(), known.tolist(), strict=True), action.tolist(), strict=True))

    @classmethod
    def from_search(cls, search: Search) -> SureWinPolicy:
        """The strategy from the beginning of the game; ValueError when there is none."""
        chosen: dict[tuple[int, int], int] = {}
        todo = [(0, 0)]
        while todo:
            position = todo.pop()
            if position in chosen:
                continue
            cell = search.probe(*position)
            if cell is None:
                raise ValueError(f"player {search.player} cannot force a win in {search.game.spec()}")
            chosen[position] = cell
            todo += search.after(*position, cell)
        ordered = sorted(chosen, key=lambda position: ((position[0] | position[1]).bit_count(), position))
        own, known = np.array(ordered, dtype=np.int64).T.copy()
        action = np.array([chosen[position] for position in ordered], dtype=np.int64)
        return cls(search.game, search.player, own, known, action)

    def __len__(self) -> int:
        """Number of positions in which the strategy says what to do."""
        return self.action.size

    # -- asked by players -----------------------------------------------------------------------------------
    def action_at(self, own: Iterable[int], known: Iterable[int]) -> int:
        """The cell to probe with these own stones and these found enemy stones (cell numbers).

        KeyError when the strategy never leads there.
        """
        own, known = tuple(own), tuple(known)
        try:
            return self._actions[sum(1 << cell for cell in own), sum(1 << cell for cell in known)]
        except KeyError:
            raise KeyError(f"the strategy never leads to own stones {own}, found stones {known}") from None

    def knows(self, key: bytes, player: int) -> bool:
        """Whether the strategy leads ``player`` to this key (the bytes of his tokens)."""
        return player == self.player and self._position(np.frombuffer(key, dtype=np.int32)) in self._actions

    def probabilities(self, state: Any, player: int | None = None) -> np.ndarray:
        """float64[num_actions]: probability of each action of ``player`` (None: whoever is to move) in a state of the
        game, or, with ``player``, at a key (the bytes of his tokens)."""
        player, tokens = tokens_of(state, player, self.spec)
        own, known = self._position(tokens)
        free = [cell for cell in range(self.num_actions) if not (own | known) >> cell & 1]
        return self._row(player, (own, known), free)

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """``{action: probability}`` of the legal actions, the call of OpenSpiel's Python policies."""
        values = self.probabilities(state, player_id)
        return {action: float(values[action]) for action in state.legal_actions()}

    def _position(self, tokens: np.ndarray) -> tuple[int, int]:
        return stones_of(tokens, self.num_actions)

    def _row(self, player: int, position: tuple[int, int], legal: Any) -> np.ndarray:
        action = self._actions.get(position) if player == self.player else None
        row = np.zeros(self.num_actions)
        if action is None:
            row[legal] = 1.0 / len(legal)
        else:
            row[action] = 1.0
        return row

    # -- evaluation -----------------------------------------------------------------------------------------
    def behaviour(self, tree: Tree) -> list[np.ndarray]:
        """A probability per sequence of ``tree``, as ``TabularPolicy.behaviour`` gives: for ``cfr.evaluate``."""
        if self.spec != tree.spec:
            raise PolicyMismatchError(f"this is a policy for {self.spec}, the tree is of {tree.spec}")
        found = []
        for player, plex in enumerate(tree.treeplexes):
            values = np.ones(plex.num_sequences)
            for infoset in range(plex.num_infosets):
                here = slice(plex.first_sequence[infoset], plex.first_sequence[infoset + 1])
                position = self._position(np.frombuffer(plex.keys[infoset], dtype=np.int32))
                legal = plex.actions[here]
                values[here] = self._row(player, position, legal)[legal]
            found.append(values)
        return found

    def distribution(self, player: int, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """float64[n, num_actions] from views float32[n, D] (``observation_tensor``) and legal actions bool[n,
        num_actions]: for the exact engine."""
        cells = self.num_actions
        bits = np.left_shift(1, np.arange(cells, dtype=np.int64))
        stones = np.stack([(views[:, :cells] > 0) @ bits, (views[:, cells : 2 * cells] > 0) @ bits], axis=1)
        positions, which = np.unique(stones, axis=0, return_inverse=True)
        example = np.empty(len(positions), dtype=np.int64)
        example[which.ravel()] = np.arange(len(stones))  # what is legal follows from the position
        rows = [
            self._row(player, (own, known), np.flatnonzero(masks[i]))
            for (own, known), i in zip(positions.tolist(), example.tolist(), strict=True)
        ]
        return np.array(rows).reshape(-1, cells)[which.ravel()]

    # -- files ----------------------------------------------------------------------------------------------
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write to ``path`` (.npz with a JSON header); the previous file survives a failure."""
        arrays = {"own": self.own, "known": self.known, "action": self.action}
        return save_arrays(path, KIND, FORMAT, {"game": self.spec, "player": self.player}, arrays, compress=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SureWinPolicy:
        """Read a policy; StoredFileError, naming the file, when it is damaged or no such policy."""
        header, arrays = load_arrays(path, KIND, FORMAT)
        try:
            own, known, action = (arrays[name] for name in ("own", "known", "action"))
            policy = cls(game_from_spec(header["game"]), header["player"], own, known, action)
        except (KeyError, TypeError, ValueError) as error:
            raise StoredFileError(f"{with_suffix(path)}: damaged policy ({error})") from error
        free = ~(own | known) >> action & 1
        if header["player"] not in (0, 1) or not (own & known == 0).all() or not free.all():
            raise StoredFileError(f"{with_suffix(path)}: damaged policy, its moves do not fit its positions")
        return policy
