"""Exact evaluation: known values, agreement with OpenSpiel, and the defining properties of best responses."""

from __future__ import annotations

import time

import numpy as np
import pytest
from cfr_cases import dark_hex_tree, openspiel_tree, random_policy
from hypothesis import given, settings
from hypothesis import strategies as st

import cfr

# Uniform play of silent boards: value of player 0, best-response value of each player, NashConv.
UNIFORM = {
    (2, 2, "classical"): (0.0, 1.0, 0.25, 1.25),
    (2, 2, "abrupt"): (0.458333333333, 0.833333333333, 0.0, 0.833333333333),
    (2, 3, "classical"): (0.6, 1.0, -0.25, 0.75),
    (2, 3, "abrupt"): (0.723888888889, 0.963888888889, -0.183333333333, 0.780555555556),
    (3, 2, "classical"): (-0.6, 0.6, 1.0, 1.6),
    (3, 2, "abrupt"): (-0.111851851852, 0.566666666667, 0.663888888889, 1.230555555556),
}
TREES = {
    "2x2 classical": lambda: dark_hex_tree(2, 2, "classical"),
    "2x2 abrupt announce": lambda: dark_hex_tree(2, 2, "abrupt", "announce"),
    "2x3 abrupt": lambda: dark_hex_tree(2, 3, "abrupt"),
    "kuhn": lambda: openspiel_tree("kuhn_poker"),
    "kuhn 3 players": lambda: openspiel_tree("kuhn_poker(players=3)"),
    "leduc": lambda: openspiel_tree("leduc_poker"),
}


@pytest.mark.parametrize("board", UNIFORM)
def test_uniform_play(board):
    tree = dark_hex_tree(*board)
    found = cfr.evaluate(tree, cfr.TabularPolicy.uniform(tree))
    value, best_0, best_1, nash_conv = UNIFORM[board]
    assert found.values == pytest.approx((value, -value), abs=1e-11)
    assert found.best_response_values == pytest.approx((best_0, best_1), abs=1e-11)
    assert found.nash_conv == pytest.approx(nash_conv, abs=1e-11)


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", pytest.param("liars_dice", marks=pytest.mark.slow)])
def test_uniform_play_of_openspiel_games(name):
    pyspiel = pytest.importorskip("pyspiel")
    tree = openspiel_tree(name)
    expected = pyspiel.nash_conv(tree.game, pyspiel.UniformRandomPolicy(tree.game))
    assert cfr.nash_conv(tree, cfr.TabularPolicy.uniform(tree)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "rows, cols, pure",
    [(2, 2, False), (2, 2, True), (2, 3, False), pytest.param(2, 3, True, marks=pytest.mark.slow)],
)
def test_nash_conv_of_random_policies_is_openspiels(rows, cols, pure):
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_game(f"dark_hex(num_rows={rows},num_cols={cols},gameversion=adh,obstype=reveal-nothing)")
    tree = dark_hex_tree(rows, cols, "abrupt")
    for seed in range(1 if cols == 3 else 5):
        policy = random_policy(tree, seed, pure)
        assert cfr.nash_conv(tree, policy) == pytest.approx(
            pyspiel.nash_conv(game, policy.to_openspiel(game)), abs=1e-12
        )


@pytest.mark.parametrize("name", ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker"])
def test_values_and_nash_conv_are_openspiels(name):
    pytest.importorskip("pyspiel")
    from open_spiel.python.algorithms import expected_game_score, exploitability

    tree = openspiel_tree(name)
    policy = random_policy(tree, 7)
    assert cfr.nash_conv(tree, policy) == pytest.approx(exploitability.nash_conv(tree.game, policy), abs=1e-12)
    score = expected_game_score.policy_value(tree.game.new_initial_state(), [policy] * tree.num_players)
    assert cfr.expected_values(tree, policy) == pytest.approx(score, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(TREES)), st.integers(0, 2**32 - 1), st.booleans())
def test_best_responses_gain_and_their_value_is_attained(name, seed, pure):
    tree = TREES[name]()
    policy = random_policy(tree, seed, pure)
    found = cfr.evaluate(tree, policy)
    assert found.nash_conv >= -1e-12 and all(gain >= -1e-12 for gain in found.gains)
    for player in range(tree.num_players):
        answer = cfr.best_response(tree, policy, player)
        assert answer.value == pytest.approx(found.best_response_values[player], abs=1e-12)
        played = cfr.evaluate(tree, answer.policy)
        assert played.values[player] == pytest.approx(answer.value, abs=1e-12)
        assert abs(played.gains[player]) <= 1e-12  # nothing left to gain


def test_one_player_alone():
    tree = openspiel_tree("cliff_walking(horizon=5)")
    uniform = cfr.TabularPolicy.uniform(tree)
    answer = cfr.best_response(tree, uniform, 0)
    assert answer.value == pytest.approx(-5.0) and cfr.expected_values(tree, uniform)[0] < -5.0
    assert cfr.make_solver("cfr_plus", tree).run(iterations=200).nash_conv < 0.5


def test_exploitability_is_half_of_nash_conv_for_two_players_only():
    tree = dark_hex_tree(2, 2, "classical")
    uniform = cfr.TabularPolicy.uniform(tree)
    assert cfr.exploitability(tree, uniform) == cfr.nash_conv(tree, uniform) / 2
    three = openspiel_tree("kuhn_poker(players=3)")
    with pytest.raises(ValueError, match="use nash_conv"):
        cfr.exploitability(three, cfr.TabularPolicy.uniform(three))
    general = openspiel_tree("first_sealed_auction(max_value=4)")
    assert not general.zero_sum
    with pytest.raises(ValueError, match="general-sum"):
        cfr.exploitability(general, cfr.TabularPolicy.uniform(general))


def test_bad_arguments():
    tree = dark_hex_tree(2, 2, "abrupt")
    with pytest.raises(ValueError, match="players are 0 to 1"):
        cfr.best_response(tree, cfr.TabularPolicy.uniform(tree), 2)
    other = cfr.TabularPolicy.uniform(dark_hex_tree(2, 2, "classical"))
    with pytest.raises(cfr.PolicyMismatchError, match=r"version=classical.*version=abrupt"):
        cfr.nash_conv(tree, other)


def test_evaluation_reads_a_policy_in_another_order_of_information_sets():
    tree = dark_hex_tree(2, 3, "abrupt")
    policy = random_policy(tree, 3)
    tables = []
    for table in policy.tables:
        order = np.random.default_rng(0).permutation(len(table.keys))
        keys = [table.keys[i] for i in order]
        pieces = [np.arange(table.first[i], table.first[i + 1]) for i in order]
        first = np.concatenate([[0], np.cumsum([piece.size for piece in pieces])])
        flat = np.concatenate(pieces)
        tables.append(
            cfr.PlayerTable(cfr.KeyTable.from_keys(keys), first, table.actions[flat], table.probabilities[flat])
        )
    shuffled = cfr.TabularPolicy(policy.spec, policy.key_kind, policy.num_actions, tables)
    assert cfr.nash_conv(tree, shuffled) == cfr.nash_conv(tree, policy)
    start = time.perf_counter()
    cfr.nash_conv(tree, shuffled)
    assert time.perf_counter() - start < 0.5
