"""The main job from end to end on real input; `make demo` runs it.

1. solve Dark Hex 2x3 (abrupt, silent) to a NashConv of at most 1e-4;
2. check its value and its NashConv in OpenSpiel;
3. train a PPO agent by self-play on classical 3x3 Dark Hex for about two minutes;
4. let it play the uniform player from both seats;
5. draw its curves.

Every step is a script that can be run by hand: the command is printed. A step that is done is skipped the next
time; delete the folder runs/demo to start again.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _common import UserError, log, start, write_json

import cfr
import envs

SCRIPTS = Path(__file__).resolve().parent
FOLDER = Path("runs") / "demo"
TARGET, VALUE = 1e-4, 9 / 11


def main(arguments: list[str]) -> dict[str, Any]:
    """Run the steps that are not done; returns the results of all of them."""
    if arguments:
        raise UserError(f"demo.py takes no arguments, not {' '.join(arguments)}")
    began = time.perf_counter()
    solved = step("1. Solve Dark Hex 2x3, abrupt, silent", "solve", lambda: script(
        "solve.py", "game=dark_hex", "game.rows=2", "game.cols=3", "game.version=abrupt", "game.info=silent",
        "solver=cfr_plus", f"solver.target={TARGET}", f"output={FOLDER / 'equilibrium'}"))  # fmt: skip
    print(f"   value for player 0: {solved['value']:.6f} (9/11 = {VALUE:.6f}), NashConv {solved['nash_conv']:.2e}")
    check = step("2. Check both in OpenSpiel", "check", lambda: cross_check(solved))
    if check.get("skipped"):
        print(f"   left out: {check['skipped']}")
    else:
        print(f"   OpenSpiel's value {check['value']:.6f}, its NashConv {check['nash_conv']:.2e}")
    trained = step("3. Train by self-play on classical 3x3 Dark Hex", "train", lambda: script(
        "train.py", "experiment=dark_hex_3x3_ppo", f"run={FOLDER / 'ppo'}"))  # fmt: skip
    print(f"   {trained['steps']:,} steps, {trained['steps_per_second']:,.0f} a second")
    match = step("4. Play the uniform player from both seats", "match", lambda: script(
        "evaluate.py", f"agents=[{trained['run']},uniform]", "games=2000"))  # fmt: skip
    red, blue = match["mean_return"][0]
    print(f"   mean return as red {red:+.3f}, as blue {blue:+.3f} (win +1, loss -1)")
    if match["nash_conv"][0] is not None:
        print(f"   its exact NashConv: {match['nash_conv'][0]:.4f} (an equilibrium has 0, uniform play 1.8328)")
    curves = step("5. Draw the curves", "plot", lambda: script("plot.py", f"run={trained['run']}"))
    print(f"\nRun folder: {trained['run']}\nCurves:")
    for file in curves["files"]:
        print(f"   {file}")
    return {
        "value": solved["value"], "nash_conv": solved["nash_conv"], "openspiel": check, "run": trained["run"],
        "mean_return": match["mean_return"][0], "curves": curves["files"], "seconds": time.perf_counter() - began,
    }  # fmt: skip


def step(title: str, name: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The result of one step, from its file when it was done before."""
    kept = FOLDER / f"{name}.json"
    print(f"\n{title}", flush=True)
    if kept.is_file():
        print("   done before", flush=True)
        return json.loads(kept.read_text(encoding="utf-8"))
    result = work()
    write_json(kept, result)
    return result


def script(name: str, *arguments: str) -> dict[str, Any]:
    """Run a script of this folder; the JSON object that it ends with."""
    print(f"   $ python scripts/{name} {' '.join(arguments)}", flush=True)
    done = subprocess.run([sys.executable, str(SCRIPTS / name), *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise UserError(f"scripts/{name} ended with exit code {done.returncode}, see above")
    return json.loads(done.stdout.splitlines()[-1])


def cross_check(solved: dict[str, Any]) -> dict[str, Any]:
    """Value and NashConv of the solved policy, computed by OpenSpiel's own code on its own game."""
    try:
        import pyspiel
    except ImportError:
        return {"skipped": "OpenSpiel is not installed (pip install open_spiel)"}
    game = pyspiel.load_game("dark_hex(num_rows=2,num_cols=3,gameversion=adh,obstype=reveal-nothing)")
    ours = envs.make("dark_hex", rows=2, cols=3, version="abrupt", info="silent")
    policy = cfr.TabularPolicy.load(solved["policy"], ours).to_openspiel(game)
    log("   exporting the policy, walking OpenSpiel's tree")
    value = pyspiel.expected_returns(game.new_initial_state(), policy, -1, True)[0]
    nash_conv = pyspiel.nash_conv(game, policy)
    for what, mine, theirs in (("value", solved["value"], value), ("NashConv", solved["nash_conv"], nash_conv)):
        if abs(mine - theirs) > 1e-9:
            raise UserError(f"OpenSpiel's {what} is {theirs!r}, ours {mine!r}: please report this")
    return {"value": value, "nash_conv": nash_conv}


if __name__ == "__main__":
    start(main)
