"""Information-set Monte Carlo tree search for games with hidden information, such as Dark Hex.

Positions that the player takes for possible are drawn from his information tokens alone, and every simulation plays
one of them. In the tree each player decides by his own information state (multiple-observer information-set MCTS:
Cowling, Powley and Whitehouse, IEEE TCIAIG 2012), so that nobody, the opponents included, acts on what he cannot
know. The choice depends on the player's own information, the number of simulations and the seed, on nothing else.

The search does not converge to an equilibrium, and its choice is not random enough for one: it is a strong opponent
for uniform and naive players, not a measure of exploitability.
"""

from __future__ import annotations

import numpy as np

from agents import ismcts_kernels
from agents.agent import Observation
from agents.mcts_kernels import EDGE, NODE
from envs.core import Game
from envs.rng import rng_state

__all__ = ["ISMCTS", "ISMCTSAgent"]

EXPLORATION = 0.7
POSITIONS = 64
MEMORY = 256 * 2**20


class ISMCTS:
    """Searches information states of one game; reuses its memory from search to search.

    Args:
        game: one that hides something and offers `state_from_information`.
        exploration: UCT's constant, for returns scaled to [0, 1].
        positions: how many positions are drawn; the simulations take turns on them.
        memory: bytes that a tree may take. When they are full, the tree stops growing, not the search.

    Raises:
        ValueError: a game that hides nothing or cannot draw positions, or a setting out of range.
    """

    def __init__(
        self, game: Game, exploration: float = EXPLORATION, positions: int = POSITIONS, memory: int = MEMORY
    ) -> None:
        if game.perfect_information:
            raise ValueError(f"{game.spec()} hides nothing: use mcts")
        if not game.offers_resample():
            raise ValueError(f"{game.spec()} cannot draw positions from a player's information: ismcts needs that")
        for name, value, least in (("exploration", exploration, 0), ("positions", positions, 1), ("memory", memory, 1)):
            if not value >= least:
                raise ValueError(f"{name}={value!r} is not allowed; it must be >= {least}")
        self.game, self.exploration, self.positions, self.memory = game, exploration, positions, memory
        actions, length = game.num_distinct_actions(), game.max_game_length()
        self._row = np.zeros(game.row_size, np.int32)
        self._mask = np.zeros(actions, np.bool_)
        self._values = np.zeros(game.num_players)
        self._path, self._trace = np.zeros((2, length + 1, 2), np.int64)
        self._nodes = np.empty(0, NODE)

    def search(self, player: int, tokens: np.ndarray, simulations: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Search the decision of `player`, who is on turn and whose information tokens are `tokens` (int32 [k]).

        Returns:
            (actions int64 [n] in increasing order, visits int64 [n]).

        Raises:
            ValueError: no simulations.
        """
        if simulations < 1:
            raise ValueError(f"simulations={simulations} is not allowed; it must be >= 1")
        game = self.game
        rng = np.random.default_rng(seed)
        roots = np.stack(
            [
                game.state_from_information(player, tokens, player, rng).row
                for _ in range(min(self.positions, simulations))
            ]
        )
        self._reserve(simulations)
        self._keys[:] = 0
        ismcts_kernels.simulate(
            game.kernels.table, game.params, roots, self._nodes, self._edges, self._keys, self._node_of,
            np.zeros(2, np.int64), self._row, self._mask, self._values, self._path, self._trace,
            rng_state(seed), self.exploration, game.min_utility(), game.max_utility(), simulations,
        )  # fmt: skip
        edges = self._edges[: int(self._nodes[0]["count"])]
        return edges["action"].astype(np.int64), edges["visits"].astype(np.int64)

    def _reserve(self, simulations: int) -> None:
        """Arrays for as many nodes as the simulations can make, within the memory."""
        width = self.game.num_distinct_actions()
        # A node, its edges, and at most four places in the hash table.
        node_size = NODE.itemsize + width * EDGE.itemsize + 4 * 16
        nodes = max(1, min(simulations, self.memory // node_size))
        if nodes != self._nodes.size:
            self._nodes = np.empty(nodes, NODE)
            self._edges = np.empty(nodes * width, EDGE)
            places = 1 << (2 * nodes - 1).bit_length()
            self._keys = np.zeros(places, np.uint64)
            self._node_of = np.zeros(places, np.int64)


class ISMCTSAgent:
    """Plays the most visited action of a search with a fixed number of simulations, the lowest among equals.

    Args:
        game: one that hides something and offers `state_from_information`.
        simulations: for each decision.
        settings: of `ISMCTS`.
    """

    parts = frozenset({"key"})

    def __init__(self, game: Game, simulations: int, name: str | None = None, **settings: float) -> None:
        if simulations < 1:
            raise ValueError(f"simulations={simulations} is not allowed; it must be >= 1")
        self.searcher = ISMCTS(game, **settings)  # type: ignore[arg-type]
        self.simulations = simulations
        self.name = f"ismcts:{simulations}" if name is None else name
        self.reset(0)

    def reset(self, seed: int) -> None:
        """A new game: the seeds of its searches follow from `seed`."""
        self._rng = np.random.default_rng(seed)

    def act(self, observation: Observation) -> int:
        """The search's choice."""
        if observation.key is None:
            raise ValueError("this agent searches its information state: observe(state, agent.parts) puts the key in")
        tokens = np.frombuffer(observation.key, np.int32)
        seed = int(self._rng.integers(2**63))
        actions, visits = self.searcher.search(observation.player, tokens, self.simulations, seed)
        return int(actions[visits.argmax()])
