import numpy as np
import pandas as pd

from oleander.data.schema import FeatureSchema
from oleander.filters import bin_codes


def test_numbers_have_bins_of_equal_width_and_levels_are_bins():
    X = pd.DataFrame({"x": [0.0, 0.9, 1.1, 2.0, 2.1, 3.0], "sex": list("MFFMMF"), "colour": list("abcabc")})
    schema = FeatureSchema.infer(X, kinds={"x": "continuous"})
    codes, n_codes = bin_codes(schema.encode(X), schema)
    assert codes.tolist() == [[0, 0, 1, 2, 2, 2], [1, 0, 0, 1, 1, 0], [0, 1, 2, 0, 1, 2]]
    assert n_codes.tolist() == [3, 2, 3]
    assert bin_codes(schema.encode(X), schema, n_bins=30)[0][0].tolist() == [0, 9, 11, 20, 21, 29]


def test_missing_is_a_bin_of_its_own():
    X = pd.DataFrame({"x": [5.5, None, 8.5, None], "colour": ["a", "b", None, "c"]})
    schema = FeatureSchema.infer(X)
    codes, n_codes = bin_codes(schema.encode(X), schema)
    assert codes.tolist() == [[0, 3, 2, 3], [0, 1, 3, 2]]
    assert n_codes.tolist() == [4, 4]


def test_draws_that_are_all_missing_or_all_equal():
    X = pd.DataFrame({"x": [5.5, None, 8.5], "y": [1.5, 2.5, 3.5]})
    schema = FeatureSchema.infer(X)
    codes, _ = bin_codes(np.array([[np.nan, 2.0], [np.nan, 2.0]]), schema)
    assert codes.tolist() == [[3, 3], [0, 0]]
