"""Quality: coverage on new rows, and the share of runs whose agreement reached the floor, for every method."""

from benchmarks.subjects.quality.subject import Quality

__all__ = ["Quality"]
