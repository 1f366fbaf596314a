"""Exhaustive tables: the published numbers of small boards, both conventions, and agreement with the game itself."""

from functools import cache

import numpy as np
import pytest

import envs
from agents.tac_tix.line import best_line, classes_text, line_text
from agents.tac_tix.table import build_table, full_board, run_masks, run_name
from agents.tac_tix.verify import ProofError, check_table

# board: (misere: winner, winning first moves, lost positions), (normal: the same)
KNOWN = {
    (1, 1): (("second", "", 1), ("first", "a1", 1)),
    (1, 2): (("first", "a1 x2", 2), ("first", "a1-b1", 1)),
    (1, 3): (("first", "a1-b1 x2", 3), ("first", "a1-c1, b1", 2)),
    (1, 4): (("first", "a1-c1 x2", 4), ("first", "a1-d1, b1-c1", 4)),
    (1, 5): (("first", "a1-d1 x2, c1", 7), ("first", "a1-e1, b1-d1, c1", 8)),
    (2, 2): (("second", "", 5), ("second", "", 4)),
    (2, 3): (("first", "a1-a2 x2, b1-b2", 13), ("first", "a1-a2 x2, b1-b2", 12)),
    (2, 4): (("second", "", 45), ("second", "", 42)),
    (2, 5): (("first", "a1-a2 x2, b1-b2 x2, c1-c2", 185), ("first", "a1-b1 x4, a1-a2 x2, b1-b2 x2, c1-c2", 168)),
    (2, 6): (("second", "", 715), ("second", "", 650)),
    (2, 7): (("first", "a1-a2 x2, c1-c2 x2, d1-d2", 2593), ("first", "a1-a2 x2, c1-c2 x2, d1-d2", 2394)),
    (2, 8): (("second", "", 9487), ("second", "", 8964)),
    (2, 9): (("first", "a1-a2 x2, b1-b2 x2, c1-c2 x2, d1-d2 x2, e1-e2", 34887),
             ("first", "a1-a2 x2, c1-c2 x2, e1-e2", 33580)),
    (2, 10): (("second", "", 129529), ("second", "", 126784)),
    (2, 11): (("first", "a1-a2 x2, c1-c2 x2, e1-e2 x2, f1-f2", 486961),
              ("first", "a1-a2 x2, c1-c2 x2, e1-e2 x2, f1-f2", 486654)),
    (2, 12): (("second", "", 1849371), ("second", "", 1892682)),
    (3, 3): (("first", "a1 x4, b1-b3 x2, b2", 89), ("first", "a1 x4, b1-b3 x2, b2", 88)),
    (3, 4): (("first", "a1-d1 x2, b1-c1 x2, a2-d2, b2-c2", 649), ("first", "a1-d1 x2, a2-d2, b2-c2", 640)),
    (3, 5): (("first", "c1-c3, a2-e2, b2-d2, c2", 4589), ("first", "c1-c3, a2-e2, b2-d2, c2", 4494)),
    (3, 6): (("first", "a1-f1 x2, b1-e1 x2, c1-d1 x2, a2-f2, b2-e2, c2-d2", 32479),
             ("first", "a1-f1 x2, c1-d1 x2, a2-f2, b2-e2, c2-d2", 32002)),
    (3, 7): (("first", "a1-e1 x4, b1-d1 x4, d1-d3, a2-g2, b2-f2, c2-e2, d2", 233713),
             ("first", "a1-d1 x4, c1-c3 x2, d1-d3, a2-g2, b2-f2, c2-e2, d2", 230928)),
    (3, 8): (("first", "a1-h1 x2, b1-g1 x2, c1-f1 x2, d1-e1 x2, a2-h2, b2-g2, c2-f2, d2-e2", 1722005),
             ("first", "a1-h1 x2, c1-f1 x2, a2-h2, b2-g2, c2-f2, d2-e2", 1733240)),
    (4, 4): (("second", "", 8568), ("second", "", 8380)),
    (4, 5): (("first", "a1-a4 x2, c1-c4, a2-a3 x2", 115633), ("first", "a1-a4 x2, c1-c4, a2 x4, c2-c3", 114384)),
    (4, 6): (("second", "", 1637494), ("second", "", 1647140)),
    (5, 5): (("first", "c1-c5 x2, c2-c4 x2, c3", 3177421), ("first", "c1-c5 x2, c2-c4 x2, c3", 3212864)),
}  # fmt: skip


