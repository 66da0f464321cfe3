import pickle

import numpy as np
import pandas as pd
import pytest

from oleander.black_box import asking_twice, http
from oleander.black_box.asking import BlackBoxError
from oleander.black_box.twice import draw_by_content

X = np.random.default_rng(0).uniform(size=(2000, 3))


def steady(X):
    return np.asarray(X)[:, 0] > 0.5


def test_a_steady_black_box_is_asked_about_a_share_of_the_rows_again():
    n_rows = []

    def counting(X):
        n_rows.append(len(X))
        return steady(X)

    black_box = asking_twice(counting, share=0.1)
    np.testing.assert_array_equal(black_box.predict(X), steady(X))
    assert n_rows == [2000, black_box.n_asked_twice]
    assert 150 < black_box.n_asked_twice < 250
    assert black_box.n_changed == 0


@pytest.mark.parametrize(("share", "n_twice"), [(0.0, 0), (1.0, 2000)])
def test_a_share_of_no_row_and_of_all_rows(share, n_twice):
    black_box = asking_twice(steady, share=share)
    black_box(X)
    assert black_box.n_asked_twice == n_twice


def test_a_changed_answer_is_an_error_or_a_warning():
    rng = np.random.default_rng(0)

    def fickle(X):
        return steady(X) ^ (rng.random(len(X)) < 0.05)

    with pytest.raises(BlackBoxError, match=r"changed its answer on \d+ of \d+ rows that it was asked about twice"):
        asking_twice(fickle, share=0.1).predict(X)
    black_box = asking_twice(fickle, share=0.1, on_change="warn")
    with pytest.warns(UserWarning, match="changed its answer"):
        assert len(black_box.predict(X)) == 2000
    assert 5 < black_box.n_changed < 40


def test_labels_of_another_kind_are_another_answer():
    answers = iter([["0", "1"], [0, 1]])
    with pytest.raises(BlackBoxError, match="on 2 of 2 rows"):
        asking_twice(lambda X: next(answers), share=1.0).predict(X[:2])


def test_a_service_with_changing_answers(serve):
    server = serve(faults=[None, "flip"])
    service = http(server.url, batch_size=2000)
    with pytest.raises(BlackBoxError, match=r"changed its answer on (\d+) of \1 rows"):
        asking_twice(service, share=0.05).predict(X)
    assert len(server.requests[0]["rows"]) == 2000


@pytest.mark.parametrize("as_frame", [False, True])
def test_rows_are_drawn_by_their_content_alone(mixed, as_frame):
    rows = mixed if as_frame else pd.DataFrame(X)
    drawn = draw_by_content(rows, 0.3, 0)
    order = np.random.default_rng(1).permutation(len(rows))
    np.testing.assert_array_equal(draw_by_content(rows.iloc[order], 0.3, 0), drawn[order])
    np.testing.assert_array_equal(draw_by_content(rows[7:50], 0.3, 0), drawn[7:50])
    assert (draw_by_content(rows, 0.3, 1) != drawn).any()
    # A larger share adds rows and drops none.
    assert (draw_by_content(rows, 0.6, 0) >= drawn).all()


@pytest.mark.parametrize("step", [1.0, 2.0**-20, 1e-300])
def test_the_share_is_met_for_numbers_that_lie_close(step):
    rows = np.arange(20_000.0)[:, None] * step
    for seed in range(3):
        assert abs(draw_by_content(rows, 0.1, seed).mean() - 0.1) < 0.01


def test_options_that_are_refused():
    with pytest.raises(ValueError, match=r"share=1\.5 is not allowed"):
        asking_twice(steady, share=1.5)
    with pytest.raises(ValueError, match="on_change='stop' is not known; use 'raise' or 'warn'"):
        asking_twice(steady, on_change="stop")
    with pytest.raises(TypeError, match="black_box is a int"):
        asking_twice(3)


def test_a_copy_has_the_same_options():
    copy = pickle.loads(pickle.dumps(asking_twice(steady, share=0.5)))
    assert copy.share == 0.5
    assert "asking_twice(" in repr(copy)
