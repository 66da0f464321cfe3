"""The service is real, on this machine, and as bad as services are."""

import json
import multiprocessing
import pickle
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from oleander import AggregateExplainer
from oleander.black_box import ServiceError, http
from oleander.black_box.asking import BlackBoxError
from oleander.export.saved_file import read_file

CERTIFICATE = Path(__file__).with_name("self_signed.pem")
X = np.random.default_rng(0).uniform(size=(60, 2))
SAID = X[:, 0] > 0.5
SECRET = "Bearer 5ecret-token"


def quick(url, **options):
    return http(url, **{"first_wait": 0.001, "timeout": 5.0, "batch_size": 10, **options})


def test_rows_go_and_labels_come_in_order(serve):
    server = serve()
    service = quick(server.url, batch_size=7, max_concurrency=3)
    np.testing.assert_array_equal(service.predict(X), SAID)
    np.testing.assert_array_equal(service(X[:3]), SAID[:3])
    assert sorted(len(request["rows"]) for request in server.requests) == [3, 4, 7, 7, 7, 7, 7, 7, 7, 7]
    assert service.n_retries == 0


def test_order_is_kept_when_answers_come_in_another(serve):
    """Each batch takes the longer the earlier it is."""

    def model(table):
        time.sleep(float(0.2 * (1 - table["x0"].iloc[0])))
        return table["x0"].rank(method="first").astype(int) + 1000 * table["x1"].astype(int)

    rows = np.column_stack([np.linspace(0, 1, 8), np.arange(8)])
    service = quick(serve(model).url, batch_size=1, max_concurrency=8)
    assert service.predict(rows).tolist() == [1 + 1000 * i for i in range(8)]


def test_every_kind_of_column_arrives(serve, mixed):
    server = serve(lambda table: ["a"] * len(table))
    labels = quick(server.url, batch_size=400).predict(mixed)
    assert labels.dtype == object
    sent = pd.DataFrame(server.requests[0]["rows"], columns=server.requests[0]["columns"])
    for name in mixed.columns:
        absent = mixed[name].isna()
        assert sent[name].isna().tolist() == absent.tolist()
        assert sent[name][~absent].tolist() == mixed[name][~absent].tolist()


@pytest.mark.parametrize(
    ("value", "error", "sentence"),
    [
        (np.inf, ValueError, "column 'a' holds inf in row 1, which cannot be sent as JSON"),
        (pd.Timestamp("2020-01-01"), TypeError, "column 'a' holds a Timestamp in row 1"),
    ],
)
def test_what_cannot_be_sent(serve, value, error, sentence):
    server = serve()
    with pytest.raises(error, match=sentence):
        quick(server.url).predict(pd.DataFrame({"a": [0.5, value]}, dtype=object))
    assert not server.requests


@pytest.mark.parametrize("fault", ["drop", "cut", "garbage", "few", "many", "busy", "error"])
def test_what_passes_is_asked_again(serve, fault):
    server = serve(faults=[fault, fault])
    service = quick(server.url, max_concurrency=1)
    np.testing.assert_array_equal(service.predict(X), SAID)
    assert service.n_retries == 2
    assert server.given[fault] == 2


LASTS = {
    "drop": "cannot be reached: RemoteDisconnected",
    "cut": "cannot be reached: IncompleteRead",
    "garbage": "it answered 34 bytes that are not JSON",
    "few": "it answered 9 labels for 10 rows; one per row is expected",
    "many": "it answered 11 labels for 10 rows; one per row is expected",
    "busy": r"answered 429 \(Too Many Requests\)",
    "error": r"answered 500 \(Internal Server Error\)",
    "slow": "gave no whole answer within timeout=0.1 s",
}


@pytest.mark.parametrize("fault", LASTS)
def test_what_does_not_pass_is_told(serve, fault):
    server = serve(faults=[fault] * 10)
    service = quick(server.url, attempts=3, timeout=0.1 if fault == "slow" else 5.0)
    with pytest.raises(BlackBoxError, match=LASTS[fault]) as caught:
        service.predict(X[:10])
    assert "3 attempts were all that attempts=3 allows" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(server.requests) == 3
    assert service.n_retries == 2


AT_ONCE = {
    "forbidden": r"answered 403 \(Forbidden\)",
    "away": r"answered 307 \(Temporary Redirect\), a redirect, which is not followed: give the URL itself",
    "found": r"answered 302 \(Found\), a redirect, which is not followed",
    "endless": "its answer is longer than largest_answer=1,000,000 bytes",
}


@pytest.mark.parametrize("fault", AT_ONCE)
def test_what_will_not_pass_is_not_asked_again(serve, fault):
    other = serve()
    server = serve(faults=[fault] * 10)
    server.elsewhere = other.url
    with pytest.raises(ServiceError, match=AT_ONCE[fault]):
        quick(server.url, largest_answer=1_000_000).predict(X[:10])
    assert len(server.requests) == 1
    assert not other.requests, "no row may go to another host"


