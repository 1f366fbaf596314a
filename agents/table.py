"""A table for any of the games, at one terminal: people and agents take their seats, moves are text.

Whoever sits at the terminal sees his own view and what the game tells him, nothing else. When two people share
it and the game has hidden stones, a curtain falls at every change of turn: the screen is empty until the next
player lifts it. The whole board is shown at the end; after a resignation it stays hidden, though the replay shows
every stone.

Sides are called by their colours. On a Hex board red joins the first row with the last, blue the first column with
the last. Where three play, whoever resigns passes from then on, and the game goes on until two have resigned.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agents.agent import Agent, observe
from envs.core import Game, State
from envs.games.hex_board import BOARD, COLOR_OF_0, cell_name
from envs.render import ansi, rgb_array

__all__ = ["Outcome", "Table", "Terminal", "heard", "seat_names"]

CLEAR = "\x1b[2J\x1b[3J\x1b[H"  # screen and scrollback, cursor to the upper left
ALTERNATE, ORIGINAL = "\x1b[?1049h", "\x1b[?1049l"


class Terminal:
    """Lines in, text out; replaceable for tests.

    Args:
        read: the next line without its line break, EOFError at the end of the input.
        write: shows a text as it is.
        fancy: colours, and a screen of its own (without scrollback) while people share the terminal.
        echo: write what was read, for input that no terminal shows.
    """

    def __init__(
        self,
        read: Callable[[], str] | None = None,
        write: Callable[[str], Any] | None = None,
        fancy: bool = False,
        echo: bool = False,
    ) -> None:
        self._read = read or _read_line
        self._write = write or _write_out
        self.fancy, self.echo = fancy, echo

    def ask(self, prompt: str) -> str:
        self._write(prompt)
        text = self._read().strip()
        if self.echo:
            self.say(text)
        return text

    def say(self, text: str = "") -> None:
        self._write(text + "\n")

    def clear(self) -> None:
        """Empty the screen, and forget keys pressed too early: they must not lift a curtain."""
        self._write(CLEAR)
        if self.fancy:
            _forget_keys()

    @contextmanager
    def own_screen(self) -> Iterator[None]:
        """What is shown meanwhile leaves no trace in the terminal's scrollback."""
        if self.fancy:
            self._write(ALTERNATE)
        try:
            yield
        finally:
            self._write(CLEAR + ORIGINAL if self.fancy else CLEAR)


def _read_line() -> str:
    # Not input(): with readline loaded, the arrow keys would bring back the other player's moves.
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


