"""Alpha-beta search: against plain minimax, by its own promises, and its refusals."""

from functools import cache

import numpy as np
import pytest

import envs
from agents import observe
from agents.alpha_beta import WIN, AlphaBetaAgent, Heuristics, search
from agents.docking_heuristics import docking_heuristics, gaps
from agents.hex_heuristics import conductance, hex_heuristics
from agents.tac_tix_heuristics import tac_tix_heuristics
from envs.games.hex_board import BLUE, RED


def outcome(state):
    """+1, 0 or -1 for the player to move, and the plies of the shortest win or longest defence; by plain minimax."""
    return minimax(state.game, tuple(state.row[: state.game.row_size].tolist()), state.current_player(), state.row.size)


@cache
def minimax(game, row, player, size):
    state = envs.core.State(game, np.array(row, dtype=np.int32), [])
    if state.is_terminal():
        return (int(np.sign(state.returns()[player])), 0)
    best = None
    for action in state.legal_actions():
        child = state.child(action)
        if child.is_terminal():
            value, plies = int(np.sign(child.returns()[player])), 0
        else:
            value, plies = minimax(game, tuple(child.row.tolist()), child.current_player(), size)
            value = value if child.current_player() == player else -value
        plies += 1
        rank = (value, -plies if value > 0 else plies)
        if best is None or rank > best:
            best = rank
    return best[0], abs(best[1])


@pytest.mark.parametrize("name,parameters,heuristics", [
    ("tac_tix", {"rows": 2, "cols": 3}, None),
    ("tac_tix", {"rows": 2, "cols": 3}, "own"),
    ("tac_tix", {"rows": 2, "cols": 3, "convention": "normal"}, "own"),
    ("hex", {"rows": 2, "cols": 3}, None),
    ("hex", {"rows": 2, "cols": 2, "swap": "pieces"}, "own"),
    ("hex", {"rows": 2, "cols": 2, "swap": "sides", "rex": True}, "own"),
    ("hex", {"rows": 3, "cols": 2, "rex": True}, "own"),
])  # fmt: skip
def test_values_are_those_of_plain_minimax(name, parameters, heuristics):
    game = envs.make(name, **parameters)
    known = None
    if heuristics:
        known = hex_heuristics(game) if name == "hex" else tac_tix_heuristics()
    rng = np.random.default_rng(0)
    for _ in range(12):
        state = game.new_initial_state()
        for _ in range(int(rng.integers(0, 4))):
            state.apply_action(int(rng.choice(state.legal_actions())))
            if state.is_terminal():
                break
        if state.is_terminal() or len(state.legal_actions()) == 1:
            continue
        value, plies = outcome(state)
        found = search(state, known)
        assert found.value == value * (WIN - plies)
        child = state.child(found.action)
        if value > 0 and not child.is_terminal():
            assert outcome(child)[0] == (value if child.current_player() == state.current_player() else -value)


def test_winning_first_moves_of_tac_tix():
    for rows, cols, wins in ((2, 2, False), (3, 3, True), (3, 4, True), (2, 4, False)):
        game = envs.make("tac_tix", rows=rows, cols=cols)
        found = search(game.new_initial_state(), tac_tix_heuristics())
        assert (found.value > 0) == wins, (rows, cols)


def test_ties_go_to_the_smallest_number():
    state = envs.make("tac_tix", rows=1, cols=3).new_initial_state()  # a1-b1 and b1-c1 win in two
    best = search(state)
    winners = [
        a for a in state.legal_actions() if not state.child(a).is_terminal() and outcome(state.child(a))[0] < 0
    ]
    assert best.action == min(winners)
    # Whatever comes first in the search.
    assert search(state, tac_tix_heuristics()).action == best.action


def test_same_position_same_answer_whatever_was_asked_before():
    game = envs.make("hex", rows=5, swap="off")
    agent = AlphaBetaAgent(game, hex_heuristics(game), depth=3, nodes=300, slots=64)
    first, second = game.state_from_string("c3 b2"), game.state_from_string("a1 e5 b2")
    answers = [agent.act(observe(state, agent.parts)) for state in (first, second, first, second)]
    assert answers[:2] == answers[2:]
    fresh = AlphaBetaAgent(game, hex_heuristics(game), depth=3, nodes=300, slots=64)
    fresh.reset(99)
    assert fresh.act(observe(second, fresh.parts)) == answers[1]


