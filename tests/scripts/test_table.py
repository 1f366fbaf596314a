"""The table for people: what each may see, the curtain, and the end of a game. Driven by scripted input."""

import re

import numpy as np
import pytest

import envs
from agents import UniformAgent
from agents.table import ALTERNATE, CLEAR, ORIGINAL, Table, Terminal, heard, seat_names

CURTAIN = "The curtain is down."
CELL = re.compile(r"\b[a-z][1-9][0-9]?\b")


class Script(Terminal):
    """Types the given lines and keeps the transcript; ``answer(table, prompt)`` may type instead."""

    def __init__(self, lines=(), answer=None):
        self.lines, self.answer, self.text, self.table = iter(lines), answer, "", None
        super().__init__(read=self._next, write=self._keep, echo=True)

    def _next(self):
        if self.answer is not None:
            return self.answer(self.table, self.text.rsplit("\n", 1)[-1])
        try:
            return next(self.lines)
        except StopIteration:
            raise EOFError from None

    def _keep(self, text):
        self.text += text


def play(game, agents, lines=(), answer=None):
    terminal = Script(lines, answer)
    table = terminal.table = Table(game, agents, terminal)
    return table, table.play(), terminal.text


def random_people(seed, seen):
    """Two people who type random legal cells, press Enter where asked, and leave at the end."""
    rng = np.random.default_rng(seed)

    def answer(table, prompt):
        seen.append((prompt, len(table.terminal.text), table.state.clone()))
        if prompt.endswith("> ") and prompt != "game over> ":
            return table.game.action_to_string(0, int(rng.choice(table.state.legal_actions())))
        return "quit" if prompt == "game over> " else ""

    return answer


VERSIONS = [(v, i) for v in ("classical", "abrupt") for i in ("announce", "numturns", "silent")]
PHANTOM = pytest.mark.parametrize("name,sides", [("dark_hex", ("Red", "Blue")), ("phantom_ttt", ("X", "O"))])


@PHANTOM
@pytest.mark.parametrize("version,info", VERSIONS)
def test_nothing_of_the_board_between_curtain_and_lift(name, sides, version, info):
    game = envs.make(name, rows=3, version=version, info=info)
    for seed in range(20):
        seen = []
        table, outcome, text = play(game, [None, None], answer=random_people(seed, seen))
        turns = text.split(CLEAR)[1:-1]
        changes = 1 + sum(a[0] != b[0] for a, b in zip(table.state.full_history(), table.state.full_history()[1:],
                                                      strict=False))
        # Never within a turn (a classical collision), and always between two turns.
        assert len(turns) == changes
        movers = [player for player, _ in table.state.full_history()]
        owners = [movers[0], *(b for a, b in zip(movers, movers[1:], strict=False) if a != b)]
        for owner, turn in zip(owners, turns, strict=True):
            covered, lifted, _ = turn.partition("lift it. \n")
            assert covered + lifted == f"{CURTAIN} {sides[owner]}, press Enter to lift it. \n"


@PHANTOM
@pytest.mark.parametrize("version,info", VERSIONS)
def test_a_player_s_screen_is_made_of_his_information_alone(name, sides, version, info):
    """Whenever somebody is asked, every stone and every cell on his screen is one he knows of."""
    game = envs.make(name, rows=3, version=version, info=info)
    prompts = tuple(f"{side.lower()}> " for side in sides)
    for seed in range(20):
        seen = []
        _, _, text = play(game, [None, None], answer=random_people(seed, seen))
        for prompt, length, state in seen:
            if prompt not in prompts:
                continue
            player = prompts.index(prompt)
            assert state.current_player() == player
            screen = text[:length].rsplit(CLEAR, 1)[-1]
            known = {game.action_to_string(0, cell) for cell, colour in enumerate(game.view(state, player))
                     if colour is not None}
            prose = "\n".join(line for line in screen.splitlines() if not line.startswith(f"{prompt}"))
            assert set(CELL.findall(prose)) <= known
            view = game.view(state, player)
            board = screen.rsplit("a b c\n", 1)[1].splitlines()[:3]
            drawn = [symbol for line in board for symbol in line.split()[1:]]
            assert drawn == ["?" if colour is None else game.symbols[colour] for colour in view]


@pytest.mark.parametrize("info,words", [
    ("announce", "Blue's collisions since your last turn: 2. Blue has placed a stone."),
    ("numturns", "Blue has acted 3 times."),
    ("silent", "Blue has moved."),
])
def test_what_is_told_on_lifting(info, words):
    game = envs.make("dark_hex", rows=3, info=info)
    state = game.state_from_string("a1 c3 b2 a1x b2x c2")
    assert heard(state, 0) == words
    lines = ["", "", "a1", "", "", "c3", "", "", "b2", "", "", "a1", "b2", "c2", "", ""]
    _, _, text = play(game, [None, None], lines)
    told = text.rsplit(CLEAR, 2)[1].split("lift it. \n")[1]
    assert told.startswith(words + "\n")
    if info != "announce":
        assert "collision" not in told


