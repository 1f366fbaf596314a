"""Text and pictures: what is shown, what is not, sizes, and that no display library is needed."""

import subprocess
import sys

import numpy as np
import pytest

import envs
from envs.render import BoardPicture, ansi, render, rgb_array


def picture(rows=3, cols=3, stones=None, **rest):
    owners = [-1] * (rows * cols)
    for cell, colour in (stones or {}).items():
        owners[cell] = colour
    return BoardPicture(rows=rows, cols=cols, owners=tuple(owners), **rest)


def changed(one, other):
    """Bounding box (top, left, bottom, right) of the pixels that differ, None if there are none."""
    rows, cols = np.nonzero((one.astype(int) != other).any(axis=2))
    return None if rows.size == 0 else (rows.min(), cols.min(), rows.max(), cols.max())


def middle(one, other):
    top, left, bottom, right = changed(one, other)
    return (top + bottom) / 2, (left + right) / 2


# -- text ----------------------------------------------------------------------------------------------------


def test_text_of_a_view():
    shown = picture(
        stones={0: 1, 1: 0, 4: 0},
        unknown=(2, 3, 5, 6, 7, 8),
        discovered=(0,),
        last=0,
        turn=0,
        caption="Red to move",
        note="Red's view",
    )
    assert ansi(shown) == (
        "  a b c\n"
        "1 B R ?\n"
        " 2 ? R ?\n"
        "  3 ? ? ?\n"
        "R = Red: row 1 to row 3   B = Blue: column a to column c\n"
        "last: a1\n"
        "discovered: a1\n"
        "Red to move\n"
        "Red's view"
    )


def test_text_of_the_end_names_the_chain():
    text = ansi(picture(2, 3, {1: 0, 3: 0, 2: 1}, witness=(1, 3), caption="Red wins"))
    assert "1 . R B\n 2 R . ." in text
    assert "chain: b1 a2" in text
    assert text.endswith("Red wins")


def test_coloured_text_is_the_plain_text_plus_escapes():
    import re

    shown = picture(stones={0: 1, 1: 0, 4: 0}, unknown=(8,), witness=(1, 4))
    coloured = ansi(shown, colour=True)
    assert "\x1b[1;33mR" in coloured and "\x1b[34mB" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == ansi(shown)


@pytest.mark.parametrize("words", ["top", "bottom", "left", "right"])
def test_sides_are_named_by_colour(words):
    shown = picture(5, 4, {0: 0, 1: 1}, caption="Red to move", discovered=(1,), last=1)
    assert words not in ansi(shown)


def test_curtain_hides_everything():
    bare = picture(curtain=True, caption="hand over")
    full = picture(
        stones={0: 1, 1: 0}, unknown=(5,), discovered=(0,), last=1, witness=(1,),
        curtain=True, caption="hand over",
    )  # fmt: skip
    assert ansi(bare) == ansi(full)
    assert set(ansi(full).splitlines()[1].split()[1:]) == {"#"}
    assert np.array_equal(rgb_array(bare, 200), rgb_array(full, 200))


# -- pictures ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows, cols", [(1, 1), (1, 19), (19, 1), (2, 3), (3, 2), (7, 4), (11, 11), (19, 19)])
def test_sizes(rows, cols):
    shown = picture(rows, cols, {rows * cols - 1: 0}, witness=(rows * cols - 1,), caption="Red wins", note="note")
    array = rgb_array(shown, 320)
    assert array.dtype == np.uint8 and array.ndim == 3 and array.shape[2] == 3
    assert max(array.shape) == 320
    assert array.shape == rgb_array(picture(rows, cols, caption="a longer caption " * 9), 320).shape
    # Nothing touches the border of the image.
    edge = np.concatenate([array[0], array[-1], array[:, 0], array[:, -1]])
    assert (edge == edge[0]).all()


def test_each_row_is_half_a_cell_further_to_the_right():
    empty = rgb_array(picture(3, 3), 600)
    at = {cell: middle(empty, rgb_array(picture(3, 3, {cell: 0}), 600)) for cell in range(9)}
    step = at[1][1] - at[0][1]
    assert step > 60
    for cell, (y, x) in at.items():
        row, col = divmod(cell, 3)
        assert x - at[0][1] == pytest.approx(step * (col + row / 2), abs=1.5)
        assert y - at[0][0] == pytest.approx(step * row * 3**0.5 / 2, abs=1.5)


def test_colours_of_stones_and_sides():
    array = rgb_array(picture(3, 3, {0: 0, 8: 1}), 600).astype(int)
    empty = rgb_array(picture(3, 3), 600)
    for cell, strong, weak in ((0, 0, 2), (8, 2, 0)):
        y, x = middle(empty, rgb_array(picture(3, 3, {cell: 0}), 600))
        pixel = array[round(y), round(x)]
        assert pixel[strong] > pixel[weak] + 60
    # Red sides lie beyond the first and the last row, blue ones beyond the first and the last column.
    spots = [middle(empty, rgb_array(picture(3, 3, {cell: 0}), 600)) for cell in (1, 3)]
    width = spots[0][1] - middle(empty, rgb_array(picture(3, 3, {0: 0}), 600))[1]
    (y, x), (v, u) = spots
    red, blue = empty[round(y - 0.75 * width), round(x)], empty[round(v), round(u - 0.75 * width)]
    assert int(red[0]) > int(red[2]) + 60 and int(blue[2]) > int(blue[0]) + 60


