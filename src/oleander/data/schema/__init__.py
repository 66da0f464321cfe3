"""What the columns of the data are: kinds, levels, bounds and scales, and the way between them and one float matrix."""

from oleander.data.schema.feature import Feature, Kind, Level, read_dtype_name
from oleander.data.schema.readable import format_number
from oleander.data.schema.schema import FeatureSchema

__all__ = ["Feature", "FeatureSchema", "Kind", "Level", "format_number", "read_dtype_name"]
