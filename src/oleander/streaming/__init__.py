"""More rows than memory: a sample of a stated accuracy to learn from, and one pass over all rows to count on."""

from oleander.streaming.blocks import Block, Blocks
from oleander.streaming.counting import Sampled, SourceCount, count_all
from oleander.streaming.counts import Counts
from oleander.streaming.reading import read_rows
from oleander.streaming.sample import Sample, draw_sample, encode_background, load_background, read_sample
from oleander.streaming.sample_size import rows_needed, sample_size
from oleander.streaming.source import Source, as_source, open_source

__all__ = [
    "Block",
    "Blocks",
    "Counts",
    "Sample",
    "Sampled",
    "Source",
    "SourceCount",
    "as_source",
    "count_all",
    "draw_sample",
    "encode_background",
    "load_background",
    "open_source",
    "read_rows",
    "read_sample",
    "rows_needed",
    "sample_size",
]
