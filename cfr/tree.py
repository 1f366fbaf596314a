"""Any game as flat arrays in sequence form: per player a treeplex, and one payoff entry per pair of last sequences.

Source of the form: von Stengel, "Efficient computation of behavior strategies", GEB 1996.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np

from cfr.enumerate_kernels import enumerate_kernels
from cfr.enumerate_openspiel import check_supported, enumerate_openspiel, key_kind, openspiel_spec, state_key
from cfr.enumeration import Enumeration, Histories
from cfr.keys import KeyTable
from cfr.memory import reserve_for, size_check
from cfr.payoffs import Payoffs, build_payoffs
from envs.core import Game, make


@dataclasses.dataclass(frozen=True, eq=False)
class Treeplex:
    """One player's decisions. Infosets are in topological order: an ancestor has a smaller index.

    ``parent_sequence`` int32[n]: own last sequence before infoset i; ``first_sequence`` int64[n + 1]: infoset i owns
    the sequences ``first_sequence[i]:first_sequence[i + 1]``, one a legal action; sequence 0 is the empty one;
    ``actions`` int32[S]: the action a sequence ends with, -1 for the empty one; ``keys``: one an infoset.
    """

    parent_sequence: np.ndarray
    first_sequence: np.ndarray
    actions: np.ndarray
    keys: KeyTable

    @property
    def num_infosets(self) -> int:
        return self.parent_sequence.size

    @property
    def num_sequences(self) -> int:
        return self.actions.size

    @property
    def infoset_of_sequence(self) -> np.ndarray:
        """int64[S]: the infoset a sequence's last action is taken at, -1 for the empty sequence."""
        counts = np.diff(self.first_sequence)
        return np.concatenate([[-1], np.repeat(np.arange(self.num_infosets), counts)])

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in (self.parent_sequence, self.first_sequence, self.actions, self.keys))


@dataclasses.dataclass(frozen=True, eq=False)
class Tree:
    """A game in sequence form.

    ``game``: what it was built from; ``spec``: its canonical text; ``key_kind``: what identifies an infoset
    ("tokens" for our games, "string" or "tensor" for OpenSpiel's); ``treeplexes`` and ``payoffs``: one a player;
    ``offsets`` int64[P + 1]: where each player's sequences start when all are laid one after the other (realisation
    vectors, ``Payoffs.others``); ``num_histories``: nodes of the game tree, chance and terminal ones included;
    ``num_terminals`` of them are terminal; ``zero_sum``: payoffs of all terminals add up to 0.
    ``histories``: the nodes themselves, when asked for.
    """

    game: Any
    spec: str
    key_kind: str
    num_actions: int
    treeplexes: tuple[Treeplex, ...]
    payoffs: tuple[Payoffs, ...]
    offsets: np.ndarray
    num_histories: int
    num_terminals: int
    zero_sum: bool
    histories: Histories | None = None

    @property
    def num_players(self) -> int:
        return len(self.treeplexes)

    @property
    def num_infosets(self) -> tuple[int, ...]:
        """Infosets with a decision, per player."""
        return tuple(plex.num_infosets for plex in self.treeplexes)

    @property
    def num_entries(self) -> int:
        """Payoff entries of player 0 that are not zero."""
        return self.payoffs[0].value.size

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(plex.nbytes for plex in self.treeplexes) + sum(rows.nbytes for rows in self.payoffs)

    def state_key(self, state: Any, player: int) -> bytes:
        """Key of ``player``'s information state in a state of this game (as in ``Treeplex.keys``)."""
        return information_key(state, player, self.key_kind)

    def find(self, state: Any) -> tuple[int, int]:
        """(player to move, index of his infoset) in a state of this game; KeyError when it is not in the tree."""
        player = state.current_player()
        if player < 0:
            raise KeyError(f"nobody decides in this state of {self.spec}")
        infoset = self.treeplexes[player].keys.find(self.state_key(state, player))
        if infoset < 0:
            raise KeyError(f"this state is not in the tree of {self.spec}")
        return player, infoset


def information_key(state: Any, player: int, kind: str) -> bytes:
    """Key of a player's information state; ``kind`` as in ``Tree.key_kind``."""
    if kind == "tokens":
        return state.information_tokens(player).tobytes()
    return state_key(state, player, kind)


