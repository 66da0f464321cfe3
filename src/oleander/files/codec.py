"""Dataclasses to plain data for JSON and back, driven by the types of their fields: data only, never code.

NaN is None and infinity a string, since JSON has no word for them. What is read is checked against the type of its
field; a field that is annotated with a function, ``Annotated[int, read_count]``, is read by this function. A field that
takes no part in comparisons is private, and never written.
"""

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from math import isinf, isnan
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Self, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

T = TypeVar("T")


class Saved:
    """A dataclass whose fields alone say how it is written and read."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return write_fields(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote; ``ValueError`` for what no fit makes."""
        record = read_fields(cls, data)
        record.check_read()
        return record

    def check_read(self) -> None:
        """Raise ``ValueError`` for values that do not belong together."""


def write_fields(record: Any, **given: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as plain data, some of which are given."""
    names = (field.name for field in fields(record) if field.compare)
    return {name: given[name] if name in given else _write(getattr(record, name)) for name in names}


def read_fields(kind: type[T], data: dict[str, Any], **given: Any) -> T:
    """Return a dataclass from the plain data of its fields, some of which are given as they are."""
    if not isinstance(data, dict):
        raise ValueError(f"a {kind.__name__} is no {type(data).__name__}")
    record: Any = kind
    hints, names = _find_hints(record), [field.name for field in fields(record) if field.compare]
    return kind(**{name: given[name] if name in given else _read(name, hints[name], data[name]) for name in names})


@cache
def _find_hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _write(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not isinstance(value, bool):
        return None if isnan(value) else str(value) if isinf(value) else value
    return [_write(one) for one in value] if isinstance(value, (tuple, list)) else value


def _read(name: str, hint: Any, data: Any) -> Any:
    kind, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return data
    if kind in (Union, UnionType):
        (other,) = (part for part in parts if part is not NoneType)
        return None if data is None else _read(name, other, data)
    if kind is Annotated:
        read: Callable[[Any], Any] = parts[1]
        return read(data)
    if kind is Literal:
        if data not in parts:
            raise ValueError(f"{name}={data!r} is not known; use {' or '.join(map(repr, parts))}")
        return data
    if kind is tuple:
        if not isinstance(data, list):
            raise ValueError(f"{name} is a {type(data).__name__}, where a list is needed")
        return tuple(_read(name, parts[0], one) for one in data)
    if hint is float:
        if data is None:
            return float("nan")
        if isinstance(data, bool) or (not isinstance(data, (int, float)) and data not in ("inf", "-inf")):
            raise ValueError(f"{name}={data!r} is not allowed: it needs a number")
        return float(data)
    if hint in (bool, int, str):
        # A truth value is no number.
        if type(data) is not hint:
            raise ValueError(f"{name}={data!r} is not allowed: it needs a {hint.__name__}")
        return data
    return hint.from_dict(data)
