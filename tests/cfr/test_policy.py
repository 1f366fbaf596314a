"""Tabular policies: asked by states and keys, saved and loaded, carried to OpenSpiel and back."""

from __future__ import annotations

import os
import zipfile

import numpy as np
import pytest
from cfr_cases import dark_hex_tree, openspiel_tree, random_policy

import cfr
import envs
from cfr.storage import load_arrays, save_arrays

ABRUPT = "dark_hex(num_rows=2,num_cols=2,gameversion=adh,obstype=reveal-nothing)"
CLASSICAL = "dark_hex(num_rows=2,num_cols=2,gameversion=cdh,obstype=reveal-nothing)"


def decisions(game):
    stack = [game.new_initial_state()]
    while stack:
        state = stack.pop()
        if state.is_terminal():
            continue
        if state.is_chance_node():
            actions = [action for action, _ in state.chance_outcomes()]
        else:
            yield state
            actions = state.legal_actions()
        stack.extend(state.child(action) for action in actions)


# -- asking -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tree", [lambda: dark_hex_tree(2, 2, "classical"), lambda: openspiel_tree("kuhn_poker")])
def test_probabilities_of_every_state(tree):
    tree = tree()
    policy = random_policy(tree, 0)
    behaviour = policy.behaviour(tree)
    for state in decisions(tree.game):
        player, infoset = tree.find(state)
        plex = tree.treeplexes[player]
        own = slice(plex.first_sequence[infoset], plex.first_sequence[infoset + 1])
        values = policy.probabilities(state)
        assert values.shape == (tree.num_actions,) and values.sum() == pytest.approx(1.0)
        assert np.array_equal(values[state.legal_actions()], behaviour[player][own])
        assert np.array_equal(policy.probabilities(tree.state_key(state, player), player), values)
        if tree.key_kind == "tokens":
            assert np.array_equal(policy.probabilities(state.information_state_key()), values)
        assert policy.action_probabilities(state, player) == {a: values[a] for a in state.legal_actions()}


def test_questions_that_have_no_answer():
    tree = dark_hex_tree(2, 2, "abrupt")
    policy = cfr.TabularPolicy.uniform(tree)
    state = tree.game.new_initial_state()
    with pytest.raises(ValueError, match="player 1 does not move here"):
        policy.probabilities(state, 1)
    with pytest.raises(ValueError, match="name the player"):
        policy.probabilities(b"")
    with pytest.raises(KeyError, match="no information set"):
        policy.probabilities(b"nonsense", 0)
    with pytest.raises(ValueError, match="the key is of player 0"):
        policy.probabilities(state.information_state_key(), 1)
    with pytest.raises(cfr.PolicyMismatchError, match="rows=3"):
        policy.probabilities(envs.make("dark_hex", rows=3).new_initial_state())
    state.apply_actions([0, 1, 2])  # player 0 has joined his sides
    with pytest.raises(ValueError, match="does not move here"):
        policy.probabilities(state)


def test_incomplete_policies_play_uniformly_what_they_lack():
    tree = dark_hex_tree(2, 2, "abrupt")
    full = random_policy(tree, 1)
    tables = []
    for table in full.tables:
        keys, stop = cfr.KeyTable.from_keys(list(table.keys)[:3]), table.first[3]
        tables.append(cfr.PlayerTable(keys, table.first[:4], table.actions[:stop], table.probabilities[:stop]))
    part = cfr.TabularPolicy(full.spec, full.key_kind, full.num_actions, tables, complete=False)
    uniform = cfr.TabularPolicy.uniform(tree).behaviour(tree)
    for player, plex in enumerate(tree.treeplexes):
        cut = plex.first_sequence[3]
        assert np.array_equal(part.behaviour(tree)[player][:cut], full.behaviour(tree)[player][:cut])
        assert np.array_equal(part.behaviour(tree)[player][cut:], uniform[player][cut:])
    for state in decisions(tree.game):
        assert part.probabilities(state).sum() == pytest.approx(1.0)
    claimed = cfr.TabularPolicy(full.spec, full.key_kind, full.num_actions, tables, complete=True)
    with pytest.raises(cfr.PolicyMismatchError, match="lacks information set"):
        cfr.nash_conv(tree, claimed)


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda a: a["probabilities"].__setitem__(0, -0.1), "negative"),
        (lambda a: a["probabilities"].__setitem__(0, np.nan), "nan"),
        (lambda a: a["probabilities"].__setitem__(0, 0.9), "add up"),
        (lambda a: a["actions"].__setitem__(0, 99), "outside"),
        (lambda a: a["first"].__setitem__(1, 0), "inconsistent"),
    ],
)
def test_tables_that_are_no_distributions(change, words):
    tree = dark_hex_tree(2, 2, "abrupt")
    table = cfr.TabularPolicy.uniform(tree).tables[0]
    arrays = {name: np.array(getattr(table, name)) for name in ("first", "actions", "probabilities")}
    change(arrays)
    with pytest.raises(ValueError, match=words):
        cfr.TabularPolicy(tree.spec, tree.key_kind, 4, [cfr.PlayerTable(table.keys, **arrays)])


