"""Agents by name, for the scripts that let them play: uniform, the computer's levels, policies, checkpoints."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from _common import UserError, game_from_spec

import cfr
from agents import Agent, NetworkAgent, TabularAgent, UniformAgent

LEVELS = ("easy", "medium", "hard")
FORMS = (
    "uniform, easy, medium, hard, policy:PATH, checkpoint:PATH, "
    "or the PATH of a policy, a checkpoint, or a run's folder"
)


@dataclasses.dataclass(frozen=True)
class Entry:
    """One agent as it was asked for. ``spec``: text of the game it was made for, None if any will do."""

    text: str
    spec: str | None
    policy: cfr.TabularPolicy | None = None
    checkpoint: Path | None = None
    level: str | None = None

    def check(self, game: Any) -> None:
        """UserError if it was made for another game."""
        if self.spec is not None and self.spec != cfr.game_spec(game):
            raise UserError(f"{self.text}: made for {self.spec}, not for {cfr.game_spec(game)}; "
                            "choose that game, or another agent")

    def agent(self, game: Any) -> Agent:
        """The player."""
        self.check(game)
        if self.policy is not None:
            return TabularAgent(self.policy, name=self.text)
        if self.checkpoint is not None:
            agent = NetworkAgent.load(self.checkpoint, game)
            agent.name = self.text
            return agent
        if self.level is not None:
            from agents.levels import computer_opponent  # compiles the searches

            try:
                return computer_opponent(self.level, game)
            except ValueError as error:
                raise UserError(str(error)) from error
        return UniformAgent()


def read_agent(text: str, key: str) -> Entry:
    """What ``text`` names; ``key`` is what error messages call it."""
    if text == "uniform":
        return Entry(text, None)
    if text in LEVELS:
        return Entry(text, None, level=text)
    kind, _, rest = text.partition(":")
    if kind == "policy" and rest:
        return _policy(text, Path(rest))
    if kind == "checkpoint" and rest:
        return _checkpoint(text, Path(rest))
    path = Path(text)
    if path.is_dir():
        if (path / "policy.npz").is_file():
            return _policy(text, path)
        if any(path.glob("checkpoints/*.pt")) or any(path.glob("*.pt")):
            return _checkpoint(text, path)
        raise UserError(f"{key} = {text!r}: this folder has neither policy.npz nor checkpoints; give {FORMS}")
    if path.is_file():
        return _checkpoint(text, path) if path.suffix == ".pt" else _policy(text, path)
    raise UserError(f"{key} = {text!r}: no such agent and no such file; give {FORMS}")


def _policy(text: str, path: Path) -> Entry:
    policy = cfr.TabularPolicy.load(path / "policy.npz" if path.is_dir() else path)
    return Entry(text, policy.spec, policy=policy)


def _checkpoint(text: str, path: Path) -> Entry:
    from agents import checkpoint  # imports torch

    try:
        if path.is_dir():
            inside = path / "checkpoints"
            found = checkpoint.Checkpoints(inside if inside.is_dir() else path)
            path = found.best if found.best.is_file() else found.newest()
        return Entry(text, checkpoint.load(path)["spec"], checkpoint=path)
    except checkpoint.CheckpointError as error:
        raise UserError(str(error)) from error
    except KeyError as error:
        raise UserError(f"{path}: not the checkpoint of a training run (no {error})") from error


def game_of(entries: list[Entry]) -> Any | None:
    """The game that the first of the agents who knows was made for."""
    return next((game_from_spec(entry.spec) for entry in entries if entry.spec is not None), None)
