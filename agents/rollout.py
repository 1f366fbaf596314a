"""Rollout storage: transitions per *decision of a player*, credited by player id.

In classical Dark Hex a player may act several times in a row, in a three-player game nobody alternates with a
single opponent. So nothing here looks at the neighbouring step: each lane keeps, for each player, what is
known about the time after his last decision.

The outcome of some decisions is not known when a batch ends: the player has not moved again and the game
goes on. Dropping them would keep only the decisions that happened to end a game at once. They wait in the
first `num_players` slots of the next batch instead, with the probability under which they were taken.
"""

from __future__ import annotations

import numpy as np
import torch
from numba import types
from torch import Tensor

from envs.kernels import kernel

__all__ = ["Rollout", "credit"]

_F32_1 = types.Array(types.float32, 1, "C")
_F32_2 = types.Array(types.float32, 2, "C")
_F64_2 = types.Array(types.float64, 2, "C")
_F64_3 = types.Array(types.float64, 3, "C")
_I64_1 = types.Array(types.int64, 1, "C")
_I64_2 = types.Array(types.int64, 2, "C")
_BOOL_2 = types.Array(types.bool_, 2, "C")


@kernel(
    types.void(
        _I64_2,
        _BOOL_2,
        _BOOL_2,
        _F64_3,
        _F32_2,
        _F32_2,
        _I64_1,
        _F32_1,
        types.float64,
        types.float64,
        _F32_2,
        _BOOL_2,
        _I64_2,
        _F32_2,
    )
)
def credit(
    player,
    owned,
    done,
    rewards,
    values,
    waiting_reward,
    last_player,
    last_value,
    gamma,
    lam,
    advantage,
    ready,
    left_slot,
    left_reward,
):
    """Generalised advantage estimates per player (Schulman et al. 2016, eq. 16), over T steps of B lanes.

    A player's trajectory is the sequence of his own decisions; his reward for one is all he receives until
    his next, discounted once per own decision.

    Args:
        player: int64 [T, B], who decided.
        owned: bool [T, B], whether the decision is the learner's (not a past opponent's).
        done: bool [T, B], whether the game ended with this step.
        rewards: float64 [T, B, P], of all players, for this step.
        values: float32 [P + T, B], value of each decision to its player; slot p < P is the decision of
            player p left over from the batch before, slot P + t that of step t.
        waiting_reward: float32 [P, B], received since the left-over decision; NaN where there is none.
        last_player, last_value: int64 and float32 [B], who decides next, and the value of that to him.
        advantage, ready: float32 and bool [P + T, B], written: the estimates, and where there is one.
        left_slot, left_reward: int64 and float32 [P, B], written: the slot of the decision that this batch
            leaves over (-1: none), and what was received since (NaN: none).
    """
    steps, lanes = player.shape
    players = rewards.shape[2]
    known = np.zeros(players, dtype=np.bool_)  # is what follows the player's decision known?
    next_value = np.zeros(players, dtype=np.float64)
    gae = np.zeros(players, dtype=np.float64)
    reward = np.zeros(players, dtype=np.float64)  # received since that decision
    for lane in range(lanes):
        for p in range(players):
            known[p] = p == last_player[lane]
            next_value[p] = last_value[lane] if known[p] else 0.0
            gae[p] = 0.0
            reward[p] = 0.0
            left_slot[p, lane] = -1
            left_reward[p, lane] = np.nan
        for index in range(steps + players):
            # Backwards in time: the steps of this batch, then the decisions left over from before it.
            slot = steps + players - 1 - index
            t = slot - players
            if t >= 0:
                if done[t, lane]:
                    for p in range(players):
                        known[p] = True
                        next_value[p] = 0.0
                        gae[p] = 0.0
                        reward[p] = 0.0
                for p in range(players):
                    reward[p] += rewards[t, lane, p]
                who = player[t, lane]
                present = owned[t, lane]
            else:
                who = slot
                present = not np.isnan(waiting_reward[who, lane])
                if present:
                    reward[who] += waiting_reward[who, lane]
            ready[slot, lane] = present and known[who]
            advantage[slot, lane] = 0.0
            if present:
                if known[who]:
                    gae[who] = reward[who] + gamma * next_value[who] - values[slot, lane] + gamma * lam * gae[who]
                    advantage[slot, lane] = gae[who]
                else:
                    left_slot[who, lane] = slot
                    left_reward[who, lane] = reward[who]
                    gae[who] = 0.0
                known[who] = True
                next_value[who] = values[slot, lane]
                reward[who] = 0.0