def masks(text):
    """(rows, cols, mask) of rows of O and . separated by /."""
    lines = text.split("/")
    cells = "".join(lines)
    return len(lines), len(lines[0]), sum(1 << n for n, symbol in enumerate(cells) if symbol == "O")


@pytest.mark.parametrize("board", KNOWN, ids=lambda b: f"{b[0]}x{b[1]}")
@pytest.mark.parametrize("number, convention", [(0, "misere"), (1, "normal")])
def test_known_boards(board, number, convention):
    rows, cols = board
    table = build_table(rows, cols, convention)
    winner, moves, lost = KNOWN[board][number]
    assert table.is_lost(table.start) == (winner == "second")
    assert classes_text(rows, cols, table.winning_moves()) == moves
    assert table.count_lost() == lost


@pytest.mark.parametrize("convention", ("misere", "normal"))
@pytest.mark.parametrize("cols", range(3, 21))
def test_one_row(cols, convention):
    table = build_table(1, cols, convention)
    centred = {((1 << cols) - 1) >> 2 * k << k for k in range((cols + 1) // 2)}
    if convention == "misere":
        full = (1 << cols) - 1
        # leave one counter at an end, or two equal parts of at least two
        expected = {full >> 1, full & ~1} | {run for run in centred if run & 0b11 == 0}
    else:
        expected = centred
    assert set(table.winning_moves()) == expected


@pytest.mark.parametrize("text, misere, normal", [
    ("O.O", "a1 c1", ""), ("OO/O.", "a1-b1 a1-a2", "a1"), ("O.O/.../O.O", "a1 c1 a3 c3", ""),
    ("O.O.O", "", "a1 c1 e1"), ("OO.OO", "", ""), ("OOO/O.O/OOO", "", ""), ("OOO/.../OOO", "", ""),
    (".O./OOO/.O.", "a2-b2 b2-c2 b1-b2 b2-b3", "b2 a2-c2 b1-b3"), ("OOO./O..O/.OO.", "a1 b1 c1 a2", "a1 b1 c1 a2"),
    ("OOOO/O..O/O..O/OOOO", "", ""),
])  # fmt: skip
def test_positions_with_holes(text, misere, normal):
    rows, cols, start = masks(text)
    for convention, moves in (("misere", misere), ("normal", normal)):
        for table in (build_table(rows, cols, convention), build_table(rows, cols, convention, start)):
            assert {run_name(run, cols) for run in table.winning_moves(start)} == set(moves.split())


def test_all_replies_on_4x4():
    replies = {
        "a1": "d4, a4-b4, d1-d2", "b1": "c4, a1-a2, a3-a4", "b2": "c3", "a1-b1": "a2, d2, a4, c4-d4",
        "a1-c1": "b2-d2, a4-c4, b4-d4, d2-d4", "a1-d1": "a2-d2, b2-c2, a3-d3, b3-c3, a4-d4, b4-c4",
        "b1-c1": "a2-d2, b2-c2, b3-c3, a4-d4, b4-c4", "b1-b2": "a3-c3, c3-d3, c1-c2", "b1-b3": "c2-d2, a2-a4, c2-c4",
        "b1-b4": "a1-a4, a2-a3, c1-c4, d1-d4", "b2-c2": "a1-d1, b1-c1, b3-c3, a4-d4, b4-c4",
    }  # fmt: skip
    table = build_table(4, 4)
    named = {run_name(run, 4): run for run in run_masks(4, 4)}
    for move, answer in replies.items():
        found = table.winning_moves(table.start ^ named[move])
        assert {run_name(run, 4) for run in found} == set(answer.split(", "))


@pytest.mark.parametrize("rows, cols", [(2, 3), (3, 3), (1, 7), (3, 4)])
@pytest.mark.parametrize("convention", ("misere", "normal"))
def test_agrees_with_the_game(rows, cols, convention):
    """Every position, against plain recursion through the game's own rules."""
    table = build_table(rows, cols, convention)
    runs = run_masks(rows, cols)
    game = envs.make("tac_tix", rows=rows, cols=cols, convention=convention)
    names = [game.action_to_string(0, action) for action in range(game.num_distinct_actions())]
    assert names == [run_name(run, cols) for run in runs]

    @cache
    def lost(mask):
        if mask == 0:
            return convention == "normal"
        return not any(run & mask == run and lost(mask ^ run) for run in runs)

    assert all(table.is_lost(mask) == lost(mask) for mask in range(1 << rows * cols))


@pytest.mark.parametrize("rows, cols, convention", [(4, 4, "misere"), (3, 5, "normal"), (4, 5, "misere")])
def test_best_line_is_a_game_that_the_winner_wins(rows, cols, convention):
    table = build_table(rows, cols, convention)
    line = best_line(rows, cols, table.start, table.is_lost)
    state = envs.make("tac_tix", rows=rows, cols=cols, convention=convention).state_from_string(line_text(cols, line))
    assert state.is_terminal()
    assert state.returns()[1 if table.is_lost(table.start) else 0] == 1


def test_pairs_of_single_counters_do_not_matter():
    """The lemma of ``polyomino``: on 4x5, every position whose last column but one leaves room for two counters."""
    table = build_table(4, 5)
    column = sum(1 << 5 * r + 4 for r in range(4)) | sum(1 << 5 * r + 3 for r in range(4))
    pair = 1 << 4 | 1 << 14  # e1 and e3
    for mask in range(1 << 20):
        if not mask & column:
            assert table.is_lost(mask) == table.is_lost(mask | pair)


@pytest.mark.parametrize("rows, cols, convention, start", [
    (4, 5, "misere", None), (3, 6, "normal", None), (1, 4, "misere", None),
    (5, 5, "misere", 0b11111_00000_00000_11011_11111),
])  # fmt: skip
def test_every_position_by_its_definition(rows, cols, convention, start):
    table = build_table(rows, cols, convention, start)
    report = check_table(table)
    assert report.complete and report.checked == 1 << table.start.bit_count()
    assert not check_table(table, sample=8, seed=1).complete
    table.lost[-1] ^= np.uint64(1)
    with pytest.raises(ProofError, match="wrong"):
        check_table(table)


@pytest.mark.slow
def test_thirty_cells():
    table = build_table(5, 6)
    assert table.seconds < 120
    assert table.lost.nbytes == 2**27
    assert table.count_lost() == 90559716
    assert classes_text(5, 6, table.winning_moves()) == "a1-f1 x2, a1-a2 x4, b1-b5 x2, a2-e2 x4, a3-f3, b3-e3, c3-d3"


@pytest.mark.parametrize("arguments, words", [
    ((0, 3), "rows=0"), ((3, True), "cols=True"), ((2, 2, "mis"), "misere, normal"), ((5, 8), "at most 36"),
    ((2, 2, "misere", 0), "start=0x0"), ((2, 2, "misere", 16), "start=0x10"), ((7, 7, "misere", 2**49 - 1), "49"),
])  # fmt: skip
def test_errors(arguments, words):
    with pytest.raises(ValueError, match=words):
        build_table(*arguments)


def test_memory_cap():
    with pytest.raises(MemoryError, match="raise the memory cap"):
        build_table(5, 6, memory=2**20)


def test_positions_that_do_not_fit():
    table = build_table(2, 2, "misere", 0b0111)
    assert not table.is_lost(0b0111)
    for mask in (0b1000, -1):
        with pytest.raises(ValueError, match="none"):
            table.is_lost(mask)
    assert full_board(2, 3) == 63
