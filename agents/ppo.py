"""PPO by self-play.

One network plays every seat (the seat is in its observation) and learns from every decision, its own and its
opponent's. With a league, some games are played against past versions of itself instead.

Sources: Schulman et al., "Proximal Policy Optimization Algorithms", 2017 (the clipped objective, eq. 7 and 9);
Schulman et al., "High-Dimensional Continuous Control Using Generalized Advantage Estimation", 2016. That the
entropy bonus is what makes self-play PPO approach an equilibrium in games with hidden information: Rudolph et
al., "Reevaluating Policy Gradient Methods for Imperfect-Information Games", 2025.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from agents import masked_categorical
from agents.networks import ACTIVATIONS, ActorCritic
from agents.rollout import Rollout
from configs import bounded, choice, described, factory
from envs.core import Game
from envs.vector_env import VectorEnv

__all__ = ["METRICS", "PPO", "LeagueConfig", "PPOConfig"]


@dataclass(frozen=True)
class LeagueConfig:
    size: int = bounded(0, 0, 64, help="past versions kept as opponents; 0: the opponent is always itself")
    probability: float = bounded(0.2, 0, 1, help="share of games against a past version, once there is one")
    every: int = bounded(20, 1, help="updates between two versions that join the league")


@dataclass(frozen=True)
class PPOConfig:
    name: str = choice("ppo", ("ppo",), help="the algorithm")
    observation: str = choice(
        "information_state",
        ("information_state", "view"),
        help="all a player has learnt and when, or only what he knows now",
    )
    hidden: tuple[int, ...] = bounded((128, 128), 1, 8192, help="widths of the hidden layers")
    activation: str = choice("relu", tuple(ACTIVATIONS), help="between the layers")
    separate: bool = described(False, help="separate bodies for the policy and the value")
    num_envs: int = bounded(512, 1, 65536, help="games played side by side")
    rollout_steps: int = bounded(32, 1, 65536, help="steps of every game between two updates")
    epochs: int = bounded(4, 1, 100, help="passes over each batch")
    minibatches: int = bounded(8, 1, 4096, help="parts of the batch, one gradient step each")
    lr: float = bounded(1e-3, 0, 1, above=True, help="Adam's step size at the start")
    anneal: bool = described(True, help="let the step size fall linearly to 0 over the run")
    gamma: float = bounded(1.0, 0, 1, help="discount per own decision")
    gae_lambda: float = bounded(0.95, 0, 1, help="lambda of the advantage estimate")
    clip: float = bounded(0.025, 0, 10, above=True, help="how far a probability ratio may move from 1")
    entropy: float = bounded(0.1, 0, 10, help="weight of the entropy bonus; 0.05 to 0.2 matter most")
    entropy_end: float | None = bounded(None, 0, 10, help="that weight at the end, reached linearly; null: constant")
    value: float = bounded(0.5, 0, 100, help="weight of the value loss")
    max_grad_norm: float = bounded(1.0, 0, above=True, help="longest gradient vector")
    normalize_advantages: bool = described(True, help="to mean 0 and deviation 1, over each batch")
    league: LeagueConfig = factory(LeagueConfig)


METRICS = (
    "loss/policy",
    "loss/value",
    "policy/entropy",
    "policy/approx_kl",
    "policy/clip_fraction",
    "value/explained_variance",
    "gradient/norm",
    "schedule/lr",
    "schedule/entropy",
    "selfplay/games",
    "selfplay/length",
)
"""What `PPO.update` reports."""


class PPO:
    """A learner: `update` plays one rollout and learns from it; everything it needs to go on is in `state_dict`.

    Args:
        config: see PPOConfig.
        game: any game of `envs`; its players may act in any order.
        seed: of the weights, the games, the actions and the order of the minibatches.
    """

    def __init__(self, config: PPOConfig, game: Game, seed: int) -> None:
        self.config, self.game = config, game
        self.env = VectorEnv(game, config.num_envs, observation=config.observation, seed=seed, copy=False)
        self.generator = torch.Generator().manual_seed(seed)
        self.network_arguments = {
            "observation_size": game.observation_size(config.observation == "view"),
            "num_actions": game.num_distinct_actions(),
            "hidden": list(config.hidden),
            "activation": config.activation,
            "separate": config.separate,
        }
        self.network = ActorCritic(**self.network_arguments, seed=seed)  # type: ignore[arg-type]
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=config.lr, eps=1e-5, fused=True)
        self.rollout = Rollout(
            config.rollout_steps,
            config.num_envs,
            game.num_players,
            game.observation_size(config.observation == "view"),
            game.num_distinct_actions(),
        )
        self.updates = 0
        self.league: list[ActorCritic] = []
        # Per lane: which member of the league plays (-1: none), and the one seat that the learner then keeps.
        self.member = np.full(config.num_envs, -1, np.int64)
        self.seat = np.zeros(config.num_envs, np.int64)
        observation, info = self.env.reset(seed=seed)
        self._see(observation, info)

    @property
    def steps(self) -> int:
        """Environment steps so far, over all lanes."""
        return self.updates * self.config.rollout_steps * self.config.num_envs

    def update(self, progress: float) -> dict[str, float]:
        """One rollout and the gradient steps on it. `progress` in [0, 1] is how far the run has come."""
        lr = self.config.lr * (1 - progress if self.config.anneal else 1.0)
        self.optimizer.param_groups[0]["lr"] = max(lr, 1e-8)
        last = self.config.entropy if self.config.entropy_end is None else self.config.entropy_end
        bonus = self.config.entropy + (last - self.config.entropy) * min(progress, 1.0)
        batch = self.play()
        metrics = self.learn(batch, bonus)
        self.updates += 1
        self._grow_league()
        done = self.rollout.done
        return metrics | {
            "schedule/lr": lr,
            "schedule/entropy": bonus,
            "selfplay/games": float(done.sum()),
            "selfplay/length": done.size / max(1, int(done.sum())),
        }

    # -- rollout ----------------------------------------------------------------------------------------------

    @torch.inference_mode()
    def play(self) -> dict[str, Tensor]:
        """Fill the rollout storage from the batched environment; returns the decisions with known outcome."""
        store, first = self.rollout, self.game.num_players
        for t in range(self.config.rollout_steps):
            slot = first + t
            store.observation[slot], store.mask[slot] = self.observation, self.mask
            store.player[t] = self.player
            store.owned[t] = (self.member < 0) | (self.player == self.seat)
            logits = self.network.policy(torch.from_numpy(store.observation[slot]))
            self._ask_league(logits, store.observation[slot], store.owned[t])
            log_probs = masked_categorical.log_probs(logits, torch.from_numpy(store.mask[slot]))
            action = masked_categorical.sample(log_probs, self.generator)
            store.action[slot] = action.numpy()
            store.log_prob[slot] = masked_categorical.log_prob(log_probs, action).numpy()
            observation, _, terminated, truncated, info = self.env.step(store.action[slot])
            store.done[t] = terminated | truncated
            store.rewards[t] = info["rewards"]
            self._see(observation, info)
            self._draw_opponents(store.done[t])
        # Values are not needed while playing: one large product is cheaper than many small ones.
        values = self.network.value(torch.from_numpy(store.observation).flatten(0, 1))
        last = self.network.value(torch.from_numpy(self.observation))
        return store.finish(values, self.player, last, self.config.gamma, self.config.gae_lambda)

    def _see(self, observation: dict[str, np.ndarray], info: dict[str, Any]) -> None:
        self.observation = observation["observation"]
        self.mask = observation["action_mask"].view(np.bool_)
        self.player = info["player"]

    # -- league -----------------------------------------------------------------------------------------------

    def _ask_league(self, logits: Tensor, observation: np.ndarray, owned: np.ndarray) -> None:
        """Overwrite the logits of decisions that belong to past versions."""
        if not self.league or owned.all():
            return
        for index in np.unique(self.member[~owned]):
            lanes = torch.from_numpy(np.flatnonzero(~owned & (self.member == index)))
            logits[lanes] = self.league[index].policy(torch.from_numpy(observation)[lanes])

    def _draw_opponents(self, done: np.ndarray) -> None:
        """Choose opponents for the games that just began."""
        lanes = np.flatnonzero(done)
        if not self.league or not lanes.size:
            return
        draw = torch.rand((3, lanes.size), generator=self.generator, dtype=torch.float64).numpy()
        against = draw[0] < self.config.league.probability
        self.member[lanes] = np.where(against, (draw[1] * len(self.league)).astype(np.int64), -1)
        self.seat[lanes] = (draw[2] * self.game.num_players).astype(np.int64)

    def _grow_league(self) -> None:
        if self.config.league.size and self.updates % self.config.league.every == 0:
            self.league.append(copy.deepcopy(self.network).requires_grad_(False))
            if len(self.league) > self.config.league.size:
                # Games against the member that leaves go on against the next oldest.
                self.league.pop(0)
                self.member = np.where(self.member > 0, self.member - 1, self.member)

    # -- loss and update --------------------------------------------------------------------------------------

    def learn(self, batch: dict[str, Tensor], bonus: float) -> dict[str, float]:
        """`epochs` passes of clipped policy-gradient steps over the batch, with `bonus` on the entropy.

        Returns means over the steps.
        """
        config, size = self.config, batch["action"].numel()
        advantage, old_value = batch.pop("advantage"), batch.pop("value")
        batch["return"] = returns = advantage + old_value
        if config.normalize_advantages:
            advantage = (advantage - advantage.mean()) / (advantage.std(unbiased=False) + 1e-8)
        batch["advantage"] = advantage
        totals, count = torch.zeros(6), 0
        for _ in range(config.epochs):
            order = torch.randperm(size, generator=self.generator)
            for index in order.tensor_split(min(config.minibatches, size)):
                part = {name: tensor.index_select(0, index) for name, tensor in batch.items()}
                gain = part["advantage"]
                logits, value = self.network(part["observation"])
                log_probs = masked_categorical.log_probs(logits, part["mask"])
                log_ratio = masked_categorical.log_prob(log_probs, part["action"]) - part["log_prob"]
                ratio = log_ratio.exp()
                policy_loss = -torch.minimum(gain * ratio, gain * ratio.clamp(1 - config.clip, 1 + config.clip)).mean()
                value_loss = 0.5 * (value - part["return"]).square().mean()
                entropy = masked_categorical.entropy(log_probs).mean()
                loss = policy_loss + config.value * value_loss - bonus * entropy
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                norm = nn.utils.clip_grad_norm_(self.network.parameters(), config.max_grad_norm)
                self.optimizer.step()
                with torch.no_grad():
                    ratio, log_ratio = ratio.detach(), log_ratio.detach()
                    totals += torch.stack(
                        [
                            policy_loss.detach(),
                            value_loss.detach(),
                            entropy.detach(),
                            (ratio - 1 - log_ratio).mean(),
                            ((ratio - 1).abs() > config.clip).float().mean(),
                            norm.detach(),
                        ]
                    )
                count += 1
        policy_loss, value_loss, entropy, kl, clipped, norm = (totals / count).tolist()
        if not math.isfinite(policy_loss + value_loss + norm):
            raise FloatingPointError(
                f"update {self.updates}: the loss is not finite (policy {policy_loss}, value "
                f"{value_loss}); a smaller agent.lr or agent.max_grad_norm may help"
            )
        variance = float(returns.var(unbiased=False))
        explained = 1 - float((returns - old_value).var(unbiased=False)) / variance if variance else 0.0
        return {
            "loss/policy": policy_loss,
            "loss/value": value_loss,
            "policy/entropy": entropy,
            "policy/approx_kl": kl,
            "policy/clip_fraction": clipped,
            "gradient/norm": norm,
            "value/explained_variance": explained,
        }

    # -- saving -----------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Everything that the next update depends on, as tensors, numbers, lists and dicts of them."""
        return {
            "updates": self.updates,
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator.get_state(),
            "env": {name: torch.from_numpy(array) for name, array in self.env.get_state().items()},
            "rollout": self.rollout.state_dict(),
            "league": [member.state_dict() for member in self.league],
            "member": torch.from_numpy(self.member.copy()),
            "seat": torch.from_numpy(self.seat.copy()),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.updates = state["updates"]
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.generator.set_state(state["generator"])
        self.env.set_state({name: tensor.numpy() for name, tensor in state["env"].items()})
        self._see(self.env.observe(), {"player": self.env.player})
        self.rollout.load_state_dict(state["rollout"])
        self.league = []
        for weights in state["league"]:
            member = copy.deepcopy(self.network).requires_grad_(False)
            member.load_state_dict(weights)
            self.league.append(member)
        self.member, self.seat = (state[key].numpy().copy() for key in ("member", "seat"))
