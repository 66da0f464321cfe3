"""Regions read back from plain data."""

from typing import Any

import numpy as np

from oleander.data.schema import FeatureSchema
from oleander.regions.balls import Ball
from oleander.regions.boxes import Box
from oleander.regions.conditions import read_condition


def read_region(data: dict[str, Any], schema: FeatureSchema) -> Ball | Box:
    """Return the region that its ``to_dict`` wrote."""
    if data["region"] == "box":
        return Box(tuple(read_condition(condition, schema) for condition in data["conditions"]))
    if data["region"] == "ball":
        center = np.array([np.nan if value is None else float(value) for value in data["center"]])
        schema.check_codes(center)
        norm = np.inf if data["norm"] is None else float(data["norm"])
        flips = None if data["max_flips"] is None else int(data["max_flips"])
        scales = None if data["scales"] is None else np.array(data["scales"], dtype=float)
        return Ball(schema, center, float(data["radius"]), flips, norm, scales)
    raise ValueError(f"region {data['region']!r} is not known; the regions are ball and box.")