def _write_out(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _forget_keys() -> None:
    try:
        import termios
    except ImportError:  # Windows
        return
    with suppress(OSError, ValueError, termios.error):  # input that is no terminal
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


@dataclass(frozen=True)
class Outcome:
    """How a game at the table ended.

    ``result``: "red wins" (by the winner's colour), "draw" or "unfinished"; ``winner``: index of the player, None if
    there is none; ``reason``: the game's ("chain", "four", ...), "resignation" or "left"; ``moves``: of all players in
    order, ``x`` marks a collision, ``?`` a move that nobody at the terminal may know of.
    """

    game: str
    result: str
    winner: int | None
    reason: str
    moves: tuple[str, ...]
    players: tuple[str, ...]


def seat_names(game: Game) -> tuple[str, ...]:
    """What the players are called in the order of their seats: by the colours they begin with, where they have any."""
    picture = game.picture(game.new_initial_state())
    if len(picture.names) == game.num_players:
        return tuple(name.lower() for name in picture.names)
    return ("first", "second")


class _Left(Exception):
    """Somebody leaves the table."""


class _Resigns(Exception):
    """The player to move gives up."""


@dataclass
class Table:
    """One game at one terminal.

    Args:
        game: any game of any size.
        agents: one a player; None is a person at the terminal.
        terminal: where people look and type.
        seed: of the agents.
    """

    game: Game
    agents: Sequence[Agent | None]
    terminal: Terminal = field(default_factory=Terminal)
    seed: int = 0

    def __post_init__(self) -> None:
        self.state = self.game.new_initial_state()
        if len(self.agents) != self.game.num_players:
            raise ValueError(f"{len(self.agents)} agents for {self.game.num_players} players; give one a player")
        parameters = self.game.explicit_parameters()
        self.rows, self.cols = parameters["rows"], parameters["cols"]
        picture = self.game.picture(self.state)
        self.hex_board = picture.kind == "hex"
        self.placing = self.hex_board or self.game.phantom_placement  # a move is a cell
        self.piece = "mark" if picture.pieces == "mark" else "stone"
        self.names = seat_names(self.game)
        self.resigned: list[int] = []
        self.people = [player for player, agent in enumerate(self.agents) if agent is None]
        self.curtained = len(self.people) > 1 and not self.game.perfect_information

    # -- the game -------------------------------------------------------------------------------------------

    def play(self) -> Outcome:
        """Play one game and let people look at it afterwards; ends cleanly at Ctrl-C and at the end of the input."""
        self.terminal.say(self._welcome())
        try:
            if self.curtained:
                self.terminal.ask(f"Press Enter to begin; {self.names[0]} sits down first. ")
                with self.terminal.own_screen():
                    self._play()
            else:
                self._play()
            self._reveal()
            if self.people:
                self._afterwards()
        except (_Left, EOFError, KeyboardInterrupt):
            self.terminal.say()
            if not self.over:
                self.terminal.say("You leave the table; the game stays unfinished.")
        return self.outcome()

    def _play(self) -> None:
        for player, agent in enumerate(self.agents):
            if agent is not None:
                agent.reset(int(np.random.SeedSequence([self.seed, player]).generate_state(1)[0]))
        while not self.over:
            player = self.state.current_player()
            agent = self.agents[player]
            try:
                passing = self._pass()
                if player in self.resigned and passing is not None:
                    self.state.apply_action(passing)
                elif agent is None:
                    self._turn_of_person(player)
                else:
                    self._turn_of_agent(player, agent)
            except _Resigns:
                self.resigned.append(player)
                if not self.over:
                    self.terminal.say(f"{self._name(player)} resigns and passes from now on.")

    @property
    def over(self) -> bool:
        # Without passes three cannot go on as two.
        stayed = self.game.num_players - len(self.resigned)
        return stayed < 2 or (bool(self.resigned) and self._pass() is None) or self.state.is_terminal()

    def _pass(self) -> int | None:
        """The action that passes, None where there is none."""
        try:
            return self.game.string_to_action("pass")
        except ValueError:
            return None

    def _turn_of_agent(self, player: int, agent: Agent) -> None:
        while self.state.current_player() == player:
            action = agent.act(observe(self.state, agent.parts))
            before = self.state.clone()
            self.state.apply_action(action)
            if self.game.perfect_information:
                self.terminal.say(f"{self._name(player)} plays {self._move_text(before, self.state, action, player)}.")

    def _turn_of_person(self, player: int) -> None:
        if self.curtained:
            self.terminal.clear()
            self.terminal.ask(f"The curtain is down. {self._name(player)}, press Enter to lift it. ")
        news = heard(self.state, player)
        if news:
            self.terminal.say(news)
        self._show(player)
        while True:
            action = self._ask_action(player)
            before = self.state.clone()
            self.state.apply_action(action)
            if self.state.is_terminal():
                return
            collided = self._collided(action, player)
            if self.state.current_player() != player or not collided:
                break
            self.terminal.say(
                f"{self._cell(action)} holds {self._a_stone(1 - player)}, which you now know of. You move again."
            )
            self._show(player)
        if collided:
            self.terminal.say(
                f"{self._cell(action)} holds {self._a_stone(1 - player)}, which you now know of. Your turn is over."
            )
        elif not self.game.perfect_information:
            self.terminal.say(f"Your {self.piece} is on {self._cell(action)}.")
        else:
            self.terminal.say(f"{self._name(player)} plays {self._move_text(before, self.state, action, player)}.")
        if self.curtained:
            self._show(player)
            self.terminal.ask("Press Enter to let the curtain fall. ")

    def _ask_action(self, player: int) -> int:
        """Ask until there is a legal action; a mistake is explained and costs nothing."""
        while True:
            words = self.terminal.ask(f"{self._name(player).lower()}> ").split()
            if not words:
                continue
            command, rest = words[0].lower(), words[1:]
            if command == "save":
                self._save(rest, player)
            elif rest:
                self.terminal.say(
                    f"{' '.join(words)!r}: one word, a move such as {self._example()} or a command; help lists them"
                )
            elif command == "resign":
                raise _Resigns
            elif command in ("quit", "exit"):
                raise _Left
            elif command == "help":
                self.terminal.say(self._help())
            elif command == "board":
                self._show(player)
            elif command == "moves":
                self.terminal.say(self._log(player) or "no moves yet")
            else:
                action = self._parse(words[0], player)
                if action is not None:
                    return action

    def _parse(self, text: str, player: int) -> int | None:
        try:
            action = self.state.string_to_action(text)
        except ValueError as error:
            self.terminal.say(f"{error}; help lists the commands")
            return None
        if self.state.legal_actions_mask(player)[action]:
            return action
        if not self.placing:
            self.terminal.say(f"{text} is not possible now; choose another move.")
            return None
        if action >= self.rows * self.cols:
            self.terminal.say("swap is offered once, as the answer to the first stone; not now. Name a cell.")
            return None
        colour = self.game.picture(self.state, player).owners[action]
        own = colour == self._colour(player)
        known = f"your own {self.piece}" if own else f"{self._a_stone(1 - player)} that you know of"
        self.terminal.say(f"{self._cell(action)} holds {known}; choose another cell.")
        return None

    # -- the end --------------------------------------------------------------------------------------------

    def _reveal(self) -> None:
        winner = self._winner()
        if not self.state.is_terminal():
            wins = "The game ends without a winner." if winner is None else f"{self._name(winner)} wins."
            self.terminal.say(
                f"{self._name(self.resigned[-1])} resigns. {wins} "
                + ("" if self.game.perfect_information else "The board stays hidden.")
            )
            return
        result = "Draw" if winner is None else f"{self._name(winner)} wins"
        if not self.hex_board:
            result += f" ({self.state.reason()})"
        elif winner is not None and self.game.explicit_parameters().get("rex", False):
            result += f": {self._name(1 - winner).lower()} has joined its own sides"
        self.terminal.say(f"\n{result}.")
        self._show(None)

    def _afterwards(self) -> None:
        views = "".join(f"replay {name}, " for name in self._replays())
        self.terminal.say(f"replay, {views}save FILE.png, or quit; help explains.")
        while True:
            words = self.terminal.ask("game over> ").split()
            command = words[0].lower() if words else ""
            if command in ("quit", "exit"):
                return
            if command == "replay":
                self._replay(words[1:])
            elif command in ("board", "save") and not self.state.is_terminal() and not self.game.perfect_information:
                self.terminal.say("After a resignation the board stays hidden; replay shows the whole game.")
            elif command == "board":
                self._show(None)
            elif command == "save":
                self._save(words[1:], None)
            elif command == "help":
                self.terminal.say(self._help_afterwards())
            elif command:
                self.terminal.say(f"{words[0]!r} is no command here:\n{self._help_afterwards()}")

    def _replay(self, words: list[str]) -> None:
        sides = {"": None, **{name: self.names.index(name) for name in self._replays()}}
        side = " ".join(words).lower()
        if side not in sides:
            views = " or ".join(f"replay {name}" for name in self._replays())
            self.terminal.say(f"replay {side}: say replay (the whole board)" + (f", {views}" if views else ""))
            return
        frames = self._frames(sides[side])
        at = 0
        self.terminal.say("Enter: forward, b: back, a number: go there, q: leave")
        while True:
            caption, state = frames[at]
            self.terminal.say(f"\n{caption}")
            self._show(sides[side], state)
            word = self.terminal.ask(f"replay {at}/{len(frames) - 1}> ").lower()
            if word in ("q", "quit", "exit"):
                return
            if word == "b":
                at = max(0, at - 1)
            elif word.isdecimal() and int(word) < len(frames):
                at = int(word)
            elif word:
                self.terminal.say(f"{word!r}: Enter, b, q, or a number from 0 to {len(frames) - 1}")
            elif at == len(frames) - 1:
                return
            else:
                at += 1

    def _frames(self, viewer: int | None) -> list[tuple[str, State]]:
        """Captions and positions: after every action, or after those of which ``viewer`` learnt something."""
        state = self.game.new_initial_state()
        frames = [("the empty board", state.clone())]
        for player, action in self.state.full_history():
            known = None if viewer is None else len(state.information_tokens(viewer))
            colour = self._name(player, state).lower()
            before = state.clone()
            state.apply_action(action)
            if viewer is None or viewer == player or self.game.perfect_information:
                caption = f"{colour}: {self._move_text(before, state, action, player)}"
            elif len(state.information_tokens(viewer)) == known:
                continue
            else:
                caption = self.game.information_string(viewer, state.information_tokens(viewer)[-1:]).split(" ", 1)[1]
                caption = caption.strip("()").replace("opponent", colour)
            frames.append((caption, state.clone()))
        return frames

    def outcome(self, complete: bool = False) -> Outcome:
        """The result so far. Unless the board was revealed, or the ``complete`` record is asked for, moves stay
        hidden as they were in the game: with two people, each hides his from the other."""
        winner = self._winner() if self.over else None
        if winner is not None:
            result = f"{self._name(winner).lower()} wins"
        else:
            result = "draw" if self.state.is_terminal() else "unfinished"
        if self.state.is_terminal():
            reason = str(self.state.reason())
        else:
            reason = "resignation" if self.over else "left"
        return Outcome(
            game=self.game.spec(),
            result=result,
            winner=winner,
            reason=reason,
            moves=tuple(self._moves(complete)),
            players=tuple("human" if agent is None else agent.name for agent in self.agents),
        )

    def _winner(self) -> int | None:
        """Who has won a game that is over; None after a draw, and where nobody can be said to have won."""
        if not self.state.is_terminal():
            stayed = [player for player in range(self.game.num_players) if player not in self.resigned]
            return stayed[0] if len(stayed) == 1 else None
        returns = self.state.returns()
        return int(np.argmax(returns)) if max(returns) > min(returns) else None

    def _moves(self, complete: bool) -> list[str]:
        complete = complete or self.game.perfect_information or self.state.is_terminal() or not self.people
        state, moves = self.game.new_initial_state(), []
        for player, action in self.state.full_history():
            name = state.action_to_string(player, action)
            state.apply_action(action)
            if not complete and self.people != [player]:
                name = "?"
            elif self._collided(action, player, state):
                name += "x"
            moves.append(name)
        return moves

    # -- pictures and words ---------------------------------------------------------------------------------

    def _show(self, player: int | None, state: State | None = None) -> None:
        picture = self.game.picture(self.state if state is None else state, player)
        self.terminal.say(ansi(picture, colour=self.terminal.fancy))

    def _save(self, words: list[str], player: int | None) -> None:
        """A picture of what may be seen now."""
        if len(words) != 1 or not words[0].lower().endswith(".png"):
            self.terminal.say("save needs the name of a file that ends in .png, without spaces: save board.png")
            return
        path = Path(words[0]).expanduser()
        try:
            from PIL import Image

            Image.fromarray(rgb_array(self.game.picture(self.state, player))).save(path)
        except (OSError, ImportError) as error:
            self.terminal.say(f"{path}: not saved ({error})")
            return
        self.terminal.say(f"saved {path}")

    def _welcome(self) -> str:
        last_column = cell_name(self.cols - 1, self.cols).removesuffix("1")
        lines = [self.game.spec()]
        if self.hex_board:
            lines.append(
                f"Red joins row 1 with row {self.rows}, blue joins column a with column {last_column}. Red moves first."
            )
        elif self.names == ("first", "second"):
            lines.append("first moves first.")
        else:
            order = ", then ".join(_in_text(name) for name in self.names)
            lines.append(f"{order[0].upper()}{order[1:]}: {_in_text(self.names[0])} moves first.")
        if "line" in self.game.explicit_parameters():
            line = self.game.explicit_parameters()["line"]
            lines.append(f"A line of {line} in a row, column or diagonal wins; a full board without one is a draw.")
        if self.game.explicit_parameters().get("rex"):
            lines.append("Rex: whoever joins his own sides loses.")
        if not self.game.perfect_information:
            after = (
                "you move again" if self.game.explicit_parameters()["version"] == "classical" else "your turn is over"
            )
            lines.append(
                f"You see your own {self.piece}s and those you have run into. If you choose a cell that holds a "
                f"hidden {self.piece}, you find it and {after}."
            )
        if len(self.people) == 1:
            names = [_in_text(name) for name in self.names]
            seats = zip(names, self.agents, strict=True)
            others = [f"{name} is {agent.name}" for name, agent in seats if agent is not None]
            lines.append(f"You are {names[self.people[0]]}; {', '.join(others)}.")
        return "\n".join([*lines, f"Type a {self._what()} such as {self._example()}, or help.", ""])

    def _what(self) -> str:
        return "cell" if self.placing else "move"

    def _example(self) -> str:
        """A move to type: the first legal one, as it is written."""
        if self.placing or self.state.is_terminal():
            return "a1"
        return self.state.action_to_string(self.state.current_player(), self.state.legal_actions()[0])

    def _help(self) -> str:
        last = cell_name(self.rows * self.cols - 1, self.cols)
        if self.placing or self.game.name == "renju3":
            rows = [(f"a1 to {last}", "play on that cell: column letter, then row number")]
        elif self.game.name == "docking":
            rows = [(self._example(), "move the ship on the first square to the second one")]
        else:
            rows = [("a1, a1-c1", "take that counter, or the run from one cell to another")]
        passing = self._pass()
        if passing is not None and self.state.legal_actions_mask()[passing]:
            rows.append(("pass", "leave the turn to the next player"))
        swap = self.game.explicit_parameters().get("swap", "off")
        if swap == "pieces":
            rows.append(("swap", "answer to the first stone: it becomes blue, mirrored (e2 to b5)"))
        elif swap == "sides":
            rows.append(("swap", "answer to the first stone: the players exchange colours"))
        rows += [
            ("board", "draw your view again"),
            ("moves", "what you have done and been told so far"),
            ("save FILE.png", "a picture of what you see"),
            ("resign", "give up"),
            ("quit", "leave the table (or Ctrl-D, Ctrl-C)"),
            ("help", "this list"),
        ]
        return "\n".join(f"  {name:<14}{text}" for name, text in rows)

    def _log(self, player: int) -> str:
        if self.game.perfect_information:
            return " ".join(self._moves(complete=True))
        return self.game.information_string(player, self.state.information_tokens(player)).partition(" ")[2]

    def _move_text(self, before: State, state: State, action: int, player: int) -> str:
        """What ``player``'s action did, between the two positions."""
        if not self.placing:
            return before.action_to_string(player, action)
        if action >= self.rows * self.cols:
            if self.game.explicit_parameters()["swap"] == "sides":
                return "swap, the players exchange colours"
            stones = [cell for cell, owner in enumerate(state.row[BOARD : BOARD + action]) if owner]
            return f"swap, the stone is now blue on {self._cell(stones[0])}"
        if self._collided(action, player, state):
            return f"{self._cell(action)}, where {self._a_stone(1 - player, state)} is hidden"
        return self._cell(action)

    def _collided(self, action: int, player: int, state: State | None = None) -> bool:
        state = self.state if state is None else state
        if self.game.perfect_information:
            return False
        return bool(self.game.picture(state, player).owners[action] != self._colour(player, state))

    def _cell(self, action: int) -> str:
        return cell_name(action, self.cols)

    def _colour(self, player: int, state: State | None = None) -> int:
        """Colour of a player: his number, unless the sides were swapped."""
        return player ^ int((self.state if state is None else state).row[COLOR_OF_0]) if self.hex_board else player

    def _name(self, player: int, state: State | None = None) -> str:
        return self.names[self._colour(player, state)].capitalize()

    def _replays(self) -> tuple[str, ...]:
        """Whose view of the game can be replayed: everybody's, where they differ from the board."""
        return self.names if self.placing else ()

    def _help_afterwards(self) -> str:
        rows = [("replay", "step through the game, all stones shown")]
        rows += [(f"replay {name}", f"as {name} saw it") for name in self._replays()]
        rows += [
            ("board", "the final board"),
            ("save FILE.png", "a picture of the final board"),
            ("quit", "leave (or Ctrl-D, Ctrl-C)"),
            ("help", "this list"),
        ]
        return "\n".join(f"  {name:<14} {text}" for name, text in rows)

    def _a_stone(self, player: int, state: State | None = None) -> str:
        name = self._name(player, state)
        return f"an {name}" if self.piece == "mark" else f"a {name.lower()} stone"


def heard(state: State, player: int) -> str:
    """What the game has told ``player`` about the other side since his own last action; "" if nothing happened.

    Made from his information tokens alone: with info=announce the numbers of collisions and stones, with
    numturns the number of actions, with silent only that it is his turn again.
    """
    game: Any = state.game
    if game.perfect_information or (player == 0 and not state.history()):
        return ""
    name = game.names[1 - player]
    if game.info == "silent":
        return f"{name} has moved."
    told = []
    for token in state.information_tokens(player)[::-1].tolist():
        if token < 2 * game.cells:
            break
        told.append(token - 2 * game.cells)
    if game.info == "numturns":
        return f"{name} has acted {_times(len(told))}."
    collisions, placed = sum(told), len(told) - sum(told)
    piece = "mark" if game.pieces == "mark" else "stone"
    placing = f"{name} has placed {'a' if placed else 'no'} {piece}."
    return f"{name}'s collisions since your last turn: {collisions}. {placing}"


def _in_text(name: str) -> str:
    """The name of a side within a sentence: red, X."""
    return name if len(name) > 1 else name.upper()


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
