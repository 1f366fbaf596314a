"""Text of square-celled boards, shared by Tac-Tix, Docking and renju: names, diagrams, who is to move, move lists.

Cells are numbered row-major and named by column letter and row number (``hex_board.cell_name``). Row 1 is the top
line of a diagram, or the bottom line where ``bottom_up`` says so (Docking has chess coordinates).
"""

from __future__ import annotations

import re

from envs.games.hex_board import cell_from_name, cell_name

__all__ = ["cell_from_name", "cell_name", "diagram", "is_moves", "parse_diagram", "split_mover", "words"]


def column_letters(cols: int) -> list[str]:
    return [cell_name(col, cols)[:-1] for col in range(cols)]


def diagram(symbols: list[str], rows: int, cols: int, bottom_up: bool = False) -> str:
    """A board as text, with coordinates; ``symbols`` are in the order of the cells."""
    width = len(str(rows))
    lines = [
        f"{r + 1:>{width}} " + " ".join(symbols[r * cols : (r + 1) * cols]) for r in range(rows)
    ]
    letters = " " * (width + 1) + " ".join(column_letters(cols))
    return "\n".join([*reversed(lines), letters] if bottom_up else [letters, *lines])


def parse_diagram(text: str, rows: int, cols: int, symbols: str, bottom_up: bool = False) -> list[str]:
    """Symbols of the cells, in the order of the cells.

    Lines are separated by ``/`` or line breaks; spaces and a line of column letters do not count. Lines may begin
    with their row numbers; then rows that are left out are empty (``.``). ValueError says what does not fit.
    """
    header = "".join(column_letters(cols))
    numbered: dict[int, str] = {}
    plain: list[str] = []
    for line in re.split(r"[/\n]", text):
        match = re.fullmatch(r"\s*(\d*)(.*)", line)
        number, cells = (match[1], match[2].replace(" ", "").strip()) if match else ("", line)
        if not number and (not cells or cells == header):
            continue
        if len(cells) != cols or set(cells) - set(symbols):
            raise ValueError(
                f"diagram line {line.strip()!r} does not fit: a row of this {rows}x{cols} board is {cols} of the "
                f"symbols {' '.join(symbols)}"
            )
        if not number:
            plain.append(cells)
        elif not 1 <= int(number) <= rows or int(number) in numbered:
            raise ValueError(f"diagram line {line.strip()!r}: row numbers are 1 to {rows}, each once")
        else:
            numbered[int(number)] = cells
    if plain and numbered:
        raise ValueError("a diagram numbers all of its rows or none of them")
    if not numbered:
        if len(plain) != rows:
            raise ValueError(f"the diagram has {len(plain)} rows, this board has {rows} (and {cols} columns)")
        order = range(rows, 0, -1) if bottom_up else range(1, rows + 1)
        numbered = dict(zip(order, plain, strict=True))
    return list("".join(numbered.get(number, "." * cols) for number in range(1, rows + 1)))


def split_mover(text: str, names: tuple[str, ...]) -> tuple[str, int | None, int]:
    """(text without it, index of the player to move or None, passes before) of a text that ends ``Blue to move``.

    A name may be shortened to its first letter; ``Blue to move after 2 passes`` tells the passes in a row.
    """
    match = re.search(r"(\w+(?: \d+)?) to move(?: after (\d+) pass(?:es)?)?[\s.]*$", text, re.IGNORECASE)
    if match is None:
        return text, None, 0
    for index, name in enumerate(names):
        if match[1].lower() in (name.lower(), name[0].lower(), f"player {index}", str(index)):
            return text[: match.start()], index, int(match[2] or 0)
    raise ValueError(f"{match[0].strip()!r}: nobody of that name plays; players are {', '.join(names)}")


def words(text: str) -> list[str]:
    """The moves of a list: separated by spaces, commas or semicolons."""
    return [word for word in re.split(r"[\s,;]+", text) if word]


def is_moves(text: str, pattern: str) -> bool:
    """Whether a text is a list of moves rather than a diagram: each of its words matches ``pattern``."""
    return all(re.fullmatch(pattern, word, re.IGNORECASE) for word in words(text))
