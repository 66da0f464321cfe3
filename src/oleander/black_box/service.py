"""A black box behind a URL: rows go out in batches as JSON over HTTP, labels come back and are checked."""

import asyncio
import ipaddress
import math
import re
import ssl
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import responses as reason_phrases
from types import ModuleType
from typing import Any
from urllib.request import getproxies, proxy_bypass

import numpy as np

from oleander.arrays import Labels
from oleander.black_box.asking import BlackBoxError
from oleander.black_box.retries import Retrying, retrying
from oleander.black_box.rows_as_json import read_answer, write_rows
from oleander.data.checks import check_count
from oleander.data.frames import take_rows
from oleander.running.extras import import_extra
from oleander.running.wording import shorten

# The characters that RFC 9110 allows in a header's name and value.
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HEADER_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
HEADERS = {
    "Accept": "application/json",
    # A small compressed answer may stand for one that fills the memory.
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": "oleander",
}


class ServiceError(BlackBoxError):
    """A service could not be reached, or its answer cannot be used.

    The sentence never holds headers or the query of the URL, where tokens are. ``status`` and ``retry_after`` are those
    of the answer, if there was one; ``is_lasting`` says that another attempt would end in the same error.
    """

    def __init__(
        self, sentence: str, *, status: int | None = None, retry_after: str | None = None, is_lasting: bool = False
    ) -> None:
        super().__init__(sentence)
        self.status, self.retry_after, self.is_lasting = status, retry_after, is_lasting


@dataclass(frozen=True)
class Post:
    """One batch of rows, sent once. It holds no connection, so it can be sent to other processes."""

    url: str
    # The URL without its query, for messages.
    place: str
    timeout: float
    largest_answer: int
    ca_file: str | None
    headers: Mapping[str, str]

    def __repr__(self) -> str:
        return f"Post({self.place!r})"

    def __call__(self, X: Any) -> Labels:
        """Return the service's labels for the rows, or raise ``ServiceError``."""
        answer = asyncio.run(self._send(write_rows(X)))
        try:
            return read_answer(answer, len(X))
        except ValueError as error:
            raise self._unusable(error) from None

    async def _send(self, body: bytes) -> bytes:
        """Return the body of the answer.

        The time limits of httpx start anew with each byte, so a server that sends one now and then would never meet
        them; a task is cancelled wherever it waits. A client of httpx would log the query of the URL, a transport
        does not.
        """
        httpx = import_httpx()
        url = httpx.URL(self.url)
        # Without TLS no authority is needed, and loading the system's takes longer than a request.
        tls = make_tls(self.ca_file) if url.scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        headers = httpx.Headers(HEADERS)
        headers.update([(name.encode(), value.encode("latin-1")) for name, value in self.headers.items()])
        streams: list[Any] = []

        async def trace(event: str, info: Mapping[str, Any]) -> None:
            if event == "connection.connect_tcp.complete":
                streams.append(info["return_value"])

        request = httpx.Request("POST", url, headers=headers, content=body, extensions={"trace": trace})
        transport = httpx.AsyncHTTPTransport(verify=tls, proxy=find_proxy(url), trust_env=False)
        try:
            async with asyncio.timeout(self.timeout), transport:
                return await self._read(await transport.handle_async_request(request))
        except TimeoutError:
            raise ServiceError(f"{self.place} gave no whole answer within timeout={self.timeout:g} s.") from None
        except (httpx.TransportError, OSError) as error:
            raise self._failed(error) from None
        finally:
            # The transport leaves a connection open if it is cancelled in the handshake of TLS.
            for stream in streams:
                await stream.aclose()

    async def _read(self, response: Any) -> bytes:
        status, encoding = response.status_code, response.headers.get("Content-Encoding", "identity")
        if status != 200:
            words = f"{status} ({reason_phrases.get(status, 'a status without a name')})"
            hint = ", a redirect, which is not followed: give the URL itself" if 300 <= status < 400 else ""
            retry_after = response.headers.get("Retry-After")
            raise ServiceError(f"{self.place} answered {words}{hint}.", status=status, retry_after=retry_after)
        if encoding.lower() != "identity":
            raise self._unusable("its answer is compressed, and a plain one was asked for", is_lasting=True)
        content = bytearray()
        async for chunk in response.aiter_raw():
            content += chunk
            if len(content) > self.largest_answer:
                reason = f"its answer is longer than largest_answer={self.largest_answer:,} bytes"
                raise self._unusable(reason, is_lasting=True)
        return bytes(content)

    def _unusable(self, reason: Any, *, is_lasting: bool = False) -> ServiceError:
        return ServiceError(f"{self.place} cannot be used: {reason}.", is_lasting=is_lasting)

    def _failed(self, error: BaseException) -> ServiceError:
        """Return an error with the reason of a failed connection, which stands at the start of a chain of errors."""
        while cause := error.__cause__ or error.__context__ or getattr(error, "exceptions", [None])[0]:
            error = cause
        if isinstance(error, ssl.SSLCertVerificationError):
            return ServiceError(
                f"{self.place} shows a certificate that is not trusted: {error.verify_message}. Give the file of the "
                "authority that signed it as ca_file.",
                is_lasting=True,
            )
        # Errors of the protocol quote bytes that were sent or received, and a token may be among them.
        words = str(error) if isinstance(error, OSError) else re.split(r":? (?:bytearray|b['\"])", str(error))[0]
        words = " ".join(words.split()).rstrip(".") or "no reason is given"
        return ServiceError(f"{self.place} cannot be reached: {type(error).__name__}: {shorten(words, 300)}.")


