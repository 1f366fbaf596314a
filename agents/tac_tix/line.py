"""Lines of play and classes of moves, as text and as a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents.tac_tix.table import run_masks, run_name


def best_line(rows: int, cols: int, start: int, is_lost: Callable[[int], bool]) -> list[int]:
    """Moves (masks of runs) of a game in which both do their best; ends with the empty board.

    ``is_lost(mask)`` says that a position is known to be lost for the player to move. Who can win takes the winning
    run that leaves the fewest counters. Who cannot leaves the opponent the fewest winning replies, then the most
    counters. Ties go to the lowest action number.
    """
    runs = run_masks(rows, cols)
    line, mask = [], start
    while mask:
        here = [run for run in runs if run & mask == run]
        winning = [run for run in here if is_lost(mask ^ run)]
        if winning:
            move = min(winning, key=lambda run: (mask ^ run).bit_count())
        else:
            move = min(here, key=lambda run: (_replies(runs, mask ^ run, is_lost), run.bit_count()))
        line.append(move)
        mask ^= move
    return line


def _replies(runs: list[int], mask: int, is_lost: Callable[[int], bool]) -> int:
    return sum(1 for run in runs if run & mask == run and is_lost(mask ^ run))


def move_classes(rows: int, cols: int, moves: list[int], start: int | None = None) -> list[tuple[int, int]]:
    """Moves of a board up to its symmetries: (representative, how many), in the order of their names' cells.

    The representative is the run whose first and then last cell have the lowest numbers. ``start`` (the full board)
    leaves those symmetries that map it onto itself.
    """
    maps = _symmetries(rows, cols)
    if start is not None:
        maps = [image for image in maps if _mapped(start, image) == start]
    classes: dict[int, set[int]] = {}
    for move in moves:
        orbit = {_mapped(move, image) for image in maps}
        classes.setdefault(min(orbit, key=_ends), set()).update(orbit & set(moves))
    return [(first, len(classes[first])) for first in sorted(classes, key=_ends)]


def _ends(run: int) -> tuple[int, int]:
    return (run & -run).bit_length(), run.bit_length()


def _mapped(mask: int, image: list[int]) -> int:
    return sum(1 << image[cell] for cell in range(len(image)) if mask >> cell & 1)


def _symmetries(rows: int, cols: int) -> list[list[int]]:
    """For each symmetry of the board the image of every cell."""
    maps = []
    for down in (False, True):
        for right in (False, True):
            place = [(rows - 1 - r if down else r, cols - 1 - c if right else c)
                     for r in range(rows) for c in range(cols)]  # fmt: skip
            maps.append([r * cols + c for r, c in place])
            if rows == cols:
                maps.append([c * cols + r for r, c in place])
    return maps


def classes_text(rows: int, cols: int, moves: list[int]) -> str:
    """``a1-a2 x2, b1-b2``: moves up to symmetry."""
    found = move_classes(rows, cols, moves)
    return ", ".join(run_name(run, cols) + (f" x{count}" if count > 1 else "") for run, count in found)


def line_text(cols: int, line: list[int]) -> str:
    """``a1-c1 b2 ...``: readable by the game's ``state_from_string``."""
    return " ".join(run_name(run, cols) for run in line)


def draw_line(rows: int, cols: int, start: int, line: list[int], title: str, cell: int = 22) -> Any:
    """A Pillow image: one small board per move of a line, the counters taken by it marked in the mover's colour."""
    from PIL import Image, ImageDraw, ImageFont

    scale, gap, head = 3, 18, 40
    across = min(len(line), max(1, 900 // (cols * cell + gap)))
    down = -(-len(line) // across)
    size = (gap + across * (cols * cell + gap), head + down * (rows * cell + gap + 24))
    image = Image.new("RGB", (size[0] * scale, size[1] * scale), (247, 243, 235))
    draw = ImageDraw.Draw(image)
    ink, hole, counter, movers = (62, 58, 54), (226, 219, 206), (120, 112, 100), ((214, 58, 49), (45, 107, 204))
    draw.text((gap * scale, 12 * scale), title, fill=ink, font=ImageFont.load_default(15 * scale))
    mask = start
    for number, run in enumerate(line):
        left = gap + number % across * (cols * cell + gap)
        top = head + number // across * (rows * cell + gap + 24)
        label = f"{number + 1}. {run_name(run, cols)}"
        draw.text((left * scale, top * scale), label, fill=movers[number % 2], font=ImageFont.load_default(13 * scale))
        for n in range(rows * cols):
            x, y = left + n % cols * cell, top + 20 + n // cols * cell
            radius = cell * (0.40 if mask >> n & 1 else 0.12)
            colour = movers[number % 2] if run >> n & 1 else counter if mask >> n & 1 else hole
            centre = (x + cell / 2, y + cell / 2)
            box = [(value + sign * radius) * scale for sign in (-1, 1) for value in centre]
            draw.ellipse(box, fill=colour)
        mask ^= run
    return image.resize(size, Image.Resampling.LANCZOS)
