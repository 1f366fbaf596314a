"""Drawing of square-celled boards with Pillow: counters, stones, ships, marks. Frame, caption, stones: ``drawing``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from envs import drawing as base

if TYPE_CHECKING:
    from envs.render import BoardPicture

from PIL import Image, ImageDraw  # after drawing, which names the fix where Pillow is missing

_DARK = (226, 214, 190)
_BOARD_EDGE = (120, 104, 82)


@dataclass(frozen=True)
class _SquareLayout:
    """Where everything lies in a picture: pixels of the final image, y downwards."""

    rows: int
    cols: int
    canvas: tuple[int, int]  # width, height
    width: int  # of a cell
    origin: tuple[int, int]  # centre of the upper left cell
    caption: tuple[int, int]  # top of the caption, height of the caption area
    bottom_up: bool

    def centre(self, row: float, col: float) -> tuple[float, float]:
        line = self.rows - 1 - row if self.bottom_up else row
        return self.origin[0] + self.width * col, self.origin[1] + self.width * line

    def square(self, row: int, col: int, scale: float = 1.0) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of a cell."""
        x, y = self.centre(row, col)
        half = scale * self.width / 2
        return x - half, y - half, x + half, y + half


@lru_cache(maxsize=16)
def _layout(rows: int, cols: int, size: int, bottom_up: bool) -> _SquareLayout:
    """Fit the board with coordinates and caption into a canvas whose longer side is ``size``."""
    margin = 2.2  # cell widths for coordinates on both sides together
    caption = max(26, round(size * 0.1))
    width = int(min(size / (cols + margin), (size - caption) / (rows + margin), size / 4))
    if width < 4:
        smallest = max(math.ceil(4 * (cols + margin)), math.ceil(4 * (rows + margin) / 0.9) + 26)
        raise ValueError(f"a picture of {size} pixels is too small for a {rows}x{cols} board; use size >= {smallest}")
    across, down = math.ceil(width * (cols + margin)), math.ceil(width * (rows + margin)) + caption
    if across >= down:
        canvas = (size, min(size, down))
    else:
        canvas = (min(size, max(across, round(size * 0.6))), size)
    body = canvas[1] - caption
    origin = (round((canvas[0] - width * (cols - 1)) / 2), round((body - width * (rows - 1)) / 2))
    return _SquareLayout(rows, cols, canvas, width, origin, (body, caption), bottom_up)


def draw_square_board(picture: BoardPicture, size: int) -> np.ndarray:
    """The picture of a board of squares, uint8 (height, width, 3), longer side ``size`` pixels."""
    if not base.SMALLEST_SIZE <= size <= base.LARGEST_SIZE:
        raise ValueError(f"picture size must be {base.SMALLEST_SIZE}..{base.LARGEST_SIZE} pixels, got {size}")
    layout = _layout(picture.rows, picture.cols, size, picture.bottom_up)
    image = _empty_board(layout, picture.pieces == "ship").copy()
    if picture.curtain:
        left, top, _, _ = map(round, layout.square(*((layout.rows - 1) * layout.bottom_up, 0)))
        cloth = base._curtain(layout).crop((0, 0, layout.width * layout.cols, layout.width * layout.rows))
        image.paste(cloth, (left, top))
    else:
        _draw_position(image, picture, layout)
    base._draw_caption(image, picture, layout)
    return np.array(image, dtype=np.uint8)


def _draw_position(image: Image.Image, picture: BoardPicture, layout: _SquareLayout) -> None:
    def centre(cell: int) -> tuple[float, float]:
        return layout.centre(*divmod(cell, picture.cols))

    for cell in picture.unknown:
        base._paste(image, _fog(layout), centre(cell))
    if picture.witness:
        base._draw_glow(image, picture, layout)
    for cell in picture.trace:
        base._paste(image, _trace(layout), centre(cell))
    if picture.last is not None:
        base._paste(image, _last_frame(layout), centre(picture.last))
    for cell, owner in enumerate(picture.owners):
        if owner >= 0:
            golden, found = cell in picture.witness, cell in picture.discovered
            if picture.pieces == "stone":
                piece = base._stone(layout, picture.colours[owner], found, golden)
            elif picture.pieces == "mark":
                piece = _mark(layout, picture.colours[owner], owner == 0, found)
            else:
                piece = _flat(layout, picture.colours[owner], picture.pieces == "ship", golden)
            base._paste(image, piece, centre(cell))


@lru_cache(maxsize=16)
def _empty_board(layout: _SquareLayout, chequered: bool) -> Image.Image:
    """Cells and coordinates of an empty board."""
    scale = base._OVERSAMPLE
    image = Image.new("RGB", (layout.canvas[0] * scale, layout.canvas[1] * scale), base._PAPER)
    draw = ImageDraw.Draw(image)
    line = max(1, round(0.035 * layout.width * scale))
    for row in range(layout.rows):
        for col in range(layout.cols):
            fill = _DARK if chequered and (row + col) % 2 == 0 else base._CELL
            box = [round(v * scale) for v in layout.square(row, col)]
            draw.rectangle(box, fill=fill, outline=base._GRID, width=line)
    corners = [layout.square(0, 0), layout.square(layout.rows - 1, layout.cols - 1)]
    edge = [min(c[0] for c in corners), min(c[1] for c in corners), max(c[2] for c in corners)]
    edge.append(max(c[3] for c in corners))
    draw.rectangle([round(v * scale) for v in edge], outline=_BOARD_EDGE, width=2 * line)
    image = image.reduce(scale)
    _draw_coordinates(image, layout)
    return image


