"""Reads a data file and a model, and returns the black box and the rows to explain it on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from oleander.black_box.asking import columns_read_by, match_columns
from oleander.black_box.output import ModelPair
from oleander.cli.columns import clean_columns, clean_like, is_id
from oleander.cli.models import BaggedTrees, load_model, load_optional
from oleander.cli.options import CommandError, note, split_names, wrong_option
from oleander.cli.tables import MOST_LISTED, PARQUET, FileOptions, check_columns, read_table
from oleander.data.frames import take_rows
from oleander.data.reading import stack_tables
from oleander.data.sampling import sample_size
from oleander.data.schema import FeatureSchema, Kind
from oleander.data.sources import Source, open_source
from oleander.data.splitting import split_off
from oleander.messages import list_some
from oleander.running.progress import tell_progress

MOST_CLASSES = 50
# A column tells the target if it alone finds this share of it, on rows of other folds and of at most so many.
TELLS, N_FOLDS, MOST_ROWS = 0.99, 5, 2_000


@dataclass(frozen=True, eq=False)
class Request:
    """The data and the model that the options of a command name; without a model, one is trained on the target."""

    data: Path
    target: str | None
    groups: str | None = None
    drop: tuple[str, ...] = ()
    kinds: str = ""
    files: FileOptions = FileOptions()  # noqa: RUF009 (frozen)
    model: str | None = None
    trust_model: bool = False
    classes: tuple[str, ...] = ()
    background: Path | None = None
    # Whether a model that is trained here answers with numbers.
    is_regression: bool = False

    @classmethod
    def read(
        cls,
        data: Path,
        target: str | None,
        *,
        drop: list[str] | None,
        missing: list[str] | None,
        read: list[str] | None,
        classes: list[str] | None = None,
        **others: Any,
    ) -> Self:
        """Return a request from options as they are given; ``others`` are fields."""
        files = FileOptions.parse(read, missing)
        return cls(data, target, drop=split_names(drop), files=files, classes=split_names(classes), **others)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A black box and the rows to explain it on.

    Parameters
    ----------
    black_box : Any
    X : DataFrame or Source
        Rows that are new to the black box, as far as that is known.
    y, groups : array, str or None
        True labels, from which nothing is learned, and the group of each row; for a source the names of columns.
    row : array
        The number of each row in the file; the first row after the header is 0. Empty for a source.
    schema : FeatureSchema or None
        None for a source, whose schema is inferred from all of its rows.
    about : str
        The model and the rows in words.
    background : DataFrame, Source or None
        Rows from which draws are made: the training rows of a model that is trained here, or the rows of a file.
    is_new : bool
        Whether the rows are known to be new to the black box, because it was trained here.
    ids : DataFrame or None
        The columns that name rows and that nothing is learned from: the groups, and ids that were left out.
    """

    black_box: Any
    X: pd.DataFrame | Source
    y: NDArray[Any] | str | None
    groups: NDArray[Any] | str | None
    row: NDArray[np.intp]
    schema: FeatureSchema | None
    about: str
    background: pd.DataFrame | Source | None = None
    is_new: bool = False
    ids: pd.DataFrame | None = None


def prepare_to_explain(request: Request, *, random_state: int, n_jobs: int | None = None) -> Prepared:
    """Return a large Parquet file as a source that is read block by block, and any other file as a table.

    A model that is trained here needs its rows in memory, so its file is always read as a table.
    """
    if request.model is None or request.data.suffix.lower() not in PARQUET:
        return prepare(request, random_state=random_state, n_jobs=n_jobs)
    source = open_source(request.data)
    if source.n_rows <= sample_size(source.epsilon, source.delta, None):
        return prepare(request, random_state=random_state, n_jobs=n_jobs)
    _check_names(request, source.columns)
    request.files.refuse_for(request.data, "a Parquet file")
    refused = {"--kinds": request.kinds, "--missing": request.files.missing, "--read dates": request.files.dates}
    for option in (option for option, value in refused.items() if value):
        raise wrong_option(f"{option} is not for Parquet files that are read block by block: their columns have types.")
    black_box = load_model(request.model, trust_model=request.trust_model, classes=request.classes)
    note(f"{request.data} has {source.n_rows:,} rows: it is read block by block, and predictions.csv is not written.")
    about = f"{request.model} on {source.n_rows:,} rows"
    no_rows = np.empty(0, dtype=np.intp)
    rows = source.without(request.drop)
    background = None if request.background is None else open_source(request.background)
    return Prepared(black_box, rows, request.target, request.groups, no_rows, None, about, background)


