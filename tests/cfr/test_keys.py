"""Key tables: every key is found at its place, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfr.keys import KeyTable


@given(st.lists(st.binary(max_size=6), unique=True), st.lists(st.binary(max_size=6)))
def test_find(keys, wanted):
    table = KeyTable.from_keys(keys)
    assert list(table) == keys and len(table) == len(keys)
    place = {key: i for i, key in enumerate(keys)}
    assert [table.find(key) for key in wanted] == [place.get(key, -1) for key in wanted]
    assert table.find_all(KeyTable.from_keys(list(dict.fromkeys(wanted)))).tolist() == [
        place.get(key, -1) for key in dict.fromkeys(wanted)
    ]


def test_repeated_keys_are_refused():
    with pytest.raises(ValueError, match="twice"):
        KeyTable.from_keys([b"a", b"b", b"a"]).find(b"b")


def test_offsets_must_fit_the_data():
    for offsets in ([0, 2, 1, 3], [0, 4], [1, 3], []):
        with pytest.raises(ValueError, match="offsets"):
            KeyTable(np.zeros(3, dtype=np.uint8), np.array(offsets))


def test_equality_is_by_content_and_order():
    assert KeyTable.from_keys([b"a", b"bc"]) == KeyTable.from_keys([b"a", b"bc"])
    assert KeyTable.from_keys([b"a", b"bc"]) != KeyTable.from_keys([b"ab", b"c"])
    assert KeyTable.from_keys([b"a", b"bc"]) != KeyTable.from_keys([b"bc", b"a"])
