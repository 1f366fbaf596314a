"""Exact evaluation of agents that are policies: on the tree of a game, or by the exact engine where that is the way."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

import cfr
from agents.agent import Agent, NetworkAgent, Observation, PolicyAgent, TabularAgent, UniformAgent, observe
from envs.core import Game, State
from envs.kernels import PARAMS, TABLE, apply_of, current_player_of, kernel, legal_of, reset_of

__all__ = ["HISTORIES", "MergedEvaluator", "Tabulator", "exact_evaluator", "fits"]

HISTORIES = 400_000
"""Largest tree, in histories, that is evaluated without being asked: it takes a second to prepare."""

_I32_2 = types.Array(types.int32, 2, "C")


def fits(game: Game, histories: float = HISTORIES) -> bool:
    """Whether the whole tree of `game` has (by estimate) at most so many histories."""
    return cfr.estimate_size(game).log10_histories <= np.log10(histories)


def exact_evaluator(game: Game) -> Tabulator | MergedEvaluator:
    """What computes values, best responses and NashConv of agents of `game`.

    Building it takes seconds on the larger boards. Raises cfr.TreeTooLargeError when neither way fits into memory.
    """
    return MergedEvaluator(game) if cfr.prefers_phantom(game) else Tabulator(game)


class MergedEvaluator:
    """The exact engine, for agents. Asking costs one evaluation of the agent per information state: 6 million on
    classical 3x3 Dark Hex, 27 million on abrupt."""

    def __init__(self, game: Game) -> None:
        self.form = cfr.phantom_form(game)

    def evaluate(self, agent: Agent) -> cfr.Evaluation:
        """Values and best-response values when `agent` plays all seats. ValueError unless it is a network, a tabular
        policy or the uniform player."""
        return self.form.evaluate(self._behaviours(agent))

    def _behaviours(self, agent: Agent) -> list[np.ndarray]:
        if isinstance(agent, NetworkAgent):
            view = agent.encoding == "view"
            return [self.form.behaviour_of_function(player, agent.distribution, view) for player in (0, 1)]
        if isinstance(agent, TabularAgent):
            return self.form.behaviours_of(agent.policy)
        if isinstance(agent, UniformAgent):
            return self.form.uniform()
        raise ValueError(f"{agent.name}: the exact engine evaluates networks, tabular policies and uniform play")


class Tabulator:
    """Turns a policy agent into a `cfr.TabularPolicy`, so that its NashConv can be computed.

    Building it enumerates the tree and finds one state for every information set; asking it for a policy
    then costs one evaluation of the agent per information set.
    """

    def __init__(self, game: Game, tree: cfr.Tree | None = None) -> None:
        self.game = game
        self.tree = cfr.build_tree(game) if tree is None else tree
        self._states = _representatives(game, self.tree)
        self._observations: dict[frozenset[str], list[list[Observation]]] = {}

    def policy(self, agent: PolicyAgent) -> cfr.TabularPolicy:
        """The complete policy that `agent` plays."""
        if agent.parts not in self._observations:
            self._observations[agent.parts] = [
                [observe(state, agent.parts) for state in states] for states in self._states
            ]
        behaviour = []
        for plex, seen in zip(self.tree.treeplexes, self._observations[agent.parts], strict=True):
            table = agent.probabilities(seen) if seen else np.zeros((0, self.tree.num_actions))
            values = table[plex.infoset_of_sequence[1:], plex.actions[1:]]
            behaviour.append(np.concatenate([[1.0], values]))
        return cfr.TabularPolicy.from_behaviour(self.tree, behaviour)

    def evaluate(self, agent: PolicyAgent) -> cfr.Evaluation:
        """Values and best-response values when `agent` plays all seats."""
        return cfr.evaluate(self.tree, self.policy(agent))


def _representatives(game: Game, tree: cfr.Tree) -> list[list[State]]:
    """For each player, one state for each of his information sets, in the order of the tree."""
    capacity = tree.num_histories - tree.num_terminals
    rows = np.zeros((capacity, game.row_size), np.int32)
    stack = np.zeros((game.max_game_length() + 1, game.row_size), np.int32)
    count = _decisions(game.kernels.table, game.params, game.num_distinct_actions(), stack, rows)
    wanted: list[dict[bytes, int]] = [{key: index for index, key in enumerate(plex.keys)} for plex in tree.treeplexes]
    found: list[list[Any]] = [[None] * len(keys) for keys in wanted]
    for row in rows[:count]:
        player = game.kernels.current_player(game.params, row)
        start, stop = game.kernels.information_span(game.params, row, player)
        index = wanted[player].pop(row[start:stop].tobytes(), None)
        if index is not None:
            found[player][index] = State(game, row.copy(), [])
    return found


@kernel(types.int64(TABLE, PARAMS, types.int64, _I32_2, _I32_2))
def _decisions(table, params, num_actions, stack, rows):
    """Write the row of every decision of the tree, depth first; returns how many there are."""
    apply, current_player, legal, reset = (apply_of(table), current_player_of(table), legal_of(table), reset_of(table))
    cursor = np.full(stack.shape[0], -1, dtype=np.int64)
    masks = np.zeros((stack.shape[0], num_actions), dtype=np.bool_)
    reset(params, stack[0])
    depth = 0
    count = 0
    while depth >= 0:
        row = stack[depth]
        if cursor[depth] < 0:
            if current_player(params, row) < 0:
                depth -= 1
                continue
            rows[count] = row
            count += 1
            legal(params, row, masks[depth])
            cursor[depth] = 0
        action = cursor[depth]
        while action < num_actions and not masks[depth, action]:
            action += 1
        if action == num_actions:
            cursor[depth] = -1
            depth -= 1
            continue
        cursor[depth] = action + 1
        stack[depth + 1] = row
        depth += 1
        cursor[depth] = -1
        apply(params, stack[depth], action)
    return count
