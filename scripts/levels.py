"""How often each level of the computer beats the levels below it and the uniform player, seat by seat.

    python scripts/levels.py game=hex game.rows=7 game.swap=off games=50
    python scripts/levels.py game=renju3 opening=0 games=100

The levels are deterministic: every game begins with `opening` random moves, and each such beginning is played with
the level in each seat; the other seats are taken by its rival. The last line of stdout is one JSON object;
wins[LEVEL vs RIVAL][seat].
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from _common import UserError, make_game, print_help, start, wants_help

from agents import Agent, UniformAgent, observe
from agents.levels import computer_opponent, levels_of
from configs import bounded, described, factory, load
from envs import Game

UNIFORM = "uniform"


@dataclasses.dataclass(frozen=True)
class LevelsConfig:
    game: dict = factory(dict, help="game=NAME, then game.PARAMETER=VALUE")
    levels: tuple[str, ...] = described((), help="levels to measure; empty: all of the game")
    games: int = bounded(50, 1, 100_000, help="beginnings, each played in every seat")
    opening: int = bounded(2, 0, 100, help="random moves at the start of every game")
    seed: int = bounded(0, 0, help="of the beginnings and of the uniform player")


def main(arguments: list[str]) -> dict[str, Any]:
    """Measure; returns the object for the last line of stdout."""
    if wants_help(arguments):
        print_help(__doc__ or "", LevelsConfig)
    config = load(LevelsConfig, arguments, defaults={"game": "hex"})
    game = make_game(config.game)
    levels = levels_of(game) if isinstance(game, Game) else ()
    if not levels:
        raise UserError(f"game = {config.game.get('name')}: the computer has no levels for it")
    unknown = set(config.levels) - set(levels)
    if unknown:
        raise UserError(f"levels: no level {min(unknown)!r}; {game.name} is played at {', '.join(levels)}")
    beginnings = [
        _beginning(game, config.opening, np.random.default_rng([config.seed, index])) for index in range(config.games)
    ]
    wins: dict[str, list[int]] = {}
    print(f"{game.spec()}, {config.games} games a seat")
    for index, level in enumerate(levels):
        if config.levels and level not in config.levels:
            continue
        for rival in (UNIFORM, *levels[:index]):
            name = f"{level} vs {rival}"
            wins[name] = measure(game, level, rival, beginnings, config.seed)
            print(f"  {name:<20} wins by seat {wins[name]}", flush=True)
    return {"game": game.spec(), "games": config.games, "opening": config.opening, "seed": config.seed, "wins": wins}


def measure(game: Game, level: str, rival: str, beginnings: list[list[int]], seed: int) -> list[int]:
    """Wins of a level in each seat against its rival in all others."""
    player = computer_opponent(level, game)
    others = [_agent(rival, game) for _ in range(game.num_players - 1)]
    wins = [0] * game.num_players
    for index, beginning in enumerate(beginnings):
        for seat in range(game.num_players):
            seated = [*others[:seat], player, *others[seat:]]
            for at, agent in enumerate(seated):
                agent.reset(int(np.random.SeedSequence([seed, index, at]).generate_state(1)[0]))
            state = game.new_initial_state()
            state.apply_actions(beginning)
            while not state.is_terminal():
                agent = seated[state.current_player()]
                state.apply_action(agent.act(observe(state, agent.parts)))
            wins[seat] += state.returns()[seat] > 0
    return [int(count) for count in wins]


def _agent(name: str, game: Game) -> Agent:
    return UniformAgent() if name == UNIFORM else computer_opponent(name, game)


def _beginning(game: Game, length: int, rng: np.random.Generator) -> list[int]:
    """Random moves that leave the game running."""
    for _ in range(1000):
        state = game.new_initial_state()
        for _ in range(length):
            state.apply_action(int(rng.choice(state.legal_actions())))
            if state.is_terminal():
                break
        else:
            return state.history()
    raise UserError(f"opening = {length}: hardly any game of {game.spec()} lasts so long; choose a smaller number")


if __name__ == "__main__":
    start(main)
