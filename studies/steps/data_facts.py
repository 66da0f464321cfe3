"""Facts about the geriatric data: classes, trials, readings that repeat the one before."""

import pandas as pd

from studies.step import Facts, Step, Work
from studies.store import Store


def count_repeats(X: pd.DataFrame, y: pd.Series, groups: pd.Series) -> int:
    """Return the number of rows that equal the row before in the same group, label included.

    >>> count_repeats(pd.DataFrame({"a": [1, 1, 1]}), pd.Series([0, 0, 0]), pd.Series(["one", "one", "two"]))
    1
    """
    whole = X.assign(label=y.to_numpy(), group=groups.to_numpy())
    return int((whole == whole.shift()).all(axis=1).sum())


def compute(work: Work, store: Store) -> Facts:
    """Count rows, trials, classes and repeated readings."""
    data = work.readings
    assert data.groups is not None
    return {
        "n_rows": len(data.X),
        "n_trials": int(data.groups.nunique()),
        "classes": {str(name): int(n) for name, n in data.y.value_counts().items()},
        # Readings that were thinned out are not neighbours any more.
        "n_repeats": None if work.settings.rows_per_trial else count_repeats(data.X, data.y, data.groups),
        "n_columns": data.X.shape[1],
    }


DATA_FACTS = Step("data_facts", "The data", compute)
