"""w, y and z against every constraint of the paper's Proposition 3, row by row."""

import numpy as np
import pytest

from oleander import AggregateExplainer, PerRow
from tests.making import OwnTrees

rng = np.random.default_rng(0)
# Rounded, so that some rows are equal.
X = rng.uniform(size=(160, 2)).round(1) + 0.05


def wave(X):
    return (X[:, 1] > 0.5 + 0.3 * np.sin(9 * X[:, 0])).astype(int)


def fit(**options):
    defaults = {"radius": 0.25, "n_draws": 60, "max_explainers": 4, "min_fidelity": 0.8, "random_state": 0}
    return AggregateExplainer.paper(wave, **{**defaults, **options}).fit(X)


@pytest.mark.parametrize("holdout", [None, 0.3])
@pytest.mark.parametrize("formulation", ["strict", "selective"])
@pytest.mark.parametrize("radius", ["one", "per row"])
@pytest.mark.parametrize("min_fidelity", [0.8, 0.95])
def test_the_constraints_of_the_printed_program(holdout, formulation, radius, min_fidelity):
    radii = np.full(160, 0.25) if radius == "one" else rng.uniform(0.15, 0.3, size=160).round(2)
    atlas = fit(
        radius=0.25 if radius == "one" else PerRow(radii),
        formulation=formulation,
        holdout=holdout,
        min_fidelity=min_fidelity,
    )
    w, y, z = atlas.variables_.w, atlas.variables_.y, atlas.variables_.z.toarray()
    assert w.shape == y.shape == (160,)
    assert set(w) <= {0, 1}
    assert w.sum() == len(atlas.explainers_) <= 4
    assert y.sum() == atlas.result_.objective
    assert (z <= w[:, None]).all()
    assert (y >= z).all()
    assert (y <= z.sum(axis=0)).all()
    distances = np.abs(X[:, None] - X[None]).max(axis=2)
    assert (distances[z] <= np.broadcast_to(radii[:, None], z.shape)[z] * (1 + 1e-12)).all()
    labels = wave(X)
    for i in np.flatnonzero(w):
        (own,) = [
            member
            for member in atlas.explainers_
            if np.array_equal(member.region.center, X[i]) and member.region.radius == radii[i]
        ]
        agrees = own.explainer.predict(X) == labels
        assert ((agrees - min_fidelity) * z[i]).sum() >= -1e-9
        if formulation == "strict" and holdout is None:
            np.testing.assert_array_equal(z[i], own.region.contains(X))


def test_a_ladder_counts_the_balls_around_a_row():
    atlas = fit(radius=[0.1, 0.2, 0.3])
    assert atlas.variables_.w.sum() == len(atlas.explainers_)
    np.testing.assert_array_equal(atlas.variables_.y, atlas.covers(X).any(axis=0))


@pytest.mark.parametrize("candidates", ["auto", OwnTrees()])
def test_there_are_none_without_balls(candidates):
    atlas = AggregateExplainer(wave, candidates=candidates, random_state=0, min_fidelity=0.7).fit(X)
    with pytest.raises(AttributeError, match="there are no w, y and z"):
        atlas.variables_  # noqa: B018
