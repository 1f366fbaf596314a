"""Sampling full states of a phantom placement game that agree with what one player knows; search agents play on them.

What a player knows of the opponent is: which of his stones were found and by when they stood there, how many turns he
has had, and what was announced. Everything else is drawn, in an order that never needs the true board:

1. which of the opponent's turns placed a stone (abrupt only; classical turns always do);
2. the unknown stones: cells in random order, none that would win for the opponent or fill the board;
3. when each stone was placed: backwards over the placements, any stone that need not stand earlier;
4. what the opponent ran into: distinct stones that stood there at the time.

Every consistent state can be drawn (each step can make every consistent choice); the distribution is not the
posterior of any particular opponent, nor uniform.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from envs.games.hex_board import clear

if TYPE_CHECKING:
    from envs.core import State
    from envs.games.phantom_board import PhantomBoardGame

COLLISION_CHANCE = 0.4  # of an unannounced collision, where one is possible


class _Knowledge:
    """What a player's tokens say about the opponent's turns.

    ``actions``: the player's own. ``own[k]``: his stones that stand when the opponent's turn k begins.
    ``deadline[c]``: the found stone c was placed in a turn before this one. ``turns``: the opponent's finished
    turns; one more has begun when he is to move. ``collisions[k]``: what he ran into in turn k, None if unheard.
    """

    def __init__(self, game: PhantomBoardGame, tokens: list[int], player: int, opponent_to_move: bool) -> None:
        stones: list[int] = []
        self.actions: list[int] = []
        self.own: list[list[int]] = [[]] if player == 1 else []
        self.deadline: dict[int, int] = {}
        heard = [0] * len(self.own)  # actions (numturns) or collisions (announce) in each turn of the opponent
        for token in tokens:
            if token >= 2 * game.cells:
                heard[-1] += 1 if game.info == "numturns" else token - 2 * game.cells
                continue
            cell, collision = token >> 1, token & 1
            self.actions.append(cell)
            if collision:
                self.deadline[cell] = len(self.own)
            else:
                stones.append(cell)
            if not collision or not game.classical:  # the turn is over, the opponent's next one begins
                self.own.append(list(stones))
                heard.append(0)
        self.turns = len(self.own) - opponent_to_move
        self.collisions: list[int] | None = None
        if game.info == "announce":
            self.collisions = heard
        elif game.info == "numturns" and game.classical:
            # Every action of a finished turn but its last one was a collision.
            self.collisions = [n - (k < self.turns) for k, n in enumerate(heard)]


def resample(
    game: PhantomBoardGame, player: int, tokens: list[int], opponent_to_move: bool, rng: np.random.Generator
) -> State:
    """A running game in which the information tokens of ``player`` are ``tokens``."""
    knowledge = _Knowledge(game, tokens, player, opponent_to_move)
    while True:
        moves = _opponent_moves(game, knowledge, player, rng)
        if moves is not None:
            break
    other = game.new_initial_state()
    mine = iter(knowledge.actions)
    theirs = iter(moves)
    for _ in range(len(knowledge.actions) + len(moves)):
        other.apply_action(next(mine if other.current_player() == player else theirs))
    return other


def _opponent_moves(
    game: PhantomBoardGame, known: _Knowledge, player: int, rng: np.random.Generator
) -> list[int] | None:
    """The opponent's actions in order, None when the draw ran into a dead end."""
    collisions = _collision_counts(game, known, rng)
    if collisions is None:
        return None
    # Turns that placed a stone, and before how many placements each found stone must stand.
    placing = [k for k in range(known.turns) if game.classical or collisions[k] == 0]
    limit = {cell: sum(k < turn for k in placing) for cell, turn in known.deadline.items()}
    stones = _unknown_stones(game, known, player, len(placing), rng)
    if stones is None:
        return None
    remaining = {cell: limit.get(cell, len(placing)) for cell in [*known.deadline, *stones]}
    placement: dict[int, int] = {}
    for slot in range(len(placing) - 1, -1, -1):
        eligible = [cell for cell, bound in remaining.items() if bound > slot]
        if not eligible:
            return None
        cell = eligible[rng.integers(len(eligible))]
        placement[placing[slot]] = cell
        del remaining[cell]
    moves: list[int] = []
    found: set[int] = set()
    for turn in range(len(known.own)):
        hidden = [cell for cell in known.own[turn] if cell not in found]
        for index in rng.permutation(len(hidden))[: collisions[turn]]:
            moves.append(hidden[index])
            found.add(hidden[index])
        if turn in placement:
            moves.append(placement[turn])
    return moves


def _collision_counts(game: PhantomBoardGame, known: _Knowledge, rng: np.random.Generator) -> list[int] | None:
    """How many stones the opponent ran into, per turn."""
    if known.collisions is not None:
        return known.collisions
    counts, total = [], 0
    if game.classical:
        for stones in known.own:
            count = 0
            while total + count < len(stones) and rng.random() < COLLISION_CHANCE:
                count += 1
            counts.append(count)
            total += count
        return counts
    placed = 0
    bounds = sorted(known.deadline.values())
    for turn in range(known.turns):
        # A collision must leave enough turns to place every found stone in time.
        in_time = all(
            placed + bound - turn - 1 >= rank for rank, bound in enumerate(bounds, start=1) if bound > turn
        )
        chance = total < len(known.own[turn]) and in_time
        collided = chance and rng.random() < COLLISION_CHANCE
        counts.append(int(collided))
        total += collided
        placed += not collided
    return counts + [0] * (len(known.own) - known.turns)


def _unknown_stones(
    game: PhantomBoardGame, known: _Knowledge, player: int, placements: int, rng: np.random.Generator
) -> list[int] | None:
    """Cells of the opponent's stones that were not found; he has not won, and an empty cell is left."""
    wanted = placements - len(known.deadline)
    taken = set(known.actions)
    free = [cell for cell in range(game.cells) if cell not in taken]
    if not 0 <= wanted <= len(free):
        return None
    row = np.zeros(game.row_size, dtype=np.int32)
    clear(game.params, row)
    for cell in known.deadline:
        game.place(game.params, row, cell, 1 - player)
    stones: list[int] = []
    for index in rng.permutation(len(free)):
        if len(stones) == wanted:
            break
        saved = row.copy()
        if game.place(game.params, row, free[index], 1 - player):
            row = saved
        else:
            stones.append(free[index])
    return stones if len(stones) == wanted < len(free) else None
