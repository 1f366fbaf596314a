"""Gymnasium environment: one player's seat in a game, with an opponent in the other seats."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from envs.core import Game, IllegalActionError, State, illegal_text, make
from envs.observation import observe
from envs.spaces import observation_kind, observation_space, render_mode_checked
from envs.stepping import ILLEGAL, look, take

RENDER_MODES = ("human", "ansi", "rgb_array")
ILLEGAL_REWARD = -1.0
START_ATTEMPTS = 100  # games that may end before the learner's first turn, until reset gives up


class SingleAgentEnv(gymnasium.Env):
    """One seat of a game as a Gymnasium environment; ``gymnasium.make("darkgames/DarkHex-v0", rows=3)``.

    ``game`` is an ``envs.Game`` or the name of one, its parameters then being further keywords. Options:

    * ``opponent``: who plays the other seats. ``"uniform"`` (default): uniformly random legal actions. An agent,
      that is an object with ``act(observation)``, where ``observation`` is an ``envs.observation.Observation`` with
      the parts that ``agent.parts`` names; if it has ``reset(seed)``, that is called in every ``reset`` of the
      environment. Or a function of an observation like this environment's own (the dict below, from the
      opponent's side), which returns an action.
    * ``seat``: index of the learner's player (default 0), or ``"random"``: drawn anew in every ``reset``.
    * ``observation``: ``"information_state"`` (perfect recall, default) or ``"view"`` (what is known now).
    * ``render_mode``: ``"ansi"``, ``"rgb_array"``, ``"human"`` (prints the text after every move) or None; pictures
      show what the learner sees, or everything with ``render_omniscient=True``.

    Observation: ``{"observation": float32[D], "action_mask": int8[A]}`` of the learner, fresh arrays. Info:
    ``"action_mask"`` once more, for code that looks there, and ``"seat"``. Reward: the learner's return when the
    game ends, whoever ends it, else 0.

    An illegal action ends the game: ``terminated`` is true, the reward -1, and info has ``"illegal_action"``, a text
    that says what was wrong. An action outside the action space raises ValueError, a ``step`` without a running
    game ``gymnasium.error.ResetNeeded``. All randomness comes from ``np_random``, so the same ``reset(seed=...)`` and
    actions give the same game (0 is a seed). ``copy.deepcopy`` and pickle of a running game continue exactly there.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 2}

    def __init__(
        self,
        game: Game | str,
        opponent: Any = "uniform",
        seat: int | str = 0,
        observation: str = "information_state",
        render_mode: str | None = None,
        render_omniscient: bool = False,
        **parameters: Any,
    ) -> None:
        if isinstance(game, str):
            game = make(game, **parameters)
        elif parameters:
            raise ValueError(f"{', '.join(parameters)}: the game {game.spec()} is built already; pass its name")
        integer = isinstance(seat, (int, np.integer)) and not isinstance(seat, bool)
        if seat != "random" and not (integer and 0 <= int(seat) < game.num_players):
            raise ValueError(f"seat={seat!r} is not allowed; it must be 0 to {game.num_players - 1} or 'random'")
        if opponent != "uniform" and not callable(opponent) and not hasattr(opponent, "act"):
            raise ValueError(
                f"opponent={opponent!r} is not allowed; it must be 'uniform', an agent with act(observation), or a "
                "function of an observation"
            )
        self.game = game
        self.opponent = opponent
        self.observation = observation
        self.render_mode = render_mode_checked(render_mode, RENDER_MODES)
        self.render_omniscient = render_omniscient
        self.seat: int = 0 if seat == "random" else int(seat)
        self._random_seat = seat == "random"
        self._view = int(observation_kind(observation))
        self.observation_space = observation_space(game, bool(self._view))
        self.action_space = gymnasium.spaces.Discrete(game.num_distinct_actions())
        self._size, self._actions = game.observation_size(bool(self._view)), game.num_distinct_actions()
        self._table = game.kernels.table
        self._row = np.zeros(game.row_size, dtype=np.int32)
        self._mask = np.zeros(self._actions, dtype=np.bool_)
        self._returns = np.zeros(game.num_players, dtype=np.float64)
        self._history: list[tuple[int, int]] = []
        self._running = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Start a game and let the opponent move until it is the learner's turn. ``options`` has no use here."""
        super().reset(seed=seed)
        for _ in range(START_ATTEMPTS):
            self._start()
            if self._running:
                return self._turn()
        raise ValueError(
            f"{self.game.spec()}: the game is over before player {self.seat} can act; choose another seat or size"
        )

    def step(self, action: int) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """Take the learner's action, then the opponent's until it is the learner's turn again or the game ends."""
        if not self._running:
            over = "the game is over" if self._history else "step() before reset()"
            raise ResetNeeded(f"{over}: call reset() first")
        mover = self._take(self._as_action(action))
        reward = 0.0
        illegal = None
        if mover == ILLEGAL:
            illegal = self._illegal_text("the learner", int(action))
            reward = ILLEGAL_REWARD
            self._running = False
        else:
            self._play_opponents(mover)
            if not self._running:
                reward = float(self._returns[self.seat])
        observation, info = self._turn()
        if illegal is not None:
            info["illegal_action"] = illegal
        return observation, reward, not self._running, False, info

    def observe(self) -> dict[str, np.ndarray]:
        """The learner's current observation again, as the last ``reset`` or ``step`` returned it."""
        return self._observe(self.seat)

    def position(self) -> State:
        """The game's ``State`` (a copy): **everything, hidden information included**."""
        return State(self.game, self._row.copy(), list(self._history))

    def render(self) -> Any:
        """The board as the learner sees it, or all of it with ``render_omniscient``."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() without a render mode: pass render_mode="ansi" or "rgb_array"')
            return None
        from envs.render import render

        picture = self.game.picture(self.position(), None if self.render_omniscient else self.seat)
        if self.render_mode == "human":
            print(render(picture, "ansi"))
            return None
        return render(picture, self.render_mode)

    # -- inside -----------------------------------------------------------------------------------------
    def _start(self) -> None:
        """A new game, played up to the learner's first turn (or its end, should it come before)."""
        if self._random_seat:
            self.seat = int(self.np_random.integers(self.game.num_players))
        agent_reset = getattr(self.opponent, "reset", None)
        if agent_reset is not None:
            agent_reset(int(self.np_random.integers(2**31)))
        self.game.kernels.reset(self.game.params, self._row)
        self._history = []
        self._running = True
        self._play_opponents(self.game.kernels.current_player(self.game.params, self._row))

    def _turn(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        if self.render_mode == "human":
            self.render()
        observation = self._observe(self.seat)
        return observation, {"action_mask": observation["action_mask"].copy(), "seat": self.seat}

    def _observe(self, player: int) -> dict[str, np.ndarray]:
        observation = np.empty(self._size, np.float32)
        mask = np.empty(self._actions, np.int8)
        over = int(not self._running)
        look(self._table, self.game.params, self._row, player, self._view, over, observation, mask)
        return {"observation": observation, "action_mask": mask}

    def _take(self, action: int) -> int:
        player = self.game.kernels.current_player(self.game.params, self._row)
        mover = take(self._table, self.game.params, self._row, action, self._mask, self._returns)
        if mover != ILLEGAL:
            self._history.append((player, action))
            self._running = mover >= 0
        return mover

    def _play_opponents(self, mover: int) -> None:
        while self._running and mover != self.seat:
            action = self._opponent_action(mover)
            mover = self._take(action)
            if mover == ILLEGAL:
                raise IllegalActionError(self._illegal_text(f"the opponent {self.opponent!r}", action))

    def _opponent_action(self, player: int) -> int:
        if isinstance(self.opponent, str):
            count = self.game.kernels.legal(self.game.params, self._row, self._mask)
            return int(np.flatnonzero(self._mask)[self.np_random.integers(count)])
        act: Callable[[Any], Any] | None = getattr(self.opponent, "act", None)
        if act is not None:
            return operator.index(act(observe(self.position(), getattr(self.opponent, "parts", frozenset()))))
        return operator.index(self.opponent(self._observe(player)))

    def _as_action(self, action: Any) -> int:
        try:
            number = -1 if isinstance(action, (bool, np.bool_)) else operator.index(action)
        except TypeError:
            number = -1
        if not 0 <= number < self._actions:
            raise ValueError(
                f"{self.game.spec()}: action {action!r} is not in the action space; actions are the integers 0 to "
                f"{self._actions - 1}, legal ones have action_mask 1"
            )
        return number

    def _illegal_text(self, who: str, action: int) -> str:
        return illegal_text(self.position(), action, who, "choose one whose action_mask is 1")

    def __getstate__(self) -> dict[str, Any]:
        kept = self.__dict__.copy()
        del kept["_table"]  # addresses are those of this process
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._table = self.game.kernels.table
