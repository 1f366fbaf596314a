"""Training runs: bit-exact resume, interruption, the run folder, errors before anything starts."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import envs
from agents import NetworkAgent, UniformAgent, play_match
from agents.checkpoint import CheckpointError, load
from agents.evaluation import Tabulator
from agents.run_folder import read_metrics
from agents.training import columns, load_config, resume_config, train
from configs import ConfigError

SCRIPT = Path(__file__).parents[2] / "scripts" / "train.py"

SMALL = [
    "game=dark_hex",
    "game.rows=2",
    "game.cols=2",
    "game.info=silent",
    "agent.num_envs=8",
    "agent.rollout_steps=16",
    "agent.hidden=[16]",
    "agent.minibatches=2",
    "agent.epochs=2",
    "steps=1280",
    "tensorboard=false",
    "evaluation.points=4",
    "evaluation.games=20",
    "seed=3",
]
LEAGUE = ["agent.league.size=2", "agent.league.every=2", "agent.league.probability=0.5"]


def equal(a, b):
    if isinstance(a, torch.Tensor):
        # NaN marks lanes where no decision waits.
        same = (
            torch.equal(a, b) if a.dtype.is_floating_point is False else torch.equal(a.nan_to_num(9), b.nan_to_num(9))
        )
        return a.dtype == b.dtype and same
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b


@pytest.mark.parametrize(
    "extra",
    [[], LEAGUE, ["agent.separate=true", "agent.observation=view", "game.version=abrupt"]],
    ids=["self-play", "league", "separate"],
)
def test_ten_updates_equal_five_and_a_fresh_start_and_five(tmp_path, extra):
    whole = train(load_config([*SMALL, *extra, f"run={tmp_path / 'whole'}"]))
    assert whole["updates"] == 10 and not whole["interrupted"]
    first = train(load_config([*SMALL, *extra, f"run={tmp_path / 'parts'}"]), max_updates=5)
    assert first["updates"] == 5 and first["interrupted"]
    torch.manual_seed(99)  # global generators play no part
    second = train(resume_config(tmp_path / "parts"), resume=tmp_path / "parts")
    a, b = load(whole["checkpoint"]), load(second["checkpoint"])
    assert equal(a["learner"], b["learner"])
    assert a["run"]["results"] == b["run"]["results"] and a["run"]["best"] == b["run"]["best"]
    timing = {"seconds", "cpu_seconds", "steps_per_second"}
    rows = [
        [{k: v for k, v in row.items() if k not in timing} for row in read_metrics(path / "metrics.csv")]
        for path in (tmp_path / "whole", tmp_path / "parts")
    ]
    assert rows[0] == rows[1] and len(rows[0]) == 11


EVERY = ["evaluation.points=2", "evaluation.nash_conv_every=300"]


def test_exact_evaluation_every_so_many_steps(tmp_path):
    plain = train(load_config([*SMALL, "evaluation.nash_conv=off", f"run={tmp_path / 'plain'}"]))
    whole = train(load_config([*SMALL, *EVERY, f"run={tmp_path / 'whole'}"]))
    train(load_config([*SMALL, *EVERY, f"run={tmp_path / 'parts'}"]), max_updates=4)
    parts = train(resume_config(tmp_path / "parts"), resume=tmp_path / "parts")
    # It changes nothing about what is learnt, and nothing is lost or repeated by an interruption.
    weights = [load(result["checkpoint"])["learner"] for result in (plain, whole, parts)]
    assert equal(weights[0], weights[1]) and equal(weights[1], weights[2])
    rows = [read_metrics(tmp_path / name / "metrics.csv") for name in ("whole", "parts")]
    for run in rows:
        # Updates of 128 steps: the first one at or after every multiple of 300, and the last.
        assert [int(row["steps"]) for row in run if row["nash_conv"]] == [0, 384, 640, 1024, 1280]
        assert [int(row["steps"]) for row in run if row["uniform/return_seat_0"]] == [0, 640, 1280]
    exact = [name for name in columns(2) if name.startswith("exact/")] + ["nash_conv"]
    assert len(exact) == 5
    assert [[row[name] for name in exact] for row in rows[0]] == [[row[name] for name in exact] for row in rows[1]]
    # What is written is what the weights give.
    game = envs.make("dark_hex", rows=2, cols=2, version="classical", info="silent")
    found = Tabulator(game).evaluate(NetworkAgent.load(whole["checkpoint"], game))
    last = [float(rows[0][-1][name]) for name in exact]
    expected = [found.values[0], found.best_response_values[0], found.values[1], found.best_response_values[1]]
    assert last == pytest.approx([*expected, found.nash_conv], rel=1e-5) and whole["nash_conv"] == found.nash_conv
    assert load(whole["best"])["run"]["results"]["nash_conv"] == -load(whole["best"])["run"]["best"]


def test_the_exact_engine_in_training(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    board = ["game.rows=2", "game.cols=4", "steps=256", "evaluation.points=0", "evaluation.nash_conv_every=200"]
    result = train(load_config([*SMALL, *board, f"run={tmp_path / 'run'}"]))
    rows = read_metrics(tmp_path / "run" / "metrics.csv")
    assert [int(row["steps"]) for row in rows if row["nash_conv"]] == [0, 256]
    assert 0 < result["nash_conv"] < 4 and result["returns_vs_uniform"] is None
    # An evaluation that is added later judges the best network afresh.
    train(load_config([*SMALL, "evaluation.nash_conv=off", f"run={tmp_path / 'late'}"]), max_updates=8)
    config = resume_config(tmp_path / "late", ["evaluation.nash_conv=on"])
    best = load(train(config, resume=tmp_path / "late")["best"])
    assert best["run"]["measure"] == "nash_conv" and best["run"]["best"] < 0 and best["learner"]["updates"] == 10


def test_resuming_in_a_fresh_process_is_bit_exact_too(tmp_path):
    whole = train(load_config([*SMALL, f"run={tmp_path / 'whole'}"]))
    train(load_config([*SMALL, f"run={tmp_path / 'parts'}"]), max_updates=5)
    done = script(f"resume={tmp_path / 'parts'}")
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["updates"] == 10 and result["steps"] == 1280 and result["run"] == str(tmp_path / "parts")
    assert equal(load(whole["checkpoint"])["learner"], load(result["checkpoint"])["learner"])


def test_seeds_matter_and_repeat(tmp_path):
    weights = []
    for number, seed in enumerate((0, 0, 1)):
        result = train(load_config([*SMALL, f"run={tmp_path / str(number)}", f"seed={seed}"]), max_updates=3)
        weights.append(load(result["checkpoint"])["learner"]["network"])
    assert equal(weights[0], weights[1]) and not equal(weights[0], weights[2])


def test_learns_the_sure_win_on_2x2(tmp_path):
    # Player 0 of classical 2x2 wins for certain; the trained agent must find it, and NashConv tells how well.
    arguments = [argument for argument in SMALL if not argument.startswith(("agent.", "steps"))]
    arguments += ["agent.num_envs=64", "agent.hidden=[32]", "agent.lr=5e-3", "agent.clip=0.2", "steps=80000"]
    result = train(load_config([*arguments, f"run={tmp_path / 'run'}"]))
    assert result["nash_conv"] < 0.1
    game = envs.make("dark_hex", rows=2, cols=2, version="classical", info="silent")
    agent = NetworkAgent.load(tmp_path / "run", game)
    report = play_match(game, [agent, UniformAgent()], games=200)
    assert report.agents[0].seats[0].mean_return > 0.9


def test_the_run_folder_says_what_was_run(tmp_path):
    result = train(load_config([*SMALL, f"run={tmp_path / 'run'}", "tensorboard=true"]), max_updates=3)
    folder = tmp_path / "run"
    start = json.loads((folder / "metadata.json").read_text())["starts"][0]
    assert start["seed"] == 3 and start["versions"]["torch"] and start["host"]["cpus"]
    assert "threads: 1" in (folder / "config.yaml").read_text()
    assert list(read_metrics(folder / "metrics.csv")[0]) == columns(2)
    assert list(folder.glob("events.*")) and Path(result["checkpoint"]).is_file() and Path(result["best"]).is_file()
    # The saved configuration starts the same run again.
    again = load_config([f"config={folder / 'config.yaml'}", f"run={tmp_path / 'again'}"])
    assert again.agent == load_config(SMALL).agent and again.game == load_config(SMALL).game
    with pytest.raises(ConfigError, match=r"holds a run already.*resume="):
        train(load_config([*SMALL, f"run={folder}"]))


def test_a_longer_budget_continues_a_finished_run(tmp_path):
    train(load_config([*SMALL, f"run={tmp_path / 'run'}"]))
    config = resume_config(tmp_path / "run", ["steps=1536"])
    result = train(config, resume=tmp_path / "run")
    assert result["updates"] == 12
    assert "steps: 1536" in (tmp_path / "run" / "config.yaml").read_text()
    assert len(json.loads((tmp_path / "run" / "metadata.json").read_text())["starts"]) == 2


@pytest.mark.parametrize(
    ("argument", "parts"),
    [
        ("agent.gamma=3.96", ["agent.gamma = 3.96", "0 <= agent.gamma <= 1"]),
        ("agen={}", ["agen", "did you mean agent?"]),
        ("agent.lr=fast", ["agent.lr", "a number"]),
        ("game.rows=0", ["game.rows = 0", "rows=0 is not allowed"]),
        ("game.row=3", ["game.row = 3", "no parameter 'row'"]),
        ("game.swap=off", ["game.swap = 'off'", "no parameter 'swap'"]),
        ("game.name=chess", ["game.name = 'chess'", "dark_hex"]),
        ("steps=null", ["steps=1e6 or seconds=120"]),
        ("evaluation={nash_conv: off, nash_conv_every: 9}", ["evaluation", "nash_conv_every=9", "nash_conv=off"]),
    ],
)
def test_bad_configurations_stop_before_anything_exists(tmp_path, argument, parts):
    with pytest.raises(ConfigError) as error:
        train(load_config([*SMALL, f"run={tmp_path / 'run'}", argument]))
    for part in parts:
        assert part in str(error.value)
    assert not (tmp_path / "run").exists()


def test_numbers_in_yaml_files_and_arguments_are_floats(tmp_path):
    (tmp_path / "a.yaml").write_text("agent: {lr: 1e-3}\nsteps: 1e6\n")
    config = load_config([f"config={tmp_path / 'a.yaml'}"])
    assert config.agent.lr == 1e-3 and config.steps == 1_000_000
    assert load_config([*SMALL, "agent.lr=1e-4"]).agent.lr == 1e-4


def test_damaged_foreign_and_changed_runs_are_refused(tmp_path):
    folder = tmp_path / "run"
    with pytest.raises(ConfigError, match="no config.yaml"):
        resume_config(folder)
    result = train(load_config([*SMALL, f"run={folder}", "checkpoint.seconds=0"]), max_updates=3)
    with pytest.raises(ConfigError, match=r"agent\.lr: a resumed run keeps its own configuration"):
        resume_config(folder, ["agent.lr=1e-4"])
    text = (folder / "config.yaml").read_text()
    (folder / "config.yaml").write_text(text.replace("rows: 2", "rows: 3"))
    with pytest.raises(CheckpointError, match=r"trained on dark_hex\(rows=2.*restore config.yaml"):
        train(resume_config(folder), resume=folder)
    (folder / "config.yaml").write_text(text.replace("gae_lambda: 0.95", "gae_lambda: 0.5"))
    with pytest.raises(CheckpointError, match=r"agent\.gae_lambda = 0\.95.*restore config.yaml"):
        train(resume_config(folder), resume=folder)
    (folder / "config.yaml").write_text(text)
    newest = Path(result["checkpoint"])
    newest.write_bytes(newest.read_bytes()[:-1000])
    with pytest.raises(CheckpointError, match=r"step_000000000384.pt: damaged.*step_000000000256.pt"):
        train(resume_config(folder), resume=folder)
    assert len(read_metrics(folder / "metrics.csv")) == 4  # nothing was lost on disk
    newest.unlink()
    assert train(resume_config(folder), resume=folder)["updates"] == 10


def test_an_agent_of_another_game_is_refused(tmp_path):
    result = train(load_config([*SMALL, f"run={tmp_path / 'run'}"]), max_updates=1)
    with pytest.raises(CheckpointError, match=r"trained on dark_hex\(rows=2.*not on hex"):
        NetworkAgent.load(result["checkpoint"], envs.make("hex", rows=3))


def script(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=120)


def test_the_script_names_a_typo_and_lists_its_keys(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    common, module = importlib.import_module("_common"), importlib.import_module("train")
    assert common.run(module.main, ["agent.lrr=1"]) == 2
    error = capsys.readouterr().err
    assert "did you mean agent.lr?" in error and len(error.splitlines()) == 1
    with pytest.raises(SystemExit) as stop:
        module.main(["--help"])
    text = capsys.readouterr().out
    assert stop.value.code == 0 and "agent.entropy" in text and "dark_hex_3x3_ppo" in text


def test_sigint_ends_with_a_checkpoint_and_kill_9_leaves_one(tmp_path):
    # A run that would take hours, interrupted; then resumed and killed; then resumed again.
    folder = tmp_path / "run"
    begin = [*[a for a in SMALL if not a.startswith("steps")], "steps=1e9", f"run={folder}", "checkpoint.seconds=0"]
    for arguments, number in ((begin, signal.SIGINT), ([f"resume={folder}"], signal.SIGKILL)):
        before = steps_of(folder)
        child = subprocess.Popen(
            [sys.executable, str(SCRIPT), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        deadline = time.monotonic() + 60
        while steps_of(folder) <= before and time.monotonic() < deadline and child.poll() is None:
            time.sleep(0.02)
        os.kill(child.pid, number)
        out, err = child.communicate(timeout=60)
        if number == signal.SIGINT:
            assert child.returncode == 0, err
            result = json.loads(out.splitlines()[-1])
            assert result["interrupted"] and load(result["checkpoint"])["learner"]["updates"] == result["updates"]
        else:
            assert child.returncode == -signal.SIGKILL and steps_of(folder) > before
    reached = steps_of(folder)
    result = train(resume_config(folder), resume=folder, max_updates=1)
    assert result["steps"] >= reached + 128


def steps_of(folder: Path) -> int:
    """Steps of the newest checkpoint, 0 without one."""
    names = [path.stem for path in (folder / "checkpoints").glob("step_*.pt")]
    return max((int(name.split("_")[1]) for name in names), default=0)
