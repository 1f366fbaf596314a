"""The exact engine against the tree it replaces, and against the known figures of the board it exists for."""

import numpy as np
import pytest

import cfr
import envs
from cfr import regret
from cfr.best_response import reach_of
from cfr.phantom import ClassicalForm, MergedPolicy


def silent(rows, cols, version="classical"):
    return envs.make("dark_hex", rows=rows, cols=cols, version=version, info="silent")


def ttt(rows, cols, line, version="classical"):
    return envs.make("phantom_ttt", rows=rows, cols=cols, line=line, version=version, info="silent")


BOARDS = [(2, 2), (2, 3), (3, 2), (1, 4), (4, 1), (1, 1), (3, 1)]
# A line of 2 on a 2 x n board leaves no draws, a line of 3 on 2 x 3 little else.
LINES = [(1, 1, 1), (1, 2, 2), (1, 3, 2), (1, 3, 3), (2, 2, 2), (1, 4, 3), (4, 1, 3), (2, 3, 2), (2, 3, 3), (3, 2, 3)]
GAMES = [
    pytest.param(game, id=game.spec()) for game in (*(silent(*b) for b in BOARDS), *(ttt(*b) for b in LINES))
]


def random_policy(tree, seed):
    """Some infosets mixed, some pure, some actions never taken."""
    rng = np.random.default_rng(seed)
    behaviours = []
    for plex in tree.treeplexes:
        values = np.ones(plex.num_sequences)
        for start, stop in zip(plex.first_sequence[:-1], plex.first_sequence[1:], strict=True):
            weights = rng.random(stop - start) ** 3 * (rng.random(stop - start) < 0.7)
            weights[rng.integers(stop - start)] += 0.1
            values[start:stop] = weights / weights.sum()
        behaviours.append(values)
    return cfr.TabularPolicy.from_behaviour(tree, behaviours)


