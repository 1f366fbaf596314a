"""The agent `equilibrium`: stored policies, boards that are solved on the spot, and what to do about the others."""

from pathlib import Path

import pytest

import cfr
import envs

SMALL = ("game=dark_hex", "game.rows=2", "game.cols=3", "game.version=abrupt", "game.info=silent")
FOLDER = Path("runs/solve")


def test_a_small_board_is_solved_once(script):
    done = script("evaluate", *SMALL, "agents=[equilibrium,uniform]", "games=200")
    assert done.result["nash_conv"] == [pytest.approx(5e-4, abs=5e-4), pytest.approx(0.780555555556)]
    assert sum(done.result["mean_return"][0]) > 0.2 and "solving dark_hex(rows=2,cols=3" in done.err
    assert (FOLDER / "dark_hex-2-3-abrupt-silent-equilibrium" / "policy.npz").is_file()
    done = script("play", *SMALL, "opponent=equilibrium", typed="")
    assert done.result["players"] == ["human", "equilibrium"] and "solving" not in done.err
    assert "dark_hex-2-3-abrupt-silent-equilibrium/policy.npz, NashConv" in done.err


def test_it_wins_what_can_be_won(script):
    board = ("game=dark_hex", "game.rows=2", "game.cols=2", "game.info=silent")
    done = script("play", *board, "opponent=equilibrium", "seat=blue", typed="a1\na2\nb1\nb2\nquit\n" * 9)
    assert done.result["players"] == ["equilibrium", "human"] and done.result["result"] == "red wins"


def test_the_best_stored_policy_is_played(script):
    for solver, target in (("cfr_plus", 0.009), ("pcfr_plus", 0.002), ("dcfr", 0.3)):
        script("solve", *SMALL, f"solver={solver}", f"solver.target={target}")
    script("solve", *SMALL, "solver=outcome", "solver.seed=1", "solver.seconds=0.1", "output=runs/solve/other")
    (FOLDER / "dark_hex-2-3-abrupt-silent-broken").mkdir()
    (FOLDER / "dark_hex-2-3-abrupt-silent-broken" / "result.json").write_text("[]")
    done = script("evaluate", *SMALL, "agents=[equilibrium]", "games=0")
    assert "solving" not in done.err and "silent-pcfr_plus/policy.npz" in done.err
    assert done.result["nash_conv"][0] <= 0.002


def test_a_poor_policy_only_where_there_is_no_better(script, monkeypatch):
    import _equilibrium

    script("solve", *SMALL, "solver.iterations=1")
    monkeypatch.setattr(_equilibrium, "is_quick", lambda game, histories: False)
    done = script("evaluate", *SMALL, "agents=[equilibrium]", "games=0")
    assert done.result["nash_conv"][0] > 0.01 and "silent-cfr_plus/policy.npz, NashConv" in done.err
    monkeypatch.undo()


def test_an_interrupted_solution_goes_on(script, monkeypatch):
    import _equilibrium

    arguments = (*SMALL, "agents=[equilibrium]", "games=0")
    monkeypatch.setattr(_equilibrium, "SECONDS", 1e-9)
    monkeypatch.setattr(_equilibrium, "TARGET", 1e-12)
    first = script("evaluate", *arguments).result["nash_conv"][0]
    monkeypatch.setattr(_equilibrium, "SECONDS", 60.0)
    monkeypatch.setattr(_equilibrium, "TARGET", 1e-3)
    second = script("evaluate", *arguments)
    assert first > 1e-2 and second.result["nash_conv"][0] <= 1e-3 and "solving" in second.err


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (["game=dark_hex", "game.version=abrupt", "game.info=silent"],
         ["scripts/solve.py game=dark_hex game.rows=3", "game.version=abrupt game.info=silent solver=pcfr_plus"]),
        (["game=dark_hex", "game.rows=5", "game.info=numturns"], ["too large", "game.info=silent", "solver=outcome"]),
        (["game=hex"], ["too large", "opponent=hard"]),
        (["game=renju3"], ["two-player games", "renju3("]),
    ],
    ids=["takes long", "too large", "hides nothing", "three players"],
)  # fmt: skip
def test_what_cannot_be_had(script, game, words):
    for error in (script("play", *game, "opponent=equilibrium").error,
                  script("evaluate", *game, "agents=[equilibrium]").error):
        assert error.startswith("error: equilibrium: ")
        for word in words:
            assert word in error


def test_a_merged_policy_of_a_board_that_has_a_tree(script, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    form = cfr.ClassicalForm(envs.make("dark_hex", rows=2, info="silent"))
    solver = cfr.make_solver("pcfr_plus", form)
    solver.run(target_nash_conv=0.01)
    solver.average_policy().save("merged")
    assert script("evaluate", "agents=[policy:merged.npz,uniform]", "games=10").result["nash_conv"] == [
        pytest.approx(0.005, abs=0.005), pytest.approx(1.25)
    ]  # fmt: skip


@pytest.mark.slow
def test_the_default_board(script):
    done = script("play", "opponent=equilibrium", "seat=blue", typed="a1\na2\na3\nb1\nb2\nb3\nc1\nc2\nc3\nquit\n" * 9)
    assert done.result["game"] == "dark_hex(rows=3,cols=3,version=classical,info=silent)"
    assert done.result["result"] == "red wins"  # red can force it
