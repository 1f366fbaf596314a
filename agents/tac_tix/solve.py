"""Settle a Tac-Tix board by whatever is able to: the function behind ``scripts/solve.py game=tac_tix``."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.tac_tix.line import best_line, classes_text, line_text, move_classes
from agents.tac_tix.proof import extract_proof
from agents.tac_tix.search import LOST, SIDE, WON, Search
from agents.tac_tix.search import MAX_CELLS as SEARCH_CELLS
from agents.tac_tix.table import MAX_CELLS as TABLE_CELLS
from agents.tac_tix.table import build_table, check_board, full_board, run_masks, run_name, table_bytes
from agents.tac_tix.verify import check_table, verify

_WHOLLY_CHECKED = 20  # counters of the largest table that is checked position by position unless told otherwise
_SAMPLE = 2_000_000
Report = Callable[[str, float | None], None]
METHODS = ("auto", "table", "central_line", "search", "symmetry")


def solve_tac_tix(
    rows: int,
    cols: int,
    convention: str = "misere",
    memory: float = 4 * 2**30,
    checkpoint: Path | None = None,
    progress: Report | None = None,
    *,
    method: str = "auto",
    first_moves: str = "one",
    proof: Path | None = None,
    seconds: float | None = None,
    check: bool = True,
    sample: int | None = None,
) -> dict[str, Any]:
    """Who wins on a rows x cols board, and how.

    Args:
        memory: bytes that the tables may take.
        checkpoint: file of the proof search; it is resumed from there if the file exists.
        progress: called as ``progress(text, fraction or None)`` now and then.
        method: ``table`` (every position; at most 36 cells), ``central_line`` (every position after the whole
            central row or column has been taken: settled if that wins), ``search`` (proof search, misere only, sides of
            at most 8), ``symmetry`` (normal play only, any board), ``auto`` (what fits, one after the other).
        first_moves: with ``search``: ``one`` winning first move, or ``all`` (each first move up to symmetry).
        proof: with ``search``: file to write the proof to.
        seconds: with ``search``: give up after so long (winner None; the checkpoint is written).
        check, sample: verify the proof or the table, or only so many of its positions.

    Returns:
        ``winner`` ("first", "second", None if not settled), ``winning_first_moves`` (names), ``classes`` (text up to
        symmetry), ``all_first_moves`` (whether those are all), ``line`` (text), ``method``, ``seconds``, ``verified``
        ("complete" or "sampled") with ``checked`` positions, and per method ``lost_positions`` or ``positions``,
        ``stored``, ``proof_positions``, ``proof_gaps``, ``answers``.

    Raises:
        ValueError: unsuitable arguments; MemoryError: no method fits into the memory.
    """
    check_board(rows, cols, convention, SEARCH_CELLS)
    for name, value, allowed in (("method", method, METHODS), ("first_moves", first_moves, ("one", "all"))):
        if value not in allowed:
            raise ValueError(f"{name}={value!r} is not allowed; choose one of {', '.join(allowed)}")
    if method == "search" and convention != "misere":
        raise ValueError("the proof search knows misere play only; use method=table, or method=auto")
    if method == "symmetry" and convention != "normal":
        raise ValueError("the argument by symmetry settles normal play only; use method=auto")
    lines = _central_lines(rows, cols, memory if method == "auto" else math.inf)
    if method == "central_line" and not lines:
        raise ValueError(
            f"a {rows}x{cols} board has no central row or column that leaves at most {TABLE_CELLS} cells; use "
            "method=auto"
        )
    report = progress or (lambda text, fraction: None)
    began = time.perf_counter()
    result: dict[str, Any] = {"winner": None}
    for way in _ways(rows, cols, convention, memory, bool(lines)) if method == "auto" else (method,):
        if way == "table":
            result = _by_table(rows, cols, convention, (), memory, report, check, sample)
        elif way == "symmetry":
            result = _by_symmetry(rows, cols)
        elif way == "search":
            result = _by_search(rows, cols, memory, checkpoint, report, first_moves, proof, seconds, check, sample)
        else:
            for line in lines:
                result = _by_table(rows, cols, convention, (line,), memory, report, check, sample)
                if result["winner"] is not None:
                    break
        method = way
        if result["winner"] is not None:
            break
    return {"rows": rows, "cols": cols, "convention": convention, "method": method, **result,
            "seconds": time.perf_counter() - began}  # fmt: skip


def _central_lines(rows: int, cols: int, memory: float) -> list[int]:
    """Whole central rows and columns after which a table is possible, the one that leaves the fewest counters first."""
    lines = []
    if rows % 2:
        lines.append(((1 << cols) - 1) << rows // 2 * cols)
    if cols % 2:
        lines.append(sum(1 << r * cols + cols // 2 for r in range(rows)))
    left = {line: rows * cols - line.bit_count() for line in lines}
    return [line for line in sorted(lines, key=lambda line: left[line])
            if 0 < left[line] <= TABLE_CELLS and table_bytes(left[line]) <= memory]  # fmt: skip


def _ways(rows: int, cols: int, convention: str, memory: float, central: bool) -> list[str]:
    """Methods to try one after the other."""
    cells = rows * cols
    if cells <= TABLE_CELLS and table_bytes(cells) <= memory:
        return ["table"]
    if convention == "normal":
        return ["symmetry"]
    ways = ["central_line"] * central + ["search"] * (max(rows, cols) <= SIDE)
    if not ways:
        raise MemoryError(
            f"no method settles a {rows}x{cols} board with {memory / 2**30:.1f} GiB: a table takes "
            f"{table_bytes(cells) / 2**30:,.1f} GiB (at most {TABLE_CELLS} cells), and the proof search takes sides of "
            f"at most {SIDE}"
        )
    return ways


def _by_symmetry(rows: int, cols: int) -> dict[str, Any]:
    """Normal play: who has answered every move by its image takes the last counter.

    With both sides even the image under a half-turn lies in another row or column. With an odd side the first player
    takes the whole central line and answers by reflection in it.
    """
    if rows % 2 == 0 and cols % 2 == 0:
        return {"winner": "second", **_moves(rows, cols, [], True), "line": None}
    if rows % 2:
        line = ((1 << cols) - 1) << rows // 2 * cols
    else:
        line = sum(1 << r * cols + cols // 2 for r in range(rows))
    return {"winner": "first", **_moves(rows, cols, [line], False), "line": None}


def _by_table(rows: int, cols: int, convention: str, played: tuple[int, ...], memory: float, report: Report,
              check: bool, sample: int | None) -> dict[str, Any]:  # fmt: skip
    start = full_board(rows, cols)
    for run in played:
        start ^= run
    table = build_table(rows, cols, convention, start, memory, lambda fraction: report("table", fraction))
    lost = table.is_lost(start)
    line = list(played) + best_line(rows, cols, start, table.is_lost)
    facts: dict[str, Any] = {"lost_positions": table.count_lost(), "table_bytes": table.lost.nbytes,
                             "table_seconds": table.seconds}  # fmt: skip
    if check:
        if sample is None and start.bit_count() > _WHOLLY_CHECKED:
            sample = _SAMPLE
        checked = check_table(table, sample, progress=lambda done, of: report("checked", done / of))
        facts |= {"verified": "complete" if checked.complete else "sampled", "checked": checked.checked,
                  "verify_seconds": checked.seconds}  # fmt: skip
    if not played:
        moves = table.winning_moves()
        return {"winner": "second" if lost else "first", **_moves(rows, cols, moves, True),
                "line": line_text(cols, line), **facts}  # fmt: skip
    if not lost:  # the central line does not win: nothing is shown
        return {"winner": None, **_moves(rows, cols, [], False), "line": None, **facts}
    return {"winner": "first", **_moves(rows, cols, list(played), False), "line": line_text(cols, line), **facts}


def _moves(rows: int, cols: int, moves: list[int], complete: bool) -> dict[str, Any]:
    return {"winning_first_moves": [run_name(run, cols) for run in moves],
            "classes": classes_text(rows, cols, moves), "all_first_moves": complete}  # fmt: skip


def _by_search(rows: int, cols: int, memory: float, checkpoint: Path | None,
               report: Report, first_moves: str, proof_file: Path | None,
               seconds: float | None, check: bool, sample: int | None) -> dict[str, Any]:  # fmt: skip
    search = Search(rows, cols, memory)
    if checkpoint is not None and checkpoint.exists():
        search.load(checkpoint)
    ends = None if seconds is None else time.perf_counter() + seconds
    last = 0.0

    def solve(mask: int, label: str) -> int | None:
        nonlocal last

        def tell(p: Any) -> None:
            nonlocal last
            if time.perf_counter() - last > 5:
                last = time.perf_counter()
                report(f"{label}: {p.positions:,} positions, {p.stored:,} of {p.size:,} stored, {p.replaced:,} "
                       f"replaced, {p.seconds:,.0f} s", None)  # fmt: skip

        left = None if ends is None else max(ends - time.perf_counter(), 0.0)
        return search.solve(mask, tell, checkpoint, seconds=left)

    full = full_board(rows, cols)
    value = solve(full, "full board")
    everything = [run for run, _ in move_classes(rows, cols, run_masks(rows, cols))]
    complete = value == LOST
    if value == WON and first_moves == "all":
        values = [solve(full ^ run, run_name(run, cols)) for run in everything]
        complete = None not in values
    counts = search.progress()
    result: dict[str, Any] = {"positions": counts.positions, "stored": counts.stored, "replaced": counts.replaced,
                              "search_seconds": counts.seconds}  # fmt: skip
    winning = [run for run in everything if search.value_of(full ^ run) == LOST]
    if value is None:
        return {"winner": None, **_moves(rows, cols, [], False), "line": None, **result}
    if checkpoint is not None:
        search.save(checkpoint)
    orbits = [run for run in run_masks(rows, cols) if search.value_of(full ^ run) == LOST]
    result = {"winner": "second" if value == LOST else "first", **_moves(rows, cols, orbits, complete),
              "line": line_text(cols, best_line(rows, cols, full, lambda mask: search.value_of(mask) == LOST)),
              **result}  # fmt: skip
    found = extract_proof(search, None, tuple(winning))
    result["proof_positions"], result["proof_gaps"] = len(found.lost), found.missing
    if proof_file is not None:
        found.save(proof_file)
    if check and not found.missing:
        checked = verify(found, sample, progress=lambda done, of: report(f"verified {done:,} of {of:,}", done / of))
        result |= {"verified": "complete" if checked.complete else "sampled", "checked": checked.checked,
                   "answers": checked.answers, "verify_seconds": checked.seconds}  # fmt: skip
    return result
