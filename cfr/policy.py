"""Tabular policies: a distribution over actions for every information set of every player."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cfr.errors import PolicyMismatchError, StoredFileError
from cfr.keys import KeyTable
from cfr.storage import load_arrays, save_arrays, with_suffix
from cfr.tree import Tree, game_spec, information_key
from envs.core import State

KIND, FORMAT = "tabular_policy", 1


@dataclasses.dataclass(frozen=True, eq=False)
class PlayerTable:
    """One player's part: infoset i has key ``keys[i]``, and its legal ``actions`` (int32) and their
    ``probabilities`` (float64) are at ``first[i]:first[i + 1]`` (int64[n + 1], starting at 0)."""

    keys: KeyTable
    first: np.ndarray
    actions: np.ndarray
    probabilities: np.ndarray

    def problem(self, num_actions: int) -> str | None:
        """What is wrong with the arrays, or None."""
        n, m = len(self.keys), self.actions.size
        if self.first.shape != (n + 1,) or self.probabilities.shape != (m,):
            return "the arrays' lengths do not agree"
        if self.first[0] != 0 or self.first[-1] != m or bool((np.diff(self.first) < 1).any()):
            return "the ranges of the information sets are inconsistent"
        if m and not (0 <= self.actions.min() and self.actions.max() < num_actions):
            return f"there are actions outside 0..{num_actions - 1}"
        if not bool((self.probabilities >= 0.0).all()):  # also catches nan
            return "there are negative probabilities, or nan"
        if n:
            sums = np.add.reduceat(self.probabilities, self.first[:-1])
            worst = int(np.abs(sums - 1.0).argmax())
            if abs(sums[worst] - 1.0) > 1e-6:
                return f"the probabilities of information set number {worst} add up to {sums[worst]}, not 1"
        return None


def owner_of(key: bytes, player: int | None, kind: str) -> tuple[int, bytes]:
    """(player, key as in ``PlayerTable.keys``) of such a key with its ``player``, or of what
    ``State.information_state_key()`` gives, which begins with a byte of seat. ValueError where they contradict each
    other or nobody is named."""
    if kind == "tokens" and len(key) % 4 == 1:  # tokens are int32
        if player is not None and player != key[0]:
            raise ValueError(f"the key is of player {key[0]}, not of player {player}")
        return key[0], key[1:]
    if player is None:
        raise ValueError("name the player the key belongs to: probabilities(key, player)")
    return player, key


def mover_of(state: Any, player: int | None) -> int:
    """Who is to move; ValueError if that is nobody, or not ``player`` (None: whoever it is)."""
    mover = state.current_player()
    if mover < 0 or (player is not None and player != mover):
        raise ValueError(f"player {player} does not move here (current player: {mover})")
    return int(mover)


def tokens_of(state: Any, player: int | None, spec: str) -> tuple[int, np.ndarray]:
    """(player, his information tokens int32[n]) at a decision: of a state of the game ``spec``, or of a key as in
    ``owner_of``. PolicyMismatchError for another game's state."""
    if isinstance(state, (bytes, bytearray)):
        player, key = owner_of(bytes(state), player, "tokens")
        return player, np.frombuffer(key, dtype=np.int32)
    if game_spec(state.get_game()) != spec:
        raise PolicyMismatchError(f"this is a policy for {spec}, the state is of {game_spec(state.get_game())}")
    player = mover_of(state, player)
    return player, state.information_tokens(player)


