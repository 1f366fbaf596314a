"""Mixtures of pure strategies have the value of every pair of them, weighted."""

from __future__ import annotations

import numpy as np
import pytest

import cfr
import envs
from cfr.form import TreeForm

BOARDS = [(2, 2, "classical"), (2, 3, "classical"), (2, 2, "abrupt"), (3, 2, "abrupt")]


def board(rows, cols, version):
    return envs.make("dark_hex", rows=rows, cols=cols, version=version, info="silent")


def pure_strategies(form, player, count, seed):
    """Deterministic behaviours, drawn anew at every node."""
    rng = np.random.default_rng(seed)
    first = form.first_sequence(player)
    found = []
    for _ in range(count):
        behaviour = np.zeros(int(first[-1]))
        behaviour[0] = 1.0
        behaviour[(first[:-1] + rng.random(first.size - 1) * np.diff(first)).astype(np.int64)[np.diff(first) > 0]] = 1.0
        found.append(behaviour)
    return found


@pytest.mark.parametrize("rows, cols, version", BOARDS)
@pytest.mark.parametrize("kind", ["phantom", "tree"])
def test_value_is_that_of_all_pairs(rows, cols, version, kind):
    game = board(rows, cols, version)
    form = cfr.phantom_form(game) if kind == "phantom" else TreeForm(cfr.build_tree(game))
    pures = [pure_strategies(form, player, 3, player) for player in (0, 1)]
    weights = ([2.0, 1.0, 0.0], [0.2, 0.3, 0.5])
    mixtures = [cfr.Mixture(*pair) for pair in zip(pures, weights, strict=True)]
    wanted = sum(
        p * q * form.evaluate([pures[0][i], pures[1][j]]).values[0]
        for i, p in enumerate(mixtures[0].probabilities)
        for j, q in enumerate(mixtures[1].probabilities)
    )
    behaviours = [cfr.as_behaviour(form, player, mixture) for player, mixture in enumerate(mixtures)]
    found = form.evaluate(behaviours)
    assert found.values[0] == pytest.approx(wanted, abs=1e-12)
    assert all(gain >= -1e-12 for gain in found.gains)


def test_fictitious_play_of_best_responses_approaches_the_value():
    """What double-oracle methods do: best responses to mixtures of best responses."""
    form = cfr.phantom_form(board(2, 2, "abrupt"))
    mixed = [cfr.Mixture([form.uniform()[player]], [1.0]) for player in (0, 1)]
    for _ in range(150):
        answers = []
        for player in (0, 1):
            reach = form.new_reaches()[1 - player]
            form.realise(1 - player, cfr.as_behaviour(form, 1 - player, mixed[1 - player]), reach)
            answers.append(form.best_response(player, reach)[1])
        mixed = [
            cfr.Mixture([*mixture.strategies, answer], [*mixture.weights, 1.0])
            for mixture, answer in zip(mixed, answers, strict=True)
        ]
    found = form.evaluate_policies(*mixed)
    assert found.nash_conv < 0.25 and found.values[0] == pytest.approx(0.5, abs=found.nash_conv)


def test_pairs_of_all_kinds():
    """A tabular policy against a function, a merged policy against a mixture that holds one."""
    game = board(2, 2, "classical")
    form, tree = cfr.phantom_form(game), cfr.build_tree(game)
    table = cfr.TabularPolicy.uniform(tree)
    uniform = form.evaluate_policies(table)
    assert uniform.nash_conv == pytest.approx(1.25, abs=1e-12)
    merged = form.policy(form.uniform())

    def function(observations, masks):
        return masks / masks.sum(axis=1, keepdims=True)

    for pair in ((table, function), (merged, cfr.Mixture([table, function], [1, 1])), (function, form.uniform()[1])):
        found = form.evaluate_policies(*pair)
        assert found.values == pytest.approx(uniform.values, abs=1e-12)
        assert found.best_response_values == pytest.approx(uniform.best_response_values, abs=1e-12)


def test_errors():
    form = cfr.phantom_form(board(2, 2, "classical"))
    with pytest.raises(ValueError, match="2 strategies has 1 weights"):
        cfr.Mixture([form.uniform()[0]] * 2, [1.0])
    for weights in ([-1.0, 2.0], [0.0, 0.0], [np.nan, 1.0]):
        with pytest.raises(ValueError, match="finite, at least 0, and not all 0"):
            cfr.Mixture([form.uniform()[0]] * 2, weights)
    with pytest.raises(ValueError, match="player 0 in dark_hex.* has"):
        cfr.as_behaviour(form, 0, np.ones(3))
    with pytest.raises(cfr.PolicyMismatchError):
        cfr.as_behaviour(form, 0, cfr.TabularPolicy.uniform(cfr.build_tree(board(2, 3, "classical"))))
    tree = TreeForm(cfr.build_tree(board(2, 2, "classical")))
    with pytest.raises(TypeError, match="give a TabularPolicy"):
        cfr.as_behaviour(tree, 0, lambda observations, masks: masks)


def test_merged_policies_take_the_keys_of_states():
    """As tabular policies do: with the byte of seat, or without it and with the player."""
    form = cfr.phantom_form(board(2, 2, "abrupt"))
    policy = form.policy(form.uniform())
    state = form.game.state_from_string("a1 a1x")
    wanted = policy.probabilities(state)
    assert wanted.tolist() == policy.probabilities(state.information_state_key()).tolist()
    assert wanted.tolist() == policy.probabilities(state.information_tokens(0).tobytes(), 0).tolist()
    with pytest.raises(ValueError, match="the key is of player 0, not of player 1"):
        policy.probabilities(state.information_state_key(), 1)
    with pytest.raises(ValueError, match="name the player"):
        policy.probabilities(state.information_tokens(0).tobytes())
