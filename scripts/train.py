"""Train an agent by self-play.

    train.py experiment=dark_hex_3x3_ppo agent.entropy=0.1 seed=1
    train.py game=dark_hex game.rows=2 agent=ppo steps=1e6 run=runs/mine
    train.py resume=runs/mine steps=2e6

Progress goes to stderr; the last line of stdout is one JSON object. All keys: train.py --help
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from _common import UserError, log, print_help, start, wants_help
from tqdm import tqdm

import configs
from agents.checkpoint import CheckpointError
from agents.training import TrainConfig, load_config, resume_config, train


def main(arguments: list[str]) -> dict[str, Any]:
    """Train; returns the object for the last line of stdout."""
    if wants_help(arguments):
        names = [f"  experiment=NAME   {_names('experiment')}", f"  game=NAME         {_names('game')}"]
        names += ["  config=FILE       a YAML file", "  resume=FOLDER     go on with that run"]
        print_help(f"{__doc__}\n" + "\n".join(names), TrainConfig)
    resume = next((Path(word.partition("=")[2]) for word in arguments if word.startswith("resume=")), None)
    rest = [word for word in arguments if not word.startswith("resume=")]
    config = resume_config(resume, rest) if resume is not None else load_config(rest)
    log(configs.to_yaml(config))
    with tqdm(total=100, file=sys.stderr, bar_format="{l_bar}{bar}| {elapsed}<{remaining}{postfix}") as bar:

        def show(used: float, metrics: Mapping[str, float]) -> None:
            bar.update(round(100 * used, 1) - bar.n)
            bar.set_postfix_str(_summary(metrics), refresh=False)

        try:
            return train(config, resume, show)
        except (CheckpointError, FloatingPointError) as error:
            raise UserError(str(error)) from error


def _summary(metrics: Mapping[str, float]) -> str:
    parts = [
        f"{metrics['steps']:,} steps",
        f"{metrics['steps_per_second']:,.0f}/s",
        f"entropy {metrics['policy/entropy']:.3f}",
    ]
    seats = [value for name, value in metrics.items() if name.startswith("uniform/return_seat_")]
    if seats:
        parts.append("vs uniform " + " ".join(f"{value:+.3f}" for value in seats))
    if "nash_conv" in metrics:
        parts.append(f"NashConv {metrics['nash_conv']:.4f}")
    return ", ".join(parts)


def _names(folder: str) -> str:
    return ", ".join(configs.names(folder))


if __name__ == "__main__":
    start(main)
