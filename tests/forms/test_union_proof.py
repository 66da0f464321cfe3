"""The union that is taken is the one that was judged; the proof only says how near to the best possible it is."""

import numpy as np
import pytest

from oleander.black_box.asking import BlackBox
from oleander.candidates import Inside, Nodes, Trees
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.forms import Union
from oleander.results.fitting import fit_judged, judge

X = np.random.default_rng(0).normal(size=(300, 4))


@pytest.mark.parametrize("seed", range(3))
def test_the_judged_union_is_taken_with_a_bound(seed: int) -> None:
    box = BlackBox(lambda X: (X[:, 0] + X[:, 1] > 0).astype(int), FeatureSchema.infer(X))
    rows = Rows.ask(X, box).unmerged()
    form = Union([Trees(n_trees=8), Nodes(n_trees=4, inside=Inside(("constant", "tree")))], box, 4, 40, 0.7)
    verdict = judge([form], rows, seed, min_fidelity=0.7, importance=None)
    fitted = fit_judged(verdict, rows, seed, kinds=["union"], max_explainers=4, time_limit=10)
    choice = verdict.choose(kinds=["union"])
    judged = form.learn(rows, seed).at(choice.setting)
    assert [str(one.region.describe()) for one in fitted.chosen.members] == [
        str(one.region.describe()) for one in judged.members
    ]
    assert (fitted.chosen.answer(X) == judged.answer(X)).all()
    assert fitted.result.bound >= fitted.result.objective
    assert fitted.result.is_proven_optimal == (fitted.result.bound == fitted.result.objective)
