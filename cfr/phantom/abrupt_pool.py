"""Many small tables in one array."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np


class Pool:
    """Arrays of one type, put one after the other, each key once."""

    def __init__(self, dtype: type) -> None:
        self._dtype = dtype
        self._parts: list[np.ndarray] = []
        self._offsets: dict[Hashable, int] = {}
        self._size = 0

    def offset(self, key: Hashable, make: Callable[[], np.ndarray]) -> int:
        """Where the array of ``key`` starts; made when it is not there yet."""
        if key not in self._offsets:
            self._offsets[key] = self._size
            self._parts.append(make().astype(self._dtype, copy=False))
            self._size += self._parts[-1].size
        return self._offsets[key]

    def add(self, key: Hashable, array: np.ndarray) -> int:
        """Where the array of ``key`` starts."""
        return self.offset(key, lambda: array)

    def joined(self) -> np.ndarray:
        return np.concatenate([*self._parts, np.empty(0, dtype=self._dtype)])