# -- files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tree", [lambda: dark_hex_tree(2, 3, "abrupt"), lambda: openspiel_tree("leduc_poker")])
def test_saved_policies_come_back_equal(tree, tmp_path):
    tree = tree()
    policy = random_policy(tree, 2)
    path = policy.save(tmp_path / "sub" / "policy")
    assert path == tmp_path / "sub" / "policy.npz"
    again = cfr.TabularPolicy.load(tmp_path / "sub" / "policy", tree)
    assert cfr.TabularPolicy.load(path, tree.game).spec == policy.spec
    for mine, its in zip(policy.behaviour(tree), again.behaviour(tree), strict=True):
        assert np.array_equal(mine, its)
    assert np.load(path)["probabilities_0"].dtype == np.float64  # an ordinary npz
    with zipfile.ZipFile(path) as archive:
        assert tree.spec in archive.read("header.json").decode()


def test_wrong_files_are_named(tmp_path):
    tree = dark_hex_tree(2, 2, "abrupt")
    path = cfr.TabularPolicy.uniform(tree).save(tmp_path / "policy.npz")
    with pytest.raises(cfr.PolicyMismatchError, match=r"policy\.npz.*version=abrupt.*version=classical"):
        cfr.TabularPolicy.load(path, envs.make("dark_hex", rows=2, cols=2, version="classical", info="silent"))
    with pytest.raises(FileNotFoundError, match=r"nowhere\.npz"):
        cfr.TabularPolicy.load(tmp_path / "nowhere")
    checkpoint = cfr.make_solver("cfr", tree).save(tmp_path / "checkpoint")
    with pytest.raises(cfr.StoredFileError, match=r"checkpoint\.npz.*cfr_checkpoint"):
        cfr.TabularPolicy.load(checkpoint)
    with pytest.raises(cfr.StoredFileError, match="tabular_policy"):
        cfr.make_solver("cfr", tree).load(path)
    header, arrays = load_arrays(path, "tabular_policy", 1)
    header = {k: v for k, v in header.items() if k not in ("kind", "format")}
    future = save_arrays(tmp_path / "future", "tabular_policy", 99, header, arrays)
    with pytest.raises(cfr.StoredFileError, match=r"future\.npz.*format"):
        cfr.TabularPolicy.load(future)
    del arrays["first_1"]
    damaged = save_arrays(tmp_path / "damaged", "tabular_policy", 1, header, arrays)
    with pytest.raises(cfr.StoredFileError, match=r"damaged\.npz"):
        cfr.TabularPolicy.load(damaged)


