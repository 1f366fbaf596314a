"""The abrupt engine against the generic tree engine, known values, and itself."""

from __future__ import annotations

import numpy as np
import pytest

import cfr
from cfr import regret
from cfr.best_response import evaluate_behaviour
from cfr.phantom.abrupt_form import AbruptForm
from cfr.phantom.abrupt_graph import Graph
from cfr.phantom.abrupt_size import predict_size
from cfr.tree import Tree, build_tree
from envs.core import Game, make


def dark_hex(rows: int, cols: int) -> Game:
    return make("dark_hex", rows=rows, cols=cols, version="abrupt", info="silent")


def phantom_ttt(rows: int, cols: int, line: int) -> Game:
    return make("phantom_ttt", rows=rows, cols=cols, line=line, version="abrupt", info="silent")


def sequences_in(graph: Graph, tree: Tree) -> np.ndarray:
    """The sequences of the player's treeplex in the graph's numbering."""
    plex = tree.treeplexes[graph.player]
    first = graph.first_sequence()
    result = np.zeros(plex.num_sequences, dtype=np.int64)
    for infoset in range(plex.num_infosets):
        node = graph.find(np.frombuffer(plex.keys[infoset], dtype=np.int32))
        start, stop = plex.first_sequence[infoset : infoset + 2]
        assert node >= 0 and first[node + 1] - first[node] == stop - start
        result[start:stop] = np.arange(first[node], first[node + 1])
    return result


def random_behaviour(form: AbruptForm, player: int, rng: np.random.Generator, pure: float = 0.0) -> np.ndarray:
    """``pure``: share of actions whose probability is 0, all but one of a node at most."""
    first = form.first_sequence(player)
    weights = rng.exponential(size=form.graphs[player].num_sequences)
    weights[rng.random(weights.size) < pure] = 1e-300
    totals = np.add.reduceat(weights[1:], first[:-1] - 1) if first.size > 1 else np.empty(0)
    result = np.concatenate([[1.0], weights[1:] / np.repeat(totals, np.diff(first))])
    result[result < 1e-200] = 0.0
    return result


BOARDS = [(1, 1), (1, 3), (3, 1), (2, 2), (2, 3), (3, 2)]
# With a line of 2, all games on 2 x n boards end with a winner; 3 x 2 in a line of 3 nearly none.
LINES = [(1, 1, 1), (1, 2, 2), (1, 3, 2), (1, 3, 3), (2, 2, 2), (1, 4, 3), (4, 1, 3), (1, 5, 3), (2, 3, 2), (2, 3, 3),
         (3, 2, 3)]  # fmt: skip
GAMES = [pytest.param(game, id=game.spec()) for game in (
    *(dark_hex(*board) for board in BOARDS), *(phantom_ttt(*board) for board in LINES),
)]  # fmt: skip


