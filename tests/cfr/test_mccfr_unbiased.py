"""Sampled regrets and averages have the right expectation: all samples of 2x2 boards are enumerated.

The samplers' own compiled walks are driven: every random choice is prescribed, and the walk reports its probability.
The expected values come from a plain recursion over states.
"""

import numpy as np
import pytest

import envs
from cfr.infoset_table import header_words
from cfr.mccfr import make_sampler
from cfr.mccfr_kernels import FORCED, OVERFLOW, UPDATING

VERSIONS = ["classical", "abrupt"]
MAX_CHOICES = 400


def _board(version, info="silent"):
    return envs.make("dark_hex", rows=2, cols=2, version=version, info=info)


class Profile:
    """A sampler that knows every infoset, and a place for regrets of our choice."""

    def __init__(self, name, game):
        self.game = game
        self.sampler = make_sampler(name, game, seed=1)
        self._meet_all(game.new_initial_state())
        self.blocks = {}
        table = self.sampler._table
        for player in range(2):
            tokens, offsets, first, actions = table.infosets(player)
            blocks = table.blocks(player, tokens, offsets)
            for i, block in enumerate(blocks.tolist()):
                key = player, tokens[offsets[i] : offsets[i + 1]].tobytes()
                legal = actions[first[i] : first[i + 1]].tolist()
                self.blocks[key] = block + header_words.py_func(len(legal)), legal

    def _meet_all(self, state):
        """Play games until the table holds as many infosets as the game has."""
        keys, todo = set(), [state]
        while todo:
            state = todo.pop()
            if not state.is_terminal():
                keys.add(state.information_state_key())
                todo.extend(state.child(action) for action in state.legal_actions())
        table, pool = self.sampler._table, None
        for _ in range(10000):
            self.sampler.run(iterations=20)
            pool = table.pool
            # Forget the regrets, so that everybody goes on playing uniformly.
            for player in range(2):
                tokens, offsets, first, _ = table.infosets(player)
                for block, k in zip(table.blocks(player, tokens, offsets), np.diff(first), strict=True):
                    if k > 1:
                        pool[block + header_words.py_func(k) :][: 2 * k] = 0.0
            if self.sampler.num_infosets == len(keys):
                return
        raise AssertionError("some infosets were never met")

    def set_regrets(self, choose):
        """``choose(player, number of actions)`` gives an infoset's regrets."""
        pool = self.sampler._table.pool
        for (player, _), (at, legal) in self.blocks.items():
            if len(legal) > 1:
                pool[at : at + len(legal)] = choose(player, len(legal))
                pool[at + len(legal) : at + 2 * len(legal)] = 0.0

    def policy(self, state):
        at, legal = self.blocks[state.current_player(), state.information_tokens().tobytes()]
        if len(legal) == 1:
            return at, [1.0]
        positive = np.maximum(self.sampler._table.pool[at : at + len(legal)], 0.0)
        total = positive.sum()
        return at, (positive / total if total > 0 else np.full(len(legal), 1.0 / len(legal))).tolist()

    def increments(self, updating):
        """Expected change of the pool by one update of ``updating``, over all samples; their probability."""
        table, walk = self.sampler._table, self.sampler._state["walk"]
        before = table.pool.copy()
        expected, total, count = np.zeros_like(before), 0.0, 0
        forced, forced_p = np.zeros(2 * MAX_CHOICES, dtype=np.int64), np.zeros(MAX_CHOICES)
        while True:
            walk[UPDATING], walk[FORCED] = updating, 0
            self._one_update(forced, forced_p)
            used = int(walk[FORCED])
            weight = float(forced_p[:used].prod())
            if weight > 0.0:
                expected += weight * (table.pool - before)
                total += weight
            count += 1
            assert count < 300_000, "too many samples to enumerate"
            table.pool[:] = before
            # The next sample in lexicographic order; what follows an impossible choice is skipped.
            impossible = np.flatnonzero(forced_p[:used] == 0.0)
            at = int(impossible[0]) if impossible.size else used - 1
            while at >= 0 and forced[2 * at] + 1 == forced[2 * at + 1]:
                at -= 1
            if at < 0:
                return expected, total
            forced[2 * at] += 1
            forced[2 * (at + 1) :] = 0

    def _one_update(self, forced, forced_p):
        sampler = self.sampler
        # For one player only: until it is the next one's turn. (An impossible episode ends in OVERFLOW.)
        updating = int(sampler._state["walk"][UPDATING])
        while sampler._state["walk"][UPDATING] == updating:
            if sampler._walk(1, 1, forced, forced_p) == OVERFLOW:
                return

    def exact(self, updating):
        """Counterfactual regrets at the updating player's infosets and expected increments of the averages, in the
        places of the pool."""
        out = np.zeros_like(self.sampler._table.pool)
        external = self.sampler.name == "external"

        def visit(state, own, other):
            """Value of a state for ``updating`` under the current policies; reach of both."""
            if state.is_terminal():
                return state.returns()[updating]
            player = state.current_player()
            at, policy = self.policy(state)
            k = len(policy)
            mine = player == updating
            values = [
                visit(state.child(action), own * p if mine else own, other if mine else other * p)
                for action, p in zip(state.legal_actions(), policy, strict=True)
            ]
            value = float(np.dot(policy, values))
            if k > 1 and mine:
                out[at : at + k] += other * (np.array(values) - value)
            if k > 1 and mine and not external and other > 0.0:
                # Drawn with the history's own probability: every possible history of an infoset counts once.
                out[at + k : at + 2 * k] += own * np.array(policy)
            if k > 1 and not mine and external:
                out[at + k : at + 2 * k] += other * np.array(policy)
            return value

        visit(self.game.new_initial_state(), 1.0, 1.0)
        return out


@pytest.mark.parametrize("updating", [0, 1])
@pytest.mark.parametrize("version", VERSIONS)
def test_outcome_sampling_is_unbiased(version, updating):
    profile = Profile("outcome", _board(version))
    rng = np.random.default_rng(5)
    for mixed in (True, False):
        # Fully mixed policies, then policies with impossible actions (and infosets without a positive regret).
        profile.set_regrets(lambda player, k, m=mixed: rng.random(k) + 0.1 if m else rng.normal(size=k))
        expected, total = profile.increments(updating)
        exact = profile.exact(updating)
        assert total == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(expected, exact, atol=1e-12, rtol=0)


@pytest.mark.parametrize("updating", [0, 1])
@pytest.mark.parametrize("version", VERSIONS)
def test_external_sampling_is_unbiased(version, updating):
    """Nearly pure opponents keep the number of samples small; in many profiles every infoset gets its turn to mix."""
    profile = Profile("external", _board(version))
    rng = np.random.default_rng(7)
    for _ in range(40):
        def choose(player, k):
            if player == updating:
                return rng.normal(size=k)
            regrets = -rng.random(k)
            support = rng.permutation(k)[: 2 if rng.random() < 0.15 else 1]
            regrets[support] = rng.random(support.size) + 0.1
            return regrets

        profile.set_regrets(choose)
        expected, total = profile.increments(updating)
        assert total == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(expected, profile.exact(updating), atol=1e-12, rtol=0)
