"""Ranking: round robins over all seats, and Elo ratings with intervals.

Every group of as many agents as the game has players plays a match (`agents.match`), in every order around the table.
A game counts as a comparison of every pair of its players: who got the higher return is the winner, equal returns
are half a win each. The ratings are the maximum of the Bradley-Terry likelihood (Biometrika 1952; Hunter, Annals of
Statistics 2004) with a weak prior, which keeps them finite when an agent wins or loses everything.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.agent import Agent
from agents.match import play_games
from envs.core import Game

__all__ = ["Contestant", "Rating", "Ranking", "bradley_terry", "lineups", "plot_ranking", "rank"]

ELO = 400 / math.log(10)
"""Elo points a unit of log-odds."""
Z = 1.959964
PRIOR = 1.0
"""Games that every agent is taken to have drawn against an average agent."""


@dataclass(frozen=True)
class Contestant:
    """An agent to rank. `make` gives a new object each time: one may be needed in two seats of a game."""

    name: str
    make: Callable[[], Agent]


@dataclass(frozen=True)
class Rating:
    """How an agent did.

    Attributes:
        elo, low, high: rating (the agents' mean is 0) and its 95 % interval.
        games: in which he sat.
        score: his share of the comparisons won, draws counting half.
        mean_return: by seat, over all of his games in it.
    """

    name: str
    elo: float
    low: float
    high: float
    games: int
    score: float
    mean_return: tuple[float, ...]


@dataclass(frozen=True)
class Ranking:
    """The agents as they were given, and how many games were played in all.

    `wins[i][j]`: comparisons that agent i won against agent j, draws counting half.
    """

    game: str
    games: int
    ratings: tuple[Rating, ...]
    wins: tuple[tuple[float, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def sorted(self) -> list[Rating]:
        """The best first; in the order given among equals."""
        return sorted(self.ratings, key=lambda rating: -rating.elo)

    def __str__(self) -> str:
        width = max(len("agent"), *(len(rating.name) for rating in self.ratings))
        seats = range(len(self.ratings[0].mean_return))
        lines = [
            f"{self.games} games of {self.game}, Elo with 95 % intervals",
            f"{'':>4} {'agent':<{width}} {'Elo':>7} {'interval':>16} {'games':>7} {'score':>7}"
            + "".join(f"{f'seat {seat}':>9}" for seat in seats),
        ]
        for place, rating in enumerate(self.sorted(), start=1):
            lines.append(
                f"{place:>3}. {rating.name:<{width}} {rating.elo:>7.0f} "
                f"{f'[{rating.low:.0f}, {rating.high:.0f}]':>16} {rating.games:>7} {rating.score:>7.3f}"
                + "".join(f"{mean:>9.3f}" for mean in rating.mean_return)
            )
        return "\n".join(lines)


def lineups(agents: int, players: int) -> list[tuple[int, ...]]:
    """Who plays whom: every group of `players` agents, in every order around the table (rotations are the match's).

    With fewer agents than players, agents sit in several seats; a group of one agent alone tells nothing.
    """
    if agents >= players:
        groups = list(itertools.combinations(range(agents), players))
    else:
        groups = [
            group
            for group in itertools.combinations_with_replacement(range(agents), players)
            if len(set(group)) == agents
        ]
    orders = {min(order[r:] + order[:r] for r in range(players)) for g in groups for order in itertools.permutations(g)}
    return sorted(orders)


def rank(
    game: Game,
    contestants: Sequence[Contestant],
    games: int,
    seed: int = 0,
    progress: Callable[[int], Any] | None = None,
) -> Ranking:
    """Play the round robin: each of `lineups`, `games` seeds, each in every rotation of the seats.

    Args:
        game: any game of `envs`.
        contestants: two or more, with different names.
        games: seeds; the same ones for every lineup.
        seed: of everything; 0 is a seed.
        progress: called with the number of games finished since the last call.

    Raises:
        ValueError: fewer than two agents, equal names, no games, or an agent that chose an illegal action.
    """
    names = [contestant.name for contestant in contestants]
    if len(names) < 2:
        raise ValueError(f"a ranking needs at least two agents, got {len(names)}")
    if len(set(names)) < len(names):
        raise ValueError(f"agents to rank need different names, got {', '.join(names)}")
    players = game.num_players
    wins = np.zeros((len(names), len(names)))
    comparisons = np.zeros(len(names))
    sums, counts = np.zeros((2, len(names), players))
    played = 0
    objects: dict[tuple[int, int], Agent] = {}
    for lineup in lineups(len(names), players):
        seated = []
        for place, index in enumerate(lineup):
            key = index, lineup[:place].count(index)
            if key not in objects:
                objects[key] = contestants[index].make()
            seated.append(objects[key])
        returns, _ = play_games(game, seated, games, seed, progress)
        played += players * games
        for rotation, place in itertools.product(range(players), range(players)):
            seat = (place + rotation) % players
            sums[lineup[place], seat] += returns[rotation, :, place].sum()
            counts[lineup[place], seat] += games
        for a, b in itertools.permutations(range(players), 2):
            if lineup[a] != lineup[b]:
                margin = returns[:, :, a] - returns[:, :, b]
                wins[lineup[a], lineup[b]] += (margin > 0).sum() + 0.5 * (margin == 0).sum()
                comparisons[lineup[a]] += margin.size
    # The comparisons of one game depend on each other: it weighs as much as its players less one.
    elo, half = bradley_terry(wins * (2 / players))
    ratings = tuple(
        Rating(
            name,
            float(elo[i]),
            float(elo[i] - half[i]),
            float(elo[i] + half[i]),
            int(counts[i].sum()),
            float(wins[i].sum() / comparisons[i]),
            tuple(float(mean) for mean in sums[i] / counts[i]),
        )
        for i, name in enumerate(names)
    )
    return Ranking(game.spec(), played, ratings, tuple(tuple(float(w) for w in row) for row in wins))


def bradley_terry(wins: np.ndarray, prior: float = PRIOR) -> tuple[np.ndarray, np.ndarray]:
    """Elo ratings float64 [m] with mean 0, and half the width of their 95 % intervals.

    The intervals come from the curvature of the likelihood at its maximum and treat comparisons as independent:
    games of deterministic agents, which repeat each other, make them too narrow.

    Args:
        wins: float64 [m, m], how often i was better than j (draws: half for each); the diagonal is ignored.
        prior: draws of every agent against one rated 0.
    """
    wins = np.asarray(wins, dtype=np.float64) * (1 - np.eye(len(wins)))
    games = wins + wins.T
    rating = np.zeros(len(wins))

    def slope(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        expected = 1 / (1 + np.exp(at[None, :] - at[:, None]))  # of i against j
        alone = 1 / (1 + np.exp(-at))
        gradient = (wins - games * expected).sum(axis=1) + prior * (0.5 - alone)
        weight = games * expected * (1 - expected)
        curvature = np.diag(weight.sum(axis=1) + prior * alone * (1 - alone)) - weight
        return gradient, curvature

    for _ in range(1000):  # Newton's method; the target is concave, steps are held back where it is flat
        gradient, curvature = slope(rating)
        step = np.linalg.solve(curvature, gradient)
        rating = rating + step * min(1.0, 1.0 / np.abs(step).max()) if step.any() else rating
        if np.abs(step).max() < 1e-12:
            break
    centre = np.eye(len(wins)) - 1 / len(wins)
    covariance = centre @ np.linalg.inv(slope(rating)[1]) @ centre
    return ELO * (rating - rating.mean()), ELO * Z * np.sqrt(np.diag(covariance).clip(0))


def plot_ranking(ranking: Ranking, path: Path) -> Path:
    """Draw the ratings with their intervals, the best on top, as a PNG file."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ratings = ranking.sorted()[::-1]
    elo = np.array([rating.elo for rating in ratings])
    margins = np.array([[rating.elo - rating.low, rating.high - rating.elo] for rating in ratings]).T
    style: Any = {"font.size": 11, "axes.titlelocation": "left", "axes.titleweight": "bold"}
    with plt.rc_context(style):
        figure, axis = plt.subplots(figsize=(7.2, 1.4 + 0.42 * len(ratings)), constrained_layout=True)
        axis.errorbar(elo, range(len(ratings)), xerr=margins, fmt="o", color="#0072b2", capsize=3)
        axis.set_yticks(range(len(ratings)), [rating.name for rating in ratings])
        axis.set_ylim(-0.6, len(ratings) - 0.4)
        axis.set_xlabel(f"Elo, 95 % interval ({ranking.games} games)")
        axis.set_title(ranking.game.partition("(")[0], fontsize=11)
        axis.grid(axis="x", alpha=0.25)
        for side in ("top", "right", "left"):
            axis.spines[side].set_visible(False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=130)
        plt.close(figure)
    return path
