"""The walks of Monte Carlo CFR, compiled once for all games: external sampling and outcome sampling.

Both take the game's kernels, a state row, the players' positions in the infoset table (``cursors``, see
``cfr.infoset_table``) and the random state. ``forced`` is empty, or prescribes the random choices, so that a test can
enumerate all samples: ``forced[2 * i]`` is the index of choice i, and the walk writes the number of its options into
``forced[2 * i + 1]`` and its probability into ``forced_p[i]``.

Source: Lanctot, Waugh, Zinkevich, Bowling, "Monte Carlo Sampling for Regret Minimization in Extensive Games",
NIPS 2009.
"""

from __future__ import annotations

import numpy as np
from numba import types

from cfr.infoset_table import (
    F64,
    I64,
    TOP,
    U16,
    U32,
    decision,
    follow,
    header_words,
    prefetch_next,
    start_at_roots,
)
from envs.kernels import (
    MASK,
    PARAMS,
    ROW,
    TABLE,
    TERMINAL,
    apply_of,
    current_player_of,
    helper,
    information_span_of,
    kernel,
    legal_of,
    reset_of,
    returns_of,
)
from envs.rng import RNG, next_float

# Positions in the walk's own counters.
ITERATION, UPDATING, NODES, FORCED, ACTIVE, DEPTH, CHILDREN, NUM_COUNTERS = range(8)
DONE, PAUSED, POOL_FULL, STACK_FULL, OVERFLOW = range(5)  # what a walk returns
MAX_WEIGHT = 1e250  # importance weights beyond this leave too little of float64


# Loops over the pool have signed indices, tested for being negative at each access. That keeps the compiler from
# vectorising them, which costs more than it saves on the few actions of a small board (a third of the speed on 3x3).


@helper
def _positive_sum(pool, at, k):
    total = 0.0
    for i in range(k):
        total += max(pool[at + i], 0.0)
    return total


@helper
def _sample_matched(pool, at, k, total, rng):
    """An action of the regret-matching policy (uniform when no regret is positive)."""
    draw = next_float(rng)
    if total <= 0.0:
        return np.int64(draw * k)
    draw *= total
    choice = np.int64(0)
    for i in range(k):
        regret = pool[at + i]
        if regret > 0.0:
            choice = i
            if draw < regret:
                break
            draw -= regret
    return choice


@helper
def _add_policy(pool, at, k, inverse, base, scale):
    """Add ``scale`` times the regret-matching policy to the cumulative policy, which lies behind the regrets."""
    for i in range(at, at + k):
        pool[i + k] += scale * (max(pool[i], 0.0) * inverse + base)


@helper
def _copy(source, source_at, target, target_at, count):
    a, b = np.uint64(source_at), np.uint64(target_at)
    for i in range(np.uint64(count)):
        target[b + i] = source[a + i]


@helper
def _report(walk, forced, forced_p, options, p):
    """Tell what the prescribed choice was made from, and go to the next one."""
    forced[2 * walk[FORCED] + 1] = options
    forced_p[walk[FORCED]] = p
    walk[FORCED] += 1


@helper
def _sample_chance(chance_first, chance_p, node, walk, rng, forced, forced_p):
    """An outcome of a chance node; its probability is ``chance_p[chance_first[node] + outcome]``."""
    first = chance_first[node]
    last = chance_first[node + 1] - first - 1
    if forced.size > 0:
        choice = forced[2 * walk[FORCED]]
        _report(walk, forced, forced_p, last + 1, chance_p[first + choice])
        return choice
    draw = next_float(rng)
    choice = np.int64(0)
    while choice < last and draw >= chance_p[first + choice]:
        draw -= chance_p[first + choice]
        choice += 1
    return choice


