"""Interpretable decision sets: frequent sets of conditions, a seven-term objective, and the search for its best."""

from oleander.baselines.decision_set.decision_set import DecisionSet

__all__ = ["DecisionSet"]
