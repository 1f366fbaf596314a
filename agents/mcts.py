"""Monte Carlo tree search for games that hide nothing: UCT with random playouts, PUCT with a network.

Any perfect-information game of `envs` with any number of players; `agents.mcts_kernels` says how the tree works.
UCT: Kocsis and Szepesvari, ECML 2006. PUCT: Silver et al., Science 2018. RAVE: Gelly and Silver, ICML 2007.

A search depends on the position, the settings, the number of simulations and the seed, on nothing else: not on the
clock, and not on earlier searches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from agents import mcts_kernels as tree
from agents.agent import Observation
from envs.core import Game, State
from envs.rng import rng_state

__all__ = ["Evaluator", "MCTS", "MCTSAgent", "NetworkEvaluator", "Searched"]

RAVE = 1000.0
"""Wins 30 of 30 games of 11x11 Hex against none, both with 1000 simulations; neutral in Tac-Tix and renju."""
EXPLORATION = {"rave": 0.2, "uct": 0.4, "puct": 1.25}
"""Default constants, for returns scaled to [0, 1]. RAVE needs some exploration to get past a wrong first idea."""
MEMORY = 256 * 2**20
"""Most bytes of a tree."""


@dataclass(frozen=True)
class Searched:
    """What a search found out about its root.

    Attributes:
        action: the choice.
        actions: int64 [n], the legal ones in increasing order.
        visits: int64 [n], simulations that took them.
        values: float64 [n], mean return of the player to move (his certain return where settled; nan unvisited).
        settled: bool [n], actions whose result is certain.
        returns: float64 [P], every player's certain return of the root, None if it is not certain.
        simulations: made; fewer than allowed when the root was settled.
        nodes: in the tree.
    """

    action: int
    actions: np.ndarray
    visits: np.ndarray
    values: np.ndarray
    settled: np.ndarray
    returns: np.ndarray | None
    simulations: int
    nodes: int


class Evaluator(Protocol):
    """Judges positions in place of playouts."""

    def evaluate(self, row: np.ndarray, mover: int, legal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(priors float64 [n] of the actions `legal` int64 [n], expected returns float64 [P] of all players)."""


