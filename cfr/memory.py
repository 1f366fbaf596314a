"""How large will a tree be, and does it fit? Answered before memory is taken.

Source of the estimator: Knuth, "Estimating the efficiency of backtrack programs", Math. Comp. 1975.
"""

from __future__ import annotations

import dataclasses
import math
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import types

from cfr.errors import TreeTooLargeError
from envs.core import Game
from envs.kernels import (
    F64,
    MASK,
    PARAMS,
    ROW,
    TABLE,
    TERMINAL,
    apply_of,
    current_player_of,
    kernel,
    legal_of,
    reset_of,
)
from envs.rng import RNG, next_below, rng_state

FRACTION_OF_FREE_MEMORY = 0.5
PROBES = 4096
PROBE_SECONDS = 1.0


@dataclasses.dataclass(frozen=True)
class SizeEstimate:
    """Size of a game tree, estimated from ``probes`` random games.

    ``log10_terminals``, ``log10_histories``: decimal logarithms of the numbers of terminal and of all histories;
    ``relative_error``: standard error of the number of terminals, as a part of it (an underestimate when one of
    the probes dominates); ``log10_bytes``: memory at the peak of building a tree, infosets not counted.
    """

    spec: str
    log10_terminals: float
    log10_histories: float
    relative_error: float
    probes: int
    log10_bytes: float

    @property
    def bytes(self) -> float:
        """Estimated bytes, ``inf`` beyond float64."""
        return _power_of_ten(self.log10_bytes)

    def __str__(self) -> str:
        return (
            f"about {_count(self.log10_terminals)} terminal histories, {format_bytes(self.log10_bytes)} "
            f"(from {self.probes} random games, +-{100 * self.relative_error:.0f} %)"
        )


@kernel(types.void(TABLE, PARAMS, ROW, MASK, RNG, F64, F64))
def _probe_kernels(table, params, row, mask, rng, log_terminals, log_histories):
    reset, current_player, legal, apply = (
        reset_of(table),
        current_player_of(table),
        legal_of(table),
        apply_of(table),
    )
    for i in range(log_terminals.size):
        reset(params, row)
        weight, nodes = 0.0, 0.0  # log10 of 1
        while current_player(params, row) != TERMINAL:
            count = legal(params, row, mask)
            chosen = next_below(rng, count)
            action = -1
            while chosen >= 0:
                action += 1
                if mask[action]:
                    chosen -= 1
            apply(params, row, action)
            weight += math.log10(count)
            high, low = max(nodes, weight), min(nodes, weight)
            nodes = high + math.log10(1.0 + 10.0 ** (low - high))
        log_terminals[i] = weight
        log_histories[i] = nodes


def _probe_openspiel(game: Any, rng: random.Random) -> tuple[float, float]:
    state = game.new_initial_state()
    weight = nodes = 0.0
    while not state.is_terminal():
        if state.is_chance_node():
            actions = [action for action, p in state.chance_outcomes() if p > 0.0]
        else:
            actions = state.legal_actions()
        state.apply_action(rng.choice(actions))
        weight += math.log10(len(actions))
        high, low = max(nodes, weight), min(nodes, weight)
        nodes = high + math.log10(1.0 + 10.0 ** (low - high))
    return weight, nodes


def estimate_size(game: Any, probes: int = PROBES, seed: int = 0) -> SizeEstimate:
    """Estimate the tree of one of our games or of a sequential ``pyspiel.Game`` within about a second."""
    from cfr.tree import game_spec

    deadline = time.perf_counter() + PROBE_SECONDS
    if isinstance(game, Game):
        rng = rng_state(seed)
        row = np.zeros(game.row_size, dtype=np.int32)
        mask = np.zeros(game.num_distinct_actions(), dtype=np.bool_)
        pieces: list[np.ndarray] = []
        while 64 * len(pieces) < probes and (not pieces or time.perf_counter() < deadline):
            piece = np.zeros((2, 64))
            _probe_kernels(game.kernels.table, game.params, row, mask, rng, piece[0], piece[1])
            pieces.append(piece)
        samples = np.concatenate(pieces, axis=1)
        num_players = game.num_players
    else:
        choices = random.Random(seed)
        found: list[tuple[float, float]] = []
        while len(found) < probes and (len(found) < 16 or time.perf_counter() < deadline):
            found.append(_probe_openspiel(game, choices))
        samples = np.array(found).T
        num_players = game.num_players()
    log_terminals, spread = _mean_of_powers(samples[0])
    return SizeEstimate(
        spec=game_spec(game),
        log10_terminals=log_terminals,
        log10_histories=_mean_of_powers(samples[1])[0],
        relative_error=spread,
        probes=samples.shape[1],
        log10_bytes=log_terminals + math.log10(bytes_per_terminal(num_players)),
    )


