"""Reads a data file and a model, and returns the black box and the rows to explain it on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from oleander.arrays import Ints
from oleander.black_box.asking import columns_read_by, match_columns
from oleander.candidates.base import Boxes
from oleander.cli.cells import clean_columns, clean_like, is_id
from oleander.cli.models import load_model, refuse_without_model, train_trees
from oleander.cli.options import CommandError, Fitting, note, split_names, wrong_option
from oleander.cli.tables import MOST_LISTED, PARQUET, FileOptions, check_columns, is_stored, keep_known, read_table
from oleander.data.frames import take_rows
from oleander.data.reading import stack_tables
from oleander.data.rows import split_off
from oleander.data.sampling import sample_size
from oleander.data.schema import FeatureSchema, Kind
from oleander.data.sources import Source, open_source
from oleander.engines.tables import open_table
from oleander.messages import list_some
from oleander.running.progress import tell_progress

MOST_CLASSES = 50
# A column tells the target if it alone finds this share of it, on rows of other folds, of at most this number. A class
# with fewer rows than folds may be a typo.
TELLS, N_FOLDS, MOST_ROWS = 0.99, 5, 2_000


@dataclass(frozen=True, eq=False)
class Prepared:
    """A black box and the rows to explain it on."""

    black_box: Any
    # Rows that are new to the black box, as far as that is known; Any is a table that stays in its engine.
    X: pd.DataFrame | Source | Any
    # True labels, from which nothing is learned, and the group of each row; for a source or a table names of columns.
    y: NDArray[Any] | str | None
    groups: NDArray[Any] | str | None
    # The number of each row in the file; the first row after the header is 0. Empty for a source.
    row: NDArray[np.intp]
    # None for a source, whose schema is inferred from all of its rows.
    schema: FeatureSchema | None
    # The model and the rows in words.
    about: str
    # The training rows of a model that is trained here, or the rows of a file.
    background: pd.DataFrame | Source | None = None
    # Whether the rows are known to be new to the black box, because it was trained here.
    is_new: bool = False
    # The columns that name rows and that nothing is learned from: the groups, and ids that were left out.
    ids: pd.DataFrame | None = None
    # The columns of a table that tell its rows apart, and that hold the model's answers.
    key: str | None = None
    labels: str | None = None


def prepare(
    given: Fitting,
    *,
    background: Path | None = None,
    floor_by: Sequence[str] = (),
    is_regression: bool = False,
    n_jobs: int | None = None,
) -> Prepared:
    """Read the data, open or train the black box, and return the rows to be explained.

    A large Parquet file is a source that is read block by block, unless a model is trained here, which needs its rows
    in memory. Any other file is a table. ``floor_by`` names columns of subgroups, which X gets even if nothing is
    learned from them. ``is_regression`` says whether a model trained here answers with numbers.
    """
    if is_stored(given.data):
        return _prepare_source(given, None, background)
    if given.model is not None and given.data.suffix.lower() in PARQUET:
        source = open_source(given.data)
        if source.n_rows > sample_size(source.epsilon, source.delta, None):
            return _prepare_source(given, source, background)
    files, target, group = FileOptions.parse(given.read), given.target, given.groups
    table = read_table(given.data, files)
    kinds = read_kinds(given.kinds)
    _check_names(given, table.columns, floor_by, [*kinds])
    if target in floor_by:
        raise wrong_option(f"--limit floor_by={target} names the target, which new rows do not have.")
    if given.model is None:
        _check_without_model(given, background)
    if target is not None:
        table = keep_known(table, target)
        if given.model is None:
            _check_target(table[target], is_regression=is_regression)
    row = table.index.to_numpy()
    apart = {target, group, *given.drop}
    X = table.drop(columns=[name for name in table.columns if name in apart])
    black_box = None if given.model is None else load_model(given.model, given)
    if black_box is not None:
        X = _keep_columns(X, black_box, has_target=target is not None)
    declared = {name: kind for name, kind in kinds.items() if name in X.columns}
    X = clean_columns(X, declared=declared, may_drop=black_box is None)
    schema = FeatureSchema.infer(X, kinds=declared)
    drawn_around = None if background is None else _read_background(background, files, schema)
    if drawn_around is not None:
        schema = FeatureSchema.infer(stack_tables(X, drawn_around), kinds=declared)
    left_out = [name for name in table.columns if name != target and name not in X.columns]
    ids = table[[name for name in left_out if name == group or is_id(table[name])]]
    if target is not None:
        note_leaks(X, schema, table[target], is_regression=is_regression)
    X = X.assign(**{name: table[name].to_numpy() for name in floor_by if name not in X.columns})
    y = None if target is None else table[target].to_numpy()
    groups = None if group is None else table[group].to_numpy()
    if black_box is not None:
        about = f"{given.model} on {len(X):,} rows"
        return Prepared(black_box, X, y, groups, row, schema, about, drawn_around, ids=ids)
    assert y is not None
    train, new = split_off(len(X), 0.5, groups, given.seed)
    if not is_regression and len(np.unique(y[train].astype(str))) < 2:
        raise CommandError(f"the rows drawn for training have only one class of {target!r}; more rows are needed.")
    with tell_progress("training 50 bagged trees"):
        black_box = train_trees(take_rows(X, train), y[train], schema, given.seed, n_jobs, is_regression=is_regression)
    about = f"50 bagged trees, trained on {len(train):,} rows, on {len(new):,} rows that are new to them"
    return Prepared(
        black_box,
        take_rows(X, new),
        y[new],
        None if groups is None else groups[new],
        row[new],
        schema,
        about,
        take_rows(X, train),
        is_new=True,
        ids=take_rows(ids, new),
    )


def _prepare_source(given: Fitting, source: Source | None, background: Path | None) -> Prepared:
    """Return a large Parquet file, or a table that stays where it is, of which a sample is explained."""
    files, name = FileOptions.parse(given.read, is_table=source is None), given.data
    what, why = "Parquet files that are read block by block", "it is read block by block"
    if source is None:
        what, why = "tables that stay where they are", "a sample of it is read"
        if files.key is None:
            raise wrong_option(
                f"{name} is a table: name a column with a different whole number in each row, --read key=COL."
            )
        if given.model is None and files.labels is None:
            raise wrong_option("give --model, or --read labels=COL for a column with its answers.")
        if given.model is None:
            refuse_without_model(given)
    files.refuse_for(name, "a Parquet file")
    for option, value in (("--kinds", given.kinds), ("--read missing", files.missing), ("--read dates", files.dates)):
        if value:
            raise wrong_option(f"{option} is not for {what}: their columns have types.")
    rows: Any = source or nw.from_native(open_table(str(name)))
    _check_names(given, rows.columns if source else rows.collect_schema().names())
    black_box = None if given.model is None else load_model(given.model, given)
    size = f"{source.n_rows:,} rows" if source else f"rows of {name}"
    note(f"{name} {f'has {size}' if source else 'stays where it is'}: {why}, and predictions.csv is not written.")
    return Prepared(
        black_box,
        rows.without(given.drop) if source else rows.drop(*given.drop).to_native(),
        given.target,
        given.groups,
        np.empty(0, dtype=np.intp),
        None,
        f"{given.model or f'the answers in column {files.labels!r}'} on {size}",
        None if background is None else open_source(background),
        key=files.key,
        labels=files.labels,
    )


def _check_without_model(given: Fitting, background: Path | None) -> None:
    """Refuse what needs a model that is given, where one is trained here."""
    if given.target is None:
        raise wrong_option("without --model a model is trained, and that needs --target.")
    refuse_without_model(given)
    if background is not None:
        raise wrong_option(
            "--background is for a model given with --model: a model trained here has its training rows as background."
        )


def note_leaks(X: pd.DataFrame, schema: FeatureSchema, target: pd.Series, *, is_regression: bool) -> None:
    """Say which columns alone tell the target: of labels by a small tree, of numbers by their order.

    Such a column may have been filled in after the target was known, and then no new row has it.
    """
    some = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
    values, known = schema.encode(take_rows(X, some)), target.to_numpy()[some]
    leaks: list[str] = []
    if is_regression:
        truth = pd.Series(pd.to_numeric(known, errors="coerce"))
        ranks = pd.DataFrame(values, columns=list(schema.names)).corrwith(truth, method="spearman")
        leaks = [name for name in schema.names if abs(ranks[name]) >= TELLS]
    else:
        codes = pd.factorize(known.astype(str))[0]
        # A class that is not in every fold shows nothing.
        often = np.bincount(codes)[codes] >= N_FOLDS
        values, codes = values[often], pd.factorize(codes[often])[0]
        n_of_class = np.bincount(codes)
        n_leaves = 2 * len(n_of_class)

        def finds_all(predicted: Ints) -> bool:
            # The mean over classes, because "no" alone is correct on most rows where "yes" is rare.
            return bool(
                (np.bincount(codes[predicted == codes], minlength=len(n_of_class)) / n_of_class).mean() >= TELLS
            )

        for j, feature in enumerate(schema if n_leaves > 2 else ()):
            one = values[:, [j]] if feature.is_number else values[:, [j]] == np.arange(max(len(feature.levels), 1))
            tree = DecisionTreeClassifier(max_leaf_nodes=max(n_leaves, one.shape[1] + 1), random_state=0)
            # Most columns fail on the rows that the tree is grown on, which takes a fifth of the time.
            if finds_all(tree.fit(one, codes).predict(one)) and finds_all(
                cross_val_predict(tree, one, codes, cv=N_FOLDS)
            ):
                leaks.append(feature.name)
    for name in leaks:
        note(
            f"column {name!r} alone tells the target {target.name!r}, a possible leak: if it is known only after the "
            f"target, leave it out with --drop {quote(name)}."
        )


def _check_names(
    given: Fitting, columns: Sequence[Any], floor_by: Sequence[str] = (), kinds: Sequence[str] = ()
) -> None:
    named = {"--target": [given.target], "--groups": [given.groups], "--drop": given.drop}
    named |= {"--limit floor_by": floor_by, "--kinds": kinds}
    for option, names in named.items():
        check_columns(columns, [name for name in names if name is not None], option)


def _keep_columns(X: pd.DataFrame, model: Any, *, has_target: bool) -> pd.DataFrame:
    """Return the columns that a model reads, in its order, with a note on the others."""
    names = columns_read_by(model)
    if names is None:
        if not has_target:
            note(
                "the model does not name its columns, so it gets all of them: leave out with --target or --drop what "
                "it does not read, such as the true label."
            )
        return X
    read = match_columns(names, list(X.columns))
    unread = [name for name in X.columns if name not in read]
    if unread:
        note(f"columns that the model was not fitted on are left out: {list_some(unread, MOST_LISTED)}.")
    kept = X[read]
    kept.attrs = X.attrs
    return kept


def _read_background(path: Path, files: FileOptions, schema: FeatureSchema) -> pd.DataFrame:
    """Return the explained columns of the background's file, read as those of the data."""
    table = read_table(path, files)
    lacking = [name for name in schema.names if name not in table.columns]
    if lacking:
        raise CommandError(f"--background {path} lacks columns of the data: {list_some(lacking, MOST_LISTED)}.")
    return clean_like(table, schema)[list(schema.names)]


