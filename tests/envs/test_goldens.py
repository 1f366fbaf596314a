"""Playthroughs: everything a game says along one game, compared with stored text byte for byte.

A change of behaviour shows up as a difference in ``tests/goldens``. When it is intended, write the files again and
read the difference:

    python tests/envs/test_goldens.py
"""

import random
from pathlib import Path

import numpy as np
import pytest

import envs
from envs.render import ansi

FOLDER = Path(__file__).resolve().parent.parent / "goldens"

# File name: game, parameters, first moves; the rest of the game is drawn with a fixed seed.
PLAYTHROUGHS = {
    "hex_5x5_pieces": ("hex", {"rows": 5}, "e2 swap-pieces"),
    "hex_4x4_pieces_declined": ("hex", {"rows": 4, "chain": "component"}, "b2 c2"),
    "hex_3x4_sides": ("hex", {"rows": 3, "cols": 4, "swap": "sides"}, "b2 swap-sides"),
    "hex_3x4_default": ("hex", {"rows": 3, "cols": 4}, "a3 b2"),
    "hex_4x4_rex": ("hex", {"rows": 4, "rex": True, "swap": "off"}, ""),
    "dark_hex_3x3_classical_announce": ("dark_hex", {}, "b2 b2 a1 a1 b1 a3 b3"),
    "dark_hex_3x3_classical_numturns": ("dark_hex", {"info": "numturns"}, "b2 b2 a1 a1 b1 a3 b3"),
    "dark_hex_3x3_classical_silent": ("dark_hex", {"info": "silent"}, "b2 b2 a1 a1 b1 a3 b3"),
    "dark_hex_2x2_classical_longest": ("dark_hex", {"rows": 2}, "a1 a1 b1 b1 b2 b2 a2"),
    "dark_hex_3x3_abrupt_announce": ("dark_hex", {"version": "abrupt"}, "b2 b2 a1"),
    "dark_hex_3x3_abrupt_numturns": ("dark_hex", {"version": "abrupt", "info": "numturns"}, "b2 b2 a1"),
    "dark_hex_3x3_abrupt_silent": ("dark_hex", {"version": "abrupt", "info": "silent"}, "b2 b2 a1"),
    "dark_hex_2x3_abrupt_silent": (
        "dark_hex",
        {"rows": 2, "cols": 3, "version": "abrupt", "info": "silent"},
        "b1 b1",
    ),
    "dark_hex_4x3_classical_announce": ("dark_hex", {"rows": 4, "cols": 3}, "b2 b2 b3 b3"),
    "dark_hex_1x3_classical_announce": ("dark_hex", {"rows": 1, "cols": 3}, ""),
    "phantom_ttt_3x3_classical_announce": ("phantom_ttt", {}, "b2 b2 a1 a1 c1 c1 a3 b3 a2"),
    "phantom_ttt_3x3_classical_numturns": ("phantom_ttt", {"info": "numturns"}, "b2 b2 a1 a1 b1 c1"),
    "phantom_ttt_3x3_classical_silent": ("phantom_ttt", {"info": "silent"}, "b2 b2 a1 a1 b1 b3 c1 a3 c3"),
    "phantom_ttt_3x3_abrupt_announce": ("phantom_ttt", {"version": "abrupt"}, "b2 b2 a1"),
    "phantom_ttt_3x3_abrupt_numturns": ("phantom_ttt", {"version": "abrupt", "info": "numturns"}, "b2 b2 b1 a1"),
    "phantom_ttt_3x3_abrupt_silent": ("phantom_ttt", {"version": "abrupt", "info": "silent"}, "b2 b2 a1"),
    "phantom_ttt_3x3_drawn": ("phantom_ttt", {}, "a1 b1 c1 a2 c2 b2 b3 b3 c3 a3"),
    "phantom_ttt_2x3_line_2": ("phantom_ttt", {"rows": 2, "cols": 3, "line": 2, "version": "abrupt"}, "b1 b1"),
    "phantom_ttt_3x4_line_4": ("phantom_ttt", {"rows": 3, "cols": 4, "line": 4, "info": "numturns"}, ""),
    "tac_tix_4x4_misere": ("tac_tix", {}, "c1 a4-c4 b2-c2 d1-d4 a1 a3-b3 b1 a2 c3"),
    "tac_tix_3x3_normal": ("tac_tix", {"rows": 3, "convention": "normal"}, "b1-b3"),
    "tac_tix_3x3_hole": ("tac_tix", {"rows": 3, "initial": "OOO/O.O/OOO"}, "a1-a3"),
    "tac_tix_2x5_holes_normal": (
        "tac_tix",
        {"rows": 2, "cols": 5, "initial": "OO.OO/OOO.O", "convention": "normal"},
        "",
    ),
    "docking_8x8_ply_cap": ("docking", {"max_plies": 6}, "a3-c1/g5"),
    "docking_6x6_repetition": (
        "docking",
        {"rows": 6, "repetition": 2, "min_diag": 3, "first": "B"},
        "b1-f1 a2-a6 f1-b1 a6-a2",
    ),
    "docking_docked": (
        "docking",
        {"layout": "custom", "white": "c3 d3 e3 f3 c4 d4 e4 f6", "black": "c1 g1 a2 h2 a6 h6 a8 h8"},
        "f6-f4",
    ),
    "docking_displaced_ship_docks": (
        "docking",
        {"layout": "custom", "white": "b1 f1 h1 a2 h3 a4 d4 a6", "black": "d2 e7 f7 g7 h7 f8 g8 h8"},
        "d4-d2/h6",
    ),
    "docking_both_docked": (
        "docking",
        {
            "layout": "custom",
            "white": "a1 b1 c1 a2 b2 c2 c3 d4",
            "black": "d2 e7 f7 g7 h7 f8 g8 h8",
            "both_docked": "draw",
        },
        "d4-d2/h6",
    ),
    "docking_crash": (
        "docking",
        {"layout": "custom", "white": "c1 a3 h3 e4 d5 f5 b6 d8", "black": "a1 g1 h1 e5 g6 h6 a8 h8"},
        "b6-e6",
    ),
    "docking_owner_chooses": (
        "docking",
        {
            "rows": 5,
            "layout": "custom",
            "white": "c1 e1 d5",
            "black": "b2 d3",
            "chooser": "owner",
            "min_diag": 2,
            "max_plies": 8,
        },
        "d5-d3 d5-d3/b5",
    ),
    "docking_stuck": (
        "docking",
        {"rows": 1, "cols": 4, "layout": "custom", "white": "a1 c1", "black": "b1 d1", "crash": "off"},
        "pass pass",
    ),
    "renju3_5x5_four": ("renju3", {"rows": 5}, "a1 a3 b4 b1 b3 c4 c1 c3 e4 d1"),
    "renju3_4x4_passes": ("renju3", {"rows": 4}, "a1 pass pass pass"),
    "renju3_9x9_antonov_exact": ("renju3", {"rows": 9}, "pass c8 d4 pass d8 e4 pass f8 f4"),
    # Red and Green share a critical cell: it counts for the literal reading only.
    "renju3_5x7_shared_cell_literal": (
        "renju3",
        {"rows": 5, "cols": 7, "antonov": "literal"},
        "c5 d5 g2 pass e5 g3 pass f5 g4",
    ),
    "renju3_5x7_shared_cell_exact": (
        "renju3",
        {"rows": 5, "cols": 7, "threat_planes": True},
        "c5 d5 g2 pass e5 g3 pass f5 g4 g5 pass pass pass",
    ),
    "renju3_5x5_own_four": (
        "renju3",
        {"rows": 5, "own_four": "auto", "payoff": "winner_only"},
        "a1 a5 e5 b1 c5 e3 c1 b3 c4",
    ),
    "renju3_3x3_full": ("renju3", {"rows": 3, "win_len": 3, "payoff": "share"}, "a1 b1 c1 c2 a2 b2 b3 a3 c3"),
}


