"""scripts/solve.py: results, files, resuming, interruption, and every kind of bad input."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import cfr
import envs

SOLVE = Path(__file__).parents[2] / "scripts" / "solve.py"
SMALL = ("game=dark_hex", "game.rows=2", "game.cols=2", "game.version=abrupt", "game.info=silent")


def test_the_readme_example(tmp_path):
    command = ["game=dark_hex", "game.rows=2", "game.cols=3", "game.version=abrupt", "game.info=silent",
               "solver=cfr_plus", "solver.target=1e-4"]
    done = subprocess.run([sys.executable, SOLVE, *command], cwd=tmp_path, capture_output=True,
                          text=True, check=True)
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["game"] == "dark_hex(rows=2,cols=3,version=abrupt,info=silent)" and result["solver"] == "cfr_plus"
    assert 0 < result["nash_conv"] <= 1e-4 and result["exploitability"] == result["nash_conv"] / 2
    low, high = result["value_bounds"]
    assert low <= 9 / 11 <= high and high - low == pytest.approx(result["nash_conv"])
    assert abs(result["value"] - 9 / 11) < 1e-4
    assert result["iterations"] > 0 and result["seconds"] > 0 and result["stopped_by"] == "target"
    folder = tmp_path / "runs" / "solve" / "dark_hex-2-3-abrupt-silent-cfr_plus"
    assert tmp_path / result["policy"] == folder / "policy.npz"
    assert json.loads((folder / "result.json").read_text()) == result
    policy = cfr.TabularPolicy.load(folder / "policy.npz")
    assert cfr.nash_conv(cfr.build_tree(envs.make("dark_hex", rows=2, cols=3, version="abrupt", info="silent")),
                         policy) == pytest.approx(result["nash_conv"])
    assert "NashConv" in done.stderr and "exploitability (NashConv / 2)" in done.stderr


@pytest.mark.parametrize("solver", ["cfr", "cfr_plus", "linear_cfr", "dcfr", "pcfr_plus", "lp"])
def test_every_exact_solver(script, solver):
    result = script("solve", *SMALL, f"solver={solver}", "solver.target=0.02").result
    assert result["solver"] == solver and result["nash_conv"] <= 0.02
    assert abs(result["value"] - 0.5) <= 0.02


@pytest.mark.parametrize("solver", ["external", "outcome"])
def test_every_sampler(script, solver):
    result = script("solve", *SMALL, f"solver={solver}", "solver.iterations=20000").result
    assert result["iterations"] == 20000 and result["nash_conv"] < 0.2


def test_a_board_that_only_samples(script):
    result = script("solve", "game=dark_hex", "game.rows=4", "game.cols=4", "solver=outcome",
                    "solver.iterations=50", "output=sampled").result
    assert result["nash_conv"] is None and result["value"] is None and Path(result["policy"]).is_file()
    # Such a policy is incomplete, and yet it plays: uniformly where the sampler has never been.
    assert script("evaluate", "agents=[sampled,uniform]", "games=20").result["games"] == 40
    full = script("solve", "game.rows=4", "game.cols=4", "solver=outcome", "solver.memory=0.002", "output=full").result
    assert full["stopped_by"] == "memory" and full["iterations"] > 0
    error = script("solve", "game.rows=4", "game.cols=4", "solver=outcome", "solver.target=0.1").error
    assert "solver.target" in error and "whole tree" in error


def test_sure_wins(script):
    won = script("solve", "game.rows=3", "game.cols=3", "solver=sure_win", "output=won")
    assert (won.result["winner"], won.result["openings"], won.result["announced"]) == (0, ["c1", "a3"], [])
    assert "player 0 (red) wins with certainty by opening at c1 or a3" in won.err
    assert json.loads(Path("won/result.json").read_text()) == won.result
    # Its strategy plays: all games are won in the winner's seat.
    assert script("evaluate", "agents=[won,uniform]", "games=30", "nash_conv=off").result["mean_return"][0][0] == 1.0
    second = script("solve", "game.rows=3", "game.cols=2", "game.info=silent", "solver=sure_win", "output=second")
    assert second.result["winner"] == 1 and len(second.result["announced"]) == 6
    assert "player 1 (blue) wins with certainty against every opening; his first probe is b1 or a3" in second.err
    exact = script("evaluate", "agents=[second]", "games=0").result["nash_conv"]
    assert exact == [pytest.approx(0, abs=1e-12)]  # player 0 can do nothing about it: any play of his is optimal
    neither = script("solve", "game.rows=4", "game.cols=3", "solver=sure_win")
    assert neither.result["winner"] is None and neither.result["policy"] is None
    assert "neither player can force a win" in neither.err and "when it is a1, b1" in neither.err
    assert script("solve", "game.rows=2", "game.version=abrupt", "solver=sure_win").result["announced"] is None


def test_games_of_openspiel(script):
    pytest.importorskip("pyspiel")
    result = script("solve", "game=openspiel:kuhn_poker", "solver=pcfr_plus", "solver.target=1e-3").result
    assert result["game"].startswith("pyspiel:kuhn_poker") and abs(result["value"] + 1 / 18) < 1e-3
    three = script("solve", "game=openspiel:kuhn_poker", "game.players=3", "solver.iterations=5").result
    assert len(three["values"]) == 3 and "exploitability" not in three


def test_resuming_gives_the_same_policy(script):
    once = script("solve", *SMALL, "solver.iterations=40", "output=once").result
    script("solve", *SMALL, "solver.iterations=15", "output=twice")
    twice = script("solve", "resume=twice", "solver.iterations=40").result
    assert twice["iterations"] == 40 and twice["nash_conv"] == once["nash_conv"]
    first, second = (cfr.TabularPolicy.load(f"{name}/policy.npz") for name in ("once", "twice"))
    assert all((a.probabilities == b.probabilities).all() for a, b in zip(first.tables, second.tables, strict=True))
    other = script("solve", "resume=twice/checkpoint.npz", *SMALL, "solver=cfr", "output=third")
    assert "cfr_plus" in other.err and other.code == 2


def test_interrupting_saves_and_protects_the_run(script, tmp_path):
    command = [sys.executable, SOLVE, *SMALL, "solver.target=1e-12", "output=run"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "run" / "config.yaml").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    result = json.loads(out.splitlines()[-1])
    assert process.returncode == 0 and result["stopped_by"] == "interrupted" and "Traceback" not in err
    assert "resume=run" in script("solve", *SMALL, "output=run").error
    again = script("solve", "resume=run", f"solver.iterations={result['iterations'] + 5}").result
    assert again["iterations"] == result["iterations"] + 5
    assert not [name for name in os.listdir("run") if name.endswith(".tmp")]


BAD = {
    "wrong size": (["game.rows=0"], "game.rows = 0", "1 to 19"),
    "not a number": (["game.rows=three"], "game.rows = 'three'", "integer"),
    "unknown parameter": (["game.colour=red"], "game.colour", "rows, cols, version, info"),
    "unknown game": (["game=chess"], "'chess'", "dark_hex"),
    "unknown solver": (["solver=cfrr"], "'cfrr'", "cfr_plus"),
    "a learner is no solver": (["solver=ppo"], "solver.name = 'ppo'", "cfr_plus"),
    "typo": (["solver.taget=1e-3"], "solver.taget", "did you mean solver.target"),
    "range": (["solver.target=-1"], "solver.target = -1", "0 < solver.target"),
    "type": (["solver.iterations=many"], "solver.iterations = 'many'", "integer"),
    "no value": (["solver"], "'solver'", "key=value"),
    "swap on an uneven board": (["game=hex", "game.rows=2", "game.cols=3", "game.swap=pieces"], "game.swap", "=off"),
    "no sure wins": (["game=hex", "game.rows=3", "solver=sure_win"], "Dark Hex, not for hex", "rows=3"),
    "no sure wins on large boards": (["game.rows=9", "solver=sure_win"], "81 cells", "at most 62"),
    "no time for sure wins": (["game.rows=6", "game.cols=6", "solver=sure_win", "solver.seconds=1e-3"],
                              "solver.seconds = 0.001", "more time"),
    "sure wins are not resumed": (["solver=sure_win", "resume=."], "resume", "nothing"),
    "too large": (["game.rows=4", "game.cols=4"], "too large", "solver=outcome"),
    "nothing to resume": (["resume=nowhere"], "resume=nowhere", "checkpoint"),
    "unknown game of OpenSpiel": (["game=openspiel:chess_with_dice"], "'chess_with_dice'", "registered_names"),
    "parameter of OpenSpiel": (["game=openspiel:kuhn_poker", "game.seats=3"], "'seats'", "players"),
    "value of OpenSpiel": (["game=openspiel:kuhn_poker(players=99)"], "players=99", "10"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input(script, what):
    arguments, *words = BAD[what]
    if "openspiel" in arguments[0]:
        pytest.importorskip("pyspiel")
    error = script("solve", *arguments).error
    for word in words:
        assert word in error
    assert not Path("runs").exists()


def test_a_truncated_checkpoint(script):
    script("solve", *SMALL, "solver.iterations=5", "output=run")
    file = Path("run/checkpoint.npz")
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    policy = Path("run/policy.npz").read_bytes()
    error = script("solve", "resume=run", "solver.iterations=9").err
    assert "run/checkpoint.npz" in error and "truncated" in error
    assert Path("run/policy.npz").read_bytes() == policy and Path("run/result.json").exists()


def test_an_output_that_is_a_file(script, tmp_path):
    (tmp_path / "taken").write_text("mine")
    assert "taken" in script("solve", *SMALL, "output=taken").error
    assert (tmp_path / "taken").read_text() == "mine"


@pytest.mark.parametrize("solver,some,all_of_them", [("external", 1, 3), ("outcome", 12, 30)])
def test_resuming_a_sampler_gives_the_same_policy(script, solver, some, all_of_them):
    board = ("game.rows=3", "game.cols=3", f"solver={solver}", "solver.seed=3")
    script("solve", *board, f"solver.iterations={all_of_them}", "output=once")
    script("solve", *board, f"solver.iterations={some}", "output=twice")
    assert script("solve", "resume=twice", f"solver.iterations={all_of_them}").result["iterations"] == all_of_them
    first, second = (cfr.TabularPolicy.load(f"{name}/policy.npz") for name in ("once", "twice"))
    assert first.num_infosets == second.num_infosets
    assert all((a.probabilities == b.probabilities).all() for a, b in zip(first.tables, second.tables, strict=True))


def test_tac_tix_is_settled(script):
    result = script("solve", "game=tac_tix", "game.rows=2", "game.cols=3").result
    assert result["winner"] == "first" and result["verified"] == "complete" and result["lost_positions"] == 13
    assert "initial" in script("solve", "game=tac_tix", "game.rows=1", "game.cols=3", "game.initial=O.O").error
