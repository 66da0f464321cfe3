"""A black box that may change its mind: a share of the rows is asked about twice, so that it is noticed."""

import warnings
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.arrays import Labels
from oleander.black_box.asking import BlackBoxError, check_labels
from oleander.black_box.tally import Tally
from oleander.data.checks import check_choice, take_rows


class AskingTwice:
    """A black box that is asked twice about some rows; ``asking_twice`` makes it."""

    def __init__(self, black_box: Any, share: float, on_change: str, random_state: int) -> None:
        self.black_box = black_box
        self.share = share
        self.on_change = on_change
        self.random_state = random_state
        self._asked, self._changed = Tally(), Tally()

    @property
    def n_asked_twice(self) -> int:
        """About how many rows it was asked twice so far, in this process."""
        return self._asked.value

    @property
    def n_changed(self) -> int:
        """On how many of these the second answer was another one."""
        return self._changed.value

    def predict(self, X: Any) -> Labels:
        """Return the first answers; raise or warn if a second one differs."""
        ask = getattr(self.black_box, "predict", self.black_box)
        labels = check_labels(ask(X), len(X))
        rows = np.flatnonzero(draw_by_content(X, self.share, self.random_state))
        if not len(rows):
            return labels
        again = check_labels(ask(take_rows(X, rows)), len(rows))
        n_changed = int((again.astype(object) != labels[rows].astype(object)).sum())
        self._asked.add(len(rows))
        self._changed.add(n_changed)
        if n_changed:
            sentence = (
                f"the black box changed its answer on {n_changed} of {len(rows)} rows that it was asked about twice; "
                "no explanation can be more faithful than it is to itself. Fix its seed or its version, or average its "
                "answers."
            )
            if self.on_change == "raise":
                raise BlackBoxError(sentence)
            warnings.warn(sentence, UserWarning, stacklevel=2)
        return labels

    def __call__(self, X: Any) -> Labels:
        """Do what ``predict`` does."""
        return self.predict(X)

    def __repr__(self) -> str:
        return f"asking_twice({self.black_box!r}, share={self.share:g}, on_change={self.on_change!r})"


def asking_twice(
    black_box: Any, *, share: float = 0.01, on_change: Literal["raise", "warn"] = "raise", random_state: int = 0
) -> AskingTwice:
    """Return a black box that is asked twice about a share of the rows, and is caught if it changes its mind.

    ``fit`` asks twice about its first 100 rows anyway. This goes on through the whole fit, so that a service whose
    model is exchanged in the middle, or that draws at random, is noticed. Which rows are asked twice depends on what
    is in them, so it is the same rows in any order, batch or process.

    Parameters
    ----------
    black_box : object with ``predict``, or callable
    share : float
        Of the rows, from 0 to 1. They are sent twice, and paid for twice.
    on_change : {"raise", "warn"}
    random_state : int
        Seeds which rows.

    Returns
    -------
    AskingTwice
        With ``predict``; ``n_asked_twice`` and ``n_changed`` count rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> fickle = asking_twice(lambda X: rng.integers(0, 2, len(X)), share=0.5)
    >>> fickle.predict(np.arange(20.0)[:, None])
    Traceback (most recent call last):
    ...
    oleander.black_box.asking.BlackBoxError: the black box changed its answer on 5 of 12 rows that it was asked about twice; \
no explanation can be more faithful than it is to itself. Fix its seed or its version, or average its answers.
    """
    if not callable(getattr(black_box, "predict", None)) and not callable(black_box):
        raise TypeError(f"black_box is a {type(black_box).__name__}; it must have predict or be callable.")
    if not 0 <= share <= 1:
        raise ValueError(f"share={share!r} is not allowed: it is a share of the rows, from 0 to 1.")
    check_choice("on_change", on_change, ("raise", "warn"))
    return AskingTwice(black_box, share, on_change, random_state)


def draw_by_content(X: Any, share: float, random_state: int) -> NDArray[np.bool_]:
    """Return which rows are drawn: each by its own content and the seed, whatever stands around it."""
    table = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    keys = pd.util.hash_pandas_object(table, index=False).to_numpy(dtype=np.uint64)
    # pandas leaves numbers almost as they are; two rounds of splitmix64 spread them, and bring in the seed.
    keys = _spread(keys ^ _spread(np.array([random_state % 2**64], dtype=np.uint64)))
    drawn: NDArray[np.bool_] = (keys >> np.uint64(11)) / 2.0**53 < share
    return drawn


def _spread(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = keys ^ (keys >> np.uint64(31))
    return mixed
