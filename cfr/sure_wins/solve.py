"""Sure wins of a Dark Hex board: who can force a win with certainty, and how."""

from __future__ import annotations

import dataclasses
import time
from functools import cached_property

from cfr.sure_wins.policy import SureWinPolicy
from cfr.sure_wins.search import Progress, Search, stones_of
from envs.core import Game, State


@dataclasses.dataclass(frozen=True, eq=False)
class SureWin:
    """Who can force a win with certainty.

    ``winner``: 0 or 1, None when neither can; ``openings``: the first probes that keep his win (cell numbers);
    ``policy``: a strategy that wins every game, None without a winner; ``seconds``; ``searches``: one a player.
    """

    spec: str
    winner: int | None
    openings: tuple[int, ...]
    policy: SureWinPolicy | None
    seconds: float
    searches: tuple[Search, Search] = dataclasses.field(repr=False)

    @property
    def num_positions(self) -> tuple[int, int]:
        """Positions settled so far for each player."""
        return self.searches[0].num_positions, self.searches[1].num_positions

    @cached_property
    def announced(self) -> tuple[int, ...] | None:
        """First cells of player 0 against which player 1 forces a win if he is told of them; None in the abrupt
        version, for which this is not computed. Searched when first asked for: on boards of more than 20 cells that can
        take much longer than finding the winner."""
        second = self.searches[1]
        if second.abrupt:
            return None
        if self.winner == 1:  # knowing more never hurts
            return tuple(range(second.cells))
        return tuple(cell for cell in range(second.cells) if second.probe(0, 1 << cell) is not None)

    def winning_actions(self, state: State) -> list[int]:
        """Actions after which the player to move wins for certain, whatever he does not know and however the other
        plays; [] when there are none. Only his own stones and the enemy stones he has found go in: where an abrupt game
        announces collisions, a turn that the enemy is heard to waste may win more."""
        player = state.current_player()
        if state.game.spec() != self.spec or player < 0:
            what = state.game.spec() if player >= 0 else "a finished game"
            raise ValueError(f"wanted is a running game of {self.spec}, got {what}")
        search = self.searches[player]
        return _winning(search, *stones_of(state.information_tokens(player), search.cells))


def sure_win(game: Game, memory_limit: int | None = None, progress: Progress | None = None) -> SureWin:
    """Find out which player, if any, has a strategy that wins every game of ``game`` (Dark Hex, up to 62 cells).

    What a game announces (``info``) makes no difference. Boards of at most 20 cells take less than a second in the
    classical version; how long larger ones take is hard to foresee, see ``docs/sure_wins.md``. ``memory_limit`` in
    bytes for the table of positions, half of the free memory when unset; ``progress(player, positions)`` is called
    about every second, and may raise to give up.
    Raises UnsupportedGameError for another game, TreeTooLargeError when the table outgrows the limit.
    """
    began = time.perf_counter()
    first, second = searches = tuple(Search(game, player, memory_limit, progress) for player in (0, 1))
    # At most one of the two can be sure to win.
    winner = next((search.player for search in searches if search.probe(0, 0) is not None), None)
    return SureWin(
        spec=game.spec(),
        winner=winner,
        openings=() if winner is None else tuple(_winning(searches[winner], 0, 0)),
        policy=None if winner is None else SureWinPolicy.from_search(searches[winner]),
        seconds=time.perf_counter() - began,
        searches=(first, second),
    )


def _winning(search: Search, own: int, known: int) -> list[int]:
    """All cells whose probe wins for certain."""
    free = [cell for cell in range(search.cells) if not (own | known) >> cell & 1]
    if search.probe(own, known) is None:
        return []
    return [cell for cell in free if search.probe(own, known, 1 << cell) is not None]
