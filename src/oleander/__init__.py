"""Explain any black-box classifier with a handful of small, faithful local models."""

__version__ = "0.1.0.dev0"

from oleander.aggregate import AggregateExplainer

__all__ = ["AggregateExplainer"]
