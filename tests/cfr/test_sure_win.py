"""Sure wins: known boards, a search over explicit sets of possible boards, and replays against every opponent."""

import functools
import itertools

import numpy as np
import pytest
from cfr_cases import dark_hex_tree
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sure_win_oracle import Oracle

import cfr
import envs
from cfr.sure_wins.kernels import board_words, enemy_distance, own_distance
from cfr.sure_wins.search import Search
from envs.games.hex_board import BOARD, cell_name, winning_chain


def dark_hex(rows, cols, version="classical", info="silent"):
    return envs.make("dark_hex", rows=rows, cols=cols, version=version, info=info)


@functools.cache
def solved(rows, cols, version="classical", info="silent"):
    return cfr.sure_win(dark_hex(rows, cols, version, info))


def names(cells, cols):
    return {cell_name(cell, cols) for cell in cells}


# -- known boards ---------------------------------------------------------------------------------------------

# Winner and number of player 0's winning openings: an independent program's table.
KNOWN = {
    (2, 2): (0, 2), (2, 3): (0, 6), (2, 4): (0, 8), (2, 5): (0, 10), (2, 6): (0, 12),
    (3, 2): (1, 0), (3, 3): (0, 2), (3, 4): (0, 8), (3, 5): (0, 15), (3, 6): (0, 18),
    (4, 2): (1, 0), (4, 3): (None, 0), (4, 4): (None, 0), (4, 5): (None, 0),
    (5, 2): (1, 0), (5, 3): (None, 0), (5, 4): (None, 0), (6, 2): (1, 0), (6, 3): (1, 0),
    **{(1, cols): (0, cols) for cols in range(1, 20)}, **{(rows, 1): (1, 0) for rows in range(2, 20)},
}  # fmt: skip


@pytest.mark.parametrize("board", KNOWN, ids=str)
def test_known_boards(board):
    found = solved(*board)
    winner, openings = KNOWN[board]
    assert found.winner == winner
    assert (len(found.openings) if winner == 0 else 0) == openings
    assert (found.policy is None) == (winner is None) and found.seconds < 60


def test_known_openings():
    assert names(solved(2, 2).openings, 2) == {"b1", "a2"}
    assert names(solved(3, 3).openings, 3) == {"c1", "a3"}
    # The openings that leave player 0 of 4x3 a chance when they are announced have known positive values; all
    # others are worth nothing, and an optimal strategy of a finite game that gives the other nothing always wins.
    chances = {"b2", "b3", "a2", "c3"}
    assert names(range(12), 3) - names(solved(4, 3).announced, 3) == chances
    assert solved(4, 4).announced == ()
    assert solved(6, 3).announced == tuple(range(18))  # who wins against secret openings wins against announced ones


@pytest.mark.parametrize("version", ["classical", "abrupt"])
@pytest.mark.parametrize("board", [(1, 1), (1, 3), (2, 1), (3, 1), (2, 2)], ids=str)
def test_sure_exactly_where_the_value_is_one(board, version):
    value = cfr.solve_lp(dark_hex_tree(*board, version)).value
    expected = 0 if value > 1 - 1e-9 else 1 if value < -1 + 1e-9 else None
    assert solved(*board, version).winner == expected


@pytest.mark.slow
@pytest.mark.parametrize("version", ["classical", "abrupt"])
@pytest.mark.parametrize("board", [(2, 3), (3, 2)], ids=str)
def test_sure_exactly_where_the_value_is_one_on_six_cells(board, version):
    test_sure_exactly_where_the_value_is_one(board, version)


# -- the slow way ----------------------------------------------------------------------------------------------


def as_mask(cells):
    return sum(1 << cell for cell in cells)


