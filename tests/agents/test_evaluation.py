"""Exact evaluation of policy agents: the known values of uniform play."""

from __future__ import annotations

import pytest

import envs
from agents import TabularAgent, UniformAgent
from agents.evaluation import Tabulator, fits


@pytest.mark.parametrize(
    ("rows", "cols", "version", "nash_conv"),
    [(2, 2, "classical", 1.25), (2, 2, "abrupt", 5 / 6), (2, 3, "classical", 0.75), (3, 2, "abrupt", 1.230555555556)],
)
def test_uniform_play(rows, cols, version, nash_conv):
    game = envs.make("dark_hex", rows=rows, cols=cols, version=version, info="silent")
    tabulator = Tabulator(game)
    assert tabulator.nash_conv(UniformAgent()) == pytest.approx(nash_conv, abs=1e-10)
    # A tabular agent gives its own policy back.
    policy = tabulator.policy(UniformAgent())
    assert tabulator.nash_conv(TabularAgent(policy)) == pytest.approx(nash_conv, abs=1e-10)


def test_only_small_trees_fit():
    assert fits(envs.make("dark_hex", rows=3, cols=2, version="abrupt"))
    assert not fits(envs.make("dark_hex", rows=3, cols=3))
