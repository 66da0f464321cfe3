"""Interpretable decision sets: frequent sets of conditions, a seven-term objective, and the search for its best."""

from benchmarks.rivals.decision_set.decision_set import DecisionSet

__all__ = ["DecisionSet"]
