"""Proof search: agreement with exhaustive tables, exact keys, bounded memory, checkpoints."""

import random

import numpy as np
import pytest

from agents.tac_tix.polyomino import canonical, decode, encode, is_symmetric, mirrors_itself, runs_of
from agents.tac_tix.proof import extract_proof
from agents.tac_tix.search import LOST, SPARING, UNSTORED, WON, Search
from agents.tac_tix.table import build_table, full_board, run_masks
from agents.tac_tix.verify import verify

rng = random.Random(1)


def shape(*rows):
    return np.uint64(sum(1 << 8 * r + c for r, row in enumerate(rows) for c, cell in enumerate(row) if cell == "O"))


def images(mask):
    """All normalised images of a mask, by coordinates."""
    cells = [(n // 8, n % 8) for n in range(64) if int(mask) >> n & 1]
    for flip in range(8):
        moved = [((c, r) if flip & 4 else (r, c)) for r, c in cells]
        moved = [(-r if flip & 1 else r, -c if flip & 2 else c) for r, c in moved]
        top, left = min(r for r, _ in moved), min(c for _, c in moved)
        yield sum(1 << 8 * (r - top) + c - left for r, c in moved)


def random_groups():
    """Canonical groups of a random position of a 6x8 board."""
    return Search(6, 8, memory=2**21).groups(rng.getrandbits(48) & (rng.getrandbits(48) | rng.getrandbits(48)) | 1)


def test_canonical_is_the_smallest_image():
    for _ in range(300):
        mask = rng.getrandbits(64) & rng.getrandbits(64) | 1
        assert canonical(np.uint64(mask)) == min(images(mask))


def test_keys_are_exact():
    seen, groups = {}, np.zeros(32, dtype=np.uint64)
    for _ in range(300):
        position, key = random_groups(), np.zeros(2, dtype=np.uint64)
        if encode(position, len(position), key):
            count = decode(key[0], key[1], groups)
            assert groups[:count].tolist() == position.tolist()
            assert seen.setdefault(tuple(key.tolist()), position.tolist()) == position.tolist()
    crowd = np.array([1 + 2 + 4 + 8] * 16, dtype=np.uint64)
    assert not encode(crowd, 16, np.zeros(2, dtype=np.uint64))


def test_runs_of_a_group():
    out = np.zeros(512, dtype=np.uint64)
    assert runs_of(shape("OOO", "O.O", "OOO"), out) == 20
    assert runs_of(np.uint64(2**56 - 1), out) == 420  # 7x8


@pytest.mark.parametrize("rows, mirrored", [
    (("OO", "OO"), True), (("OOO",), False), (("OO",), False), (("OOO", "O.O", "OOO"), True), (("OOO", "OOO"), False),
    (("OO.", ".OO"), False), (("OOOO", "O..O", "OOOO"), True), (("OO", "O."), False),
])  # fmt: skip
def test_mirrors(rows, mirrored):
    mask = canonical(shape(*rows))
    assert mirrors_itself(mask) == mirrored
    assert is_symmetric(np.array([mask, mask], dtype=np.uint64), 2)
    assert is_symmetric(np.array([mask], dtype=np.uint64), 1) == mirrored


@pytest.mark.parametrize("rows, cols", [(r, c) for r in range(1, 6) for c in range(r, 9) if r * c <= 24] + [(5, 5)])
def test_full_boards(rows, cols):
    table = build_table(rows, cols)
    assert (Search(rows, cols).solve() == LOST) == table.is_lost(table.start)


@pytest.mark.parametrize("rows, cols", [(4, 5), (3, 7)])
def test_random_positions(rows, cols):
    table, search = build_table(rows, cols), Search(rows, cols)
    for _ in range(400):
        mask = rng.getrandbits(rows * cols)
        assert (search.solve(mask) == LOST) == table.is_lost(mask)
        assert search.value_of(mask) != (WON if table.is_lost(mask) else LOST)


def test_every_first_move_of_4x6_loses():
    search = Search(4, 6)
    assert {search.solve(full_board(4, 6) ^ run) for run in run_masks(4, 6)} == {WON}


def test_study_sizes():
    """Work of the feasibility study, which a change of the move order should not exceed much."""
    for board, positions in (((5, 5), 1500), ((4, 6), 60_000), ((5, 6), 12_000), ((5, 7), 480_000)):
        search = Search(*board)
        search.solve()
        assert search.progress().positions <= positions
        assert search.progress().replaced == 0


def test_memory_cap_gives_up_wins_at_first_look():
    """A tenth of the results is enough: nothing that took more than one position is lost, only found again."""
    free, small = Search(5, 7), Search(5, 7, memory=2.5 * 2**20)
    assert free.solve() == small.solve() == WON
    assert small.table.nbytes <= 1.5 * 2**20
    assert small.counters[SPARING] and small.progress().replaced == 0 < small.counters[UNSTORED]
    assert small.progress().stored < free.progress().stored / 5
    assert small.progress().positions > free.progress().positions
    proof = extract_proof(small, None, (sum(1 << 7 * r + 3 for r in range(5)),))
    assert verify(proof).complete


def test_memory_cap_replaces():
    small = Search(4, 6, memory=2**20)
    small.counters[SPARING] = 1
    assert small.solve(seconds=300) == LOST
    small = Search(4, 8, memory=2**20)
    for _ in range(200):
        if small.progress().replaced:
            break
        assert small.solve(seconds=0.5) in (LOST, None)
    assert small.progress().replaced > 0
    assert small.table.nbytes <= 2**20


def test_grows_within_its_memory():
    search = Search(4, 6, memory=3 * 2**20)
    assert search.solve() == LOST
    assert search.table.nbytes <= 2 * 2**20
    assert search.progress().replaced == 0


def test_checkpoint(tmp_path):
    file = tmp_path / "results.npz"
    first = Search(5, 7)
    assert first.solve(checkpoint=file, seconds=0, slice_positions=100_000) is None
    done = first.progress().stored
    second = Search(5, 7)
    second.load(file)
    assert second.progress().stored == done
    assert second.solve() == WON
    assert second.progress().positions < 500_000
    small = Search(5, 7, memory=2**20)
    small.load(file)
    assert small.progress().stored == int(0.8 * 2**16)
    for other in (Search(4, 6), Search(7, 5)):
        with pytest.raises(ValueError, match="checkpoint of"):
            other.load(file)
    file.write_bytes(b"PK no archive")
    with pytest.raises(ValueError, match="no checkpoint"):
        second.load(file)


def test_interruption_writes_the_checkpoint(tmp_path):
    def interrupt(progress):
        raise KeyboardInterrupt

    file = tmp_path / "results.npz"
    with pytest.raises(KeyboardInterrupt):
        Search(5, 7).solve(progress=interrupt, checkpoint=file)
    again = Search(5, 7)
    again.load(file)
    assert again.progress().stored > 0
    assert list(tmp_path.iterdir()) == [file]


def test_progress_is_told():
    told = []
    Search(4, 6).solve(progress=told.append, slice_positions=10_000)
    assert len(told) >= 4
    assert told[-1].positions > told[0].positions


@pytest.mark.parametrize("arguments, words", [
    ((8, 8), "at most 62"), ((4, 9), "at most 8"), ((0, 4), "rows=0"), ((4, 4, 1000), "memory=1,000"),
])  # fmt: skip
def test_errors(arguments, words):
    with pytest.raises(ValueError, match=words):
        Search(*arguments)
