"""Enumeration: counts, structure, identity of information sets, refusal of what does not fit."""

from __future__ import annotations

import time

import numpy as np
import pytest
from cfr_cases import dark_hex_tree, openspiel_tree

import cfr
import envs
from cfr.memory import estimate_size
from cfr.tree import game_from_spec, game_spec

# Board: histories, terminals, infosets of the players when nothing is announced.
SILENT = {
    (2, 2, "classical"): (441, 216, (17, 53)),
    (2, 2, "abrupt"): (471, 234, (59, 35)),
    (2, 3, "classical"): (104_229, 53_920, (697, 1_811)),
    (2, 3, "abrupt"): (149_953, 75_578, (4_033, 2_725)),
    (3, 2, "classical"): (196_357, 95_760, (787, 3_393)),
    (3, 2, "abrupt"): (245_243, 122_032, (5_811, 3_363)),
}
ANNOUNCE = {
    (2, 1, "classical"): (1, 3),
    (2, 1, "abrupt"): (3, 1),
    (2, 2, "classical"): (33, 101),
    (2, 2, "abrupt"): (97, 49),
    (2, 3, "classical"): (3_373, 8_349),
    (2, 3, "abrupt"): (13_277, 7_627),
    (3, 2, "classical"): (3_823, 16_019),
    (3, 2, "abrupt"): (21_369, 10_039),
}


@pytest.mark.parametrize("board", SILENT)
def test_dark_hex_counts(board):
    tree = dark_hex_tree(*board)
    histories, terminals, infosets = SILENT[board]
    assert (tree.num_histories, tree.num_terminals, tree.num_infosets) == (histories, terminals, infosets)
    assert tree.zero_sum and tree.num_players == 2


@pytest.mark.parametrize("board", ANNOUNCE)
def test_dark_hex_counts_with_announcements(board):
    assert dark_hex_tree(*board, info="announce").num_infosets == ANNOUNCE[board]
    turns_tell_all = board[2] == "classical"
    silent = SILENT[board][2] if board in SILENT else ANNOUNCE[board]
    assert dark_hex_tree(*board, info="numturns").num_infosets == (ANNOUNCE[board] if turns_tell_all else silent)


@pytest.mark.parametrize(
    "name, histories, terminals, infosets",
    [
        ("kuhn_poker", 58, 30, (6, 6)),
        ("kuhn_poker(players=3)", 617, 312, (16, 16, 16)),
        ("leduc_poker", 9_457, 5_520, (468, 468)),
        ("dark_hex(num_rows=2,num_cols=2,gameversion=cdh,obstype=reveal-nothing)", 441, 216, (17, 53)),
        ("dark_hex(num_rows=2,num_cols=3,gameversion=cdh,obstype=reveal-nothing)", 104_229, 53_920, (697, 1_811)),
        ("dark_hex(num_rows=2,num_cols=3,gameversion=adh,obstype=reveal-nothing)", 149_953, 75_578, (4_033, 2_725)),
        ("dark_hex(num_rows=2,num_cols=2,gameversion=cdh,obstype=reveal-numturns)", 441, 216, (33, 101)),
    ],
)
def test_openspiel_counts(name, histories, terminals, infosets):
    tree = openspiel_tree(name)
    assert (tree.num_histories, tree.num_terminals, tree.num_infosets) == (histories, terminals, infosets)


def test_liars_dice_counts():
    tree = openspiel_tree("liars_dice")
    assert (tree.num_histories, tree.num_infosets) == (294_883, (12_288, 12_288))


def test_our_game_registered_in_openspiel_gives_the_same_tree():
    pyspiel = pytest.importorskip("pyspiel")
    import envs.openspiel

    game = envs.make("dark_hex", rows=2, cols=2, version="abrupt", info="silent")
    theirs = cfr.build_tree(pyspiel.load_game(envs.openspiel.openspiel_name(game)))
    ours = dark_hex_tree(2, 2, "abrupt")
    assert theirs.num_infosets == ours.num_infosets and theirs.num_histories == ours.num_histories
    for mine, its in zip(ours.treeplexes, theirs.treeplexes, strict=True):
        assert np.array_equal(mine.parent_sequence, its.parent_sequence)
        assert np.array_equal(mine.actions, its.actions)
    for mine, its in zip(ours.payoffs, theirs.payoffs, strict=True):
        assert np.array_equal(mine.others, its.others) and np.array_equal(mine.value, its.value)


@pytest.mark.parametrize("tree", [lambda: dark_hex_tree(2, 3, "abrupt"), lambda: openspiel_tree("leduc_poker")])
def test_sequence_form_is_well_formed(tree):
    tree = tree()
    for player, plex in enumerate(tree.treeplexes):
        owner = plex.infoset_of_sequence
        assert (owner[plex.parent_sequence] < np.arange(plex.num_infosets)).all()  # ancestors first
        assert plex.first_sequence[0] == 1 and plex.first_sequence[-1] == plex.num_sequences
        assert len({bytes(key) for key in plex.keys}) == plex.num_infosets == len(plex.keys)
        payoffs = tree.payoffs[player]
        rows = np.repeat(np.arange(plex.num_sequences), np.diff(payoffs.start))
        pairs = np.stack([rows, payoffs.others[0]])
        assert np.unique(pairs, axis=1).shape == pairs.shape  # equal last sequences are merged
    assert np.isclose(tree.payoffs[0].value.sum(), -tree.payoffs[1].value.sum())


