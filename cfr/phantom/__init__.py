"""The exact engine for phantom placement games on small boards: sums over placement orders instead of histories."""

from cfr.phantom.form import ClassicalForm
from cfr.phantom.policy import MergedPolicy

__all__ = ["ClassicalForm", "MergedPolicy"]
