import numpy as np

from benchmarks.rivals.local_lines import learn_local_lines
from oleander.data.tolerance import Tolerance


def test_two_lines_serve_two_planes():
    rng = np.random.default_rng(0)
    draws, rows, new = (rng.uniform(-3, 3, size=(n, 2)) for n in (4_000, 300, 500))

    def answer(X):
        return np.where(X[:, 0] > 0, 3 * X[:, 1], 20 - X[:, 1])

    found = learn_local_lines(draws, answer(draws), rows, answer(rows), Tolerance(1.5), 4, 0)
    assert found.covered > 0.9
    assert (np.abs(found.predict(new) - answer(new)) <= 1.5).mean() > 0.8


def test_one_line_serves_one_plane():
    draws = np.random.default_rng(0).normal(size=(3_000, 3))
    found = learn_local_lines(draws, 2 * draws[:, 1], draws[:100], 2 * draws[:100, 1], Tolerance(0.2), 5, 0)
    assert len(found.weights) == 1
    assert found.covered == 1