def test_marks_are_called_by_their_names():
    game = envs.make("phantom_ttt")
    _, outcome, text = play(game, [None, None], ["", "", "b2", "", "", "b2", "a1", "", "", "a2", "", "", "quit"])
    assert "X, then O: X moves first.\nA line of 3 in a row, column or diagonal wins" in text
    assert "You see your own marks and those you have run into." in text
    assert "b2 holds an X, which you now know of. You move again." in text
    assert "O's collisions since your last turn: 1. O has placed a mark." in text
    assert "Your mark is on a1." in text and outcome.reason == "left"


def test_nothing_is_told_before_anything_happened():
    state = envs.make("dark_hex", info="silent").new_initial_state()
    assert heard(state, 0) == ""
    assert heard(state.child(0), 1) == "Red has moved."


def test_abrupt_collision_ends_the_turn_and_says_so():
    game = envs.make("dark_hex", rows=3, version="abrupt")
    _, _, text = play(game, [None, None], ["", "", "b2", "", "", "b2", "", ""])
    assert "b2 holds a red stone, which you now know of. Your turn is over." in text
    assert text.rsplit("lift it. \n", 1)[1].startswith("Blue's collisions since your last turn: 1. "
                                                      "Blue has placed no stone.")


def test_mistakes_are_explained_and_cost_nothing():
    game = envs.make("dark_hex", rows=3)
    lines = ["zz", "d1", "2b", "a 1", "b2", "b2", "swap", "", "help", "board", "moves"]
    table, outcome, text = play(game, [None, Quiet([0])], lines)
    assert table.state.history() == [4, 0] and outcome.result == "unfinished"
    for mistake in ("zz", "d1", "2b", "swap"):
        assert f"'{mistake}' is not a cell of this board; cells are a1 to c3" in text
    assert "one word" in text and "b2 holds your own stone; choose another cell" in text
    assert "resign" in text and "b2 (opponent placed)" in text


class Quiet(UniformAgent):
    """Plays the given actions."""

    def __init__(self, actions):
        super().__init__()
        self.actions = iter(actions)

    def act(self, observation):
        return next(self.actions)


def test_the_end_reveals_the_board_with_its_chain():
    game = envs.make("dark_hex", rows=3)
    _, outcome, text = play(game, [None, Quiet([0, 1, 2])], ["b2", "b1", "c1", "b3", "quit"])
    assert outcome.result == "red wins" and outcome.winner == 0 and outcome.reason == "chain"
    assert outcome.moves == ("b2", "a1", "b1", "b1x", "c1", "c1x", "b3")
    assert "c1 holds a blue stone, which you now know of. You move again." in text
    board = text.split("Red wins.\n")[1]
    assert "1 B R B\n 2 . R .\n  3 . R ." in board and "chain: b1 b2 b3" in board


def test_a_resigned_board_stays_hidden_until_the_replay():
    game = envs.make("dark_hex", rows=3)
    lines = ["b2", "resign", "board", "save hidden.png", "replay blue", "2", "q", "replay", "2", "q", "quit"]
    table, outcome, text = play(game, [None, Quiet([8])], lines)
    assert outcome.result == "blue wins" and outcome.reason == "resignation" and outcome.winner == 1
    assert outcome.moves == ("b2", "?") and table.outcome(complete=True).moves == ("b2", "c3")
    before, after = text.split("game over> replay blue")
    assert "c3" not in before and not re.search(r"^\s*3 .*B", before, re.M)
    assert "After a resignation the board stays hidden" in before
    assert "blue: c3" in after and re.search(r"^\s*3 \. \. B", after, re.M)


def test_two_people_hide_their_moves_in_an_unfinished_record():
    game = envs.make("dark_hex", rows=3)
    _, outcome, text = play(game, [None, None], ["", "", "b2", "", "", "resign", "quit"])
    assert outcome.moves == ("?",) and outcome.result == "red wins"
    assert "b2" not in text.rsplit(CLEAR, 1)[1]


def test_replays():
    game = envs.make("dark_hex", rows=2, info="announce")
    lines = ["b1", "a2", "b2", "replay red", "", "", "", "", "", "replay", "9", "x", "b", "4", "", "replay green",
             "quit"]
    table, outcome, text = play(game, [None, Quiet([2])], lines)
    assert outcome.moves == ("b1", "a2", "a2x", "b2")
    red = text.split("game over> replay red")[1].split("game over>")[0]
    assert "blue placed" in red and "red: a2, where a blue stone is hidden" in red
    whole = text.split("game over> replay\n")[1]
    assert "'x': Enter, b, q, or a number from 0 to 4" in whole and "replay green" in whole
    # In the silent game a player learns nothing of the other's actions: his replay has no frame for them.
    silent = envs.make("dark_hex", rows=2, info="silent")
    _, _, text = play(silent, [None, Quiet([2])], ["b1", "a2", "b2", "replay red", "", "", "", "", "quit"])
    assert "replay 3/3>" in text and "blue: " not in text.split("replay red")[1]


