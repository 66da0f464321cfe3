"""One fit: what is given is read, explainers are chosen and judged, and all other rows are counted."""

from dataclasses import replace
from functools import partial

from oleander.black_box.answers import check_given
from oleander.black_box.asking import BlackBox, CountingBlackBox, keep_columns
from oleander.black_box.labelling import refuse_to_answer
from oleander.black_box.resuming import resume
from oleander.data.checks import make_seed
from oleander.data.frames import read_column, to_table
from oleander.data.reading import Reading, read
from oleander.data.sources import Source, as_source
from oleander.engines.query import as_lazy
from oleander.engines.tables import Sampled, draw_from_table, refuse_to_collect
from oleander.files.checkpoint import Checkpoint
from oleander.fitting.choice_from_pool import ChoiceFromPool
from oleander.fitting.counting import add_counts, plan_count, plan_sample
from oleander.fitting.engine import Engine
from oleander.fitting.options import Given, Parameters, check, check_use, list_remembered
from oleander.fitting.rules_on_draws import RulesOnDraws
from oleander.judging.subgroups import read_subgroups
from oleander.results.fit_record import FitRecord


def fit_explainers(options: Parameters, given: Given) -> tuple[FitRecord, Engine]:
    """Choose explainers and judge them; ``given`` is refused if an option would do nothing."""
    check(options)
    if given.key is None:
        given = given._replace(X=as_source(given.X) or given.X)
    check_use(options, given)
    store = None if options.checkpoint is None else Checkpoint(options.checkpoint)
    seed = make_seed(options.random_state)
    seed = seed if store is None else int(store.remember("seed", str(seed)))
    reading, whole, floor_by = take_in(options, given, seed)
    has_model = options.black_box is not None or given.labels is None
    model = options.output.of_model(options.black_box) if has_model else refuse_to_answer
    box = BlackBox(model, reading.schema, is_number=options.tolerance is not None)
    data = [reading.values, reading.groups, reading.background, reading.labels]
    is_resumed = store is not None and resume(store, reading.schema, data, list_remembered(options))
    batch_size = options.draws.batch_size
    black_box = CountingBlackBox(box, options.max_queries, options.n_jobs, batch_size, store, is_resumed)
    is_counted = given.labels is not None or (isinstance(whole, Source) and plan_count(whole, reading, black_box))
    engine_type = RulesOnDraws if options.asks else ChoiceFromPool
    record, engine = engine_type.fit(options, reading, black_box, seed)
    if whole is not None and is_counted:
        record = add_counts(options, given, record, engine, whole, store)
    if record.floor_by is not None:
        record = replace(record, floor_by=replace(record.floor_by, columns=floor_by))
    # Sorted once, here, the known rows are found at once however many they are, from the first explanation on.
    _ = engine.known.by_hash
    return record, engine


def take_in(options: Parameters, given: Given, seed: int) -> tuple[Reading, Source | Sampled | None, tuple[str, ...]]:
    """Return the rows that a fit works on, what they are a sample of if not all, and the columns of subgroups."""
    X, y, groups, background, columns, floor_by, labels, key = given
    sampled, subgroups = None, None
    of_subgroups: tuple[str, ...] = ()
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
        X, name = to_table(X), labels
        labels = read_column(X, name)
        X = X.drop(columns=name)
    if floor_by is not None:
        table = to_table(X)
        # A lazy frame is collected once: a second time its rows may come in another order.
        X = table if as_lazy(X) is not None else X
        of_subgroups, subgroups = read_subgroups(floor_by, table, len(table))
    if options.schema is None:
        kept = partial(keep_columns, model=options.black_box, others=(y, groups, labels), silently=of_subgroups)
        X, background = kept(X), kept(background)
    reading = read(X, y, groups, background, labels, schema=options.schema, held=held, seed=seed, n_jobs=options.n_jobs)
    if reading.labels is not None:
        is_number = options.tolerance is not None
        reading = replace(reading, labels=check_given(reading.labels, len(reading.values), is_number=is_number))
    if columns is not None:
        reading = replace(reading, schema=reading.schema.describing(columns))
    reading = replace(reading, subgroups=subgroups).notice_copies()
    return reading, source or sampled, of_subgroups
