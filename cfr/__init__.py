"""Equilibrium solvers: trees in sequence form, the CFR family, sampling, exact evaluation, policies."""

from cfr.best_response import (
    BestResponse,
    Evaluation,
    best_response,
    evaluate,
    expected_values,
    exploitability,
    nash_conv,
)
from cfr.errors import (
    PerfectRecallError,
    PolicyMismatchError,
    StoredFileError,
    TreeTooLargeError,
    UnsupportedGameError,
)
from cfr.infoset_table import TableFullError
from cfr.keys import KeyTable
from cfr.mccfr import Sampler, SamplerProgress, make_sampler
from cfr.memory import SizeEstimate, estimate_size
from cfr.mixture import Mixture, as_behaviour
from cfr.phantom import (
    AbruptForm,
    ClassicalForm,
    MergedPolicy,
    PhantomForm,
    load_policy,
    phantom_form,
    prefers_phantom,
)
from cfr.policy import PlayerTable, TabularPolicy
from cfr.sequence_form import Equilibrium, solve_lp
from cfr.solver import Progress, Solver, make_solver
from cfr.sure_wins import SureWin, SureWinPolicy, sure_win
from cfr.tree import Tree, build_tree, game_from_spec, game_spec

__all__ = [
    "BestResponse",
    "AbruptForm",
    "ClassicalForm",
    "Equilibrium",
    "Evaluation",
    "KeyTable",
    "MergedPolicy",
    "Mixture",
    "PerfectRecallError",
    "PhantomForm",
    "PlayerTable",
    "PolicyMismatchError",
    "Progress",
    "Sampler",
    "SamplerProgress",
    "SizeEstimate",
    "Solver",
    "StoredFileError",
    "SureWin",
    "SureWinPolicy",
    "TableFullError",
    "TabularPolicy",
    "Tree",
    "TreeTooLargeError",
    "UnsupportedGameError",
    "as_behaviour",
    "best_response",
    "build_tree",
    "estimate_size",
    "evaluate",
    "expected_values",
    "exploitability",
    "game_from_spec",
    "game_spec",
    "load_policy",
    "make_sampler",
    "make_solver",
    "nash_conv",
    "phantom_form",
    "prefers_phantom",
    "solve_lp",
    "sure_win",
]
