"""The example of a black box behind a URL, against a real server on this machine that fails as services do."""

import json
import pickle
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from examples.http_black_box import BadAnswerError, HttpBlackBox
from oleander import AggregateExplainer, Draws

X = np.random.default_rng(0).uniform(size=(60, 2))
LABELS = (X[:, 0] > 0.5).tolist()


class Handler(BaseHTTPRequestHandler):
    """Each request meets the next fault of the server's schedule; None is a good answer."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            fault = next(self.server.faults, None)
            self.server.requests.append((request, dict(self.headers)))
        table = pd.DataFrame(request["rows"], columns=request["columns"])
        labels = np.asarray(self.server.model(table)).tolist()
        if fault == "drop":
            self.connection.shutdown(2)
        elif isinstance(fault, int):
            self.send(b"", fault)
        else:
            contents = {"garbage": "<html>", "list": "[1]", "few": {"labels": labels[1:]}, "text": {"labels": "no"}}
            content = contents.get(fault, {"labels": labels})
            self.send((content if isinstance(content, str) else json.dumps(content)).encode())

    def send(self, content, status=200):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Retry-After", "0")
        self.send_header("Location", self.server.elsewhere)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


@pytest.fixture
def serve(monkeypatch):
    """Start servers: ``serve(model, faults)`` returns one with its ``url``."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    started = []

    def start(model=lambda table: table.iloc[:, 0] > 0.5, faults=()):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.model, server.faults, server.requests = model, iter(faults), []
        server.lock, server.elsewhere = threading.Lock(), ""
        server.url = f"http://127.0.0.1:{server.server_port}/predict"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        started.append((server, thread))
        return server

    yield start
    for server, thread in started:
        server.shutdown()
        thread.join()
        server.server_close()


def quick(url, **options):
    return HttpBlackBox(url, **{"batch_size": 7, "longest_wait": 0.001, "timeout": 5.0, **options})


def test_rows_go_and_labels_come_in_order(serve):
    server = serve()
    assert quick(server.url, headers={"Authorization": "Bearer token"}).predict(X) == LABELS
    assert sorted(len(request["rows"]) for request, _ in server.requests) == [4, 7, 7, 7, 7, 7, 7, 7, 7]
    assert {headers["Authorization"] for _, headers in server.requests} == {"Bearer token"}
    assert pickle.loads(pickle.dumps(quick(server.url))).predict(X) == LABELS


def test_every_kind_of_column_arrives(serve, mixed):
    mixed = mixed.assign(day=pd.Timestamp("2024-03-01"))
    server = serve(lambda table: ["a"] * len(table))
    quick(server.url, batch_size=400).predict(mixed)
    request = server.requests[0][0]
    sent = pd.DataFrame(request["rows"], columns=request["columns"])
    assert set(sent.pop("day")) == {"2024-03-01 00:00:00"}
    for name in sent:
        absent = mixed[name].isna()
        assert sent[name].isna().tolist() == absent.tolist()
        assert sent[name][~absent].tolist() == mixed[name][~absent].tolist()


@pytest.mark.parametrize("fault", ["drop", "garbage", "list", "few", "text", 429, 500])
def test_passing_faults_are_asked_about_again(serve, fault):
    server = serve(faults=[fault, fault])
    assert quick(server.url, max_concurrency=1).predict(X) == LABELS
    assert len(server.requests) == 9 + 2


@pytest.mark.parametrize(
    ("fault", "error", "n_requests"),
    [("few", BadAnswerError, 3), (503, httpx.HTTPStatusError, 3), (403, httpx.HTTPStatusError, 1)],
)
def test_faults_that_do_not_pass(serve, fault, error, n_requests):
    server = serve(faults=[fault] * 9)
    with pytest.raises(error):
        quick(server.url, attempts=3).predict(X[:5])
    assert len(server.requests) == n_requests


def test_no_row_and_no_token_goes_to_another_host(serve):
    other, server = serve(), serve(faults=[307])
    server.elsewhere = other.url
    with pytest.raises(httpx.HTTPStatusError, match="307"):
        quick(server.url).predict(X[:5])
    assert not other.requests


def test_rows_go_over_tls_and_tokens_are_not_shown():
    with pytest.raises(ValueError, match="sends rows in plain text"):
        HttpBlackBox("http://risk.example/predict")
    assert "token" not in repr(HttpBlackBox("https://risk.example/predict", {"Authorization": "token"}))


def test_through_a_flaky_service_the_explainers_are_the_same_bit_for_bit(serve):
    rows, y = load_breast_cancer(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(5, random_state=0).fit(rows[::2], y[::2])
    faults = np.random.default_rng(0).choice([None, "drop", "garbage", "few", 429, 500], 200, p=[0.8, *[0.04] * 5])
    server = serve(forest.predict, faults.tolist())
    options = {"draws": Draws(1_000), "max_explainers": 3, "min_fidelity": 0.8, "random_state": 0}
    service = quick(server.url, batch_size=20)
    plain, through = (AggregateExplainer(model, **options).fit(rows[1::2]) for model in (forest, service))
    assert json.dumps(through.to_dict()) == json.dumps(plain.to_dict())
    assert through.n_queries_ == plain.n_queries_
    assert len(server.requests) > through.n_queries_ / 20
