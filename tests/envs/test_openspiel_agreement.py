"""Step-by-step agreement with OpenSpiel's own C++ games ``hex``, ``dark_hex`` and ``phantom_ttt``.

Compared at every position of many random games and of whole small trees: player to move, legal actions, end and
returns, and what the players know. OpenSpiel encodes a player's information as a tensor, we as a key and as another
tensor; they agree when each determines the others, that is, when they partition the histories in the same way.
"""

import numpy as np
import pytest

import envs

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

from envs.openspiel import native_game  # noqa: E402

DARK_SIZES = [(2, 2), (2, 3), (3, 2), (3, 3), (3, 4), (4, 3), (5, 5)]
HEX_SIZES = [(2, 2), (2, 3), (3, 2), (3, 3), (3, 5), (6, 4), (7, 7), (11, 11)]
# OpenSpiel has no abrupt game in which collisions are announced.
VARIANTS = [
    ("classical", "silent"),
    ("classical", "numturns"),
    ("classical", "announce"),
    ("abrupt", "silent"),
    ("abrupt", "numturns"),
]


class Partition:
    """Checks that several encodings of one player's information determine each other."""

    def __init__(self):
        self._seen = {}

    def add(self, *encodings):
        """Encodings (bytes) of one position; each must always come together with the same others."""
        for index, encoding in enumerate(encodings):
            assert self._seen.setdefault((index, encoding), encodings) == encodings, (
                f"encoding {index} {encoding!r} stands for two information states"
            )

    def count(self):
        return sum(1 for index, _ in self._seen if index == 0)


def same_position(ours, theirs):
    """What both must say of a position; True while the game runs."""
    assert ours.is_terminal() == theirs.is_terminal()
    assert ours.current_player() == theirs.current_player()
    assert ours.returns() == theirs.returns()
    if ours.is_terminal():
        assert ours.legal_actions() == []
        return False
    legal = ours.legal_actions()
    assert legal == theirs.legal_actions()
    mask = ours.legal_actions_mask()
    assert mask.size == ours.num_distinct_actions() == theirs.num_distinct_actions()
    assert np.flatnonzero(mask).tolist() == legal
    assert ours.legal_actions(1 - ours.current_player()) == []
    return True


def encodings(ours, theirs, player):
    return (
        ours.information_state_key(player),
        ours.information_state_tensor(player).tobytes(),
        np.asarray(theirs.information_state_tensor(player), dtype=np.float32).tobytes(),
    )


def pick(rng, legal, bold):
    """Uniform, or low-numbered cells preferred: then games meet in the same information states more often."""
    if bold:
        return int(rng.choice(legal))
    return legal[min(int(rng.geometric(0.6)) - 1, len(legal) - 1)]


def phantom_games(game, games, seed=0, strings=False):
    """Random games; ``strings``: OpenSpiel's strings must say the same as well. Returns the results that occurred."""
    native = native_game(game)
    assert native.max_game_length() == game.max_game_length()
    assert native.num_distinct_actions() == game.num_distinct_actions()
    rng = np.random.default_rng(seed)
    partitions = [Partition(), Partition()]
    results = set()
    for number in range(games):
        ours, theirs = game.new_initial_state(), native.new_initial_state()
        while same_position(ours, theirs):
            mover = ours.current_player()
            text = (theirs.information_state_string(mover).encode(),) if strings else ()
            partitions[mover].add(*encodings(ours, theirs, mover), *text)
            action = pick(rng, ours.legal_actions(), bold=number % 2)
            ours.apply_action(action)
            theirs.apply_action(action)
        results.add(ours.returns()[0])
    return results


def dark_games(rows, cols, version, info, games, seed=0):
    phantom_games(envs.make("dark_hex", rows=rows, cols=cols, version=version, info=info), games, seed)


@pytest.mark.parametrize("rows, cols", DARK_SIZES)
@pytest.mark.parametrize("version, info", VARIANTS)
def test_dark_hex_random_games(rows, cols, version, info):
    dark_games(rows, cols, version, info, games=150)


