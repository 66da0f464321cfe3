"""A kind of explainer and a kind of region of one's own: each is one class, and everything else works with it."""

import sqlite3
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer
from oleander.candidates.base import Candidate
from oleander.rules import Box, Constant, Explainer, Region, Rule
from oleander.rules.conditions import Range, read_condition
from tests.making import Guess

X = pd.DataFrame(np.random.default_rng(0).uniform(size=(400, 2)).round(3), columns=["dose", "age"])


def black_box(table):
    return np.where(table["dose"] > 0.4, "high", "low")


@dataclass(frozen=True)
class Threshold(Explainer, saved_as="test threshold"):
    """One of two labels, by one condition: an explainer that can be exported and saved."""

    is_plain = True

    condition: Range
    labels: tuple[str, str]

    def predict(self, rows):
        return np.where(self.condition.contains(rows), *self.labels)

    @property
    def features(self):
        return (self.condition.column,)

    def rules(self):
        return [Rule((self.condition,), self.labels[0], 1, 1.0), Rule((), self.labels[1], 1, 1.0)]

    def path(self, row):
        return self.rules()[int(not self.condition.contains(row[None])[0])]

    def find_rules(self, rows):
        return (~self.condition.contains(rows)).astype(np.intp)

    def to_dict(self):
        return {"condition": self.condition.to_dict(), "labels": list(self.labels)}

    @classmethod
    def from_dict(cls, data, schema):
        return cls(read_condition(data["condition"], schema), tuple(data["labels"]))


@dataclass(frozen=True)
class Diagonal(Region, saved_as="test diagonal"):
    """The rows whose values add up to at most a limit."""

    limit: float

    def contains(self, rows):
        return rows.sum(axis=1) <= self.limit

    def describe(self):
        return f"all values together at most {self.limit:g}"

    def to_dict(self):
        return {"limit": self.limit}

    @classmethod
    def from_dict(cls, data, schema):
        return cls(float(data["limit"]))


@dataclass(frozen=True)
class Propose:
    """A generator of one candidate."""

    region: Region

    def propose(self, rows, random_state, black_box):
        explainer = Threshold(Range(0, rows.schema[0], lower=0.4), ("high", "low"))
        return [Candidate(self.region, explainer=explainer, origin="own")]


def fit(region):
    options = {"candidates": Propose(region), "holdout": 0.25, "random_state": 0}
    return AggregateExplainer(black_box, **options).fit(X)


@pytest.fixture(scope="module")
def atlases():
    return {"box": fit(Box(())), "own region": fit(Diagonal(1.2))}


@pytest.mark.parametrize("name", ["box", "own region"])
def test_it_is_described_saved_and_read_back(atlases, name, tmp_path):
    atlas = atlases[name]
    assert "dose > 0.4 → high" in atlas.summary()
    assert [rule["name"] for rule in atlas.rules_frame().to_dict("records")] == ["rule 1", "rule 2"]
    atlas.report(tmp_path / "page.html")
    atlas.save(tmp_path / "atlas")
    loaded = AggregateExplainer.load(tmp_path / "atlas")
    assert type(loaded.explainers_[0].explainer) is Threshold
    np.testing.assert_array_equal(loaded.predict(X).filled("-"), atlas.predict(X).filled("-"))
    assert "would answer 'low' (rule 2) if dose = 0.4" in str(loaded.explain(X.iloc[0]))


def test_in_a_box_it_is_exported(atlases):
    connection = sqlite3.connect(":memory:")
    X.to_sql("data", connection, index=False)
    answers = [row[-1] for row in connection.execute(atlases["box"].to_sql("sqlite"))]
    connection.close()
    assert answers == atlases["box"].predict(X).tolist() == black_box(X).tolist()
    with pytest.raises(ValueError, match="explainer 1 has a region Diagonal, which cannot be exported"):
        atlases["own region"].to_sql()


def test_what_a_class_does_not_say_is_not_done():
    assert not Guess("yes").is_plain
    assert Guess("yes").form() == {"kind": "other"}
    assert Guess("yes").columns is None
    with pytest.raises(TypeError, match="a Guess cannot be saved: its class has no name in files"):
        Guess("yes").to_dict()


@pytest.mark.parametrize(("parent", "base"), [(Constant, "Explainer"), (Box, "Region")])
def test_a_class_derived_from_a_kind_would_be_taken_for_it(parent, base):
    with pytest.raises(TypeError, match=rf"Own derives from .* derive it from oleander.rules.{base}"):
        type("Own", (parent,), {})


def test_an_object_of_another_class_is_refused_at_once():
    with pytest.raises(TypeError, match=r"a str is no region: derive its class from oleander\.rules\.Region"):
        Candidate("here", explainer=Constant("yes"))
    with pytest.raises(TypeError, match=r"a str is no explainer: derive its class from oleander\.rules\.Explainer"):
        Candidate(Box(()), explainer="yes")
