"""Dark Hex against its rules' transcripts and tables; keys with perfect recall that tell nothing hidden."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import envs
from envs.games import hex_board as board

COUNTS = {  # nodes, terminals, won by player 0; information sets (P0, P1) silent, numturns, announce
    (2, 1, "classical"): ((9, 4, 0), (1, 3), (1, 3), (1, 3)),
    (2, 1, "abrupt"): ((9, 4, 2), (3, 1), (3, 1), (3, 1)),
    (2, 2, "classical"): ((441, 216, 48), (17, 53), (33, 101), (33, 101)),
    (2, 2, "abrupt"): ((471, 234, 150), (59, 35), (59, 35), (97, 49)),
}


def walk(game):
    """Every state of a small game, by the plain State."""
    todo = [game.new_initial_state()]
    while todo:
        state = todo.pop()
        yield state
        todo += [state.child(a) for a in state.legal_actions()]


@pytest.mark.parametrize("size", COUNTS)
@pytest.mark.parametrize("info", ["silent", "numturns", "announce"])
def test_tree_counts(size, info):
    game = envs.make("dark_hex", rows=size[0], cols=size[1], version=size[2], info=info)
    nodes = terminals = wins = 0
    keys = (set(), set())
    for state in walk(game):
        nodes += 1
        if state.is_terminal():
            terminals += 1
            wins += state.returns()[0] > 0
        else:
            keys[state.current_player()].add(state.information_state_key())
    assert (nodes, terminals, wins) == COUNTS[size][0]
    expected = COUNTS[size][1 + ("silent", "numturns", "announce").index(info)]
    assert (len(keys[0]), len(keys[1])) == expected


def test_transcripts():
    game = envs.make("dark_hex", rows=3)
    state = game.state_from_string("b2 b2\u00d7 a1 a1\u00d7 b1")
    assert state.current_player() == 1
    assert board.parse_diagram(state.to_string(0), 3, 3, "RB.") == list("BR.") + list(".R.") + list("...")
    assert board.parse_diagram(state.to_string(1), 3, 3, "RB.") == list("B..") + list(".R.") + list("...")
    assert set(state.legal_actions()) == set(range(9)) - {0, 4}
    state.apply_actions([6, 7])
    assert state.returns() == [1.0, -1.0] and state.witness() == (1, 4, 7)

    state = envs.make("dark_hex", rows=3, version="abrupt").state_from_string("b2 b2x a1")
    assert state.current_player() == 1
    assert board.parse_diagram(state.to_string(1), 3, 3, "RB.") == list("...") + list(".R.") + list("...")

    for version, moves, winner, length in (
        ("classical", "b1 a2 a2x b2", 0, 4),
        ("abrupt", "b1 a2 a2x b2", 1, 4),
        ("classical", "a1 a1x b1 b1x b2 b2x a2", 1, 7),
        ("abrupt", "a1 a1x b1 a2 a2x b1x b2", 0, 7),
    ):
        game = envs.make("dark_hex", rows=2, version=version)
        state = game.state_from_string(moves)
        assert state.is_terminal() and state.returns()[winner] == 1.0
        assert len(state.history()) == length <= game.max_game_length()


def test_keys_depend_on_the_own_past_alone():
    """Total turn counts of the opponent must not enter a silent key."""
    game = envs.make("dark_hex", rows=3, info="silent")

    def key(actions, player):
        state = game.new_initial_state()
        state.apply_actions(actions)
        return state.information_state_key(player)

    assert key([4, 4, 7], 0) == key([4, 7], 0)
    game = envs.make("dark_hex", rows=2, cols=3, info="silent")
    along = [[], [], []]
    for i, actions in enumerate(([0, 1, 2, 0, 3], [0, 0, 1, 2, 3])):
        state = game.new_initial_state()
        for action in actions:
            if state.current_player() == 0:
                along[i].append(state.information_state_key(0))
            state.apply_action(action)
        along[i].append(state.information_state_key(0))
    assert along[0] == along[1]


@pytest.mark.parametrize("version", ["classical", "abrupt"])
@pytest.mark.parametrize("info", ["silent", "numturns", "announce"])
@pytest.mark.parametrize("size", [(2, 2), (1, 4), (3, 1)])
def test_perfect_recall(version, info, size):
    """All states of an information set share the player's own earlier sets and actions."""
    game = envs.make("dark_hex", rows=size[0], cols=size[1], version=version, info=info)
    past = defaultdict(set)

    def visit(state, trails):
        if state.is_terminal():
            return
        player = state.current_player()
        key = state.information_state_key()
        past[key].add(trails[player])
        for action in state.legal_actions():
            longer = list(trails)
            longer[player] = trails[player] + ((key, action),)
            visit(state.child(action), tuple(longer))

    visit(game.new_initial_state(), ((), ()))
    assert all(len(trails) == 1 for trails in past.values())


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 6), st.integers(1, 6), st.sampled_from(["classical", "abrupt"]),
    st.sampled_from(["silent", "numturns", "announce"]), st.integers(0, 2**32 - 1),
)
def test_properties_of_random_games(rows, cols, version, info, seed):
    game = envs.make("dark_hex", rows=rows, cols=cols, version=version, info=info)
    rng = np.random.default_rng(seed)
    state = game.new_initial_state()
    true = [None] * game.cells
    known = [set(), set()]  # cells each player knows to be occupied
    while not state.is_terminal():
        player = state.current_player()
        assert state.legal_actions() == [c for c in range(game.cells) if c not in known[player]]
        assert state.legal_actions(1 - player) == []
        assert state.legal_actions()  # there is always a move
        action = int(rng.choice(state.legal_actions()))
        collision = true[action] is not None
        state.apply_action(action)
        known[player].add(action)
        if not collision:
            true[action] = player
        if not state.is_terminal():
            assert state.current_player() == (player if collision and game.classical else 1 - player)
        for p in (0, 1):
            view = game.view(state, p)
            assert {c for c, x in enumerate(view) if x is not None} == known[p]
            assert all(x is None or x == true[c] for c, x in enumerate(view))
    assert len(state.history()) <= game.max_game_length()
    assert sorted(state.returns()) == [-1.0, 1.0]


