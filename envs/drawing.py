"""Drawing of hexagonal boards with Pillow.

Geometry: pointy-top hexagons on whole pixels. A cell is ``width`` pixels wide (an even number), rows lie
``pitch`` pixels apart and each is shifted ``width / 2`` to the right of the one above; against regular
hexagons a row is off by less than a pixel. Everything is drawn several times too large and reduced
(anti-aliasing). Empty boards and stones are drawn once and kept; a picture only pastes them, in milliseconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from envs.games.hex_board import cell_name

if TYPE_CHECKING:
    from envs.render import BoardPicture

try:
    from PIL import Image, ImageDraw, ImageFilter, ImageFont
except ImportError as error:  # pragma: no cover - depends on the installation
    raise ImportError("rgb_array pictures need Pillow; install it with: pip install pillow") from error

SMALLEST_SIZE = 64
LARGEST_SIZE = 2400

_Point = tuple[float, float]
_Colour = tuple[int, int, int]

_OVERSAMPLE = 4
_PAPER = (247, 243, 235)
_INK = (62, 58, 54)
_FAINT = (137, 128, 116)
_GRID = (176, 164, 143)
_CELL = (252, 249, 241)
_FOG = (84, 94, 112)
_FOG_RIM = (104, 115, 134)
_FOG_SIGN = (128, 139, 159)
_VEIL = (58, 52, 74)
_VEIL_FOLD = (74, 67, 94)
_GOLD = (255, 191, 36)
_LAST = (255, 255, 255)
_FRAMES: tuple[_Colour, ...] = ((204, 54, 46), (41, 98, 186))
_STONES: dict[str, _Colour] = {
    "red": (214, 58, 49),
    "green": (52, 146, 78),
    "blue": (45, 107, 204),
    "white": (236, 233, 224),
    "black": (58, 58, 66),
    "wood": (193, 140, 84),
}


class Layout(Protocol):
    """What pieces, glow and caption need to know of a picture's layout, whatever the shape of its cells."""

    @property
    def canvas(self) -> tuple[int, int]:
        """Width, height."""

    @property
    def width(self) -> int:
        """Of a cell."""

    @property
    def caption(self) -> tuple[int, int]:
        """Top of the caption, height of the caption area."""

    def centre(self, row: float, col: float) -> _Point: ...


@dataclass(frozen=True)
class _Layout:
    """Where everything lies in a picture: pixels of the final image, y downwards."""

    rows: int
    cols: int
    canvas: tuple[int, int]  # width, height
    width: int  # of a cell, even
    pitch: int  # distance of two rows
    origin: tuple[int, int]  # centre of cell a1
    frame: float  # thickness of the coloured frame
    caption: tuple[int, int]  # top of the caption, height of the caption area

    def centre(self, row: float, col: float) -> _Point:
        x = self.origin[0] + self.width * col + self.width / 2 * row
        return x, self.origin[1] + self.pitch * row

    def hexagon(self, row: int, col: int, scale: float = 1.0) -> list[_Point]:
        """Corners of a cell, clockwise from the top."""
        x, y = self.centre(row, col)
        half, third = scale * self.width / 2, scale * self.pitch / 3
        return [
            (x, y - 2 * third),
            (x + half, y - third),
            (x + half, y + third),
            (x, y + 2 * third),
            (x - half, y + third),
            (x - half, y - third),
        ]


