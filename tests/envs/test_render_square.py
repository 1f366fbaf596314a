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
        ("phantom_ttt", {}),
        ("phantom_ttt", {"rows": 2, "cols": 19}),
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


def test_marks_and_unknown_cells():
    """Cross, ring, either of them found, empty and unknown: every two of them look different, each in its own cell."""

    def shown(owner=-1, **rest):
        return rgb_array(BoardPicture(rows=1, cols=2, owners=(owner, -1), kind="square", pieces="mark", **rest), 300)

    cells = [shown(), shown(unknown=(0,)), *(shown(owner, discovered=d) for owner in (0, 1) for d in ((), (0,)))]
    for i, one in enumerate(cells):
        for other in cells[:i]:
            _, columns = np.nonzero((one != other).any(axis=2))
            assert columns.size and columns.max() < 150


def test_a_view_of_marks_hides_what_the_player_cannot_know():
    game = envs.make("phantom_ttt", info="silent")
    views = [game.state_from_string(moves) for moves in ("b2 b2x b3", "b2 b3", "b2 a1")]
    pictures = [rgb_array(game.picture(view, 0), 200) for view in views]
    assert all(np.array_equal(pictures[0], other) for other in pictures[1:])
    assert text(views[0]).splitlines()[3:] == [
        "3 . O .", "last: b3", "discovered: b2", "X to move", "Phantom tic-tac-toe 3x3 classical, silent"
    ]


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
    with pytest.raises(ValueError, match="allowed: stone, counter, ship, mark"):
        BoardPicture(rows=1, cols=1, owners=(0,), kind="square", pieces="cube")
    with pytest.raises(ValueError, match="as many symbols and colours as names"):
        BoardPicture(rows=1, cols=1, owners=(0,), names=("Red",))
    with pytest.raises(ValueError, match="allowed: red"):
        BoardPicture(rows=1, cols=1, owners=(0,), colours=("red", "pink"))
    with pytest.raises(ValueError, match="use size >="):
        rgb_array(BoardPicture(rows=19, cols=19, owners=(-1,) * 361, kind="square"), 64)
