"""Tac-Tix against the tables and positions of its rules, by exhaustive search over all sets of counters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import types

import envs
from envs.games.tac_tix import runs
from envs.kernels import kernel

U8, I64 = types.Array(types.uint8, 1, "C"), types.Array(types.int64, 1, "C")

# rows, cols: per convention whether the player to move on the full board wins, his winning moves up to the symmetries
# of the board (a number: how many moves such a class has), and how many sets of counters are lost for the mover.
TABLE = {
    (1, 1): ((False, "", 1), (True, "a1", 1)),
    (1, 2): ((True, "a1*2", 2), (True, "a1-b1", 1)),
    (1, 3): ((True, "a1-b1*2", 3), (True, "b1 a1-c1", 2)),
    (1, 4): ((True, "a1-c1*2", 4), (True, "a1-d1 b1-c1", 4)),
    (1, 5): ((True, "a1-d1*2 c1", 7), (True, "c1 b1-d1 a1-e1", 8)),
    (2, 2): ((False, "", 5), (False, "", 4)),
    (2, 3): ((True, "a1-a2*2 b1-b2", 13), (True, "a1-a2*2 b1-b2", 12)),
    (2, 4): ((False, "", 45), (False, "", 42)),
    (2, 5): ((True, "a1-a2*2 b1-b2*2 c1-c2", 185), (True, "a1-a2*2 b1-b2*2 c1-c2 a1-b1*4", 168)),
    (2, 6): ((False, "", 715), (False, "", 650)),
    (2, 7): ((True, "a1-a2*2 c1-c2*2 d1-d2", 2593), (True, "a1-a2*2 c1-c2*2 d1-d2", 2394)),
    (2, 8): ((False, "", 9487), (False, "", 8964)),
    (2, 9): (
        (True, "a1-a2*2 b1-b2*2 c1-c2*2 d1-d2*2 e1-e2", 34887),
        (True, "a1-a2*2 c1-c2*2 e1-e2", 33580),
    ),
    (2, 10): ((False, "", 129529), (False, "", 126784)),
    (3, 3): ((True, "a1*4 b2 b1-b3*2", 89), (True, "a1*4 b2 b1-b3*2", 88)),
    (3, 4): ((True, "a1-d1*2 b1-c1*2 a2-d2 b2-c2", 649), (True, "a1-d1*2 a2-d2 b2-c2", 640)),
    (3, 5): ((True, "c2 a2-e2 b2-d2 c1-c3", 4589), (True, "c2 a2-e2 b2-d2 c1-c3", 4494)),
    (3, 6): (
        (True, "a1-f1*2 b1-e1*2 c1-d1*2 a2-f2 b2-e2 c2-d2", 32479),
        (True, "a1-f1*2 c1-d1*2 a2-f2 b2-e2 c2-d2", 32002),
    ),
    (4, 4): ((False, "", 8568), (False, "", 8380)),
    (4, 5): (
        (True, "a1-a4*2 a2-a3*2 c1-c4", 115633),
        (True, "a2*4 a1-a4*2 c1-c4 c2-c3", 114384),
    ),
}
SLOW_TABLE = {
    (3, 7): (
        (True, "d2 a1-e1*4 b1-d1*4 a2-g2 b2-f2 c2-e2 d1-d3", 233713),
        (True, "d2 a1-d1*4 a2-g2 b2-f2 c2-e2 c1-c3*2 d1-d3", 230928),
    ),
    (2, 11): ((True, "a1-a2*2 c1-c2*2 e1-e2*2 f1-f2", 486961), (True, "a1-a2*2 c1-c2*2 e1-e2*2 f1-f2", 486654)),
    (2, 12): ((False, "", 1849371), (False, "", 1892682)),
    (3, 8): (
        (True, "a1-h1*2 b1-g1*2 c1-f1*2 d1-e1*2 a2-h2 b2-g2 c2-f2 d2-e2", 1722005),
        (True, "a1-h1*2 c1-f1*2 a2-h2 b2-g2 c2-f2 d2-e2", 1733240),
    ),
    (4, 6): ((False, "", 1637494), (False, "", 1647140)),
    (5, 5): ((True, "c3 c1-c5*2 c2-c4*2", 3177421), (True, "c3 c1-c5*2 c2-c4*2", 3212864)),
}
CONVENTIONS = ("misere", "normal")

# Position: legal moves, then per convention the winning moves ("" where the player to move loses).
POSITIONS = {
    "O.O": (2, "a1 c1", ""),
    "OO/O.": (5, "a1-b1 a1-a2", "a1"),
    "O.O/.../O.O": (4, "a1 c1 a3 c3", ""),
    "O.O.O": (3, "", "a1 c1 e1"),
    "OO.OO": (6, "", ""),
    "OOO/O.O/OOO": (20, "", ""),
    "OOO/.../OOO": (12, "", ""),
    ".O./OOO/.O.": (11, "a2-b2 b2-c2 b1-b2 b2-b3", "b2 a2-c2 b1-b3"),
    "OOO./O..O/.OO.": (12, "a1 b1 c1 a2", "a1 b1 c1 a2"),
    "OOOO/O..O/O..O/OOOO": (36, "", ""),
}
# 4x4 misère: every winning reply to each class of first moves.
REPLIES = {
    "a1": "d4 a4-b4 d1-d2",
    "b1": "c4 a1-a2 a3-a4",
    "b2": "c3",
    "a1-b1": "a2 d2 a4 c4-d4",
    "a1-c1": "b2-d2 a4-c4 b4-d4 d2-d4",
    "a1-d1": "a2-d2 b2-c2 a3-d3 b3-c3 a4-d4 b4-c4",
    "b1-c1": "a2-d2 b2-c2 b3-c3 a4-d4 b4-c4",
    "b1-b2": "a3-c3 c3-d3 c1-c2",
    "b1-b3": "c2-d2 a2-a4 c2-c4",
    "b1-b4": "a1-a4 a2-a3 c1-c4 d1-d4",
    "b2-c2": "a1-d1 b1-c1 b3-c3 a4-d4 b4-c4",
}
BULO = "c1; a4-c4; b2-c2; d1-d4; a1; a3-b3; b1; a2; c3"


@kernel(types.void(I64, types.int64, U8))
def _solve(masks, misere, lost):
    """lost[mask] = 1 where the player to move loses, for all masks in increasing order."""
    lost[0] = 0 if misere else 1
    for mask in range(1, lost.size):
        value = 1
        for run in masks:
            if run & ~mask == 0 and lost[mask & ~run]:
                value = 0
                break
        lost[mask] = value


def run_masks(game):
    return np.array([sum(1 << cell for cell in run) for run in game.runs], dtype=np.int64)


def lost_table(game, convention):
    lost = np.empty(1 << game.cells, dtype=np.uint8)
    _solve(run_masks(game), int(convention == "misere"), lost)
    return lost


def mask_of(state):
    return int(state.row[1]) | int(state.row[2]) << 31


def winning(state, lost):
    """The moves whose result is lost for the other player, as text."""
    return {state.action_to_string(a) for a in state.legal_actions() if lost[mask_of(state.child(a))]}


def orbit(game, text):
    """A move and its images under the symmetries of the board."""
    run = game.runs[game.string_to_action(text)]
    cells, images = [divmod(cell, game.cols) for cell in run], set()
    for turn in range(2 if game.rows == game.cols else 1):
        for flip_r in (False, True):
            for flip_c in (False, True):
                image = []
                for r, c in cells:
                    r, c = (c, r) if turn else (r, c)
                    r, c = game.rows - 1 - r if flip_r else r, game.cols - 1 - c if flip_c else c
                    image.append(r * game.cols + c)
                images.add(game.action_to_string(0, game.runs.index(tuple(sorted(image)))))
    return images


def check_table(size, convention, first_wins, classes, number_lost):
    game = envs.make("tac_tix", rows=size[0], cols=size[1], convention=convention)
    lost = lost_table(game, convention)
    assert int(lost.sum()) == number_lost
    expected = set()
    for entry in classes.split():
        text, _, count = entry.partition("*")
        images = orbit(game, text)
        assert len(images) == int(count or 1)
        expected |= images
    assert winning(game.new_initial_state(), lost) == expected
    assert first_wins == bool(expected) == (not lost[-1])
    if size != (1, 1) or convention == "normal":
        assert first_wins == (size[0] % 2 == 1 or size[1] % 2 == 1)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("size", TABLE)
def test_values(size, convention):
    check_table(size, convention, *TABLE[size][CONVENTIONS.index(convention)])


@pytest.mark.slow
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("size", SLOW_TABLE)
def test_values_slow(size, convention):
    check_table(size, convention, *SLOW_TABLE[size][CONVENTIONS.index(convention)])


@pytest.mark.parametrize("n", range(3, 21))
def test_single_rows(n):
    """Misère: leave one end counter, or two equal parts of at least two. Normal: leave two equal parts."""
    for convention in CONVENTIONS:
        game = envs.make("tac_tix", rows=1, cols=n, convention=convention)
        found = {tuple(game.runs[game.string_to_action(m)]) for m in winning(
            game.new_initial_state(), lost_table(game, convention))}  # fmt: skip
        centred = {tuple(range(k, n - k)) for k in range(n) if k < n - k}
        if convention == "misere":
            expected = {run for run in centred if run[0] >= 2} | {tuple(range(n - 1)), tuple(range(1, n))}
            assert found == expected
        else:
            assert found == centred and len(centred) == (n + 1) // 2


@pytest.mark.parametrize("position", POSITIONS)
def test_positions(position):
    count, misere, normal = POSITIONS[position]
    lines = position.split("/")
    for convention, moves in (("misere", misere), ("normal", normal)):
        game = envs.make("tac_tix", rows=len(lines), cols=len(lines[0]), convention=convention)
        state = game.state_from_string(position)
        assert len(state.legal_actions()) == count
        lost = lost_table(game, convention)
        assert winning(state, lost) == set(moves.split())
        assert bool(moves) == (not lost[mask_of(state)])
        # The same counters as the start position of a game.
        started = envs.make("tac_tix", **{**game.explicit_parameters(), "initial": position}).new_initial_state()
        assert started.legal_actions() == state.legal_actions()


def test_replies_on_4x4():
    game = envs.make("tac_tix")
    lost = lost_table(game, "misere")
    start = game.new_initial_state()
    covered = set()
    for move, replies in REPLIES.items():
        assert winning(start.child(game.string_to_action(move)), lost) == set(replies.split())
        covered |= orbit(game, move)
    assert len(covered) == 64


def test_whole_game():
    for convention, returns in (("misere", [-1.0, 1.0]), ("normal", [1.0, -1.0])):
        game = envs.make("tac_tix", convention=convention)
        state = game.state_from_string(BULO)
        assert state.is_terminal() and state.move_number() == 9 and state.returns() == returns
        assert state.reason() == "last_counter" and state.witness() == (10,)
        assert state.legal_actions() == []


def test_action_numbers():
    for m in range(1, 8):
        for n in range(1, 8):
            found = {}
            for r in range(m):
                for c1 in range(n):
                    for c2 in range(c1, n):
                        cells = tuple(r * n + c for c in range(c1, c2 + 1))
                        found[r * n * (n + 1) // 2 + c1 * n - c1 * (c1 - 1) // 2 + (c2 - c1)] = cells
            for c in range(n):
                for r1 in range(m):
                    for r2 in range(r1 + 1, m):
                        cells = tuple(r * n + c for r in range(r1, r2 + 1))
                        key = m * n * (n + 1) // 2 + c * m * (m - 1) // 2 + r1 * (m - 1) - r1 * (r1 - 1) // 2
                        found[key + r2 - r1 - 1] = cells
            assert sorted(found) == list(range(m * n * (m + n) // 2))
            assert [found[i] for i in range(len(found))] == runs(m, n)
            game = envs.make("tac_tix", rows=m, cols=n)
            for action in range(game.num_distinct_actions()):
                assert game.string_to_action(game.action_to_string(0, action)) == action
    assert [envs.make("tac_tix", rows=n).num_distinct_actions() for n in (4, 5, 6)] == [64, 125, 216]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8), st.integers(1, 7), st.booleans(), st.integers(0, 2**32 - 1))
def test_random_games(rows, cols, misere, seed):
    """Against sets of cells: legal moves, what is left, length, winner; also beyond 31 cells."""
    game = envs.make("tac_tix", rows=rows, cols=cols, convention="misere" if misere else "normal")
    rng = np.random.default_rng(seed)
    state = game.new_initial_state()
    left = set(range(game.cells))
    while not state.is_terminal():
        assert state.legal_actions() == [a for a, run in enumerate(game.runs) if left.issuperset(run)]
        mover = state.current_player()
        action = int(rng.choice(state.legal_actions()))
        state.apply_action(action)
        left -= set(game.runs[action])
        assert np.flatnonzero(state.observation_tensor(0)[: game.cells]).tolist() == sorted(left)
    assert not left and 1 <= state.move_number() <= game.max_game_length() == game.cells
    assert state.returns()[mover] == (-1.0 if misere else 1.0) and sum(state.returns()) == 0
    assert state.witness() == game.runs[action]


def test_text():
    game = envs.make("tac_tix", rows=2, cols=3)
    state = game.state_from_string("O.O/.O. player 1 to move")
    assert state.current_player() == 1 and state.to_string() == "  a b c\n1 O . O\n2 . O .\nplayer 1 to move"
    assert game.state_from_string(state.to_string()).row.tolist() == state.row.tolist()
    state = game.state_from_string("a1-c1")
    assert state.information_state_string(0) == "P0 a1-c1" and state.current_player() == 1
    assert [game.action_to_string(0, game.string_to_action(t)) for t in ("A1-B1", "b1-a1", "c1-c2")] == [
        "a1-b1", "a1-b1", "c1-c2",
    ]  # fmt: skip
    empty = game.state_from_string(".../... player 1 to move")
    assert empty.is_terminal() and empty.returns() == [-1.0, 1.0]


def test_initial():
    game = envs.make("tac_tix", rows=2, cols=3, initial=" O.O / OOO ")
    assert "initial=O.O/OOO" in game.spec() and game.max_game_length() == 5
    assert envs.make("tac_tix", rows=1, cols=2, initial="OO").spec().endswith("initial=full)")
    with pytest.raises(ValueError, match="a counter at b1"):
        game.state_from_string("OOO/...")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rows": 7, "cols": 9}, "63 cells, at most 62"),
        ({"rows": 8}, "64 cells, at most 62"),
        ({"rows": 0}, "integer from 1"),
        ({"convention": "misère"}, "misere, normal"),
        ({"initial": "OO/OO"}, "does not fit"),
        ({"rows": 2, "initial": "OO"}, "1 rows, this board has 2"),
        ({"rows": 2, "initial": "../.."}, "at least one counter"),
        ({"rows": 2, "initial": "XX/XX"}, "symbols O ."),
        ({"initial": 5}, "must be a text"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        envs.make("tac_tix", **parameters)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a1-b2", "not a run"),
        ("a1-b1-c1", "not a run"),
        ("e5", "not a cell"),
        ("OO/OO/OO", "does not fit"),
        ("OOOO/OOOO", "2 rows, this board has 4"),
        ("1 OOOO/1 O...", "row numbers"),
        ("player 3 to move", "nobody of that name"),
    ],
)
def test_bad_text(text, message):
    game = envs.make("tac_tix")
    with pytest.raises(ValueError, match=message):
        game.state_from_string(text) if "-" not in text and text != "e5" else game.string_to_action(text)


def test_a_hole_splits_a_row():
    game = envs.make("tac_tix", rows=1, cols=3)
    state = game.state_from_string("b1")
    with pytest.raises(envs.IllegalActionError, match="a1-c1"):
        state.apply_action(game.string_to_action("a1-c1"))
