"""Our games inside OpenSpiel: importing this module registers them, then ``pyspiel.load_game`` knows them.

    import envs.openspiel
    import pyspiel
    game = pyspiel.load_game("darkgames_dark_hex(rows=2,cols=3,version=abrupt,info=silent)")

Every game of ``envs`` is registered as ``darkgames_<name>`` with the parameters, defaults and errors that
``envs.make`` has. A state is a thin view over ``envs.core.State``. Information states have perfect recall and
hold the player's own actions, their outcomes and what was announced to him, nothing else. Where all players
see everything there is an observation tensor but no information-state tensor (as for OpenSpiel's ``hex``).

``native_game`` names OpenSpiel's own C++ game with the same rules, where there is one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

import envs
from envs.core import Game, State

try:
    import pyspiel
except ImportError as error:
    raise ImportError(
        "envs.openspiel needs OpenSpiel; install it with: pip install open_spiel "
        "(everything else in this project works without it)"
    ) from error

PREFIX = "darkgames_"
# OpenSpiel fills in the default of every parameter and cannot hold None: these stand for "unset".
UNSET_NUMBER, UNSET_TEXT = -1, "unset"

_VERSIONS = {"classical": "cdh", "abrupt": "adh"}  # of its dark_hex
_OBSERVATIONS = {"silent": "reveal-nothing", "numturns": "reveal-numturns"}


def openspiel_name(game: Game) -> str:
    """The string that ``pyspiel.load_game`` takes for one of our games."""
    inside = ",".join(f"{key}={value}" for key, value in game.explicit_parameters().items())
    return f"{PREFIX}{game.name}({inside})"


def load_game(game: Game) -> pyspiel.Game:
    """One of our games as a ``pyspiel.Game``."""
    return pyspiel.load_game(openspiel_name(game))


def native_game(game: Game) -> pyspiel.Game:
    """OpenSpiel's own implementation of the same rules, with equal action numbers.

    ``dark_hex``: classical/abrupt is its ``gameversion`` cdh/adh, silent/numturns its ``obstype``
    reveal-nothing/reveal-numturns. ``announce`` has a counterpart in the classical version only, namely
    reveal-numturns: of the opponent's actions in a turn all but the last are collisions, so at a decision their
    number tells everything. ``phantom_ttt`` on 3x3 with lines of 3: the same, its ``gameversion`` has our names.
    ``hex``: swap=pieces on square boards, or swap=off. Of Hex and Dark Hex, boards of one row or one column
    have no counterpart: OpenSpiel overlooks a stone that touches both sides of its colour. Raises ValueError for
    a game without a counterpart.
    """
    values = game.explicit_parameters()
    sizes: dict[str, Any] = {"num_rows": values.get("rows"), "num_cols": values.get("cols")}
    narrow = 1 in sizes.values()
    if game.name == "hex" and not narrow and not values["rex"] and values["swap"] != "sides":
        return pyspiel.load_game("hex", {**sizes, "swap": values["swap"] == "pieces"})
    if game.phantom_placement:
        info, version = values["info"], values["version"]
        if info == "announce" and version == "classical":
            info = "numturns"
        observation = _OBSERVATIONS.get(info)
        if game.name == "dark_hex" and not narrow and observation:
            return pyspiel.load_game("dark_hex", {**sizes, "gameversion": _VERSIONS[version], "obstype": observation})
        if game.name == "phantom_ttt" and (values["rows"], values["cols"], values["line"]) == (3, 3, 3) and observation:
            return pyspiel.load_game("phantom_ttt", {"gameversion": version, "obstype": observation})
    raise ValueError(
        f"OpenSpiel has no game with the rules of {game.spec()}; it has hex (rex=false, swap=pieces or off) and "
        "dark_hex, both with at least 2 rows and 2 columns, and phantom_ttt with rows=3, cols=3, line=3 (both: "
        "info=silent or numturns, with version=classical also announce)"
    )


class OpenSpielGame(pyspiel.Game):
    """A game of ours as a Python game of OpenSpiel; ``envs_game`` is the game behind it."""

    def __init__(
        self, game_class: type[Game], game_type: pyspiel.GameType, params: Mapping[str, Any] | None = None
    ) -> None:
        given = {key: value for key, value in dict(params or {}).items() if value not in (UNSET_NUMBER, UNSET_TEXT)}
        self.envs_game = envs.make(game_class.name, **given)
        game = self.envs_game
        info = pyspiel.GameInfo(
            num_distinct_actions=game.num_distinct_actions(),
            max_chance_outcomes=0,
            num_players=game.num_players,
            min_utility=game.min_utility(),
            max_utility=game.max_utility(),
            utility_sum=0.0 if game_type.utility == pyspiel.GameType.Utility.ZERO_SUM else None,
            max_game_length=game.max_game_length(),
        )
        super().__init__(game_type, info, game.explicit_parameters())

    def new_initial_state(self) -> OpenSpielState:
        return OpenSpielState(self, self.envs_game.new_initial_state())

    def make_py_observer(
        self, iig_obs_type: pyspiel.IIGObservationType | None = None, params: Mapping[str, Any] | None = None
    ) -> Observer:
        return Observer(self.envs_game, iig_obs_type, params)


class OpenSpielState(pyspiel.State):
    """A position; ``envs_state`` is the state behind it."""

    def __init__(self, game: OpenSpielGame, state: State) -> None:
        super().__init__(game)
        self.envs_state = state

    def current_player(self) -> int:
        return self.envs_state.current_player()

    def _legal_actions(self, player: int) -> list[int]:
        return self.envs_state.legal_actions(player)

    def _apply_action(self, action: int) -> None:
        self.envs_state.apply_action(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.envs_state.action_to_string(player, action)

    def is_terminal(self) -> bool:
        return self.envs_state.is_terminal()

    def returns(self) -> list[float]:
        return self.envs_state.returns()

    def __str__(self) -> str:
        return self.envs_state.to_string()


class Observer:
    """What one player knows, the way OpenSpiel wants it: ``tensor``, its named parts ``dict``, and strings.

    ``perfect_recall=True`` gives the information state, False what the player sees now.
    """

    def __init__(
        self,
        game: Game,
        iig_obs_type: pyspiel.IIGObservationType | None,
        params: Mapping[str, Any] | None,
    ) -> None:
        if params:
            raise ValueError(f"observation parameters are not supported, got {dict(params)}; pass none")
        if iig_obs_type is None:
            iig_obs_type = pyspiel.IIGObservationType(perfect_recall=False)
        if iig_obs_type.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER or not iig_obs_type.public_info:
            raise ValueError(
                "only observations of one player with public information are supported: "
                "pyspiel.IIGObservationType(perfect_recall=...)"
            )
        self._perfect_recall = iig_obs_type.perfect_recall
        self.tensor: np.ndarray | None = None
        self.dict: dict[str, np.ndarray] = {}
        if not (self._perfect_recall and game.perfect_information):
            view = not self._perfect_recall
            self.tensor = np.zeros(game.observation_size(view), dtype=np.float32)
            self.dict = {name: self.tensor[a:b] for name, a, b in game.observation_layout(view)}

    def set_from(self, state: OpenSpielState, player: int) -> None:
        if self.tensor is None:
            return
        inner = state.envs_state
        if self._perfect_recall:
            self.tensor[:] = inner.information_state_tensor(player)
        else:
            self.tensor[:] = inner.observation_tensor(player)

    def string_from(self, state: OpenSpielState, player: int) -> str:
        inner = state.envs_state
        if self._perfect_recall:
            return inner.information_state_string(player)
        return inner.observation_string(player)


# -- registration -------------------------------------------------------------------------------------------


def _game_type(game_class: type[Game]) -> pyspiel.GameType:
    """What OpenSpiel knows of a game before it has parameters."""
    players = game_class.num_players
    kinds = pyspiel.GameType
    information, utility = kinds.Information, kinds.Utility
    return pyspiel.GameType(
        short_name=PREFIX + game_class.name,
        long_name=f"darkgames {game_class.name}",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.DETERMINISTIC,
        information=(
            information.PERFECT_INFORMATION if game_class.perfect_information else information.IMPERFECT_INFORMATION
        ),
        utility=utility.ZERO_SUM if players == 2 else utility.GENERAL_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=players,
        min_num_players=players,
        provides_information_state_string=True,
        provides_information_state_tensor=not game_class.perfect_information,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_parameter_specification(game_class),
    )


def _parameter_specification(game_class: type[Game]) -> dict[str, Any]:
    defaults: dict[str, Any] = {}
    for field in dataclasses.fields(game_class.parameters_class):
        unset = UNSET_NUMBER if field.metadata["choices"] is None else UNSET_TEXT
        defaults[field.name] = unset if field.default is None else field.default
    return defaults


def _register(game_class: type[Game]) -> None:
    game_type = _game_type(game_class)
    if game_type.short_name in pyspiel.registered_names():
        return

    class RegisteredGame(OpenSpielGame):
        def __init__(self, params: Mapping[str, Any] | None = None) -> None:
            super().__init__(game_class, game_type, params)

    pyspiel.register_game(game_type, RegisteredGame)


for _name in envs.game_names():
    _register(type(envs.make(_name)))
