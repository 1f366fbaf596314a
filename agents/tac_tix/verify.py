"""Check a proof of a Tac-Tix board: replay the winner's strategy against every opposing move.

Written for itself: it shares no move generator, no canonical form and no hash table with the search. It knows the
rules (a move takes a run of counters of one row or column; who faces the empty board has won), that a position is
worth what its connected groups are worth together wherever they lie and however they are turned, and that two
isolated single counters may be left out (proved in ``polyomino``). A group is a list of cells with coordinates; its
name is the largest of its 8 images, written column by column.

``check_table`` checks an exhaustive table in the same spirit, position by position.

A proof holds if every position of it has an answer to every move (``Report.complete``); with ``sample`` only some
of its positions are checked, and the report says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import types

from agents.tac_tix.proof import Proof
from agents.tac_tix.table import Table
from envs.kernels import kernel

_NAMES = types.Array(types.uint64, 1, "C")
_TABLE = types.Array(types.uint64, 2, "C")
_LIST = types.Array(types.int64, 1, "C")
_GRID = types.Array(types.int64, 2, "C")
_GROUPS = 16  # columns of a position: number of groups, then their names in ascending order
_SEEN = 1 << 20  # positions of the answered side that are remembered
_ROOM = 1 << 25  # numbers in the lists of moves: 256 MiB


class ProofError(Exception):
    """A proof that does not prove what it claims."""


@dataclass(frozen=True)
class Report:
    """``positions`` there are, of which ``checked`` were examined; ``answers`` replies were looked for and found."""

    positions: int
    checked: int
    answers: int
    seconds: float

    @property
    def complete(self) -> bool:
        """Whether every position was examined: then the board is settled."""
        return self.checked == self.positions


@kernel(types.uint64(_LIST, _LIST, types.int64))
def _name(rows, cols, count):
    """Name of the group whose ``count`` cells have these coordinates."""
    largest = np.uint64(0)
    for turn in range(8):
        top, left = np.int64(99), np.int64(99)
        for i in range(count):
            r, c = (rows[i], cols[i]) if turn < 4 else (cols[i], rows[i])
            top = min(top, -r if turn & 1 else r)
            left = min(left, -c if turn & 2 else c)
        image = np.uint64(0)
        for i in range(count):
            r, c = (rows[i], cols[i]) if turn < 4 else (cols[i], rows[i])
            r = (-r if turn & 1 else r) - top
            c = (-c if turn & 2 else c) - left
            image |= np.uint64(1) << np.uint64(8 * c + r)
        largest = max(largest, image)
    return largest


@kernel(types.void(types.uint64, _GRID))
def _lay(name, grid):
    """Lay a group into a grid int64[10, 10] with an empty rim: 1 where a counter lies."""
    grid[:, :] = 0
    for r in range(8):
        for c in range(8):
            if (name >> np.uint64(8 * c + r)) & np.uint64(1):
                grid[r + 1, c + 1] = 1


@kernel(types.int64(_GRID, _GRID))
def _runs(grid, out):
    """Write all runs of a grid, as (row, column, row step, column step, length); returns how many."""
    count = 0
    for r in range(1, 9):
        for c in range(1, 9):
            length = 0
            while grid[r, c + length]:
                length += 1
                out[count, 0], out[count, 1], out[count, 2], out[count, 3], out[count, 4] = r, c, 0, 1, length
                count += 1
            length = 1 if grid[r, c] else 0
            while length and grid[r + length, c]:
                length += 1
                out[count, 0], out[count, 1], out[count, 2], out[count, 3], out[count, 4] = r, c, 1, 0, length
                count += 1
    return count


@kernel(types.void(_NAMES, types.int64))
def _leave_out_pairs(position, count):
    """Leave out pairs of single counters (name 1) of ``count`` names in ascending order from index 1 on, and write the
    number of the others."""
    single = 0
    while single < count and position[1 + single] == np.uint64(1):
        single += 1
    gone = single - single % 2
    if gone:
        for i in range(1, count - gone + 1):
            position[i] = position[i + gone]
    position[0] = np.uint64(count - gone)


@kernel(types.void(_NAMES, types.int64))
def _settle(position, count):
    """Sort the ``count`` names from index 1 on, leave out pairs of single counters, write the number."""
    for i in range(2, count + 1):
        name = position[i]
        j = i - 1
        while j >= 1 and position[j] > name:
            position[j + 1] = position[j]
            j -= 1
        position[j + 1] = name
    _leave_out_pairs(position, count)


@kernel(types.int64(_GRID, _GRID, types.int64, _NAMES))
def _pieces(grid, runs, k, out):
    """Write the names of the groups that remain of the one in the grid after run ``k`` has been taken, in ascending
    order; returns how many. The grid is restored."""
    row_list = np.empty(64, dtype=np.int64)
    col_list = np.empty(64, dtype=np.int64)
    count = 0
    r, c, down, right, length = runs[k, 0], runs[k, 1], runs[k, 2], runs[k, 3], runs[k, 4]
    for i in range(length):
        grid[r + i * down, c + i * right] = 0
    for r0 in range(1, 9):
        for c0 in range(1, 9):
            if grid[r0, c0] != 1:
                continue
            grid[r0, c0] = 2
            row_list[0], col_list[0] = r0, c0
            found, done = 1, 0
            while done < found:
                for side in range(4):
                    r1 = row_list[done] + (side == 0) - (side == 1)
                    c1 = col_list[done] + (side == 2) - (side == 3)
                    if grid[r1, c1] == 1:
                        grid[r1, c1] = 2
                        row_list[found], col_list[found] = r1, c1
                        found += 1
                done += 1
            name = _name(row_list, col_list, found)
            at = count
            while at > 0 and out[at - 1] > name:
                out[at] = out[at - 1]
                at -= 1
            out[at] = name
            count += 1
    for i in range(1, 9):
        for j in range(1, 9):
            if grid[i, j] == 2:
                grid[i, j] = 1
    for i in range(length):
        grid[r + i * down, c + i * right] = 1
    return count


@kernel(types.int64(types.uint64, _NAMES, _TABLE, _LIST, _GRID, _GRID))
def _moves_of(name, moves, places, used, grid, runs):
    """Where ``moves`` lists what each move from a group leaves: the number of moves, then for each the number of
    groups and their names. Lists are kept until there is no room (``used``: how much is taken, how many lists);
    ``places`` [2**k, 2] says where they are (group, place + 1). ``grid`` and ``runs`` are scratch.
    """
    last = places.shape[0] - 1
    slot = np.int64((name * np.uint64(0xD6E8FEB86659FD93)) >> np.uint64(40)) & last
    while places[slot, 1] != np.uint64(0):
        if places[slot, 0] == name:
            return np.int64(places[slot, 1]) - 1
        slot = (slot + 1) & last
    _lay(name, grid)
    count = _runs(grid, runs)
    if used[0] + count * 17 + 1 > moves.size or 2 * used[1] > last:
        places[:, 1] = 0
        used[0] = used[1] = 0
        slot = np.int64((name * np.uint64(0xD6E8FEB86659FD93)) >> np.uint64(40)) & last
    start = used[0]
    moves[start] = np.uint64(count)
    at = start + 1
    for k in range(count):
        found = _pieces(grid, runs, k, moves[at + 1 :])
        moves[at] = np.uint64(found)
        at += found + 1
    used[0] = at
    used[1] += 1
    places[slot, 0] = name
    places[slot, 1] = np.uint64(start + 1)
    return start


@kernel(types.void(_NAMES, types.int64, _NAMES, types.int64, _NAMES))
def _after(position, group, moves, at, out):
    """The position after a move that replaces ``group`` by the groups listed at ``moves[at]``."""
    count, new = 0, at + 1
    end = new + np.int64(moves[at])
    for i in range(np.int64(position[0])):
        if i == group:
            continue
        while new < end and moves[new] < position[1 + i]:
            count += 1
            out[count] = moves[new]
            new += 1
        count += 1
        out[count] = position[1 + i]
    while new < end:
        count += 1
        out[count] = moves[new]
        new += 1
    _leave_out_pairs(out, count)


@kernel(types.uint64(_NAMES))
def _digest(position):
    x = position[0]
    for i in range(1, np.int64(position[0]) + 1):
        x = (x ^ position[i]) * np.uint64(0xD6E8FEB86659FD93)
        x ^= x >> np.uint64(32)
    return x


@kernel(types.boolean(_NAMES, _NAMES))
def _same(a, b):
    if a[0] != b[0]:
        return False
    for i in range(1, np.int64(a[0]) + 1):
        if a[i] != b[i]:
            return False
    return True


@kernel(types.boolean(_NAMES, _TABLE, _LIST))
def _contains(position, positions, index):
    """Whether a position is among ``positions``; ``index`` int64[power of 2] holds their numbers in the lower 32 bits
    and 31 bits of their digests above, so that few others are looked at; -1 where it is free."""
    if position[0] >= np.uint64(_GROUPS):
        return False
    digest = _digest(position)
    slot = np.int64(digest & np.uint64(index.size - 1))
    while index[slot] >= 0:
        if index[slot] >> 32 == np.int64(digest >> np.uint64(33)):
            if _same(position, positions[index[slot] & 0xFFFFFFFF]):
                return True
        slot = (slot + 1) & (index.size - 1)
    return False


@kernel(types.void(_TABLE, _LIST))
def _fill_index(positions, index):
    for number in range(positions.shape[0]):
        digest = _digest(positions[number])
        slot = np.int64(digest & np.uint64(index.size - 1))
        while index[slot] >= 0:
            slot = (slot + 1) & (index.size - 1)
        index[slot] = np.int64(digest >> np.uint64(33)) << 32 | number


@kernel(types.int64(_TABLE, _TABLE))
def _read(keys, positions):
    """Turn the keys of a proof into positions; returns the number of a key that makes no sense, -1 if all do.

    Bits of a key, from the lowest: 4 number of groups; for each group 3 rows - 1, 3 columns - 1, then its cells row
    by row.
    """
    row_list = np.empty(64, dtype=np.int64)
    col_list = np.empty(64, dtype=np.int64)
    bits = np.empty(128, dtype=np.int64)
    for number in range(keys.shape[0]):
        for i in range(128):
            bits[i] = np.int64((keys[number, i // 64] >> np.uint64(i % 64)) & np.uint64(1))
        count = bits[0] + 2 * bits[1] + 4 * bits[2] + 8 * bits[3]
        at = 4
        if count == 0:
            return number
        for group in range(count):
            if at + 6 > 128:
                return number
            rows = 1 + bits[at] + 2 * bits[at + 1] + 4 * bits[at + 2]
            cols = 1 + bits[at + 3] + 2 * bits[at + 4] + 4 * bits[at + 5]
            at += 6
            if at + rows * cols > 128:
                return number
            cells = 0
            for r in range(rows):
                for c in range(cols):
                    if bits[at]:
                        row_list[cells], col_list[cells] = r, c
                        cells += 1
                    at += 1
            positions[number, 1 + group] = _name(row_list, col_list, cells)
        _settle(positions[number], count)
    return -1


@kernel(types.int64(_TABLE, _LIST, _LIST, _TABLE, _NAMES, _TABLE, _LIST))
def _check(positions, index, chosen, seen, moves, places, used):
    """Look for an answer to every move from the chosen positions: how many were found, or -1 - (the number of a
    position with a move that has none). ``seen`` [n, 16] remembers positions that have been answered; ``moves``,
    ``places`` and ``used`` see ``_moves_of``."""
    answers = 0
    moved = np.zeros(64, dtype=np.uint64)
    answered = np.zeros(64, dtype=np.uint64)
    grid = np.zeros((10, 10), dtype=np.int64)
    runs = np.empty((512, 5), dtype=np.int64)
    here = np.empty(512 * 17, dtype=np.uint64)  # the list of the group that is moved in: ``moves`` may start anew
    for number in chosen:
        position = positions[number]
        for group in range(np.int64(position[0])):
            at = _moves_of(position[1 + group], moves, places, used, grid, runs)
            end = at + 1
            for _ in range(np.int64(moves[at])):
                end += np.int64(moves[end]) + 1
            here[: end - at] = moves[at:end]
            at = 1
            for _ in range(np.int64(here[0])):
                _after(position, group, here, at, moved)
                at += np.int64(here[at]) + 1
                if moved[0] == np.uint64(0):
                    continue  # the mover has emptied the board and lost
                slot = np.int64(_digest(moved) & np.uint64(seen.shape[0] - 1))
                if _same(moved, seen[slot]):
                    continue
                found = False
                for j in range(np.int64(moved[0])):
                    reply = _moves_of(moved[1 + j], moves, places, used, grid, runs)
                    count = np.int64(moves[reply])
                    reply += 1
                    for _ in range(count):
                        _after(moved, j, moves, reply, answered)
                        reply += np.int64(moves[reply]) + 1
                        if _contains(answered, positions, index):
                            found = True
                            break
                    if found:
                        break
                if not found:
                    return -1 - number
                answers += 1
                if moved[0] < np.uint64(_GROUPS):
                    for i in range(np.int64(moved[0]) + 1):
                        seen[slot, i] = moved[i]
    return answers


def verify(
    proof: Proof,
    sample: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Check a proof, or ``sample`` randomly drawn positions of it and those after its first moves.

    ProofError if it claims a thing that does not follow; ``progress(checked, of)`` is called now and then.
    """
    began = time.perf_counter()
    if sample is not None and sample < 1:
        raise ValueError(f"sample={sample} is not allowed; it must be at least 1")
    positions = np.zeros((len(proof.lost), _GROUPS), dtype=np.uint64)
    bad = _read(proof.lost, positions)
    if bad >= 0:
        raise ProofError(f"position {bad} of the proof cannot be read")
    index = np.full(1 << (4 * len(positions)).bit_length(), -1, dtype=np.int64)
    _fill_index(positions, index)
    for root in _roots(proof):
        if not _contains(root, positions, index):
            raise ProofError(f"the position after the claimed first move is not in the proof ({proof.winner} player)")
    numbers = np.arange(len(positions))
    if sample is not None and sample < len(numbers):
        drawn = np.random.default_rng(seed).choice(numbers, sample, replace=False)
        numbers = np.union1d(drawn, numbers[:1])
    seen = np.zeros((_SEEN, _GROUPS), dtype=np.uint64)
    moves, places = np.zeros(_ROOM, dtype=np.uint64), np.zeros((1 << 20, 2), dtype=np.uint64)
    used = np.zeros(2, dtype=np.int64)
    answers = checked = 0
    for part in np.array_split(numbers, max(1, len(numbers) // 2000)):
        result = _check(positions, index, part, seen, moves, places, used)
        if result < 0:
            raise ProofError(f"position {-1 - result} of the proof allows a move that the proof has no answer to")
        answers += result
        checked += len(part)
        if progress is not None:
            progress(checked, len(numbers))
    return Report(len(positions), checked, answers, time.perf_counter() - began)


def _roots(proof: Proof) -> list[np.ndarray]:
    """The positions that the claim is about: the start, or those after the winning first moves."""
    cells = {(n // proof.cols, n % proof.cols) for n in range(proof.rows * proof.cols) if proof.start >> n & 1}
    if proof.winner == "second":
        return [_position(cells)]
    if proof.winner != "first" or not proof.first_moves:
        raise ProofError(f"the proof says winner={proof.winner!r} and first moves {proof.first_moves}")
    roots = []
    for move in proof.first_moves:
        ends = [(int(end[1:]) - 1, ord(end[0]) - ord("a")) for end in move.split("-")]
        (r1, c1), (r2, c2) = ends[0], ends[-1]
        run = {(r, c) for r in range(r1, r2 + 1) for c in range(c1, c2 + 1)}
        if not run or r1 != r2 and c1 != c2 or not run <= cells:
            raise ProofError(f"the claimed first move {move} is not possible")
        roots.append(_position(cells - run))
    return roots


def _position(cells: set[tuple[int, int]]) -> np.ndarray:
    """Cells as a position of the verifier, uint64[64]."""
    out = np.zeros(64, dtype=np.uint64)
    count, left = 0, set(cells)
    while left:
        todo, group = [left.pop()], []
        while todo:
            r, c = todo.pop()
            group.append((r, c))
            beside = {(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)} & left
            left -= beside
            todo.extend(beside)
        count += 1
        out[count] = _name(*(np.array(axis, dtype=np.int64) for axis in zip(*group, strict=True)), len(group))
    _settle(out, count)
    return out


@kernel(types.int64(_NAMES, types.uint64, _LIST, types.boolean, types.int64, types.int64, types.uint64))
def _check_bits(lost, total, runs, empty_is_lost, first, count, state):
    """Check positions first .. first + count - 1, or ``count`` random ones if ``first`` < 0, by their definition.

    Returns a position that the table has wrong, -1 if there is none.
    """
    for number in range(count):
        if first < 0:
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            position = np.int64(state % total)
        else:
            position = first + number
        value = (lost[position // 64] >> np.uint64(position % 64)) & np.uint64(1) == np.uint64(1)
        expected = empty_is_lost if position == 0 else True
        for run in runs:
            after = position - run
            if run & ~position == 0 and (lost[after // 64] >> np.uint64(after % 64)) & np.uint64(1):
                expected = False
                break
        if value != expected:
            return position
    return -1


def check_table(
    table: Table,
    sample: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Check every position of a table, or ``sample`` random ones, against what their moves lead to.

    Every position right means, by induction on the number of counters, that the table is right. ProofError otherwise.
    """
    began = time.perf_counter()
    counters = [n for n in range(table.rows * table.cols) if table.start >> n & 1]
    bit = {(n // table.cols, n % table.cols): 1 << i for i, n in enumerate(counters)}
    runs = set()
    for r, c in bit:
        for down, right in ((0, 1), (1, 0)):
            run, i = 0, 0
            while (r + i * down, c + i * right) in bit:
                run |= bit[r + i * down, c + i * right]
                runs.add(run)
                i += 1
    total = 1 << len(counters)
    count = total if sample is None else min(sample, total)
    state = int(np.random.default_rng(seed).integers(1, 1 << 62))
    step = 1 << 24
    for first in range(0, count, step):
        here = min(step, count - first)
        start = first if count == total else -1
        wrong = _check_bits(table.lost, np.uint64(total), np.array(sorted(runs), dtype=np.int64),
                            table.convention == "normal", start, here, np.uint64(state + first))  # fmt: skip
        if wrong >= 0:
            raise ProofError(f"the table says the wrong thing about position number {wrong}")
        if progress is not None:
            progress(first + here, count)
    return Report(total, count, 0, time.perf_counter() - began)
