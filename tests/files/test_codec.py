import json
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
import pytest

from oleander.files.codec import Saved, read_fields, write_fields


@dataclass(frozen=True)
class Part(Saved):
    size: float = 1.0

    def check_read(self):
        if self.size < 0:
            raise ValueError("a part of no size")


@dataclass(frozen=True)
class Whole(Saved):
    count: int
    share: float
    is_open: bool
    unit: Literal["rows", "groups"]
    label: Any
    name: Annotated[str, str.upper]
    first: Part | None
    parts: tuple[Part, ...]
    counts: tuple[tuple[int, ...], ...] = ()
    private: Any = field(default=None, compare=False)


WHOLE = Whole(3, 0.5, True, "rows", "a", "NAME", Part(float("inf")), (Part(), Part(2.0)), ((1, 2), ()))


@pytest.mark.parametrize("whole", [WHOLE, Whole(0, -float("inf"), False, "groups", None, "", None, ())])
def test_what_is_written_is_read(whole):
    assert Whole.from_dict(json.loads(json.dumps(whole.to_dict(), allow_nan=False))) == whole


def test_a_private_field_is_not_written():
    assert "private" not in Whole(1, 0.5, True, "rows", "a", "", None, (), private="secret").to_dict()


def test_what_is_not_a_number_is_none():
    assert Part(float("nan")).to_dict() == {"size": None}
    assert np.isnan(Part.from_dict({"size": None}).size)
    assert type(Part(np.float64(2)).to_dict()["size"]) is float


def test_fields_may_be_given():
    content = write_fields(WHOLE, first=[1, 2])
    assert content["first"] == [1, 2]
    assert read_fields(Whole, content, first=None).first is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": True}, "count=True is not allowed: it needs a int"),
        ({"count": 2.0}, "count=2.0 is not allowed"),
        ({"share": "much"}, "share='much' is not allowed: it needs a number"),
        ({"share": False}, "share=False is not allowed"),
        ({"is_open": 1}, "is_open=1 is not allowed"),
        ({"unit": "people"}, "unit='people' is not known; use 'rows' or 'groups'"),
        ({"unit": []}, "unit=.* is not known"),
        ({"parts": "ab"}, "parts is a str, where a list is needed"),
        ({"parts": [3]}, "a Part is no int"),
        ({"first": {"size": -1}}, "a part of no size"),
        ({"counts": [[1], 2]}, "counts is a int, where a list is needed"),
    ],
)
def test_content_of_another_form_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Whole.from_dict({**WHOLE.to_dict(), **change})


def test_a_missing_field_is_refused():
    content = WHOLE.to_dict()
    del content["counts"]
    with pytest.raises(KeyError, match="counts"):
        Whole.from_dict(content)
