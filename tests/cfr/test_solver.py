"""The CFR family: converges to known values, stops when told, resumes bit for bit."""

from __future__ import annotations

import tracemalloc

import pytest
from cfr_cases import dark_hex_tree, openspiel_tree

import cfr
from cfr.form import SUMS
from cfr.regret import RULES
from cfr.storage import load_arrays, save_arrays

# Game: value of player 0, and the NashConv that 1,000 iterations of the slowest solver reach easily.
GAMES = {
    "2x2 classical": (lambda: dark_hex_tree(2, 2, "classical"), 1.0, 2e-3),
    "2x2 abrupt": (lambda: dark_hex_tree(2, 2, "abrupt"), 0.5, 1e-3),
    "2x2 abrupt announce": (lambda: dark_hex_tree(2, 2, "abrupt", "announce"), 0.5, 1e-2),
    "2x3 classical": (lambda: dark_hex_tree(2, 3, "classical"), 1.0, 1e-3),
    "2x3 abrupt": (lambda: dark_hex_tree(2, 3, "abrupt"), 9 / 11, 1e-2),
    "3x2 classical": (lambda: dark_hex_tree(3, 2, "classical"), -1.0, 3e-3),
    "3x2 abrupt": (lambda: dark_hex_tree(3, 2, "abrupt"), -1 / 8, 1e-2),
    "kuhn": (lambda: openspiel_tree("kuhn_poker"), -1 / 18, 1e-2),
    "leduc": (lambda: openspiel_tree("leduc_poker"), -0.085606424078, 6e-2),
}


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", RULES)
def test_approaches_the_known_value(name, game):
    tree, value, reached = GAMES[game]
    # The usual numbers of mirror descent are for payoffs of about 1; Leduc's reach 13.
    options = {"temperature": 1.0, "learning_rate": 1.0} if (name, game) == ("mmd", "leduc") else {}
    solver = cfr.make_solver(name, tree(), **options)
    last = solver.run(iterations=1000)
    assert last.iteration == solver.iteration == 1000 and last.stopped_by == "iterations"
    # Annealed mirror descent is as far as its temperature, which falls with the square root of the iterations.
    assert 0.0 <= last.nash_conv + 1e-12 and last.nash_conv < reached * (8 if name == "mmd" else 1)
    assert abs(last.values[0] - value) <= last.nash_conv + 1e-9  # each side's best response bounds the value
    assert cfr.nash_conv(solver.tree, solver.average_policy()) == last.nash_conv == solver.nash_conv()


@pytest.mark.parametrize("name, target", [("cfr_plus", 1e-4), ("pcfr_plus", 1e-9)])
def test_high_precision(name, target):
    solver = cfr.make_solver(name, dark_hex_tree(2, 3, "abrupt"))
    last = solver.run(target_nash_conv=target, seconds=60)
    assert last.stopped_by == "target_nash_conv" and last.nash_conv <= target
    assert last.values[0] == pytest.approx(9 / 11, abs=target)


@pytest.mark.parametrize("name", RULES)
def test_liars_dice(name):
    solver = cfr.make_solver(name, openspiel_tree("liars_dice"))
    start = solver.nash_conv()
    assert solver.run(iterations=100).nash_conv < start / 8


@pytest.mark.parametrize("name", RULES)
def test_three_players(name):
    tree = openspiel_tree("kuhn_poker(players=3)")
    last = cfr.make_solver(name, tree).run(iterations=2000)
    assert last.nash_conv < 0.02 and sum(last.values) == pytest.approx(0.0, abs=1e-12)


def test_better_rules_are_better():
    found = {}
    for name in RULES:
        found[name] = cfr.make_solver(name, dark_hex_tree(2, 3, "abrupt")).run(iterations=500).nash_conv
    assert found["pcfr_plus"] < found["cfr_plus"] < found["cfr"] and found["dcfr"] < found["linear_cfr"] < found["cfr"]


def test_names_and_arguments():
    tree = dark_hex_tree(2, 2, "abrupt")
    with pytest.raises(ValueError, match="cfr, cfr_plus, linear_cfr, dcfr, pcfr_plus, mmd"):
        cfr.make_solver("cfr++", tree)
    with pytest.raises(ValueError, match="uniform, linear, quadratic, last"):
        cfr.make_solver("cfr", tree, average="mean")
    with pytest.raises(ValueError, match="cfr_plus has no such option; it has average, alpha, beta, predictive"):
        cfr.make_solver("cfr_plus", tree, temperature=1.0)
    with pytest.raises(ValueError, match="temperature=-1.0.*at least 0"):
        cfr.make_solver("mmd", tree, temperature=-1.0)
    with pytest.raises(ValueError, match="leave it out for mmd"):
        cfr.make_solver("mmd", tree, sums="histories")
    with pytest.raises(ValueError, match="sequences, histories"):
        cfr.make_solver("cfr", tree, sums="fast")
    with pytest.raises(ValueError, match="keep_histories=True"):
        cfr.make_solver("cfr", tree, sums="histories")
    assert cfr.make_solver("cfr", tree.game).tree.num_infosets == tree.num_infosets
    solver = cfr.make_solver("cfr", tree)
    with pytest.raises(ValueError, match="when to stop"):
        solver.run()
    with pytest.raises(ValueError, match="target_nash_conv"):
        solver.run(target_nash_conv=float("nan"))
    with pytest.raises(ValueError, match="iterations"):
        solver.run(iterations=-1)


