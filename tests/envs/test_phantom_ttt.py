"""Phantom tic-tac-toe against a small reference of its own, against OpenSpiel's counts, and by transcripts."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import envs
from envs.games import square_board
from envs.perft import perft

VARIANTS = [(v, i) for v in ("classical", "abrupt") for i in ("silent", "numturns", "announce")]


# -- a reference, written from the rules ---------------------------------------------------------------------


def lines(rows, cols, length):
    """All lines of a board as sets of cells."""
    found = []
    for r in range(rows):
        for c in range(cols):
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(r + i * dr, c + i * dc) for i in range(length)]
                if all(0 <= x < rows and 0 <= y < cols for x, y in cells):
                    found.append(frozenset(x * cols + y for x, y in cells))
    return set(found)


class Reference:
    """A game as two sets of stones, two sets of known cells, and what each player was told."""

    def __init__(self, rows, cols, length, version, info):
        self.n, self.lines, self.version, self.info = rows * cols, lines(rows, cols, length), version, info
        self.stones, self.known, self.told = (set(), set()), (set(), set()), ([], [])
        self.mover, self.result = 0, None

    def legal(self):
        return [] if self.result is not None else [c for c in range(self.n) if c not in self.known[self.mover]]

    def play(self, cell):
        me, other = self.mover, 1 - self.mover
        collision = cell in self.stones[other]
        self.known[me].add(cell)
        self.told[me].append((cell, collision))
        if self.info != "silent":
            self.told[other].append(collision if self.info == "announce" else "acted")
        if not collision:
            self.stones[me].add(cell)
            if any(line <= self.stones[me] for line in self.lines):
                self.result = (1, -1) if me == 0 else (-1, 1)
            elif len(self.stones[0]) + len(self.stones[1]) == self.n:
                self.result = (0, 0)
        if not collision or self.version == "abrupt":
            self.mover = other


def replay(parameters, actions):
    state = Reference(*parameters)
    for action in actions:
        state.play(action)
    return state


def reference_tree(*parameters):
    """Histories, results of the finished ones, information sets of both players."""
    histories, results, sets = 0, Counter(), (set(), set())
    todo = [()]
    while todo:
        actions = todo.pop()
        state = replay(parameters, actions)
        histories += 1
        if state.result is not None:
            results[state.result] += 1
            continue
        sets[state.mover].add(tuple(state.told[state.mover]))
        todo += [(*actions, action) for action in state.legal()]
    return histories, results, tuple(map(len, sets))


def tree(game):
    histories, results, sets = 0, Counter(), (set(), set())
    todo = [game.new_initial_state()]
    while todo:
        state = todo.pop()
        histories += 1
        if state.is_terminal():
            results[tuple(map(int, state.returns()))] += 1
            continue
        sets[state.current_player()].add(state.information_state_key())
        todo += [state.child(action) for action in state.legal_actions()]
    return histories, results, tuple(map(len, sets))


@pytest.mark.parametrize(("version", "info"), VARIANTS)
@pytest.mark.parametrize("board", [(2, 2, 2), (1, 4, 3), (3, 1, 2), (1, 1, 1), (1, 3, 3)])
def test_trees_are_the_references(board, version, info):
    rows, cols, line = board
    game = envs.make("phantom_ttt", rows=rows, cols=cols, line=line, version=version, info=info)
    assert tree(game) == reference_tree(rows, cols, line, version, info)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.data(), st.sampled_from(VARIANTS), st.integers(0, 2**32 - 1))
def test_random_games_are_the_references(rows, cols, data, variant, seed):
    line = data.draw(st.integers(1, max(rows, cols)))
    version, info = variant
    game = envs.make("phantom_ttt", rows=rows, cols=cols, line=line, version=version, info=info)
    rng = np.random.default_rng(seed)
    state, other = game.new_initial_state(), Reference(rows, cols, line, version, info)
    while not state.is_terminal():
        assert other.result is None and state.current_player() == other.mover
        assert state.legal_actions() == other.legal() != []
        for player in (0, 1):
            view = game.view(state, player)
            assert {cell for cell, seen in enumerate(view) if seen is not None} == other.known[player]
            assert {cell for cell, seen in enumerate(view) if seen == player} == other.stones[player]
            assert len(state.information_tokens(player)) == len(other.told[player])
        action = int(rng.choice(state.legal_actions()))
        state.apply_action(action)
        other.play(action)
    assert tuple(state.returns()) == other.result and state.move_number() <= game.max_game_length()
    if other.result == (0, 0):
        assert state.reason() == "full" and state.witness() == ()
    else:
        winner = int(np.argmax(state.returns()))
        won = {cell for one in other.lines if one <= other.stones[winner] for cell in one}
        assert state.reason() == "line" and sorted(state.witness()) == sorted(won)


@pytest.mark.parametrize("board", [(3, 3, 3), (2, 3, 2), (4, 3, 3), (1, 5, 2), (3, 4, 4), (1, 1, 1), (2, 2, 1)])
def test_win_table(board):
    rows, cols, line = board
    game = envs.make("phantom_ttt", rows=rows, cols=cols, line=line)
    table = game.win_table()
    stones = np.arange(1 << rows * cols)
    expected = np.zeros(stones.size, dtype=bool)
    for cells in lines(rows, cols, line):
        mask = sum(1 << cell for cell in cells)
        expected |= stones & mask == mask
    assert table.dtype == np.bool_ and table.shape == (2, stones.size)
    assert np.array_equal(table[0], expected) and np.array_equal(table[1], expected)


# -- counts --------------------------------------------------------------------------------------------------

PERFT = {  # OpenSpiel 2.0.2
    "classical": (9, 81, 648, 5112, 36288, 233352, 1357344),
    "abrupt": (9, 81, 648, 5184, 36288, 237552, 1365696),
}


@pytest.mark.parametrize("version", PERFT)
def test_perft(version):
    state = envs.make("phantom_ttt", version=version).new_initial_state()
    assert tuple(perft(state, depth + 1) for depth in range(len(PERFT[version]))) == PERFT[version]


def openspiel_perft(state, depth):
    if depth == 0:
        return 1
    return sum(openspiel_perft(state.child(action), depth - 1) for action in state.legal_actions())


@pytest.mark.parametrize("version", PERFT)
def test_openspiel_counts_the_same(version):
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    from envs.openspiel import native_game

    game = envs.make("phantom_ttt", version=version, info="silent")
    native = native_game(game)
    start = native.new_initial_state()
    assert tuple(openspiel_perft(start, depth) for depth in range(1, 5)) == PERFT[version][:4]
    rng = np.random.default_rng(0)
    for _ in range(12):  # whole subtrees of late positions
        ours, theirs = game.new_initial_state(), native.new_initial_state()
        while ours.move_number() < 9 and not ours.is_terminal():
            action = int(rng.choice(ours.legal_actions()))
            ours.apply_action(action)
            theirs.apply_action(action)
        for depth in range(1, 7):
            assert perft(ours, depth) == openspiel_perft(theirs, depth)


# -- transcripts ---------------------------------------------------------------------------------------------


def cells(text):
    return square_board.parse_diagram(text, 3, 3, "XO.")


def test_transcripts():
    game = envs.make("phantom_ttt")
    state = game.state_from_string("b2 b2\u00d7 a1 a1x c1")
    assert state.current_player() == 1
    assert cells(state.to_string(0)) == list("O.X") + list(".X.") + list("...")
    assert cells(state.to_string(1)) == list("O..") + list(".X.") + list("...")
    assert state.to_string() == "  a b c\n1 o . X\n2 . x .\n3 . . ."
    assert state.legal_actions() == [1, 2, 3, 5, 6, 7, 8]
    state.apply_actions([3, 6])
    assert state.returns() == [1.0, -1.0] and state.witness() == (2, 4, 6) and state.reason() == "line"
    assert state.information_state_string(0) == (
        "P0 b2 (opponent collided) (opponent placed) a1x c1 (opponent placed) a3"
    )

    state = envs.make("phantom_ttt", version="abrupt").state_from_string("b2 b2x a1")
    assert state.current_player() == 1 and cells(state.to_string(1)) == list("...") + list(".X.") + list("...")


def test_a_full_board_without_a_line_is_drawn():
    state = envs.make("phantom_ttt").state_from_string("a1 b1 c1 a2 c2 b2 b3 c3 a3")
    assert state.is_terminal() and state.returns() == [0.0, 0.0]
    assert state.reason() == "full" and state.witness() == ()
    assert state.game.picture(state).caption == "Draw"


def test_two_lines_at_once():
    state = envs.make("phantom_ttt", rows=5, line=3).state_from_string("a1 e1 b2 e2 c5 d1 c4 d2 c3")
    assert state.returns() == [1.0, -1.0]
    assert sorted(state.witness()) == [0, 6, 12, 17, 22]


def test_more_than_a_line_wins_too():
    state = envs.make("phantom_ttt", rows=2, cols=5).state_from_string("a1 a2 b1 b2 d1 d2 e1 e2 c1")
    assert state.returns() == [1.0, -1.0] and state.witness() == (0, 1, 2, 3, 4)


def test_keys_depend_on_the_own_past_alone():
    game = envs.make("phantom_ttt", info="silent")
    one, other = (game.state_from_string(moves) for moves in ("b2 b2x b3", "b2 b3"))
    assert one.information_state_key(0) == other.information_state_key(0)
    assert one.information_state_key(1) != other.information_state_key(1)


# -- parameters ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "cols", "line"), [(None, None, 3), (2, None, 2), (2, 3, 3), (1, 1, 1), (1, 2, 2), (7, 2, 3)]
)
def test_default_line(rows, cols, line):
    given = {key: value for key, value in (("rows", rows), ("cols", cols)) if value is not None}
    game = envs.make("phantom_ttt", **given)
    assert game.line == game.explicit_parameters()["line"] == line
    assert envs.make("phantom_ttt", **game.explicit_parameters()) == game


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"line": 4}, r"line=4 does not fit on a 3x3 board.*choose line <= 3"),
        ({"rows": 1, "cols": 2, "line": 3}, "choose line <= 2"),
        ({"line": 0}, "an integer from 1 to 19"),
        ({"rows": 0}, "an integer from 1 to 19"),
        ({"version": "classic"}, "classical, abrupt"),
        ({"info": "loud"}, "announce, numturns, silent"),
        ({"swap": "pieces"}, "no parameter 'swap'; its parameters are rows, cols, line, version, info"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        envs.make("phantom_ttt", **parameters)


def test_a_table_that_would_be_too_large():
    with pytest.raises(ValueError, match="25 cells is too large"):
        envs.make("phantom_ttt", rows=5).win_table()