def prepare(request: Request, *, random_state: int, n_jobs: int | None = None, beside: Any = None) -> Prepared:
    """Read the data, open or train the black box, and return the rows to be explained.

    Parameters
    ----------
    request : Request
    random_state : int
    n_jobs : int or None
    beside : Any
        A second model that is asked about the same rows: the columns that it reads are kept too.
    """
    table = read_table(request.data, request.files)
    target, group = request.target, request.groups
    _check_names(request, table.columns)
    kinds = read_kinds(request.kinds)
    check_columns(table.columns, list(kinds), "--kinds")
    if target is None and request.model is None:
        raise wrong_option("without --model a model is trained, and that needs --target.")
    row = np.arange(len(table))
    if target is not None:
        known = table[target].notna().to_numpy()
        if not known.all():
            note(f"rows without a value of {target!r} are left out: {(~known).sum():,}.")
            table, row = table[known], row[known]
        if request.model is None:
            _check_target(table[target], is_regression=request.is_regression)
    apart = {target, group, *request.drop} - {None}
    X = table.drop(columns=[name for name in table.columns if name in apart])
    black_box = load_optional(request.model, trust_model=request.trust_model, classes=request.classes)
    if black_box is not None:
        asked = black_box if beside is None else ModelPair(black_box, beside)
        X = _keep_columns(X, asked, has_target=target is not None)
    declared = {name: kind for name, kind in kinds.items() if name in X.columns}
    X = clean_columns(X, declared=declared, dates=request.files.dates, may_drop=black_box is None)
    schema = FeatureSchema.infer(X, kinds=declared)
    background = _read_background(request, schema)
    if background is not None:
        schema = FeatureSchema.infer(stack_tables(X, background), kinds=declared)
    left_out = [name for name in table.columns if name != target and name not in X.columns]
    ids = table[[name for name in left_out if name == group or is_id(table[name])]]
    if target is not None:
        note_leaks(X, schema, table[target], is_regression=request.is_regression)
    y = None if target is None else table[target].to_numpy()
    groups = None if group is None else table[group].to_numpy()
    if black_box is not None:
        about = f"{request.model} on {len(X):,} rows"
        return Prepared(black_box, X, y, groups, row, schema, about, background, ids=ids)
    assert y is not None
    train, new = split_off(len(X), 0.5, groups, random_state)
    if not request.is_regression and len(np.unique(y[train].astype(str))) < 2:
        raise CommandError(f"the rows drawn for training have only one class of {target!r}; more rows are needed.")
    with tell_progress("training 50 bagged trees"):
        trees = BaggedTrees(schema, random_state, n_jobs, is_regression=request.is_regression)
        black_box = trees.fit(take_rows(X, train), y[train])
    about = f"50 bagged trees, trained on {len(train):,} rows, on {len(new):,} rows that are new to them"
    new_groups = None if groups is None else groups[new]
    rows, trained_on = take_rows(X, new), take_rows(X, train)
    return Prepared(
        black_box, rows, y[new], new_groups, row[new], schema, about, trained_on, is_new=True, ids=take_rows(ids, new)
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
        labels = pd.Series(known.astype(str))
        # A class that is not in every fold shows nothing.
        often = (labels.map(labels.value_counts()) >= N_FOLDS).to_numpy()
        values, labels = values[often], labels[often]
        n_leaves = 2 * labels.nunique()
        for j, feature in enumerate(schema if n_leaves > 2 else ()):
            one = values[:, [j]] if feature.is_number else values[:, [j]] == np.arange(max(len(feature.levels), 1))
            tree = DecisionTreeClassifier(max_leaf_nodes=max(n_leaves, one.shape[1] + 1), random_state=0)

            # The mean over classes, because "no" alone is correct on most rows where "yes" is rare. Most columns fail
            # on the rows that the tree is grown on, which takes a fifth of the time.
            if balanced_accuracy_score(labels, tree.fit(one, labels).predict(one)) < TELLS:
                continue
            if balanced_accuracy_score(labels, cross_val_predict(tree, one, labels, cv=N_FOLDS)) >= TELLS:
                leaks.append(feature.name)
    for name in leaks:
        note(
            f"column {name!r} alone tells the target {target.name!r}, a possible leak: if it is known only after the "
            f"target, leave it out with --drop {quote(name)}."
        )


def _check_names(request: Request, columns: Sequence[Any]) -> None:
    for option, names in (
        ("--target", [request.target]),
        ("--groups", [request.groups]),
        ("--drop", request.drop),
    ):
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


def _read_background(request: Request, schema: FeatureSchema) -> pd.DataFrame | None:
    """Return the explained columns of the background's file, read as those of the data."""
    if request.background is None:
        return None
    if request.model is None:
        raise wrong_option(
            "--background is for a model given with --model: a model trained here has its training rows as background."
        )
    table = read_table(request.background, request.files)
    lacking = [name for name in schema.names if name not in table.columns]
    if lacking:
        raise CommandError(
            f"--background {request.background} lacks columns of the data: {list_some(lacking, MOST_LISTED)}."
        )
    return clean_like(table, schema, dates=request.files.dates)[list(schema.names)]


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


def read_kinds(text: str) -> Mapping[str, str]:
    """Return the kinds that ``--kinds`` declares.

    Examples
    --------
    >>> dict(read_kinds("age=integer,sex=binary"))
    {'age': 'integer', 'sex': 'binary'}
    """
    kinds = {}
    for part in filter(None, text.split(",")):
        name, equals, kind = part.rpartition("=")
        if not equals or kind not in set(Kind):
            raise wrong_option(
                f"--kinds {part} is not allowed: write column=kind, with one of the kinds {', '.join(Kind)}."
            )
        kinds[name] = kind
    return kinds
