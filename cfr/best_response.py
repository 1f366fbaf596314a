"""Exact evaluation of policies on a tree: values, best responses, NashConv, exploitability.

NashConv is the sum over the players of what each could gain by a best response. Exploitability is NashConv / 2,
defined here for two-player zero-sum games only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from cfr.policy import TabularPolicy
from cfr.sweeps import best_response_sweep, dot, realisation
from cfr.tree import Tree


class TreePolicy(Protocol):
    """A policy that can be laid on a tree: ``TabularPolicy``, ``SureWinPolicy``."""

    def behaviour(self, tree: Tree) -> list[np.ndarray]:
        """A probability per sequence, float64[S] a player, place 0 being 1."""


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """``values``: expected payoff of each player; ``best_response_values``: what each gets by a best response to the
    others; ``gains``: the differences (never negative, up to rounding of 1e-12)."""

    values: tuple[float, ...]
    best_response_values: tuple[float, ...]

    @property
    def gains(self) -> tuple[float, ...]:
        return tuple(best - value for best, value in zip(self.best_response_values, self.values, strict=True))

    @property
    def nash_conv(self) -> float:
        return sum(self.gains)


@dataclasses.dataclass(frozen=True)
class BestResponse:
    """``value``: the player's payoff; ``policy``: the others unchanged, the player deterministic (of equally
    good actions the first)."""

    value: float
    policy: TabularPolicy


def reach_of(tree: Tree, behaviour: Sequence[np.ndarray]) -> np.ndarray:
    """Realisation probabilities of all players' sequences one after the other, float64[tree.offsets[-1]]."""
    reach = np.empty(int(tree.offsets[-1]))
    for player, plex in enumerate(tree.treeplexes):
        own = reach[tree.offsets[player] : tree.offsets[player + 1]]
        realisation(plex.parent_sequence, plex.first_sequence, behaviour[player], own)
    return reach


def evaluate_behaviour(tree: Tree, behaviour: Sequence[np.ndarray]) -> Evaluation:
    """``evaluate`` for probabilities per sequence (``TabularPolicy.behaviour``)."""
    reach = reach_of(tree, behaviour)
    values, best = [], []
    for player, plex in enumerate(tree.treeplexes):
        gradient = tree.payoffs[player].gradient(reach, np.empty(plex.num_sequences))
        values.append(dot(reach[tree.offsets[player] : tree.offsets[player + 1]], gradient))
        scratch = np.empty(plex.num_sequences)
        best.append(best_response_sweep(plex.parent_sequence, plex.first_sequence, gradient, scratch))
    return Evaluation(tuple(values), tuple(best))


def evaluate(tree: Tree, policy: TreePolicy) -> Evaluation:
    """Values and best-response values of all players; PolicyMismatchError for another game's policy."""
    return evaluate_behaviour(tree, policy.behaviour(tree))


def expected_values(tree: Tree, policy: TreePolicy) -> tuple[float, ...]:
    """Expected payoff of each player."""
    reach = reach_of(tree, policy.behaviour(tree))
    values = []
    for player, plex in enumerate(tree.treeplexes):
        gradient = tree.payoffs[player].gradient(reach, np.empty(plex.num_sequences))
        values.append(dot(reach[tree.offsets[player] : tree.offsets[player + 1]], gradient))
    return tuple(values)


def best_response(tree: Tree, policy: TreePolicy, player: int) -> BestResponse:
    """A best response of ``player`` to the others' part of ``policy``."""
    if not 0 <= player < tree.num_players:
        raise ValueError(f"player {player!r} does not exist; players are 0 to {tree.num_players - 1}")
    behaviour = policy.behaviour(tree)
    plex = tree.treeplexes[player]
    gradient = tree.payoffs[player].gradient(reach_of(tree, behaviour), np.empty(plex.num_sequences))
    answer = np.empty(plex.num_sequences)
    value = best_response_sweep(plex.parent_sequence, plex.first_sequence, gradient, answer)
    behaviour[player] = answer
    return BestResponse(value, TabularPolicy.from_behaviour(tree, behaviour))


def nash_conv(tree: Tree, policy: TreePolicy) -> float:
    """Sum of all players' best-response gains (any number of players)."""
    return evaluate(tree, policy).nash_conv


def exploitability(tree: Tree, policy: TreePolicy) -> float:
    """NashConv / 2; ValueError unless the game has two players and is zero-sum."""
    check_two_player_zero_sum(tree, "exploitability", "use nash_conv, which is defined for every game")
    return nash_conv(tree, policy) / 2.0


def check_two_player_zero_sum(tree: Tree, what: str, instead: str) -> None:
    """ValueError unless the tree is of a two-player zero-sum game."""
    if tree.num_players != 2 or not tree.zero_sum:
        kind = "zero-sum" if tree.zero_sum else "general-sum"
        raise ValueError(
            f"{what} needs a two-player zero-sum game; {tree.spec} has {tree.num_players} player(s) and is {kind}: "
            f"{instead}"
        )
