"""Text and pictures of boards with square cells."""

import numpy as np
import pytest

import envs
from envs.render import BoardPicture, ansi, rgb_array


def state(name, moves, **parameters):
    return envs.make(name, **parameters).state_from_string(moves)


def text(shown):
    return ansi(shown.game.picture(shown))


def test_text():
    assert text(state("tac_tix", "a1-b1", rows=2)) == (
        "  a b\n1 . .\n2 O O\nO = counter\nlast: a1 b1\nplayer 1 to move"
    )
    assert text(state("renju3", "a1 b2 pass", rows=4)) == (
        "  a b c d\n1 B . . .\n2 . R . .\n3 . . . .\n4 . . . .\n"
        "B = Blue   R = Red   G = Green\nBlue to move after 1 pass"
    )
    lines = text(state("docking", "a3-c1/g5")).splitlines()
    assert lines[0] == "8 . . B B B B . ." and lines[8] == "  a b c d e f g h"
    assert lines[9:] == ["W = White   B = Black", "last: a3 c1 g5", "Black to move"]


def test_the_end_names_the_cells():
    shown = text(state("renju3", "a1 a3 b4 b1 b3 c4 c1 c3 e4 d1", rows=5))
    assert "decided by: a1 b1 c1 d1" in shown and shown.endswith("Blue wins (four)")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("tac_tix", {}),
        ("tac_tix", {"rows": 1, "cols": 19}),
        ("tac_tix", {"rows": 19, "cols": 1}),
        ("renju3", {}),
        ("docking", {}),
    ],
)
def test_pictures(name, parameters):
    game = envs.make(name, **parameters)
    start = game.new_initial_state()
    first = rgb_array(game.picture(start), 300)
    assert first.dtype == np.uint8 and max(first.shape) == 300
    edge = np.concatenate([first[0], first[-1], first[:, 0], first[:, -1]])
    assert (edge == edge[0]).all()  # nothing touches the border
    later = start.child(start.legal_actions()[0])
    second = rgb_array(game.picture(later), 300)
    assert second.shape == first.shape and not np.array_equal(first, second)


def test_row_1_is_at_the_bottom_where_the_game_says_so():
    cells = [0] + [-1] * 63
    for bottom_up in (False, True):
        empty = BoardPicture(rows=8, cols=8, owners=(-1,) * 64, kind="square", pieces="ship", bottom_up=bottom_up)
        shown = BoardPicture(
            rows=8, cols=8, owners=tuple(cells), kind="square", pieces="ship", bottom_up=bottom_up
        )
        rows, _ = np.nonzero((rgb_array(empty, 300).astype(int) != rgb_array(shown, 300)).any(axis=2))
        assert (rows.mean() > 150) == bottom_up


def test_curtain_and_errors():
    hidden = BoardPicture(rows=2, cols=2, owners=(0, 1, -1, -1), kind="square", curtain=True)
    bare = BoardPicture(rows=2, cols=2, owners=(-1,) * 4, kind="square", curtain=True)
    assert ansi(hidden) == ansi(bare) and np.array_equal(rgb_array(hidden, 200), rgb_array(bare, 200))
    with pytest.raises(ValueError, match="allowed: stone, counter, ship"):
        BoardPicture(rows=1, cols=1, owners=(0,), kind="square", pieces="cube")
    with pytest.raises(ValueError, match="as many symbols and colours as names"):
        BoardPicture(rows=1, cols=1, owners=(0,), names=("Red",))
    with pytest.raises(ValueError, match="allowed: red"):
        BoardPicture(rows=1, cols=1, owners=(0,), colours=("red", "pink"))
    with pytest.raises(ValueError, match="use size >="):
        rgb_array(BoardPicture(rows=19, cols=19, owners=(-1,) * 361, kind="square"), 64)
