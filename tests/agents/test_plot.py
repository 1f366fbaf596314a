"""Curves: pictures of one or several runs, errors that say what is missing."""

from __future__ import annotations

import importlib
import math
import sys
from pathlib import Path

import pytest

from agents.run_folder import RunFolder, read_metrics
from agents.training import columns


@pytest.fixture(scope="module")
def plot():
    sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
    yield importlib.import_module("plot")
    sys.path.pop(0)


def run_folder(path, exact):
    folder = RunFolder.create(path, "x: 1\n", columns(2), 0, 3, False)
    for update in range(30):
        row = {"steps": update * 1000, "updates": update, "policy/entropy": math.exp(-update / 10), "loss/value": 0.1}
        if update % 5 == 0:
            for seat in (0, 1):
                mean = 1 - math.exp(-update / 9) - seat
                row |= {f"uniform/return_seat_{seat}": mean, f"uniform/low_seat_{seat}": mean - 0.1,
                        f"uniform/high_seat_{seat}": mean + 0.1}  # fmt: skip
            if exact:
                row |= {"nash_conv": 1 / (update + 1), "exact/value_seat_0": 0.5, "exact/value_seat_1": -0.5,
                        "exact/best_response_seat_0": 0.5 + 0.7 / (update + 1),
                        "exact/best_response_seat_1": -0.5 + 0.3 / (update + 1)}  # fmt: skip
        folder.log(row)
    folder.close()
    return path


def test_several_runs_in_one_picture(plot, tmp_path):
    a, b = run_folder(tmp_path / "a", exact=True), run_folder(tmp_path / "b", exact=False)
    result = plot.main([f"run={a}", f"run={b}", f"out={tmp_path / 'pictures'}"])
    assert [Path(file).name for file in result["files"]] == ["return.png", "learning.png", "nash_conv.png"]
    for file in result["files"]:
        assert Path(file).read_bytes().startswith(b"\x89PNG") and Path(file).stat().st_size > 10_000
    assert [Path(file).name for file in plot.main([f"run={b}"])["files"]] == ["return.png", "learning.png"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [([], "no run"), (["run=nowhere"], "run=nowhere: no metrics.csv"), (["runs=x"], "'runs=x': unknown")],
)
def test_mistakes_are_named(plot, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        plot.main(arguments)


def test_a_row_cut_off_by_a_crash_is_left_out_and_resuming_drops_later_rows(tmp_path):
    path = run_folder(tmp_path / "a", exact=False)
    with open(path / "metrics.csv", "a") as file:
        file.write("30000,30,0.1")
    assert len(read_metrics(path / "metrics.csv")) == 30
    folder = RunFolder.open(path, columns(2), 0, 9000, 3, False)
    folder.log({"steps": 10_000, "updates": 10})
    folder.close()
    assert [row["steps"] for row in read_metrics(path / "metrics.csv")] == [str(1000 * k) for k in range(11)]
