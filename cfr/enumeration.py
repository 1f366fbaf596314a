"""What a walk over a game tree collects, before it is reduced to sequence form."""

from __future__ import annotations

import dataclasses

import numpy as np

from cfr.keys import KeyTable


@dataclasses.dataclass(frozen=True)
class PlayerEnumeration:
    """A player's infosets in the order of discovery (so ancestors come before descendants).

    ``parent_sequence`` int32[n]; ``first_sequence`` int64[n + 1], infoset i owns the sequences
    ``first_sequence[i]`` to ``first_sequence[i + 1] - 1`` and sequence 0 is the empty one; ``actions``
    int32[number of sequences], -1 for the empty one; ``keys``, one an infoset.
    """

    parent_sequence: np.ndarray
    first_sequence: np.ndarray
    actions: np.ndarray
    keys: KeyTable


@dataclasses.dataclass(frozen=True)
class Histories:
    """Every history as a node, in depth-first order (node 0 is the root): for samplers of games that have no
    kernels, and for sums in OpenSpiel's order.

    ``player`` int32[N]: player to move, -1 chance, -4 end. ``infoset`` int32[N]: infoset (of that player) of a
    decision, -1 elsewhere. ``parent`` int64[N], -1 at the root. Children of node v are
    ``children[first_child[v]:first_child[v + 1]]`` (int64), in the order of the infoset's actions; ``chance`` float64,
    as long as ``children``: probability of a child of a chance node, 1 elsewhere. ``returns`` float64[N, num_players]:
    zero before the end.
    """

    player: np.ndarray
    infoset: np.ndarray
    parent: np.ndarray
    first_child: np.ndarray
    children: np.ndarray
    chance: np.ndarray
    returns: np.ndarray

    @classmethod
    def from_parents(
        cls,
        player: np.ndarray,
        infoset: np.ndarray,
        parent: np.ndarray,
        probability: np.ndarray,
        returns: np.ndarray,
    ) -> Histories:
        """From nodes in depth-first order; ``probability`` float64[N]: of the chance outcome that leads to a
        node (1 after a decision); ``returns`` as above."""
        first_child = np.zeros(player.size + 1, dtype=np.int64)
        np.cumsum(np.bincount(parent[1:], minlength=player.size), out=first_child[1:])
        children = np.argsort(parent[1:], kind="stable") + 1
        return cls(player, infoset, parent, first_child, children, probability[children], returns)


@dataclasses.dataclass(frozen=True)
class Enumeration:
    """``terminal_sequences`` int32[T, P]: each player's last sequence; ``terminal_payoffs`` float64[T, P]: returns
    times the probability of the chance outcomes on the way, which is ``terminal_chance`` float64[T]. ``num_histories``
    counts all nodes, chance and terminal ones included."""

    num_histories: int
    terminal_sequences: np.ndarray
    terminal_payoffs: np.ndarray
    terminal_chance: np.ndarray
    players: tuple[PlayerEnumeration, ...]
    histories: Histories | None = None
