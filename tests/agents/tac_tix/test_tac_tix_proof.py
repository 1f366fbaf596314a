"""Proofs and their verifier: complete proofs hold, damaged ones do not."""

import dataclasses

import numpy as np
import pytest

from agents.tac_tix.proof import Proof, extract_proof
from agents.tac_tix.search import LOST, Search
from agents.tac_tix.table import build_table, full_board, run_masks
from agents.tac_tix.verify import ProofError, verify


def proof_of(rows, cols):
    search = Search(rows, cols)
    full = full_board(rows, cols)
    if search.solve() == LOST:
        return extract_proof(search)
    moves = [run for run in run_masks(rows, cols) if search.value_of(full ^ run) == LOST]
    return extract_proof(search, None, tuple(moves))


@pytest.mark.parametrize("rows, cols", [(1, 1), (2, 2), (2, 3), (3, 3), (1, 6), (4, 4), (4, 5), (5, 5), (4, 6)])
def test_proofs_hold(rows, cols):
    proof = proof_of(rows, cols)
    report = verify(proof)
    assert report.complete and report.checked == len(proof.lost) and proof.missing == 0
    assert (proof.winner == "second") == build_table(rows, cols).is_lost(full_board(rows, cols))


def test_proofs_with_a_position_missing():
    """The start must be there, and few other positions have a stand-in."""
    proof, failed = proof_of(4, 4), []
    for number in range(len(proof.lost)):
        try:
            verify(dataclasses.replace(proof, lost=np.delete(proof.lost, number, axis=0)))
        except ProofError:
            failed.append(number)
    assert failed[0] == 0 and len(failed) > 0.8 * len(proof.lost)


def test_a_won_position_among_the_lost_ones():
    proof = proof_of(4, 4)
    key = np.array([[1 | 3 << 7 | 0b1111 << 10, 0]], dtype=np.uint64)  # a row of four, which the mover wins
    with pytest.raises(ProofError, match="no answer"):
        verify(dataclasses.replace(proof, lost=np.concatenate([proof.lost, key])))


def test_false_claims():
    second, first = proof_of(4, 4), proof_of(3, 3)
    for proof in (
        dataclasses.replace(second, winner="first", first_moves=("a1",)),
        dataclasses.replace(second, winner="first"),
        dataclasses.replace(second, rows=4, cols=5, start=2**20 - 1),
        dataclasses.replace(first, winner="second", first_moves=()),
        dataclasses.replace(first, first_moves=("a1-b2",)),
        dataclasses.replace(first, first_moves=("a1-d1",)),
        dataclasses.replace(first, lost=np.zeros((1, 2), dtype=np.uint64)),
        dataclasses.replace(first, lost=np.full((1, 2), 2**64 - 1, dtype=np.uint64)),
    ):
        with pytest.raises(ProofError):
            verify(proof)


def test_a_sample_says_so():
    proof = proof_of(4, 6)
    report = verify(proof, sample=100)
    assert not report.complete and 100 <= report.checked <= 101
    with pytest.raises(ValueError, match="sample=0"):
        verify(proof, sample=0)


def test_files(tmp_path):
    file, proof = tmp_path / "proof.npz", proof_of(4, 4)
    proof.save(file)
    again = Proof.load(file)
    assert dataclasses.replace(again, lost=None) == dataclasses.replace(proof, lost=None)
    assert verify(again).complete
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(ValueError, match="no proof"):
        Proof.load(file)


def test_nothing_to_prove():
    with pytest.raises(ValueError, match="not shown"):
        extract_proof(Search(3, 3))


def test_gaps_are_counted():
    """A search whose table lost results gives a proof that says so, and the verifier finds the gap."""
    search = Search(4, 6)
    search.solve()
    lost = np.flatnonzero(search.table[:, 1] >> np.uint64(62) == LOST)
    search.table[lost[::3], 1] ^= np.uint64(3) << np.uint64(62)  # lost becomes won
    if search.value_of(full_board(4, 6)) != LOST:
        return
    proof = extract_proof(search)
    assert proof.missing > 0
    with pytest.raises(ProofError):
        verify(proof)
