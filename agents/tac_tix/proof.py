"""Proofs: the lost positions that the winner's strategy meets, taken from a finished search and kept in a file.

A proof is a set of positions, each claimed to be lost for the player to move, such that after every move from one of
them the board is empty (the player to move has won, misere) or some reply leads into the set again. By induction on
the number of counters all of them are lost. ``verify`` checks this without any code of the search.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import types

from agents.tac_tix.polyomino import MASKS, add_groups, decode, encode, runs_of
from agents.tac_tix.search import KEYS, LOST, WORK_SHIFT, Search, find
from agents.tac_tix.table import full_board, run_name
from envs.kernels import kernel

FORMAT = "tac_tix proof 1"
_MARK = np.uint64(255) << WORK_SHIFT  # in the place of the work: already part of the proof
_INTS = types.Array(types.int64, 1, "C")


@kernel(types.int64(KEYS, MASKS, KEYS, _INTS))
def _collect(table, cache, queue, ends):
    """Close the set of lost positions ``queue[ends[0]:ends[1]]`` under the winner's replies.

    Marks entries of ``table``; returns how many positions lack a reply, the table having lost it.
    """
    above = np.empty(64, dtype=np.uint64)
    middle = np.empty(64, dtype=np.uint64)
    below = np.empty(64, dtype=np.uint64)
    moves = np.empty(512, dtype=np.uint64)
    replies = np.empty(512, dtype=np.uint64)
    key = np.empty(2, dtype=np.uint64)
    missing = 0
    while ends[0] < ends[1]:
        count = decode(queue[ends[0], 0], queue[ends[0], 1], above)
        ends[0] += 1
        for i in range(count):
            for k in range(runs_of(above[i], moves)):
                n = 0
                for j in range(count):
                    if j != i:
                        middle[n] = above[j]
                        n += 1
                n = add_groups(middle, n, above[i] ^ moves[k], cache)
                if n == 0:
                    continue
                if encode(middle, n, key):
                    at = find(table, key[0], key[1])
                    if at >= 0:
                        if table[at, 1] & _MARK == _MARK:
                            continue
                        table[at, 1] |= _MARK
                best, least = np.int64(-1), np.int64(1 << 40)
                for j in range(n):
                    for q in range(runs_of(middle[j], replies)):
                        m = 0
                        for t in range(n):
                            if t != j:
                                below[m] = middle[t]
                                m += 1
                        m = add_groups(below, m, middle[j] ^ replies[q], cache)
                        if m == 0 or not encode(below, m, key):
                            continue
                        at = find(table, key[0], key[1])
                        if at < 0 or np.int64(table[at, 1] >> np.uint64(62)) != LOST:
                            continue
                        work = np.int64((table[at, 1] & _MARK) >> WORK_SHIFT)
                        if work == 255:
                            work = -1
                        if work < least:
                            best, least = at, work
                if best < 0:
                    missing += 1
                elif least >= 0:
                    table[best, 1] |= _MARK
                    queue[ends[1], 0] = table[best, 0]
                    queue[ends[1], 1] = table[best, 1] & ((np.uint64(1) << WORK_SHIFT) - np.uint64(1))
                    ends[1] += 1
    return missing


@dataclass(frozen=True)
class Proof:
    """``lost`` uint64[n, 2]: keys (``polyomino.encode``) of positions claimed lost for the player to move.

    ``winner`` is "first" or "second"; the winning first moves it proves are named in ``first_moves``. ``missing`` is
    the number of positions without a reply: 0 in a whole proof.
    """

    rows: int
    cols: int
    start: int
    winner: str
    first_moves: tuple[str, ...]
    lost: np.ndarray
    missing: int

    def save(self, path: Path) -> None:
        header = {"format": FORMAT, "rows": self.rows, "cols": self.cols, "start": self.start, "winner": self.winner,
                  "first_moves": self.first_moves, "missing": self.missing}  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as file:
            np.savez_compressed(file, header=np.array(json.dumps(header)), lost=self.lost)

    @staticmethod
    def load(path: Path) -> Proof:
        """ValueError if the file is no proof."""
        try:
            with np.load(path, allow_pickle=False) as file:
                header = json.loads(str(file["header"]))
                lost = np.ascontiguousarray(file["lost"])
            if header.pop("format") != FORMAT or lost.dtype != np.uint64 or lost.shape[1:] != (2,):
                raise ValueError("its format is another one")
            header["first_moves"] = tuple(header["first_moves"])
            return Proof(lost=lost, **header)
        except (OSError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path} is no proof of a Tac-Tix board: {error}") from None


def extract_proof(search: Search, start: int | None = None, first_moves: tuple[int, ...] = ()) -> Proof:
    """The proof that a search has found: that ``start`` (the full board) is lost, or that these first moves win.

    ``first_moves`` are masks of runs. Afterwards the search's table has marks in the place of the work.
    """
    start = full_board(search.rows, search.cols) if start is None else start
    roots = [start ^ run for run in first_moves] or [start]
    for root in roots:
        if search.value_of(root) != LOST:
            raise ValueError(f"the search has not shown that position {root:#x} is lost, so there is no proof of it")
    queue = np.zeros((len(search.keys(LOST)), 2), dtype=np.uint64)
    keys: list[np.ndarray] = []
    for root in roots:
        key = np.zeros(2, dtype=np.uint64)
        groups = search.groups(root)
        encode(groups, groups.size, key)
        if not any((key == other).all() for other in keys):
            keys.append(key)
            search.table[find(search.table, key[0], key[1]), 1] |= _MARK
    queue[: len(keys)] = keys
    ends = np.array([0, len(keys)], dtype=np.int64)
    missing = _collect(search.table, search.cache, queue, ends)
    names = tuple(run_name(run, search.cols) for run in first_moves)
    winner = "first" if first_moves else "second"
    return Proof(search.rows, search.cols, start, winner, names, queue[: ends[1]].copy(), int(missing))
