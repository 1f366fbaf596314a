"""PettingZoo AEC environment, one class for every game; the façades (``envs.dark_hex_v0``, ...) choose the game.

``RawAecEnv`` is the environment, ``AecEnv`` adds what PettingZoo's three standard wrappers check (bounds, illegal
actions, order of calls) in the same pass: the stock stack alone costs more than a game step.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.env_logger import EnvLogger

from envs.core import Game, IllegalActionError, State, illegal_text, make
from envs.spaces import observation_kind, observation_space, render_mode_checked, vector_space
from envs.stepping import ILLEGAL, look, take

RENDER_MODES = ("human", "ansi", "rgb_array")
ILLEGAL_REWARD = -1.0  # the offender's in AecEnv; the others get 0, as in PettingZoo's TerminateIllegalWrapper

_AFTER_RESET = frozenset(
    ("agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos")
)


class OutOfBoundsError(IllegalActionError, AssertionError):
    """An action outside the action space (an AssertionError too: PettingZoo's own wrapper raises one)."""


class OrderError(ResetNeeded, AssertionError):
    """A call that needs ``reset`` first (an AssertionError too: PettingZoo's own wrapper raises one)."""


class RawAecEnv(AECEnv):
    """A game as a PettingZoo AEC environment, without the checks of ``AecEnv``.

    ``game`` is an ``envs.Game``; ``name`` is the environment's name, ``dark_hex_v0``. Options, kept over resets:

    * ``observation``: ``"information_state"`` (perfect recall, default) or ``"view"`` (what is known now).
    * ``render_mode``: ``"ansi"`` (``render`` returns text), ``"rgb_array"`` (uint8[h, w, 3]), ``"human"`` (prints
      the text after every move) or None. A picture shows what the agent on turn sees.
    * ``render_omniscient``: pictures show everything instead, hidden stones included.

    Agents are ``player_0``, ``player_1``, ... in the order of the game's players; whose turn it is comes from the
    game alone. Observation of an agent: ``{"observation": float32[D], "action_mask": int8[A]}``, fresh arrays,
    made from that player's own information; the mask is all zero when he is not on turn. Infos are empty.
    Rewards are zero until the end of the game, then every agent gets the game's return once. The games have no
    chance, so ``reset(seed=...)`` starts the same game whatever the seed.

    An illegal action raises ``IllegalActionError`` and changes nothing. ``copy.deepcopy`` and pickle of a running
    game continue exactly there.
    """

    def __init__(
        self,
        game: Game,
        name: str,
        observation: str = "information_state",
        render_mode: str | None = None,
        render_omniscient: bool = False,
    ) -> None:
        super().__init__()
        self.game = game
        self.observation = observation
        self.render_mode = render_mode_checked(render_mode, RENDER_MODES)
        self.render_omniscient = render_omniscient
        self.metadata = {
            "name": name,
            "render_modes": list(RENDER_MODES),
            "render_fps": 2,
            "is_parallelizable": False,
        }
        self.possible_agents = [f"player_{player}" for player in range(game.num_players)]
        self._view = int(observation_kind(observation))
        self._seats = {agent: player for player, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {agent: observation_space(game, bool(self._view)) for agent in self._seats}
        actions = game.num_distinct_actions()
        self.action_spaces = {agent: gymnasium.spaces.Discrete(actions) for agent in self._seats}
        size = game.observation_size(bool(self._view))
        self.state_space = vector_space(game, game.num_players * (size + 1))
        self._size, self._actions, self._params, self._table = size, actions, game.params, game.kernels.table
        self._row = np.zeros(game.row_size, dtype=np.int32)
        self._mask = np.zeros(actions, dtype=np.bool_)
        self._returns = np.zeros(game.num_players, dtype=np.float64)
        self._history: list[tuple[int, int]] = []
        self._over = 0  # 1 once the game has ended, by its rules or by an illegal action
        self._skip_agent_selection = None

    def observation_space(self, agent: str) -> gymnasium.Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game with all agents. ``seed`` and ``options`` change nothing: no game has chance."""
        self.game.kernels.reset(self._params, self._row)
        agents = self.possible_agents
        self.agents = list(agents)
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in agents}
        self._history = []
        self._over = 0
        self._skip_agent_selection = None
        self.agent_selection = agents[self.game.kernels.current_player(self._params, self._row)]
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Take the action of ``agent_selection``; ``None`` for an agent whose game is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._dead_step(agent, action)
            return
        if type(action) is not int:
            action = self._integer(agent, action)
        mover = take(self._table, self._params, self._row, action, self._mask, self._returns)
        if mover == ILLEGAL:
            self._refuse(agent, action)
            return
        self._history.append((self._seats[agent], action))
        self._cumulative_rewards[agent] = 0.0
        if mover >= 0:
            self.agent_selection = self.possible_agents[mover]
        else:
            payoffs = self._returns.tolist()
            self._finish({a: payoffs[self._seats[a]] for a in self.agents}, truncated=False)
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """``{"observation": float32[D], "action_mask": int8[A]}`` of one agent."""
        observation = np.empty(self._size, np.float32)
        mask = np.empty(self._actions, np.int8)
        look(self._table, self._params, self._row, self._seats[agent], self._view, self._over, observation, mask)
        return {"observation": observation, "action_mask": mask}

    def state(self) -> np.ndarray:
        """What all players know together, **hidden information included**: for centralised critics, not for players.

        float32[n * D + n]: the observation vectors of all players, then one-hot the player to move (zero at the
        end).
        """
        players, size = self.game.num_players, self._size
        out = np.zeros(players * (size + 1), dtype=np.float32)
        for player in range(players):
            self.game.kernels.observe(
                self._params, self._row, player, self._view, out[player * size : (player + 1) * size]
            )
        mover = self.game.kernels.current_player(self._params, self._row)
        if mover >= 0:
            out[players * size + mover] = 1.0
        return out

    def position(self) -> State:
        """The game's ``State`` (a copy): **everything, hidden information included**."""
        return State(self.game, self._row.copy(), list(self._history))

    def render(self) -> str | np.ndarray | None:
        """The board as the agent on turn sees it, or all of it with ``render_omniscient``."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() without a render mode: pass render_mode="ansi" or "rgb_array"')
            return None
        from envs.render import render

        player = None if self.render_omniscient else self._seats[self.agent_selection]
        picture = self.game.picture(self.position(), player)
        if self.render_mode == "human":
            print(render(picture, "ansi"))
            return None
        return render(picture, self.render_mode)

    def close(self) -> None:
        """Nothing to release."""

    # -- inside -----------------------------------------------------------------------------------------
    def _finish(self, rewards: dict[str, float], truncated: bool) -> None:
        """End the game for all agents left; the first of them is to take his ``step(None)`` next."""
        self._over = 1
        self.rewards = rewards
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self._deads_step_first()

    def _dead_step(self, agent: str, action: Any) -> None:
        if action is not None:
            raise ValueError(
                f"the game is over for {agent}, action {action!r} cannot be taken; step(None) until env.agents is "
                "empty, then reset()"
            )
        self._was_dead_step(None)

    def _integer(self, agent: str, action: Any) -> int:
        if not isinstance(action, (bool, np.bool_)):
            try:
                return operator.index(action)
            except TypeError:
                pass
        raise OutOfBoundsError(
            f"{self.game.spec()}: action {action!r} of {agent} is not in its action space; actions are the integers "
            f"0 to {self._actions - 1}, legal ones have action_mask 1"
        )

    def _illegal_text(self, agent: str, action: int) -> str:
        return illegal_text(self.position(), action, agent, "choose one whose action_mask is 1")

    def _refuse(self, agent: str, action: int) -> None:
        raise IllegalActionError(self._illegal_text(agent, action))

    def __getattr__(self, name: str) -> Any:
        if name in _AFTER_RESET:
            raise AttributeError(f"{name} cannot be accessed before reset(): call reset() first")
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        kept = self.__dict__.copy()
        del kept["_table"]  # addresses are those of this process
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._table = self.game.kernels.table


class AecEnv(RawAecEnv):
    """``RawAecEnv`` with the checks of PettingZoo's standard wrappers.

    * An action outside the action space raises ``OutOfBoundsError``; nothing changes.
    * An illegal action ends the game by PettingZoo's convention: termination and truncation are true for all
      agents, the offender's reward is -1, the others' is 0 (so such a game is **not zero-sum**). The offender's
      info says which action it was; the action is not taken.
    * ``step``, ``last``, ``observe``, ``state``, ``render`` and ``agent_iter`` before ``reset`` raise ``OrderError``.
      A ``step(None)`` after the last agent has left is ignored with a warning, an action there raises
      ``OrderError``. ``agent_iter`` wants a ``step`` (or ``reset``) per turn of its loop.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._ready = False
        self._calls = 0  # of step and reset, for agent_iter

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._ready = True
        self._calls += 1
        super().reset(seed, options)

    def step(self, action: int | None) -> None:
        if not self._ready:
            raise OrderError("step() before reset(): call reset() first")
        if not self.agents:
            if action is not None:
                raise OrderError(f"the game is over, action {action!r} cannot be taken: call reset() for a new one")
            EnvLogger.warn_step_after_terminated_truncated()
            return
        self._calls += 1
        super().step(action)

    def last(self, observe: bool = True) -> tuple[dict[str, np.ndarray] | None, float, bool, bool, dict[str, Any]]:
        if not self._ready:
            raise OrderError("last() before reset(): call reset() first")
        agent = self.agent_selection
        if agent not in self.terminations:
            raise OrderError("last() after the last agent has left: the game is over, call reset() for a new one")
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        if not self._ready:
            raise OrderError("observe() before reset(): call reset() first")
        if agent not in self._seats:
            raise ValueError(f"there is no agent {agent!r}; agents are {', '.join(self.possible_agents)}")
        return super().observe(agent)

    def state(self) -> np.ndarray:
        if not self._ready:
            raise OrderError("state() before reset(): call reset() first")
        return super().state()

    def render(self) -> str | np.ndarray | None:
        if not self._ready:
            raise OrderError("render() before reset(): call reset() first")
        return super().render()

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:  # type: ignore[override]
        """The agent on turn, once per ``step``, until no agent is left."""
        if not self._ready:
            raise OrderError("agent_iter() before reset(): call reset() first")
        return self._turns(max_iter)

    def _turns(self, left: int) -> Iterator[str]:
        calls = -1
        while self.agents and left > 0:
            if self._calls == calls:
                raise OrderError("no step() since the last turn of this agent_iter() loop: step() or reset() in it")
            calls = self._calls
            left -= 1
            yield self.agent_selection

    def _refuse(self, agent: str, action: int) -> None:
        if not 0 <= action < self._actions:
            self._integer(agent, str(action))
        EnvLogger.warn_on_illegal_move()
        self.infos[agent]["illegal_action"] = self._illegal_text(agent, action)
        self._cumulative_rewards[agent] = 0.0
        self._finish({a: ILLEGAL_REWARD if a == agent else 0.0 for a in self.agents}, truncated=True)


def facade(
    game: str, version: int
) -> tuple[Callable[..., AecEnv], Callable[..., RawAecEnv], Callable[..., ParallelEnv]]:
    """(env, raw_env, parallel_env) of one game, for the façade modules."""
    name = f"{game}_v{version}"

    def build(kind: type[RawAecEnv], options: dict[str, Any]) -> Any:
        own = {k: options.pop(k) for k in ("observation", "render_mode", "render_omniscient") if k in options}
        return kind(make(game, **options), name, **own)

    def env(**options: Any) -> AecEnv:
        """The environment with all checks; keywords are the game's parameters and ``AecEnv``'s options."""
        return build(AecEnv, options)

    def raw_env(**options: Any) -> RawAecEnv:
        """The environment without the checks of PettingZoo's wrappers."""
        return build(RawAecEnv, options)

    def parallel_env(**options: Any) -> ParallelEnv:
        """The parallel face of ``env``: in every step only the active agent's action counts."""
        return turn_based_aec_to_parallel(env(**options))

    return env, raw_env, parallel_env
