"""Docking against the positions and counts of its rules, and a plain second implementation."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import envs
from envs.games.docking import STEPS, displacement
from envs.perft import perft
from envs.vector_env import VectorEnv

D1 = """
8 W W B . B B . .
7 . . . . . . . .
6 . W . . . . . .
5 . . W . . . . .
4 . . . W W . . B
3 . . . . . . . .
2 . . . B . . . W
1 B B . . . B . W
  a b c d e f g h
"""
D2 = D1.replace("8 W W B . B B . .", "8 W W B . B . . .").replace("5 . . W . . . . .", "5 . . W . . . B .")
D3 = """
8 . B . . . . . W
7 W . . . . . . .
6 . . . . . . W .
5 . . . . . . . .
4 . B . . . . . W
3 W . . B . . . .
2 . B . . . . . B
1 B . W B . B W W
"""
D4 = """
8 . B . . . . . W
7 W . . . . . W .
6 . . . . . . . .
5 . . . . . . . .
4 . B . . . . . W
3 W . . B . . . .
2 . . . B . . . B
1 B . W B . B W W
"""
D5 = """
8 . . B B W . . .
7 . . . . . . W .
6 . . . . . W . .
5 . . . . B . . W
4 B . . . . . . W
3 B . . . . . . .
2 B . . . . . . W
1 W B . . . W B .
"""
D6 = """
8 B . . . . . . B
7 . . . . . . . .
6 B . . . . W . B
5 . . . . . . . .
4 . . W W W . . .
3 . . W W W W . .
2 B . . . . . . B
1 . . B . . . B .
"""
D7 = """
8 . . . . . B B B
7 . . . . B B B B
6 W . . . . . . .
5 . . . . . . . .
4 W . . W . . . .
3 . . . . . . . W
2 W . . B . . . .
1 . W . . . W . W
"""
D8 = """
8 . . . . . B B B
7 . . . . B B B B
6 . . . . . . . .
5 . . . . . . . .
4 . . . W . . . .
3 . . W . . . . .
2 W W W B . . . .
1 W W W . . . . .
"""
D9 = """
8 B . . W . . . B
7 . . . . . . . .
6 . W . . . . B B
5 . . . W B W . .
4 . . . . W . . .
3 W . . . . . . W
2 . . . . . . . .
1 B . W . . . B B
"""
D10 = """
8 B . . W . . . B
7 . . . . . . . .
6 . . . . . . B B
5 W . . . . W . .
4 B . . . . . . .
3 W W . . . . . W
2 . . . . . . . .
1 B . W . W . B B
"""
D11 = """
8 B . . W . . . B
7 . . . . B . . .
6 . . . . . . B B
5 . . . . . W . .
4 . . . . . . . .
3 . . . W . . . W
2 W W . . . . . .
1 B . . W W . B B
"""
D12 = """
8 B . . W . . . B
7 . . . . . . . .
6 . . . . B . . B
5 . . . W B W . .
4 W . . . . . W .
3 W . . . . . . W
2 . . . . . . . .
1 B . . W B . . B
"""
D13 = """
8 B . . W . . B .
7 . . . . . . . .
6 . . . . B . . B
5 . . . B . B . .
4 . . . W B . . .
3 W . W . . . . W
2 W . . . . . . W
1 . . W . . . . B
"""
D14 = """
8 . . . . . . . .
7 . . . B . . . W
6 . W . . . . W .
5 . . . . . . . W
4 W . . W B . B .
3 . . . . . . . .
2 . . . B . . . W
1 B B . . B . B W
"""
D15 = """
8 . . . . . . . .
7 . . . . . . . .
6 . . . . . . . .
5 . . . . . . . .
4 . . . . . . . .
3 . . . . . . . .
2 B B . . . . B B
1 W B . . . . B W
"""


def start(diagram, **parameters):
    return envs.make("docking", **parameters).state_from_string(diagram + "\nWhite to move")


def moves(state, ship=""):
    """Legal moves as text, of one ship or of all."""
    found = {state.action_to_string(action) for action in state.legal_actions()}
    return {move for move in found if move.startswith(ship)}


def after(diagram, move, **parameters):
    state = start(diagram, **parameters)
    return state.child(state.string_to_action(move))


def outcome(diagram, move, **parameters):
    """("White" | "Black" | "draw" | "running", reason)."""
    state = after(diagram, move, **parameters)
    if not state.is_terminal():
        return "running", None
    value = state.returns()[0]
    return ("draw" if value == 0 else "White" if value > 0 else "Black"), state.reason()


def names(state):
    return {state.game.cell_to_string(cell) for cell in state.witness()}


def test_d1_move_lengths():
    assert moves(start(D1), "d4-") == {
        "d4-d5", "d4-e5", "d4-g4", "d4-e3", "d4-d2/h6", "d4-b2", "d4-c4", "d4-a7",
    }  # fmt: skip
    state = after(D1, "d4-d2/h6")
    owners = state.game.owners(state)
    assert owners[state.game.cells - 64 + 8 * 1 + 3] == 0 and owners[8 * 5 + 7] == 1 and owners[8 * 3 + 3] == -1


def test_d2_three_free_cells_do_not_suffice():
    assert moves(start(D2), "d4-") == moves(start(D1), "d4-") - {"d4-d2/h6"}


def test_d3_blocked_diagonal():
    assert moves(start(D3), "c1-") == {"c1-c2", "c1-d2"}


def test_d4_distance():
    pushes = {m for m in moves(start(D4), "c1-a1")}
    assert pushes == {"c1-a1/f6"}
    assert {m for m in moves(start(D4, displace_to="exact"), "c1-a1")} == {"c1-a1/e5"}
    assert {m for m in moves(start(D4, displace_to="any"), "c1-a1")} == {"c1-a1/e5", "c1-a1/f6"}
    state = start(D4, displace_to="any")
    for move, cell in (("c1-a1/e5", 36), ("c1-a1/f6", 45)):
        assert state.game.owners(state.child(state.string_to_action(move)))[cell] == 1
    assert not {m for m in moves(start(D4, displace_free="to_edge"), "c1-a1")}


def test_d5_origin():
    assert moves(start(D5), "a1-") == set()
    assert "a1-e5/a1" in moves(start(D5, origin_vacated=True), "a1-")
    state = after(D5, "a1-e5/a1", origin_vacated=True)
    owners = state.game.owners(state)
    assert (owners[0], owners[36], owners.count(0), owners.count(1)) == (1, 0, 8, 8)


def test_d6_docked():
    state = after(D6, "f6-f4")
    assert outcome(D6, "f6-f4") == ("White", "docked")
    assert names(state) == set("c3 d3 e3 f3 c4 d4 e4 f4".split())


def test_d7_displaced_ship_docks_its_side():
    assert outcome(D7, "d4-d2/h6") == ("Black", "opponent_docked")
    assert names(after(D7, "d4-d2")) == set("f8 g8 h8 e7 f7 g7 h7 h6".split())


@pytest.mark.parametrize(
    ("both_docked", "winner"), [("mover", "White"), ("opponent", "Black"), ("draw", "draw")]
)
def test_d8_both_dock(both_docked, winner):
    assert outcome(D8, "d4-d2/h6", both_docked=both_docked) == (winner, "both_docked")


CRASHES = [
    (D9, "b6-e6", {"enemy_edge": True, "enemy": True, "off": False}, {"e5"}),
    (D10, "b3-b4", {"enemy_edge": True, "enemy": False, "off": False}, {"a4"}),
    (D11, "b2-b1", {"enemy_edge": True, "enemy": False, "off": False}, {"a1"}),
    (D12, "g4-e4", {"enemy_edge": False, "enemy": False, "off": False, "any": True}, {"e5"}),
]


@pytest.mark.parametrize(("diagram", "move", "expected", "cells"), CRASHES, ids=["D9", "D10", "D11", "D12"])
def test_d9_to_d12_crashes(diagram, move, expected, cells):
    for crash, wins in expected.items():
        assert outcome(diagram, move, crash=crash) == (("White", "crash") if wins else ("running", None))
        if wins:
            assert cells <= names(after(diagram, move, crash=crash))
    if "any" not in expected:
        assert names(after(diagram, move)) == cells


def test_d13_self_crash():
    assert outcome(D13, "d4-e5") == ("Black", "self_crash")
    assert names(after(D13, "d4-e5")) == {"e5"}
    assert outcome(D13, "d4-e5", self_crash="ignore") == ("running", None)
    state = start(D13, self_crash="illegal")
    assert moves(start(D13)) - moves(state) == {"d4-e5", "c3-e5"}
    with pytest.raises(ValueError, match="d4-e5.*is not a move of White"):
        state.string_to_action("d4-e5")
    before = state.row.copy()
    state.legal_actions()
    assert np.array_equal(state.row, before)


def test_environments_name_an_illegal_move_by_its_squares():
    state = start(D13, self_crash="illegal")
    action = state.game.string_to_action("d4-e5")
    batch = VectorEnv(state.game, 1)
    batch.reset()
    batch.set_state({**batch.get_state(), "rows": state.row[None]})
    with pytest.raises(envs.IllegalActionError, match=rf"lane 0: action {action} \(d4-e5\) of player 0 is illegal"):
        batch.step(np.array([action]))
    with pytest.raises(envs.IllegalActionError, match=rf"action {action} \(d4-e5\) of player 0 is illegal"):
        state.apply_action(action)


def test_d14_crash_by_displacement():
    assert outcome(D14, "d4-d2/h6") == ("White", "crash")
    assert names(after(D14, "d4-d2")) == {"h6"}


def test_d15_forced_pass():
    custom = {"layout": "custom", "white": "a1 h1", "black": "a2 b1 b2 g1 g2 h2", "crash": "off"}
    game = envs.make("docking", **custom)
    for state in (game.new_initial_state(), start(D15, crash="off")):
        assert moves(state) == {"pass"} and state.legal_actions() == [512]
        state.apply_action(512)
        assert state.current_player() == 1 and len(state.legal_actions()) == 22 and "pass" not in moves(state)
        state.apply_action(state.legal_actions()[0])
        assert state.reason() in (None, "docked")
    with pytest.raises(ValueError, match="ship on a1 has crashed at the start"):
        envs.make("docking", **{**custom, "crash": "enemy_edge"})
    assert envs.make("docking", **custom, no_move="loss").new_initial_state().returns() == [-1.0, 1.0]
    drawn = envs.make("docking", **custom, no_move="draw").new_initial_state()
    assert drawn.returns() == [0.0, 0.0] and drawn.reason() == "stuck"


def test_two_passes_are_a_draw():
    """1x4 with WBBW reversed in the middle: nobody moves."""
    game = envs.make("docking", rows=1, cols=4, layout="custom", white="a1 c1", black="b1 d1", crash="off")
    state = game.new_initial_state()
    assert moves(state) == {"pass"}
    state.apply_action(state.legal_actions()[0])
    assert moves(state) == {"pass"} and state.to_string().endswith("Black to move after 1 pass")
    assert game.state_from_string(state.to_string()).row[5] == 1
    state.apply_action(state.legal_actions()[0])
    assert state.reason() == "stuck" and state.returns() == [0.0, 0.0] and state.move_number() == 2


@pytest.mark.parametrize(
    ("parameters", "counts"),
    [
        ({}, (40, 1556, 57600, 2083084)),
        ({"displace_to": "exact"}, (40, 1556, 57632)),
        ({"displace_to": "any"}, (40, 1560, 58440)),
        ({"count_colors": "own"}, (40, 1600, 61960)),
        ({"count_colors": "enemy"}, (28, 764, 23184)),
        ({"layout": "draughts"}, (31, 926, 30107)),
        ({"layout": "diagonals"}, (36, 1272, 45320)),
        ({"layout": "backgap"}, (22, 478, 11898)),
    ],
)
def test_perft(parameters, counts):
    state = envs.make("docking", **parameters).new_initial_state()
    assert tuple(perft(state, depth + 1) for depth in range(len(counts))) == counts


def test_first_displacements():
    state = envs.make("docking").new_initial_state()
    assert {m for m in moves(state) if "/" in m} == {"a3-c1/g5", "h3-f1/b5", "a6-c8/g4", "h6-f8/b4"}


def turned(diagram):
    """The board turned by 90 degrees and the colours exchanged."""
    rows = [line.split()[1:] for line in diagram.strip().splitlines() if line[0].isdigit()]
    swap = {"W": "B", "B": "W", ".": "."}
    return "/".join("".join(swap[rows[7 - c][r]] for c in range(8)) for r in range(8))


@pytest.mark.parametrize("diagram", [D1, D4, D6, D9, D13, D14])
def test_perft_of_the_turned_position(diagram):
    game = envs.make("docking")
    other = game.state_from_string(turned(diagram) + "/Black to move")
    assert perft(other, 3) == perft(start(diagram), 3)


def test_turned_start_position():
    white, black = (envs.make("docking", first=first).new_initial_state() for first in "WB")
    assert perft(white, 3) == perft(black, 3) == 57600
    assert black.to_string().endswith("Black to move") and black.current_player() == 0


# -- a plain second implementation ---------------------------------------------------------------------------------


class Plain:
    """The rules over a dictionary of ships, as they are written down; player 0 is White."""

    def __init__(self, game):
        self.p, self.rows, self.cols = game.parameters, game.rows, game.cols

    def inside(self, r, c):
        return 0 <= r < self.rows and 0 <= c < self.cols

    def ray(self, cell, step):
        r, c = divmod(cell, self.cols)
        found = []
        while self.inside(r + step[0], c + step[1]):
            r, c = r + step[0], c + step[1]
            found.append(r * self.cols + c)
        return found

    def moves(self, ships, player):
        """{(from, to, displaced or None)}, before self_crash="illegal"."""
        found = set()
        counted = {"both": (0, 1), "own": (player,), "enemy": (1 - player,)}[self.p.count_colors]
        for cell in [c for c, owner in ships.items() if owner == player]:
            for step in STEPS:
                ray = self.ray(cell, step)
                length = 1 + sum(ships.get(c) in counted for c in ray)
                if length > len(ray):
                    continue
                target, passed = ray[length - 1], ray[: length - 1]
                if ships.get(target) == player or any(ships.get(c) == 1 - player for c in passed):
                    continue
                if not self.p.jump_own and any(ships.get(c) == player for c in passed):
                    continue
                if target not in ships:
                    found.add((cell, target, None))
                    continue
                occupied = set(ships) - ({cell} if self.p.origin_vacated else set())
                for diagonal in ((1, 1), (-1, 1), (-1, -1), (1, -1)):
                    run = self.ray(target, diagonal)
                    free = next((i for i, c in enumerate(run) if c in occupied), len(run))
                    if free < self.p.min_diag or (self.p.displace_free == "to_edge" and free < len(run)):
                        continue
                    ends = {"end": [free], "exact": [self.p.min_diag], "any": range(self.p.min_diag, free + 1)}
                    found |= {(cell, target, run[k - 1]) for k in ends[self.p.displace_to]}
        return found

    def moved(self, ships, player, move):
        origin, target, displaced = move
        ships = {c: owner for c, owner in ships.items() if c not in (origin, target)}
        ships[target] = player
        if displaced is not None:
            ships[displaced] = 1 - player
        return ships

    def connected(self, ships, player):
        own = {c for c, owner in ships.items() if owner == player}
        group, todo = set(), [min(own)]
        while todo:
            cell = todo.pop()
            if cell not in group:
                group.add(cell)
                todo += [ray[0] for s in STEPS[::2] if (ray := self.ray(cell, s)) and ray[0] in own]
        return group == own

    def crashed(self, ships, player):
        found = set()
        for cell, owner in ships.items():
            if owner == player:
                around = [ships.get(ray[0], "empty") if (ray := self.ray(cell, s)) else "edge" for s in STEPS[::2]]
                stops = {"enemy_edge": ("edge", 1 - player), "enemy": (1 - player,), "off": (),
                         "any": ("edge", 0, 1)}[self.p.crash]  # fmt: skip
                if all(a in stops for a in around) and 1 - player in around:
                    found.add(cell)
        return found

    def verdict(self, ships, player):
        """(result, reason) after a move of ``player``: the winner, 2 for a draw, None."""
        mine, theirs = self.connected(ships, player), self.connected(ships, 1 - player)
        if mine and theirs:
            return {"mover": player, "opponent": 1 - player, "draw": 2}[self.p.both_docked], "both_docked"
        if mine:
            return player, "docked"
        if self.crashed(ships, 1 - player):
            return player, "crash"
        if theirs:
            return 1 - player, "opponent_docked"
        if self.p.self_crash != "ignore" and self.crashed(ships, player):
            return 1 - player, "self_crash"
        return None, None

    def legal(self, ships, player):
        found = self.moves(ships, player)
        if self.p.self_crash == "illegal":
            found = {m for m in found if self.verdict(self.moved(ships, player, m), player)[1] != "self_crash"}
        return found


def play_against_plain(game, rng, plies):
    """Random play; every position, move list and result compared with the plain rules."""
    plain = Plain(game)
    state = game.new_initial_state()
    ships = {cell: owner for cell, owner in enumerate(game.owners(state)) if owner >= 0}
    counts = [list(ships.values()).count(player) for player in (0, 1)]
    seen = Counter([(frozenset(ships.items()), 0)])
    passed = False
    name = game.cell_to_string
    for _ in range(plies):
        player = state.current_player()
        legal = plain.legal(ships, player)
        text = {f"{name(a)}-{name(b)}" + (f"/{name(c)}" if c is not None else ""): (a, b, c) for a, b, c in legal}
        shown = {state.action_to_string(action): action for action in state.legal_actions()}
        assert set(shown) == (set(text) or {"pass"})
        assert all(state.string_to_action(move) == action for move, action in shown.items())
        move = sorted(shown)[rng.integers(len(shown))]
        state.apply_action(shown[move])
        result, reason = None, None
        if move == "pass":
            result, reason = (2, "stuck") if passed else (None, None)
        else:
            ships = plain.moved(ships, player, text[move])
            result, reason = plain.verdict(ships, player)
        passed = move == "pass"
        assert game.owners(state) == [ships.get(cell, -1) for cell in range(game.cells)]
        assert [list(ships.values()).count(p) for p in (0, 1)] == counts
        if result is None:
            key = (frozenset(ships.items()), 1 - player)
            seen[key] += 1
            if game.parameters.repetition and seen[key] >= game.parameters.repetition:
                result, reason = 2, "repetition"
            elif state.move_number() >= game.parameters.max_plies:
                result, reason = 2, "max_plies"
        assert state.reason() == reason
        if result is not None:
            assert state.returns() == ([0.0, 0.0] if result == 2 else [1.0 - 2 * result, 2.0 * result - 1])
            return reason
    return None


VARIANTS = {
    "count_colors": ["both", "own", "enemy"],
    "jump_own": [True, False],
    "min_diag": [1, 2, 3, 4],
    "displace_free": ["four", "to_edge"],
    "origin_vacated": [False, True],
    "displace_to": ["end", "exact", "any"],
    "both_docked": ["mover", "draw", "opponent"],
    "crash": ["enemy_edge", "enemy", "any", "off"],
    "self_crash": ["loss", "ignore", "illegal"],
    "repetition": [0, 2, 3],
}


@settings(max_examples=80, deadline=None)
@given(
    st.fixed_dictionaries({key: st.sampled_from(values) for key, values in VARIANTS.items()}),
    st.integers(2, 9), st.integers(2, 9), st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_against_the_plain_rules(variant, rows, cols, seed):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        # Any position that is neither docked nor crashed.
        cells = rng.permutation(rows * cols)
        each = int(rng.integers(2, max(3, min(9, rows * cols // 2))))
        text = [" ".join(f"{chr(97 + c % cols)}{c // cols + 1}" for c in part) for part in
                (cells[:each], cells[each : 2 * each])]  # fmt: skip
        try:
            game = envs.make(
                "docking", rows=rows, cols=cols, layout="custom", white=text[0], black=text[1], max_plies=25, **variant
            )
        except ValueError as error:
            assert any(word in str(error) for word in ("docked at the start", "crashed at the start", "squares"))
            continue
        play_against_plain(game, rng, 40)
        return


def test_default_games_against_the_plain_rules():
    rng = np.random.default_rng(3)
    reasons = Counter(play_against_plain(envs.make("docking"), rng, 200) for _ in range(12))
    assert sum(reasons.values()) == 12


def test_small_games_end_for_every_reason():
    rng = np.random.default_rng(4)
    game = envs.make(
        "docking", rows=4, cols=4, layout="custom", white="a1 c2 d4", black="a3 b4 d1", min_diag=2, repetition=2,
        max_plies=30,
    )  # fmt: skip
    reasons = Counter(play_against_plain(game, rng, 30) for _ in range(400))
    assert {"docked", "crash", "self_crash", "repetition"} <= set(reasons)


def test_at_most_one_displacement_on_8x8():
    rng = np.random.default_rng(5)
    for displace_to in ("end", "exact"):
        game = envs.make("docking", displace_to=displace_to)
        assert game.num_distinct_actions() == 513
        for _ in range(30):
            cells = rng.permutation(64)[:16]
            board = ["."] * 64
            for i, cell in enumerate(cells):
                board[cell] = "WB"[i % 2]
            state = game.state_from_string("/".join("".join(board[8 * r : 8 * r + 8]) for r in range(8)))
            for cell in range(64):
                assert sum(displacement(game.params, state.row, 0, cell, slot) >= 0 for slot in range(4)) <= 1


def test_action_numbers():
    game = envs.make("docking")
    assert game.action_to_string(0, 8 * 27 + 4) == "d4-S" and game.action_to_string(0, 512) == "pass"
    assert game.string_to_action("d4-d2/h6") == game.string_to_action("d4-S") == 8 * 27 + 4
    assert game.num_distinct_actions() == 513 and envs.make("docking", min_diag=3).num_distinct_actions() == 2049
    game = envs.make("docking", displace_to="any")
    assert game.num_distinct_actions() == 64 * 8 * 28 + 1
    # The slot is the diagonal (NE, SE, SW, NW) times 7, plus the distance - 1.
    assert game.string_to_action("d4-d2/h6") == (8 * 27 + 4) * 28 + 3
    assert game.string_to_action("d4-d8/h4") == (8 * 27 + 0) * 28 + 7 + 3
    for action in range(0, 64 * 8 * 28 + 1, 11):
        assert game.string_to_action(game.action_to_string(0, action)) == action


# -- who chooses, when a side may dock, draws ----------------------------------------------------------------------


def test_owner_chooses():
    game = envs.make(
        "docking", rows=9, layout="custom", white="a5 i1 i3", black="c5 a9 i9", chooser="owner", crash="off"
    )
    state = game.new_initial_state()
    (action,) = [a for a in state.legal_actions() if state.action_to_string(a).startswith("a5-c5")]
    state.apply_action(action)
    assert state.current_player() == 1 and not state.is_terminal()
    assert "Black chooses where c5 goes" in str(state)
    assert moves(state) == {"a5-c5/g9", "a5-c5/g1"}
    layout = {name: slice(a, b) for name, a, b in game.observation_layout()}
    seen = state.observation_tensor()
    assert np.flatnonzero(seen[layout["ship whose move waits for the choice"]]).tolist() == [4 * 9]
    assert np.flatnonzero(seen[layout["ship to be displaced"]]).tolist() == [4 * 9 + 2]
    state.apply_action(state.string_to_action("a5-c5/g1"))
    assert state.current_player() == 1
    owners = game.owners(state)
    assert owners[4 * 9 + 2] == 0 and owners[6] == 1 and owners[4 * 9] == -1
    state = game.state_from_string("a5-c5 a5-c5/g9")
    assert game.owners(state)[8 * 9 + 6] == 1 and state.move_number() == 2
    by_mover = envs.make(**{"name": "docking", **game.explicit_parameters(), "chooser": "mover"})
    assert moves(by_mover.new_initial_state(), "a5-c5") == {"a5-c5/g9", "a5-c5/g1"}


def test_owner_chooses_games():
    """Whole random games; the two actions of a choice belong to one turn."""
    rng = np.random.default_rng(6)
    choices = 0
    for _ in range(30):
        game = envs.make("docking", min_diag=2, chooser="owner", max_plies=60, displace_to="any")
        state = game.new_initial_state()
        while not state.is_terminal():
            mover, pending = state.current_player(), "chooses" in str(state)
            legal = state.legal_actions()
            if pending:
                choices += 1
                assert len(legal) > 1 and state.full_history()[-1][0] == 1 - mover
            state.apply_action(int(rng.choice(legal)))
            if pending and not state.is_terminal():
                assert state.current_player() == mover
        assert game.owners(state).count(0) == game.owners(state).count(1) == 8
    assert choices > 10


def test_dock_check():
    with pytest.raises(ValueError, match="White is docked at the start.*mover_after_break"):
        envs.make("docking", layout="backrank")
    game = envs.make("docking", layout="backrank", dock_check="mover_after_break")
    state = game.new_initial_state()
    assert perft(state, 1) > 0
    layout = {name: slice(a, b) for name, a, b in game.observation_layout()}
    broken = layout["own side, other side has been undocked"]
    assert state.observation_tensor(0)[broken].tolist() == [0, 0]
    state.apply_action(state.legal_actions()[0])
    assert not state.is_terminal()
    assert state.observation_tensor(0)[broken].tolist() == [1, 0]
    assert state.observation_tensor(1)[broken].tolist() == [0, 1]
    # A side that was undocked docks as usual; one that never was does not win with its first move.
    game = envs.make(
        "docking", rows=5, layout="custom", white="a1 c1", black="a5 b5", dock_check="mover_after_break", crash="off"
    )
    state = game.new_initial_state()
    docking = [a for a in state.legal_actions() if state.child(a).reason() == "docked"]
    assert all(state.child(a).reason() in (None, "docked") for a in state.legal_actions()) and docking == []
    state = game.state_from_string("a1-b2 a5-a4")
    assert not state.is_terminal()
    state.apply_action(state.string_to_action("c1-b1"))  # alone on its row: one cell
    assert state.reason() == "docked" and state.returns() == [1.0, -1.0]


def test_repetition_and_plies():
    game = envs.make("docking", rows=6, layout="custom", white="a1 a3", black="f6 f4")
    shuttle = "a1-b1 f6-e6 b1-a1 e6-f6"
    state = game.state_from_string(" ".join([shuttle] * 2))
    assert state.reason() == "repetition" and state.move_number() == 8 and state.returns() == [0.0, 0.0]
    game = envs.make("docking", **{**game.explicit_parameters(), "repetition": 0, "max_plies": 10})
    state = game.state_from_string(" ".join([shuttle] * 2 + ["a1-b1 f6-e6"]))
    assert state.reason() == "max_plies" and state.move_number() == 10 and state.returns() == [0.0, 0.0]


# -- text and errors -----------------------------------------------------------------------------------------------


def test_text():
    game = envs.make("docking")
    state = game.new_initial_state()
    assert state.to_string().splitlines()[0] == "8 . . B B B B . ."
    again = game.state_from_string(state.to_string())
    assert game.owners(again) == game.owners(state) and again.current_player() == 0
    state.apply_action(state.string_to_action("a3-c1"))  # the displaced ship's cell may be left out
    assert state.information_state_string(0) == "P0 a3-SE" and state.current_player() == 1
    assert game.state_from_string(state.to_string()).current_player() == 1
    assert game.state_from_string("a3-c1/g5 c8-c6").move_number() == 2
    tokens = start(D15, crash="off").information_tokens(0)
    assert start(D15, crash="off").game.information_string(0, tokens) == "P0 Wa1 Bb1 Bg1 Wh1 Ba2 Bb2 Bg2 Bh2"
    with pytest.raises(envs.IllegalActionError, match="a3-W"):
        game.new_initial_state().apply_action(game.string_to_action("a3-W"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a3-a5", "moves of that ship are"),
        ("a3-c4", "is not a move"),
        ("a3", "is not a move"),
        ("a3-x9", "not a"),
        ("W......./......../......../......../......../......../......../........", "ships of both sides"),
        ("W......B", "1 rows, this board has 8"),
        ("W......B/ Red to move", "players are White, Black"),
        ("W......B/ White to move after 2 passes", "2 passes"),
    ],
)
def test_bad_text(text, message):
    game = envs.make("docking")
    with pytest.raises(ValueError, match=message):
        game.new_initial_state().string_to_action(text) if text[0] == "a" else game.state_from_string(text)
    with pytest.raises(ValueError, match="on no line"):
        game.string_to_action("a3-c4")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rows": 6, "layout": "draughts"}, "layout=draughts does not fit a 6x6 board"),
        ({"rows": 4}, "layout=edges does not fit a 4x4 board"),
        ({"rows": 7}, "layout=edges does not fit a 7x7 board"),
        ({"layout": "ring"}, "edges, draughts"),
        ({"layout": "custom"}, "squares of both sides"),
        ({"layout": "custom", "white": "a1 c1"}, "squares of both sides"),
        ({"layout": "custom", "white": "a1 i9", "black": "b2 d2"}, "cells are a1 to h8"),
        ({"layout": "custom", "white": "a1 a1", "black": "b2 d2"}, "names a square twice"),
        ({"layout": "custom", "white": "a1 c1", "black": "c1 e1"}, "both have a ship on c1"),
        ({"layout": "custom", "white": "a1 b1", "black": "c3 e5"}, "White is docked at the start"),
        ({"layout": "custom", "white": "a1 d4", "black": "a2 b1"}, "ship on a1 has crashed"),
        ({"layout": "custom", "white": "a1 !!", "black": "a2 b1"}, "'!!' is not a cell"),
        ({"white": "a1 c1"}, "go with layout=custom"),
        ({"repetition": 1}, "repetition=1"),
        ({"max_plies": 0}, "integer from 1"),
        ({"first": "White"}, "W, B"),
        ({"rows": 17}, "integer from 1 to 16"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        envs.make("docking", **parameters)


def test_custom_texts_are_canonical():
    one = envs.make("docking", layout="custom", white="c1, a1", black="H8;f8")
    assert one == envs.make("docking", layout="custom", white="a1c1", black="f8 h8")
    assert "white=a1 c1,black=f8 h8" in one.spec()
    assert envs.make("docking", rows=6, cols=8).new_initial_state().to_string().splitlines()[1] == "5 W . . . . . . W"
