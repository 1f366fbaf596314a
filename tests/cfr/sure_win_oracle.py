"""Sure wins the slow way: the player's belief is an explicit set of boards, and the enemy really places his stones."""

from __future__ import annotations

import functools

from envs.games.hex_board import winning_chain

Cells = frozenset[int]
Belief = frozenset[Cells]  # the possible sets of enemy stones


class Oracle:
    """Whether ``player`` wins for certain; ``heard``: in the abrupt game he hears whether the enemy placed a stone.

    ``verdicts[own, known]``: the answers at all positions that were looked at; ``beliefs``: what was possible there.
    """

    def __init__(self, rows: int, cols: int, player: int, abrupt: bool = False, heard: bool = False) -> None:
        self.rows, self.cols, self.player, self.abrupt, self.heard = rows, cols, player, abrupt, heard
        self.cells = frozenset(range(rows * cols))
        self.verdicts: dict[tuple[Cells, Cells], set[bool]] = {}
        self.beliefs: dict[tuple[Cells, Cells], set[Belief]] = {}
        self.wins = functools.cache(self._wins)

    @functools.cache  # noqa: B019 - one oracle a test
    def joined(self, stones: Cells, colour: int) -> bool:
        return bool(winning_chain(stones, colour, self.rows, self.cols, "shortest"))

    def from_the_start(self) -> bool:
        nothing: Cells = frozenset()
        if self.player == 0:
            return self.wins(nothing, nothing, frozenset([nothing]))
        return self.survives(nothing, nothing, frozenset([nothing]))

    def _wins(self, own: Cells, known: Cells, belief: Belief) -> bool:
        won = any(self.probe(own, known, belief, cell) for cell in sorted(self.cells - own - known))
        self.verdicts.setdefault((own, known), set()).add(won)
        self.beliefs.setdefault((own, known), set()).add(belief)
        return won

    def probe(self, own: Cells, known: Cells, belief: Belief, cell: int) -> bool:
        """Whether probing this cell wins for certain."""
        hit = frozenset(stones for stones in belief if cell in stones)
        missed, mine = belief - hit, own | {cell}
        if missed and not self.joined(mine, self.player) and not self.survives(mine, known, missed):
            return False
        if not hit:
            return True
        after = self.survives if self.abrupt else self.wins
        return after(own, known | {cell}, hit)

    def survives(self, own: Cells, known: Cells, belief: Belief) -> bool:
        """The same when it is the enemy's turn."""
        placed = frozenset(stones | {cell} for stones in belief for cell in self.cells - own - stones)
        if any(self.joined(stones, 1 - self.player) for stones in placed):
            return False
        wasted: Belief = belief if self.abrupt and own else frozenset()  # he ran into one of the player's stones
        if self.heard:
            return all(self.wins(own, known, part) for part in (placed, wasted) if part)
        return self.wins(own, known, placed | wasted)
