"""Table of sure wins: who can force a win with certainty, on all Dark Hex boards up to a size.

    python scripts/sure_wins.py                           boards from 2x2 to 20 cells
    python scripts/sure_wins.py cells=30 seconds=60       larger ones, giving a board up after a minute
    python scripts/sure_wins.py version=abrupt

Prints two Markdown tables: who wins (for player 0 with the number of his winning openings), and a line for each board
with openings, positions settled and time. One board: python scripts/solve.py solver=sure_win. The last line of stdout
is one JSON object.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any

from _common import log, print_help, start, wants_help

import cfr
import envs
from configs import bounded, choice, load
from envs.games.hex_board import cell_name

LISTED = 4  # cells are named up to twice this number, and missing ones up to it
ANNOUNCED_CELLS = 20  # up to this size, sure wins against announced openings are looked for as well


@dataclasses.dataclass(frozen=True)
class TableConfig:
    cells: int = bounded(20, 4, 62, help="boards of at most so many cells")
    longest: int = bounded(10, 2, 19, help="at most so many rows, and columns")
    version: str = choice("classical", ("classical", "abrupt"), help="of the game")
    seconds: float = bounded(60.0, 0, above=True, help="give a board up after so much CPU time")
    memory: float | None = bounded(None, 0, above=True, help="GiB at most; default: half of what is free")


class _TooLong(Exception):
    pass


def main(arguments: list[str]) -> dict[str, Any]:
    """Settle the boards; returns the object for the last line of stdout."""
    if wants_help(arguments):
        print_help(__doc__ or "", TableConfig)
    config = load(TableConfig, arguments)
    cfr.sure_win(envs.make("dark_hex", rows=1, cols=1))  # loads the compiled code
    sides = range(2, config.longest + 1)
    boards = sorted(((r, c) for r in sides for c in sides if r * c <= config.cells), key=lambda b: (b[0] * b[1], b))
    found = {board: settle(config, *board) for board in boards}
    shown = [side for side in sides if 2 * side <= config.cells]
    print("| rows \\ cols |" + "".join(f" {cols} |" for cols in shown))
    print("|---|" + "---|" * len(shown))
    for rows in shown:
        print(f"| {rows} |" + "".join(f" {cell(found.get((rows, cols)))} |" for cols in shown))
    print("\n| board | winner | winning openings | player 1 wins if told of | positions (player 0 + 1) | CPU seconds |")
    print("|---|---|---|---|---|---|")
    for board, result in sorted(found.items()):
        print("| {}x{} |".format(*board), " | ".join(line(result, *board)), "|")
    return {"version": config.version, "boards": [result for result in found.values()]}


def settle(config: TableConfig, rows: int, cols: int) -> dict[str, Any]:
    """One board as plain values; winner "?" when it was given up."""
    began = time.process_time()

    def progress(player: int, positions: int) -> None:
        if time.process_time() - began > config.seconds:
            raise _TooLong

    game = envs.make("dark_hex", rows=rows, cols=cols, version=config.version)
    memory = None if config.memory is None else int(config.memory * 2**30)
    result: dict[str, Any] = {"rows": rows, "cols": cols, "winner": "?", "openings": None, "announced": None}
    try:
        found = cfr.sure_win(game, memory, progress)
        announced = found.announced if found.winner == 1 or rows * cols <= ANNOUNCED_CELLS else None
    except (_TooLong, cfr.TreeTooLargeError) as error:
        log(f"{rows}x{cols}: given up after {time.process_time() - began:.0f} s {error}")
        return result | {"positions": None, "seconds": round(time.process_time() - began, 2)}
    seconds = time.process_time() - began
    log(f"{rows}x{cols}: {seconds:.2f} s, {sum(found.num_positions):,} positions")
    named = [None if cells is None else [cell_name(cell, cols) for cell in cells]
             for cells in (found.openings, announced)]
    return result | {"winner": found.winner, "openings": named[0], "announced": named[1],
                     "positions": list(found.num_positions), "seconds": round(seconds, 2)}


def cell(result: dict[str, Any] | None) -> str:
    if result is None:
        return "-"
    if result["winner"] == 0:
        return f"P0 ({len(result['openings'])})"
    return {None: "neither", 1: "P1", "?": "?"}[result["winner"]]


def line(result: dict[str, Any], rows: int, cols: int) -> list[str]:
    def some(cells: list[str] | None) -> str:
        if cells is None:
            return "?"
        if not cells:
            return "none"
        if len(cells) == rows * cols:
            return "all"
        missing = [cell_name(c, cols) for c in range(rows * cols) if cell_name(c, cols) not in cells]
        if len(missing) <= min(LISTED, len(cells) - 1):
            return "all but " + ", ".join(missing)
        return ", ".join(cells) if len(cells) <= 2 * LISTED else str(len(cells))

    positions = "-" if result["positions"] is None else " + ".join(f"{count:,}" for count in result["positions"])
    who = cell(result | {"winner": 1}) if result["winner"] == 1 else cell(result).partition(" ")[0]
    return [who, some(result["openings"]), some(result["announced"]), positions, f"{result['seconds']:.2f}"]


if __name__ == "__main__":
    start(main)
