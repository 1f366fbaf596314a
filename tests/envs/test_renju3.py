"""Three-player renju against the positions, games and counts of its rules, and plain second implementations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import types

import envs
from envs.games.renju3 import NAMES, STEPS
from envs.kernels import kernel
from envs.perft import perft

BOARD = types.Array(types.int64, 2, "C")
CELLS = types.Array(types.bool_, 2, "C")

BLUE_STONES = "7 . B . . . . B . .\n8 . . . B . . . . .\n"
R1 = """
1 . . . . . . . . .
2 G B B B . . . . .
3 . . . . . . . . .
4 . . R R R . . . .
5 . . . . . . . . .
6 . G G . G . . . .
"""
R2 = "2 . B . B B B . . .\n4 . R R R . R R . .\n6 . G G . G G . . .\n"
R3 = "2 . . R R . R . . .\n5 . . . G G G . . .\n" + BLUE_STONES
R4 = "2 . . . R R R . . .\n5 . . G G . G . . .\n" + BLUE_STONES
R5_TOP = """
2 . . . . . . G . .
3 . . . . . . G . .
4 . . . . . . G . .
5 . . B R R R . . .
7 . B . . . . B . .
"""
R5 = R5_TOP + "8 . . . B . . . . .\n"
R6 = R5_TOP + "8 . G G . G . . . .\n"
R7 = "2 . . R R . R . . .\n5 . . G G . G . . .\n" + BLUE_STONES
R8 = """
2 . . . . B . . . .
3 . . . . B . . . .
4 . . R R . R . . .
5 . . . . B . . . .
7 . G G G . . . . .
"""
R9 = "2 . . G G . G . . .\n5 . . . B B B . . .\n7 . R . . . . R . .\n8 . . . R . . . . .\n"
R10 = """
3 . . . B . . . . .
4 . . . B . . . . .
5 . . . B B B . . .
7 . R R . G . G . .
"""
# Diagram, who is to move, critical cells of Blue, Red, Green (None: not given), who wins at once.
POSITIONS = {
    "R1": (R1, "Blue", ("e2", "b4 f4", "d6"), None),
    "R2": (R2, "Blue", ("g2", "a4", ""), None),
    "R3": (R3, "Blue", ("", "e2", "c5 g5"), "Blue"),
    "R3 Green": (R3, "Green", ("", "e2", "c5 g5"), None),
    "R4": (R4, "Blue", ("", "c2 g2", "e5"), None),
    "R5": (R5, "Blue", ("", "g5", "g1 g5"), None),
    "R6": (R6, "Blue", ("", "g5", "d8 g1 g5"), "Blue"),
    "R7": (R7, "Blue", ("", "e2", "e5"), None),
    "R8": (R8, "Blue", ("e4", "e4", "a7 e7"), "Blue"),
    "R9": (R9, "Red", ("c5 g5", "", "e2"), "Red"),
    "R10": (R10, "Red", ("d2 d6 c5 g5", "", ""), None),
}


def position(name, mover=None, **parameters):
    diagram, to_move, _, _ = POSITIONS[name]
    game = envs.make("renju3", rows=9, **parameters)
    return game.state_from_string(f"{diagram}\n{mover or to_move} to move")


def cells(game, text):
    return {game.string_to_action(word) for word in text.split()}


@pytest.mark.parametrize("name", POSITIONS)
def test_positions(name):
    _, mover, critical, winner = POSITIONS[name]
    state = position(name)
    for player in range(3):
        assert set(state.game.critical_cells(state, player)) == cells(state.game, critical[player])
    if winner is None:
        assert state.current_player() == NAMES.index(mover) and state.returns() == [0.0] * 3
    else:
        assert state.is_terminal() and state.reason() == "antonov"
        assert state.returns() == [1.0 if NAMES[p] == winner else -0.5 for p in range(3)]
        assert len(state.witness()) == 3


def test_blue_wins_r1_at_e2():
    state = position("R1")
    state.apply_action(state.string_to_action("e2"))
    assert state.reason() == "four" and state.returns() == [1.0, -0.5, -0.5]
    assert [state.game.cell_to_string(c) for c in state.witness()] == ["b2", "c2", "d2", "e2"]


def test_green_can_win_r3_and_red_always_wins_r4():
    state = position("R3 Green")
    for move in ("c5", "g5"):
        assert state.child(state.string_to_action(move)).returns()[2] == 1.0
    state = position("R4")
    for action in state.legal_actions():
        child = state.child(action)
        assert any(child.child(a).returns()[1] == 1.0 for a in child.legal_actions())


def test_literal_and_off():
    assert position("R5", antonov="literal").reason() == "antonov"
    assert position("R6", antonov="literal").reason() == "antonov"
    for name in ("R3", "R6", "R8", "R9"):
        assert not position(name, antonov="off").is_terminal()
    for name in ("R1", "R4", "R7", "R10"):
        assert not position(name, antonov="literal").is_terminal()


def test_red_blocks_in_r7():
    state = position("R7")
    state.apply_actions([state.string_to_action("e2"), state.string_to_action("e5")])
    assert [state.game.critical_cells(state, p) for p in range(3)] == [(), (), ()]


def test_own_four():
    state = position("R1", own_four="auto")
    assert state.reason() == "own_four" and state.returns()[0] == 1.0
    assert [state.game.cell_to_string(c) for c in state.witness()] == ["e2"]
    assert position("R8", own_four="auto").reason() == "antonov"
    assert not position("R7", own_four="auto").is_terminal()
    assert position("R3 Green", own_four="auto").returns() == [-0.5, -0.5, 1.0]
    # At the start of the turn that the four became possible for, not earlier.
    state = envs.make("renju3", rows=9, own_four="auto").state_from_string("a1 a9 i9 b1 a7 i7 c1 a5")
    assert not state.is_terminal()
    state.apply_action(state.string_to_action("i5"))
    assert state.reason() == "own_four" and state.returns() == [1.0, -0.5, -0.5]


def test_antonov_without_a_stone():
    text = "pass f11 d4 pass g11 e4 pass i11 f4"
    game = envs.make("renju3")
    state = game.state_from_string(text)
    assert state.move_number() == 9 and state.reason() == "antonov" and state.returns() == [1.0, -0.5, -0.5]
    assert state.witness() == tuple(game.string_to_action(c) for c in ("h11", "c4", "g4"))
    assert 0 not in game.owners(state)
    state = envs.make("renju3", antonov="off").state_from_string(text)
    assert state.current_player() == 0


def test_no_antonov_with_two_for_the_next_player():
    game = envs.make("renju3")
    state = game.state_from_string("pass f11 d4 pass g11 f4 pass h11 e4")
    assert state.current_player() == 0
    assert set(game.critical_cells(state, 1)) == cells(game, "e11 i11")
    state.apply_actions([game.string_to_action("pass"), game.string_to_action("i11")])
    assert state.move_number() == 11 and state.returns() == [-0.5, 1.0, -0.5] and state.reason() == "four"


def test_passes():
    game = envs.make("renju3")
    state = game.state_from_string("pass pass pass")
    assert state.move_number() == 3 and state.reason() == "passes" and state.returns() == [0.0] * 3
    state = game.state_from_string("pass pass a1 pass pass")
    assert not state.is_terminal()
    state.apply_action(361)
    assert state.move_number() == 6 and state.reason() == "passes" and state.witness() == ()


@pytest.mark.parametrize(
    ("stones", "last", "wins"),
    [
        ("a1 b1 c1 e1", "d1", False),
        ("a1 b1 c1", "d1", True),
        ("a1 b1 c1 e1 d2 d3 d4", "d1", True),
        ("a1 b2 c3", "d4", True),
        ("s1 r2 q3", "p4", True),
        ("s1 s2 s4", "s3", True),
        ("a16 a17 a19", "a18", True),
        ("a1 b1 c1 e1 f1", "d1", False),
        ("a1 b1 c1 e1 f1 g1", "d1", False),
    ],
)
def test_exactly_four(stones, last, wins):
    game = envs.make("renju3")
    owners = ["."] * 361
    for cell in cells(game, stones):
        owners[cell] = "B"
    diagram = "/".join("".join(owners[19 * r : 19 * r + 19]) for r in range(19))
    state = game.state_from_string(diagram + "/Blue to move")
    state.apply_action(game.string_to_action(last))
    assert (state.reason() == "four") == wins and state.is_terminal() == wins
    if wins:
        assert len(state.witness()) == 4 and game.string_to_action(last) in state.witness()


@pytest.mark.parametrize(
    ("rows", "win_len", "antonov", "counts"),
    [
        (3, 2, "exact", (5331, 20186, 68553)),
        (3, 2, "literal", (5331, 20186, 68553)),
        (3, 2, "off", (5499, 21554, 76113)),
        (4, 3, "exact", (58608, 778112)),
    ],
)
def test_perft(rows, win_len, antonov, counts):
    state = envs.make("renju3", rows=rows, win_len=win_len, antonov=antonov).new_initial_state()
    assert tuple(perft(state, 4 + i) for i in range(len(counts))) == counts


# -- critical cells and Antonov's condition, the plain way ---------------------------------------------------------


def naive_critical(game, owners, player):
    """Cells where a stone would make a maximal run of exactly win_len, by looking at the whole board."""

    def own(r, c, extra):
        return 0 <= r < game.rows and 0 <= c < game.cols and (
            owners[r * game.cols + c] == player or (r, c) == extra
        )  # fmt: skip

    found = []
    for cell, owner in enumerate(owners):
        r, c = divmod(cell, game.cols)
        if owner >= 0:
            continue
        for dr, dc in STEPS:
            length = 1
            for sign in (1, -1):
                k = 1
                while own(r + sign * k * dr, c + sign * k * dc, (r, c)):
                    k += 1
                length += k - 1
            if length == game.win_len:
                found.append(cell)
                break
    return tuple(found)


@settings(max_examples=120, deadline=None)
@given(
    st.integers(1, 9), st.integers(1, 9), st.integers(2, 5), st.sampled_from(["exact", "literal", "off"]),
    st.sampled_from([0.0, 0.1]), st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_incremental_critical_cells_equal_recomputation(rows, cols, win_len, antonov, passing, seed):
    win_len = min(win_len, max(rows, cols, 2))
    if win_len > max(rows, cols):
        cols = win_len
    game = envs.make("renju3", rows=rows, cols=cols, win_len=win_len, antonov=antonov)
    rng = np.random.default_rng(seed)
    state = game.new_initial_state()
    owners = [-1] * game.cells
    while not state.is_terminal():
        mover = state.current_player()
        empty = [cell for cell, owner in enumerate(owners) if owner < 0]
        assert state.legal_actions() == [*empty, game.cells]
        # Mostly not the winning moves, so that boards fill up.
        quiet = [cell for cell in empty if cell not in naive_critical(game, owners, mover)]
        choices = quiet if quiet and rng.random() < 0.9 else empty
        action = game.cells if rng.random() < passing else int(rng.choice(choices))
        makes_four = action in naive_critical(game, owners, mover)
        state.apply_action(action)
        if action < game.cells:
            owners[action] = mover
        assert game.owners(state) == owners
        critical = [naive_critical(game, owners, p) for p in range(3)]
        assert [game.critical_cells(state, p) for p in range(3)] == critical
        assert state.row[6:9].tolist() == [len(c) for c in critical]
        assert (state.reason() == "four") == makes_four
        if not makes_four and -1 in owners and state.reason() != "passes":
            turn = (mover + 1) % 3
            first, second = set(critical[(turn + 1) % 3]), set(critical[(turn + 2) % 3])
            enough = len(second - first) if antonov == "exact" else len(second)
            expected = antonov != "off" and len(first) == 1 and enough >= 2
            assert (state.reason() == "antonov") == expected
            if expected:
                assert state.returns()[turn] == 1.0
    assert state.move_number() <= game.max_game_length()
    assert sum(state.returns()) == 0
    assert ((-1 not in owners) and not makes_four) == (state.reason() == "full")


@kernel(types.boolean(BOARD, types.int64, types.int64, types.int64))
def _makes_four(board, r, c, colour):
    n = board.shape[0]
    for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
        length = 1
        for sign in (1, -1):
            y, x = r + sign * dr, c + sign * dc
            while 0 <= y < n and 0 <= x < n and board[y, x] == colour:
                length += 1
                y += sign * dr
                x += sign * dc
        if length == 4:
            return True
    return False


@kernel(types.boolean(BOARD, types.int64))
def _can_make_four(board, colour):
    for r in range(board.shape[0]):
        for c in range(board.shape[0]):
            if board[r, c] == 0 and _makes_four(board, r, c, colour):
                return True
    return False


@kernel(types.int64(BOARD))
def _outcomes(board):
    """Blue (1) to move: bit 0 if some action of his lets Red make a four next, bit 1 if some lets Green, by trying all
    actions of Blue, all answers of Red and all fours of Green."""
    n = board.shape[0]
    found = 0
    for action in range(n * n + 1):
        r, c = action // n, action % n
        if action < n * n:
            if board[r, c] != 0 or _makes_four(board, r, c, 1):
                continue
            board[r, c] = 1
        if _can_make_four(board, 2):
            found |= 1
        else:
            always = True
            for answer in range(n * n + 1):
                y, x = answer // n, answer % n
                if answer < n * n:
                    if board[y, x] != 0:
                        continue
                    board[y, x] = 2
                always = always and _can_make_four(board, 3)
                if answer < n * n:
                    board[y, x] = 0
                if not always:
                    break
            if always:
                found |= 2
        if action < n * n:
            board[r, c] = 0
    return found


def antonov_agreement(count, seed):
    """Random 6x6 positions in which Blue has no four to make: the formula against trying everything."""
    game = envs.make("renju3", rows=6)
    rng = np.random.default_rng(seed)
    seen = [0, 0]
    while sum(seen) < count:
        # Stones lie in short runs, so that critical cells are frequent.
        board = np.zeros((6, 6), dtype=np.int64)
        for colour in (1, 2, 3):
            for _ in range(rng.integers(1, 4)):
                dr, dc = STEPS[rng.integers(4)]
                r, c = rng.integers(6, size=2)
                for k in rng.permutation(4)[:3]:
                    y, x = r + k * dr, c + k * dc
                    if 0 <= y < 6 and 0 <= x < 6 and board[y, x] == 0 and not _makes_four(board, y, x, colour):
                        board[y, x] = colour
        text = "/".join("".join(".BRG"[v] for v in row) for row in board.tolist()) + "/Blue to move"
        try:
            state = game.state_from_string(text)
        except ValueError:  # a later stone has shortened somebody's five to a four
            continue
        if state.reason() == "four" or game.critical_cells(state, 0):
            continue
        wins = _outcomes(board) == 3
        assert (state.reason() == "antonov") == wins, text
        seen[wins] += 1
    return seen


def test_antonov_by_trying_everything():
    assert min(antonov_agreement(600, 1)) > 10


@pytest.mark.slow
def test_antonov_by_trying_everything_slow():
    assert min(antonov_agreement(3335, 2)) > 50


# -- payoffs, observations, text -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payoff", "win", "draw", "low"),
    [
        ("zero_sum", [1.0, -0.5, -0.5], [0.0] * 3, -0.5),
        ("winner_only", [1.0, 0.0, 0.0], [0.0] * 3, 0.0),
        ("share", [1.0, 0.0, 0.0], [1 / 3] * 3, 0.0),
    ],
)
def test_payoff(payoff, win, draw, low):
    game = envs.make("renju3", rows=4, payoff=payoff)
    assert game.state_from_string("a1 a2 a3 b1 b2 b3 c1 c2 a4 d1").returns() == win
    assert game.state_from_string("pass pass pass").returns() == draw
    assert (game.min_utility(), game.max_utility()) == (low, 1.0)


def test_full_board_is_a_draw():
    state = envs.make("renju3", rows=2, cols=4, antonov="off").state_from_string("a1 b1 c1 d1 a2 b2 c2 d2")
    assert state.reason() == "full" and state.returns() == [0.0] * 3
    state = envs.make("renju3", rows=2, cols=4).state_from_string("BRGB/GBRG Blue to move")
    assert state.reason() == "full"


def test_a_four_on_the_last_cell_wins():
    game = envs.make("renju3", rows=1, cols=4, antonov="off")
    state = game.state_from_string("a1 pass pass b1 pass pass c1 pass pass d1")
    assert state.reason() == "four"


def test_without_passes():
    game = envs.make("renju3", rows=4, allow_pass=False)
    assert game.num_distinct_actions() == game.max_game_length() == 16
    with pytest.raises(ValueError, match="allow_pass=false"):
        game.string_to_action("pass")
    assert game.state_from_string("BRG./..../..../....").current_player() == 0
    for text, message in (
        ("BRG./..../..../.... Red to move", "Blue is to move, not Red"),
        ("BB../..../..../....", "no game without passes"),
        ("BRG./..../..../.... Blue to move after 1 pass", "at most 0"),
    ):
        with pytest.raises(ValueError, match=message):
            game.state_from_string(text)


def test_observations_rotate():
    game = envs.make("renju3", rows=5, threat_planes=True)
    state = game.state_from_string("a1 b2 c3 a2 d2 pass")
    layout = {name: slice(start, stop) for name, start, stop in game.observation_layout()}
    owners = np.array(game.owners(state))
    for player in range(3):
        seen = state.observation_tensor(player)
        names = ("own stones", "next player's stones", "next but one's stones")
        for turn, name in enumerate(names):
            assert np.array_equal(seen[layout[name]], owners == (player + turn) % 3)
        assert np.array_equal(seen[layout["empty cells"]], owners < 0)
        assert seen[layout["passes in a row"]] == 1
        assert np.argmax(seen[layout["to move: me, next, next but one"]]) == (0 - player) % 3
        assert np.argmax(seen[layout["seat"]]) == player
        threats = ("own critical cells", "next player's critical cells", "next but one's critical cells")
        for turn, name in enumerate(threats):
            expected = game.critical_cells(state, (player + turn) % 3)
            assert tuple(np.flatnonzero(seen[layout[name]])) == expected
    assert game.observation_size() == 7 * 25 + 7
    assert envs.make("renju3", rows=5).observation_size() == 4 * 25 + 7


def test_three_seats_rotate():
    """Shifting everybody's seat by one shifts the observations: me, next and next but one look the same."""
    game = envs.make("renju3", rows=5)
    one = game.state_from_string("a1 b2 c3 a2 d2 e5")
    other = game.state_from_string("pass a1 b2 c3 a2 d2 e5")
    size = 4 * 25
    for player in range(3):
        shifted = other.observation_tensor((player + 1) % 3)
        assert np.array_equal(one.observation_tensor(player)[:size], shifted[:size])


