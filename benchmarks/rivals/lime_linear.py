"""LIME's local explainer: a linear model per class, sparse, with more weight on draws near the center.

The paper compares with it (its figures call it "unfiltered").
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from oleander.arrays import Floats, Ints, Labels
from oleander.black_box.answers import read_labels, write_labels
from oleander.data.checks import read_count
from oleander.data.schema import Feature, FeatureSchema
from oleander.rules.base import Explainer, Rule, encode_labels, read_numbers, write_numbers


@dataclass(frozen=True)
class Weight:
    """What one feature adds to the score of a class; a missing reference is for whether the value is missing.

    Examples
    --------
    >>> from oleander.data.schema import Kind
    >>> age = Feature("age", Kind.INTEGER, "int64", lower=18, upper=90, scale=12.5)
    >>> print(Weight(age, 0.25, reference=60.0))
    +0.25 for each 12.5 of age over 60
    """

    feature: Feature
    weight: float
    reference: float

    def __str__(self) -> str:
        feature, reference = self.feature, self.feature.describe_value(self.reference)
        if feature.is_number and not np.isnan(self.reference):
            return f"{self.weight:+.3g} for each {feature.scale:.4g} of {feature.shown} over {reference}"
        return f"{self.weight:+.3g} if {feature.shown} is {reference}"


@dataclass(frozen=True)
class Contribution:
    """What one feature of one row adds to the score of the answer."""

    feature: Feature
    value: float
    amount: float

    def __str__(self) -> str:
        return f"{self.feature.shown} = {self.feature.describe_value(self.value)} ({self.amount:+.3g})"


@dataclass(frozen=True, eq=False)
class Linear(Explainer, saved_as="linear"):
    """One linear model per class. The class with the highest score is the answer, the first of equal ones."""

    schema: FeatureSchema
    # Of shape (n_classes,).
    classes: Labels
    # For each scale of a number's distance from the reference, or for a level equal to the reference, of shape
    # (n_features, n_classes).
    weights: Floats
    # Of shape (n_classes,).
    intercepts: Floats
    # The encoded row that numbers are measured from and levels are compared with, of shape (n_features,).
    reference: Floats
    # The number of draws that it was fitted to, and the share of them on which it is correct.
    n_draws: int = 0
    share: float = 0.0

    def __post_init__(self) -> None:
        n_features, n_classes = len(self.schema), len(self.classes)
        given = self.weights.shape, self.intercepts.shape, self.reference.shape
        if given != ((n_features, n_classes), (n_classes,), (n_features,)):
            raise ValueError("its weights do not fit its columns and classes")

    def predict(self, rows: Floats) -> Labels:
        """Return the class with the highest score."""
        labels: Labels = self.classes[self.scores(rows).argmax(axis=1)]
        return labels

    def scores(self, rows: Floats) -> Floats:
        """Return each class's score, about 1 for the answer, of shape (n_rows, n_classes)."""
        inputs = _make_inputs(rows, self.schema, self.reference)
        scores: Floats = np.tile(self.intercepts, (len(rows), 1))
        # Column by column: a product of matrices rounds otherwise for one row than for many.
        for j in np.flatnonzero(self.weights.any(axis=1)).tolist():
            scores += inputs[:, j, None] * self.weights[j]
        return scores

    @property
    def features(self) -> tuple[int, ...]:
        """The columns with a weight in any class, the largest weight first."""
        largest = np.abs(self.weights).max(axis=1)
        order = np.argsort(-largest, kind="stable")
        return tuple(int(j) for j in order if largest[j] > 0)

    @property
    def complexity(self) -> int:
        """The number of weights to read; two classes count one model, since the other is its mirror."""
        models = self.weights[:, :1] if len(self.classes) == 2 else self.weights
        return max(1, int(np.count_nonzero(models)))

    def rules(self) -> list[Rule]:
        """Return one rule per class: its weights, the largest first."""
        return [Rule(self._list_weights(k), label, self.n_draws, self.share) for k, label in enumerate(self.classes)]

    def _list_weights(self, k: int) -> tuple[Weight, ...]:
        column = self.weights[:, k]
        order = np.argsort(-np.abs(column), kind="stable")
        return tuple(
            Weight(self.schema[j], float(column[j]), float(self.reference[j])) for j in order if column[j] != 0
        )

    def path(self, row: Floats) -> Rule:
        """Return what each feature adds to the score of the answer, the largest first."""
        k = int(self.scores(row[None, :]).argmax())
        amounts = _make_inputs(row[None, :], self.schema, self.reference)[0] * self.weights[:, k]
        order = np.argsort(-np.abs(amounts), kind="stable")
        terms = tuple(Contribution(self.schema[j], float(row[j]), float(amounts[j])) for j in order if amounts[j] != 0)
        return Rule(terms, self.classes[k], self.n_draws, self.share)

    def find_rules(self, rows: Floats) -> Ints:
        """Return the position of the class with the highest score."""
        return np.asarray(self.scores(rows).argmax(axis=1))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, which include the levels of the center."""
        return {
            "classes": write_labels(self.classes),
            "reference": write_numbers(self.reference),
            "coefficients": self.weights.tolist(),
            "intercepts": self.intercepts.tolist(),
            "n_draws": self.n_draws,
            "share": self.share,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Return the models that ``to_dict`` wrote; ``ValueError`` if the data are none."""
        reference = read_numbers(data["reference"])
        schema.check_codes(reference)
        weights, intercepts = (np.array(data[name], dtype=float) for name in ("coefficients", "intercepts"))
        if not (np.isfinite(weights).all() and np.isfinite(intercepts).all()):
            raise ValueError("its weights are not finite numbers")
        counts = read_count(data["n_draws"]), float(data["share"])
        return cls(schema, read_labels(data["classes"]), weights, intercepts, reference, *counts)


