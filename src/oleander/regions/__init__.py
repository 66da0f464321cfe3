"""Regions in which explainers are valid: balls, boxes and conditions."""

from oleander.regions.balls import Ball, ball_distances
from oleander.regions.base import Region
from oleander.regions.boxes import Box
from oleander.regions.membership import membership
from oleander.regions.reading import read_region

__all__ = ["Ball", "Box", "Region", "ball_distances", "membership", "read_region"]
