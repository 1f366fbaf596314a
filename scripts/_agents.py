"""Agents by name, for the scripts that let them play.

    uniform                     every legal action alike
    easy, medium, hard          the computer opponent, on the games that it plays
    mcts:SIMULATIONS            Monte Carlo tree search, on games that hide nothing
    mcts:SIMULATIONS:PATH       the same with the network of a checkpoint or run
    ismcts:SIMULATIONS          information-set Monte Carlo tree search, on games that hide something
    equilibrium                 the best policy that solve.py has found for the game; small boards are solved at once
    policy:PATH checkpoint:PATH PATH    a solver's policy, a trained network
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from _common import UserError, game_from_spec
from _equilibrium import equilibrium

import cfr
from agents import Agent, NetworkAgent, TabularAgent, UniformAgent
from envs import Game

LEVELS = ("easy", "medium", "hard")
FORMS = "uniform, equilibrium, easy, medium, hard, mcts:SIMULATIONS, mcts:SIMULATIONS:CHECKPOINT, " \
    "ismcts:SIMULATIONS, policy:PATH, checkpoint:PATH, or the PATH of a policy, a checkpoint, or a run's folder"


@dataclasses.dataclass(frozen=True)
class Entry:
    """One agent as it was asked for. ``spec``: text of the game it was made for, None if any will do."""

    text: str
    spec: str | None
    policy: cfr.TabularPolicy | cfr.MergedPolicy | cfr.SureWinPolicy | None = None
    checkpoint: Path | None = None
    search: tuple[str, int] | None = None  # kind (or level) and simulations; with the network of a checkpoint if any
    equilibrium: bool = False

    def ready(self, game: Any) -> Entry:
        """The agent for ``game``, an equilibrium with its policy. UserError if it was made for another game, or cannot
        play this one."""
        if self.spec is not None and self.spec != cfr.game_spec(game):
            raise UserError(f"{self.text}: made for {self.spec}, not for {cfr.game_spec(game)}; "
                            "choose that game, or another agent")
        if self.equilibrium and self.policy is None:
            return dataclasses.replace(self, policy=equilibrium(game, self.text))
        if self.search is not None and isinstance(game, Game):
            try:
                self._searcher(game)
            except ValueError as error:
                raise UserError(f"{self.text}: {error}") from error
        return self

    def _searcher(self, game: Game) -> Agent:
        kind, simulations = self.search or ("", 0)
        if kind in LEVELS:
            from agents.levels import computer_opponent  # these load compiled code

            return computer_opponent(kind, game)
        from agents.ismcts import ISMCTSAgent
        from agents.mcts import MCTSAgent, NetworkEvaluator

        if kind == "ismcts":
            return ISMCTSAgent(game, simulations, self.text)
        if self.checkpoint is None:
            return MCTSAgent(game, simulations, self.text)
        trained = NetworkAgent.load(self.checkpoint, game)
        evaluator = NetworkEvaluator(game, trained.network, trained.encoding)
        return MCTSAgent(game, simulations, self.text, evaluator=evaluator)

    def agent(self, game: Any) -> Agent:
        """The player."""
        entry = self.ready(game)
        if entry.search is not None:
            return entry._searcher(game)
        if entry.policy is not None:
            return TabularAgent(entry.policy, name=self.text)
        if entry.checkpoint is not None:
            agent = NetworkAgent.load(entry.checkpoint, game)
            agent.name = self.text
            return agent
        return UniformAgent()


def read_agent(text: str, key: str) -> Entry:
    """What ``text`` names; ``key`` is what error messages call it."""
    if text == "uniform":
        return Entry(text, None)
    if text == "equilibrium":
        return Entry(text, None, equilibrium=True)
    if text in LEVELS:
        return Entry(text, None, search=(text, 0))
    kind, _, rest = text.partition(":")
    if kind in ("mcts", "ismcts"):
        return _search(text, kind, rest, key)
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


def _search(text: str, kind: str, rest: str, key: str) -> Entry:
    number, colon, path = rest.partition(":")
    if not number.isdecimal() or int(number) < 1 or (colon and (kind == "ismcts" or not path)):
        raise UserError(f"{key} = {text!r}: write {kind}:SIMULATIONS, such as {kind}:1000"
                        + (" or mcts:200:runs/MY_TRAINING_RUN" if kind == "mcts" else ""))
    made = _checkpoint(text, Path(path)) if path else Entry(text, None)
    return dataclasses.replace(made, search=(kind, int(number)))


def _policy(text: str, path: Path) -> Entry:
    policy = cfr.load_policy(path / "policy.npz" if path.is_dir() else path)
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
