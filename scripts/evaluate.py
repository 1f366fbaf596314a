"""Let agents play each other in all seats, and compute how far each is from unexploitable.

    python scripts/evaluate.py game=dark_hex agents=[runs/MY_TRAINING_RUN,uniform] games=2000
    python scripts/evaluate.py checkpoint=runs/MY_TRAINING_RUN                agents=[...] with one agent
    python scripts/evaluate.py agents=[policy:runs/solve/dark_hex-2-3-abrupt-silent-cfr_plus,uniform]
    python scripts/evaluate.py game=openspiel:kuhn_poker agents=[uniform]                NashConv only
    python scripts/evaluate.py game=hex game.rows=5 agents=[mcts:1000,mcts:100,uniform] games=20       a ranking

Seats left over are taken by uniform players. Every agent plays every seat, with the same seeds; intervals are 95 %.
More agents than the game has players are ranked: a round robin in which every group of them plays in every order
around the table, and Elo ratings (Bradley-Terry; a game counts as a comparison of every pair of its players), as a
table and as a picture (plot=FILE.png, default runs/evaluate/GAME.png).
NashConv is the sum over the players of what each could gain by a best response to the agent in the other seats; it
is exact, and computed where the whole tree is small enough and on 3x3 boards of the exact engine; exploitability is
NashConv / 2 (two players, zero-sum). Without game=, the game is the one that the agents were made for. The last line of
stdout is one JSON object; mean_return[agent][seat], elo[agent] where there is a ranking.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from functools import partial
from pathlib import Path
from typing import Any

from _agents import FORMS, Entry, game_of, read_agent
from _common import (
    UserError,
    folder_name,
    log,
    make_game,
    named_game,
    openspiel_arguments,
    print_help,
    start,
    wants_help,
)
from tqdm import tqdm

import cfr
from agents import MatchReport, NetworkAgent, play_match
from agents.evaluation import HISTORIES, MergedEvaluator, Tabulator
from agents.rating import Contestant, Ranking, lineups, plot_ranking, rank
from configs import bounded, choice, described, factory, load
from envs import Game

TABULAR_HISTORIES = 20_000_000  # a few seconds and about a GiB


@dataclasses.dataclass(frozen=True)
class EvaluateConfig:
    game: dict = factory(dict, help="game=NAME, then game.PARAMETER=VALUE")
    agents: tuple[str, ...] = described((), help=f"a list of: {FORMS}")
    checkpoint: str | None = described(None, help="a trained network or a run's folder, before the others")
    games: int = bounded(1000, 0, 100_000_000, help="games per seat; 0: no match")
    seed: int = bounded(0, 0, help="of the match")
    ranking: str = choice("auto", ("auto", "on"), help="auto: when there are more agents than players")
    plot: str | None = described(None, help="PNG file for the picture of a ranking; default runs/evaluate/GAME.png")
    nash_conv: str = choice("auto", ("auto", "on", "off"), help="auto: where the tree is small")


def main(arguments: list[str]) -> dict[str, Any]:
    """Evaluate; returns the object for the last line of stdout."""
    if wants_help(arguments):
        print_help(__doc__ or "", EvaluateConfig)
    arguments, foreign = openspiel_arguments(arguments)
    defaults = {"game": "dark_hex"} if named_game(arguments) and not foreign else {}
    config = load(EvaluateConfig, arguments, defaults=defaults)
    entries = [read_agent(text, f"agents[{index}]") for index, text in enumerate(config.agents)]
    if config.checkpoint is not None:
        entries.insert(0, read_agent(config.checkpoint, "checkpoint"))
    if not entries:
        raise UserError(f"agents: missing; give agents=[AGENT, ...], each one {FORMS}")
    game = make_game(config.game) if config.game else game_of(entries)
    if game is None:
        raise UserError("game: missing, and no agent says which it was made for; give game=NAME")
    players = game.num_players if isinstance(game, Game) else game.num_players()
    entries = [entry.ready(game) for entry in entries]
    to_rank = len(entries) > players or config.ranking == "on"
    ranking = standings(config, game, entries, players) if to_rank else None
    report = None if to_rank else match(config, game, entries, players)
    evaluations = exact(config, game, entries)
    result: dict[str, Any] = {"game": cfr.game_spec(game), "agents": [entry.text for entry in entries], "games": 0,
                              "mean_return": None, "elo": None}
    if ranking is not None:
        print(ranking)
        default = Path("runs") / "evaluate" / f"{folder_name(cfr.game_spec(game))}.png"
        result |= {
            "games": ranking.games,
            "mean_return": [rating.mean_return for rating in ranking.ratings],
            "elo": [rating.elo for rating in ranking.ratings],
            "elo_interval": [[rating.low, rating.high] for rating in ranking.ratings],
            "plot": str(plot_ranking(ranking, default if config.plot is None else Path(config.plot))),
        }
    if report is not None:
        print(report)
        # Without the uniform players that filled the other seats.
        shown = report.agents[: len(entries)]
        result |= {
            "games": report.games,
            "mean_return": [[seat.mean_return for seat in agent.seats] for agent in shown],
            "interval": [[[seat.low, seat.high] for seat in agent.seats] for agent in shown],
        }
    # Rounding can leave a sum of gains a hair below zero.
    nash_convs = [None if found is None else max(0.0, found.nash_conv) for found in evaluations]
    halved = players == 2 and zero_sum(game)
    for entry, value in zip(entries, nash_convs, strict=True):
        if value is not None:
            half = f"; exploitability (NashConv / 2): {value / 2:.6f}" if halved else ""
            print(f"NashConv (exact; sum of best-response gains) of {entry.text}: {value:.6f}{half}")
    exploitabilities = [value / 2 if halved and value is not None else None for value in nash_convs]
    return result | {"nash_conv": nash_convs, "exploitability": exploitabilities}


def zero_sum(game: Any) -> bool:
    """Whether what one player of a two-player game gets, the other pays. All two-player games of envs are such."""
    if isinstance(game, Game):
        return True
    import pyspiel

    return game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM


def standings(config: EvaluateConfig, game: Any, entries: list[Entry], players: int) -> Ranking | None:
    """The ranking of all agents."""
    if not _playable(config, game):
        return None
    if len(entries) < 2:
        raise UserError("agents: a ranking needs at least two")
    names = [entry.text for entry in entries]
    if len(set(names)) < len(names):
        raise UserError(f"agents: {max(names, key=names.count)} is given twice; a ranking needs different agents")
    contestants = [Contestant(entry.text, partial(entry.agent, game)) for entry in entries]
    total = config.games * players * len(lineups(len(entries), players))
    with tqdm(total=total, unit=" games", disable=None, file=sys.stderr) as bar:
        return rank(game, contestants, config.games, config.seed, bar.update)


def _playable(config: EvaluateConfig, game: Any) -> bool:
    """Whether there are games to play."""
    if config.games and not isinstance(game, Game):
        log(f"{cfr.game_spec(game)}: no match, only NashConv (agents play the games of envs)")
    return config.games > 0 and isinstance(game, Game)


def match(config: EvaluateConfig, game: Any, entries: list[Entry], players: int) -> MatchReport | None:
    if not _playable(config, game):
        return None
    agents = [entry.agent(game) for entry in entries]
    agents += [Entry("uniform", None).agent(game) for _ in range(players - len(entries))]
    with tqdm(total=config.games * players, unit=" games", disable=None, file=sys.stderr) as bar:
        return play_match(game, agents, config.games, config.seed, bar.update)


def exact(config: EvaluateConfig, game: Any, entries: list[Entry]) -> list[cfr.Evaluation | None]:
    """Exact values and best-response values of each agent in all seats, None where they are not computed."""
    nothing: list[cfr.Evaluation | None] = [None] * len(entries)
    if config.nash_conv == "off":
        return nothing
    policies = [entry for entry in entries if entry.search is None]
    if not policies:
        log("no NashConv: agents that search are not policies whose every probability is known")
        return nothing
    networks = any(entry.checkpoint for entry in policies)
    if cfr.prefers_phantom(game):
        try:
            evaluator = MergedEvaluator(game)
        except cfr.TreeTooLargeError as error:
            if config.nash_conv == "on":
                raise
            log(f"no NashConv: {error}")
            return nothing
        log(f"{evaluator.form.spec}: exact engine, {evaluator.form.origin}")
        return [evaluator.evaluate(entry.agent(game)) if entry.search is None else None for entry in entries]
    if config.nash_conv == "auto":
        most = HISTORIES if networks else TABULAR_HISTORIES
        size = cfr.estimate_size(game)
        if size.log10_histories > math.log10(most):
            log(f"no NashConv: the tree has {size}; nash_conv=on tries it all the same")
            return nothing
    tree = cfr.build_tree(game)
    tabulator = Tabulator(game, tree) if networks else None

    def on_tree(entry: Entry) -> cfr.Evaluation:
        if isinstance(entry.policy, cfr.MergedPolicy):
            return entry.policy.form.evaluate(entry.policy.behaviours)
        if entry.checkpoint is not None and tabulator is not None:
            return tabulator.evaluate(NetworkAgent.load(entry.checkpoint, game))
        return cfr.evaluate(tree, entry.policy or cfr.TabularPolicy.uniform(tree))

    return [on_tree(entry) if entry.search is None else None for entry in entries]


if __name__ == "__main__":
    start(main)