@kernel(
    types.int64(
        TABLE, PARAMS, ROW, MASK, I64, F64, F64, U32, U16, I64, I64, I64, F64, RNG, I64, F64,
        types.int64, types.int64, types.int64, I64, F64, types.float64,
    ),
    allocates=False,
    error_model="numpy",
)  # fmt: skip
def outcome_sampling(
    table, params, row, mask, chance_first, chance_p, pool, pool32, pool16, counters, cursors, walk, payoffs, rng,
    forced, forced_p, room, iterations, episodes, path, path_values, epsilon,
):  # fmt: skip
    """Play until ``iterations`` are counted (in each, every player updates once, in an episode of his own), or
    ``episodes`` are played.

    The updating player draws from epsilon * uniform + (1 - epsilon) * policy, the others from their policies. ``path``
    int64[3 * length] and ``path_values`` float64[3 * length] hold his decisions of the episode.
    """
    reset, current_player, legal = reset_of(table), current_player_of(table), legal_of(table)
    apply, returns, information_span = apply_of(table), returns_of(table), information_span_of(table)
    last = walk[ITERATION] + iterations
    while walk[ITERATION] < last:
        if pool.size - counters[TOP] < room:
            return POOL_FULL
        if episodes == 0:
            return PAUSED
        episodes -= 1
        updating = walk[UPDATING]
        reset(params, row)
        start_at_roots(pool32, cursors)
        length = 0
        weight = 1.0  # 1 / (probability of drawing the updating player's actions so far)
        ratio = 1.0  # (probability of these actions under his policy) * weight
        others = 1.0  # probability of everybody else's choices so far
        while True:
            player = current_player(params, row)
            if player < 0:
                if player == TERMINAL:
                    break
                node = row[0]
                outcome = _sample_chance(chance_first, chance_p, node, walk, rng, forced, forced_p)
                others *= chance_p[chance_first[node] + outcome]
                apply(params, row, outcome)
                continue
            start, stop = information_span(params, row, player)
            block = decision(legal, params, mask, pool, pool32, pool16, counters, row, start, stop, player, cursors)
            walk[NODES] += 1
            k = np.int64(pool16[4 * block + 2])
            choice = np.int64(0)
            if k > 1:
                regrets = block + header_words(k)
                total = _positive_sum(pool, regrets, k)
                # Regret matching: policy = positive regret * inverse + base.
                inverse = 1.0 / total if total > 0.0 else 0.0
                base = 0.0 if total > 0.0 else 1.0 / k
                if forced.size > 0:
                    choice = forced[2 * walk[FORCED]]
                elif player == updating and next_float(rng) < epsilon:
                    choice = np.int64(next_float(rng) * k)
                else:
                    choice = _sample_matched(pool, regrets, k, total, rng)
                p = max(pool[regrets + choice], 0.0) * inverse + base
                q = p
                if player == updating:
                    q = epsilon / k + (1.0 - epsilon) * p
                    scale = ratio / others
                    if 0.0 < scale < MAX_WEIGHT:
                        _add_policy(pool, regrets, k, inverse, base, scale)
                    path[3 * length] = regrets
                    path[3 * length + 1] = k
                    path[3 * length + 2] = choice
                    path_values[3 * length] = weight
                    path_values[3 * length + 1] = p
                    path_values[3 * length + 2] = q
                    length += 1
                    ratio *= p / q
                    weight /= q
                else:
                    others *= p
                if forced.size > 0:
                    _report(walk, forced, forced_p, k, q)
            apply(params, row, np.int64(pool16[4 * block + 3 + choice]))
            start, stop = information_span(params, row, player)
            follow(pool, pool32, row, start, stop, player, cursors)
        if not (weight < MAX_WEIGHT and others > 1.0 / MAX_WEIGHT):
            return OVERFLOW
        returns(params, row, payoffs)
        # Back along the updating player's decisions; ``value`` is the payoff times (policy / drawing probability) of
        # his later actions.
        value = payoffs[updating]
        while length > 0:
            length -= 1
            regrets = path[3 * length]
            child = value / path_values[3 * length + 2]
            value = child * path_values[3 * length + 1]
            loss = path_values[3 * length] * value
            for i in range(regrets, regrets + path[3 * length + 1]):
                pool[i] -= loss
            pool[regrets + path[3 * length + 2]] += path_values[3 * length] * child
        walk[UPDATING] = (updating + 1) % payoffs.size
        if walk[UPDATING] == 0:
            walk[ITERATION] += 1
    return DONE


@helper
def _set_value(frames, depth, ranks, values, value):
    """Value of the action that was walked at ``depth``; go to the next one."""
    frame = 5 * depth
    values[frames[frame + 2] + ranks[frames[frame + 3]]] = value
    frames[frame + 3] += 1


