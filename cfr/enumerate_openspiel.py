"""Depth-first enumeration of a ``pyspiel.Game`` through its ``State``.

Identity of information sets. OpenSpiel's ``information_state_string`` is the usual key. It is wrong for games
whose string tells more than the player knows; for these the tensor of the player's information state is the
key. ``key="auto"`` takes the string unless the game is listed in ``TENSOR_KEYED`` or has none; ``"string"`` and
``"tensor"`` force one of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np

from cfr.enumeration import Enumeration, Histories, PlayerEnumeration
from cfr.errors import PerfectRecallError, UnsupportedGameError
from cfr.keys import KeyTable

# dark_hex writes the total number of actions into the string, so with obstype=reveal-nothing it leaks the
# opponent's failed probes (and lacks perfect recall); its tensor does not.
TENSOR_KEYED = frozenset({"dark_hex"})
KEY_KINDS = ("string", "tensor")
BYTES_PER_TERMINAL = 200  # of the Python lists below, measured


def openspiel_spec(game: Any) -> str:
    """Canonical text of a pyspiel game, all parameters explicit: equal for equal games."""
    return f"pyspiel:{_described(game.get_type().short_name, game.get_parameters())}"


def _described(name: str, parameters: dict[str, Any]) -> str:
    """As ``pyspiel.load_game`` reads it. A parameter that is a game is a dict with its name and parameters."""
    items = []
    for key, value in sorted(parameters.items()):
        if isinstance(value, dict):
            value = _described(value["name"], {k: v for k, v in value.items() if k != "name"})
        items.append(f"{key}={value}")
    return f"{name}({','.join(items)})"


def check_supported(game: Any) -> None:
    """UnsupportedGameError unless moves are sequential and chance outcomes are listed."""
    import pyspiel

    kind = game.get_type()
    if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        simultaneous = kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
        raise UnsupportedGameError(
            f"{game}: its dynamics are {kind.dynamics.name.lower()}, but the solvers need a game in which one player "
            "moves at a time"
            + ("; make it one with pyspiel.convert_to_turn_based(game)" if simultaneous else "")
        )
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise UnsupportedGameError(
            f"{game}: it samples its chance outcomes and does not list their probabilities, so it has no tree"
        )


def key_kind(game: Any, key: str) -> str:
    """Resolve ``key`` ("auto", "string" or "tensor") for a game; ValueError when it cannot be had."""
    if key not in ("auto", *KEY_KINDS):
        raise ValueError(f'key={key!r} is not allowed; choose one of "auto", "string", "tensor"')
    kind = game.get_type()
    if key == "auto":
        prefer_tensor = kind.short_name in TENSOR_KEYED or not kind.provides_information_state_string
        key = "tensor" if prefer_tensor and kind.provides_information_state_tensor else "string"
    if not getattr(kind, f"provides_information_state_{key}"):
        raise UnsupportedGameError(
            f"{game} provides no information_state_{key}, so its information sets cannot be told apart by it; "
            + _other_key(game, key)
        )
    return key


def state_key(state: Any, player: int, kind: str) -> bytes:
    """Key of a player's information state: UTF-8 of the string, or the tensor as float32."""
    if kind == "string":
        return state.information_state_string(player).encode()
    return array("f", state.information_state_tensor(player)).tobytes()


class _Player:
    """A player's infosets while they are being found."""

    def __init__(self) -> None:
        self.index: dict[bytes, int] = {}
        self.parent_sequence: list[int] = []
        self.first_sequence: list[int] = [1]
        self.actions: list[int] = [-1]

    def frozen(self) -> PlayerEnumeration:
        return PlayerEnumeration(
            parent_sequence=np.array(self.parent_sequence, dtype=np.int32),
            first_sequence=np.array(self.first_sequence, dtype=np.int64),
            actions=np.array(self.actions, dtype=np.int32),
            keys=KeyTable.from_keys(list(self.index)),
        )


