"""Training runs: budget, evaluation, metrics, checkpoints, interruption. What is learnt, and how, is the learner's.

A learner (`agents.ppo.PPO` is one) has `steps`, `network`, `network_arguments`, `update(progress) -> metrics`,
`state_dict()` and `load_state_dict()`. Evaluation draws from generators of its own, so that it changes nothing
about the training: a run that was interrupted and resumed is bit for bit the run that was not.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import torch

import cfr
import configs
import envs
from agents import checkpoint
from agents.agent import NetworkAgent, UniformAgent
from agents.evaluation import HISTORIES, MergedEvaluator, exact_evaluator, fits
from agents.match import play_match
from agents.ppo import METRICS, PPO, PPOConfig
from agents.run_folder import RunFolder
from configs import ConfigError, bounded, choice, described, factory
from envs.core import Game

__all__ = ["CheckpointConfig", "EvaluationConfig", "TrainConfig", "columns", "load_config", "resume_config", "train"]


@dataclass(frozen=True)
class EvaluationConfig:
    points: int = bounded(20, 0, 10_000, help="evaluations, evenly spaced over the run; one more at the start")
    games: int = bounded(500, 1, 10_000_000, help="games per seat against the uniform player, each time")
    nash_conv: str = choice(
        "auto",
        ("auto", "on", "off"),
        help=f"exact NashConv and value; auto: where the tree has at most {HISTORIES:,} histories",
    )
    nash_conv_every: int = bounded(
        0, 0, help="environment steps between two exact NashConvs, on all boards where it is possible; 0: at the points"
    )

    def __post_init__(self) -> None:
        if self.nash_conv_every and self.nash_conv == "off":
            raise ValueError(f"nash_conv_every={self.nash_conv_every} and nash_conv=off: leave one of them out")


@dataclass(frozen=True)
class CheckpointConfig:
    seconds: float = bounded(30.0, 0, help="time between two checkpoints; one more at the end")
    keep: int = bounded(3, 1, 10_000, help="newest checkpoints kept, besides the best")


@dataclass(frozen=True)
class TrainConfig:
    game: dict = factory(lambda: {"name": "dark_hex"}, help="name and parameters, as in envs.make")
    agent: PPOConfig = factory(PPOConfig)
    run: str | None = described(None, help="run folder; null: a new one below runs/")
    seed: int = bounded(0, 0, 2**32 - 1, help="of everything")
    steps: int | None = bounded(None, 1, help="environment steps after which the run ends")
    seconds: float | None = bounded(None, 0, above=True, help="training time after which the run ends")
    threads: int = bounded(1, 1, 1024, help="torch threads; small networks are fastest with 1")
    tensorboard: bool = described(True, help="write TensorBoard events")
    evaluation: EvaluationConfig = factory(EvaluationConfig)
    checkpoint: CheckpointConfig = factory(CheckpointConfig)

    def __post_init__(self) -> None:
        if self.steps is None and self.seconds is None:
            raise ValueError("nothing says when to stop: give steps=1e6 or seconds=120")


_CHANGEABLE = ("steps", "seconds", "threads", "tensorboard", "evaluation", "checkpoint")
"""What may differ when a run is resumed: nothing that the learner depends on."""


def columns(players: int) -> list[str]:
    """The columns of metrics.csv, always the same for a number of players."""
    seats = [f"uniform/{part}_seat_{seat}" for seat in range(players) for part in ("return", "low", "high")]
    exact = [f"exact/{part}_seat_{seat}" for seat in range(players) for part in ("value", "best_response")]
    return ["steps", "updates", "seconds", "cpu_seconds", "steps_per_second", *METRICS, *seats, *exact, "nash_conv"]


def load_config(arguments: Sequence[str]) -> TrainConfig:
    """The configuration of a new run from `key=value` arguments; ConfigError names what is wrong with it."""
    return configs.load(TrainConfig, arguments, defaults={"game": "dark_hex", "agent": "ppo"})


def resume_config(folder: Path, arguments: Sequence[str] = ()) -> TrainConfig:
    """The configuration of an existing run, its budget and reporting changed by `arguments`."""
    if not (folder / "config.yaml").is_file():
        raise ConfigError(f"resume={folder}: no run there (no config.yaml); give the folder of a run")
    for argument in arguments:
        key = argument.split("=", 1)[0]
        if key.split(".")[0] not in _CHANGEABLE:
            raise ConfigError(
                f"{key}: a resumed run keeps its own configuration; only "
                f"{', '.join(_CHANGEABLE)} may change. Start a new run to change {key}"
            )
    return configs.load(TrainConfig, [f"config={folder / 'config.yaml'}", *arguments])


def train(
    config: TrainConfig,
    resume: Path | None = None,
    progress: Callable[[float, Mapping[str, float]], Any] | None = None,
    max_updates: int | None = None,
) -> dict[str, Any]:
    """Train until the budget is used up, or until SIGINT or SIGTERM; either way a checkpoint is written.

    Args:
        config: from `load_config`, or `resume_config` together with `resume`.
        resume: folder of the run to go on with, from its newest checkpoint.
        progress: called after every update with the share of the budget used and the metrics so far.
        max_updates: stop after so many updates of this call, as if interrupted.

    Returns:
        run, steps, updates, seconds, steps_per_second, steps_per_cpu_second, interrupted, checkpoint, best,
        returns_vs_uniform (per seat), nash_conv (None where it is not computed).
    """
    torch.set_num_threads(config.threads)
    # Weights and moments that fade to denormal numbers would slow every product down.
    torch.set_flush_denormal(True)
    game: Game = configs.apply("game", envs.make, config.game)
    content = None
    if resume is not None:
        content = _resumable(resume, config, game)
    learner = PPO(config.agent, game, config.seed)
    run = _Run(config, game, learner)
    if content is not None and resume is not None:
        learner.load_state_dict(content["learner"])
        run.load_state_dict(content["run"])
        checkpoint.write_atomically(resume / "config.yaml", lambda file: file.write(configs.to_yaml(config).encode()))
        run.folder = RunFolder.open(
            resume, columns(game.num_players), config.seed, learner.steps, config.checkpoint.keep, config.tensorboard
        )
    else:
        path = Path(config.run) if config.run else _new_path(config)
        run.folder = RunFolder.create(
            path,
            configs.to_yaml(config),
            columns(game.num_players),
            config.seed,
            config.checkpoint.keep,
            config.tensorboard,
        )
    try:
        with _Interruption() as interruption:
            return run.go(interruption, progress, max_updates)
    finally:
        run.folder.close()


class _Run:
    """The loop, and what of it survives in a checkpoint."""

    folder: RunFolder

    def __init__(self, config: TrainConfig, game: Game, learner: PPO) -> None:
        self.config, self.game, self.learner = config, game, learner
        self.seconds = self.cpu_seconds = 0.0  # spent in updates
        self.evaluated = -1  # the last evaluation point reached
        self.best: float | None = None
        self.results: dict[str, float] = {}
        self.exact_steps = -1  # environment steps at the last exact evaluation
        settings = config.evaluation
        wanted = settings.nash_conv == "on" or (settings.nash_conv == "auto" and fits(game))
        exact = settings.nash_conv_every > 0 or (settings.points > 0 and wanted)
        self.exact = exact_evaluator(game) if exact else None
        self.measure = "nash_conv" if exact else "return"  # what the best network is best at
        if isinstance(self.exact, MergedEvaluator):
            print(f"exact engine for NashConv, {self.exact.form.origin}", file=sys.stderr)

    def go(
        self,
        interruption: _Interruption,
        progress: Callable[[float, Mapping[str, float]], Any] | None,
        max_updates: int | None,
    ) -> dict[str, Any]:
        config, learner = self.config, self.learner
        updates, saved, written = 0, time.monotonic(), None
        if learner.updates == 0:
            found, _ = self._evaluate(0.0)
            self.folder.log({"steps": 0, "updates": 0, **found})
        while not interruption.requested and updates != max_updates:
            used = self._used()
            if used >= 1:
                break
            start, cpu = time.perf_counter(), time.process_time()
            metrics = learner.update(used)
            self.seconds += time.perf_counter() - start
            self.cpu_seconds += time.process_time() - cpu
            updates += 1
            used = self._used()
            row = {
                "steps": learner.steps,
                "updates": learner.updates,
                "seconds": self.seconds,
                "cpu_seconds": self.cpu_seconds,
                "steps_per_second": learner.steps / self.seconds,
                **metrics,
            }
            found, better = self._evaluate(used)
            self.folder.log(row | found)
            if better:
                self.folder.checkpoints.save_best(self.content())
            if time.monotonic() - saved >= config.checkpoint.seconds:
                written = self.folder.checkpoints.save(learner.steps, self.content())
                saved = time.monotonic()
            if progress is not None:
                progress(min(used, 1.0), row | self.results)
        interrupted = self._used() < 1
        written = self.folder.checkpoints.save(learner.steps, self.content())
        best = self.folder.checkpoints.best
        return {
            "run": str(self.folder.path),
            "steps": learner.steps,
            "updates": learner.updates,
            "seconds": round(self.seconds, 3),
            "steps_per_second": round(learner.steps / max(self.seconds, 1e-9), 1),
            "steps_per_cpu_second": round(learner.steps / max(self.cpu_seconds, 1e-9), 1),
            "interrupted": interrupted,
            "checkpoint": str(written),
            "best": str(best) if best.is_file() else None,
            "returns_vs_uniform": [self.results[f"uniform/return_seat_{seat}"] for seat in range(self.game.num_players)]
            if "uniform/return_seat_0" in self.results
            else None,
            "nash_conv": self.results.get("nash_conv"),
        }

    def _used(self) -> float:
        """The share of the budget that is used up."""
        config = self.config
        by_steps = self.learner.steps / config.steps if config.steps else 0.0
        by_time = self.seconds / config.seconds if config.seconds else 0.0
        return max(by_steps, by_time)

    def _evaluate(self, used: float) -> tuple[dict[str, float], bool]:
        """The evaluations that are due when a share `used` of the budget is gone; whether they are the best so far.

        The best network is the one with the smallest NashConv, where it is computed at all.
        """
        settings, steps = self.config.evaluation, self.learner.steps
        point = int(min(used, 1.0) * settings.points)
        play = settings.points > 0 and point > self.evaluated
        solve = play
        if settings.nash_conv_every:
            last = self.exact_steps // settings.nash_conv_every
            solve = steps // settings.nash_conv_every > last or used >= 1
        agent = NetworkAgent(self.learner.network, self.config.agent.observation)
        found: dict[str, float] = {}
        score = None
        if play:
            results, score = self._play(agent)
            found |= results
            self.evaluated = point
        if self.exact is not None:
            score = None
            if solve:
                found |= _exact_results(self.exact.evaluate(agent))
                score = -found["nash_conv"]
                self.exact_steps = steps
        self.results |= found
        better = score is not None and (self.best is None or score > self.best)
        self.best = score if better else self.best
        return found, better

    def _play(self, agent: NetworkAgent) -> tuple[dict[str, float], float]:
        """Results against the uniform player, and the mean return over the seats."""
        uniform = [UniformAgent() for _ in range(self.game.num_players - 1)]
        report = play_match(self.game, [agent, *uniform], self.config.evaluation.games, seed=self.config.seed).agents[0]
        results = {}
        for seat in report.seats:
            results[f"uniform/return_seat_{seat.seat}"] = seat.mean_return
            results[f"uniform/low_seat_{seat.seat}"] = seat.low
            results[f"uniform/high_seat_{seat.seat}"] = seat.high
        return results, report.mean_return

    def content(self) -> dict[str, Any]:
        """A checkpoint."""
        return {
            "algorithm": self.config.agent.name,
            "spec": self.game.spec(),
            "config": configs.to_dict(self.config),
            "observation": self.config.agent.observation,
            "network_arguments": self.learner.network_arguments,
            "learner": self.learner.state_dict(),
            "run": self.state_dict(),
        }

    def state_dict(self) -> dict[str, Any]:
        return {
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "evaluated": self.evaluated,
            "exact_steps": self.exact_steps,
            "best": self.best,
            "measure": self.measure,
            "results": self.results,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        measure = self.measure
        for name, value in state.items():
            setattr(self, name, value)
        if self.measure != measure:  # resumed with other evaluations
            self.measure, self.best = measure, None


def _exact_results(found: cfr.Evaluation) -> dict[str, float]:
    """As metrics: expected returns of the network in all seats, those of best responses to it, NashConv."""
    results = {}
    for seat, (value, best) in enumerate(zip(found.values, found.best_response_values, strict=True)):
        results[f"exact/value_seat_{seat}"] = value
        results[f"exact/best_response_seat_{seat}"] = best
    return results | {"nash_conv": found.nash_conv}


class _Interruption:
    """Turns the first SIGINT or SIGTERM into a request to stop after the update; a second one interrupts at once."""

    requested = False

    def __enter__(self) -> _Interruption:
        self._previous: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._handle)
        return self

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        print("stopping after this update; once more to stop at once", file=sys.stderr)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)


def _resumable(folder: Path, config: TrainConfig, game: Game) -> dict[str, Any]:
    """The newest checkpoint of a run, checked against the configuration beside it."""
    path = checkpoint.Checkpoints(folder / "checkpoints").newest()
    content = checkpoint.load(path)
    try:
        if content["spec"] != game.spec():
            raise checkpoint.CheckpointError(
                f"{path}: trained on {content['spec']}, but config.yaml says {game.spec()}; restore config.yaml"
            )
        mine, stored = configs.to_dict(config.agent), content["config"]["agent"]
        for key in mine:
            if mine[key] != stored.get(key):
                raise checkpoint.CheckpointError(
                    f"{path}: trained with agent.{key} = {stored.get(key)!r}, but config.yaml says {mine[key]!r}; "
                    "restore config.yaml"
                )
    except KeyError as error:
        raise checkpoint.CheckpointError(f"{path}: not the checkpoint of a training run (no {error})") from error
    return content


def _new_path(config: TrainConfig) -> Path:
    name = f"{config.game['name']}-{config.agent.name}-seed{config.seed}-{time.strftime('%Y%m%d-%H%M%S')}"
    path, count = Path("runs") / name, 1
    while path.exists():
        count += 1
        path = Path("runs") / f"{name}-{count}"
    return path