def test_marks_change_their_own_cell_only():
    plain = picture(5, 5, {12: 1})
    base = rgb_array(plain, 500)
    stone = changed(rgb_array(picture(5, 5), 500), base)
    for marks in ({"discovered": (12,)}, {"last": 12}, {"witness": (12,)}):
        box = changed(base, rgb_array(picture(5, 5, {12: 1}, **marks), 500))
        assert box is not None
        reach = stone[2] - stone[0]
        assert box[0] > stone[0] - reach and box[2] < stone[2] + reach


def test_unknown_differs_from_empty_and_from_a_stone():
    views = [picture(unknown=(4,)), picture(), picture(stones={4: 0}), picture(stones={4: 1})]
    arrays = [rgb_array(view, 200) for view in views]
    for i, one in enumerate(arrays):
        for other in arrays[:i]:
            assert changed(one, other) is not None


def test_golden_chain_glows():
    stones = {cell: 0 for cell in (1, 4, 7)}
    glow = rgb_array(picture(stones=stones, witness=(1, 4, 7)), 400).astype(int)
    plain = rgb_array(picture(stones=stones), 400).astype(int)

    def golden(array):
        return ((array[..., 0] > 230) & (array[..., 1] > 150) & (array[..., 2] < 110)).sum()

    assert golden(plain) == 0 and golden(glow) > 400


def test_pictures_are_reproducible_and_fresh():
    shown = picture(stones={4: 0}, caption="Red to move", turn=0)
    one, other = rgb_array(shown, 200), rgb_array(shown, 200)
    assert np.array_equal(one, other) and one is not other
    one[:] = 0
    assert np.array_equal(other, rgb_array(shown, 200))


# -- errors and imports --------------------------------------------------------------------------------------


def test_bad_descriptions():
    with pytest.raises(ValueError, match="owners has 8 entries, a 3x3 board needs 9"):
        BoardPicture(rows=3, cols=3, owners=(-1,) * 8)
    with pytest.raises(ValueError, match="rows >= 1"):
        BoardPicture(rows=0, cols=3, owners=())
    with pytest.raises(ValueError, match="outside 0..8"):
        picture(last=9)
    with pytest.raises(ValueError, match="allowed: hex"):
        picture(kind="triangle")


def test_bad_sizes_and_modes():
    with pytest.raises(ValueError, match="64..2400"):
        rgb_array(picture(), 8)
    with pytest.raises(ValueError, match="use size >="):
        rgb_array(picture(19, 19), 64)
    with pytest.raises(ValueError, match="allowed: ansi, rgb_array"):
        render(picture(), "human")
    assert render(picture(), "ansi") == ansi(picture())
    assert np.array_equal(render(picture(), "rgb_array", 100), rgb_array(picture(), 100))


def test_no_display_library_is_imported():
    program = (
        "import sys\n"
        "from envs.render import BoardPicture, ansi, rgb_array\n"
        "shown = BoardPicture(rows=2, cols=2, owners=(0, 1, -1, -1))\n"
        "ansi(shown)\n"
        "assert 'PIL' not in sys.modules, 'Pillow was imported for text'\n"
        "rgb_array(shown, 100)\n"
        "loaded = {'pygame', 'tkinter', 'matplotlib'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_missing_pillow_names_the_fix():
    program = (
        "import sys\n"
        "sys.modules['PIL'] = None\n"
        "from envs.render import BoardPicture, rgb_array\n"
        "try:\n"
        "    rgb_array(BoardPicture(rows=1, cols=1, owners=(0,)))\n"
        "except ImportError as error:\n"
        "    assert 'pip install pillow' in str(error), error\n"
        "else:\n"
        "    raise SystemExit('no error')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# -- the games' pictures ------------------------------------------------------------------------------------


def test_pictures_of_a_view_hide_what_the_player_cannot_know():
    game = envs.make("dark_hex", info="silent")
    direct, probed = game.state_from_string("b2 b3"), game.state_from_string("b2 b2x b3")
    pictures = [game.picture(state, 0) for state in (direct, probed)]
    assert pictures[0] == pictures[1]
    assert ansi(pictures[0]) == ansi(pictures[1])
    assert np.array_equal(rgb_array(pictures[0], 200), rgb_array(pictures[1], 200))
    assert game.picture(direct, 1) != game.picture(probed, 1)
    assert set(pictures[0].unknown) == set(range(9)) - {4}


@pytest.mark.parametrize("name, parameters", [("hex", {"rows": 4}), ("hex", {"rows": 2, "cols": 5}), ("dark_hex", {})])
def test_whole_games_can_be_shown(name, parameters):
    game = envs.make(name, **parameters)
    rng = np.random.default_rng(0)
    state = game.new_initial_state()
    shape = rgb_array(game.picture(state), 150).shape
    while not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions())))
        for player in (None, 0, 1):
            assert rgb_array(game.picture(state, player), 150).shape == shape
            assert ansi(game.picture(state, player))
    assert set(game.picture(state).witness) == set(state.witness()) != set()
