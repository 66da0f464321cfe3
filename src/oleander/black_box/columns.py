"""The columns that a black box reads, by the names that it was fitted with."""

import re
from typing import Any

from oleander.data.frames import columns_of, select_columns
from oleander.running.warning import warn_user
from oleander.running.wording import list_some

# LightGBM and XGBoost name the columns of an array themselves.
MADE_UP = re.compile(r"Column_\d+|f\d+")


def columns_read_by(model: Any) -> tuple[str, ...] | None:
    """Return the names of the columns that a model was fitted on, in its order; None where it has no names.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [61, 58], "dose": [1, 2]})
    >>> columns_read_by(DecisionTreeClassifier().fit(X, [0, 1])), columns_read_by(len)
    (('age', 'dose'), None)
    """
    names = getattr(model, "feature_names_in_", None)
    if names is None or isinstance(model, type):
        return None
    columns = tuple(str(name) for name in names)
    return None if not columns or all(MADE_UP.fullmatch(name) for name in columns) else columns


def match_columns(names: tuple[str, ...], given: list[Any]) -> list[Any]:
    """Return the given columns that a model reads, in its order; ``ValueError`` names all that are missing.

    LightGBM writes spaces in names as underscores, so a column is also found by that spelling.

    Parameters
    ----------
    names : tuple of str
        The columns that the model reads.
    given : list
        The columns of the data.

    Examples
    --------
    >>> match_columns(("dose", "mean_age"), ["mean age", "dose", "risk"])
    ['dose', 'mean age']
    """
    spelled = {re.sub(r"\s", "_", str(name)): name for name in given} | {str(name): name for name in given}
    absent = [name for name in names if name not in spelled]
    if absent:
        raise ValueError(
            f"the black box was fitted on {len(names)} columns, of which the data lack {list_some(absent)}. "
            "If it renames columns itself, give it as a function: lambda X: model.predict(X)."
        )
    return [spelled[name] for name in names]


def keep_columns(X: Any, model: Any, *, warns: bool = True) -> Any:
    """Return the columns of a frame that the model reads, in its order, with a warning that names the others.

    A column that the model never reads cannot explain it: the true label among the columns would stand in every rule.
    X is returned as it is where it, or the model, has no names of columns.
    """
    names, given = columns_read_by(model), columns_of(X)
    if names is None or given is None:
        return X
    read = match_columns(names, given)
    unread = [name for name in given if name not in read]
    if unread and warns:
        warn_user(f"columns that the black box was not fitted on are left out: {list_some(unread)}.")
    return X if read == given else select_columns(X, read)