@pytest.mark.parametrize("version", ["classical", "abrupt"])
@pytest.mark.parametrize("info", ["silent", "numturns", "announce"])
@pytest.mark.parametrize("view", [False, True])
def test_layout_covers_the_observation(version, info, view):
    game = envs.make("dark_hex", rows=2, cols=3, version=version, info=info)
    layout = game.observation_layout(view)
    assert layout[0][1] == 0 and all(a[2] == b[1] for a, b in zip(layout, layout[1:], strict=False))
    state = game.state_from_string("a1 b1 b1x" if version == "abrupt" else "a1 a1x b1")
    for player in (0, 1):
        tensor = state.observation_tensor(player) if view else state.information_state_tensor(player)
        assert tensor.shape == (game.observation_size(view),) and tensor.dtype == np.float32
        seat = next(part for part in layout if part[0] == "seat")
        assert tensor[seat[1] : seat[2]].tolist() == [float(player == 0), float(player == 1)]


def test_illegal_action_leaves_the_state():
    state = envs.make("dark_hex", rows=3).state_from_string("b2 b2x")
    before = state.clone()
    for action in (4, -1, 9, 2.5, "b1", None, True):
        with pytest.raises(envs.IllegalActionError, match=r"player 1.*legal actions are \[0, 1, 2, 3, 5"):
            state.apply_action(action)
        assert state == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"swap": "pieces"}, "no parameter 'swap'"),
        ({"rex": True}, "no parameter 'rex'"),
        ({"version": "classic"}, "classical, abrupt"),
        ({"info": "loud"}, "announce, numturns, silent"),
        ({"rows": 20}, "1 to 19"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        envs.make("dark_hex", **parameters)


def test_marked_move_must_collide():
    with pytest.raises(ValueError, match="b2 is empty"):
        envs.make("dark_hex", rows=3).state_from_string("a1 b2x")
