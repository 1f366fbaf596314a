"""Compute an equilibrium of a game, or find out who can force a win.

    python scripts/solve.py game=dark_hex game.rows=2 game.cols=3 game.version=abrupt solver=cfr_plus solver.target=1e-4
    python scripts/solve.py game=openspiel:leduc_poker solver=pcfr_plus solver.seconds=20
    python scripts/solve.py game=dark_hex game.rows=3 game.info=silent solver=pcfr_plus solver.average=last
    python scripts/solve.py game=dark_hex game.rows=2 solver=mmd solver.temperature=0.1 solver.anneal=0
    python scripts/solve.py game=dark_hex game.rows=4 solver=outcome solver.seconds=60
    python scripts/solve.py resume=runs/solve/dark_hex-2-3-abrupt-silent-cfr_plus solver.target=1e-6
    python scripts/solve.py game=dark_hex game.rows=3 game.cols=3 solver=sure_win

NashConv is the sum over the players of what each could gain by a best response to the others; exploitability is
NashConv / 2 (two players, zero-sum). Both are exact, of the average policy (of the last one with solver.average=last).

solver=sure_win (Dark Hex) computes no equilibrium: it says which player, if any, can win with certainty against every
opponent, by which openings, and writes the strategy as policy.npz.

The output folder (default runs/solve/GAME-SOLVER) gets policy.npz (arrays and header.json in one zip archive),
result.json, config.yaml and checkpoint.npz. Ctrl-C saves and ends. Progress goes to stderr; the last line of stdout
is one JSON object.
"""

from __future__ import annotations

import dataclasses
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from _common import (
    UserError,
    dump_yaml,
    folder_name,
    log,
    make_game,
    openspiel_arguments,
    print_help,
    start,
    wants_help,
    write_json,
    write_text,
)
from tqdm import tqdm

import cfr
from cfr.memory import format_bytes, size_check
from cfr.regret import AVERAGES, RULES, rule_of
from configs import ConfigError, bounded, choice, described, factory, load, to_dict
from envs import Game
from envs.games.hex_board import COLOUR_NAMES

TABULAR = tuple(RULES)
SAMPLERS = ("external", "outcome")
SURE_WIN = "sure_win"
ANNOUNCED_CELLS = 20  # up to this size, sure wins against announced openings are looked for as well
POLICY, CHECKPOINT, RESULT, CONFIG = "policy.npz", "checkpoint.npz", "result.json", "config.yaml"
DEFAULT_TARGET, DEFAULT_SECONDS = 1e-3, 30.0
EVALUATED_HISTORIES = 20_000_000  # a sampled game of this size still gets its tree, within seconds, for NashConv
LINE_EVERY = 5.0  # seconds between two lines of progress where stderr is no terminal


@dataclasses.dataclass(frozen=True)
class SolverConfig:
    name: str = choice("cfr_plus", (*TABULAR, *SAMPLERS, "lp", SURE_WIN), help="the algorithm")
    target: float | None = bounded(None, 0, above=True, help="stop at this NashConv (nothing else given: 1e-3)")
    iterations: int | None = bounded(None, 1, help="stop after so many iterations, resumed ones included")
    seconds: float | None = bounded(None, 0, above=True, help="stop after so much time (samplers: 30)")
    seed: int = bounded(0, 0, help="of the sampling solvers")
    checkpoint: float = bounded(60.0, 0, above=True, help="seconds between two checkpoints")
    memory: float | None = bounded(None, 0, above=True, help="GiB at most; default: half of what is free")
    epsilon: float | None = bounded(None, 0, 1, above=True, help="exploration of outcome sampling; default 0.6")
    average: str | None = choice(None, (None, *AVERAGES), help="what results: an average, or the last; null: as usual")
    temperature: float | None = bounded(None, 0, help="of mmd, in iteration 1; default 0.2")
    learning_rate: float | None = bounded(None, 0, help="of mmd, in iteration 1; default 4")
    anneal: float | None = bounded(None, 0, help="mmd divides both by iteration^anneal; default 0.5, 0 keeps them")

    def options(self) -> dict[str, Any]:
        """What is to be different from the solver's usual numbers."""
        names = ("average", "temperature", "learning_rate", "anneal")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


