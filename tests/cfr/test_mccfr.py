"""Samplers: reproducible, resumable, complete policies, exact infoset tables, bounded memory, convergence."""

import threading

import numpy as np
import pytest

import cfr
import envs
from cfr.errors import PolicyMismatchError, StoredFileError
from cfr.infoset_table import TOP, TableFullError
from cfr.mccfr import make_sampler

NAMES = ["external", "outcome"]


def board(rows=2, cols=3, version="abrupt", info="silent"):
    return envs.make("dark_hex", rows=rows, cols=cols, version=version, info=info)


def contents(sampler):
    """Everything a sampler has learnt, as bytes."""
    table = sampler._table
    words = table.pool[: int(table.counters[TOP])]
    return words.tobytes(), table.counters.tobytes(), sampler._state["rng"].tobytes(), sampler.iterations


@pytest.fixture(scope="module")
def tree():
    return cfr.build_tree(board())


# -- reproducibility ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_seed_decides(name):
    runs = {}
    for label, seed in (("a", 0), ("b", 0), ("c", 1)):
        sampler = make_sampler(name, board(), seed=seed)
        sampler.run(iterations=50)
        runs[label] = contents(sampler)
    assert runs["a"] == runs["b"]
    assert runs["a"] != runs["c"]


@pytest.mark.parametrize("name", NAMES)
def test_how_a_run_is_sliced_does_not_matter(name):
    whole, sliced = make_sampler(name, board(), seed=3), make_sampler(name, board(), seed=3)
    whole.run(iterations=40)
    while sliced.iterations < 40:
        sliced._advance(40 - sliced.iterations, 7)  # seven episodes, or lines of play, a call
    assert contents(whole) == contents(sliced)


