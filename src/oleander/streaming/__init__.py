"""More rows than memory: a sample of a stated accuracy to learn from, and one pass over all rows to count on."""

from oleander.streaming.counting import Sampled, SourceCount
from oleander.streaming.sample import rows_needed, sample_size
from oleander.streaming.source import Source, as_source, open_source

__all__ = ["Sampled", "Source", "SourceCount", "as_source", "open_source", "rows_needed", "sample_size"]
