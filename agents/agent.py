"""Players behind one protocol. An agent is handed an `Observation`: what its player may know.

That is what he is told by the game's own information functions, and which of his actions are legal. There is no way
back from it to anything hidden; where nothing is hidden, a searching agent may ask for the position itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from envs.core import Game, State
from envs.observation import Observation, observe

if TYPE_CHECKING:
    from cfr import MergedPolicy, SureWinPolicy, TabularPolicy

__all__ = [
    "Agent",
    "HumanAgent",
    "NetworkAgent",
    "Observation",
    "PolicyAgent",
    "Resigned",
    "TabularAgent",
    "UniformAgent",
    "observe",
    "position_of",
]


@runtime_checkable
class Agent(Protocol):
    """A player. `parts` names what its observations must hold; `name` is what reports call it."""

    name: str
    parts: frozenset[str]

    def reset(self, seed: int) -> None:
        """A new game begins; all randomness of the agent until the next reset comes from `seed`."""

    def act(self, observation: Observation) -> int:
        """A legal action."""


def position_of(observation: Observation, game: Game, name: str) -> State:
    """The position that an agent called `name` is to choose in; ValueError where there is none of its game."""
    state = observation.state
    if state is None or state.game != game:
        given = "no position" if state is None else state.game.spec()
        raise ValueError(f"{name} plays {game.spec()}, got {given}")
    return state


class PolicyAgent:
    """An agent that is a policy: a distribution over actions for each observation, and no memory.

    Subclasses give `probabilities`; whoever plays many games at once asks for all of them in one call.
    """

    name = "policy"
    parts: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)

    def probabilities(self, observations: Sequence[Observation]) -> np.ndarray:
        """float64 [n, A], rows sum to 1 and are 0 on illegal actions."""
        raise NotImplementedError

    def reset(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def act(self, observation: Observation) -> int:
        return int(draw(self.probabilities([observation]), self._rng.random(1))[0])


def draw(probabilities: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """int64 [n]: actions from rows of probabilities [n, A] and uniform numbers [n] in [0, 1).

    Never an action of probability 0, whatever the rounding of the sums.
    """
    total = probabilities.cumsum(axis=1)
    return (total > (uniform * total[:, -1])[:, None]).argmax(axis=1)


class UniformAgent(PolicyAgent):
    """Every legal action with the same probability."""

    name = "uniform"

    def probabilities(self, observations: Sequence[Observation]) -> np.ndarray:
        mask = np.stack([observation.mask for observation in observations]).astype(np.float64)
        return mask / mask.sum(axis=1, keepdims=True)


class TabularAgent(PolicyAgent):
    """Plays a solver's policy of one of our games; uniformly where an incomplete one (a sampler's) says nothing."""

    name = "tabular"
    parts = frozenset({"key"})

    def __init__(self, policy: TabularPolicy | MergedPolicy | SureWinPolicy, name: str = "tabular") -> None:
        super().__init__()
        if policy.key_kind != "tokens":
            raise ValueError(
                f"this policy is for OpenSpiel's {policy.spec} (its keys are {policy.key_kind}s); "
                "solve the game that envs.make gives and play that policy"
            )
        self.policy, self.name = policy, name

    def probabilities(self, observations: Sequence[Observation]) -> np.ndarray:
        return np.stack([self._distribution(seen) for seen in observations])

    def _distribution(self, seen: Observation) -> np.ndarray:
        if not self.policy.complete and (seen.key is None or not self.policy.knows(seen.key, seen.player)):
            return seen.mask / seen.mask.sum()
        return self.policy.probabilities(seen.key, seen.player)


class NetworkAgent(PolicyAgent):
    """Plays a network.

    Args:
        network: an `agents.networks.ActorCritic`.
        observation: which encoding it was trained on, "information_state" or "view".
    """

    def __init__(self, network: Any, observation: str = "information_state", name: str = "network") -> None:
        super().__init__()
        self.network, self.name = network, name
        self.encoding = observation
        self.parts = frozenset({observation})

    @classmethod
    def load(cls, path: Path | str, game: Game | None = None) -> NetworkAgent:
        """From a checkpoint file, or from a run folder (its best checkpoint, else its newest).

        Raises:
            agents.checkpoint.CheckpointError: no such file, damaged, or trained on another game than `game`.
        """
        from agents import checkpoint
        from agents.networks import ActorCritic

        path = Path(path)
        if path.is_dir():
            found = checkpoint.Checkpoints(path / "checkpoints" if (path / "checkpoints").is_dir() else path)
            path = found.best if found.best.is_file() else found.newest()
        content = checkpoint.load(path)
        missing = {"spec", "network_arguments", "learner", "observation", "algorithm"} - content.keys()
        if missing:
            raise checkpoint.CheckpointError(f"{path}: not the checkpoint of a training run (no {min(missing)})")
        if game is not None and content["spec"] != game.spec():
            raise checkpoint.CheckpointError(
                f"{path}: trained on {content['spec']}, not on {game.spec()}; choose that game, or another checkpoint"
            )
        network = ActorCritic(**content["network_arguments"])
        network.load_state_dict(content["learner"]["network"])
        return cls(network.eval(), content["observation"], name=f"{content['algorithm']}:{path.stem}")

    def probabilities(self, observations: Sequence[Observation]) -> np.ndarray:
        return self.distribution(
            np.stack([getattr(seen, self.encoding) for seen in observations]),
            np.stack([seen.mask for seen in observations]),
        )

    def distribution(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Probabilities float64[B, A] for observations float32[B, D] and legal actions bool[B, A]."""
        import torch

        from agents import masked_categorical

        with torch.inference_mode():
            logits = self.network.policy(torch.from_numpy(observations))
            return masked_categorical.log_probs(logits.double(), torch.from_numpy(masks)).exp().numpy()


class Resigned(Exception):
    """A person gave the game up."""


class HumanAgent:
    """A person at a terminal, who is shown his own view and nothing else.

    Args:
        game: reads and writes the names of actions.
        ask, tell: input and output, replaceable for other terminals and for tests.
    """

    name = "human"
    parts = frozenset({"text"})

    def __init__(
        self,
        game: Game,
        ask: Callable[[str], str] = input,
        tell: Callable[[str], Any] = lambda text: print(text, file=sys.stderr),
    ) -> None:
        self.game, self.ask, self.tell = game, ask, tell

    def reset(self, seed: int) -> None:
        """Nothing to do: a person brings his own randomness."""

    def act(self, observation: Observation) -> int:
        """Ask until the answer is a legal action. Raises Resigned on `resign`, and at the end of the input."""
        self.tell(observation.text or "")
        while True:
            try:
                text = self.ask(f"player {observation.player}, your move (or resign): ").strip()
            except EOFError:
                raise Resigned("the input ended") from None
            if text == "resign":
                raise Resigned(f"player {observation.player} resigned")
            try:
                action = self.game.string_to_action(text, observation.player)
            except ValueError as error:
                self.tell(str(error))
                continue
            if observation.mask[action]:
                return action
            legal = ", ".join(
                self.game.action_to_string(observation.player, int(a)) for a in np.flatnonzero(observation.mask)
            )
            self.tell(f"{text} is not open to you; choose one of {legal}")
