"""Monte Carlo tree search: exact where it claims to be, tactics, three players, determinism, memory."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import envs
from agents import UniformAgent, observe, play_match
from agents.agent import Agent
from agents.mcts import MCTS, MCTSAgent, NetworkEvaluator

sys.path.insert(0, str(Path(__file__).parents[1] / "contracts"))
toy = importlib.import_module("toy_game")
sys.path.pop(0)


class OpenToyGame(toy.ToyGame):
    """Three players, who may drop out and then are skipped; here everybody sees everything."""

    name = "open_toy"
    perfect_information = True


_known: dict[tuple, frozenset] = {}


def results(state):
    """All vectors of returns that max^n can give, one for every way in which players break ties."""
    if state.is_terminal():
        return frozenset({tuple(np.round(state.returns(), 9))})
    mover = state.current_player()
    seen = b"".join(state.observation_tensor(player).tobytes() for player in range(state.num_players()))
    key = state.game.spec(), mover, seen
    if key not in _known:
        children = [results(state.child(action)) for action in state.legal_actions()]
        # A child may be chosen with a result that no other child is bound to beat.
        least = max(min(vector[mover] for vector in child) for child in children)
        _known[key] = frozenset(vector for child in children for vector in child if vector[mover] >= least)
    return _known[key]


def value(state):
    """The first player's value of a two-player position."""
    (vector,) = results(state)
    return vector[0]


def search(state, simulations, seed=0, **settings):
    return MCTS(state.game, **settings).search(state, simulations, seed)


def visits(state, simulations, seed, **settings):
    """The root's actions with their visits, as text."""
    found = search(state, simulations, seed, **settings)
    return " ".join(f"{state.action_to_string(a)}:{n}" for a, n in zip(found.actions, found.visits, strict=True))


@pytest.mark.parametrize(
    ("game", "openings"),
    [
        (envs.make("hex", rows=2, swap="off"), "-++-"),
        (envs.make("hex", rows=3, swap="off"), "--+++++--"),
        (envs.make("hex", rows=3, cols=4), "+" * 12),
        (envs.make("hex", rows=2, swap="off", rex=True), "+--+"),
    ],
    ids=str,
)
def test_small_hex_boards_are_solved(game, openings):
    searcher = MCTS(game)
    for action, sign in enumerate(openings):
        found = searcher.search(game.new_initial_state().child(action), 20_000)
        assert found.returns.tolist() == ([1.0, -1.0] if sign == "+" else [-1.0, 1.0])
    whole = searcher.search(game.new_initial_state(), 20_000)
    assert whole.returns.tolist() == [1.0, -1.0] and openings[whole.action] == "+"
    assert whole.simulations < 20_000


def test_the_swap_wins_for_the_second_player():
    state = envs.make("hex", rows=3).new_initial_state()
    assert search(state, 20_000).returns.tolist() == [-1.0, 1.0]
    assert search(state.child(4), 20_000).action == 9


@pytest.mark.parametrize("convention", ["misere", "normal"])
def test_tac_tix_3x3_finds_a_winning_move_in_every_won_position(convention):
    game = envs.make("tac_tix", rows=3, convention=convention)
    searcher, won = MCTS(game), 0
    seen, todo = set(), [game.new_initial_state()]
    while todo:
        state = todo.pop()
        if state.is_terminal() or str(state) in seen:
            continue
        seen.add(str(state))
        todo += [state.child(action) for action in state.legal_actions()]
        mover = state.current_player()
        sign = 1 - 2 * mover
        found = searcher.search(state, 20_000)
        if sign * value(state) > 0:
            won += 1
            assert sign * value(state.child(found.action)) > 0
        assert found.returns[0] == value(state)
    assert won > 100


