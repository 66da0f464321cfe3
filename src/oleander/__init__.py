"""Explain any black-box model with a handful of faithful rules."""

from typing import TYPE_CHECKING, Any

from oleander.running import import_without_collecting

__version__ = "0.1.0"

if TYPE_CHECKING:
    from oleander.black_box.output import Output as Output
    from oleander.candidates.balls import Balls as Balls
    from oleander.candidates.base import Boxes as Boxes
    from oleander.data.schema import FeatureSchema as FeatureSchema
    from oleander.data.sources import open_source as open_source
    from oleander.draws import Draws as Draws
    from oleander.explainer import AggregateExplainer as AggregateExplainer
    from oleander.fitting.options import NothingFoundError as NothingFoundError
    from oleander.fitting.options import Program as Program
    from oleander.judging.floor import Floor as Floor
else:
    # A name is imported when it is first used: the command line answers a wrong option without importing scikit-learn.
    HOMES = {
        "AggregateExplainer": "oleander.explainer",
        "Balls": "oleander.candidates.balls",
        "Boxes": "oleander.candidates.base",
        "Draws": "oleander.draws",
        "FeatureSchema": "oleander.data.schema",
        "Floor": "oleander.judging.floor",
        "NothingFoundError": "oleander.fitting.options",
        "Output": "oleander.black_box.output",
        "Program": "oleander.fitting.options",
        "open_source": "oleander.data.sources",
    }
    __all__ = list(HOMES)

    def __getattr__(name: str) -> Any:
        if name not in HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        globals()[name] = value = getattr(import_without_collecting(HOMES[name]), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *HOMES})
