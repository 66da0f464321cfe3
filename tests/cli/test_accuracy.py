import numpy as np
import pandas as pd

from oleander import AggregateExplainer
from oleander.cli.accuracy import ModelAccuracy
from oleander.draws.options import Draws


def test_no_row_is_asked_about_again():
    X = pd.DataFrame({"age": np.arange(200) % 90, "dose": np.linspace(0, 1, 200)})
    truth = np.where(X["age"] > 60, "old", np.where(X["dose"] > 0.99, "rare", "young"))
    # Some rows stand in the background too.
    atlas = AggregateExplainer(lambda X: np.where(X["age"] > 60, "old", "young"), draws=Draws(500), random_state=0)
    atlas.fit(X, background=X.assign(dose=X["dose"] + 0.001))
    before = atlas.n_queries_
    accuracy = ModelAccuracy.measure(atlas, X, truth)
    assert atlas.n_queries_ == before
    assert accuracy == ModelAccuracy(np.mean(truth != "rare"), 200, ("rare",))
    assert ModelAccuracy.measure(atlas, X, None) is None
    assert ModelAccuracy.measure(atlas, X, np.zeros(200, dtype=int)) is None
