"""The computer opponent: its rules, its strength against uniform players, and that it never wavers."""

import numpy as np
import pytest

import envs
from agents import UniformAgent, observe
from agents.levels import LEVELS, computer_opponent, levels_of
from agents.renju_player import RenjuPlayer


def wins(game, seated, seat, games):
    won = 0
    for index in range(games):
        for at, agent in enumerate(seated):
            agent.reset(10 * index + at)
        state = game.new_initial_state()
        while not state.is_terminal():
            agent = seated[state.current_player()]
            state.apply_action(agent.act(observe(state, agent.parts)))
        won += state.returns()[seat] > 0
    return won


def act(agent, state):
    return agent.act(observe(state, agent.parts))


@pytest.mark.parametrize("level", ["medium", "hard"])
@pytest.mark.parametrize("seat", [0, 1])
def test_docking_beats_uniform(level, seat):
    game = envs.make("docking")
    seated = [UniformAgent(), UniformAgent()]
    seated[seat] = computer_opponent(level, game)
    games = 100 if level == "medium" else 20
    assert wins(game, seated, seat, games) >= 0.95 * games


@pytest.mark.parametrize("seat", [0, 1, 2])
@pytest.mark.parametrize("level", ["easy", "medium"])
def test_renju_beats_two_uniform_players(level, seat):
    game = envs.make("renju3")
    seated = [UniformAgent(), UniformAgent(), UniformAgent()]
    seated[seat] = computer_opponent(level, game)
    assert wins(game, seated, seat, 100) >= 80


@pytest.mark.parametrize("level", LEVELS)
def test_hex_beats_uniform(level):
    game = envs.make("hex", rows=7)
    for seat in (0, 1):
        seated = [UniformAgent(), UniformAgent()]
        seated[seat] = computer_opponent(level, game)
        assert wins(game, seated, seat, 5) == 5


def test_swap_exactly_off_the_border():
    for level in LEVELS:
        for swap in ("pieces", "sides"):
            game = envs.make("hex", rows=5, swap=swap)
            opponent = computer_opponent(level, game)
            for cell in range(25):
                r, c = divmod(cell, 5)
                border = r in (0, 4) or c in (0, 4)
                assert (act(opponent, game.new_initial_state().child(cell)) == 25) == (not border), (level, cell)


def test_every_level_is_deterministic():
    for name, parameters in (("hex", {"rows": 5}), ("docking", {}), ("tac_tix", {"rows": 4}), ("renju3", {"rows": 9})):
        game = envs.make(name, **parameters)
        rng = np.random.default_rng(0)
        state = game.new_initial_state()
        for _ in range(4):
            state.apply_action(int(rng.choice(state.legal_actions())))
        elsewhere = state.child(state.legal_actions()[0])
        for level in levels_of(game):
            first, second = computer_opponent(level, game), computer_opponent(level, game)
            second.reset(5)
            if not elsewhere.is_terminal():
                act(second, elsewhere)
            assert act(first, state) == act(second, state)


def test_hard_plays_hex_without_a_fault_where_it_is_solved():
    """On 5x5 the solver sees to the end: every won opening is won, against every level."""
    game = envs.make("hex", rows=5, swap="off")
    hard = computer_opponent("hard", game)
    for rival in ("easy", "hard"):
        assert wins(game, [hard, computer_opponent(rival, game)], 0, 1) == 1


def test_mistakes_that_renju_must_not_make():
    game = envs.make("renju3", rows=9)
    player = RenjuPlayer(game)
    # Red next would win on d1: Blue has no four of his own and must play there.
    state = game.state_from_string("RRR....../........./..B.B..../........./........./........./........./......G../"
                                   "....G.... Blue to move")
    assert game.action_to_string(0, act(player, state)) == "d1"
    # An own four comes first.
    state = game.state_from_string("BBB....../RR......./........./GG......./........./........./........./........./"
                                   "......... Blue to move")
    assert game.action_to_string(0, act(player, state)) == "d1"


def test_who_is_played_and_who_is_not():
    assert levels_of(envs.make("dark_hex")) == () and levels_of(envs.make("hex")) == LEVELS
    with pytest.raises(ValueError, match="no computer opponent plays this game; it plays hex, docking"):
        computer_opponent("easy", envs.make("dark_hex"))
    with pytest.raises(ValueError, match="easy, medium"):
        computer_opponent("hard", envs.make("renju3"))
    with pytest.raises(ValueError, match="renju3 only"):
        RenjuPlayer(envs.make("hex"))
    opponent = computer_opponent("easy", envs.make("hex", rows=5))
    with pytest.raises(ValueError, match="easy plays hex"):
        act(opponent, envs.make("hex", rows=4).new_initial_state())
