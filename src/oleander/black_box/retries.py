"""A black box that fails now and then: asked again after longer and longer waits, within limits."""

import http.client
import math
import random
import ssl
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from oleander.arrays import Labels
from oleander.black_box.asking import BlackBoxError, check_answers, predict_of
from oleander.black_box.tally import Tally
from oleander.data.checks import check_count

Errors = type[Exception] | tuple[type[Exception], ...]
# Errors of networks, and BlackBoxError for an answer that cannot be used, which a service under load gives too.
PASSING: tuple[type[Exception], ...] = (OSError, http.client.HTTPException, EOFError, BlackBoxError)
# Of the errors above, those that another attempt would raise again.
LASTING = (
    FileNotFoundError,
    PermissionError,
    IsADirectoryError,
    NotADirectoryError,
    ssl.SSLCertVerificationError,
)
# Time-out, too early, too many: the statuses 4xx that may pass.
LATER = {408, 425, 429}


class Retrying:
    """A black box that is asked again when it fails; ``retrying`` makes it."""

    def __init__(
        self,
        black_box: Any,
        *,
        attempts: int,
        first_wait: float,
        longest_wait: float,
        time_limit: float | None,
        retry_on: Errors,
        random_state: int | None,
        sleep: Callable[[float], Any],
        clock: Callable[[], float],
    ) -> None:
        self.black_box = black_box
        self.attempts = attempts
        self.first_wait = first_wait
        self.longest_wait = longest_wait
        self.time_limit = time_limit
        self.retry_on = retry_on
        self.random_state = random_state
        self._sleep, self._clock = sleep, clock
        self._random = random.Random(random_state)
        self._retries = Tally()

    @property
    def n_retries(self) -> int:
        """The number of repeated attempts so far, in this process."""
        return self._retries.value

    def predict(self, X: Any) -> Labels:
        """Return the black box's labels, one for each row, or raise its last error."""
        ask = predict_of(self.black_box)
        start = self._clock()
        for attempt in range(1, self.attempts + 1):
            try:
                return check_answers(ask(X), len(X))
            except Exception as error:
                if not self._is_worth_retrying(error):
                    raise
                wait = self._wait_after(attempt, error)
                stopped = self._why_stop(attempt, wait, self._clock() - start)
                if stopped:
                    raise BlackBoxError(
                        f"the black box failed on {len(X)} rows, and {stopped}: {type(error).__name__}: {error}"
                    ) from error
            self._retries.add()
            self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def __call__(self, X: Any) -> Labels:
        """Do what ``predict`` does."""
        return self.predict(X)

    def __repr__(self) -> str:
        return f"retrying({self.black_box!r}, attempts={self.attempts}, n_retries={self.n_retries})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_random"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._random = random.Random(self.random_state)

    def _is_worth_retrying(self, error: Exception) -> bool:
        status = status_of(error)
        if status is not None:
            return status in LATER or 500 <= status < 600
        return isinstance(error, self.retry_on) and not isinstance(error, LASTING) and not is_lasting(error)

    def _wait_after(self, attempt: int, error: Exception) -> float:
        asked = retry_after_of(error)
        if asked is not None:
            return asked
        # The exponent is kept small only so that it cannot overflow.
        wait = min(self.first_wait * 2.0 ** min(attempt - 1, 60), self.longest_wait)
        # Callers that failed at the same time must not come back at the same time.
        return wait * self._random.uniform(0.5, 1.0)

    def _why_stop(self, attempt: int, wait: float, elapsed: float) -> str:
        """Return why there is no further attempt; an empty text if there is one."""
        tries = f"{attempt} attempt{'' if attempt == 1 else 's'}"
        if attempt == self.attempts:
            return f"{tries} were all that attempts={self.attempts} allows" if attempt > 1 else "attempts=1 allows one"
        if wait > self.longest_wait:
            return f"it asks to wait {wait:g} s, which is longer than longest_wait={self.longest_wait:g}"
        if self.time_limit is not None and elapsed + wait > self.time_limit:
            return f"after {tries} time_limit={self.time_limit:g} s leaves no time for another"
        return ""


