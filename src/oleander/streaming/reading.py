"""The first step of a fit: rows in memory are read whole, and those of a source are sampled."""

from typing import Any

from oleander.black_box.columns import keep_columns
from oleander.data.frames import columns_of
from oleander.data.reading import Reading, read
from oleander.data.schema import FeatureSchema
from oleander.streaming.sample import load_background, read_sample
from oleander.streaming.source import Source, leave_out_unread


def read_rows(
    X: Any,
    source: Source | None,
    y: Any,
    groups: Any,
    background: Any,
    *,
    model: Any,
    schema: FeatureSchema | None,
    holdout: float | None,
    seed: int,
    n_jobs: int | None,
) -> tuple[Reading, Any]:
    """Return the rows that a fit works with, and its background as a table in memory.

    Without a schema, columns that the model was not fitted on are left out, with a warning.

    Parameters
    ----------
    X : frame or array
    source : Source or None
        X as a source; None where X is in memory.
    y, groups : array, str or None
    background : frame, array, source or None
    model : Any
    schema : FeatureSchema or None
    holdout, seed, n_jobs
        As in ``AggregateExplainer``.
    """
    if source is None:
        if schema is None:
            X, background = keep_columns(X, model), keep_columns(background, model)
        table = load_background(background, columns_of(X), seed, n_jobs)
        return read(X, y, groups, schema, background=table).with_copies(), table
    if schema is None:
        source = leave_out_unread(source, model, kept=(y, groups))
    reading = read_sample(source, y, groups, schema, holdout=holdout, seed=seed, n_jobs=n_jobs)
    return reading, load_background(background, reading.schema.columns, seed, n_jobs)