def test_a_budget_is_kept_and_still_gives_a_move():
    game = envs.make("hex", rows=7, swap="off")
    state = game.new_initial_state()
    for nodes in (1, 2, 60, 1000):
        found = search(state, hex_heuristics(game), nodes=nodes, depth=4)
        assert found.nodes <= nodes + 4 and state.legal_actions_mask()[found.action]
    assert search(state, hex_heuristics(game), depth=2, width=3).nodes <= 1 + 3 + 1 + 3 + 9


def test_small_and_large_tables_agree():
    state = envs.make("tac_tix", rows=3, cols=3).new_initial_state()
    assert search(state, tac_tix_heuristics(), slots=1).value == search(state, tac_tix_heuristics()).value
    assert search(state, Heuristics(), slots=7).value == search(state, tac_tix_heuristics()).value


def test_gaps_of_docking():
    game = envs.make("docking")
    scratch = np.zeros(64)
    state = game.new_initial_state()
    # Two columns of four, seven cells apart.
    assert gaps(game.params, state.row, 0, scratch) == 6 == gaps(game.params, state.row, 1, scratch)
    found = search(state, docking_heuristics(), depth=1)
    after = state.child(found.action)
    best = min(gaps(game.params, state.child(a).row, 0, scratch) for a in state.legal_actions())
    assert gaps(game.params, after.row, 0, scratch) == best


def test_conductance_follows_the_rules_of_circuits():
    game = envs.make("hex", rows=5, swap="off")
    scratch = np.zeros(hex_heuristics(game).scratch_size)
    both = [conductance(game.params, game.new_initial_state().row, colour, scratch) for colour in (RED, BLUE)]
    assert both[0] == pytest.approx(both[1])
    helped = game.state_from_string("c3 a1")
    assert conductance(game.params, helped.row, RED, scratch) > both[0]
    # A wall of blue stones lets nothing through; one row of blue is a connection for Blue.
    wall = game.state_from_string("...../...../BBBB./RRRR./.....")
    assert conductance(game.params, wall.row, BLUE, scratch) > 3 * conductance(game.params, wall.row, RED, scratch)
    # Ohm's law on a board of one column: five free cells in a row, two half cells each.
    line = envs.make("hex", rows=5, cols=1)
    scratch = np.zeros(hex_heuristics(line).scratch_size)
    single = envs.make("hex", rows=1, cols=1, swap="off")
    assert conductance(single.params, single.new_initial_state().row, RED, scratch) == pytest.approx(0.5)
    assert conductance(line.params, line.new_initial_state().row, RED, scratch) == pytest.approx(0.1)


def test_refusals():
    with pytest.raises(ValueError, match="two players in which nothing is hidden"):
        AlphaBetaAgent(envs.make("renju3"))
    with pytest.raises(ValueError, match="dark_hex.*nothing is hidden"):
        search(envs.make("dark_hex").new_initial_state())
    over = envs.make("hex", rows=1).state_from_string("a1")
    with pytest.raises(ValueError, match="the game is over"):
        search(over)
    state = envs.make("hex", rows=3).new_initial_state()
    with pytest.raises(ValueError, match="width=0"):
        search(state, width=0)
    agent = AlphaBetaAgent(envs.make("hex", rows=4))
    with pytest.raises(ValueError, match="alpha_beta plays hex"):
        agent.act(observe(state, agent.parts))
    with pytest.raises(ValueError, match="no position"):
        agent.act(observe(state))
    with pytest.raises(ValueError, match="hides"):
        observe(envs.make("dark_hex").new_initial_state(), frozenset({"state"}))


def test_the_position_handed_out_is_a_copy():
    state = envs.make("hex", rows=3).new_initial_state()
    seen = observe(state, frozenset({"state"}))
    seen.state.apply_action(0)
    assert state.history() == []
    from envs.observation import observe as observe_env

    assert observe_env(state, frozenset({"state"})).state == state
    with pytest.raises(ValueError, match="hides"):
        observe_env(envs.make("dark_hex").new_initial_state(), frozenset({"state"}))
