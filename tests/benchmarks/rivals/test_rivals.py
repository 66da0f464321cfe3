import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from benchmarks.rivals import make_all_rivals
from oleander.baselines import compare, make_rivals


@pytest.mark.slow
def test_compare_takes_all_methods_on_breast_cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    rivals = make_all_rivals(model, random_state=0)
    assert set(make_rivals(model)) < set(rivals)
    quick = {"max_candidates": 30, "n_draws": 300, "n_components": 5, "max_anchors": 8}
    for rival in rivals.values():
        rival.set_params(**{name: value for name, value in quick.items() if name in rival.get_params()})
    table = compare(model, X[1::2], rivals=rivals).set_index(["method", "rows"])
    held = table.xs("held out", level="rows")
    assert set(held.index) == set(rivals)
    assert (held["agreement"].dropna() > 0.8).all()
    assert held.loc["naive tree", "coverage"] == 1.0
