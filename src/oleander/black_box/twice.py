"""A black box whose answers may change: a share of the rows is asked about twice to notice it."""

from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.arrays import Bools, Labels
from oleander.black_box.asking import BlackBoxError, check_answers, predict_of
from oleander.black_box.tally import Tally
from oleander.data.checks import check_choice, check_share
from oleander.data.frames import frame_of, take_rows, to_frame_of, to_table
from oleander.data.tolerance import changed
from oleander.running.warning import warn_user


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
        """The number of rows asked about twice so far, in this process."""
        return self._asked.value

    @property
    def n_changed(self) -> int:
        """The number of these rows whose second answer differs."""
        return self._changed.value

    def predict(self, X: Any) -> Labels:
        """Return the first answers; raise or warn if a second one differs."""
        ask = predict_of(self.black_box)
        labels = check_answers(ask(X), len(X))
        rows = np.flatnonzero(draw_by_content(X, self.share, self.random_state))
        if not len(rows):
            return labels
        again = check_answers(ask(to_frame_of(take_rows(X, rows), frame_of(X))), len(rows))
        n_changed = int(changed(labels[rows], again).sum())
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
            warn_user(sentence)
        return labels

    def __call__(self, X: Any) -> Labels:
        """Do what ``predict`` does."""
        return self.predict(X)

    def __repr__(self) -> str:
        return f"asking_twice({self.black_box!r}, share={self.share:g}, on_change={self.on_change!r})"


def asking_twice(
    black_box: Any, *, share: float = 0.01, on_change: Literal["raise", "warn"] = "raise", random_state: int = 0
) -> AskingTwice:
    """Return a black box that is asked twice about a share of the rows, with an error if an answer changes.

    ``fit`` asks twice about its first 100 rows anyway. This continues through the whole fit, so that a service whose
    model is exchanged in the middle, or that answers at random, is noticed. A row is chosen by its content, so the same
    rows are asked about twice in any order, batch or process.

    Parameters
    ----------
    black_box : object with ``predict``, or callable
    share : float
        The share of the rows, from 0 to 1, that is sent twice and paid for twice.
    on_change : {"raise", "warn"}
    random_state : int
        The seed of the choice of rows.

    Returns
    -------
    AskingTwice
        With ``predict``; ``n_asked_twice`` and ``n_changed`` count rows.

    Examples
    --------
    >>> import warnings
    >>> rng = np.random.default_rng(0)
    >>> fickle = asking_twice(lambda X: rng.integers(0, 2, len(X)), share=0.5, on_change="warn")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     labels = fickle.predict(np.arange(20.0)[:, None])
    >>> fickle.n_asked_twice, fickle.n_changed
    (12, 5)
    """
    predict_of(black_box)
    check_share("share", share, with_zero=True, with_one=True)
    check_choice("on_change", on_change, ("raise", "warn"))
    return AskingTwice(black_box, share, on_change, random_state)


def draw_by_content(X: Any, share: float, random_state: int) -> Bools:
    """Return a mask of rows, each drawn by its own content and the seed, independent of the other rows."""
    table = to_table(X)
    table = table if isinstance(table, pd.DataFrame) else pd.DataFrame(np.asarray(table))
    keys = pd.util.hash_pandas_object(table, index=False).to_numpy(dtype=np.uint64)
    # pandas hashes a number to almost itself; two rounds of splitmix64 spread the hashes and mix in the seed.
    keys = _spread(keys ^ _spread(np.array([random_state % 2**64], dtype=np.uint64)))
    drawn: Bools = (keys >> np.uint64(11)) / 2.0**53 < share
    return drawn


def _spread(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = keys ^ (keys >> np.uint64(31))
    return mixed