def game_spec(game: Any) -> str:
    """Canonical text of one of our games or of a ``pyspiel.Game``; equal for equal games."""
    return game.spec() if isinstance(game, Game) else openspiel_spec(game)


def game_from_spec(spec: str) -> Any:
    """The game that ``game_spec`` describes: ours, or a ``pyspiel.Game``. ValueError for anything else."""
    match = re.fullmatch(r"(pyspiel:)?(\w+)\((.*)\)", spec)
    if match is None:
        raise ValueError(f"{spec!r} does not describe a game; expected something like dark_hex(rows=3,cols=3)")
    if match[1]:
        import pyspiel

        return pyspiel.load_game(spec.removeprefix(match[1]))
    parameters: dict[str, Any] = {}
    for item in filter(None, match[3].split(",")):
        name, _, text = item.partition("=")
        parameters[name] = int(text) if re.fullmatch(r"-?\d+", text) else _WORDS.get(text, text)
    return make(match[2], **parameters)


_WORDS = {"true": True, "false": False}


def build_tree(
    game: Any, memory_limit: int | None = None, key: str = "auto", keep_histories: bool = False
) -> Tree:
    """Enumerate ``game`` (ours, or a sequential ``pyspiel.Game``) and reduce it to sequence form.

    ``memory_limit`` in bytes; half of the memory that is free now when unset. The size is estimated by random
    probing first, and watched while the tree grows: TreeTooLargeError either way, with the estimate.
    ``key``: what tells OpenSpiel's information states apart, see ``cfr.enumerate_openspiel``.
    ``keep_histories``: also keep every history as a node (some 60 bytes each), see ``Tree.histories``.
    Raises PerfectRecallError, UnsupportedGameError, TreeTooLargeError.
    """
    if isinstance(game, Game):
        if key != "auto":
            raise ValueError(f'key={key!r} is for OpenSpiel\'s games; leave key="auto" for {game.spec()}')
        kind = "tokens"
    elif not hasattr(game, "get_type"):
        raise TypeError(f"build_tree takes a game from envs.make(...) or pyspiel.load_game(...), not {game!r}")
    else:
        check_supported(game)
        kind = key_kind(game, key)
    return _reduced(game, kind, game.num_distinct_actions(), _enumerated(game, kind, memory_limit, keep_histories))


def _enumerated(game: Any, kind: str, memory_limit: int | None, keep_histories: bool) -> Enumeration:
    estimate, limit = size_check(game, memory_limit)
    reserve = reserve_for(game, estimate, limit)
    if isinstance(game, Game):
        return enumerate_kernels(game, reserve, keep_histories)
    return enumerate_openspiel(game, kind, reserve, keep_histories)


def unit_payoffs(tree: Tree) -> tuple[Payoffs, ...]:
    """The payoffs of the same game if every player always got 1: probabilities of chance, summed over the terminals
    with the same last sequences. They tell how probable infosets are. The game is enumerated again: trees do not keep
    them, few uses need them."""
    found = _enumerated(tree.game, tree.key_kind, None, False)
    ones = np.repeat(found.terminal_chance[:, np.newaxis], tree.num_players, axis=1)
    return build_payoffs(found.terminal_sequences, ones, [plex.num_sequences for plex in tree.treeplexes])


def _reduced(game: Any, kind: str, num_actions: int, found: Enumeration) -> Tree:
    treeplexes = tuple(
        Treeplex(p.parent_sequence, p.first_sequence, p.actions, p.keys) for p in found.players
    )
    counts = [plex.num_sequences for plex in treeplexes]
    payoffs = found.terminal_payoffs
    scale = float(np.abs(payoffs).max(initial=0.0))
    return Tree(
        game=game,
        spec=game_spec(game),
        key_kind=kind,
        num_actions=num_actions,
        treeplexes=treeplexes,
        payoffs=build_payoffs(found.terminal_sequences, payoffs, counts),
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        num_histories=found.num_histories,
        num_terminals=payoffs.shape[0],
        zero_sum=bool(np.abs(payoffs.sum(axis=1)).max(initial=0.0) <= 1e-12 * scale),
        histories=found.histories,
    )
