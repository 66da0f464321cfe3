"""Boxes: the rows that fulfil a few conditions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from oleander.arrays import Bools, Floats
from oleander.regions.conditions import Condition, clauses, conjoin


@dataclass(frozen=True)
class Box:
    """The rows that fulfil a few conditions; the other columns may have any value.

    Examples
    --------
    >>> import pandas as pd
    >>> from oleander.data.schema import FeatureSchema
    >>> from oleander.regions.conditions import Range
    >>> X = pd.DataFrame({"age": [61, 58, 70], "weight": [70.5, 81.0, 66.2]})
    >>> schema = FeatureSchema.infer(X)
    >>> box = Box((Range(0, schema[0], lower=60),))
    >>> box.describe(), box.contains(schema.encode(X)).tolist()
    ('age > 60', [True, False, True])
    """

    conditions: tuple[Condition, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", conjoin(self.conditions))

    def contains(self, rows: Floats) -> Bools:
        """Return a mask of the encoded rows that fulfil every condition."""
        inside = np.ones(len(rows), dtype=bool)
        for condition in self.conditions:
            inside &= condition.contains(rows)
        return inside

    def describe(self) -> str:
        """Return the conditions in words."""
        return " and ".join(clauses(self.conditions)) or "everywhere"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"region": "box", "conditions": [condition.to_dict() for condition in self.conditions]}
