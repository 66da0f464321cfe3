"""The columns of the data: kinds, levels, bounds and scales, and the encoding of rows as one float matrix."""

from oleander.data.schema.feature import Feature, Kind, Level, read_dtype_name
from oleander.data.schema.rounding import format_number
from oleander.data.schema.schema import FeatureSchema

__all__ = ["Feature", "FeatureSchema", "Kind", "Level", "format_number", "read_dtype_name"]
