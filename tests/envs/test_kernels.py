"""Compiled kernels: edits are seen across files, later processes load from the cache, drivers call by table."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from numba import types

import envs
from envs.kernels import PARAMS, ROW, TABLE, apply_of, current_player_of, kernel, legal_of
from envs.rng import RNG, next_below, next_float, rng_state

ROOT = Path(envs.__file__).parent


@kernel(types.int64(TABLE, PARAMS, ROW, types.boolean[::1], RNG))
def play_out(table, params, row, mask, rng):
    """Uniform random play to the end; the number of actions."""
    plies = 0
    while current_player_of(table)(params, row) >= 0:
        count = legal_of(table)(params, row, mask)
        pick = next_below(rng, count)
        for action in range(mask.size):
            if mask[action]:
                if pick == 0:
                    apply_of(table)(params, row, action)
                    break
                pick -= 1
        plies += 1
    return plies


def test_drivers_call_any_game_through_its_table():
    for name in envs.game_names():
        game = envs.make(name)
        rng = rng_state(0)
        for _ in range(50):
            state = game.new_initial_state()
            mask = np.zeros(game.num_distinct_actions(), dtype=np.bool_)
            plies = play_out(game.kernels.table, game.params, state.row, mask, rng)
            assert state.is_terminal() and 3 <= plies <= game.max_game_length()


@kernel(types.void(RNG, types.float64[::1], types.int64[::1]))
def fill(rng, floats, integers):
    for i in range(floats.size):
        floats[i] = next_float(rng)
        integers[i] = next_below(rng, 7)


def test_generator():
    first, second = rng_state(0), rng_state(1)
    assert not np.array_equal(first, second)
    floats, integers = np.empty(70_000), np.empty(70_000, dtype=np.int64)
    fill(first.copy(), floats, integers)
    assert 0.0 <= floats.min() and floats.max() < 1.0 and abs(floats.mean() - 0.5) < 0.01
    counts = np.bincount(integers, minlength=7)
    assert counts.size == 7 and abs(counts - 10_000).max() < 500
    again = np.empty(70_000)
    fill(first.copy(), again, integers)
    assert np.array_equal(floats, again)


PROGRAM = """
import sys; sys.path.insert(0, {root!r})
import envs, envs.games.dark_hex as d
assert envs.__file__.startswith({root!r})
state = envs.make('dark_hex', rows=3).state_from_string('a1 b1')
print(state.observation_tensor(0)[0], sum(d.apply.stats.cache_hits.values()), sum(d.place.stats.cache_hits.values()))
"""


def run_copy(root, cwd):
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(root=str(root))],
        capture_output=True, text=True, check=True, cwd=cwd, env=environment,
    )
    return result.stdout.split()


def test_an_edit_in_another_file_is_seen_and_the_cache_is_hit(tmp_path):
    shutil.copytree(ROOT, tmp_path / "envs", ignore=shutil.ignore_patterns("__pycache__"))
    assert run_copy(tmp_path, tmp_path) == ["1.0", "0", "0"]  # compiled
    assert run_copy(tmp_path, tmp_path) == ["1.0", "1", "1"]  # loaded
    # dark_hex.apply calls hex_board.place; break the placement there, in a file that dark_hex only imports.
    source = tmp_path / "envs" / "games" / "hex_board.py"
    text = source.read_text(encoding="utf-8")
    broken = text.replace("    row[BOARD + cell] = owner | marks\n", "    row[BOARD + cell] = 3 - owner\n")
    assert broken != text
    source.write_text(broken, encoding="utf-8")
    values = run_copy(tmp_path, tmp_path)
    assert values[1:] == ["0", "0"]  # compiled again, both
    source.write_text(text, encoding="utf-8")
    assert run_copy(tmp_path, tmp_path)[0] == "1.0"
    directories = list((tmp_path / "envs" / "games" / "__pycache__").glob("kernels-dark_hex-*"))
    assert len(directories) == 1  # no pile of stale directories
