"""Games in which collisions are announced: the exact engine against the tree, in both versions."""

import numpy as np
import pytest

import cfr
import envs
from cfr.form import TreeForm
from cfr.phantom import AbruptForm, AnnouncedForm
from cfr.phantom.abrupt_size import predict_size as predict_abrupt_size
from cfr.phantom.announced_size import predict_size

BOARDS = [(1, 1), (3, 1), (1, 4), (2, 2), (2, 3), (3, 2)]
INFOS = ("announce", "numturns")


def dark_hex(rows, cols, version="classical", info="announce"):
    return envs.make("dark_hex", rows=rows, cols=cols, version=version, info=info)


def phantom_ttt(version="classical", info="announce"):
    """A game that can be drawn."""
    return envs.make("phantom_ttt", rows=2, cols=3, line=3, version=version, info=info)


def forms_of(game):
    if game.classical:
        return [AnnouncedForm(game, settle=settle) for settle in (True, False)]
    return [AbruptForm(game, threads=2)]


def random_policy(tree, seed):
    """Some actions are never taken."""
    rng = np.random.default_rng(seed)
    behaviours = []
    for plex in tree.treeplexes:
        weights = 1e-300 + rng.random(plex.num_sequences) ** 3 * (rng.random(plex.num_sequences) < 0.6)
        counts = np.diff(plex.first_sequence)
        totals = np.add.reduceat(weights, plex.first_sequence[:-1]) if counts.size else weights[:0]
        behaviours.append(np.concatenate([[1.0], weights[1:] / np.repeat(totals, counts)]))
    return cfr.TabularPolicy.from_behaviour(tree, behaviours)


def places_in(form, tree):
    """Per player: the sequences of a form at those of the tree, and the nodes at its infosets."""
    result = []
    for player, plex in enumerate(tree.treeplexes):
        first = form.first_sequence(player)
        sequences = np.zeros(plex.num_sequences, dtype=np.int64)
        for i, key in enumerate(plex.keys):
            start, stop = plex.first_sequence[i : i + 2]
            actions, own = form.find(player, np.frombuffer(key, dtype=np.int32))
            assert actions.tolist() == plex.actions[start:stop].tolist() and own.stop - own.start == stop - start
            sequences[start:stop] = np.arange(own.start, own.stop)
        nodes = np.searchsorted(first, sequences[plex.first_sequence[:-1]], side="right") - 1
        assert np.array_equal(first[nodes], sequences[plex.first_sequence[:-1]])
        result.append((sequences, nodes))
    return result


def assert_same(found, expected):
    assert np.allclose(found.values, expected.values, rtol=0, atol=1e-12)
    assert np.allclose(found.best_response_values, expected.best_response_values, rtol=0, atol=1e-12)


GAMES = [
    *(dark_hex(*board, version, info) for board in BOARDS for version in ("classical", "abrupt") for info in INFOS),
    *(phantom_ttt(version) for version in ("classical", "abrupt")),
]


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_evaluation_is_the_trees(game):
    tree = cfr.build_tree(game)
    policies = [cfr.TabularPolicy.uniform(tree), *(random_policy(tree, seed) for seed in range(3))]
    expected = [cfr.evaluate(tree, policy) for policy in policies]
    for form in forms_of(game):
        for policy, evaluation in zip(policies, expected, strict=True):
            assert_same(form.evaluate(form.behaviours_of(policy)), evaluation)
        assert_same(form.evaluate(form.uniform()), expected[0])


@pytest.mark.parametrize("game", [game for game in GAMES if game.info == "announce"], ids=str)
def test_regrets_are_the_trees(game):
    tree = cfr.build_tree(game)
    whole = TreeForm(tree)
    rng = np.random.default_rng(3)
    for form in forms_of(game):
        places = places_in(form, tree)
        for _ in range(3):
            behaviours = [form.normalise(p, rng.random(b.size) ** 4) for p, b in enumerate(form.uniform())]
            copies = [behaviour[sequences] for behaviour, (sequences, _) in zip(behaviours, places, strict=True)]
            reaches, whole_reaches = form.new_reaches(), whole.new_reaches()
            for player in (0, 1):
                form.realise(player, behaviours[player], reaches[player])
                whole.realise(player, copies[player], whole_reaches[player])
            for player, (sequences, nodes) in enumerate(places):
                found, wanted = np.zeros(behaviours[player].size), np.zeros(sequences.size)
                total = rng.random(found.size)
                before = total.copy()
                mass, whole_mass = np.zeros(form.first_sequence(player).size - 1), np.zeros(nodes.size)
                form.add_regrets(player, behaviours, reaches, found, total, mass)
                whole.add_regrets(player, copies, whole_reaches, wanted, np.zeros(wanted.size), whole_mass)
                assert np.allclose(total, before + found, rtol=0, atol=1e-14)
                assert np.allclose(found[sequences][1:], wanted[1:], rtol=0, atol=1e-13)
                known = nodes < form.graphs[player].idle_nodes.start if game.classical else nodes >= 0
                assert np.allclose(mass[nodes][known], whole_mass[known], rtol=0, atol=1e-13)


