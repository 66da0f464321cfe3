"""Checks of users' input, with one sentence for a value that is not allowed."""

from collections.abc import Callable, Collection, Iterable
from typing import Annotated, Any

import numpy as np

from oleander.arrays import Labels
from oleander.messages import list_some

# Whole numbers beyond this may be rounded to a float: 2^53 + 1 becomes 2^53.
MOST_EXACT = 2.0**53 - 1


def make_seed(random_state: int | None) -> int:
    """Return the seed that was given, or a new random one."""
    return int(np.random.SeedSequence().generate_state(1)[0]) if random_state is None else int(random_state)


def one_per_row(values: Any, n_rows: int, name: str) -> Labels:
    """Return values as an array, or raise ``ValueError`` unless there is one for each row."""
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(f"{name} is a masked array, whose mask would be lost: leave out the masked rows.")
    array = np.asarray(values)
    if array.shape != (n_rows,):
        raise ValueError(f"{name} has shape {array.shape}; one entry for each of {n_rows} rows is expected.")
    return array


def names_of_columns(**given: Any) -> list[str]:
    """Return the names of columns that were given, or raise ``ValueError`` for anything else."""
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise ValueError(
                f"{name} is a {type(value).__name__}; where rows are read block by block it must be the name of one "
                "of their columns."
            )
    return [value for value in given.values() if value is not None]


def refuse_absent(
    what: str, wanted: Iterable[Any], present: Collection[Any], error: type[ValueError] = ValueError
) -> None:
    """Raise an error that names the first of the wanted columns that is lacking."""
    for name in wanted:
        if name not in present:
            raise error(f"{what} lacks column {name!r}; it has {list_some(present) or 'no names'}.")


def read_count(value: Any) -> int:
    """Return a count from a file, or raise ``ValueError`` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_EXACT:
        raise ValueError("a count is a whole number from 0 to 2^53 - 1")
    return value


def read_share(value: Any) -> float:
    """Return a share from a file, NaN for None, or raise ``ValueError`` for anything else."""
    share = float("nan" if value is None else value)
    if share < 0 or share > 1:
        raise ValueError("a share is a number from 0 to 1")
    return share


# The types of fields of saved records.
Count = Annotated[int, read_count]
Share = Annotated[float, read_share]


def check_count(name: str, value: Any, least: int = 1, *, or_none: bool = False) -> None:
    """Raise ``ValueError`` unless the value is a whole number of at least ``least``, or None where that is allowed."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    _check(name, value, is_whole and value >= least, f"a whole number, {least} or more", or_none)


def check_positive(name: str, value: Any, *, or_none: bool = False) -> None:
    """Raise ``ValueError`` unless the value is a number over 0, or None where that is allowed."""
    _check(name, value, is_number(value) and value > 0, "a number over 0", or_none)


def check_share(name: str, value: Any, *, with_zero: bool = False, with_one: bool = False) -> None:
    """Raise ``ValueError`` unless the value is a number between 0 and 1, with the ends that are allowed."""
    is_share = is_number(value) and (0 < value < 1 or (with_zero and value == 0) or (with_one and value == 1))
    ends = f"{'of at least' if with_zero else 'over'} 0 and {'up to' if with_one else 'under'} 1"
    _check(name, value, is_share, f"a number {ends}")


def is_number(value: Any) -> bool:
    """Return whether a value is a number, and not a truth value."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _check(name: str, value: Any, is_allowed: Any, words: str, or_none: bool = False) -> None:
    if not is_allowed and not (value is None and or_none):
        raise ValueError(f"{name}={value!r} is not allowed: give {words}{', or None' if or_none else ''}.")


def check_choice(name: str, value: Any, known: tuple[str, ...]) -> None:
    """Raise ``ValueError`` naming the known words, unless the value is one of them."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name}={value!r} is not known; use {' or '.join(repr(word) for word in known)}.")


def check_each(name: str, values: Any, check: Callable[..., None], **options: Any) -> None:
    """Raise ``ValueError`` unless there is a sequence of at least one value and every value passes the check."""
    several = [] if isinstance(values, str) or not np.iterable(values) else list(values)
    if not several:
        raise ValueError(f"{name}={values!r} is not allowed: give a sequence of at least one value.")
    for value in several:
        check(name, value, **options)