@dataclasses.dataclass(frozen=True)
class SolveConfig:
    game: dict = factory(dict, help="game=NAME, then game.PARAMETER=VALUE; or game=openspiel:NAME")
    solver: SolverConfig = factory(SolverConfig)
    output: str | None = described(None, help="folder; default runs/solve/GAME-SOLVER")
    resume: str | None = described(None, help="folder of an unfinished run, or a checkpoint file")


def main(arguments: list[str]) -> dict[str, Any]:
    """Solve; returns the object for the last line of stdout."""
    if wants_help(arguments):
        print_help(__doc__ or "", SolveConfig)
    config = read_config(arguments)
    game = make_game(config.game)
    if isinstance(game, Game) and game.name == "tac_tix":
        return settle_tac_tix(config, game)
    if config.solver.name == SURE_WIN:
        return settle_sure_win(config, game)
    if config.resume is not None:
        checkpoint_file(config.resume)  # before any work
    folder = output_folder(config, cfr.game_spec(game))
    check_options(config.solver)
    if config.solver.name == "lp":
        return solve_lp(config, game, folder)
    if config.solver.name in SAMPLERS:
        return solve_by_sampling(config, game, folder)
    return solve_on_tree(config, game, folder)


def check_options(solver: SolverConfig) -> None:
    """An option that the solver does not have is an error, not a no-op."""
    options = solver.options()
    if options and solver.name not in TABULAR:
        raise UserError(f"solver.{next(iter(options))}: {solver.name} has no such option; {', '.join(TABULAR)} have")
    if solver.name in TABULAR:
        try:
            rule_of(solver.name, **options)
        except ValueError as error:
            raise UserError(f"solver.{error}") from error


def read_config(arguments: list[str]) -> SolveConfig:
    arguments, foreign = openspiel_arguments(arguments)
    resumed = [argument.partition("=")[2] for argument in arguments if argument.startswith("resume=")]
    if resumed and (Path(resumed[-1]) / CONFIG).is_file():
        arguments = [f"config={Path(resumed[-1]) / CONFIG}", *arguments]
        foreign = True  # the saved configuration names the game
    return load(SolveConfig, arguments, defaults={} if foreign else {"game": "dark_hex"})


def output_folder(config: SolveConfig, spec: str) -> Path:
    """Where the results go. An unfinished run is never written over by a fresh one."""
    if config.output is not None:
        folder = Path(config.output)
    elif config.resume is not None and Path(config.resume).is_dir():
        folder = Path(config.resume)
    else:
        folder = Path("runs") / "solve" / f"{folder_name(spec)}-{config.solver.name}"
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"output = {str(folder)!r}: this is a file; give a folder")
    if config.resume is None and (folder / CHECKPOINT).is_file() and not (folder / RESULT).is_file():
        raise UserError(f"{folder} holds an unfinished run; go on with resume={folder}, "
                        "or choose another folder with output=FOLDER")
    return folder


def settle_tac_tix(config: SolveConfig, game: Any) -> dict[str, Any]:
    """Who wins, with a proof: no equilibrium is computed, the game hides nothing."""
    from agents.tac_tix.solve import solve_tac_tix

    values = game.explicit_parameters()
    if values["initial"] != "full":
        raise UserError("game.initial: boards are settled from the full board; leave it out")
    folder = output_folder(dataclasses.replace(config, solver=SolverConfig()), game.spec())
    folder.mkdir(parents=True, exist_ok=True)
    shown = 0.0

    def progress(text: str, fraction: float | None) -> None:
        nonlocal shown
        if time.perf_counter() - shown > 1.0:
            shown = time.perf_counter()
            log(f"  {text}" + ("" if fraction is None else f" ({fraction:.0%})"))

    began = time.perf_counter()
    memory = (config.solver.memory or 4.0) * 2**30
    try:
        found = solve_tac_tix(
            values["rows"], values["cols"], values["convention"], memory, folder / CHECKPOINT, progress,
            proof=folder / "proof.npz", seconds=config.solver.seconds,
        )  # fmt: skip
    except (ValueError, MemoryError) as error:
        raise UserError(str(error)) from error
    result = {"game": game.spec(), "solver": found["method"], **found, "seconds": time.perf_counter() - began}
    write_json(folder / RESULT, result)
    winner = found["winner"]
    log("not settled" if winner is None else f"{winner} player wins; {found['verified']} check; {found['line']}")
    return result


