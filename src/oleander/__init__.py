"""Explain any black-box classifier with a handful of small, faithful local models."""

from typing import TYPE_CHECKING

from oleander.running.lazily import import_lazily

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from oleander.aggregate import AggregateExplainer
    from oleander.black_box.output import Output
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
    "Output",
    "PerRow",
    "open_source",
]

if not TYPE_CHECKING:
    # The command line answers a wrong option without importing scikit-learn.
    __getattr__, __dir__ = import_lazily(
        __name__,
        {
            "AggregateExplainer": "oleander.aggregate",
            "Balls": "oleander.candidates.balls",
            "Draws": "oleander.draws.options",
            "FeatureSchema": "oleander.data.schema",
            "Floor": "oleander.judging.floor",
            "Holding": "oleander.candidates.radii",
            "NothingFoundError": "oleander.fitting.nothing_found",
            "Output": "oleander.black_box.output",
            "PerRow": "oleander.candidates.radii",
            "open_source": "oleander.streaming.source",
        },
    )
