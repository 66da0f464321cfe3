"""A real server on this machine that answers as a model does, with faults on a schedule."""

import gzip
import json
import ssl
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

CERTIFICATE = Path(__file__).with_name("self_signed.pem")


class Handler(BaseHTTPRequestHandler):
    """Each request meets the next fault of the server's schedule; None is a good answer."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = json.loads(body, parse_constant=lambda word: pytest.fail(f"the request holds {word}"))
        fault = self.server.next_fault(request, dict(self.headers))
        table = pd.DataFrame(request["rows"], columns=request["columns"])
        try:
            getattr(self, f"give_{fault}")(table)
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            if fault != "slow":
                self.server.leave()

    def answer(self, labels):
        self.send(json.dumps({"labels": list(labels)}).encode())

    def send(self, content, status=200, **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def labels(self, table):
        return np.asarray(self.server.model(table)).tolist()

    def give_None(self, table):  # noqa: N802
        self.answer(self.labels(table))

    def give_slow(self, table):
        time.sleep(self.server.slow)
        # The client may send its next request as soon as it has the answer, so this one is over before.
        self.server.leave()
        self.answer(self.labels(table))

    def give_drop(self, table):
        self.close_connection = True
        self.connection.shutdown(2)

    def give_cut(self, table):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"labels": [')
        self.close_connection = True

    def give_garbage(self, table):
        self.send(b"<html>The gateway is unwell</html>")

    def give_few(self, table):
        self.answer(self.labels(table)[:-1])

    def give_many(self, table):
        self.answer([*self.labels(table), 0])

    def give_busy(self, table):
        self.send(b"later", 429, Retry_After="0")

    def give_error(self, table):
        self.send(b"oops", 500)

    def give_forbidden(self, table):
        self.send(b"no", 403)

    def give_away(self, table):
        self.send(b"", 307, Location=self.server.elsewhere)

    def give_found(self, table):
        self.send(b"", 302, Location=self.server.elsewhere)

    def give_endless(self, table):
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        while True:
            self.wfile.write(b'"a", ' * 10_000)

    def give_packed(self, table):
        content, encoding = self.server.packed
        self.send(content, Content_Encoding=encoding)

    def give_echo(self, table):
        """Send the client's token back in place of a status."""
        self.wfile.write(b"HTTP/1.1 " + self.headers.get("Authorization", "").encode() + b"\r\n\r\n")
        self.close_connection = True

    def give_drip(self, table):
        """Send a byte now and then: every single wait is short, all of them together have no end."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" if self.server.drip_body else b"HTTP/1.1 200 ")
        self.close_connection = True
        while True:
            self.wfile.write(b" ")
            time.sleep(0.02)

    def give_flip(self, table):
        """Send the other labels."""
        self.answer([not label for label in self.labels(table)])

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 50

    def __init__(self, model, faults, *, tls=False):
        super().__init__(("127.0.0.1", 0), Handler)
        self.model, self.faults = model, iter(faults)
        self.requests, self.headers, self.given = [], [], Counter()
        self.elsewhere, self.drip_body, self.slow = "", True, 0.4
        self.packed = gzip.compress(b'{"labels": []}'), "gzip"
        self.n_inside = self.most_inside = 0
        self.lock = threading.Lock()
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.server_port}/predict"

    def next_fault(self, request, headers):
        with self.lock:
            fault = next(self.faults, None)
            self.given[fault] += 1
            self.requests.append(request)
            self.headers.append(headers)
            self.n_inside += 1
            self.most_inside = max(self.most_inside, self.n_inside)
        return fault

    def leave(self):
        with self.lock:
            self.n_inside -= 1

    def handle_error(self, request, client_address):
        """Print nothing: the tests make clients hang up."""


@pytest.fixture
def serve():
    """Start servers: ``serve(model, faults)`` returns one with its ``url``."""
    started = []

    def start(model=lambda table: (table.iloc[:, 0] > 0.5).to_numpy(), faults=(), **options):
        server = Server(model, faults, **options)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        started.append((server, thread))
        return server

    yield start
    for server, thread in started:
        server.shutdown()
        thread.join()
        server.server_close()
