import numpy as np
import pandas as pd
import pytest

from oleander.data.schema import FeatureSchema, Kind


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0.1, 0.2, 0.4], Kind.CONTINUOUS),
        ([1.5, 1.5, 2.5], Kind.CONTINUOUS),
        ([1, 2, 3], Kind.INTEGER),
        ([1.0, 2.0, None], Kind.BINARY),
        ([1.0, 2.0, 4.0, None], Kind.INTEGER),
        ([7, 7, 7], Kind.INTEGER),
        ([0, 1, 1], Kind.BINARY),
        ([0.0, 1.0, 1.0], Kind.BINARY),
        ([True, False], Kind.BINARY),
        ([True, True], Kind.CATEGORICAL),
        (["a", "b", "c"], Kind.CATEGORICAL),
        (["a", "b", None], Kind.BINARY),
        (pd.Categorical([1, 2], categories=[1, 2, 3]), Kind.CATEGORICAL),
    ],
)
def test_kind_is_inferred(values, kind):
    assert FeatureSchema.infer(pd.DataFrame({"x": values}))[0].kind is kind


@pytest.mark.parametrize(
    ("scale", "expected"), [("none", 1.0), ("std", np.std([0.5, 1, 2, 9])), ("iqr", 2.875), ("range", 8.5)]
)
def test_scale(scale, expected):
    assert FeatureSchema.infer(np.array([[0.5], [1], [2], [9]]), scale=scale)[0].scale == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": {"hight": "integer"}}, "kinds names column 'hight'"),
        ({"kinds": {"age": "numeric"}}, "column 'age' is declared as 'numeric'; the kinds are continuous, integer"),
        ({"kinds": {"age": "binary"}}, "column 'age' cannot be binary: it has"),
        ({"kinds": {"grade": "integer"}}, "column 'grade' has dtype category"),
        ({"kinds": {"colour": "integer"}}, "column 'colour' is integer, but row 0 holds"),
        ({"scale": "metres"}, "scale='metres' is not known; use one of none, std"),
    ],
)
def test_bad_declarations(mixed, options, message):
    with pytest.raises(ValueError, match=message):
        FeatureSchema.infer(mixed, **options)