@lru_cache(maxsize=16)
def _layout(rows: int, cols: int, size: int) -> _Layout:
    """Fit the board with its frame, coordinates and caption into a canvas whose longer side is ``size``."""
    across = cols + (rows - 1) / 2 + (2.4 if rows < 10 else 2.8)  # in cell widths, with frame and coordinates
    root = math.sqrt(3) / 2
    caption = max(26, round(size * 0.1))

    def height(width: int) -> int:
        return math.ceil(round(width * root) * (rows - 1) + 3.1 * width)

    width = 2 * int(min(size / across, size / 4) / 2)
    while width >= 4 and height(width) + caption > size:
        width -= 2
    if width < 4:
        smallest = math.ceil(4 * max(across, (rows - 1) + 3.1) / 0.9) + 26
        raise ValueError(f"a picture of {size} pixels is too small for a {rows}x{cols} board; use size >= {smallest}")
    pitch = round(width * root)
    if width * across >= height(width) + caption:
        canvas = (size, height(width) + caption)
    else:
        canvas = (min(size, max(math.ceil(width * across), round(size * 0.6))), size)
    body = canvas[1] - caption
    span = (width * (cols - 1 + (rows - 1) / 2), pitch * (rows - 1))
    origin = (round((canvas[0] - span[0]) / 2), round((body - span[1]) / 2 + 0.06 * width))
    return _Layout(rows, cols, canvas, width, pitch, origin, 0.36 * width, (body, caption))


def draw_hex_board(picture: BoardPicture, size: int) -> np.ndarray:
    """The picture of a hexagonal board, uint8 (height, width, 3), longer side ``size`` pixels."""
    if not SMALLEST_SIZE <= size <= LARGEST_SIZE:
        raise ValueError(f"picture size must be {SMALLEST_SIZE}..{LARGEST_SIZE} pixels, got {size}")
    layout = _layout(picture.rows, picture.cols, size)
    image = _empty_board(picture.rows, picture.cols, size).copy()
    if picture.curtain:
        image = Image.composite(_curtain(layout), image, _cells_mask(layout))
    else:
        _draw_position(image, picture, layout)
    _draw_caption(image, picture, layout)
    return np.array(image, dtype=np.uint8)


def _draw_position(image: Image.Image, picture: BoardPicture, layout: _Layout) -> None:
    cols = picture.cols
    for cell in sorted(picture.unknown):
        _paste(image, _fog(layout), layout.centre(*divmod(cell, cols)))
    if picture.witness:
        _draw_glow(image, picture, layout)
    if picture.last is not None:
        ring = _last_ring(layout, picture.last in picture.unknown)
        _paste(image, ring, layout.centre(*divmod(picture.last, cols)))
    for cell, owner in enumerate(picture.owners):
        if owner >= 0:
            stone = _stone(layout, picture.colours[owner], cell in picture.discovered, cell in picture.witness)
            _paste(image, stone, layout.centre(*divmod(cell, cols)))