class NetworkEvaluator:
    """An `agents.networks.ActorCritic`, asked for the mover's policy and for each player's value."""

    def __init__(self, game: Game, network: Any, observation: str = "information_state") -> None:
        self.game, self.network = game, network
        self.view = int(observation == "view")
        self._seen = np.zeros((game.num_players, game.observation_size(bool(self.view))), np.float32)
        self._table = game.kernels.table

    def evaluate(self, row: np.ndarray, mover: int, legal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        import torch

        for player in range(self.game.num_players):
            tree.observe_one(self._table, self.game.params, row, player, self.view, self._seen[player])
        with torch.inference_mode():
            logits, values = self.network(torch.from_numpy(self._seen))
            priors = torch.softmax(logits[mover, torch.from_numpy(legal)].double(), 0)
        returns = values.double().numpy().clip(self.game.min_utility(), self.game.max_utility())
        return priors.numpy(), returns


class MCTS:
    """Searches positions of one game; reuses its memory from search to search.

    Args:
        game: one that hides nothing.
        exploration: the constant of UCT or PUCT, for returns scaled to [0, 1]; None: EXPLORATION's.
        rave: how many simulations it takes until an action's own statistics weigh as much as those of all
            simulations that took it later (Gelly and Silver's equivalence parameter); 0: no RAVE. None with an
            evaluator.
        expand: visits of a leaf until its successors are made: more saves memory, and sees threats later. 1 with an
            evaluator.
        evaluator: instead of random playouts; makes the search PUCT.
        memory: bytes that a tree may take. When they are full, the tree stops growing, not the search.

    Raises:
        ValueError: a game with hidden information, or a setting out of range.
    """

    def __init__(
        self,
        game: Game,
        exploration: float | None = None,
        rave: float = RAVE,
        expand: int = 1,
        evaluator: Evaluator | None = None,
        memory: int = MEMORY,
    ) -> None:
        if not game.perfect_information:
            raise ValueError(
                f"{game.spec()} hides a part of the position: mcts searches games that show everything; use ismcts"
            )
        if exploration is None:
            exploration = EXPLORATION["puct" if evaluator is not None else "rave" if rave else "uct"]
        for name, value, least in (("exploration", exploration, 0), ("rave", rave, 0), ("expand", expand, 1),
                                   ("memory", memory, 1)):
            if not value >= least:
                raise ValueError(f"{name}={value!r} is not allowed; it must be >= {least}")
        self.game, self.evaluator, self.memory = game, evaluator, memory
        self._settings = np.zeros(tree.NUM_SETTINGS)
        self._settings[tree.EXPLORATION] = exploration
        self._settings[tree.PUCT] = evaluator is not None
        self._settings[tree.RAVE] = rave if evaluator is None else 0.0
        self._settings[tree.LOW], self._settings[tree.HIGH] = game.min_utility(), game.max_utility()
        self._settings[tree.EXPAND] = expand if evaluator is None else 1
        actions, players = game.num_distinct_actions(), game.num_players
        self._row, self._after = np.zeros((2, game.row_size), np.int32)
        self._mask = np.zeros(actions, np.bool_)
        self._values = np.zeros(players)
        self._path, self._trace = np.zeros((2, game.max_game_length() + 1, 2), np.int64)
        self._nodes = np.empty(0, tree.NODE)

    def search(self, state: State, simulations: int, seed: int = 0) -> Searched:
        """Search a running position with so many simulations.

        Raises:
            ValueError: another game's state, a finished game, no simulations.
        """
        game = self.game
        if state.game != game:
            raise ValueError(f"this search is for {game.spec()}, the state is of {state.game.spec()}")
        if state.is_terminal():
            raise ValueError("the game is over: there is nothing to search")
        if simulations < 1:
            raise ValueError(f"simulations={simulations} is not allowed; it must be >= 1")
        self._reserve(simulations)
        used = np.zeros(2, np.int64)
        shared = (game.kernels.table, game.params)
        nodes, edges, exact = self._nodes, self._edges, self._exact
        rest = (nodes, edges, exact, used, self._settings, self._row, self._after, self._mask, self._values)
        self._row[:] = state.row
        tree.expand(*shared, *rest, 1)
        if self.evaluator is None:
            taken = np.zeros((game.num_players, game.num_distinct_actions()), np.int64)
            made = tree.simulate(
                *shared, state.row, *rest, self._path, self._trace, taken, rng_state(seed), simulations
            )
        else:
            made = self._simulate(state.row, simulations, shared, rest, self.evaluator)
        return self._report(made, int(used[tree.USED_NODES]))

    def _reserve(self, simulations: int) -> None:
        """Arrays for as many nodes as the simulations can make, within the memory."""
        width = self.game.num_distinct_actions()
        node_size = tree.NODE.itemsize + 8 * self.game.num_players
        # The root has room whatever the limit says. A simulation makes one more node; certain ends come on top.
        edges, nodes = width, 2 * width + 2
        left = self.memory - edges * tree.EDGE.itemsize - nodes * node_size
        share = max(0.0, left / (simulations * (width * tree.EDGE.itemsize + 2 * node_size)))
        edges += int(simulations * width * min(1.0, share))
        nodes += int(simulations * 2 * min(1.0, share))
        if (edges, nodes) != (getattr(self, "_edges", np.empty(0)).size, self._nodes.size):
            self._edges = np.empty(edges, tree.EDGE)
            self._nodes = np.empty(nodes, tree.NODE)
            self._exact = np.empty((nodes, self.game.num_players))

    def _simulate(self, root: np.ndarray, count: int, shared: Any, rest: Any, evaluator: Evaluator) -> int:
        """`count` simulations that end in the evaluator's judgement; returns how many were made."""
        nodes, edges, exact, row, values = self._nodes, self._edges, self._exact, self._row, self._values
        self._set_priors(0, evaluator)
        for simulation in range(count):
            if nodes[0]["settled"]:
                return simulation
            row[:] = root
            depth, ended = tree.descend(*shared, *rest, self._path, self._trace)
            if ended == tree.LEAF:
                child = int(edges[self._path[depth - 1, 1]]["child"])
                values[:] = self._judge(evaluator) if child < 0 else self._set_priors(child, evaluator)
            tree.back_up(nodes, edges, exact, self._settings, values, self._path, depth, ended)
        return count

    def _set_priors(self, node: int, evaluator: Evaluator) -> np.ndarray:
        """Ask the evaluator about the position in the row, which is that of `node`; returns everybody's values."""
        first, count = int(self._nodes[node]["first"]), int(self._nodes[node]["count"])
        edges = self._edges[first : first + count]
        priors, values = evaluator.evaluate(
            self._row, int(self._nodes[node]["mover"]), edges["action"].astype(np.int64)
        )
        edges["prior"] = priors
        return values

    def _judge(self, evaluator: Evaluator) -> np.ndarray:
        """The values of a position for which the tree has no room."""
        game = self.game
        game.kernels.legal(game.params, self._row, self._mask)
        mover = game.kernels.current_player(game.params, self._row)
        return evaluator.evaluate(self._row, mover, np.flatnonzero(self._mask))[1]

    def _report(self, made: int, used_nodes: int) -> Searched:
        root = self._nodes[0]
        mover = int(root["mover"])
        edges = self._edges[: int(root["count"])]
        children = edges["child"].astype(np.int64)
        settled = (children >= 0) & (self._nodes["settled"][np.maximum(children, 0)] != 0)
        visits = edges["visits"].astype(np.int64)
        with np.errstate(invalid="ignore"):
            values = edges["total"] / visits
        values[settled] = self._exact[children[settled], mover]
        index = _choice(visits, values, settled, self.game.max_utility())
        actions = edges["action"].astype(np.int64)
        returns = self._exact[0].copy() if root["settled"] else None
        return Searched(int(actions[index]), actions, visits, values, settled, returns, made, used_nodes)


def _choice(visits: np.ndarray, values: np.ndarray, settled: np.ndarray, highest: float) -> int:
    """Index of the action to play: a certain win; else the most visited open one, unless a certain result is better.

    The lowest action among equals. Among certain losses the one that took the most simulations to refute.
    """
    certain, unsettled = np.flatnonzero(settled), np.flatnonzero(~settled)
    if certain.size:
        good = certain[values[certain] >= values[certain].max() - tree.EPSILON]
        best = int(good[visits[good].argmax()])
        if values[best] >= highest - tree.EPSILON:
            return int(good[0])
        if unsettled.size == 0:
            return best
    tried = int(unsettled[visits[unsettled].argmax()])
    if certain.size and values[best] > values[tried]:
        return best
    return tried


class MCTSAgent:
    """Plays the choice of a search with a fixed number of simulations.

    Args:
        game: one that hides nothing.
        simulations: for each decision.
        settings: of `MCTS`.
    """

    parts = frozenset({"state"})

    def __init__(self, game: Game, simulations: int, name: str | None = None, **settings: Any) -> None:
        if simulations < 1:
            raise ValueError(f"simulations={simulations} is not allowed; it must be >= 1")
        self.searcher = MCTS(game, **settings)
        self.simulations = simulations
        self.name = f"mcts:{simulations}" if name is None else name
        self.reset(0)

    def reset(self, seed: int) -> None:
        """A new game: the seeds of its searches follow from `seed`."""
        self._rng = np.random.default_rng(seed)

    def act(self, observation: Observation) -> int:
        """The search's choice."""
        if observation.state is None:
            raise ValueError("this agent searches the position: observe(state, agent.parts) puts it in")
        return self.searcher.search(observation.state, self.simulations, int(self._rng.integers(2**63))).action
