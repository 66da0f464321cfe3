"""LIME's explainer: one sparse linear model per class, fitted with more weight on draws near the center."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from oleander.arrays import Floats, Ints, Labels
from oleander.data.schema import Feature, FeatureSchema
from oleander.explainers.base import Rule, encode_labels, read_labels, write_labels


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
            return f"{self.weight:+.3g} for each {feature.scale:.4g} of {feature.name} over {reference}"
        return f"{self.weight:+.3g} if {feature.name} is {reference}"


@dataclass(frozen=True)
class Contribution:
    """What one feature of one row adds to the score of the answer."""

    feature: Feature
    value: float
    amount: float

    def __str__(self) -> str:
        return f"{self.feature.name} = {self.feature.describe_value(self.value)} ({self.amount:+.3g})"


@dataclass
class LimeLinear:
    """A ridge regression per class on the draws, weighted by LIME's kernel, with few features each.

    Numbers are in units of the schema's scales; levels are 1 where they equal the center's, and 0 elsewhere. The class
    with the highest score is the answer.

    Parameters
    ----------
    n_features : int or None
        The most features of each class: those with the largest weights in a first fit on all features.
    kernel_width : float or None
        None is LIME's default, 0.75 times the root of the number of features.
    ridge : float

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 3))
    >>> schema = FeatureSchema.infer(X)
    >>> linear = LimeLinear(n_features=1).fit(schema.encode(X), X[:, 1] > 0.5, schema=schema)
    >>> linear.features
    (1,)
    """

    n_features: int | None = 10
    kernel_width: float | None = None
    ridge: float = 1.0
    classes_: Labels | None = field(default=None, init=False, repr=False)

    def fit(self, draws: Floats, labels: Labels, *, schema: FeatureSchema, center: Floats | None = None) -> Self:
        """Fit one linear model per class; without a center, the middle of the draws is taken."""
        classes, codes = encode_labels(labels)
        self._schema = schema
        middle = _middle(draws, schema, center)
        # Numbers are measured from the middle of their bounds, so that no explainer holds the numbers of a row.
        self._reference = middle.copy()
        self._reference[schema.numbers] = [(schema[j].lower + schema[j].upper) / 2 for j in schema.numbers]
        features = self._inputs(draws)
        width = self.kernel_width or 0.75 * np.sqrt(len(schema))
        offsets = features - self._inputs(middle[None, :])
        # LIME takes the root of its own kernel.
        weights = np.exp(np.einsum("ij,ij->i", offsets, offsets) / (-2 * width**2))
        targets = (codes[:, None] == np.arange(len(classes))).astype(float)
        self._coefficients, self._intercepts = self._fit_classes(features, targets, weights)
        self.classes_, self._n_draws = classes, len(draws)
        self._share = float(((features @ self._coefficients + self._intercepts).argmax(axis=1) == codes).mean())
        return self

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

    def _inputs(self, rows: Floats) -> Floats:
        """Return rows as inputs of the models: numbers in scaled units, equality for levels, 0 for a missing number."""
        inputs = np.empty(rows.shape, order="F")
        for j, feature in enumerate(self._schema):
            values, middle = rows[:, j], self._reference[j]
            if feature.is_number:
                np.subtract(values, middle, out=inputs[:, j])
                inputs[:, j] /= feature.scale
                if feature.missing:
                    inputs[np.isnan(values), j] = 0.0
            else:
                inputs[:, j] = (values == middle) | (np.isnan(values) & np.isnan(middle))
        return inputs

    def predict(self, rows: Floats) -> Labels:
        """Return the class with the highest score."""
        classes = self._fitted()
        labels: Labels = classes[self.scores(rows).argmax(axis=1)]
        return labels

    def scores(self, rows: Floats) -> Floats:
        """Return each class's score, about 1 for the answer, of shape (n_rows, n_classes)."""
        self._fitted()
        inputs = self._inputs(rows)
        scores: Floats = np.tile(self._intercepts, (len(rows), 1))
        # Column by column: a product of matrices rounds otherwise for one row than for many, and exports add like this.
        for j in self.used.tolist():
            scores += inputs[:, j, None] * self._coefficients[j]
        return scores

    @property
    def used(self) -> Ints:
        """The columns with a weight in any class, in the order in which scores add them."""
        return np.flatnonzero(self.weights.any(axis=1))

    @property
    def intercepts(self) -> Floats:
        """The score of each class at the reference, before levels add to it."""
        self._fitted()
        return self._intercepts

    @property
    def reference(self) -> Floats:
        """The encoded row that numbers are measured from and levels are compared with."""
        self._fitted()
        return self._reference

    @property
    def weights(self) -> Floats:
        """The weight of each feature for each class, of shape (n_features, n_classes)."""
        self._fitted()
        return self._coefficients

    @property
    def features(self) -> tuple[int, ...]:
        """The columns with a weight in any class, the largest weight first."""
        self._fitted()
        largest = np.abs(self._coefficients).max(axis=1)
        order = np.argsort(-largest, kind="stable")
        return tuple(int(j) for j in order if largest[j] > 0)

    @property
    def complexity(self) -> int:
        """The number of weights to read; two classes count one model, since the other is its mirror."""
        classes = self._fitted()
        models = self._coefficients[:, :1] if len(classes) == 2 else self._coefficients
        return max(1, int(np.count_nonzero(models)))

    def rules(self) -> list[Rule]:
        """Return one rule per class: its weights, the largest first."""
        classes = self._fitted()
        return [Rule(self._weights(k), label, self._n_draws, self._share) for k, label in enumerate(classes)]

    def _weights(self, k: int) -> tuple[Weight, ...]:
        column = self._coefficients[:, k]
        order = np.argsort(-np.abs(column), kind="stable")
        return tuple(
            Weight(self._schema[j], float(column[j]), float(self._reference[j])) for j in order if column[j] != 0
        )

    def path(self, row: Floats) -> Rule:
        """Return what each feature adds to the score of the answer, the largest first."""
        classes = self._fitted()
        inputs = self._inputs(row[None, :])
        k = int(self.scores(row[None, :]).argmax())
        amounts = inputs[0] * self._coefficients[:, k]
        order = np.argsort(-np.abs(amounts), kind="stable")
        terms = tuple(Contribution(self._schema[j], float(row[j]), float(amounts[j])) for j in order if amounts[j] != 0)
        return Rule(terms, classes[k], self._n_draws, self._share)

    def to_dict(self) -> dict[str, Any]:
        """Return the fitted models as plain data for JSON, which include the levels of the center."""
        return {
            "explainer": "linear",
            "classes": write_labels(self._fitted()),
            "reference": [None if np.isnan(value) else float(value) for value in self._reference],
            "coefficients": self._coefficients.tolist(),
            "intercepts": self._intercepts.tolist(),
            "n_draws": self._n_draws,
            "share": self._share,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Return the models that ``to_dict`` wrote; ``ValueError`` if the data are none."""
        reference = np.array([np.nan if value is None else float(value) for value in data["reference"]])
        schema.check_codes(reference)
        weights = np.array(data["coefficients"], dtype=float)
        intercepts = np.array(data["intercepts"], dtype=float)
        if not (np.isfinite(weights).all() and np.isfinite(intercepts).all()):
            raise ValueError("its weights are not finite numbers")
        return cls.from_weights(
            schema,
            read_labels(data["classes"]),
            weights,
            intercepts,
            reference=reference,
            n_draws=int(data["n_draws"]),
            share=float(data["share"]),
        )

    @classmethod
    def from_weights(
        cls,
        schema: FeatureSchema,
        classes: Labels,
        weights: Floats,
        intercepts: Floats,
        *,
        reference: Floats,
        n_draws: int = 0,
        share: float = 0.0,
    ) -> Self:
        """Return models that were fitted elsewhere.

        Parameters
        ----------
        schema : FeatureSchema
        classes : array of shape (n_classes,)
        weights : array of shape (n_features, n_classes)
            For each scale of a number's distance from the reference, or for a level equal to the reference.
        intercepts : array of shape (n_classes,)
        reference : array of shape (n_features,)
        n_draws, share
            The number of draws that it was fitted to, and the share of them on which it is right.
        """
        if (weights.shape, intercepts.shape, reference.shape) != (
            (len(schema), len(classes)),
            (len(classes),),
            (len(schema),),
        ):
            raise ValueError("its weights do not fit its columns and classes")
        linear = cls()
        linear._schema, linear.classes_, linear._reference = schema, classes, reference
        linear._coefficients, linear._intercepts = weights, intercepts
        linear._n_draws, linear._share = n_draws, share
        return linear

    def _fitted(self) -> Labels:
        if self.classes_ is None:
            raise NotFittedError("this LimeLinear is not fitted: call fit with draws and labels first.")
        return self.classes_


def _middle(draws: Floats, schema: FeatureSchema, center: Floats | None) -> Floats:
    """Return the center; the draws' median replaces a missing number, and without a center also the commonest level."""
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
