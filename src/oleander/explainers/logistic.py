"""Sparse logistic regression: a few weights that say how likely each label is, and silence where none is likely."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import chdtri, softmax
from sklearn.exceptions import NotFittedError

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.schema import Feature, FeatureSchema, Kind
from oleander.explainers.base import Rule, encode_labels, read_labels, write_labels
from oleander.explainers.growth import readable_step
from oleander.explainers.linear import Contribution, Weight

# An input is taken if its score test is significant at this level, shared among the inputs in the race.
ALPHA = 1e-3
N_QUICK_STEPS = 2
LONGEST_STEP = 2.0


@dataclass(frozen=True)
class Input:
    """What the model sees of a column: a number from a reference on, or whether a level is the reference.

    Parameters
    ----------
    column : int
    reference : float
        Of a number, where it counts from; of a level, its code. NaN asks whether the value is missing.
    """

    column: int
    reference: float

    def is_amount(self, feature: Feature) -> bool:
        """Whether the input is a number and not a yes or no."""
        return feature.is_number and not np.isnan(self.reference)

    def read(self, rows: Floats, schema: FeatureSchema) -> Floats:
        """Return the input of some rows: in scales of the column, or 0 and 1. A missing number counts as 0."""
        values, feature = rows[:, self.column], schema[self.column]
        if self.is_amount(feature):
            return np.nan_to_num((values - self.reference) / feature.scale, nan=0.0)
        same = np.isnan(values) if np.isnan(self.reference) else values == self.reference
        return same.astype(float)


@dataclass
class SparseLogistic:
    """A logistic regression on few inputs, taken one by one while they tell significantly more.

    Numbers are measured in units of the schema's scales; each level, and a missing value, is a yes or no of its own.

    Parameters
    ----------
    n_features : int
        How many inputs it may look at; all labels share them.
    min_probability : float or None
        It speaks where it gives its label at least this probability; None means everywhere.
    ridge : float
        Keeps weights finite where labels can be told apart without error.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(2000, 3))
    >>> schema = FeatureSchema.infer(X)
    >>> careful = SparseLogistic(min_probability=0.9).fit(X, X[:, 1] + X[:, 2] > 1, schema=schema)
    >>> sorted(careful.features)
    [1, 2]
    >>> careful.speaks(np.array([[0.5, 0.9, 0.9], [0.5, 0.5, 0.5]])).tolist()
    [True, False]
    """

    n_features: int = 8
    min_probability: float | None = None
    ridge: float = 1.0
    classes_: Labels | None = field(default=None, init=False, repr=False)

    def fit(self, draws: Floats, labels: Labels, *, schema: FeatureSchema, center: Floats | None = None) -> Self:
        """Take inputs one by one and fit their weights; ``center`` is not used."""
        _check(self.n_features, self.min_probability)
        classes, codes = encode_labels(labels)
        inputs = _list_inputs(draws, schema)
        seen = np.column_stack([one.read(draws, schema) for one in inputs]) if inputs else np.empty((len(draws), 0))
        chosen, weights, intercepts = fit_sparse(seen, codes, len(classes), self.n_features, self.ridge)
        self._set(schema, classes, tuple(inputs[j] for j in chosen), weights, intercepts)
        probabilities = self.probabilities(draws)
        spoken = self._is_sure(probabilities)
        self._n_draws = int(spoken.sum())
        self._share = float((probabilities.argmax(axis=1) == codes)[spoken].mean()) if self._n_draws else 0.0
        return self

    def _set(
        self, schema: FeatureSchema, classes: Labels, inputs: tuple[Input, ...], weights: Floats, intercepts: Floats
    ) -> None:
        self._schema, self.classes_, self._inputs = schema, classes, inputs
        self._weights, self._intercepts = weights, intercepts

    def probabilities(self, rows: Floats) -> Floats:
        """Return how likely each label is, of shape (n_rows, n_classes)."""
        self._fitted()
        likely: Floats = softmax(self._see(rows) @ self._weights + self._intercepts, axis=1)
        return likely

    def _see(self, rows: Floats) -> Floats:
        seen = np.empty((len(rows), len(self._inputs)))
        for j, one in enumerate(self._inputs):
            seen[:, j] = one.read(rows, self._schema)
        return seen

    def predict(self, rows: Floats) -> Labels:
        """Return the likeliest labels, whether it would say them or not."""
        classes = self._fitted()
        labels: Labels = classes[self.probabilities(rows).argmax(axis=1)]
        return labels

    def speaks(self, rows: Floats) -> Bools:
        """Return on which rows it is sure enough."""
        return self._is_sure(self.probabilities(rows))

    def _is_sure(self, probabilities: Floats) -> Bools:
        if self.min_probability is None:
            return np.ones(len(probabilities), dtype=bool)
        sure: Bools = probabilities.max(axis=1) >= self.min_probability
        return sure

    def describe_silence(self) -> str:
        """Say how sure it must be."""
        if self.min_probability is None:
            return "silent nowhere"
        return f"silent where no label has a probability of {self.min_probability:.0%}"

    @property
    def features(self) -> tuple[int, ...]:
        """The columns that it looks at, the most telling first."""
        self._fitted()
        return tuple(dict.fromkeys(one.column for one in self._inputs))

    @property
    def complexity(self) -> int:
        """The number of weights to read; two labels have one set, since the other is its mirror."""
        n_classes = len(self._fitted())
        return max(1, len(self._inputs) * (1 if n_classes == 2 else n_classes))

    def rules(self) -> list[Rule]:
        """Return one rule per label: its weights, the largest first."""
        classes = self._fitted()
        return [self._rule(k, label) for k, label in enumerate(classes)]

    def _rule(self, k: int, label: Any) -> Rule:
        weights = self._weights[:, k]
        order = np.argsort(-np.abs(weights), kind="stable")
        pairs = [(self._inputs[j], float(weights[j])) for j in order]
        terms = tuple(Weight(self._schema[one.column], weight, one.reference) for one, weight in pairs)
        return Rule(terms, label, self._n_draws, self._share)

    def path(self, row: Floats) -> Rule:
        """Return what each input adds to the likeliest label's score, the largest first."""
        classes = self._fitted()
        seen = self._see(row[None, :])[0]
        k = int(self.probabilities(row[None, :]).argmax())
        amounts = seen * self._weights[:, k]
        order = [j for j in np.argsort(-np.abs(amounts), kind="stable") if amounts[j] != 0]
        columns = [self._inputs[j].column for j in order]
        terms = tuple(
            Contribution(self._schema[column], float(row[column]), float(amounts[j]))
            for j, column in zip(order, columns, strict=True)
        )
        return Rule(terms, classes[k], self._n_draws, self._share)

    def to_dict(self) -> dict[str, Any]:
        """Return the fitted model as plain data for JSON."""
        return {
            "explainer": "logistic",
            "classes": write_labels(self._fitted()),
            "columns": [one.column for one in self._inputs],
            "references": [None if np.isnan(one.reference) else one.reference for one in self._inputs],
            "weights": self._weights.tolist(),
            "intercepts": self._intercepts.tolist(),
            "min_probability": self.min_probability,
            "n_draws": self._n_draws,
            "share": self._share,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Read what ``to_dict`` wrote, or say why it is no logistic regression."""
        least = data["min_probability"]
        model = cls(max(1, len(data["columns"])), None if least is None else float(least))
        _check(model.n_features, model.min_probability)
        references = [np.nan if value is None else float(value) for value in data["references"]]
        inputs = tuple(Input(int(j), value) for j, value in zip(data["columns"], references, strict=True))
        classes = read_labels(data["classes"])
        intercepts = np.array(data["intercepts"], dtype=float)
        weights = np.array(data["weights"], dtype=float).reshape(len(inputs), -1 if inputs else len(classes))
        if weights.shape != (len(inputs), len(classes)) or intercepts.shape != (len(classes),) or not len(classes):
            raise ValueError("its weights do not fit its inputs and classes")
        if not (np.isfinite(weights).all() and np.isfinite(intercepts).all()):
            raise ValueError("its weights are not finite numbers")
        if not all(_fits(one, schema) for one in inputs):
            raise ValueError("its inputs do not fit the columns")
        model._set(schema, classes, inputs, weights, intercepts)
        model._n_draws, model._share = int(data["n_draws"]), float(data["share"])
        return model

    def _fitted(self) -> Labels:
        if self.classes_ is None:
            raise NotFittedError("this SparseLogistic is not fitted: call fit with draws and labels first.")
        return self.classes_


def fit_sparse(seen: Floats, labels: Ints, n_labels: int, most: int, ridge: float) -> tuple[list[int], Floats, Floats]:
    """Take columns one by one by their score test, then fit all weights together.

    Returns
    -------
    chosen : list of int
        The columns, the first taken first.
    weights : array of shape (n_chosen, n_labels)
    intercepts : array of shape (n_labels,)

    Examples
    --------
    >>> seen = np.random.default_rng(0).normal(size=(500, 4))
    >>> fit_sparse(seen, (seen[:, 2] > 0).astype(int), 2, most=2, ridge=1.0)[0]
    [2]
    """
    targets = (labels[:, None] == np.arange(n_labels)).astype(float)
    counts = targets.sum(axis=0)
    chosen: list[int] = []
    intercepts = np.log(counts / counts.sum())
    if n_labels == 1:
        return chosen, np.empty((0, 1)), intercepts
    varies = np.flatnonzero(np.ptp(seen, axis=0) > 0)
    needed = float(chdtri(n_labels - 1, ALPHA / max(len(varies), 1)))
    centered = seen[:, varies] - seen[:, varies].mean(axis=0)
    squares = np.square(centered)
    # The last line of the table holds the intercepts.
    inputs, table = np.ones((len(seen), 1)), intercepts[None, :]
    while len(chosen) < min(most, len(varies)):
        likely = softmax(inputs @ table, axis=1)
        scores = np.square(centered.T @ (targets - likely))
        spread = squares.T @ (likely * (1.0 - likely))
        gains = np.divide(scores, spread, out=np.zeros_like(scores), where=spread > 1e-12).sum(axis=1)
        gains *= (n_labels - 1) / n_labels
        gains[np.isin(varies, chosen)] = -np.inf
        best = int(gains.argmax())
        if gains[best] < needed:
            break
        chosen.append(int(varies[best]))
        inputs = np.column_stack([seen[:, chosen], np.ones(len(seen))])
        table = np.vstack([table[:-1], np.zeros(n_labels), table[-1:]])
        for _ in range(N_QUICK_STEPS):
            table = table + _step(inputs, targets, table, ridge)
    if chosen:
        table = _fit_table(inputs, targets, table, ridge)
    return chosen, table[:-1], table[-1]


def _step(inputs: Floats, targets: Floats, table: Floats, ridge: float) -> Floats:
    """Return a Newton step, label by label: cheap, and near enough to see which input to take next.

    The curvature across labels is at most that within them, so twice the latter makes the step a safe one; for two
    labels it is Newton's own.
    """
    likely = softmax(inputs @ table, axis=1)
    slopes = inputs.T @ (targets - likely)
    penalty = np.full(len(table), ridge)
    penalty[-1] = 1e-6
    slopes[:-1] -= ridge * table[:-1]
    curvature = 2.0 * likely * (1.0 - likely)
    steps = [
        np.linalg.solve((inputs * curvature[:, [k]]).T @ inputs + np.diag(penalty), slopes[:, k])
        for k in range(table.shape[1])
    ]
    step: Floats = np.clip(np.column_stack(steps), -LONGEST_STEP, LONGEST_STEP)
    return step


def _fit_table(inputs: Floats, targets: Floats, start: Floats, ridge: float) -> Floats:
    """Return the weights and intercepts with the least log loss, plus the ridge."""

    def loss(flat: Floats) -> tuple[float, Floats]:
        table = flat.reshape(start.shape)
        scores = inputs @ table
        scores -= scores.max(axis=1, keepdims=True)
        likely = np.exp(scores)
        total = likely.sum(axis=1, keepdims=True)
        value = np.log(total).sum() - (scores * targets).sum() + 0.5 * ridge * np.square(table[:-1]).sum()
        slopes = inputs.T @ (likely / total - targets)
        slopes[:-1] += ridge * table[:-1]
        return float(value), slopes.ravel()

    found = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 50, "ftol": 1e-6})
    table: Floats = found.x.reshape(start.shape)
    return table


def _list_inputs(draws: Floats, schema: FeatureSchema) -> list[Input]:
    """Return what can be seen of each column: its number, its levels, whether it is missing."""
    inputs = []
    for j, feature in enumerate(schema):
        if feature.is_number:
            inputs.append(Input(j, _readable_middle(feature)))
        else:
            # Of two levels the first is what the second is not.
            codes = range(1 if len(feature.levels) == 2 else 0, len(feature.levels))
            inputs += [Input(j, float(code)) for code in codes]
        if feature.missing and np.isnan(draws[:, j]).any():
            inputs.append(Input(j, np.nan))
    return inputs


def _readable_middle(feature: Feature) -> float:
    """Return a number near the middle of the bounds that a person would write."""
    step, decimals = readable_step(feature.scale)
    if feature.kind is Kind.INTEGER:
        step, decimals = max(step, 1.0), 0
    return float(np.round(np.round((feature.lower + feature.upper) / 2 / step) * step, max(decimals, 0)))


def _fits(one: Input, schema: FeatureSchema) -> bool:
    if not 0 <= one.column < len(schema):
        return False
    feature = schema[one.column]
    if np.isnan(one.reference):
        return feature.missing
    return feature.is_number or one.reference in range(len(feature.levels))


def _check(n_features: int, min_probability: float | None) -> None:
    if n_features < 1:
        raise ValueError(f"n_features={n_features} is not allowed: at least 1 is needed.")
    if min_probability is not None and not 0 < min_probability < 1:
        raise ValueError(f"min_probability={min_probability} is not allowed: it is over 0 and under 1, or None.")
