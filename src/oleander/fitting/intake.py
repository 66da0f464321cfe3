"""What is given to a fit, read: columns that are no features are taken out of a frame, source or table in an engine."""

from dataclasses import replace
from typing import Any, NamedTuple

from oleander.black_box.answers import check_given
from oleander.black_box.asking import keep_columns
from oleander.data.frames import take_labels, to_table
from oleander.data.reading import Reading, read
from oleander.data.sources import Source, as_source
from oleander.engines.query import as_lazy
from oleander.engines.sampling import Sampled, draw_from_table, refuse_to_collect
from oleander.fitting.counting import plan_sample
from oleander.fitting.options import Parameters, check_floor_by, check_radii
from oleander.judging.subgroups import read_subgroups, without_unread


class Intake(NamedTuple):
    """The rows that a fit works on, and the whole that they were sampled from."""

    reading: Reading
    # The source or the table in its engine of which the rows are a sample; None where they are all.
    whole: Source | Sampled | None = None
    # The columns that make the subgroups of ``floor_by``.
    floor_by: tuple[str, ...] = ()


def take_in(
    options: Parameters,
    X: Any,
    y: Any,
    groups: Any,
    background: Any,
    columns: Any,
    floor_by: Any,
    labels: Any,
    key: str | None,
    seed: int,
) -> Intake:
    """Return what the arguments of ``AggregateExplainer.fit`` give; a path of Parquet files has become a source."""
    sampled, given = None, None
    source = X if key is None and isinstance(X, Source) else None
    background = as_source(background) or background
    held = plan_sample(options, has_background=background is not None)
    if key is not None:
        apart = {"y": y, "groups": groups, "labels": labels}
        sampled = draw_from_table(X, key, **apart, seed=seed, held=held)
        X, apart = sampled.split(key, **apart)
        y, groups, labels = apart["y"], apart["groups"], apart["labels"]
    elif source is None:
        refuse_to_collect(X)
    if isinstance(labels, str) and source is None:
        X, labels = take_labels(to_table(X), labels)
    if floor_by is not None:
        check_floor_by(options, is_source=source is not None or sampled is not None)
        table = to_table(X)
        # A lazy frame is collected once: a second time its rows may come in another order.
        X, given = table if as_lazy(X) is not None else X, read_subgroups(floor_by, table, len(table))
        X, background = (without_unread(rows, given.columns, options.black_box) for rows in (X, background))
    if options.schema is None:
        X, background = (keep_columns(rows, options.black_box, others=(y, groups, labels)) for rows in (X, background))
    reading = read(X, y, groups, background, labels, schema=options.schema, held=held, seed=seed, n_jobs=options.n_jobs)
    if reading.labels is not None:
        is_number = options.tolerance is not None
        reading = replace(reading, labels=check_given(reading.labels, len(reading.values), is_number=is_number))
    reading = replace(reading, subgroups=None if given is None else given.names)
    check_radii(options, len(reading.values) if source is None else source.n_rows)
    if columns is not None:
        reading = replace(reading, schema=reading.schema.describing(columns))
    return Intake(reading.notice_copies(), source or sampled, () if given is None else given.columns)