@pytest.mark.parametrize("game", GAMES)
def test_evaluation_is_the_trees(game):
    tree, form = cfr.build_tree(game), ClassicalForm(game)
    for policy in [cfr.TabularPolicy.uniform(tree), *(random_policy(tree, seed) for seed in range(4))]:
        expected, found = cfr.evaluate(tree, policy), form.evaluate(form.behaviours_of(policy))
        assert np.allclose(found.values, expected.values, rtol=0, atol=1e-12)
        assert np.allclose(found.best_response_values, expected.best_response_values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("game", GAMES)
def test_unmerged_states_are_the_trees_infosets(game):
    tree, form = cfr.build_tree(game), ClassicalForm(game)
    for player, plex in enumerate(tree.treeplexes):
        states = form.unmerged(player)
        keys = states.keys()
        assert sorted(keys) == sorted(plex.keys)
        for i in range(0, states.num_infosets, 7):
            actions, sequences = form.find(player, np.frombuffer(keys[i], dtype=np.int32))
            assert actions.tolist() == states.action[states.first[i] : states.first[i + 1]].tolist()
            assert sequences.start == form.graphs[player].first[states.node[i]]


@pytest.mark.parametrize(
    ("board", "infosets", "value", "best"),
    [
        ((2, 2), [17, 53], 0.0, (1.0, 0.25)),
        ((2, 3), [697, 1_811], 0.6, (1.0, -0.25)),
        ((3, 2), [787, 3_393], -0.6, (0.6, 1.0)),
    ],
)
def test_known_values(board, infosets, value, best):
    form = ClassicalForm(silent(*board))
    assert [form.unmerged(player).num_infosets for player in (0, 1)] == infosets
    found = form.evaluate(form.uniform())
    assert found.values == pytest.approx((value, -value), abs=1e-11)
    assert found.best_response_values == pytest.approx(best, abs=1e-11)


@pytest.mark.parametrize("game", GAMES)
def test_regrets_are_the_trees(game):
    """Those of a node are those of all its information states."""
    tree, form = cfr.build_tree(game), ClassicalForm(game)
    rng = np.random.default_rng(5)
    behaviours = [form.normalise(player, rng.random(form.graphs[player].num_sequences)) for player in (0, 1)]
    reaches, unmerged = form.new_reaches(), []
    for player, plex in enumerate(tree.treeplexes):
        form.realise(player, behaviours[player], reaches[player])
        values = np.ones(plex.num_sequences)
        for i in range(plex.num_infosets):
            own = slice(plex.first_sequence[i], plex.first_sequence[i + 1])
            values[own] = behaviours[player][form.find(player, np.frombuffer(plex.keys[i], dtype=np.int32))[1]]
        unmerged.append(values)
    reach = reach_of(tree, unmerged)
    for player, plex in enumerate(tree.treeplexes):
        gradient = tree.payoffs[player].gradient(reach, np.empty(plex.num_sequences))
        expected = np.zeros(plex.num_sequences)
        regret.add_regrets(plex.parent_sequence, plex.first_sequence, gradient, unmerged[player], expected)
        found, total = (np.zeros(reaches[player].size) for _ in range(2))
        form.add_regrets(player, behaviours, reaches, found, total)
        assert np.array_equal(found, total)
        for i in range(plex.num_infosets):
            own = slice(plex.first_sequence[i], plex.first_sequence[i + 1])
            node = form.find(player, np.frombuffer(plex.keys[i], dtype=np.int32))[1]
            assert np.allclose(found[node], expected[own], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["cfr_plus", "pcfr_plus", "dcfr"])
@pytest.mark.parametrize("game", [silent(2, 3), ttt(1, 5, 3)], ids=envs.Game.spec)
def test_solver_on_merged_nodes(name, game):
    tree = cfr.build_tree(game)
    solver = cfr.make_solver(name, ClassicalForm(game))
    found = solver.run(iterations=300)
    policy = solver.average_policy()
    # The tree agrees about what was reached, by asking the policy at every one of its infosets.
    behaviours = []
    for player, plex in enumerate(tree.treeplexes):
        values = np.ones(plex.num_sequences)
        for i in range(plex.num_infosets):
            own = slice(plex.first_sequence[i], plex.first_sequence[i + 1])
            values[own] = policy.probabilities(plex.keys[i], player)[plex.actions[own]]
        behaviours.append(values)
    exact = cfr.evaluate(tree, cfr.TabularPolicy.from_behaviour(tree, behaviours))
    assert abs(exact.nash_conv - found.nash_conv) < 1e-12 and found.nash_conv < 0.02
    assert np.allclose(exact.values, found.values, rtol=0, atol=1e-12)


def test_checkpoint_resumes_bit_for_bit(tmp_path):
    form = ClassicalForm(silent(2, 3))
    straight, first, second = (cfr.make_solver("pcfr_plus", form) for _ in range(3))
    straight.run(iterations=20)
    first.run(iterations=10)
    second.load(first.save(tmp_path / "half"))
    second.run(iterations=10)
    for mine, other in zip(straight._averages, second._averages, strict=True):
        assert np.array_equal(mine, other)


def test_a_function_of_observations_is_a_policy():
    game = silent(2, 3)
    tree, form = cfr.build_tree(game), ClassicalForm(game)

    def function(observation, mask):
        weights = mask * (1.0 + (observation[:, : mask.shape[1]].sum(axis=1, keepdims=True) + np.arange(6)) % 3)
        return weights / weights.sum(axis=1, keepdims=True)

    behaviours = []
    for plex in tree.treeplexes:
        values = np.ones(plex.num_sequences)
        for i in range(plex.num_infosets):
            own = slice(plex.first_sequence[i], plex.first_sequence[i + 1])
            seen = np.zeros(6)
            tokens = np.frombuffer(plex.keys[i], dtype=np.int32)
            seen[[token >> 1 for token in tokens if not token & 1]] = 1
            mask = np.zeros(6, dtype=bool)
            mask[plex.actions[own]] = True
            values[own] = function(seen[None], mask[None])[0][plex.actions[own]]
        behaviours.append(values)
    expected = cfr.evaluate(tree, cfr.TabularPolicy.from_behaviour(tree, behaviours))
    found = form.evaluate([form.behaviour_of_function(p, function) for p in (0, 1)])
    assert np.allclose(found.values, expected.values, rtol=0, atol=1e-12)
    assert np.allclose(found.best_response_values, expected.best_response_values, rtol=0, atol=1e-12)


def test_best_response_attains_its_value():
    form = ClassicalForm(silent(3, 2))
    behaviours = form.uniform()
    uniform = form.evaluate(behaviours)
    for player in (0, 1):
        reach = form.new_reaches()
        form.realise(1 - player, behaviours[1 - player], reach[1 - player])
        value, answer = form.best_response(player, reach[1 - player])
        played = list(behaviours)
        played[player] = answer
        assert abs(form.evaluate(played).values[player] - value) < 1e-12
        assert abs(uniform.best_response_values[player] - value) < 1e-12


def test_policies_are_kept(tmp_path):
    form = ClassicalForm(silent(2, 2))
    policy = form.policy(form.uniform())
    again = MergedPolicy.load(policy.save(tmp_path / "policy"), form)
    state = form.game.state_from_string("b1 b1x")
    assert again.probabilities(state).tolist() == [1 / 3, 0.0, 1 / 3, 1 / 3]
    assert again.action_probabilities(state) == {0: 1 / 3, 2: 1 / 3, 3: 1 / 3}
    with pytest.raises(cfr.PolicyMismatchError, match="rows=2,cols=2"):
        MergedPolicy.load(tmp_path / "policy", ClassicalForm(silent(2, 3)))
    with pytest.raises(cfr.PolicyMismatchError):
        policy.probabilities(silent(2, 3).new_initial_state())
    with pytest.raises(KeyError, match="never decides"):
        form.find(0, np.array([0, 0], dtype=np.int32))
    drawn = ClassicalForm(ttt(1, 3, 3))
    assert drawn.find(0, np.array([0, 3], dtype=np.int32))[0].tolist() == [2]
    with pytest.raises(KeyError, match="never decides"):
        drawn.find(1, np.array([1, 2], dtype=np.int32))  # both have placed all they can: the board is full
    (tmp_path / "policy.npz").write_bytes((tmp_path / "policy.npz").read_bytes()[:-100])
    with pytest.raises(cfr.StoredFileError, match="policy.npz"):
        MergedPolicy.load(tmp_path / "policy", form)


def test_other_games_are_refused():
    for game in (silent(2, 2, "abrupt"), envs.make("dark_hex", rows=2), envs.make("hex", rows=2)):
        with pytest.raises(cfr.UnsupportedGameError, match="build_tree"):
            ClassicalForm(game)


@pytest.mark.slow
def test_3x3():
    form = ClassicalForm(silent(3, 3))
    assert [graph.num_nodes for graph in form.graphs] == [1_936_954, 1_109_539]
    assert [form.unmerged(player).num_infosets for player in (0, 1)] == [3_720_850, 2_352_067]
    found = form.evaluate(form.uniform())
    assert np.allclose(found.values, [1 / 3, -1 / 3], rtol=0, atol=1e-9)
    assert np.allclose(found.best_response_values, [1, 0.832804232804], rtol=0, atol=1e-9)
    assert abs(found.nash_conv - 1.832804232804) < 1e-9
    assert cfr.make_solver("pcfr_plus", form).run(target_nash_conv=1e-3).iteration <= 30


@pytest.mark.parametrize("game", [silent(2, 3), ttt(2, 3, 3)], ids=envs.Game.spec)
def test_the_cache_gives_the_same_graphs(game, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    built, read = (cfr.phantom_form(game) for _ in range(2))
    assert built.origin.startswith("built") and read.origin.startswith("read")
    assert read.evaluate(read.uniform()) == built.evaluate(built.uniform())
    file = next(tmp_path.rglob("*.npz"))
    file.write_bytes(file.read_bytes()[:-50])
    assert cfr.phantom_form(game).origin.startswith("built")
    assert cfr.phantom_form(game).origin.startswith("read")


def test_stored_policies_of_both_kinds(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    game = silent(2, 2)
    form = ClassicalForm(game)
    form.policy(form.uniform()).save(tmp_path / "merged")
    cfr.TabularPolicy.uniform(cfr.build_tree(game)).save(tmp_path / "tabular")
    state = game.new_initial_state()
    for name, kind in (("merged", MergedPolicy), ("tabular", cfr.TabularPolicy)):
        policy = cfr.load_policy(tmp_path / name)
        assert isinstance(policy, kind) and policy.probabilities(state).tolist() == [0.25] * 4
        assert policy.knows(b"", 0) and not policy.knows(np.array([0, 0], dtype=np.int32).tobytes(), 0)


def test_boards_that_do_not_fit_are_refused():
    for rows, cols in ((4, 4), (5, 5), (11, 11)):
        with pytest.raises(cfr.TreeTooLargeError, match="sample instead"):
            ClassicalForm(silent(rows, cols))
    with pytest.raises(cfr.TreeTooLargeError, match="limit is 1.0 MiB"):
        ClassicalForm(silent(3, 3), memory_limit=2**20)
    assert cfr.prefers_phantom(silent(3, 3)) and cfr.prefers_phantom(silent(3, 3, "abrupt"))
    assert cfr.prefers_phantom(ttt(3, 3, 3)) and cfr.prefers_phantom(ttt(3, 3, 3, "abrupt"))
    assert not cfr.prefers_phantom(silent(2, 3)) and not cfr.prefers_phantom(envs.make("hex", rows=3))