@pytest.mark.slow
@pytest.mark.parametrize("rows, cols", [(3, 3), (3, 4), (4, 3), (4, 4), (5, 5), (2, 7), (8, 6)])
@pytest.mark.parametrize("version, info", VARIANTS)
def test_dark_hex_many_random_games(rows, cols, version, info):
    dark_games(rows, cols, version, info, games=1500, seed=1)


@pytest.mark.parametrize("games", [250, pytest.param(4000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("version, info", VARIANTS)
def test_phantom_ttt_random_games(version, info, games):
    game = envs.make("phantom_ttt", version=version, info=info)
    assert phantom_games(game, games, seed=2, strings=True) == {1.0, 0.0, -1.0}


# Histories, terminal histories, terminal histories won by player 0, information sets of the two players
# (silent, and with the number of actions heard).
TREES = {
    (2, 2, "classical"): (441, 216, 48, (17, 53), (33, 101)),
    (2, 2, "abrupt"): (471, 234, 150, (59, 35), (59, 35)),
    (2, 3, "classical"): (104229, 53920, 16624, (697, 1811), (3373, 8349)),
    (2, 3, "abrupt"): (149953, 75578, 49010, (4033, 2725), (4033, 2725)),
    (3, 2, "classical"): (196357, 95760, 7056, (787, 3393), (3823, 16019)),
    (3, 2, "abrupt"): (245243, 122032, 70440, (5811, 3363), (5811, 3363)),
}


def walk(rows, cols, version, info, everywhere):
    """Compare the whole tree; ``everywhere``: also the information of the player who is not on turn."""
    game = envs.make("dark_hex", rows=rows, cols=cols, version=version, info=info)
    partitions, off_turn = [Partition(), Partition()], [Partition(), Partition()]
    nodes = terminals = wins = 0
    stack = [(game.new_initial_state(), native_game(game).new_initial_state())]
    while stack:
        ours, theirs = stack.pop()
        nodes += 1
        if not same_position(ours, theirs):
            terminals += 1
            wins += ours.returns()[0] > 0
            continue
        mover = ours.current_player()
        partitions[mover].add(*encodings(ours, theirs, mover))
        if everywhere:
            off_turn[1 - mover].add(*encodings(ours, theirs, 1 - mover))
        stack.extend((ours.child(a), theirs.child(a)) for a in ours.legal_actions())
    return nodes, terminals, wins, tuple(partition.count() for partition in partitions)


def check_tree(rows, cols, version, info):
    *counts, silent, heard = TREES[rows, cols, version]
    # Off turn, announce says more than OpenSpiel's count (the kind of each event), so only decisions compare.
    found = walk(rows, cols, version, info, everywhere=info != "announce")
    assert found == (*counts, silent if info == "silent" else heard)


@pytest.mark.parametrize("version, info", VARIANTS)
@pytest.mark.parametrize("rows, cols", [(2, 2)])
def test_dark_hex_small_trees(rows, cols, version, info):
    check_tree(rows, cols, version, info)


@pytest.mark.parametrize("version, info", [("classical", "silent"), ("abrupt", "numturns")])
def test_dark_hex_2x3_tree(version, info):
    check_tree(2, 3, version, info)


@pytest.mark.slow
@pytest.mark.parametrize("version, info", VARIANTS)
@pytest.mark.parametrize("rows, cols", [(2, 3), (3, 2)])
def test_dark_hex_larger_trees(rows, cols, version, info):
    check_tree(rows, cols, version, info)


# -- hex ----------------------------------------------------------------------------------------------------


def board_of(state):
    """Stones as OpenSpiel's plain text shows them: x red, o blue."""
    text = str(state).lower()
    return [symbol for symbol in text if symbol in "xo."]


def owners(state):
    return [{"R": "x", "B": "o", ".": "."}[symbol] for symbol in diagram(state)]


def diagram(state):
    lines = state.to_string().splitlines()[1:]
    return [cell for line in lines for cell in line.split()[1:]]


def hex_games(rows, cols, swap, games, seed=0):
    game = envs.make("hex", rows=rows, cols=cols, swap=swap)
    native = native_game(game)
    assert native.num_distinct_actions() == game.num_distinct_actions()
    rng = np.random.default_rng(seed)
    swaps = 0
    for number in range(games):
        ours, theirs = game.new_initial_state(), native.new_initial_state()
        while same_position(ours, theirs):
            legal = ours.legal_actions()
            swapping = legal[-1] == rows * cols and number % 2
            action = legal[-1] if swapping else int(rng.choice(legal))
            swaps += action == rows * cols
            ours.apply_action(action)
            theirs.apply_action(action)
            assert owners(ours) == board_of(theirs)
    return swaps


@pytest.mark.parametrize("rows, cols", HEX_SIZES)
def test_hex_random_games(rows, cols):
    assert hex_games(rows, cols, "off", games=80) == 0


@pytest.mark.parametrize("size", [2, 3, 4, 5, 7, 11])
def test_hex_random_games_with_swap(size):
    """OpenSpiel's swap is swap=pieces: the stone goes to the mirrored cell and player 0 moves next."""
    assert hex_games(size, size, "pieces", games=80) >= 40


@pytest.mark.slow
@pytest.mark.parametrize("rows, cols, swap", [(9, 9, "pieces"), (5, 5, "pieces"), (5, 8, "off"), (13, 13, "off")])
def test_hex_many_random_games(rows, cols, swap):
    hex_games(rows, cols, swap, games=1000, seed=1)


@pytest.mark.parametrize("rows, cols, swap", [(2, 2, "off"), (2, 2, "pieces"), (2, 3, "off"), (3, 2, "off")])
def test_hex_whole_trees(rows, cols, swap):
    game = envs.make("hex", rows=rows, cols=cols, swap=swap)
    stack = [(game.new_initial_state(), native_game(game).new_initial_state())]
    terminals = 0
    while stack:
        ours, theirs = stack.pop()
        if not same_position(ours, theirs):
            terminals += 1
            continue
        stack.extend((ours.child(a), theirs.child(a)) for a in ours.legal_actions())
    if swap == "off":
        assert terminals == {(2, 2): 24, (2, 3): 520, (3, 2): 600}[rows, cols]


# -- which games have a counterpart -------------------------------------------------------------------------


def test_games_without_a_counterpart():
    for game in (
        envs.make("hex", rows=3, rex=True),
        envs.make("hex", rows=3, cols=4, swap="sides"),
        envs.make("dark_hex", version="abrupt", info="announce"),
        envs.make("dark_hex", rows=1, cols=3, info="silent"),
        envs.make("hex", rows=4, cols=1),
        envs.make("phantom_ttt", version="abrupt"),
        envs.make("phantom_ttt", line=2, info="silent"),
        envs.make("phantom_ttt", rows=4, info="silent"),
    ):
        with pytest.raises(ValueError, match="OpenSpiel has no game with the rules of"):
            native_game(game)


def test_openspiel_overlooks_chains_of_one_stone():
    """Why boards of one row or column are left out: there one stone joins its colour's sides."""
    assert envs.make("hex", rows=1, cols=3).new_initial_state().child(1).is_terminal()
    assert not pyspiel.load_game("hex(num_rows=1,num_cols=3)").new_initial_state().child(1).is_terminal()


def test_openspiels_strings_count_the_opponents_probes():
    """Why tensors are compared: under reveal-nothing OpenSpiel's strings are finer than what a player knows."""
    native = native_game(envs.make("dark_hex", info="silent"))
    states = []
    for actions in ((4, 4, 7), (4, 7)):
        states.append(native.new_initial_state())
        for action in actions:
            states[-1].apply_action(action)
    assert states[0].information_state_tensor(0) == states[1].information_state_tensor(0)
    assert states[0].information_state_string(0) != states[1].information_state_string(0)
