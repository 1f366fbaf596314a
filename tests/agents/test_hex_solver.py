"""The exact Hex solver: known tables, a plain search of every position, and strategies replayed move by move."""

import time

import numpy as np
import pytest

import envs
from agents.hex_solver import HexSolver, _dead_rings, brute_force
from envs.games.hex_board import win_table

# Openings that win for Red without a swap, rows from top to bottom.
HEX = {
    (1, 1): "+", (2, 2): "-+/+-", (2, 3): "+++/+++", (3, 2): "--/--/--", (3, 3): "--+/+++/+--",
    (2, 4): "++++/++++", (3, 4): "++++/++++/++++", (4, 2): "--/--/--/--", (4, 3): "---/---/---/---",
    (4, 4): "---+/--+-/-+--/+---",
}  # fmt: skip
REX = {
    (1, 1): "-", (2, 2): "+-/-+", (2, 3): "---/---", (3, 2): "++/++/++", (3, 3): "---/---/---",
    (2, 4): "----/----", (3, 4): "----/----/----", (4, 2): "++/++/++/++", (4, 3): "+++/+++/+++/+++",
    (4, 4): "++++/++-+/+-++/++++",
}  # fmt: skip


def signs(openings, cols):
    text = "".join("-+"[win] for win in openings)
    return "/".join(text[i : i + cols] for i in range(0, len(text), cols))


def hex_game(rows, cols=None, **parameters):
    return envs.make("hex", rows=rows, cols=cols, swap=parameters.pop("swap", "off"), **parameters)


@pytest.mark.parametrize("size", HEX, ids=str)
def test_openings_of_small_boards(size):
    game = hex_game(*size)
    assert signs(HexSolver(game, slots=1 << 12).openings(), size[1]) == HEX[size]
    if size != (4, 4):
        assert signs(brute_force(game)[0], size[1]) == HEX[size]
        assert signs(brute_force(hex_game(*size, rex=True))[0], size[1]) == REX[size]


def test_4x4_by_every_position():
    assert signs(brute_force(hex_game(4))[0], 4) == HEX[4, 4]
    assert signs(brute_force(hex_game(4, rex=True))[0], 4) == REX[4, 4]


def test_5x5_openings():
    begun = time.perf_counter()
    openings = HexSolver(hex_game(5)).openings()
    assert time.perf_counter() - begun < 60
    assert signs(openings, 5) == "----+/-++++/-+++-/++++-/+----"
    # Half a turn of the board changes nothing.
    assert openings == openings[::-1]


def every_winner(rows, cols):
    """winner(red, blue, mover) by plain recursion over all positions."""
    cells, wins, memo = rows * cols, win_table(hex_game(rows, cols).params), {}

    def moving_wins(red, blue, mover):
        key = red, blue, mover
        if key not in memo:
            memo[key] = False
            for cell in range(cells):
                bit = 1 << cell
                if (red | blue) & bit:
                    continue
                after = (red | bit, blue) if mover == 0 else (red, blue | bit)
                if wins[mover, after[mover]] or not moving_wins(*after, 1 - mover):
                    memo[key] = True
                    break
        return memo[key]

    return moving_wins


@pytest.mark.parametrize("rows,cols", [(3, 3), (2, 5), (5, 2), (3, 4), (4, 3)])
def test_random_positions_and_their_carriers(rows, cols):
    """Winner and move of any position; and the winner still wins when the loser is given all other empty cells."""
    game, moving_wins = hex_game(rows, cols), every_winner(rows, cols)
    solver, wins = HexSolver(game, slots=512), win_table(game.params)
    rng = np.random.default_rng(1)
    checked = 0
    while checked < 250:
        stones = rng.permutation(rows * cols)[: int(rng.integers(0, rows * cols))]
        red, blue = (sum(1 << int(c) for c in part) for part in (stones[0::2], stones[1::2]))
        if wins[0, red] or wins[1, blue]:
            continue
        text = "".join("R" if red >> c & 1 else "B" if blue >> c & 1 else "." for c in range(rows * cols))
        state = game.state_from_string("/".join(text[i : i + cols] for i in range(0, len(text), cols)))
        mover = state.current_player()
        found = solver.solve(state)
        assert (found.winner == mover) == moving_wins(red, blue, mover)
        if found.move is not None:
            child = state.child(found.move)
            after = (red | 1 << found.move, blue) if mover == 0 else (red, blue | 1 << found.move)
            assert child.is_terminal() or not moving_wins(*after, 1 - mover)
        others = ((1 << rows * cols) - 1) & ~(red | blue | sum(1 << c for c in found.carrier))
        filled = (red | others, blue) if found.winner == 1 else (red, blue | others)
        assert not wins[1 - found.winner, filled[1 - found.winner]]
        if not wins[found.winner, filled[found.winner]]:
            assert moving_wins(*filled, mover) == (found.winner == mover)
        checked += 1