@pytest.mark.parametrize(
    ("game", "plies"),
    [
        (envs.make("hex", rows=4, cols=3), 5),
        (envs.make("hex", rows=3, rex=True, swap="sides"), 2),
        (envs.make("tac_tix", rows=3, cols=4, convention="normal"), 2),
        (envs.make("renju3", rows=3, win_len=3, allow_pass=False), 4),
        (envs.make("renju3", rows=3, win_len=3, allow_pass=False, payoff="winner_only"), 4),
        (OpenToyGame(toy.ToyParameters(7)), 3),
    ],
    ids=str,
)
def test_what_is_called_settled_is_exact(game, plies):
    """Also with three players, with players who drop out, and where a mover is indifferent between the others."""
    rng = np.random.default_rng(0)
    searcher = MCTS(game)
    certain = 0
    for index in range(40):
        state = game.new_initial_state()
        while state.move_number() < plies and not state.is_terminal():
            state.apply_action(int(rng.choice(state.legal_actions())))
        if state.is_terminal():
            continue
        found = searcher.search(state, 3000, index)
        mover = state.current_player()
        if found.returns is not None:
            assert results(state) == {tuple(np.round(found.returns, 9))}
            certain += 1
        for action, settled, mean in zip(found.actions, found.settled, found.values, strict=True):
            if settled:
                certain += 1
                assert {vector[mover] for vector in results(state.child(int(action)))} == {round(mean, 9)}
    assert certain > 5, certain


RENJU = {
    # text of the position, the only good action
    "an own four": ("a1 a9 i9 b1 a7 i7 c1 a5 i5", "d1"),
    "a block": ("b2 c2 i9 a9 d2 i7 a7 e2 i5", "f2"),
    "a four before a block": ("b1 c2 i9 b2 d2 i7 b3 e2 i5", "b4"),
}


@pytest.mark.parametrize("what", RENJU)
@pytest.mark.parametrize("rows", [9, 19])
def test_renju_tactics(what, rows):
    text, wanted = RENJU[what]
    game = envs.make("renju3", rows=rows)
    state = game.state_from_string(text)
    searcher = MCTS(game)
    for seed in range(3):
        found = searcher.search(state, 1000, seed)
        assert game.action_to_string(0, found.action) == wanted


def test_hex_wins_in_one_and_blocks():
    game = envs.make("hex", rows=5, swap="off")
    # Red joins c2 and c4 by c3, and by nothing else.
    red = game.state_from_string("c1 a4 c2 b4 c4 e4 c5 a5")
    found = search(red, 100)
    assert game.action_to_string(0, found.action) == "c3" and found.returns.tolist() == [1.0, -1.0]
    # The same threat, Blue to move.
    blue = game.state_from_string("\n".join(["..R..", "..RB.", "...B.", ".BRB.", "..R.R"]))
    assert blue.current_player() == 1
    assert game.action_to_string(1, search(blue, 2000).action) == "c3"


def test_golden_trees():
    """Visits of the root's actions for a fixed seed: any change of the search shows."""
    state = envs.make("hex", rows=3, swap="off").state_from_string("a1")
    assert visits(state, 200, 5, rave=0.0, expand=2) == (
        "b1:3 c1:51 a2:27 b2:12 c2:21 a3:36 b3:33 c3:17"
    )
    state = envs.make("hex", rows=5, swap="off").state_from_string("c3 b4")
    assert visits(state, 100, 5) == (
        "a1:3 b1:9 c1:2 d1:11 e1:6 a2:6 b2:4 c2:3 d2:2 e2:1 a3:3 b3:2 d3:3 e3:1 a4:2 c4:25 d4:5 e4:2 "
        "a5:1 b5:3 c5:3 d5:1 e5:2"
    )
    state = envs.make("renju3", rows=5).state_from_string("c3 b3 d3")
    assert visits(state, 100, 5) == (
        "a1:3 b1:3 c1:1 d1:9 e1:8 a2:4 b2:4 c2:7 d2:4 e2:4 a3:1 e3:4 a4:3 b4:7 c4:10 d4:5 e4:9 a5:1 b5:1 "
        "c5:3 d5:2 e5:5 pass:2"
    )


@pytest.mark.parametrize("game", [envs.make("hex", rows=5), envs.make("renju3", rows=6)], ids=str)
def test_a_search_depends_on_position_budget_and_seed_alone(game):
    state = game.state_from_string("a2 c3 b3")
    searcher = MCTS(game)
    first = searcher.search(state, 300, 1)
    searcher.search(state.child(state.legal_actions()[0]), 500, 2)
    again = searcher.search(state, 300, 1)
    assert np.array_equal(first.visits, again.visits) and np.array_equal(first.values, again.values, equal_nan=True)
    assert first.action == again.action and first.visits.sum() == first.simulations == 300
    assert not np.array_equal(first.visits, searcher.search(state, 300, 2).visits)
    agents = [MCTSAgent(game, 50) for _ in range(2)]
    chosen = []
    for agent in agents:
        agent.reset(3)
        chosen.append([agent.act(observe(state, agent.parts)) for _ in range(4)])
    assert chosen[0] == chosen[1] and isinstance(agents[0], Agent)