def numbers(values):
    """Zeros and ones as ``.`` and ``1`` without gaps, anything else as decimals."""
    if set(values.tolist()) <= {0.0, 1.0}:
        return "".join("1" if value else "." for value in values)
    return " ".join(f"{value:.6g}" for value in values.tolist())


def tensor_lines(label, values, layout):
    for name, start, stop in layout:
        yield f"  {label} {name}: {numbers(values[start:stop])}"


def position_lines(state):
    """Everything there is to say about a position."""
    game = state.game
    yield f"current player: {state.current_player()}"
    for player in range(game.num_players):
        legal = state.legal_actions(player)
        mask = numbers(state.legal_actions_mask(player).astype(np.float32))
        yield f"player {player}:"
        yield f"  legal: {' '.join(state.action_to_string(player, action) for action in legal) or '-'}"
        yield f"  mask: {mask}"
        yield f"  information state: {state.information_state_string(player)}"
        yield f"  tokens: {' '.join(map(str, state.information_tokens(player).tolist()))}".rstrip()
        yield from tensor_lines("information", state.information_state_tensor(player), game.observation_layout(False))
        yield from tensor_lines("view", state.observation_tensor(player), game.observation_layout(True))
        yield from ("  | " + line for line in ansi(game.picture(state, player)).splitlines())
    yield "everything:"
    yield from ("  | " + line for line in ansi(game.picture(state)).splitlines())
    yield from ("  : " + line for line in state.to_string().splitlines())


