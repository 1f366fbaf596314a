"""Batched environment: many games of one kind in step, by one compiled pass over all of them.

Every lane is one game in which the player to move acts, whoever he is: the face for self-play. (The Gymnasium
face puts an opponent inside the environment; this one does not.)
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numba import types

from envs.core import Game, IllegalActionError, State, illegal_text, make
from envs.kernels import (
    PARAMS,
    TABLE,
    apply_of,
    current_player_of,
    kernel,
    legal_of,
    observe_of,
    reset_of,
    returns_of,
)
from envs.lanes import lane_of
from envs.rng import RNG, next_below, rng_state
from envs.spaces import observation_kind, observation_space, render_mode_checked

RENDER_MODES = ("ansi", "rgb_array")

_ROWS = types.Array(types.int32, 2, "C")
_MASKS = types.Array(types.bool_, 2, "C")
_F32S = types.Array(types.float32, 2, "C")
_F64S = types.Array(types.float64, 2, "C")
_I64 = types.Array(types.int64, 1, "C")
_BOOL = types.Array(types.bool_, 1, "C")
_F64 = types.Array(types.float64, 1, "C")


@kernel(types.void(TABLE, PARAMS, _ROWS, _I64, _BOOL))
def _reset_lanes(table, params, rows, lengths, chosen):
    """New games in the chosen lanes."""
    reset = reset_of(table)
    for lane in range(rows.shape[0]):
        if chosen[lane]:
            reset(params, lane_of(rows, lane))
            lengths[lane] = 0


@kernel(types.void(TABLE, PARAMS, _ROWS, types.int64, _I64, _MASKS, _I64, _F32S))
def _look_lanes(table, params, rows, view, player, masks, counts, observation):
    """Player to move, his legal actions and his observation, in all lanes."""
    current_player, legal, observe = current_player_of(table), legal_of(table), observe_of(table)
    for lane in range(rows.shape[0]):
        row = lane_of(rows, lane)
        player[lane] = current_player(params, row)
        counts[lane] = legal(params, row, lane_of(masks, lane))
        observe(params, row, player[lane], view, lane_of(observation, lane))


@kernel(
    types.int64(
        TABLE, PARAMS, _ROWS, types.int64, _I64, _I64, _MASKS, _I64, _I64,
        _F32S, _F64, _F64S, _BOOL, types.bool_, _F32S, _I64,
    )
)  # fmt: skip
def _step_lanes(
    table, params, rows, view, actions, player, masks, counts, lengths,
    observation, reward, rewards, finished, want_final, final_observation, final_length,
):  # fmt: skip
    """Take one action in every lane; a finished game is replaced by a new one.

    Returns how many games finished, or -1 - lane for the first lane whose action is illegal; nothing has
    changed then. The last observations (if wanted) and the lengths of finished games are packed at the front
    of ``final_observation`` and ``final_length``. ``reward``, ``rewards`` and ``finished`` come in as zeros.
    """
    for lane in range(rows.shape[0]):
        action = actions[lane]
        if action < 0 or action >= masks.shape[1] or not masks[lane, action]:
            return -1 - lane
    apply, current_player, legal = apply_of(table), current_player_of(table), legal_of(table)
    observe, returns, reset = observe_of(table), returns_of(table), reset_of(table)
    ended = 0
    for lane in range(rows.shape[0]):
        row = lane_of(rows, lane)
        apply(params, row, actions[lane])
        lengths[lane] += 1
        mover = current_player(params, row)
        if mover < 0:
            returns(params, row, lane_of(rewards, lane))
            reward[lane] = rewards[lane, player[lane]]
            if want_final:
                observe(params, row, player[lane], view, lane_of(final_observation, ended))
            final_length[ended] = lengths[lane]
            ended += 1
            finished[lane] = True
            reset(params, row)
            lengths[lane] = 0
            mover = current_player(params, row)
        player[lane] = mover
        counts[lane] = legal(params, row, lane_of(masks, lane))
        observe(params, row, mover, view, lane_of(observation, lane))
    return ended


@kernel(types.void(RNG, _MASKS, _I64, _I64))
def _sample_lanes(state, masks, counts, actions):
    """A uniformly random legal action per lane."""
    for lane in range(masks.shape[0]):
        left = next_below(state, counts[lane])
        choice = 0
        for action in range(masks.shape[1]):  # to the end: cheaper than a branch that guesses wrong
            left -= masks[lane, action]
            choice += left >= 0
        actions[lane] = choice


class VectorEnv(gymnasium.vector.VectorEnv):
    """``num_envs`` games of one kind, stepped together; in each lane the player to move acts.

    ``VectorEnv(game, num_envs, observation="information_state", seed=None, copy=True, final_obs=True,
    render_mode=None)``:
    ``game`` is an ``envs.Game`` or the name of one with its parameters as further keywords;
    ``observation`` is ``"information_state"`` (perfect recall) or ``"view"`` (what is known now).

    With B lanes, A actions, D = ``game.observation_size(view)`` and n players:

    * observation ``{"observation": float32[B, D], "action_mask": int8[B, A]}`` of the player to move.
    * ``step(actions: int[B])`` returns (observation, reward float64[B], terminated bool[B], truncated bool[B],
      info); ``reward`` is the reward of the player who just acted. Nothing is ever truncated.
    * info: ``"player"`` int64[B], to move in the returned observation; ``"actor"`` int64[B], who just acted (not
      in the info of a reset); ``"rewards"`` float64[B, n], all players' rewards of this transition.
    * Autoreset is SAME_STEP (``metadata["autoreset_mode"]``): a lane whose game ended returns the first
      observation of its next game. Only when a game ended, info also holds, as in Gymnasium,
      ``"final_obs"`` (object[B], the actor's last observation with an empty mask, None in other lanes),
      ``"_final_obs"`` (bool[B]) and ``"final_info"`` with ``"returns"`` float64[B, n] and ``"length"`` int64[B]
      (actions of the finished game), both valid where ``"_final_info"`` is true. ``final_obs=False`` leaves the
      last observations out: who does not need them saves a fifth of the time of a small game.

    Every call returns fresh arrays; ``copy=False`` reuses the observation arrays from call to call instead.
    An illegal action raises ``IllegalActionError`` before any lane has changed. ``seed`` (0 is a seed) governs
    ``sample_actions``; the games have no chance of their own. ``get_state``/``set_state``, pickle and deepcopy
    continue bit for bit.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int,
        observation: str = "information_state",
        seed: int | None = None,
        copy: bool = True,
        final_obs: bool = True,
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        if isinstance(game, str):
            game = make(game, **parameters)
        elif parameters:
            raise ValueError(
                f"{', '.join(parameters)}: parameters of a game go with its name, VectorEnv({game.name!r}, ...); "
                "here the game is built already"
            )
        if not isinstance(num_envs, (int, np.integer)) or isinstance(num_envs, bool) or num_envs < 1:
            raise ValueError(f"num_envs={num_envs!r} is not allowed; it must be an integer >= 1")
        self.game = game
        self.num_envs = int(num_envs)
        self.observation = observation
        self.render_mode = render_mode_checked(render_mode, RENDER_MODES)
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": list(RENDER_MODES)}
        self.copy = copy
        self.final_obs = final_obs
        self._view = int(observation_kind(observation))
        self.single_observation_space = observation_space(game, bool(self._view))
        self.single_action_space = gymnasium.spaces.Discrete(game.num_distinct_actions())
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

        self._table = game.kernels.table
        self._rows = np.zeros((self.num_envs, game.row_size), dtype=np.int32)
        self._lengths = np.zeros(self.num_envs, dtype=np.int64)
        self._player = np.zeros(self.num_envs, dtype=np.int64)
        self._masks = np.zeros((self.num_envs, game.num_distinct_actions()), dtype=np.bool_)
        self._counts = np.zeros(self.num_envs, dtype=np.int64)
        self._allocate()
        self._rng = rng_state(seed)
        self._started = False

    def _allocate(self) -> None:
        """Scratch arrays and constants that are no part of the state."""
        size = self.game.observation_size(bool(self._view))
        self._observation = np.zeros((self.num_envs, size), dtype=np.float32)
        self._mask_out = np.zeros(self._masks.shape, dtype=np.int8)
        self._final_observation = np.zeros((self.num_envs, size), dtype=np.float32)
        self._final_length = np.zeros(self.num_envs, dtype=np.int64)
        self._everywhere = np.ones(self.num_envs, dtype=np.bool_)
        self._everywhere.flags.writeable = False

    # -- Gymnasium --------------------------------------------------------------------------------------
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """New games in all lanes, or in those of ``options={"reset_mask": bool[B]}``; returns (observation, info).

        ``seed`` restarts the random numbers of ``sample_actions``; without one they go on.
        """
        options = dict(options or {})
        chosen = options.pop("reset_mask", None)
        if options:
            raise ValueError(f"unknown reset options {sorted(options)}; the only one is reset_mask")
        if chosen is None:
            chosen = self._everywhere
        elif not isinstance(chosen, np.ndarray) or chosen.shape != (self.num_envs,) or chosen.dtype != np.bool_:
            raise ValueError(f"options['reset_mask'] must be a bool array of shape ({self.num_envs},)")
        elif not self._started and not chosen.all():
            raise ValueError("the first reset must reset all lanes: leave out options['reset_mask']")
        if seed is not None:
            super().reset(seed=seed)
            self._rng = rng_state(seed)
        _reset_lanes(self._table, self.game.params, self._rows, self._lengths, chosen.copy())
        self._started = True
        return self._look(), {"player": self._player.copy(), "_player": self._everywhere}

    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Take one action in every lane; see the class for what comes back."""
        if not self._started:
            raise RuntimeError("step() before reset(): call reset() once before the first step")
        actions = self._checked(actions)
        lanes, players = self.num_envs, self.game.num_players
        reward = np.zeros(lanes, dtype=np.float64)
        rewards = np.zeros((lanes, players), dtype=np.float64)
        terminated = np.zeros(lanes, dtype=np.bool_)
        actor = self._player.copy()
        observation = np.empty_like(self._observation) if self.copy else self._observation
        ended = _step_lanes(
            self._table, self.game.params, self._rows, self._view, actions, self._player, self._masks,
            self._counts, self._lengths, observation, reward, rewards, terminated, self.final_obs,
            self._final_observation, self._final_length,
        )  # fmt: skip
        if ended < 0:
            self._refuse(-1 - ended, actions)
        everywhere = self._everywhere
        info: dict[str, Any] = {
            "player": self._player.copy(), "_player": everywhere,
            "actor": actor, "_actor": everywhere,
            "rewards": rewards, "_rewards": everywhere,
        }  # fmt: skip
        if ended:
            self._add_final(info, terminated, rewards, ended)
        batch = {"observation": observation, "action_mask": self._mask()}
        return batch, reward, terminated, np.zeros(lanes, dtype=np.bool_), info

    def render(self) -> tuple[Any, ...]:
        """One frame per lane: the board as the player to move sees it (text or uint8[h, w, 3])."""
        if self.render_mode is None:
            raise ValueError('nothing to render: build the environment with render_mode="ansi" or "rgb_array"')
        from envs.render import render

        frames = []
        for row, player in zip(self._rows, self._player.tolist(), strict=True):
            state = State(self.game, row.copy(), [])
            frames.append(render(self.game.picture(state, player), self.render_mode))
        return tuple(frames)

    # -- beyond Gymnasium -------------------------------------------------------------------------------
    def sample_actions(self, rng: np.ndarray | None = None) -> np.ndarray:
        """int64[B], a uniformly random legal action per lane.

        ``rng`` is a generator state of ``envs.rng.rng_state`` (uint64[4], advanced in place); without one the
        environment's own is used.
        """
        if not self._started:
            raise RuntimeError("sample_actions() before reset(): call reset() first")
        actions = np.empty(self.num_envs, dtype=np.int64)
        _sample_lanes(self._rng if rng is None else rng, self._masks, self._counts, actions)
        return actions

    def observe(self) -> dict[str, np.ndarray]:
        """The current observation again, as the last ``reset`` or ``step`` returned it."""
        if not self._started:
            raise RuntimeError("observe() before reset(): call reset() first")
        return self._look()

    @property
    def player(self) -> np.ndarray:
        """int64[B], the player to move (a copy)."""
        return self._player.copy()

    @property
    def episode_lengths(self) -> np.ndarray:
        """int64[B], actions taken so far in the running games (a copy)."""
        return self._lengths.copy()

    def get_state(self) -> dict[str, np.ndarray]:
        """Everything that a bit-exact continuation needs; contains hidden information.

        ``rows`` int32[B, row_size], ``lengths`` int64[B], ``rng`` uint64[4], ``started`` bool[1].
        """
        return {
            "rows": self._rows.copy(),
            "lengths": self._lengths.copy(),
            "rng": self._rng.copy(),
            "started": np.array([self._started]),
        }

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Continue from ``get_state`` of an environment of the same game and number of lanes."""
        mine = self.get_state()
        if set(state) != set(mine):
            raise ValueError(f"the state must hold {', '.join(mine)}; it holds {', '.join(map(str, state))}")
        taken = {}
        for name, own in mine.items():
            array = np.asarray(state[name])
            if array.shape != own.shape or array.dtype != own.dtype:
                raise ValueError(
                    f"{name} of the state is {array.dtype}{list(array.shape)}, this environment "
                    f"({self.game.spec()}, num_envs={self.num_envs}) needs {own.dtype}{list(own.shape)}"
                )
            taken[name] = array.copy()
        self._rows, self._lengths, self._rng = taken["rows"], taken["lengths"], taken["rng"]
        self._started = bool(taken["started"][0])
        if self._started:
            self._look()

    def __getstate__(self) -> dict[str, Any]:
        kept = self.__dict__.copy()
        for name in ("_table", "_observation", "_mask_out", "_final_observation", "_final_length", "_everywhere"):
            del kept[name]
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._table = self.game.kernels.table  # addresses are those of this process
        self._allocate()

    # -- inside -----------------------------------------------------------------------------------------
    def _look(self) -> dict[str, np.ndarray]:
        observation = np.empty_like(self._observation) if self.copy else self._observation
        _look_lanes(
            self._table, self.game.params, self._rows, self._view, self._player, self._masks, self._counts,
            observation,
        )  # fmt: skip
        return {"observation": observation, "action_mask": self._mask()}

    def _mask(self) -> np.ndarray:
        mask = self._masks.view(np.int8)
        if self.copy:
            return mask.copy()
        self._mask_out[:] = mask  # not the array itself: legality is checked against it
        return self._mask_out

    def _checked(self, actions: Any) -> np.ndarray:
        array = np.asarray(actions)
        if array.shape != (self.num_envs,) or array.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be {self.num_envs} integers, one per lane, not {array.dtype}{list(array.shape)}"
            )
        return np.ascontiguousarray(array, dtype=np.int64)

    def _refuse(self, lane: int, actions: np.ndarray) -> None:
        state = State(self.game, self._rows[lane].copy(), [])
        advice = f"choose by action_mask[{lane}]. No lane has been stepped."
        who = f"player {int(self._player[lane])}"
        raise IllegalActionError(illegal_text(state, int(actions[lane]), who, advice, f", lane {lane}"))

    def _add_final(self, info: dict[str, Any], terminated: np.ndarray, rewards: np.ndarray, ended: int) -> None:
        finished = terminated.copy()
        lanes = np.flatnonzero(finished)
        length = np.zeros(self.num_envs, dtype=np.int64)
        length[lanes] = self._final_length[:ended]
        info["final_info"] = {"returns": rewards.copy(), "_returns": finished, "length": length, "_length": finished}
        info["_final_info"] = finished
        if self.final_obs:
            last = self._final_observation[:ended].copy()
            empty = np.zeros((ended, self._masks.shape[1]), dtype=np.int8)
            final = np.empty(self.num_envs, dtype=object)  # filled with None
            final[lanes] = [{"observation": o, "action_mask": m} for o, m in zip(last, empty, strict=True)]
            info["final_obs"], info["_final_obs"] = final, finished
