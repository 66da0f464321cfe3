"""The servers are real, on this machine, and fail as services do."""

import asyncio
import contextlib
import gc
import gzip
import json
import logging
import multiprocessing
import pickle
import socket
import sys
import threading
import time
import tracemalloc
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from oleander import AggregateExplainer, Draws
from oleander.black_box import ServiceError, http
from oleander.black_box.asking import BlackBoxError
from oleander.black_box.service import find_proxy, is_local
from oleander.candidates import Balls
from oleander.export.saved_file import read_file

CERTIFICATE = Path(__file__).with_name("self_signed.pem")
X = np.random.default_rng(0).uniform(size=(60, 2))
LABELS = X[:, 0] > 0.5
SECRET = "Bearer 5ecret-token"


def quick(url, **options):
    return http(url, **{"first_wait": 0.001, "timeout": 5.0, "batch_size": 10, **options})


def test_rows_go_and_labels_come_in_order(serve):
    server = serve()
    service = quick(server.url, batch_size=7, max_concurrency=3)
    np.testing.assert_array_equal(service.predict(X), LABELS)
    np.testing.assert_array_equal(service(X[:3]), LABELS[:3])
    assert sorted(len(request["rows"]) for request in server.requests) == [3, 4, 7, 7, 7, 7, 7, 7, 7, 7]
    assert service.n_retries == 0


def test_order_is_kept_when_answers_come_in_another(serve):
    """An earlier batch takes longer."""

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
def test_values_that_cannot_be_sent(serve, value, error, sentence):
    server = serve()
    with pytest.raises(error, match=sentence):
        quick(server.url).predict(pd.DataFrame({"a": [0.5, value]}, dtype=object))
    assert not server.requests


@pytest.mark.parametrize("fault", ["drop", "cut", "garbage", "few", "many", "busy", "error"])
def test_passing_faults_are_asked_about_again(serve, fault):
    server = serve(faults=[fault, fault])
    service = quick(server.url, max_concurrency=1)
    np.testing.assert_array_equal(service.predict(X), LABELS)
    assert service.n_retries == 2
    assert server.given[fault] == 2


LASTING = {
    "drop": "cannot be reached: RemoteProtocolError: Server disconnected without sending a response",
    "cut": r"cannot be reached: RemoteProtocolError: .* \(received 12 bytes, expected 1000\)",
    "garbage": "it answered 34 bytes that are not JSON",
    "few": "it answered 9 labels for 10 rows; one per row is expected",
    "many": "it answered 11 labels for 10 rows; one per row is expected",
    "busy": r"answered 429 \(Too Many Requests\)",
    "error": r"answered 500 \(Internal Server Error\)",
    "slow": "gave no whole answer within timeout=0.1 s",
}


@pytest.mark.parametrize("fault", LASTING)
def test_faults_that_do_not_pass_end_in_one_sentence(serve, fault):
    server = serve(faults=[fault] * 10)
    service = quick(server.url, attempts=3, timeout=0.1 if fault == "slow" else 5.0)
    with pytest.raises(BlackBoxError, match=LASTING[fault]) as caught:
        service.predict(X[:10])
    assert "3 attempts were all that attempts=3 allows" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(server.requests) == 3
    assert service.n_retries == 2


RAISED_AT_ONCE = {
    "forbidden": r"answered 403 \(Forbidden\)",
    "away": r"answered 307 \(Temporary Redirect\), a redirect, which is not followed: give the URL itself",
    "found": r"answered 302 \(Found\), a redirect, which is not followed",
    "endless": "its answer is longer than largest_answer=1,000,000 bytes",
    "packed": "its answer is compressed, and a plain one was asked for",
}


@pytest.mark.parametrize("fault", RAISED_AT_ONCE)
def test_faults_that_cannot_pass_are_raised_at_once(serve, fault):
    other = serve()
    server = serve(faults=[fault] * 10)
    server.elsewhere = other.url
    with pytest.raises(ServiceError, match=RAISED_AT_ONCE[fault]):
        quick(server.url, largest_answer=1_000_000, headers={"Authorization": SECRET}).predict(X[:10])
    assert len(server.requests) == 1
    assert not other.requests, "no row and no token may go to another host"


@pytest.mark.parametrize("n_times", [1, 2, 3])
def test_a_small_compressed_answer_does_not_fill_the_memory(serve, n_times):
    """Packed three times, 50 MB are a few hundred bytes, all of them in the first piece that is read."""
    server = serve(faults=["packed"])
    content = b" " * 50_000_000
    for _ in range(n_times):
        content = gzip.compress(content)
    server.packed = content, ", ".join(["gzip"] * n_times)
    service = quick(server.url)
    tracemalloc.start()
    try:
        with pytest.raises(ServiceError, match="its answer is compressed"):
            service.predict(X[:2])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


