"""Boxes: the rows that fulfil a few conditions."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from oleander.arrays import Bools, Floats
from oleander.data.schema import FeatureSchema
from oleander.rules.conditions import Condition, clauses, conjoin, read_condition
from oleander.rules.region import Region


@dataclass(frozen=True)
class Box(Region, saved_as="box"):
    """The rows that fulfil a few conditions; the other columns may have any value.

    Examples
    --------
    >>> import pandas as pd
    >>> from oleander.rules.conditions import Range
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
        if not self.conditions:
            return np.ones(len(rows), dtype=bool)
        inside = self.conditions[0].contains(rows)
        for condition in self.conditions[1:]:
            inside &= condition.contains(rows)
        return inside

    def describe(self) -> str:
        """Return the conditions in words."""
        return " and ".join(clauses(self.conditions)) or "everywhere"

    @property
    def columns(self) -> frozenset[int]:
        """The columns of the conditions."""
        return frozenset(condition.column for condition in self.conditions)

    @property
    def box(self) -> Self:
        """The box itself."""
        return self

    def form(self) -> dict[str, Any]:
        """Return the conditions as plain data for the page."""
        return {"kind": "box", "conditions": [condition.form() for condition in self.conditions]}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"conditions": [condition.to_dict() for condition in self.conditions]}

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Return the box that ``to_dict`` wrote."""
        return cls(tuple(read_condition(condition, schema) for condition in data["conditions"]))