SMALL = [(1, 1), (1, 3), (3, 1), (2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3)]


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("board", SMALL, ids=str)
def test_every_position_of_the_oracle(board, player):
    oracle, search = Oracle(*board, player), Search(dark_hex(*board), player)
    assert oracle.from_the_start() == (search.probe(0, 0) is not None)
    for (own, known), verdicts in oracle.verdicts.items():
        assert verdicts == {search.probe(as_mask(own), as_mask(known)) is not None}
        # What is possible: any cells that are neither own nor found, as many as the enemy has left to place.
        hand = search.hand(as_mask(own), as_mask(known))
        rest = itertools.combinations(oracle.cells - own - known, hand)
        assert oracle.beliefs[own, known] == {frozenset(known.union(stones) for stones in rest)}


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("board", SMALL, ids=str)
def test_abrupt_whatever_is_announced(board, player):
    search = Search(dark_hex(*board, "abrupt"), player)
    silent, heard = (Oracle(*board, player, abrupt=True, heard=heard) for heard in (False, True))
    assert silent.from_the_start() == heard.from_the_start() == (search.probe(0, 0) is not None)
    for (own, known), verdicts in silent.verdicts.items():
        assert verdicts == {search.probe(as_mask(own), as_mask(known)) is not None}


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_distance_and_monotony(data):
    rows, cols, player = data.draw(st.sampled_from([(3, 3), (2, 4), (4, 2), (3, 4), (4, 3)])), 0, 0
    (rows, cols), player = rows, data.draw(st.integers(0, 1))
    cells = rows * cols
    owners = data.draw(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=cells, max_size=cells))
    own, known = (frozenset(c for c in range(cells) if owners[c] == who) for who in (1, 2))
    free = [c for c in range(cells) if owners[c] == 0]
    board, masks = board_words(rows, cols, player, False), (as_mask(own), as_mask(known))

    def fewest(stones, colour):
        return next((n for n in range(len(free) + 1) for more in itertools.combinations(free, n)
                     if winning_chain(stones.union(more), colour, rows, cols, "shortest")), cells + 1)

    assert own_distance(board, *masks, cells) == fewest(own, player)
    assert enemy_distance(board, *masks, cells) == fewest(known, 1 - player)
    search = monotonous_search(rows, cols, player)
    assume(search.hand(*masks) > 0 and free)
    wins = search.probe(*masks) is not None
    everything = (1 << cells) - 1
    assert (search.probe(*(int(f"{mask:0{cells}b}"[::-1], 2) & everything for mask in masks)) is not None) == wins
    if wins and own_distance(board, *masks, cells) > 0:
        # To have found one of the hidden stones more only helps.
        assert all(search.probe(masks[0], masks[1] | 1 << c) is not None for c in free)


@functools.cache
def monotonous_search(rows, cols, player):
    return Search(dark_hex(rows, cols), player)


# -- replays --------------------------------------------------------------------------------------------------


def games_against_everybody(game, policy):
    """Play the policy against all moves of the other player; positions that differ only in what he knows of his own
    past, which makes no difference to what he can do, are played once. Returns the number of games."""
    me, seen, ended = policy.player, set(), 0
    todo = [game.new_initial_state()]
    while todo:
        state = todo.pop()
        key = state.row[: BOARD + game.cells].tobytes() + state.information_tokens(me).tobytes()
        if key in seen:
            continue
        seen.add(key)
        if state.is_terminal():
            assert state.returns()[me] == 1, state.history()
            ended += 1
        elif state.current_player() == me:
            row = policy.probabilities(state)
            assert row.max() == 1 == row.sum()
            todo.append(state.child(int(row.argmax())))
        else:
            todo += [state.child(action) for action in state.legal_actions()]
    return ended


@pytest.mark.parametrize("board", [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3), (1, 5), (5, 1)], ids=str)
def test_wins_against_everybody(board):
    assert games_against_everybody(dark_hex(*board), solved(*board).policy) > 0


@pytest.mark.parametrize("info", ["numturns", "announce"])
@pytest.mark.parametrize("board", [(2, 2), (2, 3), (3, 2)], ids=str)
def test_wins_whatever_is_announced(board, info):
    assert games_against_everybody(dark_hex(*board, info=info), solved(*board, info=info).policy) > 0
    assert solved(*board, info=info).openings == solved(*board).openings


