"""Rankings: the round robin, Bradley-Terry ratings, the table and the picture."""

from __future__ import annotations

import math

import numpy as np
import pytest

import envs
from agents import UniformAgent
from agents.rating import Contestant, bradley_terry, lineups, plot_ranking, rank


class Choosing:
    """The first or the last legal action."""

    name = "choosing"
    parts = frozenset()

    def __init__(self, index):
        self.index = index

    def reset(self, seed):
        pass

    def act(self, observation):
        return int(np.flatnonzero(observation.mask)[self.index])


def test_lineups_are_all_groups_in_all_orders_around_the_table():
    assert lineups(3, 2) == [(0, 1), (0, 2), (1, 2)]
    assert lineups(3, 3) == [(0, 1, 2), (0, 2, 1)]
    assert len(lineups(4, 3)) == 4 * 2
    assert lineups(2, 3) == [(0, 0, 1), (0, 1, 1)]


def test_two_agents_have_the_rating_of_their_score():
    elo, half = bradley_terry(np.array([[0.0, 75.0], [25.0, 0.0]]), prior=1e-9)
    assert elo[0] - elo[1] == pytest.approx(400 * math.log10(3))
    assert elo.sum() == pytest.approx(0)
    # The textbook standard error of a log-odds, 1 / sqrt(n p q); each rating is half the difference.
    assert 2 * half[0] == pytest.approx(1.959964 * 400 / math.log(10) / math.sqrt(100 * 0.75 * 0.25), rel=1e-6)


def test_ratings_are_those_that_made_the_results_and_intervals_cover_them():
    true = np.array([-1.0, -0.2, 0.3, 0.9])
    chance = 1 / (1 + np.exp(true[None, :] - true[:, None]))
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        wins = np.triu(rng.binomial(60, chance), 1)
        wins = wins + np.tril(60 - wins.T, -1)
        elo, half = bradley_terry(wins)
        covered += (abs(elo - true * 400 / math.log(10)) <= half).sum()
    assert 0.92 <= covered / 800 <= 0.98
    exact, _ = bradley_terry(1e6 * chance)
    assert exact == pytest.approx(true * 400 / math.log(10), abs=0.1)


def test_a_perfect_score_is_finite_and_uncertain():
    elo, half = bradley_terry(np.array([[0.0, 40.0], [0.0, 0.0]]))
    assert 300 < elo[0] - elo[1] < 1500 and half[0] > 100
    assert np.isfinite(bradley_terry(np.zeros((3, 3)))[0]).all()


def test_a_round_robin():
    game = envs.make("hex", rows=4, swap="off")
    told = []
    contestants = [Contestant("first", lambda: Choosing(0)), Contestant("uniform", UniformAgent),
                   Contestant("last", lambda: Choosing(-1))]
    ranking = rank(game, contestants, games=10, seed=3, progress=told.append)
    assert ranking.games == sum(told) == 3 * 2 * 10
    assert ranking == rank(game, contestants, games=10, seed=3)
    wins = np.array(ranking.wins)
    assert np.array_equal(wins + wins.T, 20 * (1 - np.eye(3)))
    for rating, row in zip(ranking.ratings, wins, strict=True):
        assert rating.games == 40 and rating.score == row.sum() / 40 and rating.low < rating.elo < rating.high
        assert sum(rating.mean_return) / 2 == pytest.approx(2 * rating.score - 1)
    text = str(ranking)
    assert "60 games of hex(rows=4" in text and text.splitlines()[2].split()[1] == ranking.sorted()[0].name


def test_three_players_are_compared_in_pairs():
    game = envs.make("renju3", rows=4, win_len=3)
    contestants = [Contestant(f"uniform {i}", UniformAgent) for i in range(2)]
    ranking = rank(game, contestants, games=5)  # fewer agents than seats: they sit in several
    assert ranking.games == 2 * 3 * 5
    wins = np.array(ranking.wins)
    # Each game has two pairs of different agents.
    assert wins.sum() == 2 * ranking.games and wins[0, 0] == 0
    # The same uniform player under two names, in mirrored seats with the seats' seeds: exactly even.
    assert ranking.ratings[0].low < 0 < ranking.ratings[0].high
    assert len(ranking.ratings[0].mean_return) == 3


def test_the_picture(tmp_path):
    game = envs.make("hex", rows=3, swap="off")
    ranking = rank(game, [Contestant("a", UniformAgent), Contestant("b", lambda: Choosing(0))], games=5)
    path = plot_ranking(ranking, tmp_path / "there" / "elo.png")
    assert path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5_000


def test_what_cannot_be_ranked():
    game = envs.make("hex", rows=3)
    with pytest.raises(ValueError, match="at least two"):
        rank(game, [Contestant("a", UniformAgent)], games=1)
    with pytest.raises(ValueError, match="different names.*a, a"):
        rank(game, [Contestant("a", UniformAgent)] * 2, games=1)
