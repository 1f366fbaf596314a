"""A table for a game on a Hex board, at one terminal: people and agents take their seats, moves are text.

Whoever sits at the terminal sees his own view and what the game tells him, nothing else. When two people share
it and the game has hidden stones, a curtain falls at every change of turn: the screen is empty until the next
player lifts it. The whole board is shown at the end; after a resignation it stays hidden, though the replay shows
every stone.

Sides are called by their colours: red joins the first row with the last, blue the first column with the last.
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
from envs.games.hex_board import BOARD, COLOR_OF_0, COLOUR_NAMES, cell_name
from envs.render import ansi, rgb_array

__all__ = ["Outcome", "Table", "Terminal", "heard"]

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

    ``result``: "red wins", "blue wins" or "unfinished"; ``winner``: index of the player, None if unfinished;
    ``reason``: "chain", "resignation" or "left"; ``moves``: of both players in order, ``x`` marks a collision,
    ``?`` a move that nobody at the terminal may know of.
    """

    game: str
    result: str
    winner: int | None
    reason: str
    moves: tuple[str, ...]
    players: tuple[str, ...]


class _Left(Exception):
    """Somebody leaves the table."""


class _Resigns(Exception):
    """The player to move gives up."""


@dataclass
class Table:
    """One game at one terminal.

    Args:
        game: Hex or Dark Hex, any size.
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
        if self.game.picture(self.state).kind != "hex":
            raise ValueError(f"{self.game.spec()} is not played at this table; games are hex and dark_hex")
        if len(self.agents) != self.game.num_players:
            raise ValueError(f"{len(self.agents)} agents for {self.game.num_players} players; give one a player")
        parameters = self.game.explicit_parameters()
        self.rows, self.cols = parameters["rows"], parameters["cols"]
        self.resigned: int | None = None
        self.people = [player for player, agent in enumerate(self.agents) if agent is None]
        self.curtained = len(self.people) > 1 and not self.game.perfect_information

    # -- the game -------------------------------------------------------------------------------------------

    def play(self) -> Outcome:
        """Play one game and let people look at it afterwards; ends cleanly at Ctrl-C and at the end of the input."""
        self.terminal.say(self._welcome())
        try:
            if self.curtained:
                self.terminal.ask("Press Enter to begin; red sits down first. ")
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
                if agent is None:
                    self._turn_of_person(player)
                else:
                    self._turn_of_agent(player, agent)
            except _Resigns:
                self.resigned = player

    @property
    def over(self) -> bool:
        return self.resigned is not None or self.state.is_terminal()

    def _turn_of_agent(self, player: int, agent: Agent) -> None:
        while self.state.current_player() == player:
            action = agent.act(observe(self.state, agent.parts))
            self.state.apply_action(action)
        if self.game.perfect_information:
            self.terminal.say(f"{self._name(player)} plays {self._move_text(self.state, action, player)}.")

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
            self.state.apply_action(action)
            if self.state.is_terminal():
                return
            collided = self._collided(action, player)
            if self.state.current_player() != player:
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
            self.terminal.say(f"Your stone is on {self._cell(action)}.")
        else:
            self.terminal.say(f"{self._name(player)} plays {self._move_text(self.state, action, player)}.")
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
                self.terminal.say(f"{' '.join(words)!r}: one word, a cell such as a1 or a command; help lists them")
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
            action = self.game.string_to_action(text, player)
        except ValueError as error:
            self.terminal.say(f"{error}; help lists the commands")
            return None
        if self.state.legal_actions_mask(player)[action]:
            return action
        if action >= self.rows * self.cols:
            self.terminal.say("swap is offered once, as the answer to the first stone; not now. Name a cell.")
            return None
        colour = self.game.picture(self.state, player).owners[action]
        known = "your own stone" if colour == self._colour(player) else f"{self._a_stone(1 - player)} that you know of"
        self.terminal.say(f"{self._cell(action)} holds {known}; choose another cell.")
        return None

    # -- the end --------------------------------------------------------------------------------------------

    def _reveal(self) -> None:
        if self.resigned is not None:
            self.terminal.say(
                f"{self._name(self.resigned)} resigns. {self._name(1 - self.resigned)} wins. "
                + ("" if self.game.perfect_information else "The board stays hidden.")
            )
            return
        winner = self._winner()
        rex = self.game.explicit_parameters().get("rex", False)
        loser_chain = f": {self._name(1 - winner).lower()} has joined its own sides" if rex else ""
        self.terminal.say(f"\n{self._name(winner)} wins{loser_chain}.")
        self._show(None)

    def _afterwards(self) -> None:
        self.terminal.say("replay, replay red, replay blue, save FILE.png, or quit; help explains.")
        while True:
            words = self.terminal.ask("game over> ").split()
            command = words[0].lower() if words else ""
            if command in ("quit", "exit"):
                return
            if command == "replay":
                self._replay(words[1:])
            elif command in ("board", "save") and self.resigned is not None:
                self.terminal.say("After a resignation the board stays hidden; replay shows the whole game.")
            elif command == "board":
                self._show(None)
            elif command == "save":
                self._save(words[1:], None)
            elif command == "help":
                self.terminal.say(_HELP_AFTERWARDS)
            elif command:
                self.terminal.say(f"{words[0]!r} is no command here:\n{_HELP_AFTERWARDS}")

    def _replay(self, words: list[str]) -> None:
        sides = {"": None, **{name: player for player, name in enumerate(COLOUR_NAMES)}}
        side = " ".join(words).lower()
        if side not in sides:
            self.terminal.say(f"replay {side}: say replay (all stones), replay red or replay blue")
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
            state.apply_action(action)
            if viewer is None or viewer == player or self.game.perfect_information:
                caption = f"{colour}: {self._move_text(state, action, player)}"
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
        return Outcome(
            game=self.game.spec(),
            result="unfinished" if winner is None else f"{self._name(winner).lower()} wins",
            winner=winner,
            reason="left" if winner is None else "chain" if self.resigned is None else "resignation",
            moves=tuple(self._moves(complete)),
            players=tuple("human" if agent is None else agent.name for agent in self.agents),
        )

    def _winner(self) -> int:
        return 1 - self.resigned if self.resigned is not None else int(np.argmax(self.state.returns()))

    def _moves(self, complete: bool) -> list[str]:
        complete = complete or self.game.perfect_information or self.state.is_terminal() or not self.people
        state, moves = self.game.new_initial_state(), []
        for player, action in self.state.full_history():
            state.apply_action(action)
            name = self.game.action_to_string(player, action)
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
        last_row, last_column = self.rows, cell_name(self.cols - 1, self.cols).removesuffix("1")
        lines = [
            self.game.spec(),
            f"Red joins row 1 with row {last_row}, blue joins column a with column {last_column}. Red moves first.",
        ]
        if self.game.explicit_parameters().get("rex"):
            lines.append("Rex: whoever joins his own sides loses.")
        if not self.game.perfect_information:
            after = (
                "you move again" if self.game.explicit_parameters()["version"] == "classical" else "your turn is over"
            )
            lines.append(
                "You see your own stones and those you have run into. If you choose a cell that holds a "
                f"hidden stone, you find it and {after}."
            )
        for player in self.people if len(self.people) == 1 else []:
            other = self.agents[1 - player]
            lines.append(
                f"You are {COLOUR_NAMES[player]}; {COLOUR_NAMES[1 - player]} is {other.name if other else 'a person'}."
            )
        return "\n".join([*lines, "Type a cell such as a1, or help.", ""])

    def _help(self) -> str:
        last = cell_name(self.rows * self.cols - 1, self.cols)
        rows = [(f"a1 to {last}", "play on that cell: column letter, then row number")]
        swap = self.game.explicit_parameters().get("swap", "off")
        if swap == "pieces":
            rows.append(("swap", "answer to the first stone: it becomes blue, mirrored (e2 to b5)"))
        elif swap == "sides":
            rows.append(("swap", "answer to the first stone: the players exchange colours"))
        rows += [
            ("board", "draw your view again"),
            ("moves", "what you have done and been told so far"),
            ("save FILE.png", "a picture of what you see"),
            ("resign", "give up; the other side wins"),
            ("quit", "leave the table (or Ctrl-D, Ctrl-C)"),
            ("help", "this list"),
        ]
        return "\n".join(f"  {name:<14}{text}" for name, text in rows)

    def _log(self, player: int) -> str:
        return self.game.information_string(player, self.state.information_tokens(player)).partition(" ")[2]

    def _move_text(self, state: State, action: int, player: int) -> str:
        """What ``player``'s action did; ``state`` is the position after it."""
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
        return player ^ int((self.state if state is None else state).row[COLOR_OF_0])

    def _name(self, player: int, state: State | None = None) -> str:
        return COLOUR_NAMES[self._colour(player, state)].capitalize()

    def _a_stone(self, player: int, state: State | None = None) -> str:
        return f"a {self._name(player, state).lower()} stone"


_HELP_AFTERWARDS = """  replay         step through the game, all stones shown
  replay red     as red saw it
  replay blue    as blue saw it
  board          the final board
  save FILE.png  a picture of the final board
  quit           leave (or Ctrl-D, Ctrl-C)
  help           this list"""


def heard(state: State, player: int) -> str:
    """What the game has told ``player`` about the other side since his own last action; "" if nothing happened.

    Made from his information tokens alone: with info=announce the numbers of collisions and stones, with
    numturns the number of actions, with silent only that it is his turn again.
    """
    game: Any = state.game
    if game.perfect_information or (player == 0 and not state.history()):
        return ""
    name = COLOUR_NAMES[1 - player].capitalize()
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
    stone = "placed a stone" if placed else "placed no stone"
    return f"{name}'s collisions since your last turn: {collisions}. {name} has {stone}."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