def test_a_server_that_compresses_all_the_same_is_asked_for_plain_answers(serve):
    server = serve()
    quick(server.url).predict(X[:2])
    assert server.headers[0]["Accept-Encoding"] == "identity"


@contextlib.contextmanager
def silent_server(*, is_full=False):
    """Open a port on which connections are never answered; where it is full, not even made."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, contextlib.ExitStack() as stack:
        if is_full:
            for _ in range(4):
                client = stack.enter_context(socket.socket())
                client.setblocking(False)
                client.connect_ex(server.getsockname())
        yield f"127.0.0.1:{server.getsockname()[1]}/predict"


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("is_full", [False, True])
def test_a_server_that_stays_silent_is_left(scheme, is_full):
    """The wait is for a connection, for the greeting of TLS, or for an answer."""
    start = time.monotonic()
    message = r"gave no whole answer within timeout=0\.3 s"
    with silent_server(is_full=is_full) as place, pytest.raises(BlackBoxError, match=message):
        quick(f"{scheme}://{place}", timeout=0.3, attempts=1).predict(X[:2])
    assert time.monotonic() - start < 2
    # A connection that is left open warns when it is collected, and warnings are errors here.
    gc.collect()


def test_a_server_that_does_not_read_is_left():
    rows = np.zeros((100_000, 10))
    with silent_server() as place, pytest.raises(BlackBoxError, match="gave no whole answer within"):
        quick(f"http://{place}", timeout=0.5, attempts=1, batch_size=len(rows)).predict(rows)


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


def test_retry_after_is_obeyed(serve, monkeypatch):
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


def test_it_works_inside_a_running_event_loop(serve):
    """A notebook has one."""
    service = quick(serve().url)

    async def cell():
        return service.predict(X)

    # In a thread of its own, because a browser of another test may run a loop in this one.
    with ThreadPoolExecutor(1) as thread:
        np.testing.assert_array_equal(thread.submit(asyncio.run, cell()).result(), LABELS)


@pytest.mark.slow
def test_it_can_be_sent_to_other_processes(serve):
    server = serve(faults=["error"])
    service = quick(server.url, headers={"Authorization": SECRET})
    service.predict(X[:5])
    copy = pickle.loads(pickle.dumps(service))
    assert copy.n_retries == 1
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        np.testing.assert_array_equal(pool.submit(copy.predict, X).result(), LABELS)
    assert all(headers["Authorization"] == SECRET for headers in server.headers)


def test_an_untrusted_certificate_is_refused(serve):
    server = serve(tls=True)
    with pytest.raises(ServiceError, match="shows a certificate that is not trusted: self-signed certificate"):
        quick(server.url).predict(X[:5])
    assert not server.requests, "no row may be sent"
    np.testing.assert_array_equal(quick(server.url, ca_file=str(CERTIFICATE)).predict(X), LABELS)


def test_a_certificate_of_another_host_is_refused(serve):
    server = serve(tls=True)
    url = server.url.replace("127.0.0.1", "127.0.0.2")
    with pytest.raises(BlackBoxError, match=r"not trusted: IP address mismatch|cannot be reached"):
        quick(url, ca_file=str(CERTIFICATE), attempts=1).predict(X[:5])
    assert not server.requests


@pytest.mark.parametrize("kind", ["missing", "garbage"])
def test_a_ca_file_that_cannot_be_read_is_named(tmp_path, kind):
    path = tmp_path / "authority.pem"
    if kind == "garbage":
        path.write_text("no certificate")
    with pytest.raises(ValueError, match=r"ca_file='.*authority\.pem' cannot be read as certificates: "):
        http("https://risk.example/p", ca_file=str(path))


def test_an_empty_ca_file_is_not_that_of_the_system():
    with pytest.raises(ValueError, match="ca_file='' is an empty path"):
        http("https://risk.example/p", ca_file="")


def test_a_ca_file_that_is_gone_is_named(serve, tmp_path):
    """A worker on another machine may not have it."""
    path = tmp_path / "authority.pem"
    path.write_bytes(CERTIFICATE.read_bytes())
    server = serve(tls=True)
    service = quick(server.url, ca_file=str(path))
    path.unlink()
    with pytest.raises(ValueError, match=r"ca_file='.*authority\.pem' cannot .*: No such file or directory"):
        service.predict(X[:2])
    assert not server.requests


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(ImportError, match=r'Asking a service needs httpx, .*: pip install "oleander\[http\]"'):
        http("https://risk.example/p")


def test_a_port_without_a_server():
    with pytest.raises(BlackBoxError, match="cannot be reached: ConnectionRefusedError"):
        quick("http://127.0.0.1:9/predict", attempts=2).predict(X[:2])


PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture
def proxies(monkeypatch):
    """Take the machine's own proxies out of the environment."""
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