def settle_sure_win(config: SolveConfig, game: Any) -> dict[str, Any]:
    """Who can force a win with certainty: a search, no equilibrium."""
    if config.resume is not None:
        raise UserError("resume: sure wins are searched in one go, there is nothing to resume")
    folder = output_folder(config, cfr.game_spec(game))
    began, shown = time.perf_counter(), 0.0

    def progress(player: int, positions: int) -> None:
        nonlocal shown
        elapsed = time.perf_counter() - began
        if config.solver.seconds is not None and elapsed > config.solver.seconds:
            raise UserError(f"solver.seconds = {config.solver.seconds:g}: not settled yet, after {positions:,} "
                            f"positions of player {player}; give it more time")
        if elapsed >= shown + LINE_EVERY:
            shown = elapsed
            log(f"{elapsed:8.1f} s  player {player}: {positions:,} positions")

    found = cfr.sure_win(game, memory_limit(config), progress)

    def names(cells: Iterable[int]) -> list[str]:
        return [game.action_to_string(0, cell) for cell in cells]

    open_folder(config, folder)
    openings, told = names(found.openings), None
    if found.winner is None:
        log("neither player can force a win")
    else:
        log(f"player {found.winner} ({COLOUR_NAMES[found.winner]}) wins with certainty "
            + ("by opening at " if found.winner == 0 else "against every opening; his first probe is ")
            + either(openings))
    if found.winner == 1 or game.cells <= ANNOUNCED_CELLS:
        told = None if found.announced is None else names(found.announced)
    if told and found.winner is None:
        log(f"told player 0's first cell, player 1 wins with certainty when it is {either(told)}")
    file = None
    if found.policy is not None:
        file = str(found.policy.save(folder / POLICY))
        log(f"strategy for {len(found.policy):,} positions: {file}")
    result = {"game": found.spec, "solver": SURE_WIN, "winner": found.winner, "openings": openings, "announced": told,
              "positions": list(found.num_positions), "seconds": round(found.seconds, 3), "policy": file}
    write_json(folder / RESULT, result)
    return result


def either(words: list[str]) -> str:
    """``a1, b2 or c3``"""
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


# -- the three kinds of solvers -----------------------------------------------------------------------------


def solve_on_tree(config: SolveConfig, game: Any, folder: Path) -> dict[str, Any]:
    """CFR and its relatives: on merged nodes where the game has them and they pay, else on the tree."""
    form = cfr.phantom_form(game, memory_limit(config)) if cfr.prefers_phantom(game) else None
    if form is not None:
        sizes = " + ".join(f"{graph.num_nodes:,}" for graph in form.graphs)
        log(f"{form.spec}: exact engine, {sizes} nodes, {form.nbytes / 2**20:.1f} MiB, {form.origin}")
    solver = cfr.make_solver(config.solver.name, form or build_tree(config, game), **config.solver.options())
    limits = limits_of(config, SolverConfig(target=DEFAULT_TARGET))
    run = Run(config, solver, folder, limits, solver.evaluate)
    stopped_by = run.until_done()
    outcome = Outcome(solver.evaluate(), form is not None or solver.tree.zero_sum)
    return finish(config, outcome, solver.average_policy(), folder, run.iterations, solver.seconds, stopped_by)