SETS = {  # information sets of announce and of numturns
    ((2, 2), "classical"): ((33, 101), (33, 101)),
    ((2, 2), "abrupt"): ((97, 49), (59, 35)),
    ((2, 3), "classical"): ((3373, 8349), (3373, 8349)),
    ((2, 3), "abrupt"): ((13277, 7627), (4033, 2725)),
    ((3, 2), "classical"): ((3823, 16019), (3823, 16019)),
    ((3, 2), "abrupt"): ((21369, 10039), (5811, 3363)),
}


@pytest.mark.parametrize(("board", "version"), SETS)
@pytest.mark.parametrize("info", INFOS)
def test_information_sets_are_the_trees(board, version, info):
    game = dark_hex(*board, version, info)
    tree = cfr.build_tree(game)
    form = forms_of(game)[-1]
    if version == "classical":
        states = [form.unmerged(player) for player in (0, 1)]
        sizes = tuple(part.num_infosets for part in states)
        for part, plex in zip(states, tree.treeplexes, strict=True):
            assert sorted(part.keys()) == sorted(plex.keys)
    else:
        sizes = tuple(graph.num_nodes for graph in form.graphs)
    assert sizes == SETS[board, version][INFOS.index(info)] == tree.num_infosets
    for any_form in forms_of(game):
        places_in(any_form, tree)


@pytest.mark.parametrize(
    ("board", "version", "value"),
    [((2, 2), "abrupt", 1 / 2), ((2, 3), "abrupt", 25 / 31), ((2, 3), "classical", 1), ((3, 2), "classical", -1)],
)
def test_equilibria(board, version, value):
    solver = cfr.make_solver("pcfr_plus", forms_of(dark_hex(*board, version))[0])
    found = solver.run(target_nash_conv=2e-3, iterations=2000)
    assert found.stopped_by == "target_nash_conv" and found.values[0] == pytest.approx(value, abs=2e-3)
    # The tree agrees about what was reached.
    tree = cfr.build_tree(dark_hex(*board, version))
    average = solver.average_policy().behaviours
    copies = [average[player][sequences] for player, (sequences, _) in enumerate(places_in(solver.form, tree))]
    policy = cfr.TabularPolicy.from_behaviour(tree, copies)
    assert cfr.evaluate(tree, policy).nash_conv == pytest.approx(found.nash_conv, abs=1e-12)


def test_numturns_says_nothing_new_in_the_abrupt_version():
    rng = np.random.default_rng(5)
    told, silent = (AbruptForm(dark_hex(2, 3, "abrupt", info)) for info in ("numturns", "silent"))
    behaviours = [told.normalise(player, rng.random(b.size)) for player, b in enumerate(told.uniform())]
    assert told.evaluate(behaviours) == silent.evaluate(behaviours)


def test_results_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(7)
    game = dark_hex(2, 3, "abrupt")
    behaviours = [AbruptForm(game).normalise(p, rng.random(b.size)) for p, b in enumerate(AbruptForm(game).uniform())]
    assert len({AbruptForm(game, threads=threads).evaluate(behaviours) for threads in (1, 2, 3)}) == 1


def every_state(state, player):
    """The states of a game in which ``player`` decides."""
    if state.is_terminal():
        return
    if state.current_player() == player:
        yield state
    for action in state.legal_actions():
        yield from every_state(state.child(action), player)


@pytest.mark.parametrize("version", ["classical", "abrupt"])
@pytest.mark.parametrize("info", INFOS)
def test_a_function_of_observations_is_a_policy(version, info):
    game = dark_hex(2, 2, version, info)
    tree = cfr.build_tree(game)
    weights = np.random.default_rng(9).random((game.observation_size(), 4))

    def function(observations, masks):
        values = np.exp(observations @ weights) * masks
        return values / values.sum(axis=1, keepdims=True)

    behaviours = []
    for player, plex in enumerate(tree.treeplexes):
        place = {key: i for i, key in enumerate(plex.keys)}
        values = np.ones(plex.num_sequences)
        for state in every_state(game.new_initial_state(), player):
            own = slice(*plex.first_sequence[(i := place[state.information_tokens(player).tobytes()]) : i + 2])
            asked = function(state.information_state_tensor(player)[None], state.legal_actions_mask()[None])
            values[own] = asked[0][plex.actions[own]]
        behaviours.append(values)
    expected = cfr.evaluate(tree, cfr.TabularPolicy.from_behaviour(tree, behaviours))
    for form in forms_of(game):
        assert_same(form.evaluate([form.behaviour_of_function(player, function) for player in (0, 1)]), expected)


@pytest.mark.parametrize("version", ["classical", "abrupt"])
def test_best_responses_played(version):
    """On a board too large for the tree's exact figures in a test: games through ``State``, to four standard errors."""
    form = forms_of(dark_hex(2, 4, version))[0]
    uniform = form.uniform()
    reaches = form.new_reaches()
    rng = np.random.default_rng(11)
    for player in (0, 1):
        form.realise(1 - player, uniform[1 - player], reaches[1 - player])
        value, answer = form.best_response(player, reaches[1 - player])
        first = form.first_sequence(player)
        has = np.diff(first) > 0
        assert np.array_equal(np.add.reduceat(answer, first[:-1][has]), np.ones(has.sum()))
        played = list(uniform)
        played[player] = answer
        assert form.evaluate(played).values[player] == pytest.approx(value, abs=1e-12)
        policy = form.policy(played)
        returns = []
        for _ in range(400):
            state = form.game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(int(rng.choice(8, p=policy.probabilities(state))))
            returns.append(state.returns()[player])
        assert abs(np.mean(returns) - value) <= 4 * np.sqrt(max(0.0, 1 - value**2) / len(returns)) + 1e-12


