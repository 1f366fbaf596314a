"""The equilibrium of a game, as a policy: from the folders of solve.py, or computed on the spot where that is quick."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from _common import UserError, folder_name, log

import cfr
from envs import Game

FOLDER = Path("runs") / "solve"
GOOD = 1e-2  # the NashConv of a stored policy that is played without trying to do better
TARGET, SECONDS = 1e-3, 60.0  # when it is computed on the spot
QUICK_HISTORIES = 1_000_000  # a tree that takes seconds
SOLVABLE_HISTORIES = 20_000_000  # a tree that takes long


def equilibrium(game: Any, text: str) -> cfr.TabularPolicy | cfr.MergedPolicy | cfr.SureWinPolicy:
    """The policy. UserError, which begins with ``text`` and says what to do, where there is none and none can be had
    quickly."""
    if not isinstance(game, Game) or game.num_players != 2:
        raise UserError(f"{text}: equilibria are played in the two-player games of envs, not in {cfr.game_spec(game)}")
    stored = best_stored(game.spec())
    if stored is None or stored[0] > GOOD:
        histories = cfr.estimate_size(game).log10_histories
        if is_quick(game, histories):
            stored = solve_here(game)
        elif stored is None:
            raise UserError(f"{text}: {advice(game, histories)}")
    nash_conv, path = stored
    log(f"{text}: {path}, NashConv {nash_conv:.2g}")
    return cfr.load_policy(path)


def best_stored(spec: str) -> tuple[float, Path] | None:
    """(NashConv, policy file) of the best policy that solve.py has left in its default folders."""
    found = []
    for file in FOLDER.glob(f"{folder_name(spec)}-*/result.json"):
        try:
            result = json.loads(file.read_text(encoding="utf-8"))
            nash_conv, policy = result["nash_conv"], file.with_name("policy.npz")
        except (OSError, ValueError, KeyError, TypeError):
            continue  # another program's file, or a damaged one
        if result.get("game") == spec and nash_conv is not None and policy.is_file():
            found.append((float(nash_conv), policy))
    return min(found, default=None)


def is_quick(game: Game, log10_histories: float) -> bool:
    """Whether a minute is enough for a good policy."""
    if cfr.prefers_phantom(game):
        cells = game.num_distinct_actions()
        return cells <= 8 or (cells == 9 and bool(getattr(game, "classical", False)))
    return log10_histories <= math.log10(QUICK_HISTORIES)


def solve_here(game: Game) -> tuple[float, Path]:
    """Solve, or go on with what an earlier call left, in a folder that the next call finds."""
    import solve

    folder = FOLDER / f"{folder_name(game.spec())}-equilibrium"
    log(f"solving {game.spec()} to NashConv {TARGET:g}, at most {SECONDS:.0f} s; the result is kept in {folder}")
    config = solve.SolveConfig(
        game={"name": game.name, **game.explicit_parameters()},
        solver=solve.SolverConfig(name="pcfr_plus", target=TARGET, seconds=SECONDS),
        output=str(folder),
        resume=str(folder) if (folder / solve.CHECKPOINT).is_file() else None,
    )
    result = solve.solve_on_tree(config, game, folder)
    if result["stopped_by"] == "interrupted":
        raise KeyboardInterrupt
    return result["nash_conv"], Path(result["policy"])


def advice(game: Game, log10_histories: float) -> str:
    """Why there is no equilibrium, and what to do about it."""
    parameters = game.explicit_parameters()
    if cfr.prefers_phantom(game) or log10_histories <= math.log10(SOLVABLE_HISTORIES):
        words = " ".join(f"game.{key}={value}" for key, value in parameters.items())
        return (
            f"{game.spec()} has not been solved in {FOLDER}, and that takes long; do it once: "
            f"python scripts/solve.py game={game.name} {words} solver=pcfr_plus solver.target={TARGET:g}"
        )
    if game.perfect_information:
        return f"{game.spec()} is too large to solve; give opponent=hard, or a smaller board"
    silent = "" if parameters.get("info", "silent") == "silent" else ", perhaps with game.info=silent,"
    return (
        f"{game.spec()} is too large to solve exactly; choose a smaller board{silent} or sample it with "
        "scripts/solve.py solver=outcome and give policy:FOLDER"
    )