def memory_limit(config: SolveConfig) -> int | None:
    return None if config.solver.memory is None else int(config.solver.memory * 2**30)


def build_tree(config: SolveConfig, game: Any, keep_histories: bool = False) -> cfr.Tree:
    began = time.perf_counter()
    try:
        if isinstance(game, Game):
            estimate, _ = size_check(game, memory_limit(config))
            if estimate.log10_terminals > 6:
                log(f"{game.spec()}: building the tree, {estimate}")
        tree = cfr.build_tree(game, memory_limit(config), keep_histories=keep_histories)
    except cfr.TreeTooLargeError as error:
        raise UserError(
            f"{cfr.game_spec(game)} is too large to enumerate: its tree takes {size(error.needed)} of memory, "
            f"the limit is {format_bytes(math.log10(error.limit))} (solver.memory=GIB changes it)"
            + ("; solver=outcome samples it without building the tree" if isinstance(game, Game) else "")
        ) from error
    sizes = " + ".join(f"{count:,}" for count in tree.num_infosets)
    log(f"{tree.spec}: {tree.num_terminals:,} terminal histories, {sizes} information sets, "
        f"{tree.nbytes / 2**20:.1f} MiB, built in {time.perf_counter() - began:.2f} s")
    return tree


def size(count: float) -> str:
    return f"about {format_bytes(math.log10(count))}" if math.isfinite(count) else "more than 1e308 bytes"


def solve_lp(config: SolveConfig, game: Any, folder: Path) -> dict[str, Any]:
    """The sequence-form linear program: one call, nothing to resume."""
    if config.resume is not None:
        raise UserError("resume: the linear program is solved in one go, there is nothing to resume")
    tree = build_tree(config, game)
    began = time.perf_counter()
    try:
        found = cfr.solve_lp(tree)
    except (ValueError, RuntimeError) as error:  # not zero-sum, or too hard for the linear solver
        raise UserError(str(error)) from error
    open_folder(config, folder)
    outcome = Outcome(cfr.evaluate(tree, found.policy), tree.zero_sum)
    return finish(config, outcome, found.policy, folder, 1, time.perf_counter() - began, "solved")


def solve_by_sampling(config: SolveConfig, game: Any, folder: Path) -> dict[str, Any]:
    """Monte Carlo CFR. Its NashConv is known only where the whole tree fits as well."""
    settings = config.solver
    limit = memory_limit(config)
    ours = isinstance(game, Game)
    if not ours:
        tree: cfr.Tree | None = build_tree(config, game, keep_histories=True)  # what is sampled
    elif settings.target is not None:
        try:
            tree = build_tree(config, game)
        except UserError as error:
            raise UserError(f"solver.target: a NashConv needs the whole tree; leave it out. {error}") from error
    elif cfr.estimate_size(game).log10_histories <= math.log10(EVALUATED_HISTORIES):
        tree = build_tree(config, game)
    else:
        tree = None
        log(f"{game.spec()}: no NashConv, the tree is too large (solver.target= asks for it all the same)")
    sampler = cfr.make_sampler(settings.name, game if ours else tree, settings.seed, settings.epsilon, limit)
    measure = None if tree is None else lambda: cfr.evaluate(tree, sampler.average_policy(tree))
    run = Run(config, sampler, folder, limits_of(config, SolverConfig(seconds=DEFAULT_SECONDS)), measure)
    stopped_by = run.until_done()
    log(f"{sampler.num_infosets:,} information sets met")
    policy = sampler.average_policy(tree)
    outcome = None if tree is None else Outcome(cfr.evaluate(tree, policy), tree.zero_sum)
    return finish(config, outcome, policy, folder, run.iterations, sampler.seconds, stopped_by)


def limits_of(config: SolveConfig, default: SolverConfig) -> SolverConfig:
    solver = config.solver
    return default if (solver.target, solver.iterations, solver.seconds) == (None, None, None) else solver


# -- one run ------------------------------------------------------------------------------------------------