class TabularPolicy:
    """A policy of all players of one game.

    ``spec``: canonical text of the game; ``key_kind``: what identifies an information set (``Tree.key_kind``);
    ``num_actions``; ``tables``: one ``PlayerTable`` a player. A ``complete`` policy covers every information set
    that a game can reach, and another one is an error; else the missing ones are played uniformly.
    """

    def __init__(
        self, spec: str, key_kind: str, num_actions: int, tables: Sequence[PlayerTable], complete: bool = True
    ) -> None:
        for player, table in enumerate(tables):
            problem = table.problem(num_actions)
            if problem is not None:
                raise ValueError(f"policy for {spec}, player {player}: {problem}")
        self.spec = spec
        self.key_kind = key_kind
        self.num_actions = num_actions
        self.tables = tuple(tables)
        self.complete = complete
        self._accepted: Any = None  # the game whose states were checked last

    # -- made from a tree ---------------------------------------------------------------------------------
    @classmethod
    def from_behaviour(cls, tree: Tree, behaviour: Sequence[np.ndarray]) -> TabularPolicy:
        """From a probability per sequence, ``behaviour[p]`` float64[S] (place 0, the empty sequence, unused)."""
        tables = [
            PlayerTable(plex.keys, plex.first_sequence - 1, plex.actions[1:], np.array(values[1:]))
            for plex, values in zip(tree.treeplexes, behaviour, strict=True)
        ]
        return cls(tree.spec, tree.key_kind, tree.num_actions, tables)

    @classmethod
    def uniform(cls, tree: Tree) -> TabularPolicy:
        """Every legal action equally likely."""
        behaviour = []
        for plex in tree.treeplexes:
            counts = np.diff(plex.first_sequence)
            behaviour.append(np.concatenate([[1.0], np.repeat(1.0 / counts, counts)]))
        return cls.from_behaviour(tree, behaviour)

    def behaviour(self, tree: Tree) -> list[np.ndarray]:
        """A probability per sequence of ``tree``, float64[S] a player, place 0 being 1.

        PolicyMismatchError when the policy is for another game or does not fit the tree.
        """
        if (self.spec, self.key_kind) != (tree.spec, tree.key_kind):
            raise PolicyMismatchError(
                f"this is a policy for {self.spec} (keys: {self.key_kind}), the tree is of {tree.spec} "
                f"(keys: {tree.key_kind}); build the tree of the policy's game"
            )
        return [self._aligned(tree, player) for player in range(tree.num_players)]

    def _aligned(self, tree: Tree, player: int) -> np.ndarray:
        table, plex = self.tables[player], tree.treeplexes[player]
        out = np.empty(plex.num_sequences)
        out[0] = 1.0
        if table.keys == plex.keys and np.array_equal(table.actions, plex.actions[1:]):
            out[1:] = table.probabilities
            return out
        where = table.keys.find_all(plex.keys)
        known = where >= 0
        if self.complete and not known.all():
            missing = int(np.flatnonzero(~known)[0])
            raise PolicyMismatchError(
                f"the policy for {self.spec} lacks information set number {missing} of player {player} "
                f"(key {plex.keys[missing]!r}) although it claims to be complete"
            )
        counts = np.diff(plex.first_sequence)
        out[1:] = np.repeat(1.0 / counts, counts)
        known_infosets, sources = np.flatnonzero(known), where[known]
        if not np.array_equal(np.diff(table.first)[sources], counts[known_infosets]):
            raise PolicyMismatchError(f"the policy for {self.spec} has other legal actions than the tree")
        within = np.arange(int(counts[known_infosets].sum()))
        within -= np.repeat(np.cumsum(counts[known_infosets]) - counts[known_infosets], counts[known_infosets])
        target = np.repeat(plex.first_sequence[:-1][known_infosets], counts[known_infosets]) + within
        source = np.repeat(table.first[:-1][sources], counts[known_infosets]) + within
        if not np.array_equal(table.actions[source], plex.actions[target]):
            raise PolicyMismatchError(f"the policy for {self.spec} has other legal actions than the tree")
        out[target] = table.probabilities[source]
        return out

    # -- asked by players -----------------------------------------------------------------------------------
    @property
    def num_players(self) -> int:
        return len(self.tables)

    @property
    def num_infosets(self) -> tuple[int, ...]:
        return tuple(len(table.keys) for table in self.tables)

    def knows(self, key: bytes, player: int) -> bool:
        """Whether there is an information set of ``player`` with this key."""
        return self.tables[player].keys.find(key) >= 0

    def probabilities(self, state: Any, player: int | None = None) -> np.ndarray:
        """float64[num_actions]: probability of each action of ``player`` (who must be to move; None: whoever is).

        ``state``: a state of the policy's game (ours or OpenSpiel's); or a key of our games,
        ``State.information_state_key()``; or a key as in ``PlayerTable.keys`` together with ``player``. KeyError when a
        complete policy does not know it; PolicyMismatchError for another game's state.
        """
        legal: list[int] | None = None
        if isinstance(state, (bytes, bytearray)):
            player, key = owner_of(bytes(state), player, self.key_kind)
        else:
            self._check_game(state)
            player = mover_of(state, player)
            key = information_key(state, player, self.key_kind)
            if not self.complete:
                legal = state.legal_actions()
        out = np.zeros(self.num_actions)
        table = self.tables[player]
        index = table.keys.find(key)
        if index >= 0:
            own = slice(table.first[index], table.first[index + 1])
            out[table.actions[own]] = table.probabilities[own]
        elif legal is not None:
            out[legal] = 1.0 / len(legal)
        else:
            raise KeyError(f"the policy for {self.spec} has no information set {key!r} of player {player}")
        return out

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """``{action: probability}`` of the legal actions, the call of OpenSpiel's Python policies."""
        values = self.probabilities(state, player_id)
        return {action: float(values[action]) for action in state.legal_actions()}

    def _check_game(self, state: Any) -> None:
        game = state.game if isinstance(state, State) else state.get_game()
        if game is not self._accepted:
            spec = game_spec(game)
            if spec != self.spec:
                raise PolicyMismatchError(f"this is a policy for {self.spec}, the state is of {spec}")
            self._accepted = game

    # -- files ----------------------------------------------------------------------------------------------
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write to ``path`` (.npz, arrays and a JSON header); the previous file survives a failure."""
        header = {
            "game": self.spec,
            "keys": self.key_kind,
            "num_actions": self.num_actions,
            "num_players": self.num_players,
            "num_infosets": self.num_infosets,
            "complete": self.complete,
        }
        arrays: dict[str, np.ndarray] = {}
        for player, table in enumerate(self.tables):
            arrays[f"keys_{player}"] = table.keys.data
            arrays[f"key_offsets_{player}"] = table.keys.offsets
            arrays[f"first_{player}"] = table.first
            arrays[f"actions_{player}"] = table.actions
            arrays[f"probabilities_{player}"] = table.probabilities
        return save_arrays(path, KIND, FORMAT, header, arrays, compress=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str], game: Any = None) -> TabularPolicy:
        """Read a policy. ``game`` (a game or a Tree), when given, must be the policy's: PolicyMismatchError.

        StoredFileError, naming the file, when it is damaged or not a policy.
        """
        header, arrays = load_arrays(path, KIND, FORMAT)
        try:
            tables = [
                PlayerTable(
                    KeyTable(arrays[f"keys_{player}"], arrays[f"key_offsets_{player}"]),
                    arrays[f"first_{player}"],
                    arrays[f"actions_{player}"],
                    arrays[f"probabilities_{player}"],
                )
                for player in range(header["num_players"])
            ]
            policy = cls(header["game"], header["keys"], header["num_actions"], tables, header["complete"])
        except (KeyError, TypeError, ValueError) as error:
            raise StoredFileError(f"{with_suffix(path)}: damaged policy ({error})") from error
        if game is not None:
            spec = game.spec if isinstance(game, Tree) else game_spec(game)
            if spec != policy.spec:
                raise PolicyMismatchError(f"{with_suffix(path)}: this is a policy for {policy.spec}, wanted is {spec}")
        return policy

    # -- OpenSpiel --------------------------------------------------------------------------------------------
    def to_openspiel(self, openspiel_game: Any) -> Any:
        """A ``pyspiel.TabularPolicy`` over the strings of ``openspiel_game``, see ``cfr.openspiel_policies``."""
        from cfr.openspiel_policies import to_openspiel

        return to_openspiel(self, openspiel_game)

    @classmethod
    def from_openspiel(cls, policy: Any, tree: Tree, openspiel_game: Any = None) -> TabularPolicy:
        """From a policy of OpenSpiel, see ``cfr.openspiel_policies``."""
        from cfr.openspiel_policies import from_openspiel

        return from_openspiel(policy, tree, openspiel_game)
