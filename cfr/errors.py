"""Errors of the solvers. Each message names the thing that is wrong and what to do instead."""

from __future__ import annotations


class UnsupportedGameError(ValueError):
    """A game that has no tree of alternate decisions and listed chance outcomes (simultaneous moves, ...)."""


class PerfectRecallError(ValueError):
    """An information set that a player reaches after two different histories of his own."""


class TreeTooLargeError(MemoryError):
    """A tree that does not fit; raised before (or while) memory is taken, never by dying.

    ``needed`` is the estimate in bytes (may be ``inf``), ``limit`` the limit in bytes.
    """

    def __init__(self, message: str, needed: float, limit: int) -> None:
        super().__init__(message)
        self.needed = needed
        self.limit = limit


class PolicyMismatchError(ValueError):
    """A policy that does not belong to the game, or does not fit its information sets."""


class StoredFileError(ValueError):
    """A file that cannot be used: truncated, of another kind or version, or made for another game."""