class Run:
    """Iterations in slices of about a second, so that Ctrl-C finds the solver between two of them."""

    def __init__(
        self, config: SolveConfig, solver: Any, folder: Path, limits: SolverConfig,
        measure: Callable[[], cfr.Evaluation] | None,
    ) -> None:
        self.config, self.solver, self.folder, self.limits, self.measure = config, solver, folder, limits, measure
        if config.resume is not None:
            solver.load(checkpoint_file(config.resume))
        open_folder(config, folder)
        self.full = False  # a sampler's table has reached its limit
        began = time.perf_counter()
        self.found: cfr.Evaluation | cfr.Progress | None = None if measure is None else measure()
        # A slice ends with a NashConv: it must not take more than a small part of the time.
        self.slice = max(1.0, 10 * (time.perf_counter() - began))

    @property
    def nash_conv(self) -> float:
        return math.nan if self.found is None else self.found.nash_conv

    @property
    def iterations(self) -> int:
        return int(self.solver.iteration if isinstance(self.solver, cfr.Solver) else self.solver.iterations)

    def until_done(self) -> str:
        """Iterate; returns what ended it: target, iterations, seconds, memory or interrupted."""
        limits, began = self.limits, time.perf_counter()
        saved = began
        with interrupts() as interrupted, Display(limits, self.nash_conv, self.iterations) as display:
            while True:
                elapsed = time.perf_counter() - began
                display.show(self.iterations, elapsed, self.found)
                stopped_by = self.reason(elapsed, interrupted())
                if stopped_by or time.perf_counter() - saved >= self.config.solver.checkpoint:
                    self.solver.save(self.folder / CHECKPOINT)
                    saved = time.perf_counter()
                if stopped_by:
                    return stopped_by
                self.advance(elapsed)

    def reason(self, elapsed: float, interrupted: bool) -> str | None:
        limits = self.limits
        if limits.target is not None and self.nash_conv <= limits.target:
            return "target"
        if limits.iterations is not None and self.iterations >= limits.iterations:
            return "iterations"
        if limits.seconds is not None and elapsed >= limits.seconds:
            return "seconds"
        if self.full:
            return "memory"
        return "interrupted" if interrupted else None

    def advance(self, elapsed: float) -> None:
        limits = self.limits
        seconds = self.slice if limits.seconds is None else min(self.slice, limits.seconds - elapsed)
        more = None if limits.iterations is None else limits.iterations - self.iterations
        if isinstance(self.solver, cfr.Solver):
            self.found = self.solver.run(more, seconds, limits.target)
            return
        try:
            self.solver.run(iterations=more, seconds=seconds)
        except cfr.TableFullError:
            log("\nthe table of information sets has reached its limit, solver.memory; stopping here")
            self.full = True
        if self.measure is not None:
            self.found = self.measure()


def checkpoint_file(resume: str) -> Path:
    path = Path(resume)
    path = path / CHECKPOINT if path.is_dir() else path
    if not path.is_file():
        raise UserError(f"resume={resume}: there is no checkpoint {path}; give the folder of a run, "
                        "or its checkpoint file")
    return path


