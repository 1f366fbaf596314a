"""A player's key, string and information-state tensor stand for the same thing, on whole trees of every variant."""

import pytest

import envs


def differing(name, rows, cols, version, info):
    """Counts of distinct keys, strings, tensors and triples of them, over both players and all positions."""
    game = envs.make(name, rows=rows, cols=cols, version=version, info=info)
    keys, strings, tensors, triples = set(), set(), set(), set()
    stack = [game.new_initial_state()]
    while stack:
        state = stack.pop()
        for player in range(2):
            key = state.information_state_key(player)
            string = state.information_state_string(player)
            tensor = state.information_state_tensor(player).tobytes()
            keys.add(key)
            strings.add(string)
            tensors.add(tensor)
            triples.add((key, string, tensor))
        stack.extend(state.child(action) for action in state.legal_actions())
    return len(keys), len(strings), len(tensors), len(triples)


@pytest.mark.parametrize("version", ["classical", "abrupt"])
@pytest.mark.parametrize("info", ["silent", "numturns", "announce"])
@pytest.mark.parametrize("rows, cols", [(1, 2), (2, 1), (2, 2), (1, 4), pytest.param(2, 3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["dark_hex", "phantom_ttt"])
def test_encodings_determine_each_other(name, rows, cols, version, info):
    assert len(set(differing(name, rows, cols, version, info))) == 1
