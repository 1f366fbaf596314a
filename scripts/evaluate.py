"""Let agents play each other in all seats, and compute how far each is from unexploitable.

    python scripts/evaluate.py game=dark_hex agents=[runs/MY_TRAINING_RUN,uniform] games=2000
    python scripts/evaluate.py agents=[policy:runs/solve/dark_hex-2-3-abrupt-silent-cfr_plus,uniform]
    python scripts/evaluate.py game=openspiel:kuhn_poker agents=[uniform]                NashConv only

Seats left over are taken by uniform players. Every agent plays every seat, with the same seeds; intervals are 95 %.
NashConv is the sum over the players of what each could gain by a best response to the agent in the other seats; it
is exact, and computed where the whole tree is small enough. Without game=, the game is the one that the agents were
made for. The last line of stdout is one JSON object; mean_return[agent][seat].
"""

from __future__ import annotations

import dataclasses
import math
import sys
from typing import Any

from _agents import FORMS, Entry, game_of, read_agent
from _common import (
    UserError,
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
from agents.evaluation import HISTORIES, Tabulator
from configs import bounded, choice, described, factory, load
from envs import Game

TABULAR_HISTORIES = 20_000_000  # a few seconds and about a GiB


@dataclasses.dataclass(frozen=True)
class EvaluateConfig:
    game: dict = factory(dict, help="game=NAME, then game.PARAMETER=VALUE")
    agents: tuple[str, ...] = described((), help=f"a list of: {FORMS}")
    games: int = bounded(1000, 0, 100_000_000, help="games per seat; 0: no match")
    seed: int = bounded(0, 0, help="of the match")
    nash_conv: str = choice("auto", ("auto", "on", "off"), help="auto: where the tree is small")


def main(arguments: list[str]) -> dict[str, Any]:
    """Evaluate; returns the object for the last line of stdout."""
    if wants_help(arguments):
        print_help(__doc__ or "", EvaluateConfig)
    arguments, foreign = openspiel_arguments(arguments)
    defaults = {"game": "dark_hex"} if named_game(arguments) and not foreign else {}
    config = load(EvaluateConfig, arguments, defaults=defaults)
    if not config.agents:
        raise UserError(f"agents: missing; give agents=[AGENT, ...], each one {FORMS}")
    entries = [read_agent(text, f"agents[{index}]") for index, text in enumerate(config.agents)]
    game = make_game(config.game) if config.game else game_of(entries)
    if game is None:
        raise UserError("game: missing, and no agent says which it was made for; give game=NAME")
    players = game.num_players if isinstance(game, Game) else game.num_players()
    if len(entries) > players:
        raise UserError(f"agents: {len(entries)} given, but {cfr.game_spec(game)} has {players} players")
    for entry in entries:
        entry.check(game)
    report = match(config, game, entries, players)
    nash_convs = exact(config, game, entries)
    result: dict[str, Any] = {"game": cfr.game_spec(game), "agents": [entry.text for entry in entries], "games": 0,
                              "mean_return": None}
    if report is not None:
        print(report)
        # Without the uniform players that filled the other seats.
        shown = report.agents[: len(entries)]
        result |= {
            "games": report.games,
            "mean_return": [[seat.mean_return for seat in agent.seats] for agent in shown],
            "interval": [[[seat.low, seat.high] for seat in agent.seats] for agent in shown],
        }
    for entry, value in zip(entries, nash_convs, strict=True):
        if value is not None:
            print(f"NashConv (exact; sum of best-response gains) of {entry.text}: {value:.6f}")
    return result | {"nash_conv": nash_convs}


def match(config: EvaluateConfig, game: Any, entries: list[Entry], players: int) -> MatchReport | None:
    if config.games == 0:
        return None
    if not isinstance(game, Game):
        log(f"{cfr.game_spec(game)}: no match, only NashConv (agents play the games of envs)")
        return None
    agents = [entry.agent(game) for entry in entries]
    agents += [Entry("uniform", None).agent(game) for _ in range(players - len(entries))]
    with tqdm(total=config.games * players, unit=" games", disable=None, file=sys.stderr) as bar:
        return play_match(game, agents, config.games, config.seed, bar.update)


def exact(config: EvaluateConfig, game: Any, entries: list[Entry]) -> list[float | None]:
    """The NashConv of each agent, None where it is not computed."""
    nothing: list[float | None] = [None] * len(entries)
    if config.nash_conv == "off":
        return nothing
    networks = any(entry.checkpoint for entry in entries)
    if cfr.prefers_phantom(game):
        form = cfr.phantom_form(game)
        log(f"{form.spec}: exact engine, {form.origin}")
        return [max(0.0, form.evaluate(merged(form, entry, game)).nash_conv) for entry in entries]
    if config.nash_conv == "auto":
        most = HISTORIES if networks else TABULAR_HISTORIES
        size = cfr.estimate_size(game)
        if size.log10_histories > math.log10(most):
            log(f"no NashConv: the tree has {size}; nash_conv=on tries it all the same")
            return nothing
    tree = cfr.build_tree(game)
    tabulator = Tabulator(game, tree) if networks else None
    found: list[float | None] = []
    for entry in entries:
        if isinstance(entry.policy, cfr.TabularPolicy):
            value = cfr.nash_conv(tree, entry.policy)
        elif entry.checkpoint is not None and tabulator is not None:
            value = tabulator.nash_conv(entry.agent(game))
        else:
            value = cfr.nash_conv(tree, cfr.TabularPolicy.uniform(tree))
        found.append(max(0.0, value))  # rounding can leave a sum of gains a hair below zero
    return found


def merged(form: cfr.PhantomForm, entry: Entry, game: Any) -> list[Any]:
    """An agent's play on the nodes of the exact engine."""
    if entry.policy is not None:
        return form.behaviours_of(entry.policy)
    agent = entry.agent(game)
    if not isinstance(agent, NetworkAgent):
        return form.uniform()
    view = agent.encoding == "view"
    return [form.behaviour_of_function(player, agent.distribution, view) for player in (0, 1)]


if __name__ == "__main__":
    start(main)
