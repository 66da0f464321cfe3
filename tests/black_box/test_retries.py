"""The clock is simulated: no test waits."""

import pickle
import threading
import urllib.error
from datetime import UTC, datetime, timedelta
from email.message import Message
from email.utils import format_datetime
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oleander import AggregateExplainer
from oleander.black_box import retrying
from oleander.black_box.asking import BlackBoxError
from oleander.black_box.retries import read_retry_after

X = pd.DataFrame({"age": [61, 58, 70], "sex": ["F", "M", "F"]})


class Clock:
    def __init__(self):
        self.now, self.waits = 0.0, []

    def sleep(self, seconds):
        self.waits.append(seconds)
        self.now += seconds

    def __call__(self):
        return self.now


class Flaky:
    """Fails with the given errors or answers, then answers well; each attempt takes a second."""

    def __init__(self, clock, *failures):
        self.clock, self.failures, self.asked = clock, list(failures), []

    def predict(self, X):
        self.asked.append(X)
        self.clock.now += 1
        failure = self.failures.pop(0) if self.failures else None
        if isinstance(failure, Exception):
            raise failure
        return ["a"] * len(X) if failure is None else failure


def patient(*failures, **options):
    clock = Clock()
    flaky = Flaky(clock, *failures)
    return retrying(flaky, sleep=clock.sleep, clock=clock, random_state=0, **options), flaky, clock


def http_error(status, retry_after=None):
    headers = Message()
    if retry_after is not None:
        headers["Retry-After"] = retry_after
    return urllib.error.HTTPError("https://risk.example", status, "", headers, None)


def test_waits_double_up_to_a_limit_with_a_random_part_taken_off():
    black_box, _, clock = patient(*[ConnectionError()] * 7, attempts=8, first_wait=1, longest_wait=10)
    assert black_box.predict(X).tolist() == ["a"] * 3
    assert black_box.n_retries == 7
    for wait, whole in zip(clock.waits, [1, 2, 4, 8, 10, 10, 10], strict=True):
        assert whole / 2 <= wait <= whole
    assert len(set(clock.waits)) == 7


def test_callers_that_failed_at_the_same_time_wait_differently():
    waits = []
    for _ in range(20):
        clock = Clock()
        retrying(Flaky(clock, ConnectionError()), sleep=clock.sleep, clock=clock).predict(X)
        waits += clock.waits
    assert len(set(waits)) == 20


def test_rows_are_passed_on_as_they_are():
    black_box, flaky, _ = patient(TimeoutError())
    black_box(X)
    assert flaky.asked[0] is X
    assert flaky.asked[1] is X


@pytest.mark.parametrize("answer", [["a"] * 2, ["a"] * 4, [], [["a"], ["a"]], [0.25, np.nan, 0.75], ["a", None, "b"]])
def test_an_answer_that_is_not_one_label_per_row_is_never_used(answer):
    black_box, _, _ = patient(answer)
    assert black_box.predict(X).tolist() == ["a"] * 3
    assert black_box.n_retries == 1
    black_box, _, _ = patient(answer, answer, attempts=2)
    with pytest.raises(BlackBoxError, match="failed on 3 rows, and 2 attempts were all that attempts=2 allows"):
        black_box.predict(X)


@pytest.mark.parametrize(
    "error",
    [
        TypeError("x"),
        ValueError("x"),
        KeyError("x"),
        FileNotFoundError("x"),
        PermissionError("x"),
        ZeroDivisionError("x"),
        *[http_error(status) for status in (400, 401, 403, 404, 410, 422, 301)],
    ],
    ids=repr,
)
def test_errors_that_last_are_raised_at_once(error):
    black_box, flaky, clock = patient(error)
    with pytest.raises(type(error)) as caught:
        black_box.predict(X)
    assert caught.value is error
    assert len(flaky.asked) == 1
    assert not clock.waits


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_statuses_that_may_pass_are_retried(status):
    black_box, _, _ = patient(http_error(status))
    black_box.predict(X)
    assert black_box.n_retries == 1


def test_errors_of_other_libraries():
    class RequestsError(OSError):
        def __init__(self, status, headers):
            self.response = SimpleNamespace(status_code=status, headers=headers)

    black_box, _, clock = patient(RequestsError(429, {"Retry-After": "7"}))
    black_box.predict(X)
    assert clock.waits == [7]
    black_box, _, _ = patient(RequestsError(404, {}))
    with pytest.raises(RequestsError):
        black_box.predict(X)

    class OwnError(Exception):
        pass

    with pytest.raises(OwnError):
        patient(OwnError())[0].predict(X)
    assert patient(OwnError(), retry_on=OwnError)[0].predict(X).tolist() == ["a"] * 3


