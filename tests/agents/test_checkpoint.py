"""Checkpoints: complete or absent, never executed, errors that name the file and the fix."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import textwrap

import pytest
import torch

from agents import NetworkAgent
from agents.checkpoint import CheckpointError, Checkpoints, load, save


def test_round_trip_of_everything_a_learner_saves(tmp_path):
    path = tmp_path / "a.pt"
    content = {
        "weights": torch.randn(3, 4),
        "counts": [1, 2],
        "text": "x",
        "nested": {"none": None, "pi": 3.14},
        "rng": torch.Generator().get_state(),
        "words": torch.tensor([2**63 + 1], dtype=torch.uint64),
    }
    save(path, content)
    back = load(path)
    assert torch.equal(back["weights"], content["weights"]) and torch.equal(back["rng"], content["rng"])
    assert back["nested"] == content["nested"] and int(back["words"].numpy()[0]) == 2**63 + 1


def test_the_last_k_and_the_best_are_kept(tmp_path):
    checkpoints = Checkpoints(tmp_path / "checkpoints", keep=2)
    for step in (5, 10, 100_000):
        checkpoints.save(step, {"step": step})
    checkpoints.save_best({"step": 5})
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == ["best.pt", "step_000000000010.pt", "step_000000100000.pt"]
    assert load(checkpoints.newest())["step"] == 100_000 and load(checkpoints.best)["step"] == 5


def test_a_failure_while_writing_leaves_the_previous_file(tmp_path):
    path = tmp_path / "a.pt"
    save(path, {"step": 1})
    with pytest.raises((AttributeError, pickle.PicklingError)):
        save(path, {"step": 2, "bad": lambda: None})
    assert load(path)["step"] == 1
    assert [p.name for p in tmp_path.iterdir()] == ["a.pt"]


def test_kill_9_while_saving_leaves_the_previous_checkpoint_loadable(tmp_path):
    # The child saves step 1, then dies by SIGKILL in the middle of the bytes of step 2.
    code = textwrap.dedent(f"""
        import os, signal, torch
        from pathlib import Path
        from agents import checkpoint
        checkpoints = checkpoint.Checkpoints(Path({str(tmp_path)!r}))
        checkpoints.save(1, {{"step": 1, "weights": torch.zeros(1000)}})
        whole = torch.save
        def half(content, file):
            import io
            buffer = io.BytesIO()
            whole(content, buffer)
            file.write(buffer.getvalue()[: buffer.tell() // 2])
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        torch.save = half
        checkpoints.save(2, {{"step": 2, "weights": torch.zeros(1000)}})
    """)
    done = subprocess.run([sys.executable, "-c", code], env=os.environ)
    assert done.returncode == -signal.SIGKILL
    assert any(path.suffix == ".tmp" for path in tmp_path.iterdir())
    checkpoints = Checkpoints(tmp_path)
    assert load(checkpoints.newest())["step"] == 1
    checkpoints.remove_temporaries()
    assert [path.name for path in tmp_path.iterdir()] == ["step_000000000001.pt"]


def test_truncated_foreign_and_missing_files_are_named_with_a_way_out(tmp_path):
    checkpoints = Checkpoints(tmp_path)
    first = checkpoints.save(1, {"weights": torch.zeros(1000)})
    second = checkpoints.save(2, {"weights": torch.zeros(1000)})
    whole = second.read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        second.write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match=rf"{second.name}.*{first.name}"):
            load(second)
    other = tmp_path / "other.pt"
    torch.save([1, 2], other)
    with pytest.raises(CheckpointError, match="other.pt: not a checkpoint"):
        load(other)
    torch.save({"format": 99}, other)
    with pytest.raises(CheckpointError, match="format 99"):
        load(other)
    with pytest.raises(CheckpointError, match=rf"{first.name}: not the checkpoint of a training run"):
        NetworkAgent.load(first)
    with pytest.raises(CheckpointError, match=f"no such checkpoint.*{first.name}"):
        load(tmp_path / "step_3.pt")
    with pytest.raises(CheckpointError, match="no checkpoint"):
        Checkpoints(tmp_path / "empty").newest()


def test_nothing_in_a_file_is_executed(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    path = tmp_path / "evil.pt"
    torch.save({"format": 1, "payload": Evil()}, path)
    with pytest.raises(CheckpointError):
        load(path)
    assert not (tmp_path / "executed").exists()