def _check_target(target: pd.Series, *, is_regression: bool) -> None:
    n_classes = target.nunique()
    if is_regression:
        if not pd.api.types.is_numeric_dtype(target) or pd.api.types.is_bool_dtype(target):
            raise CommandError(
                f"the target {target.name!r} holds {target.iloc[0]!r}, which is not a number; --tolerance and "
                "--threshold are for numbers."
            )
        return
    if n_classes < 2:
        raise CommandError(f"the target {target.name!r} has one class, {target.iloc[0]!r}; two or more are needed.")
    if n_classes > MOST_CLASSES:
        raise CommandError(
            f"the target {target.name!r} has {n_classes:,} different values, which looks like a measurement or a name; "
            f"at most {MOST_CLASSES} classes are allowed. --tolerance explains numbers."
        )
    counts = target.value_counts()
    rare = counts.index[counts < N_FOLDS].tolist()
    if rare:
        note(
            f"the target {target.name!r} has classes with fewer than {N_FOLDS} rows, perhaps typos: {list_some(rare)}."
        )


def read_kinds(text: str) -> Mapping[str, str]:
    """Return the kinds that ``--kinds`` declares.

    >>> dict(read_kinds("age=integer,sex=binary"))
    {'age': 'integer', 'sex': 'binary'}
    """
    kinds = {}
    for part in filter(None, text.split(",")):
        name, equals, kind = part.rpartition("=")
        if not equals or kind not in set(Kind) or name in kinds:
            raise wrong_option(
                f"--kinds {part} is not allowed: write column=kind, each column once, with one of {', '.join(Kind)}."
            )
        kinds[name] = kind
    return kinds


