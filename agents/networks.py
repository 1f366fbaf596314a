"""Networks: fully connected actor-critics over flat observations."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

__all__ = ["ACTIVATIONS", "ActorCritic"]

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh, "silu": nn.SiLU}


class ActorCritic(nn.Module):
    """A policy head and a value head.

    Args:
        observation_size: floats in an observation; the seat of the player is among them, so that one network
            serves all seats.
        num_actions: size of the action space; logits of illegal actions are the caller's to mask.
        hidden: widths of the hidden layers.
        activation: a key of ACTIVATIONS.
        separate: two bodies, one for the policy and one for the value, instead of one for both.
        seed: of the initial weights: orthogonal, the policy head near zero, so that play starts nearly uniform.
    """

    def __init__(
        self,
        observation_size: int,
        num_actions: int,
        hidden: Sequence[int] = (128, 128),
        activation: str = "relu",
        separate: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__()
        # Modules draw throwaway initial weights from torch's global generator: leave that one untouched.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            gain = 2**0.5
            self.actor_body = _body(observation_size, hidden, activation, gain)
            self.critic_body = _body(observation_size, hidden, activation, gain) if separate else self.actor_body
            width = hidden[-1] if hidden else observation_size
            self.actor_head = _linear(width, num_actions, 0.01)
            self.critic_head = _linear(width, 1, 1.0)

    def policy(self, observation: Tensor) -> Tensor:
        """Logits float [B, A] for observations float [B, D]."""
        return self.actor_head(self.actor_body(observation))

    def value(self, observation: Tensor) -> Tensor:
        """Expected return of the observing player, float [B]."""
        return self.critic_head(self.critic_body(observation)).squeeze(-1)

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """(logits [B, A], value [B])."""
        body = self.actor_body(observation)
        other = body if self.critic_body is self.actor_body else self.critic_body(observation)
        return self.actor_head(body), self.critic_head(other).squeeze(-1)


def _linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def _body(inputs: int, hidden: Sequence[int], activation: str, gain: float) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width in hidden:
        layers += [_linear(inputs, width, gain), ACTIVATIONS[activation]()]
        inputs = width
    return nn.Sequential(*layers)
