"""Forms of a half and the pairs of them: agreement with exhaustive tables, with plain game trees, and with proofs."""

import random
from functools import cache

import numpy as np
import pytest

from agents.tac_tix.halves import build_halves, central_lines
from agents.tac_tix.parts import build_part
from agents.tac_tix.polyomino import decode
from agents.tac_tix.solve import solve_tac_tix
from agents.tac_tix.table import build_table, full_board, run_masks
from agents.tac_tix.verify import verify

rng = random.Random(3)


@pytest.mark.parametrize("rows, cols", [(1, 8), (2, 6), (3, 4), (4, 4), (3, 6)])
def test_forms_tell_who_wins(rows, cols):
    """Every position of a board, against its table; 0 is the empty board."""
    part, table = build_part(rows, cols), build_table(rows, cols)
    for mask in range(1 << rows * cols) if rows * cols <= 12 else rng.sample(range(1 << rows * cols), 3000):
        assert part.lost[part.form[part.class_of(mask)]] == table.is_lost(mask)


@pytest.mark.parametrize("rows, cols", [(2, 4), (3, 3)])
def test_positions_of_one_form_are_worth_the_same_beside_any_other(rows, cols):
    """Sums of two positions by plain recursion over masks: no groups, no classes, no forms."""
    part, runs = build_part(rows, cols), run_masks(rows, cols)

    @cache
    def won(a, b):
        if a == b == 0:
            return True
        if a < b:
            return won(b, a)
        return any(run & a == run and not won(a ^ run, b) for run in runs) or any(
            run & b == run and not won(a, b ^ run) for run in runs
        )

    forms = [int(part.form[part.class_of(mask)]) for mask in range(1 << rows * cols)]
    rows_of = {}
    for a, form in enumerate(forms):
        worth = [won(a, b) for b in range(len(forms))]
        assert rows_of.setdefault(form, worth) == worth
    assert len(rows_of) == len(part.lost) < len(part.keys) < len(forms)


def test_forms_are_canonical():
    """No two forms have the same options, and no option of a form leads back to a form with fewer options in it."""
    part = build_part(3, 4)
    options = [tuple(part.form_options[a:b]) for a, b in zip(part.form_starts, part.form_starts[1:], strict=False)]
    assert len(set(options)) == len(options)
    assert all(list(o) == sorted(set(o)) and all(x < n for x in o) for n, o in enumerate(options))
    for number, here in enumerate(options[1:], 1):
        for smaller in {x for option in here for x in options[option]}:
            further = set(here) - set(options[smaller])
            reversible = set(options[smaller]) <= set(here) and all(smaller in options[x] for x in further)
            assert not reversible or smaller == 0 and part.lost[number]


def shapes(mask, rows, cols):
    """The groups of a mask as sorted images of coordinates, pairs of single counters left out."""
    left, found = {(n // cols, n % cols) for n in range(rows * cols) if mask >> n & 1}, []
    while left:
        group = [left.pop()]
        for r, c in group:
            beside = {(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)} & left
            left -= beside
            group.extend(beside)
        turned = [[(c, r) if turn & 4 else (r, c) for r, c in group] for turn in range(8)]
        turned = [[(-r if n & 1 else r, -c if n & 2 else c) for r, c in cells] for n, cells in enumerate(turned)]
        corners = [(min(r for r, _ in cells), min(c for _, c in cells)) for cells in turned]
        found.append(min(sorted((r - a, c - b) for r, c in cells)
                         for cells, (a, b) in zip(turned, corners, strict=True)))  # fmt: skip
    singles = found.count([(0, 0)])
    found = [group for group in found if len(group) > 1] + [[(0, 0)]] * (singles % 2)
    return tuple(sorted(map(tuple, found)))


@pytest.mark.parametrize("rows, cols", [(2, 5), (3, 4)])
def test_classes_are_the_positions_up_to_their_groups(rows, cols):
    part = build_part(rows, cols)
    by_shapes = {}
    for mask in range(1 << rows * cols):
        number = part.class_of(mask)
        assert by_shapes.setdefault(shapes(mask, rows, cols), number) == number
    assert sorted(by_shapes.values()) == list(range(len(part.keys)))
    groups = np.zeros(64, dtype=np.uint64)
    counters = [sum(int(g).bit_count() for g in groups[: decode(*key, groups)]) for key in part.keys]
    assert counters == sorted(counters) and counters[0] == 0 and counters[-1] == rows * cols


@pytest.mark.parametrize("rows, cols", [(3, 3), (3, 5), (5, 3), (4, 5), (5, 4), (5, 5), (1, 9), (9, 1), (2, 9), (3, 8)])
def test_halves_agree_with_tables(rows, cols):
    for line in central_lines(rows, cols):
        start = full_board(rows, cols) ^ line
        halves, table = build_halves(rows, cols, line), build_table(rows, cols, start=start)
        for _ in range(500):
            mask = start & rng.getrandbits(rows * cols)
            assert halves.is_lost(mask) == table.is_lost(mask)
        assert halves.is_lost(start) == table.is_lost(start)
        if not halves.is_lost(start):
            with pytest.raises(ValueError, match="does not win"):
                halves.proof()
            continue
        proof = halves.proof()
        report = verify(proof)
        assert report.complete and report.positions == len(proof.lost) and proof.missing == 0


def test_central_lines():
    assert central_lines(4, 6) == [] == central_lines(6, 8)
    assert central_lines(3, 4) == [0b1111 << 4]
    assert central_lines(2, 3) == [0b010010]
    assert len(central_lines(5, 7)) == 2 and len(central_lines(7, 7)) == 2
    assert central_lines(5, 9) == [sum(1 << 9 * r + 4 for r in range(5))]  # the row leaves halves of 9 columns


def test_a_board_too_large_for_the_tables():
    """4x9 and 5x8: settled with complete proofs; 40 cells, and a side longer than the search takes."""
    for rows, cols, move in ((4, 9, "e1-e4"), (5, 8, "a3-h3")):
        result = solve_tac_tix(rows, cols, method="halves")
        assert result["winner"] == "first" and result["winning_first_moves"] == [move]
        assert result["verified"] == "complete" and result["checked"] == result["proof_positions"]


def test_memory_and_errors():
    line = central_lines(5, 7)[0]
    with pytest.raises(MemoryError, match="raise the memory cap"):
        build_halves(5, 7, line, memory=1000)
    with pytest.raises(MemoryError, match="more than"):
        build_halves(5, 7, central_lines(5, 7)[1]).proof(memory=2**19)
    with pytest.raises(ValueError, match="no central line"):
        build_halves(5, 7, 1)
    with pytest.raises(ValueError, match="no position"):
        build_halves(5, 7, line).is_lost(line)
    for rows, cols in ((5, 5), (1, 9), (0, 4)):
        with pytest.raises(ValueError, match="not possible"):
            build_part(rows, cols)
