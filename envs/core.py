"""Game and State: the vocabulary every face, solver and agent speaks (OpenSpiel's words).

A ``Game`` is an immutable description: parameters, sizes, capabilities, kernels. A ``State`` is a position: one
integer row plus the list of actions that led to it. The rules live in the game's kernels alone; everything
here is a thin view over them.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np

from envs.kernels import TERMINAL, Kernels

INFORMATION_STATE, VIEW = 0, 1  # the ``view`` argument of the observe kernel


class IllegalActionError(ValueError):
    """An action that the rules do not allow; the state it was tried on is unchanged."""


def parameter(
    default: Any,
    *,
    choices: tuple[str, ...] | None = None,
    low: int | None = None,
    high: int | None = None,
    help: str = "",
) -> Any:
    """A dataclass field of a game's parameters with its allowed values; ``None`` means "unset"."""
    return dataclasses.field(
        default=default, metadata={"choices": choices, "low": low, "high": high, "help": help}
    )


@dataclasses.dataclass(frozen=True)
class Parameters:
    """Base of the games' parameter classes: checks every field against its declared values."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            meta = field.metadata
            if value is None and field.default is None:
                continue
            if meta["choices"] is not None:
                if value not in meta["choices"] or not isinstance(value, str):
                    raise ValueError(
                        f"{field.name}={value!r} is not allowed; choose one of {', '.join(meta['choices'])}"
                    )
            elif isinstance(field.default, bool):
                if not isinstance(value, (bool, np.bool_)):
                    raise ValueError(f"{field.name}={value!r} is not allowed; it must be true or false")
            elif isinstance(field.default, str):  # free text, checked by the game
                if not isinstance(value, str):
                    raise ValueError(f"{field.name}={value!r} is not allowed; it must be a text")
            else:
                low, high = meta["low"], meta["high"]
                integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
                if not integer or (low is not None and value < low) or (high is not None and value > high):
                    wanted = f"an integer from {low} to {high}" if high is not None else f"an integer >= {low}"
                    raise ValueError(f"{field.name}={value!r} is not allowed; it must be {wanted}")

    def replace(self, **changes: Any) -> Any:
        """A copy with some fields set, without checking again (for resolving unset defaults)."""
        clone = object.__new__(type(self))
        for field in dataclasses.fields(self):
            object.__setattr__(clone, field.name, changes.get(field.name, getattr(self, field.name)))
        return clone


class Game:
    """An immutable game description; build one with ``envs.make(name, **parameters)``.

    Attributes: ``parameters`` (frozen dataclass), ``kernels`` (see ``envs.kernels.Kernels``), ``params``
    (int32[:], the kernels' first argument), ``row_size`` (length of a state row, int32), ``num_players``,
    ``num_tokens`` (information tokens are 0..num_tokens-1), ``max_information_length`` (most tokens of one
    player). Capabilities, asked for instead of names: ``perfect_information``; ``phantom_placement`` (hidden
    stones, a target that turns out to be occupied is revealed to the mover); ``connects_sides`` (on a Hex board of
    ``rows`` x ``cols`` cells a player wins by a chain between his two sides).
    """

    name: ClassVar[str]
    parameters_class: ClassVar[type[Parameters]]
    kernels: ClassVar[Kernels]
    num_players: ClassVar[int] = 2
    perfect_information: ClassVar[bool] = True
    phantom_placement: ClassVar[bool] = False
    connects_sides: ClassVar[bool] = False

    params: np.ndarray
    row_size: int
    num_tokens: int
    max_information_length: int

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters

    # -- sizes ------------------------------------------------------------------------------------------
    def num_distinct_actions(self) -> int:
        """Actions are the integers 0..num_distinct_actions()-1."""
        raise NotImplementedError

    def max_game_length(self) -> int:
        """Most actions (by all players together) that a game can take."""
        raise NotImplementedError

    def min_utility(self) -> float:
        return -1.0

    def max_utility(self) -> float:
        return 1.0

    def observation_layout(self, view: bool = False) -> tuple[tuple[str, int, int], ...]:
        """Parts of an observation vector as (name, start, stop)."""
        raise NotImplementedError

    def observation_size(self, view: bool = False) -> int:
        """Length of an observation vector (float32)."""
        return self.observation_layout(view)[-1][2]

    def information_state_tensor_size(self) -> int:
        return self.observation_size(False)

    def observation_tensor_size(self) -> int:
        return self.observation_size(True)

    # -- text -------------------------------------------------------------------------------------------
    def action_to_string(self, player: int, action: int) -> str:
        raise NotImplementedError

    def string_to_action(self, text: str, player: int | None = None) -> int:
        """The action that ``text`` names; ValueError with the accepted forms otherwise."""
        raise NotImplementedError

    def move_to_string(self, state: State, player: int, action: int) -> str:
        """``action`` as a move in ``state``: differs from ``action_to_string`` where the board completes the name."""
        return self.action_to_string(player, action)

    def move_from_string(self, state: State, text: str) -> int:
        """The action that ``text`` names in ``state``."""
        return self.string_to_action(text, state.current_player())

    def cell_to_string(self, cell: int) -> str:
        """Name of a cell, as in a ``witness``."""
        return self.action_to_string(0, cell)

    def information_string(self, player: int, tokens: np.ndarray) -> str:
        """Readable form of a player's information state."""
        raise NotImplementedError

    def state_to_string(self, state: State, player: int | None) -> str:
        """The position as text: the omniscient board (player None) or one player's view."""
        raise NotImplementedError

    def state_from_string(self, text: str) -> State:
        """A position from its text form, see the game's page in ``docs/games``."""
        raise NotImplementedError

    def picture(self, state: State, player: int | None = None) -> Any:
        """What ``envs.render`` draws: an ``envs.render.BoardPicture`` of the omniscient board or of a view."""
        raise NotImplementedError

    # -- positions --------------------------------------------------------------------------------------
    def new_initial_state(self) -> State:
        row = np.zeros(self.row_size, dtype=np.int32)
        self.kernels.reset(self.params, row)
        return State(self, row, [])

    def reason(self, state: State) -> str | None:
        """Why a finished game ended, None before the end."""
        raise NotImplementedError

    def witness(self, state: State) -> tuple[int, ...]:
        """Cells that show why a finished game ended (a winning chain, ...), empty before the end."""
        raise NotImplementedError

    def state_from_information(
        self, player: int, tokens: np.ndarray, mover: int, rng: np.random.Generator
    ) -> State:
        """A random running state that ``player``, whose information tokens are ``tokens``, takes for possible.

        ``mover`` is the player to move. Every such state has a chance. Nothing else goes in, so whoever works on
        such states knows only what the player knows.
        """
        raise NotImplementedError(f"{self.name} does not offer states from a player's information")

    def offers_resample(self) -> bool:
        """Whether ``State.resample`` works."""
        return self.perfect_information or type(self).state_from_information is not Game.state_from_information

    # -- identity ---------------------------------------------------------------------------------------
    def explicit_parameters(self) -> dict[str, Any]:
        """All parameters with their values, defaults resolved; ``envs.make(game.name, **these)`` == game."""
        return {f.name: getattr(self.parameters, f.name) for f in dataclasses.fields(self.parameters)}

    def spec(self) -> str:
        """Canonical text, equal for equal games: ``dark_hex(rows=3,cols=3,version=classical,info=silent)``."""
        inside = ",".join(
            f"{k}={str(v).lower() if isinstance(v, bool) else v}" for k, v in self.explicit_parameters().items()
        )
        return f"{self.name}({inside})"

    def __repr__(self) -> str:
        return self.spec()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and self.spec() == other.spec()

    def __hash__(self) -> int:
        return hash(self.spec())

    def __reduce__(self) -> tuple[Any, ...]:
        return _make_from_dict, (self.name, self.explicit_parameters())


class State:
    """A position of a game. Vocabulary and behaviour follow ``pyspiel.State``; none of our games has chance nodes.

    ``player=None`` means the player to move. An illegal action raises ``IllegalActionError`` and leaves the
    state unchanged.
    """

    __slots__ = ("game", "row", "_history")

    def __init__(self, game: Game, row: np.ndarray, history: list[tuple[int, int]]) -> None:
        self.game = game
        self.row = row
        self._history = history

    # -- whose turn, what is possible -------------------------------------------------------------------
    def current_player(self) -> int:
        """Index of the player to move, or ``envs.kernels.TERMINAL`` (-4) at the end."""
        return self.game.kernels.current_player(self.game.params, self.row)

    def is_terminal(self) -> bool:
        return self.current_player() == TERMINAL

    def is_chance_node(self) -> bool:
        return False

    def is_simultaneous_node(self) -> bool:
        return False

    def legal_actions_mask(self, player: int | None = None) -> np.ndarray:
        """bool[num_distinct_actions]; all false for a player not on turn and at the end."""
        mask = np.zeros(self.game.num_distinct_actions(), dtype=np.bool_)
        if player is None or self._checked(player) == self.current_player():
            self.game.kernels.legal(self.game.params, self.row, mask)
        return mask

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Sorted legal actions; [] for a player not on turn and at the end."""
        return np.flatnonzero(self.legal_actions_mask(player)).tolist()

    # -- moving -----------------------------------------------------------------------------------------
    def apply_action(self, action: int) -> None:
        """Take an action of the player to move."""
        player = self.current_player()
        if player == TERMINAL:
            raise IllegalActionError(
                f"{self.game.spec()}: the game is over ({self.reason()}), action {action!r} cannot be taken; "
                "start a new game with game.new_initial_state()"
            )
        mask = self.legal_actions_mask()
        if (
            not isinstance(action, (int, np.integer))
            or isinstance(action, bool)
            or not 0 <= action < mask.size
            or not mask[action]
        ):
            advice = "choose one of state.legal_actions()"
            raise IllegalActionError(illegal_text(self, action, f"player {player}", advice))
        self.game.kernels.apply(self.game.params, self.row, int(action))
        self._history.append((player, int(action)))

    def apply_actions(self, actions: Sequence[int]) -> None:
        for action in actions:
            self.apply_action(action)

    def child(self, action: int) -> State:
        other = self.clone()
        other.apply_action(action)
        return other

    def clone(self) -> State:
        return State(self.game, self.row.copy(), list(self._history))

    def history(self) -> list[int]:
        """Actions so far, of all players (omniscient)."""
        return [action for _, action in self._history]

    def full_history(self) -> list[tuple[int, int]]:
        """(player, action) pairs so far (omniscient)."""
        return list(self._history)

    def move_number(self) -> int:
        return len(self._history)

    # -- outcome ----------------------------------------------------------------------------------------
    def returns(self) -> list[float]:
        """Payoff per player; zeros before the end."""
        out = np.zeros(self.game.num_players, dtype=np.float64)
        self.game.kernels.returns(self.game.params, self.row, out)
        return out.tolist()

    def rewards(self) -> list[float]:
        """Rewards of the last transition: the returns at the end, zeros before."""
        return self.returns()

    def reason(self) -> str | None:
        """Why the game ended; None before the end."""
        return self.game.reason(self) if self.is_terminal() else None

    def witness(self) -> tuple[int, ...]:
        """Cells that show why the game ended; empty before the end."""
        return self.game.witness(self) if self.is_terminal() else ()

    # -- information ------------------------------------------------------------------------------------
    def information_tokens(self, player: int | None = None) -> np.ndarray:
        """int32[:], the player's information state with perfect recall (a copy)."""
        player = self._player(player)
        start, stop = self.game.kernels.information_span(self.game.params, self.row, player)
        return self.row[start:stop].copy()

    def information_state_key(self, player: int | None = None) -> bytes:
        """Hashable key of the player's information state: one byte of seat, then the tokens as int32."""
        player = self._player(player)
        return bytes([player]) + self.information_tokens(player).tobytes()

    def information_state_string(self, player: int | None = None) -> str:
        player = self._player(player)
        return self.game.information_string(player, self.information_tokens(player))

    def information_state_tensor(self, player: int | None = None) -> np.ndarray:
        """float32[observation_size(view=False)]."""
        return self._observe(self._player(player), INFORMATION_STATE)

    def observation_tensor(self, player: int | None = None) -> np.ndarray:
        """float32[observation_size(view=True)]: what the player knows now, without when he learnt it."""
        return self._observe(self._player(player), VIEW)

    def observation_string(self, player: int | None = None) -> str:
        return self.to_string(self._player(player))

    def resample(self, player: int | None = None, rng: np.random.Generator | None = None) -> State:
        """Another full state with the same information of ``player``; every such state has a chance.

        For running games only: at the end everything is revealed (ValueError).
        """
        player, mover = self._player(player), self.current_player()
        if mover == TERMINAL:
            raise ValueError("resample is for running games: at the end the whole board is revealed")
        if self.game.perfect_information:
            return self.clone()
        rng = np.random.default_rng() if rng is None else rng
        return self.game.state_from_information(player, self.information_tokens(player), mover, rng)

    # -- text -------------------------------------------------------------------------------------------
    def action_to_string(self, player: int, action: int | None = None) -> str:
        """``action_to_string(player, action)``, or with one argument the action of the player to move."""
        if action is None:
            player, action = self.current_player(), player
        return self.game.move_to_string(self, player, action)

    def string_to_action(self, text: str) -> int:
        return self.game.move_from_string(self, text)

    def to_string(self, player: int | None = None) -> str:
        """The board as text: a player's own view, or everything when ``player`` is None."""
        return self.game.state_to_string(self, player if player is None else self._checked(player))

    def __str__(self) -> str:
        return self.to_string()

    # -- rest -------------------------------------------------------------------------------------------
    def num_players(self) -> int:
        return self.game.num_players

    def num_distinct_actions(self) -> int:
        return self.game.num_distinct_actions()

    def get_game(self) -> Game:
        return self.game

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, State)
            and self.game == other.game
            and self._history == other._history
            and bool(np.array_equal(self.row, other.row))
        )

    def __hash__(self) -> int:
        return hash((self.game, self.row.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return State, (self.game, self.row.copy(), list(self._history))

    def _observe(self, player: int, view: int) -> np.ndarray:
        out = np.zeros(self.game.observation_size(bool(view)), dtype=np.float32)
        self.game.kernels.observe(self.game.params, self.row, player, view, out)
        return out

    def _player(self, player: int | None) -> int:
        """The given player, or the one to move; an error when there is none."""
        if player is not None:
            return self._checked(player)
        mover = self.current_player()
        if mover == TERMINAL:
            raise ValueError("the game is over, nobody is to move: name the player, 0 to "
                             f"{self.game.num_players - 1}")
        return mover

    def _checked(self, player: int) -> int:
        if not isinstance(player, (int, np.integer)) or not 0 <= player < self.game.num_players:
            raise ValueError(f"player {player!r} does not exist; players are 0 to {self.game.num_players - 1}")
        return int(player)


def illegal_text(state: State, action: Any, who: str, advice: str, where: str = "") -> str:
    """What every face says of an illegal action: its name in this position, whose it was, what is legal, the fix."""
    known = isinstance(action, (int, np.integer)) and 0 <= action < state.num_distinct_actions()
    named = f" ({state.action_to_string(state.current_player(), int(action))})" if known else ""
    return (
        f"{state.game.spec()}{where}: action {action!r}{named} of {who} is illegal; "
        f"legal actions are {state.legal_actions()}; {advice}"
    )


def game_names() -> list[str]:
    """Names that ``make`` accepts: the modules of ``envs.games`` that define a ``GAME``."""
    return [name for name in _modules() if hasattr(importlib.import_module(f"envs.games.{name}"), "GAME")]


@cache
def _modules() -> tuple[str, ...]:
    import envs.games

    return tuple(sorted(module.name for module in pkgutil.iter_modules(envs.games.__path__)))


def make(name: str, **parameters: Any) -> Game:
    """Build a game: ``make("dark_hex", rows=3, cols=3, version="classical", info="silent")``.

    Raises ValueError naming the unknown game, parameter or value and what is allowed.
    """
    if not isinstance(name, str) or name not in _modules():
        raise ValueError(f"unknown game {name!r}; games are {', '.join(game_names())}")
    game_class = getattr(importlib.import_module(f"envs.games.{name}"), "GAME", None)
    if game_class is None:
        raise ValueError(f"unknown game {name!r}; games are {', '.join(game_names())}")
    known = [f.name for f in dataclasses.fields(game_class.parameters_class)]
    for key in parameters:
        if key not in known:
            raise ValueError(f"{name} has no parameter {key!r}; its parameters are {', '.join(known)}")
    try:
        return game_class(game_class.parameters_class(**parameters))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _make_from_dict(name: str, parameters: dict[str, Any]) -> Game:
    return make(name, **parameters)
