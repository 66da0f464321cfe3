"""From a data file and a model to what is explained: rows that are new to the black box."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.cli.errors import CommandError, ExitCode, note
from oleander.cli.models import BaggedTrees, load_model
from oleander.cli.tables import check_columns, check_values, read_table
from oleander.data.checks import split_rows, take_rows
from oleander.data.schema import FeatureSchema, Kind

MOST_CLASSES = 50


@dataclass(frozen=True, eq=False)
class Source:
    """What the command line says of the data and the model.

    Parameters
    ----------
    data : Path
    target : str or None
    model : str or None
        None trains the paper's black box on the target.
    trust_model : bool
    groups : str or None
        The column that says which rows belong together.
    drop : tuple of str
    kinds : str
        As in ``age=integer,sex=binary``.
    separator : str or None
    decimal : str
    """

    data: Path
    target: str | None
    model: str | None = None
    trust_model: bool = False
    groups: str | None = None
    drop: tuple[str, ...] = ()
    kinds: str = ""
    separator: str | None = None
    decimal: str = "."


@dataclass(frozen=True, eq=False)
class Prepared:
    """What is explained.

    Parameters
    ----------
    black_box : Any
    X : DataFrame
        Rows that are new to the black box, as far as that is known.
    y : array or None
        Their true labels, where these can tell whether the black box has seen the rows before.
    groups : array or None
    row : array
        Where each row stands in the file, the first after the header being 0.
    schema : FeatureSchema
    about : str
        Which model is explained on which rows, in words.
    """

    black_box: Any
    X: pd.DataFrame
    y: NDArray[Any] | None
    groups: NDArray[Any] | None
    row: NDArray[np.intp]
    schema: FeatureSchema
    about: str


def prepare(source: Source, *, random_state: int, n_jobs: int | None = None) -> Prepared:
    """Read the data, get the black box, and say which rows are explained."""
    table = read_table(source.data, separator=source.separator, decimal=source.decimal)
    target, belongs = source.target, source.groups
    check_columns(table, [] if target is None else [target], "--target")
    check_columns(table, [] if belongs is None else [belongs], "--groups")
    check_columns(table, source.drop, "--drop")
    kinds = read_kinds(source.kinds)
    check_columns(table, list(kinds), "--kinds")
    if target is None and source.model is None:
        raise CommandError("without --model one is trained, and that needs --target.", ExitCode.USAGE)
    row = np.arange(len(table))
    if target is not None:
        known = table[target].notna().to_numpy()
        if not known.all():
            note(f"rows without a value of {target!r} are left out: {(~known).sum():,}.")
            table, row = table[known], row[known]
        if source.model is None:
            _check_target(table[target])
    apart = {target, belongs, *source.drop} - {None}
    X = table.drop(columns=[name for name in table.columns if name in apart])
    check_values(X, declared=kinds)
    schema = FeatureSchema.infer(X, kinds={name: kind for name, kind in kinds.items() if name in X.columns})
    y = None if target is None else table[target].to_numpy()
    groups = None if belongs is None else table[belongs].to_numpy()
    if source.model is not None:
        black_box = load_model(source.model, trust_model=source.trust_model)
        return Prepared(black_box, X, y, groups, row, schema, f"{source.model} on {len(X):,} rows")
    assert y is not None
    train, new = split_rows(len(X), 0.5, groups, random_state)
    if len(np.unique(y[train].astype(str))) < 2:
        raise CommandError(f"the rows drawn for training have one class of {target!r} only; more rows are needed.")
    black_box = BaggedTrees(schema, random_state, n_jobs).fit(take_rows(X, train), y[train])
    about = f"50 bagged trees, trained on {len(train):,} rows, on {len(new):,} rows that are new to them"
    own = None if groups is None else groups[new]
    # Of a model that was trained here it is known that these rows are new to it, however well it does on them.
    return Prepared(black_box, take_rows(X, new), None, own, row[new], schema, about)


def _check_target(target: pd.Series) -> None:
    n_classes = target.nunique()
    if n_classes < 2:
        raise CommandError(
            f"the target {target.name!r} has one class, {target.iloc[0]!r}: there is nothing to tell apart."
        )
    if n_classes > MOST_CLASSES:
        raise CommandError(
            f"the target {target.name!r} has {n_classes:,} different values, which looks like a measurement or a name; "
            f"classes are expected, at most {MOST_CLASSES}."
        )


def read_kinds(words: str) -> Mapping[str, str]:
    """Return the kinds that ``--kinds`` declares.

    Examples
    --------
    >>> dict(read_kinds("age=integer,sex=binary"))
    {'age': 'integer', 'sex': 'binary'}
    """
    kinds = {}
    for part in filter(None, words.split(",")):
        name, equals, kind = part.rpartition("=")
        if not equals or kind not in set(Kind):
            raise CommandError(
                f"--kinds {part} is not understood: write column=kind, with one of {', '.join(Kind)}.", ExitCode.USAGE
            )
        kinds[name] = kind
    return kinds