@pytest.mark.parametrize("in_body", [True, False])
def test_a_server_that_drips_is_left(serve, in_body):
    server = serve(faults=["drip"] * 10)
    server.drip_body = in_body
    start = time.monotonic()
    with pytest.raises(BlackBoxError, match=r"gave no whole answer within timeout=0\.3 s"):
        quick(server.url, timeout=0.3, attempts=1).predict(X[:2])
    assert time.monotonic() - start < 2


ANSWERS = {
    "a list": (b"[1, 2]", r'its answer is not {"labels": \[...\]}'),
    "no list": (b'{"labels": "ab"}', "its answer is not"),
    "null": (b'{"labels": [null, 1]}', "labels of the kinds null, number"),
    "lists": (b'{"labels": [[1], [2]]}', "labels of the kinds list"),
    "objects": (b'{"labels": [{"label": 1}, {}]}', "labels of the kinds object"),
    "several kinds": (b'{"labels": ["a", 1]}', "labels of the kinds number, string"),
    "true and 1": (b'{"labels": [true, 1]}', "labels of the kinds boolean, number"),
    "NaN": (b'{"labels": [NaN, 1]}', "not JSON"),
    "probabilities": (b'{"labels": [0.25, 0.75]}', "looks like a probability"),
    "huge numbers": (b'{"labels": [1, 1' + b"0" * 40 + b"]}", "too large for a label"),
    "endless numbers": (b'{"labels": [1, 1' + b"0" * 5000 + b"]}", "not JSON"),
    "infinite numbers": (b'{"labels": [1, 1e999]}', "too large for a label"),
    "deep nesting": (b"[" * 100_000, "not JSON"),
    "not UTF-8": (b'{"labels": ["\xff", "a"]}', "not JSON"),
    "nothing": (b"", "0 bytes that are not JSON"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_that_are_not_labels(serve, monkeypatch, name):
    content, sentence = ANSWERS[name]
    server = serve(faults=["garbage"])
    monkeypatch.setattr(server.RequestHandlerClass, "give_garbage", lambda self, table: self.send(content))
    with pytest.raises(BlackBoxError, match=sentence) as caught:
        quick(server.url, attempts=1).predict(X[:2])
    assert "\n" not in str(caught.value)


def test_retry_after_is_honoured(serve, monkeypatch):
    server = serve(faults=["busy"])
    monkeypatch.setattr(
        server.RequestHandlerClass, "give_busy", lambda self, table: self.send(b"", 429, Retry_After="1")
    )
    start = time.monotonic()
    quick(server.url).predict(X[:2])
    assert 1 <= time.monotonic() - start < 3


def test_no_more_requests_than_allowed_are_under_way(serve):
    server = serve(faults=["slow"] * 6)
    quick(server.url, max_concurrency=2).predict(X)
    assert server.most_inside == 2


def test_after_a_failure_no_further_batch_is_sent(serve):
    server = serve(faults=["forbidden"] * 60)
    with pytest.raises(ServiceError):
        quick(server.url, batch_size=1, max_concurrency=1).predict(X)
    assert len(server.requests) < 5


def test_no_thread_is_left(serve):
    service = quick(serve().url)
    service.predict(X)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("oleander")]


def test_it_can_be_sent_to_other_processes(serve):
    server = serve(faults=["error"])
    service = quick(server.url, headers={"Authorization": SECRET})
    service.predict(X[:5])
    copy = pickle.loads(pickle.dumps(service))
    assert copy.n_retries == 1
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        np.testing.assert_array_equal(pool.submit(copy.predict, X).result(), SAID)
    assert all(headers["Authorization"] == SECRET for headers in server.headers)


def test_an_untrusted_certificate_is_refused(serve):
    server = serve(tls=True)
    with pytest.raises(ServiceError, match="shows a certificate that is not trusted: self-signed certificate"):
        quick(server.url).predict(X[:5])
    assert not server.requests, "no row may be sent"
    np.testing.assert_array_equal(quick(server.url, ca_file=str(CERTIFICATE)).predict(X), SAID)


def test_a_certificate_of_another_host_is_refused(serve):
    server = serve(tls=True)
    url = server.url.replace("127.0.0.1", "127.0.0.2")
    with pytest.raises(BlackBoxError, match=r"not trusted: IP address mismatch|cannot be reached"):
        quick(url, ca_file=str(CERTIFICATE), attempts=1).predict(X[:5])
    assert not server.requests


def test_nobody_is_there():
    with pytest.raises(BlackBoxError, match="cannot be reached: ConnectionRefusedError"):
        quick("http://127.0.0.1:9/predict", attempts=2).predict(X[:2])


def test_what_is_meant_for_this_machine_goes_to_no_proxy(serve, monkeypatch):
    proxy, server = serve(), serve()
    monkeypatch.setenv("http_proxy", proxy.url)
    quick(server.url).predict(X[:2])
    assert not proxy.requests


@pytest.mark.parametrize("fault", ["forbidden", "garbage", "away", "few", "drop"])
def test_tokens_are_shown_nowhere(serve, fault):
    server = serve(faults=[fault] * 9)
    server.elsewhere = "https://elsewhere.example/"
    service = quick(f"{server.url}?key=5ecret-key", headers={"Authorization": SECRET}, attempts=2)
    with pytest.raises(BlackBoxError) as caught:
        service.predict(X[:2])
    shown = [repr(service), repr(AggregateExplainer(service)), repr(vars(service))]
    error = caught.value
    while error is not None:
        shown += [str(error), repr(error)]
        error = error.__cause__
    assert "5ecret" not in " ".join(shown)


BAD = {
    "http://risk.example/p": "sends rows in plain text, which anybody on the way can read and change",
    "http://localhost.example/p": "plain text",
    "http://127.0.0.1.example/p": "plain text",
    "ftp://risk.example/p": "url has the scheme 'ftp'",
    "file:///etc/passwd": "url has the scheme 'file'",
    "risk.example/p": "url has the scheme ''",
    "https://user:5ecret@risk.example/p": "url holds a user's name or password",
    "https://risk.example:port/p": "its host or port cannot be read",
    "https://[::1/p": "its host or port cannot be read",
    "https://risk.example/a b": "a blank, a control character",
    "https://risk.example/\r\nX: y": "a blank, a control character",
}


@pytest.mark.parametrize("url", BAD)
def test_urls_that_are_refused(url):
    with pytest.raises(ValueError, match=BAD[url]) as caught:
        http(url)
    assert "5ecret" not in str(caught.value)


def test_plain_text_may_be_allowed():
    assert "http://risk.example/p" in repr(http("http://risk.example/p", allow_plain=True))
    assert "localhost" in repr(http("http://localhost:8000/p"))
    assert "[::1]" in repr(http("http://[::1]:8000/p"))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"headers": {"Token": "5ecret\r\nX: y"}}, "the header Token has a value that cannot be sent"),
        ({"headers": {"Token": "5ecret\u2713"}}, "the header Token has a value that cannot be sent"),
        ({"headers": {"To ken": "5ecret"}}, "headers has a name that is no header's"),
        ({"batch_size": 0}, "batch_size=0 is not allowed"),
        ({"max_concurrency": True}, "max_concurrency=True is not allowed"),
        ({"timeout": 0}, "timeout=0 is not allowed"),
        ({"timeout": float("nan")}, "timeout=nan is not allowed"),
        ({"attempts": 0}, "attempts=0 is not allowed"),
    ],
)
def test_options_that_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        http("https://risk.example/p", **options)
    assert "5ecret" not in str(caught.value)


