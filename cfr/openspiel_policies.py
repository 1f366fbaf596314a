"""Policies from and to OpenSpiel.

A policy of one of our games and a policy of the same game in OpenSpiel (its own implementation, or ours
registered there) are matched by walking both games side by side: equal action numbers, players and payoffs, or
it is an error.
OpenSpiel's strings may be finer than the information sets (``dark_hex`` under ``reveal-nothing``): going there, the
distribution is repeated; coming from there, it must not differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cfr.errors import PolicyMismatchError
from cfr.policy import TabularPolicy
from cfr.tree import Tree, game_from_spec, game_spec
from envs.core import Game

TOLERANCE = 1e-12


def to_openspiel(policy: TabularPolicy, openspiel_game: Any) -> Any:
    """``policy`` as a ``pyspiel.TabularPolicy`` over the strings of ``openspiel_game``.

    ``policy`` may be of that game, or of one of ours with the same rules. PolicyMismatchError otherwise.
    """
    import pyspiel

    game = None if policy.spec.startswith("pyspiel:") else game_from_spec(policy.spec)
    if game is None and policy.spec != game_spec(openspiel_game):
        raise PolicyMismatchError(f"this is a policy for {policy.spec}, not for {game_spec(openspiel_game)}")
    table: dict[str, list[tuple[int, float]]] = {}
    for ours, theirs in _decisions(game, openspiel_game):
        name = theirs.information_state_string()
        if name not in table:
            table[name] = list(policy.action_probabilities(ours).items())
    return pyspiel.TabularPolicy(table)


def from_openspiel(policy: Any, tree: Tree, openspiel_game: Any = None) -> TabularPolicy:
    """``policy``, anything with OpenSpiel's ``action_probabilities(state)``, as a policy on ``tree``.

    For the tree of one of our games, ``openspiel_game`` is the game the policy is for; OpenSpiel's own implementation
    (``envs.openspiel.native_game``) when unset. PolicyMismatchError when an information set has two strings with
    different distributions (both are named), when one is missing, or when the games differ.
    """
    game = tree.game if isinstance(tree.game, Game) else None
    if game is None:
        if openspiel_game is not None and game_spec(openspiel_game) != tree.spec:
            raise PolicyMismatchError(f"the tree is of {tree.spec}, not of {game_spec(openspiel_game)}")
        openspiel_game = tree.game
    elif openspiel_game is None:
        from envs.openspiel import native_game

        openspiel_game = native_game(game)
    behaviour = [np.full(plex.num_sequences, np.nan) for plex in tree.treeplexes]
    names: dict[tuple[int, int], str] = {}
    seen: set[tuple[int, str]] = set()
    for ours, theirs in _decisions(game, openspiel_game):
        player, name = theirs.current_player(), theirs.information_state_string()
        if (player, name) in seen:
            continue
        seen.add((player, name))
        _, infoset = tree.find(ours)
        plex = tree.treeplexes[player]
        own = slice(plex.first_sequence[infoset], plex.first_sequence[infoset + 1])
        values = _distribution(policy, theirs, name, plex.actions[own])
        first_name = names.setdefault((player, infoset), name)
        if first_name == name:
            behaviour[player][own] = values
        elif np.abs(behaviour[player][own] - values).max() > TOLERANCE:
            here, there = (_readable(plex.actions[own], played) for played in (values, behaviour[player][own]))
            raise PolicyMismatchError(
                f"the policy tells apart what player {player} cannot: it plays {here} at {name!r}, but {there} at "
                f"{first_name!r}, and both are one information set of {tree.spec}"
            )
    return TabularPolicy.from_behaviour(tree, behaviour)


def _distribution(policy: Any, state: Any, name: str, actions: np.ndarray) -> np.ndarray:
    found = dict(policy.action_probabilities(state))
    if not found:
        raise PolicyMismatchError(f"the policy has no entry for the information state {name!r}")
    values = np.array([found.get(int(action), 0.0) for action in actions])
    if not (values >= 0.0).all() or abs(sum(found.values()) - 1.0) > 1e-6 or abs(values.sum() - 1.0) > 1e-6:
        raise PolicyMismatchError(
            f"the policy has no distribution over the legal actions {actions.tolist()} at {name!r}: {found}"
        )
    return values


def _readable(actions: np.ndarray, values: np.ndarray) -> str:
    return "{" + ", ".join(f"{action}: {value:.6g}" for action, value in zip(actions, values, strict=True)) + "}"


def _decisions(game: Game | None, openspiel_game: Any) -> Iterator[tuple[Any, Any]]:
    """All decisions of ``openspiel_game`` as pairs (our state, its state); with ``game`` None, twice its state."""
    theirs = openspiel_game.new_initial_state()
    stack = [(theirs if game is None else game.new_initial_state(), theirs)]
    while stack:
        ours, theirs = stack.pop()
        if game is not None:
            _check_same(game, ours, theirs)
        if theirs.is_terminal():
            continue
        if theirs.is_chance_node():
            actions = [action for action, _ in theirs.chance_outcomes()]
        else:
            yield ours, theirs
            actions = theirs.legal_actions()
        for action in reversed(actions):
            child = theirs.child(action)
            stack.append((child if game is None else ours.child(action), child))


def _check_same(game: Game, ours: Any, theirs: Any) -> None:
    same = (
        not theirs.is_chance_node()
        and ours.current_player() == theirs.current_player()
        and ours.legal_actions() == sorted(theirs.legal_actions())
        and (not theirs.is_terminal() or ours.returns() == list(theirs.returns()))
    )
    if not same:
        raise PolicyMismatchError(
            f"{theirs.get_game()} is not the game {game.spec()}: they differ after the actions {ours.history()}"
        )
