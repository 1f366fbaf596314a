"""Settling boards by every method, lines as pictures, errors."""

import pytest

import envs
from agents.tac_tix.line import best_line, draw_line
from agents.tac_tix.proof import Proof
from agents.tac_tix.solve import solve_tac_tix
from agents.tac_tix.table import build_table
from agents.tac_tix.verify import verify


@pytest.mark.parametrize("rows, cols, convention, methods", [
    (4, 4, "misere", ("table", "search")), (4, 5, "misere", ("table", "search", "halves")),
    (5, 5, "misere", ("auto", "search", "halves")), (3, 5, "normal", ("auto", "table")),
    (1, 1, "misere", ("table", "search")), (1, 1, "normal", ("table",)),
])  # fmt: skip
def test_methods_agree(rows, cols, convention, methods):
    whole = solve_tac_tix(rows, cols, convention)
    for method in methods:
        result = solve_tac_tix(rows, cols, convention, method=method)
        assert result["winner"] == whole["winner"]
        assert set(result["winning_first_moves"]) <= set(whole["winning_first_moves"])
        assert bool(result["winning_first_moves"]) == (result["winner"] == "first")
        state = envs.make("tac_tix", rows=rows, cols=cols, convention=convention).state_from_string(result["line"])
        assert state.is_terminal()
        assert state.returns()[0] == (1 if result["winner"] == "first" else -1)


def test_a_central_line_that_does_not_win():
    """2x15 is won by the first player, but not by taking the central column; then the search has to do it."""
    assert solve_tac_tix(2, 15, method="halves")["winner"] is None


def test_larger_boards_of_normal_play():
    assert solve_tac_tix(6, 8, "normal")["winner"] == "second"
    assert solve_tac_tix(6, 9, "normal")["winning_first_moves"] == ["e1-e6"]
    for rows, cols in ((2, 4), (3, 4), (4, 5)):
        whole, short = solve_tac_tix(rows, cols, "normal"), solve_tac_tix(rows, cols, "normal", method="symmetry")
        assert whole["winner"] == short["winner"]
        assert set(short["winning_first_moves"]) <= set(whole["winning_first_moves"])


def test_what_fits_is_tried():
    assert solve_tac_tix(5, 5, memory=2**20)["method"] == "halves"
    assert solve_tac_tix(4, 6, memory=2**20)["method"] == "search"


def test_beyond_the_tables():
    """5x8, 40 cells: settled within seconds, with a proof that is checked completely."""
    result = solve_tac_tix(5, 8, method="search")
    assert result["winner"] == "first" and result["winning_first_moves"] == ["a3-h3"]
    assert result["verified"] == "complete" and result["checked"] == result["proof_positions"]


def test_all_first_moves_by_search():
    result = solve_tac_tix(4, 5, method="search", first_moves="all")
    whole = solve_tac_tix(4, 5)
    assert result["all_first_moves"] and result["classes"] == whole["classes"]
    assert result["winning_first_moves"] == whole["winning_first_moves"]
    assert result["verified"] == "complete"


def test_files_and_interruption(tmp_path):
    checkpoint, proof = tmp_path / "run" / "results.npz", tmp_path / "proof.npz"
    told = []
    result = solve_tac_tix(5, 7, method="search", checkpoint=checkpoint, seconds=0, progress=lambda *t: told.append(t))
    assert result["winner"] is None and checkpoint.exists() and told
    result = solve_tac_tix(5, 7, method="search", checkpoint=checkpoint, proof=proof, sample=200)
    assert result["winner"] == "first" and result["verified"] == "sampled"
    assert verify(Proof.load(proof), sample=50).checked >= 50


@pytest.mark.parametrize("arguments, words", [
    (dict(rows=4, cols=4, method="magic"), "auto, table"), (dict(rows=4, cols=4, first_moves="few"), "one, all"),
    (dict(rows=4, cols=4, convention="mis"), "misere, normal"), (dict(rows=8, cols=8), "at most 62"),
    (dict(rows=4, cols=4, convention="normal", method="search"), "misere play only"),
    (dict(rows=5, cols=5, convention="normal", method="halves"), "misere play only"),
    (dict(rows=4, cols=4, method="halves"), "no central row"),
    (dict(rows=4, cols=4, method="symmetry"), "normal play only"),
])  # fmt: skip
def test_errors(arguments, words):
    with pytest.raises(ValueError, match=words):
        solve_tac_tix(**arguments)


def test_no_method_fits():
    with pytest.raises(MemoryError, match="no method"):
        solve_tac_tix(4, 10)
    with pytest.raises(MemoryError, match="raise the memory cap"):
        solve_tac_tix(5, 6, method="table", memory=2**20)


def test_picture_of_a_line():
    table = build_table(4, 4)
    picture = draw_line(4, 4, table.start, best_line(4, 4, table.start, table.is_lost), "4x4")
    assert picture.size[0] > 200
    assert len(picture.getcolors(1 << 20)) > 5