@pytest.mark.parametrize("game", GAMES)
def test_agrees_with_the_tree_engine(game: Game) -> None:
    form, tree = AbruptForm(game, threads=2), build_tree(game)
    assert tuple(graph.num_nodes for graph in form.graphs) == tree.num_infosets
    assert tuple(graph.num_sequences for graph in form.graphs) == tuple(p.num_sequences for p in tree.treeplexes)
    places = [sequences_in(graph, tree) for graph in form.graphs]
    for graph, place, plex in zip(form.graphs, places, tree.treeplexes, strict=True):
        assert np.array_equal(np.sort(place), np.arange(graph.num_sequences))
        cells = [graph.actions(block).ravel() for block in range(len(graph.known))]
        assert np.array_equal(np.concatenate([[-1], *cells])[place], plex.actions)
    rng = np.random.default_rng(10)
    policies = [[random_behaviour(form, p, rng, pure) for p in (0, 1)] for pure in (0.0, 0.0, 0.5, 0.9)]
    for behaviours in [form.uniform(), *policies]:
        expected = evaluate_behaviour(tree, [b[place] for b, place in zip(behaviours, places, strict=True)])
        found = form.evaluate(behaviours)
        assert np.allclose(found.values, expected.values, rtol=0, atol=1e-12)
        assert np.allclose(found.best_response_values, expected.best_response_values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("game", GAMES)
def test_regrets_are_those_of_the_tree_engine(game: Game) -> None:
    form, tree = AbruptForm(game), build_tree(game)
    rng = np.random.default_rng(7)
    behaviours = [random_behaviour(form, player, rng, 0.3) for player in (0, 1)]
    reaches = [np.empty(b.size) for b in behaviours]
    for player in (0, 1):
        form.realise(player, behaviours[player], reaches[player])
    places = [sequences_in(graph, tree) for graph in form.graphs]
    reach = np.concatenate([r[place] for r, place in zip(reaches, places, strict=True)])
    for player, plex in enumerate(tree.treeplexes):
        expected = tree.payoffs[player].gradient(reach, np.empty(plex.num_sequences))
        regrets = np.zeros(plex.num_sequences)
        regret.add_regrets(
            plex.parent_sequence, plex.first_sequence, expected, behaviours[player][places[player]], regrets
        )
        instantaneous, total = np.empty(reaches[player].size), rng.normal(size=reaches[player].size)
        before = total.copy()
        form.add_regrets(player, behaviours, reaches, instantaneous, total)
        assert np.allclose(instantaneous[places[player]][1:], regrets[1:], rtol=0, atol=1e-13)
        assert np.allclose(total[1:], before[1:] + instantaneous[1:], rtol=0, atol=1e-14)


@pytest.mark.parametrize("game", [dark_hex(2, 2), dark_hex(2, 3), dark_hex(3, 2), phantom_ttt(2, 3, 3)], ids=Game.spec)
def test_a_best_response_attains_its_value(game: Game) -> None:
    form = AbruptForm(game)
    rng = np.random.default_rng(3)
    for player in (0, 1):
        behaviours = [random_behaviour(form, p, rng) for p in (0, 1)]
        reach = np.empty(form.graphs[1 - player].num_sequences)
        form.realise(1 - player, behaviours[1 - player], reach)
        value, behaviours[player] = form.best_response(player, reach)
        found = form.evaluate(behaviours)
        assert found.values[player] == pytest.approx(value, abs=1e-13)
        assert found.best_response_values[player] == pytest.approx(value, abs=1e-13)
        first = form.first_sequence(player)
        assert np.array_equal(np.add.reduceat(behaviours[player][1:], first[:-1] - 1), np.ones(first.size - 1))


def test_information_states_and_their_tokens() -> None:
    form = AbruptForm(dark_hex(2, 3))
    for graph in form.graphs:
        for block in range(len(graph.known)):
            first, count = graph.blocks[block, :2]
            tokens = graph.tokens(block)
            assert [graph.find(row) for row in tokens] == list(range(first, first + count))
    graph = form.graphs[0]
    assert graph.find(np.array([1])) == -1  # nothing to run into yet
    assert graph.find(np.array([0, 6])) == -1  # this would have won
    assert graph.find(np.array([0, 2, 5, 7, 9])) == -1  # the opponent would have won with these


@pytest.mark.parametrize(
    ("rows", "cols", "nodes", "value", "best"),
    [
        (2, 2, (59, 35), 11 / 24, (5 / 6, 0.0)),
        (2, 3, (4033, 2725), 0.723888888889, (0.963888888889, -0.183333333333)),
        (3, 2, (5811, 3363), -0.111851851852, (0.566666666667, 0.663888888889)),
    ],
)
def test_known_values(rows: int, cols: int, nodes: tuple[int, int], value: float, best: tuple[float, float]) -> None:
    form = AbruptForm(dark_hex(rows, cols))
    assert tuple(graph.num_nodes for graph in form.graphs) == nodes
    found = form.evaluate(form.uniform())
    assert found.values == pytest.approx((value, -value), abs=1e-11)
    assert found.best_response_values == pytest.approx(best, abs=1e-11)


@pytest.mark.parametrize("game", [dark_hex(2, 4), phantom_ttt(1, 7, 3)], ids=Game.spec)
def test_results_do_not_depend_on_the_number_of_threads(game: Game) -> None:
    forms = [AbruptForm(game, threads=threads) for threads in (1, 3)]
    rng = np.random.default_rng(11)
    behaviours = [random_behaviour(forms[0], player, rng) for player in (0, 1)]
    reach = np.empty(forms[0].graphs[1].num_sequences)
    forms[0].realise(1, behaviours[1], reach)
    (mass, correction), other = (form.masses(0, reach) for form in forms)
    assert np.array_equal(mass, other[0]) and np.array_equal(correction, other[1])
    assert forms[0].evaluate(behaviours) == forms[1].evaluate(behaviours)


def test_two_by_four() -> None:
    form = AbruptForm(dark_hex(2, 4))
    assert tuple(graph.num_nodes for graph in form.graphs) == (554_447, 398_711)
    behaviours = form.uniform()
    found = form.evaluate(behaviours)
    assert sum(found.values) == pytest.approx(0.0, abs=1e-14)


@pytest.mark.slow
def test_three_by_three() -> None:
    form = AbruptForm(dark_hex(3, 3))
    assert sum(graph.num_nodes for graph in form.graphs) == 27_325_277
    found = form.evaluate(form.uniform())
    assert found.values == pytest.approx((0.266925705467, -0.266925705467), abs=1e-11)
    rng = np.random.default_rng(5)
    behaviours = [random_behaviour(form, player, rng) for player in (0, 1)]
    found = form.evaluate(behaviours)
    assert sum(found.values) == pytest.approx(0.0, abs=1e-14)  # two independent sums of the same number
    reach = np.empty(form.graphs[1].num_sequences)
    form.realise(1, behaviours[1], reach)
    value, behaviours[0] = form.best_response(0, reach)
    assert value == pytest.approx(found.best_response_values[0], abs=1e-14)
    assert form.evaluate(behaviours).values == pytest.approx((value, -value), abs=1e-13)


@pytest.mark.parametrize("game", [*GAMES, dark_hex(2, 4), phantom_ttt(2, 4, 3)])
def test_the_size_is_predicted(game: Game) -> None:
    form, size = AbruptForm(game), predict_size(game.cells, game.win_table())
    assert size.complete
    assert size.nodes == tuple(graph.num_nodes for graph in form.graphs)
    assert size.sequences == tuple(graph.num_sequences for graph in form.graphs)
    assert 0.5 * form.nbytes <= size.table_bytes + 50_000 and size.table_bytes <= form.nbytes


def test_the_size_of_larger_boards_is_predicted() -> None:
    three = dark_hex(3, 3)
    assert sum(predict_size(9, three.win_table()).nodes) == 27_325_277
    assert sum(predict_size(9, phantom_ttt(3, 3, 3).win_table()).nodes) == 23_310_269  # arXiv 2502.08938
    large = predict_size(12, dark_hex(3, 4).win_table(), limit=10**9)
    assert not large.complete and large.table_bytes > 10**9
    with pytest.raises(ValueError, match="16 cells"):
        predict_size(16, np.zeros((2, 1 << 16), dtype=np.bool_))


def test_policies_of_every_kind(tmp_path):
    game = dark_hex(2, 3)
    form, tree = AbruptForm(game), build_tree(game)
    solver = cfr.make_solver("pcfr_plus", tree)
    solver.run(iterations=50)
    tabular = solver.average_policy()
    expected = cfr.evaluate(tree, tabular)
    behaviours = form.behaviours_of(tabular)
    assert form.evaluate(behaviours).best_response_values == pytest.approx(expected.best_response_values, abs=1e-12)
    policy = cfr.MergedPolicy.load(form.policy(behaviours).save(tmp_path / "policy"), form)
    state = game.state_from_string("a1 b1 b1x a1x")
    assert policy.probabilities(state) == pytest.approx(tabular.probabilities(state), abs=1e-15)
    assert not policy.knows(np.array([1], dtype=np.int32).tobytes(), 0)

    def function(observations, masks):
        weights = masks * (1.0 + observations[:, :6].sum(axis=1, keepdims=True) + np.arange(6))
        return weights / weights.sum(axis=1, keepdims=True)

    played = [form.behaviour_of_function(player, function) for player in (0, 1)]
    for seen in (game.new_initial_state(), state):
        player = seen.current_player()
        actions, own = form.find(player, seen.information_tokens(player))
        wanted = function(seen.information_state_tensor(player)[None], seen.legal_actions_mask()[None])[0]
        assert played[player][own] == pytest.approx(wanted[actions], abs=1e-12)


def test_solver_reaches_the_value():
    found = cfr.make_solver("pcfr_plus", AbruptForm(dark_hex(2, 3))).run(target_nash_conv=1e-4)
    assert found.values[0] == pytest.approx(9 / 11, abs=1e-4)


def test_what_does_not_fit_is_refused():
    with pytest.raises(cfr.TreeTooLargeError, match="sample instead"):
        AbruptForm(dark_hex(4, 4))
    with pytest.raises(cfr.TreeTooLargeError, match="limit is 1.0 MiB"):
        AbruptForm(dark_hex(3, 3), memory_limit=2**20)
    for game in (make("dark_hex", rows=2, info="silent"), make("hex", rows=2)):
        with pytest.raises(cfr.UnsupportedGameError, match="abrupt phantom placement games"):
            AbruptForm(game)