class Rollout:
    """T steps of B lanes, and for each player and lane at most one decision waiting for its outcome.

    Arrays have the shape [P + T, B, ...]: slots 0..P-1 hold the waiting decisions, slot P + t those of step t.
    They are NumPy arrays, written in place, and read by torch without a copy.
    """

    def __init__(self, steps: int, lanes: int, players: int, observation_size: int, num_actions: int) -> None:
        slots = players + steps
        self.steps, self.lanes, self.players = steps, lanes, players
        self.observation = np.zeros((slots, lanes, observation_size), np.float32)
        self.mask = np.zeros((slots, lanes, num_actions), np.bool_)
        self.action = np.zeros((slots, lanes), np.int64)
        self.log_prob = np.zeros((slots, lanes), np.float32)
        self.player = np.zeros((steps, lanes), np.int64)
        self.owned = np.ones((steps, lanes), np.bool_)
        self.done = np.zeros((steps, lanes), np.bool_)
        self.rewards = np.zeros((steps, lanes, players), np.float64)
        self.waiting_reward = np.full((players, lanes), np.nan, np.float32)
        self._values = np.zeros((slots, lanes), np.float32)
        self._advantage = np.zeros((slots, lanes), np.float32)
        self._ready = np.zeros((slots, lanes), np.bool_)
        self._left_slot = np.full((players, lanes), -1, np.int64)
        self._left_reward = self.waiting_reward.copy()

    def finish(
        self, values: Tensor, last_player: np.ndarray, last_value: Tensor, gamma: float, lam: float
    ) -> dict[str, Tensor]:
        """The learner's decisions whose outcome is known, in the order slot by slot.

        Args:
            values: float32 [(P + T) * B], of every slot.
            last_player, last_value: int64 [B] and float32 [B], of the decision after the last step.
            gamma, lam: discount per own decision, and GAE's lambda.

        Returns:
            Tensors of equal length N: observation [N, D], mask [N, A], action, log_prob, value, advantage.
            They are copies: the storage may be reused.
        """
        self._values[...] = values.numpy().reshape(self._values.shape)
        credit(
            self.player,
            self.owned,
            self.done,
            self.rewards,
            self._values,
            self.waiting_reward,
            np.ascontiguousarray(last_player, np.int64),
            last_value.numpy(),
            gamma,
            lam,
            self._advantage,
            self._ready,
            self._left_slot,
            self._left_reward,
        )
        index = torch.from_numpy(np.flatnonzero(self._ready))
        stored = {
            "observation": self.observation,
            "mask": self.mask,
            "action": self.action,
            "log_prob": self.log_prob,
            "value": self._values,
            "advantage": self._advantage,
        }
        batch = {name: torch.from_numpy(array).flatten(0, 1).index_select(0, index) for name, array in stored.items()}
        self.waiting_reward[...] = self._left_reward
        player, lane = np.nonzero(self._left_slot >= 0)
        slot = self._left_slot[player, lane]
        for array in (self.observation, self.mask, self.action, self.log_prob):
            array[player, lane] = array[slot, lane]
        return batch

    def state_dict(self) -> dict[str, Tensor]:
        """What must be saved between batches: the waiting decisions."""
        first = slice(0, self.players)
        arrays = {
            "observation": self.observation[first],
            "mask": self.mask[first],
            "action": self.action[first],
            "log_prob": self.log_prob[first],
            "waiting_reward": self.waiting_reward,
        }
        return {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        first = slice(0, self.players)
        for name in ("observation", "mask", "action", "log_prob"):
            getattr(self, name)[first] = state[name].numpy()
        self.waiting_reward[...] = state["waiting_reward"].numpy()