def ambusher(state, policy, rng):
    """An opponent who sees everything and knows the policy: he takes the cell that it will probe next, or completes
    his own chain as fast as he can, or wanders."""
    me, game = policy.player, state.game
    empty = np.flatnonzero(state.row[BOARD : BOARD + game.cells] == 0)
    kind = rng.integers(3)
    if kind == 0:
        view = game.view(state, me)
        cell = policy.action_at(*([c for c, colour in enumerate(view) if colour == who] for who in (me, 1 - me)))
        if cell in empty:
            return cell
    if kind == 1:
        owners = state.row[BOARD : BOARD + game.cells] & 3
        stones = [as_mask(np.flatnonzero(owners == who + 1).tolist()) for who in (1 - me, me)]
        board = board_words(game.rows, game.cols, 1 - me, False)
        return min(empty.tolist(), key=lambda c: own_distance(board, stones[0] | 1 << c, stones[1], game.cells))
    return int(rng.choice(state.legal_actions()))


@pytest.mark.parametrize("board", [(3, 4), (3, 6), (6, 3), (2, 9)], ids=str)
def test_wins_against_an_omniscient_opponent(board):
    game, policy = dark_hex(*board), solved(*board).policy
    for seed in range(60):
        rng, state = np.random.default_rng(seed), game.new_initial_state()
        while not state.is_terminal():
            mine = state.current_player() == policy.player
            state.apply_action(int(policy.probabilities(state).argmax()) if mine else ambusher(state, policy, rng))
        assert state.returns()[policy.player] == 1, state.history()


@pytest.mark.parametrize("board", [(3, 4), (3, 6), (6, 3), (2, 9), (9, 2)], ids=str)
def test_the_strategy_is_a_proof(board):
    """All that the strategy can lead to, checked without the search: it always knows on, and wherever the hidden
    stones are, they never make a chain."""
    rows, cols = board
    policy, player = solved(*board).policy, solved(*board).winner
    cells = range(rows * cols)
    led_to = {(0, 0)}
    for own, known, cell in zip(policy.own.tolist(), policy.known.tolist(), policy.action.tolist(), strict=True):
        assert (own, known) in led_to  # in the order of the stones on the board
        hand = own.bit_count() + player - known.bit_count()
        free = [c for c in cells if not (own | known) >> c & 1]
        assert cell in free and hand >= 0
        for hidden in itertools.combinations(free, hand):
            stones = {c for c in cells if known >> c & 1}.union(hidden)
            assert not winning_chain(stones, 1 - player, rows, cols, "shortest")
        if hand:
            led_to.add((own, known | 1 << cell))
        if not winning_chain([c for c in cells if (own | 1 << cell) >> c & 1], player, rows, cols, "shortest"):
            led_to.add((own | 1 << cell, known))
    assert len(led_to) == len(policy)


# -- in use -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("board", [(2, 2), (2, 3), (3, 2)], ids=str)
def test_nobody_gains_against_it(board):
    tree, found = dark_hex_tree(*board, "classical"), solved(*board)
    evaluation = cfr.evaluate(tree, found.policy)
    assert evaluation.best_response_values[1 - found.winner] == pytest.approx(-1, abs=1e-12)
    assert evaluation.values[found.winner] == pytest.approx(1, abs=1e-12)


def test_on_the_exact_engine():
    found, form = solved(2, 4), cfr.phantom_form(dark_hex(2, 4))
    evaluation = form.evaluate(form.behaviours_of(found.policy))
    assert evaluation.best_response_values[1] == pytest.approx(-1, abs=1e-12)
    with pytest.raises(cfr.PolicyMismatchError, match="rows=2,cols=2"):
        form.behaviours_of(solved(2, 2).policy)