def _paste(image: Image.Image, sprite: Image.Image, centre: _Point) -> None:
    """Paste a sprite of odd size with its middle pixel on the centre of a cell."""
    x, y = round(centre[0]), round(centre[1])
    image.paste(sprite, (x - sprite.width // 2, y - sprite.height // 2), sprite)


# -- the parts that are drawn once --------------------------------------------------------------------------


@lru_cache(maxsize=16)
def _empty_board(rows: int, cols: int, size: int) -> Image.Image:
    """Frame, cells and coordinates of an empty board."""
    layout = _layout(rows, cols, size)
    scale = _OVERSAMPLE
    large = (layout.canvas[0] * scale, layout.canvas[1] * scale)
    image = Image.new("RGB", large, _PAPER)

    frame = Image.new("L", large, 0)
    _draw_frame_shape(ImageDraw.Draw(frame), layout, scale)
    blur = ImageFilter.GaussianBlur(0.16 * layout.width * scale)
    shadow = frame.filter(blur).point([round(v * 0.35) for v in range(256)])
    offset = Image.new("L", large, 0)
    offset.paste(shadow, (0, round(0.09 * layout.width * scale)))
    image.paste((96, 84, 66), (0, 0), offset)
    image.paste(_frame_colours(layout, scale), (0, 0), frame)

    draw = ImageDraw.Draw(image)
    line = max(1, round(0.035 * layout.width * scale))
    for row in range(rows):
        for col in range(cols):
            corners = _enlarged(layout.hexagon(row, col), scale)
            draw.polygon(corners, fill=_CELL)
            draw.line([*corners, corners[0], corners[1]], fill=_GRID, width=line, joint="curve")
    image = image.reduce(scale)
    _draw_coordinates(image, layout)
    return image


def _enlarged(points: list[_Point], scale: int) -> list[_Point]:
    return [(x * scale, y * scale) for x, y in points]


def _board_hull(layout: _Layout) -> list[_Point]:
    """The six corners of the convex hull of all cells, from the upper left, clockwise."""
    last_row, last_col = layout.rows - 1, layout.cols - 1
    first, right = layout.hexagon(0, 0), layout.hexagon(0, last_col)
    left, last = layout.hexagon(last_row, 0), layout.hexagon(last_row, last_col)
    return [first[0], right[0], right[1], last[1], last[2], last[3], left[3], left[4], first[4], first[5]]


def _draw_frame_shape(draw: ImageDraw.ImageDraw, layout: _Layout, scale: int) -> None:
    """The hull of the cells grown by the thickness of the frame, with round corners."""
    hull = _enlarged(_board_hull(layout), scale)
    radius = layout.frame * scale
    draw.polygon(hull, fill=255)
    draw.line([*hull, hull[0]], fill=255, width=round(2 * radius))
    for x, y in hull:
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)


def _frame_colours(layout: _Layout, scale: int) -> Image.Image:
    """Red and Blue regions of the frame; they meet on the symmetry axes of the four corner cells."""
    last_row, last_col = layout.rows - 1, layout.cols - 1
    corners = {}
    for name, row, col, direction in (
        ("start", 0, 0, (-1.0, -0.577)),
        ("right", 0, last_col, (0.577, -1.0)),
        ("end", last_row, last_col, (1.0, 0.577)),
        ("left", last_row, 0, (-0.577, 1.0)),
    ):
        x, y = layout.centre(row, col)
        far = 3 * layout.width
        corners[name] = ((x, y), (x + far * direction[0], y + far * direction[1]))
    image = Image.new("RGB", (layout.canvas[0] * scale, layout.canvas[1] * scale), _PAPER)
    draw = ImageDraw.Draw(image)
    sides = (("start", "right", 0), ("end", "left", 0), ("start", "left", 1), ("right", "end", 1))
    for one, other, colour in sides:
        quad = [corners[one][0], corners[one][1], corners[other][1], corners[other][0]]
        draw.polygon(_enlarged(quad, scale), fill=_FRAMES[colour])
    return image


def _draw_coordinates(image: Image.Image, layout: _Layout) -> None:
    """Letters outside the red sides, at the end cells of the columns; numbers outside the blue sides."""
    draw = ImageDraw.Draw(image)
    width = layout.width
    font = _font(round(max(0.32 * width, min(10.0, 0.45 * width))))
    for col in range(layout.cols):
        for row, side in ((0, -1), (layout.rows - 1, 1)):
            x, y = layout.centre(row, col)
            draw.text((x, y + side * 1.22 * width), _column_name(col), fill=_FAINT, font=font, anchor="mm")
    for row in range(layout.rows):
        for col, side, anchor in ((0, -1, "rm"), (layout.cols - 1, 1, "lm")):
            x, y = layout.centre(row, col)
            draw.text((x + side * 1.18 * width, y), str(row + 1), fill=_FAINT, font=font, anchor=anchor)


def _column_name(col: int) -> str:
    return cell_name(col, col + 1).removesuffix("1")


@lru_cache(maxsize=64)
def _font(size: int) -> Any:
    """Pillow's own scalable font: no font of the system is needed."""
    return ImageFont.load_default(size)


@lru_cache(maxsize=8)
def _cells_mask(layout: _Layout) -> Image.Image:
    mask = Image.new("L", (layout.canvas[0] * _OVERSAMPLE, layout.canvas[1] * _OVERSAMPLE), 0)
    draw = ImageDraw.Draw(mask)
    for row in range(layout.rows):
        for col in range(layout.cols):
            draw.polygon(_enlarged(layout.hexagon(row, col, 1.02), _OVERSAMPLE), fill=255)
    return mask.reduce(_OVERSAMPLE)


@lru_cache(maxsize=8)
def _curtain(layout: Layout) -> Image.Image:
    """Cloth with vertical folds, as large as the picture."""
    fold = np.sin(np.arange(layout.canvas[0]) * (2 * math.pi / max(8.0, 0.7 * layout.width)))
    mix = (0.5 + 0.5 * fold)[None, :, None]
    row = np.array(_VEIL) * (1 - mix) + np.array(_VEIL_FOLD) * mix
    return Image.fromarray(np.repeat(row.round().astype(np.uint8), layout.canvas[1], axis=0), "RGB")


def _sprite_canvas(layout: Layout, extent: float) -> tuple[Image.Image, float]:
    """A transparent image ``extent`` cell widths wide, enlarged, and its middle; reduced, its side is odd."""
    side = (2 * math.ceil(extent * layout.width / 2) + 1) * _OVERSAMPLE
    return Image.new("RGBA", (side, side), (0, 0, 0, 0)), side / 2


def _sprite_hexagon(layout: _Layout, middle: float, scale: float) -> list[_Point]:
    x, y = layout.centre(0, 0)
    corners = layout.hexagon(0, 0, scale)
    return [((px - x) * _OVERSAMPLE + middle, (py - y) * _OVERSAMPLE + middle) for px, py in corners]


@lru_cache(maxsize=16)
def _fog(layout: _Layout) -> Image.Image:
    """A cell whose contents the viewer does not know: dark, with a question mark where there is room."""
    image, middle = _sprite_canvas(layout, 1.3)
    draw = ImageDraw.Draw(image)
    draw.polygon(_sprite_hexagon(layout, middle, 0.97), fill=_FOG_RIM)
    draw.polygon(_sprite_hexagon(layout, middle, 0.87), fill=_FOG)
    if layout.width >= 28:
        font = _font(round(0.36 * layout.width * _OVERSAMPLE))
        draw.text((middle, middle), "?", fill=_FOG_SIGN, font=font, anchor="mm")
    return image.reduce(_OVERSAMPLE)


@lru_cache(maxsize=16)
def _last_ring(layout: _Layout, fogged: bool) -> Image.Image:
    """The rim that points out the last action."""
    image, middle = _sprite_canvas(layout, 1.3)
    corners = _sprite_hexagon(layout, middle, 0.86)
    draw = ImageDraw.Draw(image)
    line = max(_OVERSAMPLE, round(0.05 * layout.width * _OVERSAMPLE))
    draw.line([*corners, corners[0], corners[1]], fill=_LAST if fogged else _INK, width=line, joint="curve")
    return image.reduce(_OVERSAMPLE)


@lru_cache(maxsize=64)
def _stone(layout: Layout, colour: str, discovered: bool, golden: bool) -> Image.Image:
    """A stone lit from the upper left, with its shadow: a cross if discovered, a gold rim if in the chain."""
    image, middle = _sprite_canvas(layout, 1.3)
    side = image.width
    radius = 0.37 * layout.width * _OVERSAMPLE
    y, x = np.mgrid[0:side, 0:side].astype(np.float64) + 0.5 - middle

    drop = 0.05 * layout.width * _OVERSAMPLE
    shadow = np.clip(1.22 - np.hypot(x - 0.5 * drop, y - drop) / radius, 0, 0.22) / 0.22 * 0.34
    distance = np.hypot(x, y)
    inside = distance <= radius
    light = np.hypot(x + 0.36 * radius, y + 0.42 * radius) / (1.55 * radius)
    base = np.array(_STONES[colour], dtype=np.float64)
    bright, deep = base + (255 - base) * 0.36, base * 0.62
    t = np.clip(light, 0, 1)[..., None]
    body = np.where(t < 0.5, bright + (base - bright) * (t / 0.5), base + (deep - base) * ((t - 0.5) / 0.5))
    gloss_x, gloss_y = (x + 0.34 * radius) / (0.36 * radius), (y + 0.45 * radius) / (0.24 * radius)
    gloss = np.exp(-(gloss_x**2 + gloss_y**2))
    body = body + (255 - body) * (0.55 * gloss)[..., None]
    if golden:
        rim = distance > 0.84 * radius
        body = np.where(rim[..., None], np.array(_GOLD, dtype=np.float64), body)

    pixels = np.zeros((side, side, 4))
    pixels[..., :3] = np.where(inside[..., None], body, np.array((52, 44, 36)))
    pixels[..., 3] = np.where(inside, 255, 255 * shadow)
    image = Image.fromarray(pixels.round().clip(0, 255).astype(np.uint8), "RGBA")
    if discovered:
        draw = ImageDraw.Draw(image)
        arm, line = 0.36 * radius, max(_OVERSAMPLE, round(0.17 * radius))
        for sign in (1, -1):
            ends = (middle - arm, middle - sign * arm, middle + arm, middle + sign * arm)
            draw.line(ends, fill=(255, 255, 255, 245), width=line)
    return image.reduce(_OVERSAMPLE)


# -- the parts that belong to one picture -------------------------------------------------------------------


def _draw_glow(image: Image.Image, picture: BoardPicture, layout: Layout) -> None:
    """Gold light around the chain: around every stone, and between cells that follow each other."""
    light = Image.new("L", layout.canvas, 0)
    draw = ImageDraw.Draw(light)
    centres = [layout.centre(*divmod(cell, picture.cols)) for cell in picture.witness]
    near = 1.2 * layout.width
    for one, other in zip(centres, centres[1:], strict=False):
        if math.dist(one, other) < near:
            draw.line((*one, *other), fill=255, width=max(2, round(0.5 * layout.width)))
    radius = 0.5 * layout.width
    for x, y in centres:
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)
    halo = light.filter(ImageFilter.GaussianBlur(0.16 * layout.width))
    image.paste(_GOLD, (0, 0), halo)