def bytes_per_terminal(num_players: int) -> int:
    """Bytes that one terminal takes at the peak of ``build_tree``: last sequences (4 each) and payoffs (8 each)
    as enumerated and as merged, the order of sorting (twice 8), and the players' compressed rows."""
    enumerated = 12 * num_players
    rows = num_players * (8 + 4 * (num_players - 1))
    return 2 * enumerated + 16 + rows


def _mean_of_powers(logs: np.ndarray) -> tuple[float, float]:
    """log10 of the mean of 10**logs, and the relative standard error of that mean."""
    top = logs.max()
    powers = 10.0 ** (logs - top)
    mean = powers.mean()
    error = powers.std() / mean / math.sqrt(logs.size)
    return float(top + math.log10(mean)), float(error)


def available_memory() -> int:
    """Bytes of memory free for this process: the system's, or less under a control group's limit."""
    free = _system_memory()
    groups = (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    )
    for limit_file, used_file in groups:
        try:
            limit, used = int(Path(limit_file).read_text()), int(Path(used_file).read_text())
        except (OSError, ValueError):  # no such group, or "max"
            continue
        free = min(free, max(0, limit - used))
    return free


def _system_memory() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 2**32


def size_check(game: Any, memory_limit: int | None) -> tuple[SizeEstimate, int]:
    """The estimate and the limit in bytes; TreeTooLargeError when the game certainly does not fit."""
    if memory_limit is not None and memory_limit <= 0:
        raise ValueError(f"memory_limit={memory_limit!r} is not allowed; give bytes > 0, or None")
    limit = int(available_memory() * FRACTION_OF_FREE_MEMORY) if memory_limit is None else int(memory_limit)
    estimate = estimate_size(game)
    # Three standard errors below the estimate, but not less than a quarter: probes can miss the largest part.
    surely = estimate.log10_bytes + math.log10(max(0.25, 1.0 - 3.0 * estimate.relative_error))
    if surely > math.log10(limit):
        raise TreeTooLargeError(
            f"{estimate.spec} does not fit: its tree has {estimate}, the limit is {format_bytes(math.log10(limit))}. "
            + _ADVICE,
            estimate.bytes,
            limit,
        )
    return estimate, limit


def reserve_for(game: Any, estimate: SizeEstimate, limit: int) -> Callable[[int, int], None]:
    """A function ``reserve(bytes, terminals)`` that raises TreeTooLargeError when ``bytes`` in buffers, plus the
    reduction of ``terminals`` (so far) that follows, exceed ``limit``."""
    num_players = game.num_players if isinstance(game, Game) else game.num_players()
    reduction = bytes_per_terminal(num_players) - 12 * num_players

    def reserve(taken: int, terminals: int) -> None:
        needed = taken + terminals * reduction
        if needed > limit:
            raise TreeTooLargeError(
                f"{estimate.spec} does not fit: after {terminals:,} terminal histories its tree takes "
                f"{format_bytes(math.log10(needed))}, the limit is {format_bytes(math.log10(limit))} "
                f"(estimated: {estimate}). " + _ADVICE,
                max(float(needed), estimate.bytes),
                limit,
            )

    return reserve


_ADVICE = (
    'Sample it instead, cfr.make_sampler("external", game) or "outcome"; or pass memory_limit= (bytes) if this '
    "machine has more memory to give."
)


def _power_of_ten(log: float) -> float:
    return 10.0**log if log < 308 else math.inf


def _count(log: float) -> str:
    if log < 6:
        return f"{10.0**log:,.0f}"
    whole = math.floor(log)
    return f"{10.0 ** (log - whole):.1f}e{whole}"


def format_bytes(log10_bytes: float) -> str:
    """Readable size from the decimal logarithm of a number of bytes."""
    for unit, log_unit in (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)):
        log = log10_bytes - log_unit * math.log10(2.0)
        if log >= 0:
            return f"{10.0**log:.1f} {unit}" if log < 6 else f"{_count(log)} {unit}"
    return f"{10.0**log10_bytes:.0f} bytes"