def enumerate_openspiel(
    game: Any, kind: str, reserve: Callable[[int, int], None], keep_histories: bool = False
) -> Enumeration:
    """Enumerate a game that ``check_supported`` accepts, infosets told apart by ``kind`` (see ``key_kind``).
    ``reserve(bytes, terminals)`` is called now and then and may raise."""
    num_players = game.num_players()
    players = [_Player() for _ in range(num_players)]
    terminal_sequences, terminal_payoffs, terminal_chance = array("i"), array("d"), array("d")
    num_histories = num_terminals = 0
    nodes = _Nodes(num_players)
    # Entries: state, last sequences, probability of chance so far, parent node, probability of its last step.
    stack: list[tuple[Any, tuple[int, ...], float, int, float]]
    stack = [(game.new_initial_state(), (0,) * num_players, 1.0, -1, 1.0)]
    while stack:
        state, sequences, reached, parent, step = stack.pop()
        node = num_histories
        num_histories += 1
        mover = state.current_player()
        infoset = None
        returns = None
        children: list[tuple[Any, tuple[int, ...], float, int, float]] = []
        if mover >= 0:
            own = players[mover]
            name = state_key(state, mover, kind)
            legal = state.legal_actions()
            infoset = own.index.get(name)
            if infoset is None:
                infoset = own.index[name] = len(own.parent_sequence)
                own.parent_sequence.append(sequences[mover])
                own.first_sequence.append(own.first_sequence[-1] + len(legal))
                own.actions.extend(legal)
            first, stop = own.first_sequence[infoset], own.first_sequence[infoset + 1]
            if own.parent_sequence[infoset] != sequences[mover]:
                raise PerfectRecallError(
                    f"{game}: information set {_shown(state, mover, kind)} of player {mover} is reached after two "
                    "different sequences of the player's own actions, so the game has no perfect recall under "
                    f'key="{kind}"; ' + _other_key(game, kind)
                )
            if own.actions[first:stop] != legal:
                raise PerfectRecallError(
                    f"{game}: information set {_shown(state, mover, kind)} of player {mover} has different legal "
                    f'actions in two of its positions under key="{kind}"; ' + _other_key(game, kind)
                )
            before, after = sequences[:mover], sequences[mover + 1 :]
            children = [
                (state.child(action), (*before, first + k, *after), reached, node, 1.0)
                for k, action in enumerate(legal)
            ]
        elif state.is_terminal():
            returns = state.returns()
            terminal_sequences.extend(sequences)
            terminal_payoffs.extend([reached * value for value in returns])
            terminal_chance.append(reached)
            num_terminals += 1
            if num_terminals % 16384 == 0:
                reserve(num_terminals * BYTES_PER_TERMINAL, num_terminals)
        else:
            children = [
                (state.child(action), sequences, reached * p, node, p)
                for action, p in state.chance_outcomes()
                if p > 0.0
            ]
        if keep_histories:
            nodes.add(mover, -1 if infoset is None else infoset, parent, step, returns)
        stack.extend(reversed(children))  # the first child is looked at first
    return Enumeration(
        num_histories=num_histories,
        terminal_sequences=np.array(terminal_sequences, dtype=np.int32).reshape(-1, num_players),
        terminal_payoffs=np.array(terminal_payoffs, dtype=np.float64).reshape(-1, num_players),
        terminal_chance=np.array(terminal_chance, dtype=np.float64),
        players=tuple(player.frozen() for player in players),
        histories=nodes.frozen() if keep_histories else None,
    )


def _shown(state: Any, player: int, kind: str) -> str:
    return repr(state.information_state_string(player)) if kind == "string" else f"(tensor) after {state.history()}"


def _other_key(game: Any, kind: str) -> str:
    other = "tensor" if kind == "string" else "string"
    if getattr(game.get_type(), f"provides_information_state_{other}"):
        return f'try key="{other}"'
    return "there is no other key to try"


class _Nodes:
    """The histories as they are visited in depth-first order."""

    def __init__(self, num_players: int) -> None:
        self.num_players = num_players
        self.player, self.infoset, self.parent = array("i"), array("i"), array("q")
        self.probability, self.returns = array("d"), array("d")

    def add(self, player: int, infoset: int, parent: int, probability: float, returns: list[float] | None) -> None:
        self.player.append(player)
        self.infoset.append(infoset)
        self.parent.append(parent)
        self.probability.append(probability)
        self.returns.extend([0.0] * self.num_players if returns is None else returns)

    def frozen(self) -> Histories:
        return Histories.from_parents(
            player=np.array(self.player, dtype=np.int32),
            infoset=np.array(self.infoset, dtype=np.int32),
            parent=np.array(self.parent, dtype=np.int64),
            probability=np.array(self.probability, dtype=np.float64),
            returns=np.array(self.returns, dtype=np.float64).reshape(-1, self.num_players),
        )
