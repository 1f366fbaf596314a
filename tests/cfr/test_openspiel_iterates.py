"""Iterate by iterate, the solvers do what OpenSpiel's do.

Where all regrets of an information set are zero but for rounding, the sign of the rounding error decides the
next strategy. So the comparison is made in two steps: with sums in OpenSpiel's order the average policies are
equal as they are; and the sequence form has the same regrets and averages when it is given, at such
information sets only, the strategy that the other chose.
"""

from __future__ import annotations

import numpy as np
import pytest
from cfr_cases import dark_hex_tree, openspiel_tree

import cfr
from cfr.regret import RULES
from cfr.sweeps import realisation

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

ITERATIONS = 20


def native(rows, cols):
    return pyspiel.load_game(f"dark_hex(num_rows={rows},num_cols={cols},gameversion=adh,obstype=reveal-nothing)")


CASES = {
    "2x2 abrupt": (lambda: dark_hex_tree(2, 2, "abrupt", keep_histories=True), lambda: native(2, 2)),
    "2x3 abrupt": (lambda: dark_hex_tree(2, 3, "abrupt", keep_histories=True), lambda: native(2, 3)),
    "kuhn": (lambda: openspiel_tree("kuhn_poker", keep_histories=True), None),
    "kuhn 3 players": (lambda: openspiel_tree("kuhn_poker(players=3)", keep_histories=True), None),
    "leduc": (lambda: openspiel_tree("leduc_poker", keep_histories=True), None),
}


def representatives(tree, game):
    """For each information set: player, number in our tree, a state of OpenSpiel's."""
    found = {}
    stack = [(tree.game.new_initial_state(), game.new_initial_state())]
    while stack:
        ours, theirs = stack.pop()
        if theirs.is_terminal():
            continue
        if theirs.is_chance_node():
            actions = [action for action, _ in theirs.chance_outcomes()]
        else:
            found.setdefault(tree.find(ours), theirs)
            actions = theirs.legal_actions()
        stack.extend((ours.child(action), theirs.child(action)) for action in actions)
    return [(player, infoset, state) for (player, infoset), state in found.items()]


def distance(tree, policy, theirs, states):
    """Largest difference of a probability between our policy and OpenSpiel's."""
    behaviour = policy.behaviour(tree)
    worst = 0.0
    for player, infoset, state in states:
        plex = tree.treeplexes[player]
        own = range(plex.first_sequence[infoset], plex.first_sequence[infoset + 1])
        wanted = dict(theirs.action_probabilities(state))
        worst = max(worst, *(abs(behaviour[player][s] - wanted[int(plex.actions[s])]) for s in own))
    return worst


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["cfr", "cfr_plus"])
def test_average_policies_are_equal_at_every_iteration(name, case):
    make_tree, make_game = CASES[case]
    tree = make_tree()
    game = tree.game if make_game is None else make_game()
    theirs = {"cfr": pyspiel.CFRSolver, "cfr_plus": pyspiel.CFRPlusSolver}[name](game)
    ours = cfr.make_solver(name, tree, sums="histories")
    states = representatives(tree, game)
    for _ in range(ITERATIONS):
        ours.step()
        theirs.evaluate_and_update_policy()
        assert distance(tree, ours.average_policy(), theirs.average_policy(), states) < 1e-12


@pytest.mark.parametrize("name, their_class", [("linear_cfr", "LCFRSolver"), ("dcfr", "DCFRSolver")])
@pytest.mark.parametrize("game", ["kuhn_poker", "2x2 abrupt"])
def test_discounted_averages_are_equal_at_every_iteration(name, their_class, game):
    from open_spiel.python.algorithms import discounted_cfr

    tree = openspiel_tree(game, keep_histories=True) if game == "kuhn_poker" else CASES[game][0]()
    theirs_game = tree.game if game == "kuhn_poker" else CASES[game][1]()
    theirs = getattr(discounted_cfr, their_class)(theirs_game)
    ours = cfr.make_solver(name, tree, sums="histories")
    states = representatives(tree, theirs_game)
    for _ in range(ITERATIONS):
        ours.step()
        theirs.evaluate_and_update_policy()
        assert distance(tree, ours.average_policy(), theirs.average_policy(), states) < 1e-12


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if not rule.uses_masses])
def test_sequence_form_has_the_same_regrets_and_averages(name, case):
    tree = CASES[case][0]()
    exact, fast = cfr.make_solver(name, tree, sums="histories"), cfr.make_solver(name, tree)
    for t in range(1, ITERATIONS + 1):
        exact.iteration = fast.iteration = t
        for player, plex in enumerate(tree.treeplexes):
            exact._update(player)
            fast._update(player)
            assert np.abs(exact._regrets[player] - fast._regrets[player]).max() < 1e-12
            assert np.abs(exact._averages[player] - fast._averages[player]).max() < 1e-12 * t**3
            expected = exact._regrets[player].copy()
            if exact.rule.predictive:
                expected += exact._instantaneous[player]
            strategies = exact._behaviours[player], fast._behaviours[player]
            tied = np.maximum.reduceat(expected[1:], plex.first_sequence[:-1] - 1) < 1e-12
            tied = np.concatenate([[False], np.repeat(tied, np.diff(plex.first_sequence))])
            assert np.abs(strategies[0] - strategies[1])[~tied].max(initial=0.0) < 1e-9
            strategies[1][:] = strategies[0]
            realisation(plex.parent_sequence, plex.first_sequence, strategies[1], fast._reaches[player])