def open_folder(config: SolveConfig, folder: Path) -> None:
    """Ready for this run's files; the results of a finished run that is to be replaced go first."""
    folder.mkdir(parents=True, exist_ok=True)
    if config.resume is None:
        (folder / CHECKPOINT).unlink(missing_ok=True)
    (folder / RESULT).unlink(missing_ok=True)
    plain = {key: value for key, value in to_dict(config).items() if key not in ("output", "resume")}
    write_text(folder / CONFIG, dump_yaml(plain))


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What is known of the final policy, exactly."""

    evaluation: cfr.Evaluation
    zero_sum: bool


def finish(
    config: SolveConfig, outcome: Outcome | None, policy: Any, folder: Path,
    iterations: int, seconds: float, stopped_by: str,
) -> dict[str, Any]:
    """Write the policy and the result, tell people, return the result."""
    file = policy.save(folder / POLICY)
    result: dict[str, Any] = {"game": policy.spec, "solver": config.solver.name, "value": None, "nash_conv": None}
    if outcome is not None:
        found, players = outcome.evaluation, len(outcome.evaluation.values)
        # Rounding can leave a sum of gains a hair below zero.
        result |= {"value": found.values[0], "nash_conv": max(0.0, found.nash_conv), "values": list(found.values)}
        log(f"value for player 0 when both play this policy: {found.values[0]:.9f}"
            if players == 2 else
            f"values when all play this policy: {', '.join(f'{value:.9f}' for value in found.values)}")
        log(f"NashConv (sum of best-response gains): {result['nash_conv']:.6g}")
        if players == 2 and outcome.zero_sum:
            best = found.best_response_values
            result |= {"exploitability": result["nash_conv"] / 2, "value_bounds": [-best[1], best[0]]}
            log(f"exploitability (NashConv / 2): {result['exploitability']:.6g}; "
                f"so the game's value lies in [{-best[1]:.9f}, {best[0]:.9f}]")
    result |= {"iterations": iterations, "seconds": round(seconds, 3), "policy": str(file), "stopped_by": stopped_by}
    if stopped_by == "interrupted":
        log(f"interrupted and saved; go on with resume={folder}")
    else:
        write_json(folder / RESULT, result)
    log(f"policy: {file}")
    return result


# -- people -------------------------------------------------------------------------------------------------


@contextmanager
def interrupts() -> Iterator[Callable[[], bool]]:
    """While it is open, Ctrl-C (or SIGTERM) only sets a flag; a second one ends the program at once."""
    pressed = False

    def press(signum: int, frame: Any) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        log("\nstopping at the end of this second, then saving (again: stop at once, nothing saved)")

    main_thread = threading.current_thread() is threading.main_thread()  # the only one that may set handlers
    numbers = (signal.SIGINT, signal.SIGTERM) if main_thread else ()
    before = {number: signal.signal(number, press) for number in numbers}
    try:
        yield lambda: pressed
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Display:
    """A bar on a terminal, a line every few seconds elsewhere: NashConv and the value for player 0."""

    def __init__(self, limits: SolverConfig, nash_conv: float, iterations: int) -> None:
        self.limits, self.first, self.start = limits, nash_conv, iterations
        self.terminal = sys.stderr.isatty()
        self.next_line = LINE_EVERY

    def __enter__(self) -> Display:
        self.bar = tqdm(total=100, disable=not self.terminal, file=sys.stderr,
                        bar_format="{l_bar}{bar}| {elapsed}{postfix}")
        return self

    def __exit__(self, *_: Any) -> None:
        self.bar.close()

    def show(self, iterations: int, elapsed: float, found: cfr.Evaluation | cfr.Progress | None) -> None:
        text, nash_conv = f"iteration {iterations:,}", math.nan
        if found is not None:
            nash_conv = found.nash_conv
            text += f", NashConv {nash_conv:.3g}, value {found.values[0]:.6f}"
        if self.terminal:
            self.bar.n = round(100 * self.share(iterations, elapsed, nash_conv), 1)
            self.bar.set_postfix_str(text)
        elif elapsed >= self.next_line:
            log(f"{elapsed:8.1f} s  {text}")
            self.next_line = elapsed + LINE_EVERY

    def share(self, iterations: int, elapsed: float, nash_conv: float) -> float:
        """How much is done, by the limit that is nearest. A target is approached on a logarithmic scale."""
        limits, shares = self.limits, [0.0]
        if limits.seconds is not None:
            shares.append(elapsed / limits.seconds)
        if limits.iterations is not None:
            shares.append((iterations - self.start) / max(1, limits.iterations - self.start))
        if limits.target is not None and nash_conv > 0 and self.first > limits.target:
            shares.append(math.log(self.first / nash_conv) / math.log(self.first / limits.target))
        return min(1.0, max(shares))


if __name__ == "__main__":
    start(main)