@pytest.mark.parametrize("name", NAMES)
def test_threads_do_not_matter(name):
    def worker(seed, out):
        sampler = make_sampler(name, board(), seed=seed)
        sampler.run(iterations=100)
        out[seed] = contents(sampler)

    together, alone = {}, {}
    threads = [threading.Thread(target=worker, args=(seed, together)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in (1, 2):
        worker(seed, alone)
    assert together == alone


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("where", ["kernels", "openspiel"])
def test_resuming_is_exact(name, where, tmp_path):
    if where == "openspiel":
        pyspiel = pytest.importorskip("pyspiel")
        game = pyspiel.load_game("leduc_poker")
    else:
        game = board()
    through, first = make_sampler(name, game, seed=5), make_sampler(name, game, seed=5)
    through.run(iterations=20)
    first.run(iterations=10)
    first._advance(10, 3)  # stop in the middle of an external iteration
    path = first.save(tmp_path / "sampler")
    second = make_sampler(name, game, seed=99)
    second.run(iterations=3)
    second.load(path)
    second.run(iterations=20 - second.iterations)
    assert contents(second) == contents(through)


def test_a_time_limit_stops(tree):
    sampler = make_sampler("external", board())
    seen = []
    last = sampler.run(seconds=0.3, progress=seen.append)
    assert 0.3 <= last.seconds < 2.0 and last.stopped_by == "seconds"
    assert seen[-1] == last and [p.iterations for p in seen] == sorted(p.iterations for p in seen)


# -- policies ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_evaluation_works_after_one_iteration(name, tree):
    sampler = make_sampler(name, board(), seed=2)
    sampler.run(iterations=1)
    policy = sampler.average_policy(tree)
    assert policy.complete and policy.num_infosets == tree.num_infosets
    assert 0.0 <= cfr.nash_conv(tree, policy) <= 4.0
    assert cfr.nash_conv(tree, sampler.average_policy()) == cfr.nash_conv(tree, policy)
    new = make_sampler(name, board())
    assert cfr.nash_conv(tree, new.average_policy(tree)) == pytest.approx(0.780555555556, abs=1e-12)


@pytest.mark.parametrize("info", ["silent", "numturns", "announce"])
@pytest.mark.parametrize("version", ["classical", "abrupt"])
def test_the_table_holds_the_infosets_of_the_game(version, info):
    """Also those with several tokens between two decisions, and none twice."""
    game = board(2, 2, version, info)
    tree = cfr.build_tree(game)
    sampler = make_sampler("outcome", game, seed=1, epsilon=1.0)
    sampler.run(iterations=3000)
    for player, plex in enumerate(tree.treeplexes):
        tokens, offsets, first, actions = sampler._table.infosets(player)
        keys = cfr.policy.KeyTable.from_tokens(tokens, offsets)
        where = plex.keys.find_all(keys)
        assert (where >= 0).all() and len(set(where.tolist())) == where.size
        for i, j in enumerate(where.tolist()):
            legal = plex.actions[plex.first_sequence[j] : plex.first_sequence[j + 1]]
            assert np.array_equal(actions[first[i] : first[i + 1]], legal)
    assert sampler.num_infosets <= sum(tree.num_infosets)
    assert sampler.num_infosets > 0.6 * sum(tree.num_infosets)


@pytest.mark.parametrize("name", NAMES)
def test_a_large_board_gives_a_policy_over_what_was_met(name):
    game = board(3, 3, "classical")
    sampler = make_sampler(name, game, seed=1)
    sampler.run(iterations=1 if name == "external" else 2000)
    policy = sampler.average_policy()
    assert not policy.complete and sum(policy.num_infosets) == sampler.num_infosets
    state = game.new_initial_state()
    rng = np.random.default_rng(0)
    while not state.is_terminal():
        p = policy.probabilities(state)
        assert p.sum() == pytest.approx(1.0) and not p[~state.legal_actions_mask()].any()
        state.apply_action(int(rng.choice(state.legal_actions())))


def test_a_board_beyond_enumeration_is_sampled():
    sampler = make_sampler("outcome", board(11, 11, "classical"), seed=1)
    sampler.run(iterations=20)
    assert sampler.num_infosets > 500
    tokens, offsets, first, actions = sampler._table.infosets(0)
    blocks = sampler._table.blocks(0, tokens, offsets)
    assert (blocks > 0).all() and np.isfinite(sampler._table.average(blocks, first)).all()


def test_games_too_long_for_importance_weights_are_refused():
    with pytest.raises(OverflowError, match="rows=19.*cannot be outcome-sampled"):
        make_sampler("outcome", board(19, 19, "classical"), seed=1).run(iterations=50)


def test_hex_is_sampled_too():
    game = envs.make("hex", rows=2, cols=2, swap="off")
    tree = cfr.build_tree(game)
    for name in NAMES:
        sampler = make_sampler(name, game, seed=1)
        sampler.run(iterations=3000)
        assert cfr.nash_conv(tree, sampler.average_policy(tree)) < 0.05


# -- convergence -------------------------------------------------------------------------------------------------


def mean_nash_conv(name, game, iterations, seeds, tree=None):
    values = []
    for seed in range(seeds):
        sampler = make_sampler(name, game, seed=seed)
        sampler.run(iterations=iterations)
        policy = sampler.average_policy(tree)
        values.append(cfr.nash_conv(tree if tree is not None else sampler._tree, policy))
    return float(np.mean(values))


@pytest.mark.parametrize(
    ("name", "iterations", "bound"), [("external", 3000, 0.08), ("outcome", 150_000, 0.2)]
)
def test_convergence_on_dark_hex(name, iterations, bound, tree):
    assert mean_nash_conv(name, board(), iterations, 3, tree) < bound


@pytest.mark.parametrize(
    ("game_name", "name", "iterations"),
    [
        ("kuhn_poker", "external", 2000),
        ("kuhn_poker", "outcome", 10_000),
        ("leduc_poker", "external", 500),
        ("leduc_poker", "outcome", 30_000),
    ],
)
def test_convergence_is_that_of_openspiel(game_name, name, iterations):
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_game(game_name)
    seeds = 6
    theirs = []
    for seed in range(seeds):
        solver = (
            pyspiel.ExternalSamplingMCCFRSolver(game, seed)
            if name == "external"
            else pyspiel.OutcomeSamplingMCCFRSolver(game, 0.6, seed)
        )
        for _ in range(iterations):
            solver.run_iteration()
        theirs.append(pyspiel.nash_conv(game, solver.average_policy(), True))
    ours = mean_nash_conv(name, game, iterations, seeds)
    assert ours < 1.35 * np.mean(theirs)


def test_three_players():
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_game("kuhn_poker(players=3)")
    for name, iterations in (("external", 2000), ("outcome", 50_000)):
        sampler = make_sampler(name, game, seed=1)
        before = cfr.nash_conv(sampler._tree, sampler.average_policy())
        sampler.run(iterations=iterations)
        assert cfr.nash_conv(sampler._tree, sampler.average_policy()) < 0.2 * before


# -- memory ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_memory_depends_on_infosets_not_on_iterations(name):
    sampler = make_sampler(name, board(2, 2), seed=1)
    sampler.run(iterations=2000)
    before = sampler.memory_bytes, {key: array.size for key, array in sampler._state.items()}
    sampler.run(iterations=20_000)
    assert sampler.num_infosets <= 59 + 35
    assert (sampler.memory_bytes, {key: array.size for key, array in sampler._state.items()}) == before


@pytest.mark.parametrize("name", NAMES)
def test_the_memory_limit_stops_the_sampler_but_spoils_nothing(name, tmp_path):
    sampler = make_sampler(name, board(3, 3, "classical"), seed=1, memory_limit=3_000_000)
    with pytest.raises(TableFullError, match=r"limit of 3,000,000 bytes.*memory_limit="):
        sampler.run(iterations=10**6)
    assert 0 < sampler.memory_bytes <= 3_000_000
    assert sum(sampler.average_policy().num_infosets) == sampler.num_infosets
    path = sampler.save(tmp_path / "full")
    larger = make_sampler(name, board(3, 3, "classical"), seed=1)
    larger.load(path)
    reference = make_sampler(name, board(3, 3, "classical"), seed=1)
    more = larger.iterations + (1 if name == "external" else 1000)
    larger.run(iterations=more - larger.iterations)
    reference.run(iterations=more)
    assert contents(larger) == contents(reference)


# -- errors ------------------------------------------------------------------------------------------------------


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match='"external" and "outcome"'):
        make_sampler("robust", board())
    with pytest.raises(ValueError, match="epsilon=0.0.*above 0 and at most 1"):
        make_sampler("outcome", board(), epsilon=0.0)
    with pytest.raises(ValueError, match="does not explore"):
        make_sampler("external", board(), epsilon=0.5)
    with pytest.raises(ValueError, match="memory_limit=0"):
        make_sampler("external", board(), memory_limit=0)
    with pytest.raises(TableFullError, match="memory_limit="):
        make_sampler("external", board(), memory_limit=1000)
    with pytest.raises(TypeError, match="envs.make"):
        make_sampler("external", "dark_hex")
    with pytest.raises(ValueError, match="iterations= or seconds="):
        make_sampler("external", board()).run()
    with pytest.raises(ValueError, match="iterations=-1"):
        make_sampler("external", board()).run(iterations=-1)


def test_checkpoints_of_something_else_are_refused(tmp_path):
    sampler = make_sampler("outcome", board(), seed=1)
    sampler.run(iterations=100)
    path = sampler.save(tmp_path / "checkpoint")
    for other in (
        make_sampler("external", board()),
        make_sampler("outcome", board(version="classical")),
        make_sampler("outcome", board(), epsilon=0.5),
    ):
        before = contents(other)
        with pytest.raises(StoredFileError, match="this sampler's is"):
            other.load(path)
        assert contents(other) == before
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(StoredFileError, match="checkpoint.npz"):
            sampler.load(path)
    with pytest.raises(PolicyMismatchError, match="this sampler's game is"):
        sampler.average_policy(cfr.build_tree(board(2, 2)))