def _draw_coordinates(image: Image.Image, layout: _SquareLayout) -> None:
    """Column letters above and below, row numbers on both sides."""
    draw = ImageDraw.Draw(image)
    font = base._font(round(max(0.3 * layout.width, min(10.0, 0.45 * layout.width))))
    away = 0.82 * layout.width
    for col in range(layout.cols):
        for row, side in ((0, 1 if layout.bottom_up else -1), (layout.rows - 1, -1 if layout.bottom_up else 1)):
            x, y = layout.centre(row, col)
            draw.text((x, y + side * away), base._column_name(col), fill=base._FAINT, font=font, anchor="mm")
    for row in range(layout.rows):
        for col, side in ((0, -1), (layout.cols - 1, 1)):
            x, y = layout.centre(row, col)
            draw.text((x + side * away, y), str(row + 1), fill=base._FAINT, font=font, anchor="mm")


def _canvas(layout: _SquareLayout) -> tuple[Image.Image, Any, float, float]:
    """A transparent sprite, its pen, its middle and the width of a cell, enlarged."""
    image, middle = base._sprite_canvas(layout, 1.1)
    return image, ImageDraw.Draw(image), middle, layout.width * base._OVERSAMPLE


@lru_cache(maxsize=16)
def _fog(layout: _SquareLayout) -> Image.Image:
    """A cell whose contents the viewer does not know: dark, with a question mark where there is room."""
    image, draw, middle, width = _canvas(layout)
    for scale, fill in ((0.94, base._FOG_RIM), (0.84, base._FOG)):
        half = scale * width / 2
        draw.rectangle((middle - half, middle - half, middle + half, middle + half), fill=fill)
    if layout.width >= 28:
        draw.text((middle, middle), "?", fill=base._FOG_SIGN, font=base._font(round(0.36 * width)), anchor="mm")
    return image.reduce(base._OVERSAMPLE)


@lru_cache(maxsize=16)
def _trace(layout: _SquareLayout) -> Image.Image:
    """A cell that the last action changed: a ring where a piece was."""
    image, draw, middle, width = _canvas(layout)
    radius = 0.3 * width
    box = (middle - radius, middle - radius, middle + radius, middle + radius)
    draw.ellipse(box, outline=(*base._FAINT, 150), width=max(base._OVERSAMPLE, round(0.04 * width)))
    return image.reduce(base._OVERSAMPLE)


@lru_cache(maxsize=16)
def _last_frame(layout: _SquareLayout) -> Image.Image:
    """The rim that points out the last action."""
    image, draw, middle, width = _canvas(layout)
    half = 0.44 * width
    box = (middle - half, middle - half, middle + half, middle + half)
    draw.rectangle(box, outline=base._INK, width=max(base._OVERSAMPLE, round(0.05 * width)))
    return image.reduce(base._OVERSAMPLE)


@lru_cache(maxsize=64)
def _mark(layout: _SquareLayout, colour: str, cross: bool, discovered: bool) -> Image.Image:
    """A cross or a ring, with a white core if discovered."""
    image, draw, middle, width = _canvas(layout)
    paint = base._STONES[colour]
    arm = (0.22 if cross else 0.27) * width  # of the cross along each axis, or the radius of the ring

    def stroke(thickness: float, fill: Any) -> None:
        half = thickness * width / 2
        if not cross:
            outer = arm + half
            box = (middle - outer, middle - outer, middle + outer, middle + outer)
            draw.ellipse(box, outline=fill, width=max(1, round(2 * half)))
            return
        for sign in (1, -1):
            ends = [(middle - arm, middle - sign * arm), (middle + arm, middle + sign * arm)]
            draw.line(ends, fill=fill, width=max(1, round(2 * half)))
            for x, y in ends:
                draw.ellipse((x - half, y - half, x + half, y + half), fill=fill)

    stroke(0.13, paint)
    if discovered:
        stroke(0.04, (255, 255, 255, 245))
    return image.reduce(base._OVERSAMPLE)


@lru_cache(maxsize=64)
def _flat(layout: _SquareLayout, colour: str, ship: bool, golden: bool) -> Image.Image:
    """A flat piece: a counter with a groove, or a ship: a disc with a rocket."""
    image, draw, middle, width = _canvas(layout)
    paint = base._STONES[colour]
    dark = tuple(round(v * 0.55) for v in paint)
    bright = tuple(round(v + (255 - v) * 0.35) for v in paint)

    def disc(radius: float, dx: float = 0.0, **style: Any) -> None:
        x, y, r = middle + dx * width, middle + dx * width, radius * width
        draw.ellipse((x - r, y - r, x + r, y + r), **style)

    line = max(base._OVERSAMPLE, round(0.03 * width))
    disc(0.38, 0.03, fill=(52, 44, 36, 70))
    disc(0.38, fill=paint, outline=base._GOLD if golden else dark, width=round((2.2 if golden else 1) * line))
    if not ship:
        disc(0.25, outline=dark, width=line)
        disc(0.235, outline=bright, width=line)
        return image.reduce(base._OVERSAMPLE)
    sign = dark if sum(paint) > 380 else (236, 233, 224)

    def points(*xy: tuple[float, float]) -> list[tuple[float, float]]:
        return [(middle + x * width, middle + y * width) for x, y in xy]

    draw.polygon(points((-0.05, 0.05), (-0.16, 0.19), (0.16, 0.19), (0.05, 0.05)), fill=sign)
    body = points((0, -0.25), (0.07, -0.13), (0.085, 0.0), (0.06, 0.15), (-0.06, 0.15), (-0.085, 0.0), (-0.07, -0.13))
    draw.polygon(body, fill=sign)
    x, y, r = middle, middle - 0.06 * width, 0.035 * width
    draw.ellipse((x - r, y - r, x + r, y + r), fill=paint)
    return image.reduce(base._OVERSAMPLE)
