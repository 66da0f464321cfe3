"""A black box behind a URL, to copy and adapt to your service. It needs ``pip install httpx tenacity``.

A batch of rows is a POST of ``{"columns": ["age", "dose"], "rows": [[61, 0.5], [58, null]]}`` with missing values as
null. The service answers ``{"labels": ["no", "yes"]}``: one string, number or boolean for each row, in their order.
"""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import httpx
import pandas as pd
import tenacity

# Time-out, too early, too many requests: the 4xx statuses that may pass.
PASSING = {408, 425, 429}
LOCAL = {"localhost", "127.0.0.1", "::1"}


class BadAnswerError(RuntimeError):
    """The service answered something other than one label for each row."""


@dataclass(frozen=True)
class HttpBlackBox:
    """Send rows in batches, several at a time, and send a batch again, after a longer wait, if its failure may pass.

    It holds no connection, so it can be sent to worker processes.
    """

    url: str
    # Not shown, since tokens are here. Messages show the URL, so a token does not belong into its query.
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    batch_size: int = 1_000
    max_concurrency: int = 4
    timeout: float = 30.0
    attempts: int = 5
    longest_wait: float = 60.0

    def __post_init__(self) -> None:
        url = httpx.URL(self.url)
        if url.scheme != "https" and url.host not in LOCAL:
            # Rows are often people's records.
            raise ValueError(f"{self.url} sends rows in plain text, which others can read and change: use https.")

    def predict(self, X: Any) -> list[Any]:
        """Return one label for each row: all of them, or an error."""
        table = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X).add_prefix("x")
        batches = [table.iloc[start : start + self.batch_size] for start in range(0, len(table), self.batch_size)]
        retry = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self.attempts),
            wait=self._wait,
            retry=tenacity.retry_if_exception(may_pass),
            reraise=True,
        )
        # Rows and tokens go to the given host only: httpx follows no redirect unless it is told to.
        with (
            httpx.Client(headers=dict(self.headers), timeout=self.timeout) as client,
            ThreadPoolExecutor(self.max_concurrency) as pool,
        ):
            answers = pool.map(lambda batch: retry.copy()(self._ask, client, batch), batches)
            return [label for labels in answers for label in labels]

    def _ask(self, client: httpx.Client, batch: pd.DataFrame) -> list[Any]:
        values = batch.astype(object).where(batch.notna(), None).to_numpy().tolist()
        body = json.dumps({"columns": batch.columns.tolist(), "rows": values}, default=str, allow_nan=False)
        answer = client.post(self.url, content=body, headers={"Content-Type": "application/json"}).raise_for_status()
        try:
            labels = answer.json()["labels"]
        except (ValueError, KeyError, TypeError):
            raise BadAnswerError(f'{self.url} did not answer {{"labels": [...]}}') from None
        if not isinstance(labels, list) or len(labels) != len(batch):
            raise BadAnswerError(f"{self.url} did not answer one label for each of {len(batch)} rows")
        return labels

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """Return the seconds that the service asks for, or else a random wait that grows with each attempt."""
        error = state.outcome.exception() if state.outcome else None
        asked = error.response.headers.get("Retry-After", "") if isinstance(error, httpx.HTTPStatusError) else ""
        if asked.isdigit():
            return min(float(asked), self.longest_wait)
        return tenacity.wait_random_exponential(multiplier=0.5, max=self.longest_wait)(state)


def may_pass(error: BaseException) -> bool:
    """Return whether another attempt may succeed."""
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code in PASSING or error.response.is_server_error
    return isinstance(error, (httpx.TransportError, BadAnswerError))
