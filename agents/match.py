"""Matches: agents against each other in all seats, reported seat by seat.

The same seeds are used for every rotation of the seats, and a seed belongs to a seat: two equal agents play the
same games with the roles exchanged, so that a match of an agent against itself is exactly even.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agents.agent import Agent, PolicyAgent, draw, observe
from envs.core import Game, IllegalActionError

__all__ = ["AgentReport", "MatchReport", "SeatReport", "play_games", "play_match", "wilson"]

_BATCH = 1024  # games played side by side


@dataclass(frozen=True)
class SeatReport:
    """How an agent did in one seat: mean return with its 95 % interval, and how the games ended for it."""

    seat: int
    games: int
    mean_return: float
    low: float
    high: float
    wins: int
    draws: int
    losses: int


@dataclass(frozen=True)
class AgentReport:
    """How an agent did, all seats weighing the same; `score` maps the returns to [0, 1], so that even is 0.5.

    The interval is the mean of the seats' intervals: wide enough whatever the seats' games have in common.
    """

    name: str
    games: int
    mean_return: float
    low: float
    high: float
    score: float
    seats: tuple[SeatReport, ...]


@dataclass(frozen=True)
class MatchReport:
    """`games` in total, `seeds` different ones, each played once in every rotation of the seats."""

    game: str
    games: int
    seeds: int
    mean_length: float
    agents: tuple[AgentReport, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"{self.games} games of {self.game}, 95 % intervals",
            f"{'agent':<24} {'seat':>5} {'games':>7} {'mean return':>12} {'interval':>20} {'wins':>7} {'draws':>6}",
        ]
        for agent in self.agents:
            for seat in agent.seats:
                lines.append(
                    f"{agent.name:<24} {seat.seat:>5} {seat.games:>7} {seat.mean_return:>12.4f} "
                    f"{f'[{seat.low:.4f}, {seat.high:.4f}]':>20} {seat.wins:>7} {seat.draws:>6}"
                )
            lines.append(
                f"{agent.name:<24} {'all':>5} {agent.games:>7} {agent.mean_return:>12.4f} "
                f"{f'[{agent.low:.4f}, {agent.high:.4f}]':>20} "
                f"{sum(s.wins for s in agent.seats):>7} {sum(s.draws for s in agent.seats):>6}"
            )
        return "\n".join(lines)


def play_match(
    game: Game,
    agents: Sequence[Agent],
    games: int,
    seed: int = 0,
    progress: Callable[[int], Any] | None = None,
) -> MatchReport:
    """Play `games` games *per rotation of the seats*; with n players there are n rotations.

    Args:
        game: any game of `envs`.
        agents: one a player. The same object may appear twice if it is a PolicyAgent.
        games: seeds, each played in all rotations.
        seed: of everything; 0 is a seed.
        progress: called with the number of games finished since the last call.

    Raises:
        ValueError: the wrong number of agents, no games, or an agent that chose an illegal action.
    """
    returns, plies = play_games(game, agents, games, seed, progress)
    players = game.num_players
    reports = tuple(
        _report(agent.name, game, {(i + r) % players: returns[r, :, i] for r in range(players)})
        for i, agent in enumerate(agents)
    )
    return MatchReport(game.spec(), players * games, games, plies / (players * games), reports)


def play_games(
    game: Game,
    agents: Sequence[Agent],
    games: int,
    seed: int = 0,
    progress: Callable[[int], Any] | None = None,
) -> tuple[np.ndarray, int]:
    """The games of `play_match`, one by one: returns float64 [rotation, seed, agent], and the plies of all.

    In rotation r, agent i sits in seat (i + r) mod n.
    """
    players = game.num_players
    if len(agents) != players:
        raise ValueError(f"{game.spec()} has {players} players, got {len(agents)} agents; give one a player")
    if games < 1:
        raise ValueError(f"games={games}: a match needs at least one game")
    if len({id(agent) for agent in agents if not isinstance(agent, PolicyAgent)}) != sum(
        not isinstance(agent, PolicyAgent) for agent in agents
    ):
        raise ValueError("an agent with memory cannot sit in two seats of one game; give two objects")
    side_by_side = all(isinstance(agent, PolicyAgent) for agent in agents)
    batch = _BATCH if side_by_side else 1
    returns = np.empty((players, games, players))  # rotation, seed, agent
    plies = 0
    for rotation in range(players):
        seated = [agents[(seat - rotation) % players] for seat in range(players)]
        for first in range(0, games, batch):
            last = min(first + batch, games)
            by_seat, length = _play(game, seated, seed, first, last)
            returns[rotation, first:last] = by_seat[:, [(i + rotation) % players for i in range(players)]]
            plies += length
            if progress is not None:
                progress(last - first)
    return returns, plies


def _play(game: Game, seated: Sequence[Agent], seed: int, first: int, last: int) -> tuple[np.ndarray, int]:
    """Games first..last-1, side by side: returns float64 [n, P] by seat, and the plies of all."""
    states = [game.new_initial_state() for _ in range(first, last)]
    # Row g, seat s, ply k: the number that decides a policy's action. Drawn by game, so that the result does
    # not depend on how many are played side by side.
    uniform = np.stack(
        [
            np.random.default_rng([seed, index]).random((len(seated), game.max_game_length()))
            for index in range(first, last)
        ]
    )
    for seat, agent in enumerate(seated):
        if not isinstance(agent, PolicyAgent):
            agent.reset(int(np.random.SeedSequence([seed, first, seat]).generate_state(1)[0]))
    running, ply = list(range(len(states))), 0
    plies = 0
    while running:
        movers = [states[index].current_player() for index in running]
        for seat, agent in enumerate(seated):
            mine = [index for index, mover in zip(running, movers, strict=True) if mover == seat]
            if not mine:
                continue
            seen = [observe(states[index], agent.parts) for index in mine]
            if isinstance(agent, PolicyAgent):
                actions = draw(agent.probabilities(seen), uniform[mine, seat, ply])
            else:
                actions = np.array([agent.act(observation) for observation in seen])
            for index, action in zip(mine, actions, strict=True):
                try:
                    states[index].apply_action(int(action))
                except IllegalActionError as error:
                    raise ValueError(f"agent {agent.name!r} in seat {seat}: {error}") from error
        plies += len(running)
        ply += 1
        running = [index for index in running if not states[index].is_terminal()]
    return np.array([state.returns() for state in states]), plies


def _report(name: str, game: Game, returns: dict[int, np.ndarray]) -> AgentReport:
    low, high = game.min_utility(), game.max_utility()
    seats = []
    for seat, values in sorted(returns.items()):
        interval = wilson(float(values.mean()), values.size, low, high)
        seats.append(
            SeatReport(
                seat,
                values.size,
                float(values.mean()),
                *interval,
                int((values > 0).sum()),
                int((values == 0).sum()),
                int((values < 0).sum()),
            )
        )
    count = len(seats)
    mean = sum(s.mean_return for s in seats) / count
    return AgentReport(
        name,
        sum(s.games for s in seats),
        mean,
        sum(s.low for s in seats) / count,
        sum(s.high for s in seats) / count,
        (mean - low) / (high - low),
        tuple(seats),
    )


def wilson(mean: float, count: int, low: float, high: float, z: float = 1.959964) -> tuple[float, float]:
    """95 % interval for the mean of `count` independent values in [low, high].

    Wilson's interval for a share (JASA 1927), scaled: exact for two outcomes such as win and loss, too wide
    when there are others (nothing in [low, high] varies more), and never empty, not even when all games
    ended alike.
    """
    share = (mean - low) / (high - low)
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = high - low
    return low + scale * max(0.0, centre - half), low + scale * min(1.0, centre + half)
