"""More rows than memory: a sample of a stated accuracy to learn from, and one pass over all rows to count on."""

from oleander.streaming.accuracy import Accuracy, rows_needed, sample_size
from oleander.streaming.counting import Counts, count_all
from oleander.streaming.sample import Sample, draw_sample
from oleander.streaming.source import Block, Source, open_source

__all__ = [
    "Accuracy",
    "Block",
    "Counts",
    "Sample",
    "Source",
    "count_all",
    "draw_sample",
    "open_source",
    "rows_needed",
    "sample_size",
]
