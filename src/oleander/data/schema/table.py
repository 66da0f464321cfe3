"""The columns of a schema as a table to be read."""

from collections.abc import Iterable

import pandas as pd

from oleander.data.schema.feature import Feature
from oleander.running.wording import shorten

MOST_SHOWN = 6
MOST_LETTERS = 60


def describe_features(features: Iterable[Feature], *, with_bounds: bool = True) -> pd.DataFrame:
    """Return a line per column: its name, its kind, the values that it may hold, and whether one may be missing.

    The bounds of numbers and dates are values of rows; ``with_bounds=False`` leaves them out.

    Examples
    --------
    >>> from oleander.data.schema.feature import Kind
    >>> age = Feature("age", Kind.INTEGER, "int64", lower=18, upper=90)
    >>> sex = Feature("sex", Kind.BINARY, "str", levels=("F", "M"), missing=True)
    >>> describe_features([age, sex]).to_numpy().tolist()
    [['age', 'integer', '18 to 90', ''], ['sex', 'binary', 'F, M', 'may be missing']]
    """
    lines = [
        (one.name, str(one.kind), _values(one, with_bounds), "may be missing" if one.missing else "")
        for one in features
    ]
    return pd.DataFrame(lines, columns=["column", "kind", "values", "missing"])


def _values(feature: Feature, with_bounds: bool) -> str:
    if feature.is_number and not with_bounds:
        return "dates" if feature.is_date else "numbers"
    if feature.is_number:
        return f"{feature.describe_value(feature.lower)} to {feature.describe_value(feature.upper)}"
    shown = ", ".join(feature.describe_value(code) for code in range(min(len(feature.levels), MOST_SHOWN)))
    more = len(feature.levels) - MOST_SHOWN
    return shorten(shown, MOST_LETTERS) + (f" and {more} more" if more > 0 else "") if feature.levels else "none"
