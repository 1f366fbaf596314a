"""Play one of the games at the terminal: hex, dark_hex, phantom_ttt, tac_tix, docking or renju3.

    python scripts/play.py                                              you are red on 3x3 Dark Hex, against uniform
    python scripts/play.py game.rows=5 game.cols=5 seat=blue
    python scripts/play.py opponent=policy:runs/solve/dark_hex-2-3-abrupt-silent-cfr_plus
    python scripts/play.py opponent=runs/MY_TRAINING_RUN
    python scripts/play.py opponent=human game.rows=7 game.cols=7      two people, a curtain between the turns
    python scripts/play.py game=hex opponent=human
    python scripts/play.py game=hex game.rows=7 opponent=hard first=alternately games=3
    python scripts/play.py game=renju3 opponent=medium seat=red         the other two seats are the computer's

Without game=, the game is the one that the opponent was made for. The computer's levels (easy, medium, hard) play the
games that hide nothing. The last line of stdout is one JSON object: game, result, winner, reason, moves, players; with
games=N it holds the list of those. The moves are complete when the game came to its end; otherwise those that were
hidden from you stay hidden ("?"), and only record=FILE.json keeps them.
"""

from __future__ import annotations

import dataclasses
import secrets
import sys
from pathlib import Path
from typing import Any

from _agents import FORMS, Entry, game_of, read_agent
from _common import UserError, make_game, named_game, print_help, start, wants_help, write_json

from agents.table import Outcome, Table, Terminal, seat_names
from configs import bounded, described, factory, load
from envs import Game, game_names

DEFAULT_GAME = "dark_hex"
FIRST = ("you", "computer", "alternately")


@dataclasses.dataclass(frozen=True)
class PlayConfig:
    game: dict = factory(dict, help="game=NAME, then game.PARAMETER=VALUE")
    opponent: str = described("uniform", help=f"human; {FORMS}")
    seat: str | None = described(None, help="your side against agents, by its colour; null: the one that moves first")
    first: str | None = described(
        None, help=f"instead of seat, who moves first: {', '.join(FIRST)} (you change after every game)"
    )
    games: int = bounded(1, 1, 1000, help="how many games, one after the other")
    seed: int | None = bounded(None, 0, help="of the opponent's choices; null: different every time")
    record: str | None = described(None, help="file for the complete record of the game, JSON")


def main(arguments: list[str]) -> dict[str, Any]:
    """Play; returns the object for the last line of stdout."""
    if wants_help(arguments):
        print_help(__doc__ or "", PlayConfig)
    config = load(PlayConfig, arguments, defaults={"game": DEFAULT_GAME} if named_game(arguments) else {})
    entry = None if config.opponent == "human" else read_agent(config.opponent, "opponent")
    game = table_game(config, entry)
    seats = [your_seat(config, game, index) for index in range(config.games)]
    # An agent with a memory of its own sits in one seat only.
    opponents = [None if entry is None else entry.agent(game) for _ in range(game.num_players - 1)]
    typed = sys.stdin.isatty()
    terminal = Terminal(fancy=sys.stdout.isatty() and typed, echo=not typed)
    seed = secrets.randbits(63) if config.seed is None else config.seed
    outcomes: list[Outcome] = []
    records: list[dict[str, Any]] = []
    for index, seat in enumerate(seats):
        table = Table(game, [*opponents[:seat], None, *opponents[seat:]], terminal, seed + index)
        outcomes.append(table.play())
        records.append(dataclasses.asdict(table.outcome(complete=True)))
        if outcomes[-1].reason == "left":
            break
    if config.record is not None:
        write_json(Path(config.record), records[0] if config.games == 1 else {"games": records})
    results = [dataclasses.asdict(outcome) for outcome in outcomes]
    return results[0] if config.games == 1 else {"games": results}


def your_seat(config: PlayConfig, game: Any, index: int) -> int:
    """Where the person sits in game ``index`` (0, 1, ...)."""
    names = seat_names(game)
    if config.seat is not None:
        if config.first is not None:
            raise UserError(f"seat = {config.seat!r} and first = {config.first!r}: both say where you sit; give one")
        if config.seat not in names:
            raise UserError(f"seat = {config.seat!r}: not a side of {game.name}; one of {', '.join(names)}")
        return names.index(config.seat)
    if config.first not in (None, *FIRST):
        raise UserError(f"first = {config.first!r}: one of {', '.join(FIRST)}")
    if config.first == "alternately":
        return index % game.num_players
    return int(config.first == "computer")


def table_game(config: PlayConfig, entry: Entry | None) -> Any:
    if config.game:
        section = dict(config.game)
        # Against the beginner's level Hex is played without the swap, unless it is asked for.
        if section.get("name") == "hex" and config.opponent == "easy":
            section.setdefault("swap", "off")
        game = make_game(section)
    else:
        game = game_of([entry] if entry else []) or make_game({"name": DEFAULT_GAME})
    if not isinstance(game, Game):
        raise UserError(f"game = {game}: play.py plays {', '.join(game_names())}")
    return game


if __name__ == "__main__":
    start(main)