def test_memory_is_bounded_by_the_budget_and_by_the_limit():
    game = envs.make("renju3", rows=19)
    state = game.new_initial_state()
    searcher = MCTS(game)
    found = searcher.search(state, 50)
    assert found.nodes <= 51 and searcher._edges.size <= 51 * 362
    small = MCTS(game, memory=2_000_000)
    found = small.search(state, 2000)
    assert small._edges.nbytes + small._nodes.nbytes + small._exact.nbytes <= 2_000_000
    assert found.simulations == 2000 and found.nodes < 200
    tiny = MCTS(game, memory=1).search(state, 10)  # room for the root, no more
    assert tiny.simulations == 10 and tiny.nodes == 1


class Prefers:
    """Thinks that one action is likely and that every position is even."""

    def __init__(self, players, action):
        self.players, self.action, self.calls = players, action, 0

    def evaluate(self, row, mover, legal):
        self.calls += 1
        return np.where(legal == self.action, 50.0, 1.0) / (legal.size + 49), np.zeros(self.players)


def test_puct_follows_the_priors_and_proves_what_it_can():
    state = envs.make("hex", rows=7, swap="off").new_initial_state()
    evaluator = Prefers(2, 17)
    found = search(state, 200, evaluator=evaluator)
    assert found.action == 17 and found.visits.max() > 100
    assert evaluator.calls <= 201 and found.visits.sum() == 200
    small = envs.make("hex", rows=3, swap="off").new_initial_state()
    assert search(small, 20_000, evaluator=Prefers(2, 0)).returns.tolist() == [1.0, -1.0]
    three = envs.make("renju3", rows=9).state_from_string(RENJU["a block"][0])
    assert three.action_to_string(search(three, 400, evaluator=Prefers(3, 0)).action) == "f2"


def test_a_network_judges_for_every_player():
    pytest.importorskip("torch")
    from agents.networks import ActorCritic

    game = envs.make("renju3", rows=5)
    network = ActorCritic(game.observation_size(), game.num_distinct_actions(), hidden=(16,), seed=1)
    state = game.state_from_string("c3 b3")
    legal = np.array(state.legal_actions())
    priors, values = NetworkEvaluator(game, network).evaluate(state.row, 2, legal)
    assert priors.shape == legal.shape and priors.sum() == pytest.approx(1) and (priors > 0).all()
    import torch

    with torch.inference_mode():
        seen = torch.from_numpy(np.stack([state.information_state_tensor(player) for player in range(3)]))
        assert values == pytest.approx(network.value(seen).numpy().clip(-0.5, 1.0), abs=1e-6)
    one, other = (search(state, 60, evaluator=NetworkEvaluator(game, network)) for _ in range(2))
    assert np.array_equal(one.visits, other.visits)


@pytest.mark.parametrize(
    ("game", "simulations", "games", "least"),
    [
        (envs.make("hex", rows=5), 100, 10, 0.95),
        (envs.make("tac_tix", rows=4), 200, 10, 0.9),
        (envs.make("docking"), 20, 2, 0.9),
        (envs.make("renju3", rows=9), 100, 6, 0.9),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_beats_uniform_players(game, simulations, games, least):
    agents = [MCTSAgent(game, simulations), *(UniformAgent() for _ in range(game.num_players - 1))]
    report = play_match(game, agents, games, seed=1).agents[0]
    assert report.score >= least
    assert all(seat.mean_return > 0.5 for seat in report.seats)


def test_bad_input():
    hex_game = envs.make("hex", rows=3)
    with pytest.raises(ValueError, match="dark_hex.*hides.*ismcts"):
        MCTS(envs.make("dark_hex"))
    with pytest.raises(ValueError, match="rave=-1.*>= 0"):
        MCTS(hex_game, rave=-1)
    with pytest.raises(ValueError, match="simulations=0"):
        MCTSAgent(hex_game, 0)
    with pytest.raises(ValueError, match="for hex.*rows=3.*state is of hex.*rows=4"):
        MCTS(hex_game).search(envs.make("hex", rows=4).new_initial_state(), 1)
    with pytest.raises(ValueError, match="over"):
        MCTS(envs.make("hex", rows=1)).search(envs.make("hex", rows=1).new_initial_state().child(0), 1)
    with pytest.raises(ValueError, match="agent.parts"):
        MCTSAgent(hex_game, 1).act(observe(hex_game.new_initial_state()))