def _draw_caption(image: Image.Image, picture: BoardPicture, layout: Layout) -> None:
    draw = ImageDraw.Draw(image)
    top, height = layout.caption
    room = layout.canvas[0] * 0.94
    middle = layout.canvas[0] / 2
    if picture.caption:
        size = max(9, round(0.36 * height))
        disc = size * 0.42
        lead = 3.2 * disc if picture.turn is not None else 0.0
        font = _fitting_font(draw, picture.caption, size, room - lead)
        length = draw.textlength(picture.caption, font=font)
        y = top + 0.34 * height
        x = middle - (length + lead) / 2
        if picture.turn is not None:
            _draw_disc(image, (x + disc, y), disc, _STONES[picture.colours[picture.turn]])
        draw.text((x + lead, y), picture.caption, fill=_INK, font=font, anchor="lm")
    if picture.note:
        font = _fitting_font(draw, picture.note, max(8, round(0.24 * height)), room)
        draw.text((middle, top + 0.72 * height), picture.note, fill=_FAINT, font=font, anchor="mm")


def _fitting_font(draw: ImageDraw.ImageDraw, text: str, size: int, room: float) -> Any:
    font = _font(size)
    while size > 6 and draw.textlength(text, font=font) > room:
        size -= 1
        font = _font(size)
    return font


def _draw_disc(image: Image.Image, centre: _Point, radius: float, colour: _Colour) -> None:
    side = 2 * math.ceil(radius + 1)
    mask = Image.new("L", (side * _OVERSAMPLE, side * _OVERSAMPLE), 0)
    middle, large = side * _OVERSAMPLE / 2, radius * _OVERSAMPLE
    ImageDraw.Draw(mask).ellipse((middle - large, middle - large, middle + large, middle + large), fill=255)
    image.paste(colour, (round(centre[0] - side / 2), round(centre[1] - side / 2)), mask.reduce(_OVERSAMPLE))