def test_damaged_files_are_named(tmp_path):
    path = random_policy(dark_hex_tree(2, 2, "abrupt"), 0).save(tmp_path / "policy.npz")
    content = path.read_bytes()
    for length in range(0, len(content), max(1, len(content) // 40)):
        path.write_bytes(content[:length])
        with pytest.raises(cfr.StoredFileError, match=r"policy\.npz"):
            cfr.TabularPolicy.load(path)
    path.write_text("not an archive")
    with pytest.raises(cfr.StoredFileError, match=r"policy\.npz"):
        cfr.TabularPolicy.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", "[]")
    with pytest.raises(cfr.StoredFileError, match=r"policy\.npz"):
        cfr.TabularPolicy.load(path)


def test_flipped_bytes_are_noticed(tmp_path):
    policy = random_policy(dark_hex_tree(2, 2, "abrupt"), 0)
    path = policy.save(tmp_path / "policy.npz")
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("probabilities_0.npy")
    content = bytearray(path.read_bytes())
    content[info.header_offset + 30 + len(info.filename) + 40] ^= 255
    path.write_bytes(content)
    with pytest.raises(cfr.StoredFileError, match=r"policy\.npz"):
        cfr.TabularPolicy.load(path)


@pytest.mark.parametrize("step", ["write", "replace"])
def test_the_previous_file_survives_a_failure(step, tmp_path, monkeypatch):
    tree = dark_hex_tree(2, 2, "abrupt")
    path = cfr.TabularPolicy.uniform(tree).save(tmp_path / "policy.npz")
    before = path.read_bytes()

    def fail(*_args, **_kwargs):
        raise OSError("no space left on device")

    if step == "write":
        monkeypatch.setattr(np.lib.format, "write_array", fail)
    else:
        monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        random_policy(tree, 1).save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["policy.npz"]


# -- OpenSpiel ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, version", [(ABRUPT, "abrupt"), (CLASSICAL, "classical")])
@pytest.mark.parametrize("source", ["ours", "theirs"])
def test_there_and_back(name, version, source):
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_game(name)
    tree = dark_hex_tree(2, 2, version) if source == "ours" else openspiel_tree(name)
    policy = random_policy(tree, 5)
    exported = policy.to_openspiel(game)
    strings = {state.information_state_string() for state in decisions(game)}
    assert set(exported.policy_table()) == strings
    assert len(strings) == (94 if version == "abrupt" else 134)  # finer than the 70 information sets of classical
    imported = cfr.TabularPolicy.from_openspiel(exported, tree, game)
    for mine, its in zip(policy.behaviour(tree), imported.behaviour(tree), strict=True):
        assert np.abs(mine - its).max() <= 1e-15
    if version == "abrupt":
        assert pyspiel.nash_conv(game, exported) == pytest.approx(cfr.nash_conv(tree, policy), abs=1e-12)


def test_import_from_openspiels_python_policies():
    pytest.importorskip("pyspiel")
    from open_spiel.python import policy as openspiel_policy

    tree = openspiel_tree("leduc_poker")
    imported = cfr.TabularPolicy.from_openspiel(openspiel_policy.TabularPolicy(tree.game), tree)
    uniform = cfr.TabularPolicy.uniform(tree)
    for mine, its in zip(uniform.behaviour(tree), imported.behaviour(tree), strict=True):
        assert np.allclose(mine, its)


def test_export_to_our_own_game_in_openspiel():
    pytest.importorskip("pyspiel")
    import envs.openspiel

    tree = dark_hex_tree(2, 2, "abrupt", "announce")  # OpenSpiel has no such game
    with pytest.raises(ValueError, match="announce"):
        envs.openspiel.native_game(tree.game)
    registered = envs.openspiel.load_game(tree.game)
    policy = random_policy(tree, 6)
    theirs = cfr.TabularPolicy.from_openspiel(policy.to_openspiel(registered), cfr.build_tree(registered))
    assert cfr.nash_conv(cfr.build_tree(registered), theirs) == pytest.approx(cfr.nash_conv(tree, policy), abs=1e-12)


@pytest.mark.parametrize("source", ["ours", "theirs"])
def test_import_refuses_what_players_cannot_tell_apart(source):
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_game(CLASSICAL)
    tree = dark_hex_tree(2, 2, "classical") if source == "ours" else openspiel_tree(CLASSICAL)
    table = {}
    for state in decisions(game):
        legal = state.legal_actions()
        weights = np.random.default_rng(len(table)).dirichlet(np.ones(len(legal)))
        table.setdefault(state.information_state_string(), list(zip(legal, weights, strict=True)))
    with pytest.raises(cfr.PolicyMismatchError, match="cannot") as caught:
        cfr.TabularPolicy.from_openspiel(pyspiel.TabularPolicy(table), tree)
    named = [name for name in table if repr(name) in str(caught.value)]
    assert len(named) == 2


def test_import_refuses_gaps_and_nonsense():
    pyspiel = pytest.importorskip("pyspiel")
    tree = openspiel_tree("kuhn_poker")
    table = cfr.TabularPolicy.uniform(tree).to_openspiel(tree.game).policy_table()
    gap = dict(table)
    gap.pop("0pb")
    with pytest.raises(cfr.PolicyMismatchError, match="no entry.*0pb"):
        cfr.TabularPolicy.from_openspiel(pyspiel.TabularPolicy(gap), tree)
    with pytest.raises(cfr.PolicyMismatchError, match="no distribution.*0pb"):
        cfr.TabularPolicy.from_openspiel(pyspiel.TabularPolicy({**table, "0pb": [(0, 0.3), (1, 0.3)]}), tree)


def test_games_that_differ_are_told():
    pyspiel = pytest.importorskip("pyspiel")
    policy = cfr.TabularPolicy.uniform(dark_hex_tree(2, 2, "classical"))
    with pytest.raises(cfr.PolicyMismatchError, match="differ after the actions"):
        policy.to_openspiel(pyspiel.load_game(ABRUPT))
    kuhn = cfr.TabularPolicy.uniform(openspiel_tree("kuhn_poker"))
    with pytest.raises(cfr.PolicyMismatchError, match="leduc"):
        kuhn.to_openspiel(pyspiel.load_game("leduc_poker"))
    with pytest.raises(cfr.PolicyMismatchError, match="kuhn"):
        cfr.TabularPolicy.from_openspiel(kuhn, openspiel_tree("leduc_poker"), pyspiel.load_game("kuhn_poker"))