class Service:
    """A black box behind a URL; ``http`` makes it. No connection and no thread is left after a call of ``predict``."""

    def __init__(self, ask: Retrying, *, batch_size: int, max_concurrency: int) -> None:
        self._ask = ask
        self.batch_size = batch_size
        self.max_concurrency = max_concurrency

    @property
    def n_retries(self) -> int:
        """The number of batches sent again so far, in this process."""
        return self._ask.n_retries

    def predict(self, X: Any) -> Labels:
        """Return the service's labels in the order of the rows, all of them or none."""
        starts = range(0, len(X), self.batch_size)
        if not starts:
            return np.empty(0, dtype=object)

        def ask(start: int) -> Labels:
            return self._ask.predict(take_rows(X, np.arange(start, min(start + self.batch_size, len(X)))))

        # Without one batch the others are of no use: an error cancels those that were not sent yet.
        n_threads = min(self.max_concurrency, len(starts))
        with ThreadPoolExecutor(n_threads, thread_name_prefix="oleander-http") as pool:
            return np.concatenate(list(pool.map(ask, starts)))

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
    """Return a black box that asks a service: rows as JSON over HTTP, labels back. It needs the extra ``http``.

    A batch is a POST of ``{"columns": ["age", "dose"], "rows": [[61, 0.5], [58, null]]}`` with missing values as null;
    the service answers ``{"labels": ["no", "yes"]}``, one string, number or boolean for each row, in their order.
    A batch that fails is sent again as in ``retrying``. Answers are used only if every batch has one label per row.

    Rows are often people's records, so certificates are verified, redirects are not followed, and a URL without TLS is
    refused unless it is on this machine: a machine on the way could read the rows and change the labels. Headers, such
    as tokens, and the query of the URL are shown in no message and no ``repr``. They are in the object's pickle, since
    the processes to which joblib or Dask sends it need them.

    Parameters
    ----------
    url : str
    batch_size : int
        The most rows in one request.
    timeout : float
        Seconds for one whole request, from the connection to the end of the answer.
    max_concurrency : int
        The most requests under way at the same time, in each process.
    headers : mapping of str to str, optional
        Sent with each request, such as ``{"Authorization": "Bearer ..."}``.
    attempts, first_wait, longest_wait, time_limit
        For each batch, as in ``retrying``.
    largest_answer : int
        Bytes; a longer answer is not read to its end, and a compressed one is not read.
    ca_file : str or None
        Certificates to trust, such as those of an organisation's own authority; None for the system's.
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
    ValueError: http://risk.example/predict sends rows in plain text, which a machine on the way can read and change: \
use https, or allow_plain=True.
    """
    place = _check_url(url, allow_plain)
    check_count("batch_size", batch_size)
    check_count("max_concurrency", max_concurrency)
    check_count("largest_answer", largest_answer)
    if not (math.isfinite(timeout) and timeout > 0):
        raise ValueError(f"timeout={timeout!r} is not allowed: give a number of seconds over 0.")
    if ca_file is not None:
        make_tls(ca_file)
    post = Post(url, place, float(timeout), largest_answer, ca_file, _check_headers(headers or {}))
    ask = retrying(post, attempts=attempts, first_wait=first_wait, longest_wait=longest_wait, time_limit=time_limit)
    return Service(ask, batch_size=batch_size, max_concurrency=max_concurrency)


def import_httpx() -> ModuleType:
    """Return httpx, or raise an error that names the extra that brings it."""
    return import_extra("httpx", extra="http", purpose="Asking a service")


def make_tls(ca_file: str | None) -> ssl.SSLContext:
    """Return a context that verifies certificates by a file or by the system's authorities."""
    if ca_file == "":
        # It would mean the system's authorities, of which there are many.
        raise ValueError("ca_file='' is an empty path: name a file, or leave it out.")
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise ValueError(f"ca_file={ca_file!r} cannot be read as certificates: {error.strerror or error}.") from None


def find_proxy(url: Any) -> str | None:
    """Return the proxy that the environment names for the scheme of a URL; None for a URL on this machine."""
    if is_local(url.host) or proxy_bypass(url.netloc.decode()):
        return None
    proxy = getproxies().get(url.scheme)
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


def is_local(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_url(url: str, allow_plain: bool) -> str:
    """Return the URL without its query, as messages may show it."""
    httpx = import_httpx()
    if re.search(r"[^\x21-\x7e]", url):
        raise ValueError("url holds a blank, a control character or one that is not ASCII: quote it.")
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL:
        raise ValueError("url is not a URL: its host or port cannot be read.") from None
    if parts.scheme not in ("http", "https") or not parts.host:
        raise ValueError(f"url has the scheme {parts.scheme!r}; a whole URL with http or https is expected.")
    if parts.userinfo:
        raise ValueError("url holds a user's name or password, which would be shown: put them into headers.")
    place = f"{parts.scheme}://{(parts.netloc + parts.raw_path).decode().partition('?')[0]}"
    if parts.scheme == "http" and not allow_plain and not is_local(parts.host):
        raise ValueError(
            f"{place} sends rows in plain text, which a machine on the way can read and change: use https, or "
            "allow_plain=True."
        )
    return place


def _check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers without blanks around values, or name the header that cannot be sent, never its value."""
    for name, value in headers.items():
        if not isinstance(name, str) or not HEADER_NAME.fullmatch(name):
            raise ValueError("headers has a name that is no header's: letters, digits and hyphens are expected.")
        if not isinstance(value, str) or not HEADER_VALUE.fullmatch(value):
            raise ValueError(f"the header {name} has a value that cannot be sent: one line of text is expected.")
    return {name: value.strip(" \t") for name, value in headers.items()}