def test_text():
    game = envs.make("renju3", rows=4)
    state = game.state_from_string("a1 pass")
    shown = "  a b c d\n1 B . . .\n2 . . . .\n3 . . . .\n4 . . . .\nGreen to move after 1 pass"
    assert state.to_string() == shown
    again = game.state_from_string(shown)
    assert again.current_player() == 2 and game.owners(again) == game.owners(state)
    assert state.information_state_string(1) == "P1 a1 pass"
    assert game.state_from_string("BRG./..../..../....").current_player() == 0
    assert game.state_from_string("BR../..../..../....").current_player() == 2
    # The log of a diagram is a game with the same stones.
    tokens = game.state_from_string("BB.G/..../..../.... Red to move").information_tokens(0)
    assert [game.action_to_string(0, t) for t in tokens] == ["a1", "pass", "d1", "b1", "pass", "pass", "pass"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("BB../..../..../....", "do not tell who is to move"),
        ("BBBB/..../..../.... Blue to move", "the game was over"),
        ("BBBB/RRRR/..../.... Red to move", "the game was over"),
        ("BBBB/..../..../.... Green to move after 1 pass", "the game was over"),
        ("B.../..../..../.... Blue to move after 1 pass", "Blue cannot be to move after 1 pass"),
        ("..../..../..../.... Red to move after 2 passes", "Red cannot be to move after 2 passes"),
        ("B.../..../..../.... Yellow to move", "players are Blue, Red, Green"),
        ("B.../..../....", "3 rows, this board has 4"),
        ("a1 e5", "a1 to d4"),
    ],
)
def test_bad_text(text, message):
    with pytest.raises(ValueError, match=message):
        envs.make("renju3", rows=4).state_from_string(text)


def test_a_finished_diagram():
    state = envs.make("renju3", rows=4).state_from_string("BBBB/RR../GG../.... Red to move")
    assert state.reason() == "four" and state.witness() == (0, 1, 2, 3) and state.returns()[0] == 1.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rows": 3}, "win_len=4 does not fit on a 3x3 board"),
        ({"rows": 5, "win_len": 6}, "does not fit"),
        ({"win_len": 1}, "integer from 2"),
        ({"antonov": "on"}, "exact, literal, off"),
        ({"payoff": "sum"}, "zero_sum, winner_only, share"),
        ({"own_four": True}, "play, auto"),
        ({"allow_pass": 1}, "true or false"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        envs.make("renju3", **parameters)
    assert envs.make("renju3", rows=1, cols=4).num_players == 3