def read_limits(limits: Sequence[str] | None) -> tuple[Boxes, tuple[str, ...]]:
    """Return what ``--limit`` allows rules, and the columns of the subgroups in which the floor must hold.

    >>> boxes, floor_by = read_limits(["conditions=3", "monotone=age+,gait-", "floor_by=sex,ward"])
    >>> boxes.monotone, floor_by
    ({'age': '+', 'gait': '-'}, ('sex', 'ward'))
    """
    found: dict[str, Any] = {}
    for text in limits or ():
        name, _, value = text.partition("=")
        names = split_names(value)
        if name in found:
            raise wrong_option(f"--limit {name} is given more than once: give all its values in one, with commas.")
        if name == "conditions" and value.isdecimal():
            found[name] = int(value)
        elif name in ("forbid", "order", "floor_by") and names:
            found[name] = names
        elif name == "monotone" and names and all(one[:-1] and one[-1] in "+-" for one in names):
            found[name] = {one[:-1]: one[-1] for one in names}
            if len(found[name]) < len(names):
                raise wrong_option(f"--limit {text} names a column twice: give each one direction.")
        else:
            raise wrong_option(
                f"--limit {text} is not allowed: write conditions=3, forbid=COL,... or monotone=COL+,... or "
                "order=LABEL,... or floor_by=COL,... and give the option once for each."
            )
    floor_by = found.pop("floor_by", ())
    return Boxes(found.pop("conditions", None), **found), floor_by
