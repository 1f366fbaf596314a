"""Best responses to opponents that ignore order: the exact engine against a search over beliefs."""

from __future__ import annotations

import numpy as np
import pytest
from belief_search import Policy, best_response_value
from phantom_cases import VERSIONS, form_of

from cfr import PhantomForm

SMALL = [(1, 1), (1, 3), (3, 1), (2, 2), (2, 3), (3, 2)]


def weights_of_sets(cells: int, seed: int) -> np.ndarray:
    """float64[2**cells, 2**cells, cells]: preferences by (own stones, found stones); every fourth is nearly none."""
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=(1 << cells, 1 << cells, cells))
    weights[rng.random(weights.shape) < 0.25] *= 1e-6
    return weights


def as_policy(weights: np.ndarray) -> Policy:
    """The policy of these preferences, as the search asks for it."""

    def policy(stones: int, found: int) -> np.ndarray:
        cells = np.arange(weights.shape[2])
        chosen = np.where((stones | found) >> cells & 1, 0.0, weights[stones, found])
        return chosen / chosen.sum()

    return policy


def as_behaviour(form: PhantomForm, player: int, weights: np.ndarray) -> np.ndarray:
    """The same policy, as the engine asks for it: a function of observations."""
    cells = weights.shape[2]
    bits = 1 << np.arange(cells)

    def function(view: np.ndarray, mask: np.ndarray) -> np.ndarray:
        stones, found = ((view[:, start : start + cells] == 1) @ bits for start in (0, cells))
        chosen = weights[stones, found] * mask
        return chosen / chosen.sum(axis=1, keepdims=True)

    return form.behaviour_of_function(player, function, view=True)


def agree(form: PhantomForm, opponents: list[np.ndarray], policy: Policy, tolerance: float) -> list[float]:
    """Both players' best-response values, after checking that the two computations agree on them."""
    game, values = form.game, []
    for player in (0, 1):
        reach = form.new_reaches()
        form.realise(1 - player, opponents[1 - player], reach[1 - player])
        value, _ = form.best_response(player, reach[1 - player])
        expected = best_response_value(game.rows, game.cols, not game.classical, player, policy)
        assert value == pytest.approx(expected, abs=tolerance)
        values.append(value)
    return values


def check_random(rows: int, cols: int, version: str, seeds: range, tolerance: float) -> None:
    form = form_of(rows, cols, version)
    for seed in seeds:
        weights = weights_of_sets(rows * cols, seed)
        agree(form, [as_behaviour(form, player, weights) for player in (0, 1)], as_policy(weights), tolerance)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("rows", "cols"), SMALL)
def test_random_opponents(rows: int, cols: int, version: str) -> None:
    check_random(rows, cols, version, range(3), 1e-12)


def test_random_opponent_on_two_by_four() -> None:
    check_random(2, 4, "classical", range(1), 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_random_opponent_on_three_by_three(version: str) -> None:
    check_random(3, 3, version, range(1), 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "best"),
    [("classical", (1.0, 0.832804232804)), ("abrupt", (0.908030202822, 0.617179232804))],
)
def test_uniform_opponent_on_three_by_three(version: str, best: tuple[float, float]) -> None:
    form = form_of(3, 3, version)
    uniform = as_policy(np.ones((1 << 9, 1 << 9, 9)))
    assert agree(form, form.uniform(), uniform, 1e-9) == pytest.approx(best, abs=1e-9)


def test_the_search_itself() -> None:
    """Boards that can be solved in the head."""
    uniform = as_policy(np.ones((4, 4, 2)))
    for abrupt in (False, True):
        # One row: red's first stone joins top and bottom.
        assert [best_response_value(1, 2, abrupt, player, uniform) for player in (0, 1)] == [1.0, -1.0]
    # One column: any stone of blue wins, and red has placed one of his two when blue is asked. In the abrupt game blue
    # runs into it half the time, and red completes his chain.
    assert [best_response_value(2, 1, False, player, uniform) for player in (0, 1)] == [-1.0, 1.0]
    assert [best_response_value(2, 1, True, player, uniform) for player in (0, 1)] == [0.0, 0.0]