@kernel(
    types.int64(
        TABLE, PARAMS, ROW, MASK, I64, F64, F64, U32, U16, I64, I64, I64, F64, RNG, I64, F64,
        types.int64, types.int64, types.int64, I64, I64, ROW, ROW, I64, F64,
    ),
    allocates=False,
    error_model="numpy",
)  # fmt: skip
def external_sampling(
    table, params, row, mask, chance_first, chance_p, pool, pool32, pool16, counters, cursors, walk, payoffs, rng,
    forced, forced_p, room, iterations, steps, frames, saved_cursors, scratch, rows, ranks, values,
):  # fmt: skip
    """Walk until ``iterations`` are counted (in each, every player updates once) or for about ``steps`` lines of play.

    The updating player takes every action, the others draw theirs. There is a frame for each decision of his on the
    way, ``frames`` int64[5 * depth] = word of its regrets, number of actions, its first place on the stack, the place
    being walked, end of the places to walk; ``saved_cursors`` are all players' positions there. The stack: ``values``,
    one an action; ``rows`` and ``ranks``, one an action to walk, the state after it and its rank. The walk can stop at
    any place and go on in the next call.
    """
    reset, current_player, legal = reset_of(table), current_player_of(table), legal_of(table)
    apply, returns, information_span = apply_of(table), returns_of(table), information_span_of(table)
    num_players = payoffs.size
    width = row.size
    depth = walk[DEPTH]
    children = walk[CHILDREN]
    last = walk[ITERATION] + iterations
    nodes = 0
    while True:
        if walk[ACTIVE] == 0:
            if walk[ITERATION] >= last:
                return DONE
            reset(params, row)
            start_at_roots(pool32, cursors)
            walk[ACTIVE] = 1
            depth = -1
            children = 0
        status = DONE
        if pool.size - counters[TOP] < room:
            status = POOL_FULL
        elif values.size < children + mask.size:
            status = STACK_FULL
        elif steps == 0:
            status = PAUSED
        if status != DONE:
            walk[DEPTH] = depth
            walk[CHILDREN] = children
            return status
        steps -= 1
        updating = walk[UPDATING]
        averaging = (updating + 1) % num_players
        block = np.int64(0)
        k = np.int64(0)
        # Forward to the updating player's next decision, or to the end (k == 0).
        while True:
            player = current_player(params, row)
            if player < 0:
                if player == TERMINAL:
                    k = 0
                    break
                outcome = _sample_chance(chance_first, chance_p, row[0], walk, rng, forced, forced_p)
                apply(params, row, outcome)
                continue
            start, stop = information_span(params, row, player)
            block = decision(legal, params, mask, pool, pool32, pool16, counters, row, start, stop, player, cursors)
            nodes += 1
            k = np.int64(pool16[4 * block + 2])
            choice = np.int64(0)
            if k > 1:
                if player == updating:
                    break
                regrets = block + header_words(k)
                total = _positive_sum(pool, regrets, k)
                inverse = 1.0 / total if total > 0.0 else 0.0
                base = 0.0 if total > 0.0 else 1.0 / k
                if forced.size > 0:
                    choice = forced[2 * walk[FORCED]]
                    _report(walk, forced, forced_p, k, max(pool[regrets + choice], 0.0) * inverse + base)
                else:
                    choice = _sample_matched(pool, regrets, k, total, rng)
                if player == averaging:
                    _add_policy(pool, regrets, k, inverse, base, 1.0)
            apply(params, row, np.int64(pool16[4 * block + 3 + choice]))
            start, stop = information_span(params, row, player)
            follow(pool, pool32, row, start, stop, player, cursors)
        if k > 0:
            depth += 1
            frame = 5 * depth
            frames[frame] = block + header_words(k)
            frames[frame + 1] = k
            frames[frame + 2] = children
            frames[frame + 3] = children
            _copy(cursors, 0, saved_cursors, 2 * num_players * depth, 2 * num_players)
            # All his actions are taken at once: their infosets can be on their way from memory, and games that end here
            # need no state.
            waiting = children
            for j in range(k):
                _copy(row, 0, scratch, 0, width)
                apply(params, scratch, np.int64(pool16[4 * block + 3 + j]))
                if current_player(params, scratch) == TERMINAL:
                    returns(params, scratch, payoffs)
                    values[children + j] = payoffs[updating]
                else:
                    start, stop = information_span(params, scratch, updating)
                    prefetch_next(pool, pool32, scratch, start, stop, updating, cursors)
                    _copy(scratch, 0, rows, waiting * width, width)
                    ranks[waiting] = j
                    waiting += 1
            frames[frame + 4] = waiting
            children += k
        else:
            returns(params, row, payoffs)
            value = payoffs[updating]
            if depth >= 0:
                _set_value(frames, depth, ranks, values, value)
        # To the next action that is waiting; decisions without one are finished.
        at = np.int64(-1)
        while depth >= 0:
            frame = 5 * depth
            if frames[frame + 3] < frames[frame + 4]:
                at = frames[frame + 3] * width
                _copy(saved_cursors, 2 * num_players * depth, cursors, 0, 2 * num_players)
                break
            regrets, k, first = frames[frame], frames[frame + 1], frames[frame + 2]
            total = _positive_sum(pool, regrets, k)
            inverse = 1.0 / total if total > 0.0 else 0.0
            base = 0.0 if total > 0.0 else 1.0 / k
            value = 0.0
            for i in range(k):
                value += (max(pool[regrets + i], 0.0) * inverse + base) * values[first + i]
            for i in range(k):
                pool[regrets + i] += values[first + i] - value
            children = first
            depth -= 1
            if depth >= 0:
                _set_value(frames, depth, ranks, values, value)
        if at >= 0:
            _copy(rows, at, row, 0, width)
        else:
            walk[ACTIVE] = 0
            walk[NODES] += nodes
            nodes = 0
            walk[UPDATING] = averaging
            if averaging == 0:
                walk[ITERATION] += 1
