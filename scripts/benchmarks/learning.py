"""Self-play training speed, against the published speed of a public benchmark's PPO."""

from __future__ import annotations

import time
from typing import Any

import torch

import envs
from agents.ppo import PPO
from agents.training import load_config
from benchmarks.measure import Report, note, rate

# Environment steps per CPU second of IIG-RL-Benchmark's PPO (two networks of 3x512, 8 environments, 4 epochs), measured
# on a 2.8 GHz Xeon; it cannot be installed beside this package, so the ratio is to that figure, not to a run here.
PUBLISHED = 1045.0
SETUPS = (("two 3x512 networks, 8 environments, 4 epochs", "ppo_3x512", 2.0), ("the default configuration", "ppo", 5.0))


def ppo(report: Report, config: Any) -> None:
    """PPO on classical 3x3 Dark Hex: environment steps per CPU second, one thread, rollout and update together."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        for name, agent, goal in SETUPS:
            settings = load_config([
                "game=dark_hex", "game.rows=3", "game.version=classical", "game.info=silent", f"agent={agent}",
                "steps=1",
            ])  # fmt: skip
            learner = PPO(settings.agent, envs.make(**settings.game), seed=0)
            learner.update(0.0)

            def steps(learner: PPO = learner) -> int:
                before = learner.steps
                learner.update(0.0)
                return learner.steps - before

            found = rate(steps, config.slice * config.repeats, time.process_time)
            report.add(f"PPO, {name}", "published figure (other machine)", "steps/CPU s", found, PUBLISHED,
                       found / PUBLISHED, goal)  # fmt: skip
    finally:
        torch.set_num_threads(threads)
    note("ppo: the peer's figure was measured on another processor (docs/benchmarks.md)")
