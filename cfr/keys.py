"""Keys of information sets, packed: byte strings in one array, found by hash and compared in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numba import types

from envs.kernels import helper, kernel

BYTES = types.Array(types.uint8, 1, "C")
I64 = types.Array(types.int64, 1, "C")


@helper
def hash_of(data, start, stop):
    """FNV-1a of ``data[start:stop]`` (integers >= 0), folded so that the low bits depend on all of them."""
    h = np.uint64(14695981039346656037)
    for i in range(start, stop):
        h = (h ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return h ^ (h >> np.uint64(32))


@helper
def _probe(data, offsets, slots, key, start, stop):
    """Slot that holds ``key[start:stop]``, or the free slot where it belongs."""
    mask = np.uint64(slots.size - 1)
    at = hash_of(key, start, stop) & mask
    while True:
        index = slots[np.int64(at)]
        if index < 0:
            return np.int64(at)
        first = offsets[index]
        if offsets[index + 1] - first == stop - start:
            same = True
            for i in range(stop - start):
                if data[first + i] != key[start + i]:
                    same = False
                    break
            if same:
                return np.int64(at)
        at = (at + np.uint64(1)) & mask


@kernel(types.int64(BYTES, I64, I64))
def _fill(data, offsets, slots):
    """Enter all keys into the empty ``slots``; returns the first repeated key, or -1."""
    for index in range(offsets.size - 1):
        at = _probe(data, offsets, slots, data, offsets[index], offsets[index + 1])
        if slots[at] >= 0:
            return index
        slots[at] = index
    return -1


@kernel(types.void(BYTES, I64, I64, BYTES, I64, I64))
def _find_many(data, offsets, slots, wanted, wanted_offsets, out):
    for i in range(wanted_offsets.size - 1):
        out[i] = slots[_probe(data, offsets, slots, wanted, wanted_offsets[i], wanted_offsets[i + 1])]


class KeyTable:
    """A list of distinct byte strings: ``table[i]``, ``table.find(key) -> i or -1``.

    ``data`` uint8[sum of lengths], ``offsets`` int64[n + 1]: key i is ``data[offsets[i]:offsets[i + 1]]``.
    The hash index is built when first needed (16 to 32 bytes a key).
    """

    def __init__(self, data: np.ndarray, offsets: np.ndarray) -> None:
        self.data = np.ascontiguousarray(data, dtype=np.uint8)
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        self._slots: np.ndarray | None = None
        inside = self.offsets.size > 0 and self.offsets[0] == 0 and self.offsets[-1] == self.data.size
        if not inside or bool((np.diff(self.offsets) < 0).any()):
            raise ValueError("the offsets of a key table must grow from 0 to the length of its data")

    @classmethod
    def from_keys(cls, keys: Sequence[bytes]) -> KeyTable:
        offsets = np.zeros(len(keys) + 1, dtype=np.int64)
        np.cumsum([len(key) for key in keys], out=offsets[1:])
        return cls(np.frombuffer(bytearray(b"".join(keys)), dtype=np.uint8), offsets)

    @classmethod
    def from_tokens(cls, tokens: np.ndarray, offsets: np.ndarray) -> KeyTable:
        """From int32 tokens, ``offsets`` counted in tokens; the keys are the tokens' bytes."""
        tokens = np.ascontiguousarray(tokens, dtype=np.int32)
        return cls(tokens.view(np.uint8), np.asarray(offsets, dtype=np.int64) * 4)

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __getitem__(self, index: int) -> bytes:
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Same keys in the same order."""
        if self is other:
            return True
        return (
            isinstance(other, KeyTable)
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.data, other.data)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def nbytes(self) -> int:
        return self.data.nbytes + self.offsets.nbytes

    def find(self, key: bytes) -> int:
        """Index of ``key``, or -1."""
        return int(self._find(np.frombuffer(bytearray(key), dtype=np.uint8), np.array([0, len(key)]))[0])

    def find_all(self, other: KeyTable) -> np.ndarray:
        """int64[len(other)]: for each key of ``other`` its index here, or -1."""
        return self._find(other.data, other.offsets)

    def _find(self, data: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        out = np.empty(offsets.size - 1, dtype=np.int64)
        _find_many(self.data, self.offsets, self._index(), data, offsets, out)
        return out

    def _index(self) -> np.ndarray:
        if self._slots is None:
            slots = np.full(1 << max(3, (2 * len(self)).bit_length()), -1, dtype=np.int64)
            repeated = _fill(self.data, self.offsets, slots)
            if repeated >= 0:
                raise ValueError(f"the key {self[repeated]!r} occurs twice in one key table")
            self._slots = slots
        return self._slots