def retrying(
    black_box: Any,
    *,
    attempts: int = 5,
    first_wait: float = 0.5,
    longest_wait: float = 60.0,
    time_limit: float | None = None,
    retry_on: Errors = PASSING,
    random_state: int | None = None,
    sleep: Callable[[float], Any] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Retrying:
    """Return a black box that is asked again when the given one fails, each time after a longer wait.

    Rows are passed on as they are, with their names and dtypes. An answer without exactly one label for each row is an
    error, and is never used in part. Errors that another attempt would raise again are raised at once: mistakes in the
    program or the rows (``TypeError``, ``ValueError``, ...) and HTTP's 4xx except 408, 425 and 429.

    Parameters
    ----------
    black_box : object with ``predict``, or callable
    attempts : int
        The most attempts in all.
    first_wait : float
        Seconds before the second attempt; doubled before each further one. A random part of up to a half is taken off,
        so that callers that failed at the same time do not come back at the same time.
    longest_wait : float
        The longest wait in seconds. A service that asks for a longer one (``Retry-After``) is given up at once.
    time_limit : float or None
        Seconds after the first attempt; no attempt is begun later. A running attempt is not cut short.
    retry_on : exception class or tuple of them
        Default: errors of files and networks (``OSError`` and its kind), and answers that cannot be used.
    random_state : int or None
        The seed of the waits.
    sleep, clock : callable
        For tests.

    Returns
    -------
    Retrying
        With ``predict``; ``n_retries`` counts repeated attempts.

    Examples
    --------
    >>> answers = iter([ConnectionError("gone"), [1], [0, 1]])
    >>> def flaky(X):
    ...     answer = next(answers)
    ...     if isinstance(answer, Exception):
    ...         raise answer
    ...     return answer
    >>> patient = retrying(flaky, first_wait=0.001)
    >>> patient.predict([[0.2], [0.7]]).tolist(), patient.n_retries
    ([0, 1], 2)
    """
    predict_of(black_box)
    check_count("attempts", attempts)
    given = {"first_wait": first_wait, "longest_wait": longest_wait, "time_limit": time_limit}
    for name, seconds in given.items():
        if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
            raise ValueError(f"{name}={seconds!r} is not allowed: give a number of seconds, 0 or more.")
    return Retrying(
        black_box,
        attempts=attempts,
        first_wait=first_wait,
        longest_wait=longest_wait,
        time_limit=time_limit,
        retry_on=retry_on,
        random_state=random_state,
        sleep=sleep,
        clock=clock,
    )


def is_lasting(error: Exception) -> bool:
    """Return whether an error is marked as one that another attempt would raise again."""
    return bool(getattr(error, "is_lasting", False))


def status_of(error: Exception) -> int | None:
    """Return the HTTP status in an error of this package, urllib, requests or httpx; None if there is none."""
    found = (
        getattr(error, "status", None),
        getattr(error, "code", None) if hasattr(error, "headers") else None,
        getattr(getattr(error, "response", None), "status_code", None),
    )
    return next((status for status in found if isinstance(status, int)), None)


def retry_after_of(error: Exception) -> float | None:
    """Return the wait in seconds that a service asks for; None if it does not."""
    headers: Any = getattr(error, "headers", None) or getattr(getattr(error, "response", None), "headers", None)
    words = getattr(error, "retry_after", None) or (headers.get("Retry-After") if hasattr(headers, "get") else None)
    return None if words is None else read_retry_after(str(words))


def read_retry_after(words: str) -> float | None:
    """Return the seconds of a ``Retry-After``, which holds seconds or a date; None where it holds neither.

    Examples
    --------
    >>> read_retry_after("7"), read_retry_after("Thu, 01 Jan 1970 00:00:00 GMT"), read_retry_after("soon")
    (7.0, 0.0, None)
    """
    words = words.strip()
    if words.isascii() and words.isdigit():
        # A longer number might not fit a float.
        return float(words) if len(words) < 16 else math.inf
    try:
        moment = parsedate_to_datetime(words)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return max((moment - datetime.now(UTC)).total_seconds(), 0.0)