# -- stopping and reporting -------------------------------------------------------------------------------------


def test_stops_at_whichever_comes_first():
    solver = cfr.make_solver("cfr_plus", dark_hex_tree(2, 2, "abrupt"))
    assert solver.run(iterations=0).iteration == 0
    assert solver.run(iterations=7, seconds=60, target_nash_conv=0.0).iteration == 7
    assert solver.run(iterations=7).iteration == 14
    assert solver.run(seconds=0.05).stopped_by == "seconds"
    assert solver.run(seconds=60, target_nash_conv=10.0).stopped_by == "target_nash_conv"


def test_progress_is_reported_with_exact_figures():
    tree = dark_hex_tree(2, 2, "abrupt")
    solver = cfr.make_solver("cfr", tree)
    seen = []

    def progress(now):
        evaluation = cfr.evaluate(tree, solver.average_policy())
        assert (now.nash_conv, now.values) == (evaluation.nash_conv, evaluation.values)
        seen.append(now)

    last = solver.run(iterations=200, progress=progress)
    iterations = [now.iteration for now in seen]
    assert iterations == [1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 66, 78, 91, 105, 120, 136, 153, 171, 190, 200]
    assert seen[-1] == last and all(now.stopped_by is None for now in seen[:-1])
    assert all(a.seconds <= b.seconds for a, b in zip(seen, seen[1:], strict=False))


def test_the_same_run_twice_is_bitwise_equal():
    first, second = (cfr.make_solver("pcfr_plus", dark_hex_tree(2, 3, "abrupt")) for _ in range(2))
    first.run(iterations=50)
    for _ in range(50):
        second.step()
    assert_same(first, second)


def test_memory_does_not_grow_with_iterations():
    solver = cfr.make_solver("cfr_plus", dark_hex_tree(2, 3, "abrupt"))
    solver.run(iterations=10)
    peaks = []
    for iterations in (100, 1000):
        tracemalloc.start()
        solver.run(iterations=iterations)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert abs(peaks[1] - peaks[0]) < 0.05 * peaks[0] + 20_000
    assert solver.nbytes == 5 * 8 * solver.tree.offsets[-1]


# -- checkpoints --------------------------------------------------------------------------------------------------


def assert_same(a, b):
    assert a.iteration == b.iteration
    for name in ("_regrets", "_averages", "_behaviours"):
        for x, y in zip(getattr(a, name), getattr(b, name), strict=True):
            assert x.tobytes() == y.tobytes(), name


@pytest.mark.parametrize("name, sums", [(n, s) for n in RULES for s in SUMS if (n, s) != ("mmd", "histories")])
def test_resumed_run_is_bitwise_equal(name, sums, tmp_path):
    tree = dark_hex_tree(2, 2, "abrupt", keep_histories=True)
    straight = cfr.make_solver(name, tree, sums=sums)
    straight.run(iterations=20)
    first = cfr.make_solver(name, tree, sums=sums)
    first.run(iterations=10)
    path = first.save(tmp_path / "checkpoint")
    second = cfr.make_solver(name, tree, sums=sums)
    second.load(path)
    assert second.seconds == first.seconds
    second.run(iterations=10)
    assert_same(straight, second)
    assert straight.nash_conv() == second.nash_conv()


def test_resume_on_a_poker_tree(tmp_path):
    straight, second = (cfr.make_solver("dcfr", openspiel_tree("leduc_poker")) for _ in range(2))
    straight.run(iterations=10)
    path = straight.save(tmp_path / "checkpoint.npz")
    straight.run(iterations=10)
    second.load(path)
    second.run(iterations=10)
    assert_same(straight, second)


def test_checkpoints_that_do_not_fit(tmp_path):
    tree = dark_hex_tree(2, 2, "abrupt")
    solver = cfr.make_solver("cfr", tree)
    solver.run(iterations=5)
    path = solver.save(tmp_path / "checkpoint")
    with pytest.raises(cfr.StoredFileError, match=r"checkpoint\.npz.*solver.*'cfr'.*'cfr_plus'"):
        cfr.make_solver("cfr_plus", tree).load(path)
    with pytest.raises(cfr.StoredFileError, match=r"checkpoint\.npz.*version=abrupt.*version=classical"):
        cfr.make_solver("cfr", dark_hex_tree(2, 2, "classical")).load(path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        solver.load(tmp_path / "nowhere")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(cfr.StoredFileError, match=r"checkpoint\.npz"):
        solver.load(path)
    assert solver.iteration == 5
    path.write_bytes(content)
    header, arrays = load_arrays(path, "cfr_checkpoint", 1)
    header = {k: v for k, v in header.items() if k not in ("kind", "format")}
    arrays["regrets_1"] = arrays["regrets_1"][1:]
    arrays["regrets_1"] = arrays["regrets_1"][1:]
    short = save_arrays(tmp_path / "short", "cfr_checkpoint", 1, header, arrays)
    with pytest.raises(cfr.StoredFileError, match=r"short\.npz.*regrets of player 1"):
        solver.load(short)
