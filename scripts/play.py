"""Play Hex or Dark Hex at the terminal.

    python scripts/play.py                                              you are red on 3x3 Dark Hex, against uniform
    python scripts/play.py game.rows=5 game.cols=5 seat=blue
    python scripts/play.py opponent=policy:runs/solve/dark_hex-2-3-abrupt-silent-cfr_plus
    python scripts/play.py opponent=runs/MY_TRAINING_RUN
    python scripts/play.py opponent=human game.rows=7 game.cols=7      two people, a curtain between the turns
    python scripts/play.py game=hex opponent=human

Without game=, the game is the one that the opponent was made for. The last line of stdout is one JSON object: game,
result, winner, reason, moves, players. Its moves are complete when a chain ended the game; otherwise those that were
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

from agents.table import Table, Terminal
from configs import bounded, choice, described, factory, load

DEFAULT_GAME = "dark_hex"
SEATS = ("red", "blue")


@dataclasses.dataclass(frozen=True)
class PlayConfig:
    game: dict = factory(dict, help="game=hex or dark_hex, then game.PARAMETER=VALUE")
    opponent: str = described("uniform", help=f"human; {FORMS}")
    seat: str = choice("red", SEATS, help="your side against an agent; red moves first")
    seed: int | None = bounded(None, 0, help="of the opponent's choices; null: different every time")
    record: str | None = described(None, help="file for the complete record of the game, JSON")


def main(arguments: list[str]) -> dict[str, Any]:
    """Play one game; returns the object for the last line of stdout."""
    if wants_help(arguments):
        print_help(__doc__ or "", PlayConfig)
    config = load(PlayConfig, arguments, defaults={"game": DEFAULT_GAME} if named_game(arguments) else {})
    entry = None if config.opponent == "human" else read_agent(config.opponent, "opponent")
    game = table_game(config, entry)
    opponent = None if entry is None else entry.agent(game)
    seats = [None, opponent] if config.seat == "red" else [opponent, None]
    typed = sys.stdin.isatty()
    terminal = Terminal(fancy=sys.stdout.isatty() and typed, echo=not typed)
    seed = secrets.randbits(63) if config.seed is None else config.seed
    table = Table(game, seats, terminal, seed)
    outcome = table.play()
    if config.record is not None:
        write_json(Path(config.record), dataclasses.asdict(table.outcome(complete=True)))
    return dataclasses.asdict(outcome)


def table_game(config: PlayConfig, entry: Entry | None) -> Any:
    if config.game:
        game = make_game(config.game)
    else:
        game = game_of([entry] if entry else []) or make_game({"name": DEFAULT_GAME})
    if getattr(game, "name", None) not in ("hex", "dark_hex"):
        raise UserError(f"game = {game}: play.py plays hex and dark_hex")
    return game


if __name__ == "__main__":
    start(main)