def test_the_wait_that_a_service_asks_for_is_obeyed():
    in_a_minute = format_datetime(datetime.now(UTC) + timedelta(seconds=50), usegmt=True)
    black_box, _, clock = patient(http_error(429, "12"), http_error(503, in_a_minute), http_error(503, "soon"))
    black_box.predict(X)
    assert clock.waits[0] == 12
    assert 45 < clock.waits[1] <= 50
    assert clock.waits[2] <= 2, "a wait that cannot be read is not obeyed"


@pytest.mark.parametrize("words", ["3600", "9" * 400])
def test_a_service_that_asks_for_too_long_a_wait_is_given_up(words):
    black_box, _, clock = patient(http_error(503, words), longest_wait=60)
    with pytest.raises(BlackBoxError, match=r"asks to wait (3600|inf) s, which is longer than longest_wait=60"):
        black_box.predict(X)
    assert not clock.waits


def test_the_time_limit():
    black_box, flaky, clock = patient(*[ConnectionError("gone")] * 50, attempts=50, first_wait=2, time_limit=20)
    with pytest.raises(BlackBoxError, match=r"after \d attempts time_limit=20 s leaves no time for another: .*gone"):
        black_box.predict(X)
    assert clock.now <= 20
    assert len(flaky.asked) >= 3


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"attempts": 0}, "attempts=0 is not allowed"),
        ({"attempts": 1.5}, r"attempts=1\.5 is not allowed"),
        ({"first_wait": -1}, "first_wait=-1 is not allowed"),
        ({"longest_wait": float("nan")}, "longest_wait=nan is not allowed"),
        ({"time_limit": float("inf")}, "time_limit=inf is not allowed"),
    ],
)
def test_options_that_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        retrying(len, **options)


def test_things_that_are_no_black_box():
    with pytest.raises(TypeError, match="black_box is a str; it must have predict or predict_proba or be callable"):
        retrying("https://risk.example")


def test_threads_add_to_one_count():
    lock, state = threading.Lock(), {"n": 0}

    def every_second_fails(X):
        with lock:
            state["n"] += 1
            odd = state["n"] % 2
        if odd:
            raise ConnectionError
        return np.zeros(len(X))

    black_box = retrying(every_second_fails, attempts=1000, first_wait=0)
    threads = [threading.Thread(target=lambda: [black_box.predict(X) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert black_box.n_retries == state["n"] - 200


def test_a_copy_has_the_same_options():
    copy = pickle.loads(pickle.dumps(retrying(len, attempts=3)))
    assert copy.attempts == 3


@given(st.text(max_size=40))
def test_any_text_is_a_wait_or_none(words):
    seconds = read_retry_after(words)
    assert seconds is None or seconds >= 0


@pytest.mark.slow
def test_through_a_flaky_black_box_the_fit_is_the_same():
    rows = np.random.default_rng(0).uniform(size=(200, 3))
    n_asked = 0

    def model(X):
        return X[:, 0] > 0.5

    def flaky(X):
        nonlocal n_asked
        n_asked += 1
        if n_asked % 2:
            raise ConnectionResetError("gone")
        return model(X)

    black_box = retrying(flaky, first_wait=0)
    found = AggregateExplainer(black_box, max_explainers=2, random_state=0).fit(rows)
    assert found.summary() == AggregateExplainer(model, max_explainers=2, random_state=0).fit(rows).summary()
    assert black_box.n_retries > 0


def test_a_black_box_that_stays_away_ends_the_fit_in_one_sentence():
    def away(X):
        raise ConnectionRefusedError("no server is there")

    rows = np.random.default_rng(0).uniform(size=(100, 2))
    with pytest.raises(BlackBoxError) as caught:
        AggregateExplainer(retrying(away, attempts=2, first_wait=0)).fit(rows)
    assert str(caught.value) == (
        "the black box failed on 100 rows, and 2 attempts were all that attempts=2 allows: "
        "ConnectionRefusedError: no server is there"
    )


def test_numbers_are_answers_too():
    black_box, _, _ = patient([0.25, 0.5, 0.75])
    assert black_box.predict(X).tolist() == [0.25, 0.5, 0.75]
    assert black_box.n_retries == 0