def test_winning_actions_of_any_position():
    found, game = solved(4, 4), dark_hex(4, 4)
    assert found.winning_actions(game.new_initial_state()) == []
    state = game.state_from_string("a2 d4 d4x")  # luck: the only blue stone is found
    assert names(found.winning_actions(state), 4) == {"c2", "a4"}
    oracle, own, known = Oracle(4, 4, 0), frozenset([4]), frozenset([15])
    for cell in state.legal_actions():
        assert (cell in found.winning_actions(state)) == oracle.probe(own, known, frozenset([known]), cell)
    with pytest.raises(ValueError, match="rows=4,cols=4.*rows=3,cols=3"):
        found.winning_actions(dark_hex(3, 3).new_initial_state())
    state = dark_hex(1, 1).new_initial_state()
    state.apply_action(0)
    with pytest.raises(ValueError, match="finished game"):
        found.winning_actions(state)


def test_files(tmp_path):
    policy = solved(3, 3).policy
    again = cfr.load_policy(policy.save(tmp_path / "policy"))
    assert isinstance(again, cfr.SureWinPolicy) and (again.spec, again.player, len(again)) == (policy.spec, 0, 12)
    assert all((getattr(again, name) == getattr(policy, name)).all() for name in ("own", "known", "action"))
    state = dark_hex(3, 3).new_initial_state()
    assert again.action_probabilities(state)[again.action_at((), ())] == 1.0
    key = state.information_tokens(0).tobytes()
    assert again.knows(key, 0) and not again.knows(key, 1)
    assert again.probabilities(key, 1) == pytest.approx(np.full(9, 1 / 9))  # the other player: uniformly
    with pytest.raises(KeyError, match="never leads"):
        again.action_at((0,), (8,))
    with pytest.raises(cfr.PolicyMismatchError):
        again.probabilities(dark_hex(2, 2).new_initial_state())
    damaged = cfr.SureWinPolicy(dark_hex(3, 3), 0, policy.own, policy.known, policy.action * 0)
    with pytest.raises(cfr.StoredFileError, match="damaged"):
        cfr.load_policy(damaged.save(tmp_path / "damaged"))


def test_refusals():
    with pytest.raises(cfr.UnsupportedGameError, match="Dark Hex, not for hex"):
        cfr.sure_win(envs.make("hex", rows=3, cols=3))
    with pytest.raises(cfr.UnsupportedGameError, match="Dark Hex, not for phantom_ttt"):
        cfr.sure_win(envs.make("phantom_ttt"))
    with pytest.raises(cfr.UnsupportedGameError, match="64 cells.*at most 62"):
        cfr.sure_win(dark_hex(8, 8))
    with pytest.raises(cfr.TreeTooLargeError, match="positions.*limit"):
        cfr.sure_win(dark_hex(4, 5), memory_limit=200_000)
    with pytest.raises(ValueError, match="memory_limit"):
        cfr.sure_win(dark_hex(2, 2), memory_limit=0)
    with pytest.raises(ValueError, match="no position of player 0"):
        Search(dark_hex(2, 2), 0).probe(0, 1)


def test_progress_and_slices(monkeypatch):
    calls = []
    monkeypatch.setattr("cfr.sure_wins.search.SLICE", 100)
    found = cfr.sure_win(dark_hex(3, 6), progress=lambda player, positions: calls.append((player, positions)))
    assert found.openings == solved(3, 6).openings and len(calls) > 10
    assert calls == sorted(calls)


# -- larger boards ----------------------------------------------------------------------------------------------

LARGER = {(2, 12): 0, (12, 2): 1, (3, 8): 0, (8, 3): 1, (4, 6): None, (6, 4): None, (5, 5): None, (6, 6): None}


@pytest.mark.slow
@pytest.mark.parametrize("board", [(4, 7), (8, 3)], ids=str)
def test_the_strategy_is_a_proof_on_large_boards(board):
    test_the_strategy_is_a_proof(board)


@pytest.mark.slow
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("board", [(3, 4), (4, 3)], ids=str)
def test_every_position_of_the_oracle_on_twelve_cells(board, player):
    test_every_position_of_the_oracle(board, player)


@pytest.mark.slow
@pytest.mark.parametrize("board", LARGER, ids=str)
def test_larger_boards(board):
    assert solved(*board).winner == LARGER[board]
