"""Explanations of the ``lime`` package, read as our linear explainers, so that nothing else differs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.rivals.lime_linear import Linear
from oleander.arrays import Floats
from oleander.black_box.asking import BlackBox
from oleander.data.rows import Rows


def explain_with_lime(
    rows: Rows, box: BlackBox, centers: Sequence[Floats], *, n_draws: int, n_features: int, seed: int
) -> list[Linear]:
    """Return one linear explainer per center, as the package fits it.

    Numbers are not cut into bins, so that the models are linear in the user's columns. Features with the highest
    weights are taken, which is 20 times faster than the package's default and differs little.
    """
    from lime.lime_tabular import LimeTabularExplainer

    schema = rows.schema
    if np.isnan(rows.values[:, schema.numbers]).any():
        raise ValueError("the lime package takes no missing numbers: fill them in, or use source='own'.")
    n_levels = {j: len(schema[j].levels) for j in range(len(schema)) if not schema[j].is_number}
    classes = np.unique(rows.labels)

    def to_lime(encoded: Floats) -> Floats:
        # A missing level is one more level.
        filled = encoded.copy()
        for j, n in n_levels.items():
            filled[np.isnan(filled[:, j]), j] = n
        return filled

    def from_lime(values: Floats) -> Floats:
        encoded = np.asarray(values, dtype=float).copy()
        for j, n in n_levels.items():
            encoded[encoded[:, j] == n, j] = np.nan
        return encoded

    def ask(values: Floats) -> Floats:
        scores: Floats = (box.ask(from_lime(values))[:, None] == classes).astype(float)
        return scores

    explainer = LimeTabularExplainer(
        to_lime(rows.values),
        categorical_features=list(n_levels),
        discretize_continuous=False,
        feature_selection="highest_weights",
        class_names=[str(label) for label in classes],
        random_state=np.random.RandomState(seed % 2**32),
    )
    models = []
    for center in centers:
        explanation = explainer.explain_instance(
            to_lime(center[None, :])[0], ask, labels=range(len(classes)), num_features=n_features, num_samples=n_draws
        )
        models.append(_as_linear(explanation, explainer.scaler, center, rows, classes, n_draws))
    return models


def _as_linear(
    explanation: Any, scaler: Any, center: Floats, rows: Rows, classes: NDArray[Any], n_draws: int
) -> Linear:
    """Return the package's weights in our units: its numbers are scaled by the mean and deviation of the rows."""
    schema = rows.schema
    weights, intercepts = np.zeros((len(schema), len(classes))), np.zeros(len(classes))
    reference = center.copy()
    reference[schema.numbers] = [(schema[j].lower + schema[j].upper) / 2 for j in schema.numbers]
    for k in range(len(classes)):
        intercepts[k] = explanation.intercept[k]
        for j, weight in explanation.local_exp[k]:
            if schema[j].is_number:
                weights[j, k] = weight * schema[j].scale / scaler.scale_[j]
                intercepts[k] += weight * (reference[j] - scaler.mean_[j]) / scaler.scale_[j]
            else:
                weights[j, k] = weight
    return Linear(schema, classes, weights, intercepts, reference, n_draws)
