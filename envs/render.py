"""Text and pictures of a position, for every game.

A game describes what is to be shown as a ``BoardPicture`` (``game.picture(state, player)``); the functions
here turn that description into text (``ansi``) or an RGB array (``rgb_array``). The description is all they
see: a picture of one player's view cannot show more than the game put into it.

Pillow is imported when the first RGB picture is drawn, not before; no display library is involved.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envs.games.hex_board import cell_name, rhombus
from envs.games.square_board import diagram

if TYPE_CHECKING:
    import numpy as np

KINDS = ("hex", "square")
PIECES = ("stone", "counter", "ship", "mark")
RENDER_MODES = ("ansi", "rgb_array")
PICTURE_SIZE = 720  # pixels of the longer side, unless the caller says otherwise

UNKNOWN, EMPTY, CURTAIN = "?", ".", "#"
# Paints of pieces and their terminal colours.
_TERMINAL_COLOURS = {"red": "31", "green": "32", "wood": "33", "blue": "34", "white": "37", "black": "90"}
_GOLD = "1;33"
_DIM = "2"


@dataclass(frozen=True)
class BoardPicture:
    """What one picture shows, independent of how it is drawn.

    Cells are numbered row-major from a1 (``cell = row * cols + col``). Colours are numbers, by default 0 (Red) and
    1 (Blue); on a hex board 0 joins the first and the last row, 1 the first and the last column. Colours are not
    players: after a swap of sides player 0 is Blue.

    Fields
        rows, cols    board size, each at least 1.
        owners        per cell the colour of the stone shown there, or -1.
        unknown       cells whose contents the viewer does not know; empty in an omniscient picture.
        discovered    cells marked as found by a collision: in a player's view the enemy stones he ran into,
                      in an omniscient picture every stone that its opponent has found.
        last          cell of the last action, pointed out, or None; in a player's view his own last action.
        trace         all cells that the last action changed, in order, where it is more than ``last``.
        witness       cells that glow gold: why the game ended; a winning chain in order along the chain.
        turn          colour to move, or None when the game is over (or the turn is not to be shown).
        caption       main line of text, for example ``"Red to move"``.
        note          smaller line of text, for example ``"dark_hex 3x3, Red's view"``.
        curtain       True: nothing of the board is shown, whatever the other fields hold.
        names         names of the colours, for texts.
        symbols       their letters in diagrams, as many as there are names.
        colours       their paints: red, green, blue, white, black, wood.
        kind          shape of the cells; ``"hex"``: rhombus, each row half a cell further to the right; ``"square"``.
        pieces        what lies on square cells: ``"stone"``, ``"counter"`` (flat), ``"ship"`` (on a chequered board)
                      or ``"mark"`` (colour 0 a cross, colour 1 a ring).
        bottom_up     True: row 1 is the bottom row (square cells only).
    """

    rows: int
    cols: int
    owners: tuple[int, ...]
    unknown: tuple[int, ...] = ()
    discovered: tuple[int, ...] = ()
    last: int | None = None
    trace: tuple[int, ...] = ()
    witness: tuple[int, ...] = ()
    turn: int | None = None
    caption: str = ""
    note: str = ""
    curtain: bool = False
    names: tuple[str, ...] = ("Red", "Blue")
    symbols: str = "RB"
    colours: tuple[str, ...] = ("red", "blue")
    kind: str = "hex"
    pieces: str = "stone"
    bottom_up: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"BoardPicture.kind={self.kind!r} is unknown; allowed: {', '.join(KINDS)}")
        if self.pieces not in PIECES:
            raise ValueError(f"BoardPicture.pieces={self.pieces!r} is unknown; allowed: {', '.join(PIECES)}")
        if not len(self.names) == len(self.symbols) == len(self.colours):
            raise ValueError("BoardPicture needs as many symbols and colours as names")
        if set(self.colours) - set(_TERMINAL_COLOURS):
            raise ValueError(f"BoardPicture.colours={self.colours}; allowed: {', '.join(_TERMINAL_COLOURS)}")
        if self.rows < 1 or self.cols < 1:
            raise ValueError(f"a board picture needs rows >= 1 and cols >= 1, got {self.rows}x{self.cols}")
        cells = self.rows * self.cols
        if len(self.owners) != cells:
            raise ValueError(
                f"BoardPicture.owners has {len(self.owners)} entries, a {self.rows}x{self.cols} board needs {cells}"
            )
        shown = set(self.unknown) | set(self.discovered) | set(self.witness) | set(self.trace)
        if self.last is not None:
            shown.add(self.last)
        if shown and (min(shown) < 0 or max(shown) >= cells):
            raise ValueError(f"BoardPicture marks cells outside 0..{cells - 1}: {sorted(shown)}")


def ansi(picture: BoardPicture, colour: bool = False) -> str:
    """The picture as text: the board with coordinates, then what there is to say about it, one line each.

    Letters (``R`` and ``B`` in Hex) are pieces, ``.`` an empty cell, ``?`` a cell unknown to the viewer, ``#`` a
    cell behind the curtain. ``colour=True`` adds terminal escape sequences that colour the stones and the winning
    chain. The result ends without a line break.
    """
    symbols = [_symbol(picture, cell, colour) for cell in range(picture.rows * picture.cols)]
    if picture.kind == "hex":
        board = rhombus(symbols, picture.rows, picture.cols)
    else:
        board = diagram(symbols, picture.rows, picture.cols, picture.bottom_up)
    return "\n".join([board, *_text_lines(picture)])


def _symbol(picture: BoardPicture, cell: int, colour: bool) -> str:
    owner = picture.owners[cell]
    if picture.curtain:
        text, code = CURTAIN, _DIM
    elif owner >= 0:
        text = picture.symbols[owner]
        code = _GOLD if cell in picture.witness else _TERMINAL_COLOURS[picture.colours[owner]]
    elif cell in picture.unknown:
        text, code = UNKNOWN, _DIM
    else:
        return EMPTY
    return f"\x1b[{code}m{text}\x1b[0m" if colour else text


def _text_lines(picture: BoardPicture) -> list[str]:
    """The lines below the board."""
    rows, cols = picture.rows, picture.cols
    pairs = zip(picture.symbols, picture.names, strict=True)
    keys = [f"{symbol} = {name}" for symbol, name in pairs if symbol != name]
    if picture.kind == "hex":
        last_column = cell_name(cols - 1, cols).removesuffix("1")
        keys[0] += f": row 1 to row {rows}"
        keys[1] += f": column a to column {last_column}"
    lines = ["   ".join(keys)] if keys else []
    if not picture.curtain:
        if picture.trace:
            lines.append("last: " + _names(picture.trace, cols))
        elif picture.last is not None:
            lines.append(f"last: {cell_name(picture.last, cols)}")
        if picture.discovered:
            lines.append("discovered: " + _names(sorted(picture.discovered), cols))
        if picture.witness:
            label = "chain" if picture.kind == "hex" else "decided by"
            lines.append(f"{label}: " + _names(picture.witness, cols))
    lines.extend(text for text in (picture.caption, picture.note) if text)
    return lines


def _names(cells: Iterable[int], cols: int) -> str:
    return " ".join(cell_name(cell, cols) for cell in cells)


def rgb_array(picture: BoardPicture, size: int = PICTURE_SIZE) -> np.ndarray:
    """The picture as a fresh uint8 array of shape (height, width, 3), red-green-blue.

    ``size`` is the longer side in pixels. Height and width depend on ``rows``, ``cols`` and ``size`` only, so
    the pictures of one game make a video. Raises ImportError, naming the fix, where Pillow is missing, and
    ValueError for a size that leaves no room for the cells.
    """
    if picture.kind == "square":
        from envs.drawing_square import draw_square_board

        return draw_square_board(picture, size)
    from envs.drawing import draw_hex_board

    return draw_hex_board(picture, size)


def render(picture: BoardPicture, mode: str, size: int = PICTURE_SIZE) -> str | np.ndarray:
    """``ansi`` or ``rgb_array``, by the name of the mode."""
    if mode == "ansi":
        return ansi(picture)
    if mode == "rgb_array":
        return rgb_array(picture, size)
    raise ValueError(f"render mode {mode!r} is unknown; allowed: {', '.join(RENDER_MODES)}")
