"""Settle a Tac-Tix board by whatever is able to: the function behind ``scripts/solve.py game=tac_tix``."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.tac_tix.halves import build_halves, central_lines
from agents.tac_tix.line import best_line, classes_text, line_text, move_classes
from agents.tac_tix.parts import MAX_PART_CELLS
from agents.tac_tix.proof import Proof, extract_proof
from agents.tac_tix.search import LOST, SIDE, WON, Search
from agents.tac_tix.search import MAX_CELLS as SEARCH_CELLS
from agents.tac_tix.table import MAX_CELLS as TABLE_CELLS
from agents.tac_tix.table import build_table, check_board, full_board, run_masks, run_name, table_bytes
from agents.tac_tix.verify import check_table, verify

_WHOLLY_CHECKED = 20  # counters of the largest table that is checked position by position unless told otherwise
_SAMPLE = 2_000_000
Report = Callable[[str, float | None], None]
_QUICK_HALF = 21  # counters of the largest half that ``auto`` tries: minutes and 0.4 GiB
METHODS = ("auto", "table", "halves", "search", "symmetry")


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
        method: ``table`` (every position; at most 36 cells), ``halves`` (misere only: every position after the whole
            central row or column has been taken, if its halves have at most 24 cells; settled if that wins), ``search``
            (proof search, misere only, sides of at most 8), ``symmetry`` (normal play only, any board), ``auto`` (what
            fits, one after the other).
        first_moves: with ``search``: ``one`` winning first move, or ``all`` (each first move up to symmetry).
        proof: with ``search`` and ``halves``: file to write the proof to.
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
    if method in ("search", "halves") and convention != "misere":
        raise ValueError(f"method={method} knows misere play only; use method=table, or method=auto")
    if method == "symmetry" and convention != "normal":
        raise ValueError("the argument by symmetry settles normal play only; use method=auto")
    lines = central_lines(rows, cols)
    if method == "halves" and not lines:
        raise ValueError(
            f"a {rows}x{cols} board has no central row or column that leaves halves of at most {MAX_PART_CELLS} cells "
            f"and sides of at most {SIDE}; use method=auto"
        )
    report = progress or (lambda text, fraction: None)
    began = time.perf_counter()
    result: dict[str, Any] = {"winner": None}
    ways = _ways(rows, cols, convention, memory) if method == "auto" else [method]
    for way in ways:
        if way == "table":
            result = _by_table(rows, cols, convention, memory, report, check, sample)
        elif way == "symmetry":
            result = _by_symmetry(rows, cols)
        elif way == "search":
            result = _by_search(rows, cols, memory, checkpoint, report, first_moves, proof, seconds, check, sample)
        else:
            try:
                for line in lines:
                    result = _by_halves(rows, cols, line, memory, report, proof, check, sample)
                    if result["winner"] is not None:
                        break
            except MemoryError:
                if way == ways[-1]:
                    raise
        method = way
        if result["winner"] is not None:
            break
    return {"rows": rows, "cols": cols, "convention": convention, "method": method, **result,
            "seconds": time.perf_counter() - began}  # fmt: skip


def _ways(rows: int, cols: int, convention: str, memory: float) -> list[str]:
    """Methods to try one after the other."""
    cells = rows * cols
    if cells <= TABLE_CELLS and table_bytes(cells) <= memory:
        return ["table"]
    if convention == "normal":
        return ["symmetry"]
    small = any(2 * _QUICK_HALF >= cells - line.bit_count() for line in central_lines(rows, cols))
    ways = ["halves"] * small + ["search"] * (max(rows, cols) <= SIDE)
    if not ways:
        raise MemoryError(
            f"no method settles a {rows}x{cols} board with {memory / 2**30:.1f} GiB: a table takes "
            f"{table_bytes(cells) / 2**30:,.1f} GiB (at most {TABLE_CELLS} cells), no central line leaves halves of at "
            f"most {_QUICK_HALF} cells, and the proof search takes sides of at most {SIDE}"
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


def _by_table(rows: int, cols: int, convention: str, memory: float, report: Report, check: bool,
              sample: int | None) -> dict[str, Any]:  # fmt: skip
    start = full_board(rows, cols)
    table = build_table(rows, cols, convention, start, memory, lambda fraction: report("table", fraction))
    line = best_line(rows, cols, start, table.is_lost)
    facts: dict[str, Any] = {"lost_positions": table.count_lost(), "table_bytes": table.lost.nbytes,
                             "table_seconds": table.seconds}  # fmt: skip
    if check:
        if sample is None and start.bit_count() > _WHOLLY_CHECKED:
            sample = _SAMPLE
        checked = check_table(table, sample, progress=lambda done, of: report("checked", done / of))
        facts |= {"verified": "complete" if checked.complete else "sampled", "checked": checked.checked,
                  "verify_seconds": checked.seconds}  # fmt: skip
    return {"winner": "second" if table.is_lost(start) else "first", **_moves(rows, cols, table.winning_moves(), True),
            "line": line_text(cols, line), **facts}  # fmt: skip


def _by_halves(rows: int, cols: int, line: int, memory: float, report: Report, proof_file: Path | None,
               check: bool, sample: int | None) -> dict[str, Any]:  # fmt: skip
    name = run_name(line, cols)
    halves = build_halves(rows, cols, line, memory, lambda fraction: report(f"halves after {name}", fraction))
    start = full_board(rows, cols) ^ line
    result: dict[str, Any] = {"classes_of_half": len(halves.half.keys), "forms_of_half": len(halves.half.lost),
                              "table_bytes": halves.lost.nbytes, "table_seconds": halves.seconds}  # fmt: skip
    if not halves.is_lost(start):  # nothing is shown of other first moves
        return {"winner": None, **_moves(rows, cols, [], False), "line": None, **result}
    moves = [line] + best_line(rows, cols, start, halves.is_lost)
    result = {"winner": "first", **_moves(rows, cols, [line], False), "line": line_text(cols, moves), **result}
    found = halves.proof(memory, lambda positions: report(f"proof: {positions:,} positions", None))
    return result | _prove(found, report, proof_file, check, sample)


def _prove(proof: Proof, report: Report, file: Path | None, check: bool, sample: int | None) -> dict[str, Any]:
    """Write a proof and verify it."""
    result: dict[str, Any] = {"proof_positions": len(proof.lost), "proof_gaps": proof.missing}
    if file is not None:
        proof.save(file)
    if check and not proof.missing:
        checked = verify(proof, sample, progress=lambda done, of: report(f"verified {done:,} of {of:,}", done / of))
        result |= {"verified": "complete" if checked.complete else "sampled", "checked": checked.checked,
                   "answers": checked.answers, "verify_seconds": checked.seconds}  # fmt: skip
    return result


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
    return result | _prove(found, report, proof_file, check, sample)
