"""A black box behind a URL: rows in batches as JSON over HTTP, labels back, and nothing believed unchecked."""

import io
import ipaddress
import math
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus, client
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from oleander.arrays import Labels
from oleander.black_box.asking import BlackBoxError
from oleander.black_box.retries import Retrying, retrying
from oleander.black_box.rows_as_json import read_answer, write_rows
from oleander.data.checks import take_rows

# What http.client and RFC 9110 take for a header's name and value.
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HEADER_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
CHUNK = 2**16


class ServiceError(BlackBoxError):
    """A service could not be reached, or answered what cannot be used.

    Parameters
    ----------
    sentence : str
        It never holds headers, nor what stands behind a question mark in the URL: tokens are kept there.
    status : int or None
        HTTP's.
    retry_after : str or None
        What the service said of when to come back.
    is_lasting : bool
        Whether it will be the same the next time.
    """

    def __init__(
        self, sentence: str, *, status: int | None = None, retry_after: str | None = None, is_lasting: bool = False
    ) -> None:
        super().__init__(sentence)
        self.status, self.retry_after, self.is_lasting = status, retry_after, is_lasting


class _UntilDeadline(io.RawIOBase):
    """What a socket receives until a moment: a server that sends a byte now and then cannot go on for ever."""

    def __init__(self, sock: Any, deadline: float) -> None:
        self._sock, self._deadline = sock, deadline
        self._inner = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(left)
        received: int | None = self._inner.readinto(buffer)
        return received

    def close(self) -> None:
        self._inner.close()
        super().close()


@dataclass
class _Timed:
    """A socket as http.client's answers want it: something to make a file of."""

    sock: Any
    deadline: float

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_UntilDeadline(self.sock, self.deadline))


def _timed_answer(deadline: float) -> Any:
    def make(sock: Any, *args: Any, **options: Any) -> client.HTTPResponse:
        return client.HTTPResponse(_Timed(sock, deadline), *args, **options)  # type: ignore[arg-type]

    return make