def test_requests_to_this_machine_go_through_no_proxy(serve, proxies):
    proxy, server = serve(), serve()
    for name in PROXIES[:3]:
        proxies.setenv(name, proxy.url)
    quick(server.url).predict(X[:2])
    assert not proxy.requests


def test_requests_to_other_machines_go_through_the_proxy_of_their_scheme(serve, proxies):
    proxy = serve()
    proxies.setenv("http_proxy", proxy.url)
    service = quick("http://risk.invalid/predict", allow_plain=True)
    np.testing.assert_array_equal(service.predict(X), LABELS)
    assert {headers["Host"] for headers in proxy.headers} == {"risk.invalid"}


@pytest.mark.parametrize(
    ("environment", "proxy"),
    [
        ({}, None),
        ({"https_proxy": "http://proxy.example:3128"}, "http://proxy.example:3128"),
        ({"https_proxy": "proxy.example:3128"}, "http://proxy.example:3128"),
        ({"http_proxy": "http://proxy.example:3128"}, None),
        ({"all_proxy": "http://proxy.example:3128"}, None),
        ({"https_proxy": "http://proxy.example:3128", "no_proxy": "other.example,.risk.example"}, None),
    ],
)
def test_proxies_of_the_environment(proxies, environment, proxy):
    for name, value in environment.items():
        proxies.setenv(name, value)
    assert find_proxy(httpx.URL("https://api.risk.example/p")) == proxy


def test_headers_of_the_user_replace_others_of_their_name(serve):
    server = serve()
    quick(server.url, headers={"accept": "text/json", "X-Name": " Zoë\t"}).predict(X[:2])
    sent = server.headers[0]
    assert (sent.get("Accept"), sent.get("accept")) == (None, "text/json")
    assert sent["X-Name"] == "Zoë"
    assert sent["Content-Type"] == "application/json"


@pytest.mark.parametrize("fault", ["forbidden", "garbage", "away", "few", "drop", "echo"])
def test_tokens_are_shown_nowhere(serve, caplog, fault):
    caplog.set_level(logging.INFO)
    server = serve(faults=[fault] * 9)
    server.elsewhere = "https://elsewhere.example/"
    service = quick(f"{server.url}?key=5ecret-key", headers={"Authorization": SECRET}, attempts=2)
    with pytest.raises(BlackBoxError) as caught:
        service.predict(X[:2])
    shown = [repr(service), repr(AggregateExplainer(service)), repr(vars(service)), caplog.text]
    error = caught.value
    while error is not None:
        shown += [str(error), repr(error)]
        error = error.__cause__
    assert "5ecret" not in " ".join(shown)


def test_tokens_are_not_logged_when_all_is_well(serve, caplog):
    caplog.set_level(logging.DEBUG)
    quick(f"{serve().url}?key=5ecret-key", headers={"Authorization": SECRET}).predict(X[:2])
    assert "5ecret" not in caplog.text


BAD = {
    "http://risk.example/p": "sends rows in plain text, which a machine on the way can read and change",
    "http://localhost.example/p": "plain text",
    "http://127.0.0.1.example/p": "plain text",
    "ftp://risk.example/p": "url has the scheme 'ftp'",
    "file:///etc/passwd": "url has the scheme 'file'",
    "risk.example/p": "url has the scheme ''",
    "https://user:5ecret@risk.example/p": "url holds a user's name or password",
    "https://risk.example:port/p": "its host or port cannot be read",
    "https://[::1/p": "its host or port cannot be read",
    "https://256.256.256.256/p": "its host or port cannot be read",
    "https://risk.example/a b": "a blank, a control character",
    "https://risk.example/\r\nX: y": "a blank, a control character",
}


@pytest.mark.parametrize("url", BAD)
def test_urls_that_are_refused(url):
    with pytest.raises(ValueError, match=BAD[url]) as caught:
        http(url)
    assert "5ecret" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "expected"),
    [("localhost", True), ("127.0.0.1", True), ("::1", True), ("localhost.example", False), ("10.0.0.1", False)],
)
def test_hosts_on_this_machine(host, expected):
    assert is_local(host) == expected


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
        ({"largest_answer": 0}, "largest_answer=0 is not allowed"),
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
    content = read_file(folder / "atlas")
    if content["proof"] is not None:
        content["proof"].pop("runtime")
    return json.dumps(content, sort_keys=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("batch_size", "options"),
    [(2, {"draws": Draws(600)}), (40, {"candidates": Balls(n_draws=200, max_candidates=20)})],
    ids=["default", "balls"],
)
def test_through_a_flaky_service_the_explainers_are_the_same_bit_for_bit(serve, tmp_path, batch_size, options):
    """The fault of a request follows from its number, so the counts are the same in each run: -rP prints them."""
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
