import json
import pickle

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from oleander.black_box.answers import BlackBoxError
from oleander.black_box.output import Output

X = np.array([[0.0], [1.0], [2.0], [3.0]])
WORDS = np.array(["ill", "ill", "well", "well"])
TWO = LogisticRegression().fit(X, WORDS)
THREE = LogisticRegression().fit(X, [0, 1, 1, 2])


def test_the_answer_is_the_model_itself():
    assert Output().of_model(TWO) is TWO


@pytest.mark.parametrize(("output", "column"), [(Output("proba"), 1), (Output("proba", "ill"), 0)])
def test_the_probability_of_a_class(output, column):
    assert output.of_model(TWO)(X).tolist() == TWO.predict_proba(X)[:, column].tolist()


def test_a_threshold_makes_two_labels():
    slope = LinearRegression().fit(X, X[:, 0])
    model = Output(threshold=1.5).of_model(slope)
    assert model(X).tolist() == ["up to 1.5", "up to 1.5", "over 1.5", "over 1.5"]
    probable = Output("proba", "well", threshold=0.5).of_model(TWO)
    assert (probable(X) == np.where(TWO.predict(X) == "well", "over 0.5", "up to 0.5")).all()
    # A number at the threshold is not over it.
    assert Output(threshold=2).of_model(lambda X: X[:, 0])(X).tolist()[2] == "up to 2"


def test_truth_is_cut_at_the_threshold_too():
    assert Output(threshold=1).of_truth(np.array([1, 2])).tolist() == ["up to 1", "over 1"]
    assert Output().of_truth(WORDS) is WORDS
    assert Output().of_truth(np.array(["1", "2"], dtype=object), is_number=True).tolist() == [1.0, 2.0]
    for output, option in ((Output(), "tolerance"), (Output(threshold=1), "threshold")):
        with pytest.raises(ValueError, match=f"y holds values that are not numbers, and {option}= is for numbers"):
            output.of_truth(WORDS, is_number=True)


class Odd:
    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        return np.zeros((len(X), 3))


@pytest.mark.parametrize(
    ("output", "model", "sentence"),
    [
        (Output("proba", "healthy"), TWO, "class_='healthy' is not a class of the black box; it has 'ill', 'well'"),
        (Output("proba"), THREE, r"the black box has 3 classes \(0, 1, 2\): name one, as in Output\('proba', 0\)"),
        (Output("proba"), LinearRegression().fit(X, X[:, 0]), "a LinearRegression has no predict_proba"),
        (Output("proba"), Odd(), r"predict_proba answered with shape \(4, 3\); one column for each of 2 classes"),
        (Output(threshold=1), TWO, "answered 'ill' for row 0, a label, and threshold= is for numbers"),
        (Output(threshold=1), lambda X: X[:, 0] * np.inf, "answered nan for row 0, which is no answer"),
    ],
)
def test_models_without_such_an_output(output, model, sentence):
    with pytest.raises(BlackBoxError, match=sentence), np.errstate(invalid="ignore"):
        output.of_model(model)(X)


@pytest.mark.parametrize("output", [Output(), Output("proba", np.int64(2)), Output("proba", "ill", 0.2)])
def test_it_is_saved_and_sent_to_other_processes(output):
    assert Output.from_dict(json.loads(json.dumps(output.to_dict()))) == output
    assert pickle.loads(pickle.dumps(output.of_model(THREE))) is not None


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        (Output("margin"), "output.of='margin' is not known; use 'predict' or 'proba'"),
        (Output(class_="ill"), r"output.class_='ill' is for the probability of a class: use Output\('proba'\)"),
        (Output(threshold=np.nan), "output.threshold=nan is not allowed: give a number, or None"),
        (Output(threshold=True), "output.threshold=True is not allowed: give a number, or None"),
    ],
)
def test_outputs_that_do_not_exist_are_refused(output, sentence):
    with pytest.raises(ValueError, match=sentence):
        output.check()
