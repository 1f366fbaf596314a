"""Magnetic mirror descent: its fixed points, recomputed by walking all histories, and what annealing reaches."""

from __future__ import annotations

import numpy as np
import pytest
from cfr_cases import dark_hex_tree, openspiel_tree

import cfr


def action_values(tree, behaviour):
    """(q, mass): for each player, expected payoff of every sequence at its infoset, and the others' part of the
    probability of every infoset; by recursion over the histories of the game."""
    reached = [np.zeros(plex.num_infosets) for plex in tree.treeplexes]
    sums = [np.zeros(plex.num_sequences) for plex in tree.treeplexes]

    def walk(state, reach):
        """``reach``: of each player, and of chance."""
        if state.is_terminal():
            return np.array(state.returns())
        if state.is_chance_node():
            values = 0.0
            for action, p in state.chance_outcomes():
                values = values + p * walk(state.child(action), (*reach[:-1], reach[-1] * p))
            return values
        player, infoset = tree.find(state)
        first = tree.treeplexes[player].first_sequence[infoset]
        others = np.prod([r for j, r in enumerate(reach) if j != player])
        reached[player][infoset] += others
        values = 0.0
        for k, action in enumerate(state.legal_actions()):
            p = behaviour[player][first + k]
            below = walk(state.child(action), tuple(r * (p if j == player else 1.0) for j, r in enumerate(reach)))
            sums[player][first + k] += others * below[player]
            values = values + p * below
        return values

    walk(tree.game.new_initial_state(), (1.0,) * (tree.num_players + 1))
    for player, plex in enumerate(tree.treeplexes):
        sums[player][1:] /= np.repeat(reached[player], np.diff(plex.first_sequence))
    return sums, reached


@pytest.mark.parametrize(
    "make, temperature",
    [
        (lambda: dark_hex_tree(2, 2, "abrupt"), 0.2),
        (lambda: dark_hex_tree(2, 2, "classical"), 0.1),
        (lambda: openspiel_tree("kuhn_poker"), 0.15),
        (lambda: openspiel_tree("kuhn_poker(players=3)"), 0.3),
    ],
)
def test_fixed_temperature_converges_to_the_quantal_response_equilibrium(make, temperature):
    tree = make()
    solver = cfr.make_solver("mmd", tree, temperature=temperature, anneal=0, learning_rate=0.5)
    solver.run(iterations=1500)
    behaviour = solver.current_policy().behaviour(tree)
    q, _ = action_values(tree, behaviour)
    for player, plex in enumerate(tree.treeplexes):
        for first, stop in zip(plex.first_sequence[:-1], plex.first_sequence[1:], strict=True):
            wanted = np.exp((q[player][first:stop] - q[player][first:stop].max()) / temperature)
            assert behaviour[player][first:stop] == pytest.approx(wanted / wanted.sum(), abs=1e-6)


def test_one_step_is_the_stated_formula():
    """Player 0's first step from uniform play, with the action values of the oracle."""
    tree = openspiel_tree("leduc_poker")
    solver = cfr.make_solver("mmd", tree, temperature=0.3, learning_rate=0.7)
    uniform = solver.current_policy().behaviour(tree)
    q, _ = action_values(tree, uniform)
    solver.step()
    plex, after = tree.treeplexes[0], solver.current_policy().behaviour(tree)[0]
    for first, stop in zip(plex.first_sequence[:-1], plex.first_sequence[1:], strict=True):
        wanted = (uniform[0][first:stop] * np.exp(0.7 * q[0][first:stop])) ** (1 / (1 + 0.7 * 0.3))
        assert after[first:stop] == pytest.approx(wanted / wanted.sum(), abs=1e-12)


def test_a_lower_temperature_is_closer_to_an_equilibrium():
    tree = dark_hex_tree(2, 3, "abrupt")
    found = [
        cfr.make_solver("mmd", tree, temperature=tau, anneal=0, learning_rate=0.5).run(iterations=400).nash_conv
        for tau in (0.4, 0.2, 0.1)
    ]
    assert found[0] > 1.5 * found[1] > 1.5 * 1.5 * found[2]
    annealed = cfr.make_solver("mmd", tree).run(iterations=400)
    assert annealed.nash_conv < 0.5 * found[2] and annealed.values[0] == pytest.approx(9 / 11, abs=annealed.nash_conv)


@pytest.mark.parametrize("name", ["cfr_plus", "pcfr_plus", "mmd"])
def test_last_iterate_and_averages(name):
    tree = dark_hex_tree(2, 3, "classical")
    found = {}
    for average in ("uniform", "linear", "quadratic", "last"):
        solver = cfr.make_solver(name, tree, average=average)
        found[average] = solver.run(iterations=60).nash_conv
        same = cfr.nash_conv(tree, solver.current_policy()) == found[average]
        assert same == (average == "last")
    # Player 0 can win with certainty, and finds out soon: what averages remember longest is worst.
    assert found["uniform"] > found["linear"] > found["quadratic"] > found["last"] >= -1e-12


def test_average_is_the_weighted_mean_of_the_strategies():
    tree = dark_hex_tree(2, 2, "abrupt")
    for average, exponent in (("uniform", 0), ("linear", 1), ("quadratic", 2)):
        solver = cfr.make_solver("cfr", tree, average=average)
        weights = 0.0
        root = np.zeros(4)
        state = tree.game.new_initial_state()
        for t in range(1, 8):
            root += t**exponent * solver.current_policy().probabilities(state)
            weights += t**exponent
            solver.step()
        assert solver.average_policy().probabilities(state) == pytest.approx(root / weights, abs=1e-12)