FAULTS = {"drop": 0.05, "cut": 0.02, "garbage": 0.03, "few": 0.02, "many": 0.01, "busy": 0.03, "error": 0.03}
FAULTS["slow"] = 0.01


def schedule(seed, n_requests=20_000):
    rng = np.random.default_rng(seed)
    kinds = [*FAULTS, None]
    shares = [*FAULTS.values(), 1 - sum(FAULTS.values())]
    return [kinds[k] for k in rng.choice(len(kinds), n_requests, p=shares)]


def saved(atlas, folder):
    atlas.save(folder / "atlas")
    content, _ = read_file(folder / "atlas")
    content["result"].pop("runtime")
    return json.dumps(content, sort_keys=True)


@pytest.mark.parametrize(
    ("batch_size", "options"),
    [(2, {"combine": "tree"}), (40, {"candidates": "balls", "n_draws": 200, "max_candidates": 20})],
    ids=["tree", "balls"],
)
def test_through_a_flaky_service_the_explainers_are_the_same_bit_for_bit(serve, tmp_path, batch_size, options):
    """Faults follow the number of the request, so their count is the same in each run: -rP prints it."""
    table, y = load_breast_cancer(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(5, random_state=0).fit(table[::2], y[::2])
    rows = table[1::2]
    options = {"max_explainers": 3, "min_fidelity": 0.8, "random_state": 0, **options}
    alone = AggregateExplainer(forest, **options).fit(rows)
    server = serve(forest.predict, schedule(seed=0))
    server.slow = 1.5
    service = quick(server.url, batch_size=batch_size, attempts=15, timeout=1.0)
    through = AggregateExplainer(service, **options).fit(rows)
    assert saved(alone, tmp_path) == saved(through, tmp_path)
    n_faults = sum(number for fault, number in server.given.items() if fault is not None)
    assert n_faults > 20
    assert service.n_retries >= n_faults - server.given["slow"]
    print(f"{len(server.requests)} requests, {n_faults} faults: {dict(server.given)}")
