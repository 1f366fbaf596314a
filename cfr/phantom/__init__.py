"""The exact engine for phantom placement games on small boards: sums over placement orders instead of histories."""

from __future__ import annotations

import os
from typing import Any

from cfr.phantom.abrupt_form import AbruptForm
from cfr.phantom.announced_form import AnnouncedForm
from cfr.phantom.base import PhantomForm
from cfr.phantom.form import ClassicalForm
from cfr.phantom.policy import FORMAT, KIND, MergedPolicy
from cfr.policy import TabularPolicy
from cfr.storage import kind_of, load_arrays
from cfr.sure_wins.policy import KIND as SURE_WIN
from cfr.sure_wins.policy import SureWinPolicy
from cfr.tree import game_from_spec
from envs.core import Game

__all__ = [
    "AbruptForm", "AnnouncedForm", "ClassicalForm", "MergedPolicy", "PhantomForm", "load_policy", "phantom_form",
    "prefers_phantom",
]  # fmt: skip

FEWEST_CELLS = 8
MOST_CELLS = {  # by version and info; nodes beyond take more memory than there is on most machines
    ("classical", "silent"): 10, ("classical", "numturns"): 9, ("classical", "announce"): 9,
    ("abrupt", "silent"): 10, ("abrupt", "numturns"): 10, ("abrupt", "announce"): 8,
}  # fmt: skip


def prefers_phantom(game: Any) -> bool:
    """Whether the exact engine is the way to solve and evaluate ``game``: it works on it, and pays.

    Smaller boards are as fast on their tree, whose policies are tabular ones; larger ones do not fit. ``phantom_form``
    makes a form of any board that fits.
    """
    if not isinstance(game, Game) or not game.phantom_placement:
        return False
    parameters = game.explicit_parameters()
    most = MOST_CELLS[parameters["version"], parameters["info"]]
    return FEWEST_CELLS <= game.num_distinct_actions() <= most


def load_policy(path: str | os.PathLike[str]) -> TabularPolicy | MergedPolicy | SureWinPolicy:
    """A stored policy of any kind. Errors as those of ``TabularPolicy.load``."""
    kind = kind_of(path)
    if kind == SURE_WIN:
        return SureWinPolicy.load(path)
    if kind != KIND:
        return TabularPolicy.load(path)
    header, _ = load_arrays(path, KIND, FORMAT)
    return MergedPolicy.load(path, phantom_form(game_from_spec(header["game"])))


def phantom_form(game: Any, memory_limit: int | None = None) -> PhantomForm:
    """The form of a game in its version; merged nodes come from the cache on disk when they are there.

    ``memory_limit`` in bytes, half of what is free when unset: TreeTooLargeError, with an estimate, before anything is
    built for a game that needs more.
    """
    if not getattr(game, "classical", True):
        return AbruptForm(game, memory_limit)
    form = ClassicalForm if getattr(game, "info", "silent") == "silent" else AnnouncedForm
    return form(game, memory_limit, use_cache=True)