@pytest.mark.parametrize("version", ["classical", "abrupt"])
@pytest.mark.parametrize("info", INFOS)
def test_policies_are_kept(version, info, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    game = dark_hex(2, 2, version, info)
    form = cfr.phantom_form(game)
    behaviours = [form.normalise(p, np.arange(1.0, b.size + 1)) for p, b in enumerate(form.uniform())]
    policy = form.policy(behaviours)
    policy.save(tmp_path / "policy")
    again = cfr.load_policy(tmp_path / "policy")
    state = game.state_from_string("b1 b1x a1" if version == "classical" else "b1 b1x a1 a1x")
    assert again.probabilities(state).tolist() == policy.probabilities(state).tolist()
    assert policy.probabilities(state).sum() == pytest.approx(1.0) and (policy.probabilities(state) > 0).sum() > 1
    tokens = state.information_tokens(state.current_player())
    assert policy.knows(tokens.tobytes(), state.current_player())
    collided = 8 + (info == "announce")
    told_less = [] if info == "numturns" and version == "classical" else [tokens[:-1]]  # one collision less is possible
    for wrong in (*told_less, [*tokens, 8], [collided, *tokens], [collided] * 3 + [8], [8] * 9, [0], [0, 1, 8]):
        assert not policy.knows(np.array(wrong, dtype=np.int32).tobytes(), state.current_player())
    with pytest.raises(cfr.PolicyMismatchError, match="rows=2,cols=3"):
        cfr.MergedPolicy.load(tmp_path / "policy", cfr.phantom_form(dark_hex(2, 3, version, info)))


def test_checkpoint_resumes_bit_for_bit(tmp_path):
    for version in ("classical", "abrupt"):
        form = forms_of(dark_hex(2, 3, version))[0]
        straight, first, second = (cfr.make_solver("pcfr_plus", form) for _ in range(3))
        straight.run(iterations=12)
        first.run(iterations=6)
        second.load(first.save(tmp_path / version))
        second.run(iterations=6)
        assert straight.evaluate() == second.evaluate()


@pytest.mark.parametrize("game", [*(dark_hex(*board) for board in [*BOARDS, (2, 4), (4, 2)]), phantom_ttt()], ids=str)
def test_the_size_is_predicted(game):
    form, size = AnnouncedForm(game), predict_size(game)
    assert size.nodes == tuple(graph.num_nodes for graph in form.graphs)
    assert size.sequences == tuple(graph.idle.start for graph in form.graphs)
    assert form.nbytes < size.bytes + 50_000


def test_what_does_not_fit_is_refused():
    assert predict_size(dark_hex(3, 3)).nodes == (2_743_459, 15_071_068)
    assert 2.5 * 2**30 < predict_size(dark_hex(3, 3)).bytes < 4 * 2**30
    size = predict_abrupt_size(9, dark_hex(3, 3).win_table(), told=True)
    assert size.complete and size.nodes == (261_758_467, 142_415_332)
    for board in ((3, 3), (2, 5), (4, 4), (11, 11)):
        for version in ("classical", "abrupt"):
            with pytest.raises(cfr.TreeTooLargeError, match=r"limit is 1.0 GiB.*sample instead"):
                cfr.phantom_form(dark_hex(*board, version), memory_limit=2**30)
    with pytest.raises(cfr.UnsupportedGameError, match="phantom_form"):
        AnnouncedForm(dark_hex(2, 2, info="silent"))


def test_the_engine_is_chosen():
    assert isinstance(cfr.phantom_form(dark_hex(2, 2)), AnnouncedForm)
    assert isinstance(cfr.phantom_form(dark_hex(2, 2, "abrupt")), AbruptForm)
    assert cfr.prefers_phantom(dark_hex(3, 3)) and cfr.prefers_phantom(dark_hex(2, 4, "abrupt", "numturns"))
    assert not cfr.prefers_phantom(dark_hex(2, 3)) and not cfr.prefers_phantom(dark_hex(3, 3, "abrupt"))
    assert not cfr.prefers_phantom(envs.make("hex", rows=3))


@pytest.mark.slow
def test_3x3():
    form = cfr.phantom_form(dark_hex(3, 3))
    assert [graph.num_nodes for graph in form.graphs] == [2_743_459, 15_071_068]
    found = form.evaluate(form.uniform())
    # Players who do not listen: the values are those of the silent game.
    assert np.allclose(found.values, [1 / 3, -1 / 3], rtol=0, atol=1e-9)
    assert np.allclose(found.best_response_values, [1, 0.832804232804], rtol=0, atol=1e-9)