def test_every_state_is_found_in_the_tree():
    tree = dark_hex_tree(2, 2, "abrupt")
    stack = [tree.game.new_initial_state()]
    found = set()
    while stack:
        state = stack.pop()
        if state.is_terminal():
            with pytest.raises(KeyError):
                tree.find(state)
            continue
        player, infoset = tree.find(state)
        found.add((player, infoset))
        plex = tree.treeplexes[player]
        own = plex.actions[plex.first_sequence[infoset] : plex.first_sequence[infoset + 1]]
        assert own.tolist() == state.legal_actions()
        stack.extend(state.child(action) for action in state.legal_actions())
    assert len(found) == sum(tree.num_infosets)


@pytest.mark.parametrize("source", ["kernels", "openspiel"])
def test_histories_are_the_game_tree(source):
    if source == "kernels":
        tree = dark_hex_tree(2, 2, "classical", keep_histories=True)
    else:
        tree = openspiel_tree("kuhn_poker", keep_histories=True)
    nodes = tree.histories
    stack, count = [(tree.game.new_initial_state(), 0)], 0
    while stack:
        state, node = stack.pop()
        count += 1
        children = nodes.children[nodes.first_child[node] : nodes.first_child[node + 1]]
        assert (nodes.parent[children] == node).all()
        assert nodes.player[node] == state.current_player()
        if state.is_terminal():
            assert nodes.returns[node].tolist() == list(state.returns())
            actions = []
        elif state.is_chance_node():
            actions, chances = zip(*state.chance_outcomes(), strict=True)
            assert np.allclose(nodes.chance[nodes.first_child[node] : nodes.first_child[node + 1]], chances)
        else:
            assert tree.find(state) == (nodes.player[node], nodes.infoset[node])
            actions = state.legal_actions()
        stack.extend((state.child(action), child) for action, child in zip(actions, children, strict=True))
    assert count == tree.num_histories == nodes.player.size


# -- games that are refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, error, words",
    [
        ("matching_pennies_3p", cfr.UnsupportedGameError, "convert_to_turn_based"),
        ("mfg_crowd_modelling", cfr.UnsupportedGameError, "mean_field"),
        ("backgammon", cfr.UnsupportedGameError, "information_state_string"),
        ("dark_hex_ir(board_size=2)", cfr.PerfectRecallError, "perfect recall"),
    ],
)
def test_unsupported_openspiel_games(name, error, words):
    pyspiel = pytest.importorskip("pyspiel")
    with pytest.raises(error, match=words):
        cfr.build_tree(pyspiel.load_game(name))


def test_dark_hex_strings_lack_perfect_recall():
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_game("dark_hex(num_rows=2,num_cols=3,gameversion=cdh,obstype=reveal-nothing)")
    with pytest.raises(cfr.PerfectRecallError, match='key="tensor"'):
        cfr.build_tree(game, key="string")
    with pytest.raises(ValueError, match='"auto", "string", "tensor"'):
        cfr.build_tree(game, key="hash")


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match=r"envs\.make"):
        cfr.build_tree("kuhn_poker")


@pytest.mark.parametrize("rows, version", [(3, "classical"), (3, "abrupt"), (11, "classical"), (19, "abrupt")])
def test_large_boards_are_refused_at_once(rows, version):
    game = envs.make("dark_hex", rows=rows, version=version, info="silent")
    start = time.perf_counter()
    with pytest.raises(cfr.TreeTooLargeError, match="make_sampler") as caught:
        cfr.build_tree(game, memory_limit=16 * 2**30)
    assert time.perf_counter() - start < 5.0
    assert game.spec() in str(caught.value) and caught.value.needed > caught.value.limit == 16 * 2**30


@pytest.mark.parametrize("size", [3, 11])
def test_large_openspiel_boards_are_refused_at_once(size):
    pyspiel = pytest.importorskip("pyspiel")
    with pytest.raises(MemoryError, match="does not fit"):
        cfr.build_tree(pyspiel.load_game(f"dark_hex(num_rows={size},num_cols={size})"), memory_limit=16 * 2**30)


@pytest.mark.parametrize("limit", [2 * 2**20, 12 * 2**20])
def test_memory_limit_holds_while_building(limit):
    """The estimate for 3x2 is about 8 MiB: refused before, or stopped on the way."""
    with pytest.raises(cfr.TreeTooLargeError, match="limit is"):
        cfr.build_tree(envs.make("dark_hex", rows=3, cols=2, version="abrupt", info="announce"), memory_limit=limit)
    with pytest.raises(ValueError, match="memory_limit"):
        cfr.build_tree(envs.make("dark_hex", rows=2, cols=2), memory_limit=0)


def test_size_estimates_are_close():
    for (rows, cols, version), (histories, terminals, _) in SILENT.items():
        estimate = estimate_size(envs.make("dark_hex", rows=rows, cols=cols, version=version, info="silent"))
        assert abs(10**estimate.log10_terminals / terminals - 1) < 5 * estimate.relative_error + 0.01
        assert abs(10**estimate.log10_histories / histories - 1) < 5 * estimate.relative_error + 0.01
    classical = estimate_size(envs.make("dark_hex", rows=3, cols=3, version="classical", info="silent"))
    assert abs(10**classical.log10_terminals / 9_469_697_760 - 1) < 5 * classical.relative_error


def test_specs_describe_games_both_ways():
    pyspiel = pytest.importorskip("pyspiel")
    for game in [
        envs.make("dark_hex", rows=2, cols=3, version="abrupt"),
        envs.make("hex", rows=3, rex=True),
        pyspiel.load_game("kuhn_poker(players=3)"),
        pyspiel.load_game("turn_based_simultaneous_game(game=goofspiel(num_cards=3))"),
    ]:
        assert game_spec(game_from_spec(game_spec(game))) == game_spec(game)
    with pytest.raises(ValueError, match="does not describe a game"):
        game_from_spec("nonsense")
