"""Random play through the environments against the same game in OpenSpiel."""

from __future__ import annotations

import importlib.util
import random
from typing import Any

import numpy as np
import pyspiel

from benchmarks.measure import Report, interleaved, note, rate
from envs import dark_hex_v0
from envs.vector_env import VectorEnv

BATCH = 1024


def _aec_game(env: Any, seed: int, generator: random.Random) -> int:
    """One game of uniformly random legal actions; the number of steps."""
    env.reset(seed=seed)
    steps = 0
    for _agent in env.agent_iter():
        observation, _reward, terminated, truncated, info = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        mask = observation["action_mask"] if isinstance(observation, dict) else info["action_mask"]
        env.step(generator.choice(np.flatnonzero(mask).tolist()))
        steps += 1
    return steps


def aec(report: Report, config: Any) -> None:
    """Dark Hex 3x3 through PettingZoo, ``env()`` with its checks, the same cheap action sampler on both sides."""
    if importlib.util.find_spec("shimmy") is None:
        note("aec: left out, the peer is missing; pip install 'shimmy[openspiel]' (the extra `bench`)")
        return
    from shimmy import OpenSpielCompatibilityV0

    generator = random.Random(0)
    ours = dark_hex_v0.env(rows=3, cols=3, version="classical", info="silent")
    theirs = OpenSpielCompatibilityV0(
        env=pyspiel.load_game("dark_hex(num_rows=3,num_cols=3,gameversion=cdh,obstype=reveal-nothing)")
    )
    a, b, quotient = interleaved(
        lambda: rate(lambda: _aec_game(ours, 0, generator), config.slice),
        lambda: rate(lambda: _aec_game(theirs, 0, generator), config.slice),
        config.repeats,
    )
    report.add("AEC random play, Dark Hex 3x3, env()", "Shimmy over OpenSpiel", "steps/s", a, b, quotient, 5)


def _pyspiel_game(game: Any, generator: random.Random) -> int:
    """One random game with the tensor and the mask of the player to move at every step."""
    state = game.new_initial_state()
    steps = 0
    while not state.is_terminal():
        state.information_state_tensor()
        np.asarray(state.legal_actions_mask())
        state.apply_action(generator.choice(state.legal_actions()))
        steps += 1
    return steps


def batched(report: Report, config: Any) -> None:
    """Dark Hex 3x3, observations and masks at every step, one core."""
    generator = random.Random(0)
    env = VectorEnv("dark_hex", BATCH, seed=0, final_obs=False, rows=3, cols=3, version="classical", info="silent")
    env.reset(seed=0)
    game = pyspiel.load_game("dark_hex(num_rows=3,num_cols=3,gameversion=cdh,obstype=reveal-nothing)")

    def steps() -> int:
        env.step(env.sample_actions())
        return BATCH

    a, b, quotient = interleaved(
        lambda: rate(steps, config.slice),
        lambda: rate(lambda: _pyspiel_game(game, generator), config.slice),
        config.repeats,
    )
    report.add(
        f"batched random play ({BATCH}) with tensors and masks, 3x3", "pyspiel Python loop with tensors", "steps/s",
        a, b, quotient, 20,
    )  # fmt: skip


# Steps per second asked of the batched environments (one core, random play with masks and observations). For Hex the
# figure is ten times that of pgx 2 (JAX, jitted, batch 1,024, two cores of a 2.8 GHz Xeon: 186,000).
GAMES: tuple[tuple[str, dict[str, Any], int, float], ...] = (
    ("tac_tix", {"rows": 4}, 256, 1_000_000),
    ("renju3", {}, 256, 1_000_000),
    ("docking", {}, 256, 300_000),
    ("hex", {"rows": 11}, BATCH, 1_860_000),
)


def games(report: Report, config: Any) -> None:
    """Batched random play of every game against the speed that is asked for."""
    for name, parameters, lanes, asked in GAMES:
        env = VectorEnv(name, lanes, seed=0, final_obs=False, **parameters)
        env.reset(seed=0)

        def steps(env: VectorEnv = env, lanes: int = lanes) -> int:
            env.step(env.sample_actions())
            return lanes

        steps()
        found = rate(steps, config.slice)
        report.add(
            f"batched random play ({lanes}), {env.game.name} {parameters.get('rows', 'default')}", "figure asked for",
            "steps/s", found, asked, found / asked, 1,
        )  # fmt: skip
