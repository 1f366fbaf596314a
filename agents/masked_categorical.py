"""The categorical distribution over legal actions: the one place where a mask meets logits.

Illegal entries are *replaced* by -inf. Adding a large negative constant instead lets an illegal action win as
soon as the legal logits are lower still.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["entropy", "log_prob", "log_probs", "sample"]


def log_probs(logits: Tensor, mask: Tensor) -> Tensor:
    """Logarithms of the probabilities, -inf where `mask` is false.

    Args:
        logits: float [..., A].
        mask: bool [..., A], true where the action is legal.

    Raises:
        ValueError: a row of `mask` without a legal action.
    """
    if not bool(mask.any(dim=-1).all()):
        row = int((~mask.any(dim=-1)).flatten().nonzero()[0])
        raise ValueError(
            f"row {row} of the action mask has no legal action; a finished game has no decision: "
            "reset the environment, or drop such rows"
        )
    return torch.log_softmax(logits.masked_fill(~mask, -torch.inf), dim=-1)


def sample(log_probabilities: Tensor, generator: torch.Generator) -> Tensor:
    """int64 [...]: an action per row, drawn with the probabilities of `log_probs`.

    Gumbel's trick in its exponential form: argmax p / E with E ~ Exp(1); entries of probability 0 never win.
    """
    noise = torch.empty_like(log_probabilities).exponential_(generator=generator)
    return (log_probabilities.exp() / noise).argmax(dim=-1)


def log_prob(log_probabilities: Tensor, action: Tensor) -> Tensor:
    """float [...]: the logarithm of the probability of `action` (int64 [...])."""
    return log_probabilities.gather(-1, action.unsqueeze(-1)).squeeze(-1)


def entropy(log_probabilities: Tensor) -> Tensor:
    """float [...]: entropy in nats. Illegal actions contribute nothing, to the gradient neither."""
    finite = log_probabilities.masked_fill(log_probabilities == -torch.inf, 0.0)
    return -(log_probabilities.exp() * finite).sum(dim=-1)
