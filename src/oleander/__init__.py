"""Explain any black-box classifier with a handful of small, faithful local models."""

__version__ = "0.1.0.dev0"

from oleander.aggregate import AggregateExplainer
from oleander.candidates.balls import Balls
from oleander.candidates.radii import Holding, PerRow
from oleander.data.schema import FeatureSchema
from oleander.draws.options import Draws
from oleander.fitting.nothing_found import NothingFoundError
from oleander.judging.floor import Floor
from oleander.streaming.source import open_source

__all__ = [
    "AggregateExplainer",
    "Balls",
    "Draws",
    "FeatureSchema",
    "Floor",
    "Holding",
    "NothingFoundError",
    "PerRow",
    "open_source",
]