@dataclass
class LimeLinear:
    """LIME's fit: a ridge regression per class on the draws, weighted by LIME's kernel, with few features each.

    Numbers are in units of the schema's scales; levels are 1 where they equal the center's, and 0 elsewhere.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 3))
    >>> schema = FeatureSchema.infer(X)
    >>> linear = LimeLinear(n_features=1).fit(schema.encode(X), X[:, 1] > 0.5, schema=schema)
    >>> linear.features
    (1,)
    """

    # The maximum number of features of each class: those with the largest weights in a first fit on all features.
    n_features: int | None = 10
    # None is LIME's default, 0.75 times the root of the number of features.
    kernel_width: float | None = None
    ridge: float = 1.0

    def fit(self, draws: Floats, labels: Labels, *, schema: FeatureSchema, center: Floats | None = None) -> Linear:
        """Return one linear model per class; without a center, the middle of the draws is taken."""
        classes, codes = encode_labels(labels)
        middle = _find_middle(draws, schema, center)
        # Numbers are measured from the middle of their bounds, so that no explainer holds the numbers of a row.
        reference = middle.copy()
        reference[schema.numbers] = [(schema[j].lower + schema[j].upper) / 2 for j in schema.numbers]
        inputs = _make_inputs(draws, schema, reference)
        width = self.kernel_width or 0.75 * np.sqrt(len(schema))
        offsets = inputs - _make_inputs(middle[None, :], schema, reference)
        # LIME takes the root of its own kernel.
        nearness = np.exp(np.einsum("ij,ij->i", offsets, offsets) / (-2 * width**2))
        targets = (codes[:, None] == np.arange(len(classes))).astype(float)
        weights, intercepts = self._fit_classes(inputs, targets, nearness)
        share = float(((inputs @ weights + intercepts).argmax(axis=1) == codes).mean())
        return Linear(schema, classes, weights, intercepts, reference, len(draws), share)

    def _fit_classes(self, features: Floats, targets: Floats, weights: Floats) -> tuple[Floats, Floats]:
        n_columns, n_classes = features.shape[1], targets.shape[1]
        if n_classes == 1:
            return np.zeros((n_columns, 1)), np.ones(1)
        means, target_means = weights @ features / weights.sum(), weights @ targets / weights.sum()
        centered = features - means
        weighted = centered * weights[:, None]
        gram = weighted.T @ centered
        moments = weighted.T @ (targets - target_means)
        full = np.linalg.solve(gram + self.ridge * np.eye(n_columns), moments)
        varies = np.ptp(features, axis=0) > 0
        kept = n_columns if self.n_features is None else min(self.n_features, n_columns)
        coefficients = np.zeros_like(full)
        for k in range(n_classes):
            # The largest weights come first, the first of equals; a column that does not vary is useless.
            top = np.argsort(-np.abs(full[:, k]), kind="stable")
            top = top[varies[top]][:kept]
            system = gram[np.ix_(top, top)] + self.ridge * np.eye(len(top))
            coefficients[top, k] = np.linalg.solve(system, moments[top, k])
        return coefficients, target_means - means @ coefficients


def _make_inputs(rows: Floats, schema: FeatureSchema, reference: Floats) -> Floats:
    """Return rows as inputs of the models: numbers in scaled units, equality for levels, 0 for a missing number."""
    inputs = np.empty(rows.shape, order="F")
    for j, feature in enumerate(schema):
        values, middle = rows[:, j], reference[j]
        if feature.is_number:
            np.subtract(values, middle, out=inputs[:, j])
            inputs[:, j] /= feature.scale
            if feature.missing:
                inputs[np.isnan(values), j] = 0.0
        else:
            inputs[:, j] = (values == middle) | (np.isnan(values) & np.isnan(middle))
    return inputs


def _find_middle(draws: Floats, schema: FeatureSchema, center: Floats | None) -> Floats:
    """Return the center with the median in place of a missing number; without one, also the most frequent levels."""
    middle = np.full(draws.shape[1], np.nan) if center is None else center.copy()
    for j in np.flatnonzero(np.isnan(middle)).tolist():
        feature, present = schema[j], draws[~np.isnan(draws[:, j]), j]
        if not len(present):
            continue
        if feature.is_number:
            middle[j] = np.median(present)
        elif center is None:
            middle[j] = np.bincount(present.astype(np.intp)).argmax()
    return middle
