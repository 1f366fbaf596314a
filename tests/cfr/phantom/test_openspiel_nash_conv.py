"""NashConv of the exact engine against OpenSpiel's, on our game as it is registered there."""

from __future__ import annotations

import pytest
from phantom_cases import VERSIONS, form_of, random_behaviours

from cfr.openspiel_policies import to_openspiel

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

# OpenSpiel walks all histories through Python: minutes where ours takes milliseconds.
BOARDS = [(2, 2), (1, 4), (3, 1), pytest.param(2, 3, marks=pytest.mark.slow)]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("rows", "cols"), BOARDS)
def test_nash_conv(rows: int, cols: int, version: str) -> None:
    from envs.openspiel import load_game

    form = form_of(rows, cols, version)
    theirs = load_game(form.game)
    policies = [random_behaviours(form, 1, 9.0)]
    if rows * cols < 6:
        policies.append(form.uniform())
    for behaviours in policies:
        expected = pyspiel.nash_conv(theirs, to_openspiel(form.policy(behaviours), theirs))
        assert form.evaluate(behaviours).nash_conv == pytest.approx(expected, abs=1e-9)