def playthrough(name, parameters, moves, seed=1):
    """The whole text of one game."""
    game = envs.make(name, **parameters)
    lines = [
        f"game: {game.spec()}",
        f"actions: {game.num_distinct_actions()}, longest game: {game.max_game_length()}",
        f"tokens: {game.num_tokens}, longest information state: {game.max_information_length}",
        f"utility: {game.min_utility():g} to {game.max_utility():g}",
    ]
    for label, view in (("information", False), ("view", True)):
        parts = ", ".join(f"{part} [{start}:{stop}]" for part, start, stop in game.observation_layout(view))
        lines.append(f"{label} ({game.observation_size(view)}): {parts}")
    # Of Python's generators only random() is promised to stay the same in later versions.
    rng = random.Random(seed)
    words = moves.split()
    state = game.new_initial_state()
    while not state.is_terminal():
        lines += ["", f"# ply {state.move_number()}", *position_lines(state)]
        player, legal = state.current_player(), state.legal_actions()
        if words:
            action = state.string_to_action(words.pop(0))
        else:
            action = legal[int(rng.random() * len(legal))]
        lines.append(f"action: {action} {state.action_to_string(player, action)}")
        state.apply_action(action)
    lines += ["", f"# end, ply {state.move_number()}", *position_lines(state)]
    lines.append(f"returns: {' '.join(f'{value:g}' for value in state.returns())}")
    lines.append(f"reason: {state.reason()}")
    lines.append(f"witness: {' '.join(map(game.cell_to_string, state.witness()))}")
    lines.append(f"history: {' '.join(f'{player}:{action}' for player, action in state.full_history())}")
    return "\n".join(lines) + "\n"


def update():
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for title, (name, parameters, moves) in PLAYTHROUGHS.items():
        (FOLDER / f"{title}.txt").write_bytes(playthrough(name, parameters, moves).encode())


@pytest.mark.parametrize("title", PLAYTHROUGHS)
def test_playthrough(title):
    stored = (FOLDER / f"{title}.txt").read_bytes().decode()
    assert playthrough(*PLAYTHROUGHS[title]) == stored, (
        f"{title} has changed; if that is intended, run: python tests/envs/test_goldens.py"
    )


def test_no_file_without_a_playthrough():
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == sorted(PLAYTHROUGHS)


if __name__ == "__main__":
    update()