class _TimedHandler(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    """Opens connections whose answers must be there, whole, before a moment."""

    def __init__(self, context: ssl.SSLContext | None, deadline: float) -> None:
        super().__init__()
        self._tls, self._deadline = context, deadline

    def http_open(self, req: urllib.request.Request) -> client.HTTPResponse:
        return self._open(req, client.HTTPConnection)

    def https_open(self, req: urllib.request.Request) -> client.HTTPResponse:
        return self._open(req, client.HTTPSConnection, context=self._tls)

    def _open(self, req: urllib.request.Request, kind: Any, **options: Any) -> client.HTTPResponse:
        def connect(host: str, **more: Any) -> Any:
            connection = kind(host, **more, **options)
            connection.response_class = _timed_answer(self._deadline)
            return connection

        answer: client.HTTPResponse = self.do_open(connect, req)
        return answer


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Rows are sent where the user said, and nowhere else."""

    def redirect_request(self, *args: Any, **options: Any) -> None:
        return None


@dataclass(frozen=True)
class Post:
    """One batch of rows, sent once. It holds no connection, so it can be sent to other processes."""

    url: str
    timeout: float
    largest_answer: int
    ca_file: str | None
    headers: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Post({self.place!r})"

    @property
    def place(self) -> str:
        """The URL as it may be shown: without what stands behind a question mark."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{parts.path}"

    def __call__(self, X: Any) -> Labels:
        """Return the service's labels for the rows, or raise ``ServiceError``."""
        body = write_rows(X)
        answer = self._send(body)
        try:
            return read_answer(answer, len(X))
        except ValueError as error:
            raise ServiceError(f"{self.place} cannot be used: {error}.") from None

    def _send(self, body: bytes) -> bytes:
        parts = urlsplit(self.url)
        deadline = time.monotonic() + self.timeout
        headers = {"Accept": "application/json", "Content-Type": "application/json", **self.headers}
        request = urllib.request.Request(self.url, data=body, headers=headers, method="POST")
        context = ssl.create_default_context(cafile=self.ca_file) if parts.scheme == "https" else None
        handlers: list[Any] = [_TimedHandler(context, deadline), _NoRedirect()]
        if is_local(parts.hostname or ""):
            # What is meant for this machine must not go out to a proxy.
            handlers.append(urllib.request.ProxyHandler({}))
        try:
            with urllib.request.build_opener(*handlers).open(request, timeout=self.timeout) as answer:
                return self._read(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error.code, error.headers.get("Retry-After")) from None
        except (OSError, client.HTTPException) as error:
            raise self._failed(error) from None

    def _read(self, answer: Any) -> bytes:
        if answer.status != HTTPStatus.OK:
            raise self._refused(answer.status, None)
        content = bytearray()
        while chunk := answer.read1(CHUNK):
            content += chunk
            if len(content) > self.largest_answer:
                raise ServiceError(
                    f"{self.place} cannot be used: its answer is longer than largest_answer={self.largest_answer:,} "
                    "bytes.",
                    is_lasting=True,
                )
        if answer.length:
            raise client.IncompleteRead(b"", answer.length)
        return bytes(content)

    def _refused(self, status: int, retry_after: str | None) -> ServiceError:
        known = status in {known.value for known in HTTPStatus}
        words = f"{status} ({HTTPStatus(status).phrase})" if known else str(status)
        hint = ", a redirect, which is not followed: give the URL itself" if 300 <= status < 400 else ""
        return ServiceError(f"{self.place} answered {words}{hint}.", status=status, retry_after=retry_after)

    def _failed(self, error: Exception) -> ServiceError:
        cause = getattr(error, "reason", error)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return ServiceError(
                f"{self.place} shows a certificate that is not trusted: {cause.verify_message}. Give the file of the "
                "authority that signed it as ca_file.",
                is_lasting=True,
            )
        if isinstance(cause, TimeoutError):
            return ServiceError(f"{self.place} gave no whole answer within timeout={self.timeout:g} s.")
        words = " ".join(str(cause).split()) or "no reason is given"
        return ServiceError(f"{self.place} cannot be reached: {type(cause).__name__}: {words}.")


class Service:
    """A black box behind a URL; ``http`` makes it. Nothing is open and no thread lives between two questions."""

    def __init__(self, ask: Retrying, *, batch_size: int, max_concurrency: int) -> None:
        self._ask = ask
        self.batch_size = batch_size
        self.max_concurrency = max_concurrency

    @property
    def n_retries(self) -> int:
        """How often a batch was sent again so far, in this process."""
        return self._ask.n_retries

    def predict(self, X: Any) -> Labels:
        """Return the service's labels in the order of the rows, all of them or none."""
        starts = range(0, len(X), self.batch_size)
        batches = [np.arange(start, min(start + self.batch_size, len(X))) for start in starts]
        if not batches:
            return np.empty(0, dtype=object)
        n_threads = min(self.max_concurrency, len(batches))
        with ThreadPoolExecutor(n_threads, thread_name_prefix="oleander-http") as pool:
            answers = [pool.submit(self._predict_batch, X, batch) for batch in batches]
            try:
                return np.concatenate([answer.result() for answer in answers])
            except BaseException:
                # Without one of them the others are of no use: those not sent yet are not sent.
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _predict_batch(self, X: Any, batch: Any) -> Labels:
        return self._ask.predict(take_rows(X, batch))

    def __call__(self, X: Any) -> Labels:
        """Do what ``predict`` does."""
        return self.predict(X)

    def __repr__(self) -> str:
        post: Post = self._ask.black_box
        return f"http({post.place!r}, batch_size={self.batch_size}, max_concurrency={self.max_concurrency})"


def http(
    url: str,
    *,
    batch_size: int = 1000,
    timeout: float = 30.0,
    max_concurrency: int = 4,
    headers: Mapping[str, str] | None = None,
    attempts: int = 5,
    first_wait: float = 0.5,
    longest_wait: float = 60.0,
    time_limit: float | None = None,
    largest_answer: int = 16 * 2**20,
    ca_file: str | None = None,
    allow_plain: bool = False,
) -> Service:
    """Return a black box that asks a service: rows as JSON over HTTP, labels back.

    A batch is a POST of ``{"columns": ["age", "dose"], "rows": [[61, 0.5], [58, null]]}`` with missing values as null;
    the service answers ``{"labels": ["no", "yes"]}``, one string, number or boolean for each row, in their order.
    A batch that fails is sent again as in ``retrying``. Answers are used only if every batch has one label per row.

    Rows are often people's records, so certificates are verified, redirects are not followed, and a URL without TLS is
    refused unless it is on this machine: anybody on the way could read the rows, and change the labels. Headers, such
    as tokens, and what stands behind a question mark in the URL are shown in no message and no ``repr``; they are in
    the object's pickle, since the processes to which joblib or Dask sends it need them.

    Parameters
    ----------
    url : str
    batch_size : int
        Rows in one request, at most.
    timeout : float
        Seconds in which the whole answer to a request must be there.
    max_concurrency : int
        Requests under way at the same time, at most, in each process.
    headers : mapping of str to str, optional
        Sent along, such as ``{"Authorization": "Bearer ..."}``.
    attempts, first_wait, longest_wait, time_limit
        For each batch, as in ``retrying``.
    largest_answer : int
        Bytes; a longer answer is not read to its end.
    ca_file : str or None
        Certificates to trust, of a house's own authority; None takes the system's.
    allow_plain : bool
        Allow a URL without TLS to another machine.

    Returns
    -------
    Service
        With ``predict``; ``n_retries`` counts batches that were sent again.

    Examples
    --------
    >>> http("https://risk.example/predict", headers={"Authorization": "Bearer secret"})
    http('https://risk.example/predict', batch_size=1000, max_concurrency=4)
    >>> http("http://risk.example/predict")
    Traceback (most recent call last):
    ...
    ValueError: http://risk.example/predict sends rows in plain text, which anybody on the way can read and change: \
use https, or allow_plain=True.
    """
    _check_url(url, allow_plain)
    for name, number in {"batch_size": batch_size, "max_concurrency": max_concurrency}.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ValueError(f"{name}={number!r} is not allowed: it is a whole number, 1 or more.")
    if not (math.isfinite(timeout) and timeout > 0):
        raise ValueError(f"timeout={timeout!r} is not allowed: it is a number of seconds over 0.")
    post = Post(url, float(timeout), largest_answer, ca_file, _check_headers(headers or {}))
    ask = retrying(post, attempts=attempts, first_wait=first_wait, longest_wait=longest_wait, time_limit=time_limit)
    return Service(ask, batch_size=batch_size, max_concurrency=max_concurrency)


def is_local(host: str) -> bool:
    """Return whether a host is this machine.

    Examples
    --------
    >>> is_local("localhost"), is_local("127.0.0.1"), is_local("::1"), is_local("localhost.example")
    (True, True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_url(url: str, allow_plain: bool) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname
        assert parts.port is None or parts.port > 0
    except (ValueError, AssertionError):
        raise ValueError("url is not a URL: its host or port cannot be read.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError(f"url has the scheme {parts.scheme!r}; a whole URL with http or https is expected.")
    if "@" in parts.netloc:
        raise ValueError("url holds a user's name or password, which would be shown: put them into headers.")
    if re.search(r"[\x00-\x20\x7f-\U0010ffff]", url):
        raise ValueError("url holds a blank, a control character or one that is not ASCII: quote it.")
    if parts.scheme == "http" and not allow_plain and not is_local(host):
        raise ValueError(
            f"http://{parts.netloc}{parts.path} sends rows in plain text, which anybody on the way can read and "
            "change: use https, or allow_plain=True."
        )


def _check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers, or say which one cannot be sent; never with its value."""
    for name, value in headers.items():
        if not isinstance(name, str) or not HEADER_NAME.fullmatch(name):
            raise ValueError("headers has a name that is no header's: letters, digits and hyphens are expected.")
        if not isinstance(value, str) or not HEADER_VALUE.fullmatch(value):
            raise ValueError(f"the header {name} has a value that cannot be sent: one line of text is expected.")
    return dict(headers)