def test_dead_cells():
    dead = _dead_rings()
    assert dead[sum(1 * 3**k for k in range(6))]  # surrounded by red
    assert not dead[0]
    assert dead[1 + 3 + 9 + 27]  # four red in a row: the other two cannot part them
    assert not dead[1 + 27]  # two red stones across


def play_out(solver, state, winner, seen):
    """Whether the solver's moves beat every answer."""
    if state.is_terminal():
        return state.returns()[winner] > 0
    key = state.row[: 8 + solver.cells].tobytes()
    if key in seen:
        return True
    seen.add(key)
    if state.current_player() == winner:
        return play_out(solver, state.child(solver.solve(state).move), winner, seen)
    return all(play_out(solver, state.child(action), winner, seen) for action in state.legal_actions())


def test_strategies_of_4x4_beat_every_answer():
    game = hex_game(4)
    solver = HexSolver(game)
    for opening, winner in ((0, 1), (3, 0), (5, 1), (6, 0)):
        assert play_out(solver, game.new_initial_state().child(opening), winner, set())


def test_strategies_of_5x5_beat_random_answers():
    """A sample of the answers, for every opening."""
    game, rng = hex_game(5), np.random.default_rng(0)
    solver = HexSolver(game)
    for opening, wins in enumerate(solver.openings()):
        for _ in range(40):
            state, winner = game.new_initial_state().child(opening), 0 if wins else 1
            while not state.is_terminal():
                if state.current_player() == winner:
                    state.apply_action(solver.solve(state).move)
                else:
                    state.apply_action(int(rng.choice(state.legal_actions())))
            assert state.returns()[winner] > 0


@pytest.mark.slow
def test_6x6():
    game = hex_game(6)
    solver = HexSolver(game)
    assert solver.solve(game.new_initial_state()).winner == 0
    assert signs(solver.openings(), 6) == "-----+/-+++++/++++++/++++++/+++++-/+-----"


def test_the_swap_belongs_to_the_result():
    for swap in ("pieces", "sides"):
        game = hex_game(4, swap=swap)
        solver = HexSolver(game, slots=1 << 12)
        assert solver.solve(game.new_initial_state()).winner == 1
        for opening in range(16):
            state = game.new_initial_state().child(opening)
            found = solver.solve(state)
            assert found.winner == 1
            assert (found.move == game.cells) == ("".join(HEX[4, 4].split("/"))[opening] == "+")
            # The answer holds: whoever moves next loses.
            child = state.child(found.move)
            assert solver.solve(child).winner == 1


def test_budget_and_refusals():
    game = hex_game(5)
    solver = HexSolver(game, slots=1 << 12)
    assert solver.solve(game.new_initial_state(), nodes=3) is None
    assert solver.solve(game.new_initial_state()).winner == 0
    with pytest.raises(ValueError, match="Rex"):
        HexSolver(hex_game(3, rex=True))
    with pytest.raises(ValueError, match="64 cells, at most 62"):
        HexSolver(hex_game(8))
    with pytest.raises(ValueError, match="for hex"):
        HexSolver(envs.make("tac_tix"))
    with pytest.raises(ValueError, match="at most 16"):
        brute_force(hex_game(5))
    with pytest.raises(ValueError, match="not for hex"):
        solver.solve(hex_game(4).new_initial_state())
    with pytest.raises(ValueError, match="the game is over"):
        HexSolver(hex_game(1)).solve(hex_game(1).state_from_string("a1"))
    with pytest.raises(ValueError, match="slots=0"):
        HexSolver(game, slots=0)
