"""Hex against the tables and positions of its rules, and a plain second implementation of the win test."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import envs
from envs.games import hex_board as board

GAMES = {  # rows, cols: complete games / running positions / finished positions, without swap
    (1, 1): (1, 1, 1),
    (2, 2): (24, 23, 9),
    (2, 3): (520, 149, 72),
    (3, 2): (600, 185, 58),
    (3, 3): (257_760, 4_520, 994),
}
# Which openings win for Red: "+" wins.
OPENINGS_HEX = {
    (1, 1): "+",
    (2, 2): "-++-",
    (2, 3): "++++++",
    (3, 2): "------",
    (3, 3): "--++++" "+--",
    (2, 4): "+" * 8,
    (4, 2): "-" * 8,
}
OPENINGS_REX = {(1, 1): "-", (2, 2): "+--+", (2, 3): "-" * 6, (3, 2): "+" * 6, (3, 3): "-" * 9, (2, 4): "-" * 8}
OPENINGS_HEX_SLOW = {(3, 4): "+" * 12, (4, 3): "-" * 12}


def position(state):
    return state.row[: board.BOARD + state.game.cells].tobytes()


def openings(game):
    """``+`` for each opening that wins for Red, by plain negamax over positions."""
    memo = {}

    def value(state):
        if state.is_terminal():
            return state.returns()[0]
        key = position(state)
        if key not in memo:
            best = max if state.current_player() == 0 else min
            memo[key] = best(value(state.child(a)) for a in state.legal_actions())
        return memo[key]

    start = game.new_initial_state()
    return "".join("+" if value(start.child(a)) > 0 else "-" for a in range(game.cells))


@pytest.mark.parametrize("size", GAMES)
def test_counts(size):
    game = envs.make("hex", rows=size[0], cols=size[1], swap="off")
    running, finished, memo = set(), set(), {}

    def games(state):
        key = position(state)
        if key not in memo:
            if state.is_terminal():
                finished.add(key)
                memo[key] = 1
            else:
                running.add(key)
                memo[key] = sum(games(state.child(a)) for a in state.legal_actions())
        return memo[key]

    assert (games(game.new_initial_state()), len(running), len(finished)) == GAMES[size]


@pytest.mark.parametrize("size", OPENINGS_HEX)
def test_winning_openings(size):
    assert openings(envs.make("hex", rows=size[0], cols=size[1], swap="off")) == OPENINGS_HEX[size]


@pytest.mark.parametrize("size", OPENINGS_REX)
def test_winning_openings_rex(size):
    game = envs.make("hex", rows=size[0], cols=size[1], swap="off", rex=True)
    assert openings(game) == OPENINGS_REX[size]


@pytest.mark.slow
@pytest.mark.parametrize("size", OPENINGS_HEX_SLOW)
def test_winning_openings_slow(size):
    assert openings(envs.make("hex", rows=size[0], cols=size[1], swap="off")) == OPENINGS_HEX_SLOW[size]


@pytest.mark.parametrize("swap", ["pieces", "sides"])
@pytest.mark.parametrize("size", [2, 3])
def test_second_player_wins_with_swap(swap, size):
    """He swaps exactly the openings that win without the swap."""
    plain = openings(envs.make("hex", rows=size, swap="off"))
    game = envs.make("hex", rows=size, swap=swap)
    memo = {}

    def value(state):
        if state.is_terminal():
            return state.returns()[0]
        key = position(state)
        if key not in memo:
            best = max if state.current_player() == 0 else min
            memo[key] = best(value(state.child(a)) for a in state.legal_actions())
        return memo[key]

    start = game.new_initial_state()
    assert value(start) == -1
    for opening in range(game.cells):
        state = start.child(opening)
        swapped = value(state.child(game.cells))
        placed = min(value(state.child(a)) for a in state.legal_actions() if a != game.cells)
        assert (swapped, placed) == ((-1, 1) if plain[opening] == "+" else (1, -1))


@pytest.mark.parametrize("size", [(2, 2), (3, 3), (2, 4)])
def test_every_full_board_has_exactly_one_winner(size):
    rows, cols = size
    for colours in itertools.product((0, 1), repeat=rows * cols):
        chains = [
            board.winning_chain([c for c, x in enumerate(colours) if x == colour], colour, rows, cols, "shortest")
            for colour in (0, 1)
        ]
        assert (chains[0] == ()) != (chains[1] == ())


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 7), st.integers(1, 7), st.booleans(), st.integers(0, 2**32 - 1))
def test_incremental_win_test_equals_search(rows, cols, rex, seed):
    game = envs.make("hex", rows=rows, cols=cols, swap="off", rex=rex)
    rng = np.random.default_rng(seed)
    state = game.new_initial_state()
    stones = ([], [])
    while not state.is_terminal():
        mover = state.current_player()
        action = int(rng.choice(state.legal_actions()))
        state.apply_action(action)
        stones[mover].append(action)
        joined = bool(board.winning_chain(stones[mover], mover, rows, cols, "component"))
        assert state.is_terminal() == joined
        if joined:
            assert state.returns()[mover] == (-1.0 if rex else 1.0)
            assert set(state.witness()) <= set(stones[mover])
    assert state.reason() == "chain"


def test_swap_pieces():
    game = envs.make("hex", rows=5)
    state = game.state_from_string("e2 swap-pieces")
    assert state.to_string().replace(" ", "").count("R") == 0
    assert state == state.clone()
    owners = state.row[board.BOARD : board.BOARD + 25] & board.OWNER
    assert np.flatnonzero(owners).tolist() == [game.string_to_action("b5")]
    assert owners[game.string_to_action("b5")] == 2 and state.current_player() == 0
    state = game.state_from_string("c3 swap")
    assert (state.row[board.BOARD + 12] & board.OWNER) == 2 and state.current_player() == 0
    state = game.state_from_string("e2 b1")
    assert game.cells not in state.legal_actions()
    state.apply_action(0)
    assert game.cells not in state.legal_actions()


def test_swap_sides():
    game = envs.make("hex", rows=3, cols=4)
    assert "swap=off" in game.spec()
    game = envs.make("hex", rows=3, cols=4, swap="sides")
    state = game.state_from_string("b2 swap")
    assert state.current_player() == 0  # the opener, who is Blue now
    state.apply_actions([0, 1, 2, 9])  # player 1 is Red: b1 b2 b3
    assert state.returns() == [-1.0, 1.0] and state.witness() == (1, 5, 9)


@pytest.mark.parametrize("ply", [0, 2])
def test_swap_out_of_turn_is_illegal(ply):
    state = envs.make("hex").new_initial_state()
    state.apply_actions(range(ply))
    before = state.clone()
    with pytest.raises(envs.IllegalActionError, match=r"swap-pieces.*player 0"):
        state.apply_action(121)
    assert state == before


def test_no_swap_after_a_winning_first_stone():
    state = envs.make("hex", rows=1, cols=3, swap="sides").state_from_string("b1")
    assert state.is_terminal() and state.returns() == [1.0, -1.0]


def test_chains():
    def chain(text, colour=board.RED, how="shortest"):
        stones = [board.cell_from_name(word, 5, 5) for word in text.split()]
        return " ".join(board.cell_name(c, 5) for c in board.winning_chain(stones, colour, 5, 5, how))

    assert chain("c1 c2 b3 a4 b4 a5 d2 e1") == "c1 c2 b3 a4 a5"
    assert chain("a1 a2 b2 c2 c3 c4 b4 b5") == "a1 a2 b2 c2 c3 b4 b5"
    assert chain("a3 b2 c2 d1 e1", board.BLUE) == "a3 b2 c2 d1 e1"
    assert chain("a1 b2 c3 d4 e5") == ""
    assert chain("e1 d2 c3 b4 a5") == "e1 d2 c3 b4 a5"
    assert chain("c1 c2 b3 a4 b4 a5 d2 e1", how="component") == "c1 e1 c2 d2 b3 a4 b4 a5"


def test_uneven_boards():
    game = envs.make("hex", rows=3, cols=4)
    for actions, winner in (((8, 5, 4, 1, 0), 0), ((8, 5, 9, 4, 10, 6, 11, 7), 1)):
        state = game.new_initial_state()
        state.apply_actions(actions)
        assert state.returns()[winner] == 1.0
    state = envs.make("hex", rows=2, cols=3).state_from_string("b1 c1 a2")
    assert state.returns() == [1.0, -1.0]


def test_diagram():
    game = envs.make("hex", rows=3, swap="off")
    state = game.state_from_string("R . . / . B . / . . .")
    assert state.current_player() == 0 and len(state.legal_actions()) == 7
    assert game.state_from_string(state.to_string()).row.tolist() == state.row.tolist()
    assert game.state_from_string("R B ./R B ./R . .").returns() == [1.0, -1.0]
    with pytest.raises(ValueError, match="2 red and 0 blue"):
        game.state_from_string("RR./.../...")
    with pytest.raises(ValueError, match="no game reaches"):
        game.state_from_string("RB./RB./RB.")
    with pytest.raises(ValueError, match="not a cell"):
        game.state_from_string("j9")


def names(cells):
    return {board.cell_name(c, 5) for c in cells}


def test_bridges():
    found = board.bridges(12, [12], 5, 5)
    wanted = {"d1": "c2 d2", "b2": "b3 c2", "e2": "d2 d3", "a4": "b3 b4", "d4": "c4 d3", "b5": "b4 c4"}
    assert {board.cell_name(k, 5): names(v) for k, v in found.items()} == {
        k: set(v.split()) for k, v in wanted.items()
    }
    assert "d1" not in names(board.bridges(12, [12, board.cell_from_name("c2", 5, 5)], 5, 5))


def test_edge_templates():
    def has(cell, colour):
        return bool(board.edge_templates(board.cell_from_name(cell, 5, 5), colour, [], 5, 5))

    assert [c for c in "abcde" if has(f"{c}2", board.RED)] == list("abcd")  # e2 is next to an obtuse corner
    assert [c for c in "abcde" if has(f"{c}4", board.RED)] == list("bcde")  # so is a4
    assert [r for r in "12345" if has(f"b{r}", board.BLUE)] == list("1234")
    assert [r for r in "12345" if has(f"d{r}", board.BLUE)] == list("2345")
    taken = [board.cell_from_name("b1", 5, 5)]
    assert board.edge_templates(board.cell_from_name("b2", 5, 5), board.RED, taken, 5, 5) == []


def test_cell_names():
    assert [board.cell_name(c, 30) for c in (0, 25, 26, 29, 30)] == ["a1", "z1", "aa1", "ad1", "a2"]
    for rows, cols in ((1, 1), (3, 4), (30, 30)):
        for cell in range(rows * cols):
            assert board.cell_from_name(board.cell_name(cell, cols), rows, cols) == cell
    for text in ("", "a", "1", "a0", "a01", "f1", "a6", "a1 b2", "\u0430" + "1", "-a1"):
        with pytest.raises(ValueError, match="a1 to e5"):
            board.cell_from_name(text, 5, 5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rows": 3, "cols": 4, "swap": "pieces"}, "square board"),
        ({"swap": "yes"}, "pieces, sides, off"),
        ({"rows": 0}, "integer from 1"),
        ({"rows": "3"}, "integer from 1"),
        ({"rows": True}, "integer from 1"),
        ({"rex": 1}, "true or false"),
        ({"size": 3}, "rows, cols, swap, rex, chain"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        envs.make("hex", **parameters)