def test_pictures(tmp_path):
    game = envs.make("dark_hex", rows=2)
    target = tmp_path / "final.png"
    lines = ["save", "save x.jpg", f"save {tmp_path}/none/x.png", f"save {tmp_path}/mine.png", "b1", "b2",
             f"save {target}", "quit"]
    _, _, text = play(game, [None, Quiet([2])], lines)
    assert target.read_bytes().startswith(b"\x89PNG") and (tmp_path / "mine.png").exists()
    assert text.count("save needs the name") == 2 and "not saved" in text


def test_hex_has_no_curtain_and_swaps():
    game = envs.make("hex", rows=5)
    table, outcome, text = play(game, [None, None], ["swap", "e2", "swap", "swap", "e2"])
    assert CURTAIN not in text and CLEAR not in text
    assert "swap is offered once" in text and "Blue plays swap, the stone is now blue on b5." in text
    assert [int(owner) for owner in table.game.picture(table.state).owners].count(1) == 1
    assert outcome.moves == ("e2", "swap-pieces", "e2")


def test_sides_follow_a_swap_of_sides():
    game = envs.make("hex", rows=1, cols=2, swap="sides")
    assert play(game, [None, None], ["a1", "quit"])[1].result == "red wins"
    game = envs.make("hex", rows=3, swap="sides")
    _, outcome, text = play(game, [None, None], ["b2", "swap", "a1", "b1", "a2", "a3", "quit"])
    assert "the players exchange colours" in text and "blue> " in text
    assert outcome.result == "red wins" and outcome.winner == 1


def test_rex_says_who_has_lost():
    game = envs.make("hex", rows=1, rex=True, swap="off")
    _, outcome, text = play(game, [None, None], ["a1", "quit"])
    assert outcome.result == "blue wins" and "red has joined its own sides" in text


@pytest.mark.parametrize("name,rows,cols", [("dark_hex", 1, 1), ("dark_hex", 1, 4), ("dark_hex", 4, 1),
                                            ("dark_hex", 19, 19), ("hex", 11, 11), ("hex", 3, 7)])
def test_every_size_plays_to_the_end(name, rows, cols):
    game = envs.make(name, rows=rows, cols=cols)
    seen = []
    answer = random_people(0, seen)
    _, outcome, _ = play(game, [None, UniformAgent()], answer=answer)
    assert outcome.reason == "chain" and outcome.players == ("human", "uniform")


@pytest.mark.parametrize("name,parameters", [
    ("tac_tix", {}), ("docking", {}), ("renju3", {"rows": 7}), ("renju3", {"rows": 5, "allow_pass": False}),
])
def test_the_other_games_to_the_end_and_back(name, parameters):
    """People type the moves as the game names them; the replay has a frame for every action."""
    game = envs.make(name, **parameters)
    rng = np.random.default_rng(0)
    steps = iter(["replay", "1", "q", "quit"])

    def answer(table, prompt):
        if prompt.startswith(("game over", "replay")):
            return next(steps)
        return table.state.action_to_string(int(rng.choice(table.state.legal_actions())))

    table, outcome, text = play(game, [None] + [UniformAgent() for _ in range(game.num_players - 1)], answer=answer)
    assert table.state.is_terminal() and outcome.reason == table.state.reason()
    assert len(outcome.moves) == len(table.state.history())
    assert f"replay 0/{len(outcome.moves)}> 1" in text and "replay red" not in text
    state = game.new_initial_state()
    for move in outcome.moves:
        state.apply_action(state.string_to_action(move))
    assert state.history() == table.state.history()


def test_seats_are_called_by_their_colours():
    assert [seat_names(envs.make(name)) for name in ("hex", "docking", "renju3", "tac_tix")] == [
        ("red", "blue"), ("white", "black"), ("blue", "red", "green"), ("first", "second")
    ]


def test_people_get_a_screen_without_scrollback():
    """On a terminal, what was shown during the game is gone when the original screen comes back."""
    terminal = Script(["", "", "b2", "", ""])
    terminal.fancy = True
    Table(envs.make("dark_hex", rows=3), [None, None], terminal).play()
    before, shown = terminal.text.split(ALTERNATE)
    during, after = shown.split(CLEAR + ORIGINAL)
    assert "R = Red" in during and "R = Red" not in before + after and "unfinished" in after


@pytest.mark.parametrize("key", [EOFError, KeyboardInterrupt])
def test_leaving(key):
    def answer(table, prompt):
        raise key

    _, outcome, text = play(envs.make("dark_hex"), [None, UniformAgent()], answer=answer)
    assert outcome.result == "unfinished" and outcome.reason == "left" and "unfinished" in text


def test_sides_are_called_by_colour():
    _, _, text = play(envs.make("dark_hex", rows=3), [None, None], ["", "", "help", "b2", "", "", "resign", "help"])
    assert not re.search(r"\b(top|bottom|left|right)\b", text)


def test_an_unsuitable_table():
    with pytest.raises(ValueError, match="2 players"):
        Table(envs.make("hex"), [None])
