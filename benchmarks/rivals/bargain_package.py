"""BARGAIN (Zeighami, Shankar and Parameswaran 2025), by its authors' package ``bargain``.

It processes a batch of rows: a proxy answers the rows that it is surest of, and an oracle all others. Which these are,
it decides by asking the oracle about random rows of the batch, until a betting test shows the target.
"""

from typing import Any

import numpy as np

from oleander.arrays import Bools, Labels


def run_bargain(
    given: Labels, sure: np.ndarray, truth: Labels, *, target: float, level: float, seed: int
) -> tuple[Labels, Bools]:
    """Return the answers to a batch, and a mask of the rows that the oracle was asked about.

    ``given`` and ``sure`` are what the proxy says of each row and how sure it is, and ``truth`` what the oracle says.
    The share ``target`` of the batch must match, with a probability ``level`` of a failure.
    """
    from BARGAIN import BARGAIN_A, Oracle, Proxy

    class Student(Proxy):
        def proxy_func(self, row: int) -> tuple[Any, float]:
            return given[row], float(sure[row])

    class Teacher(Oracle):
        def oracle_func(self, row: int, said: Any) -> tuple[bool, Any]:
            return bool(said == truth[row]), truth[row]

    student, teacher = Student(verbose=False, max_workers=1), Teacher(verbose=False, max_workers=1)
    method = BARGAIN_A(student, teacher, target=target, delta=level, verbose=False, seed=seed)
    answers, asked = method.process(np.arange(len(truth)), return_oracle_usage=True)
    return np.asarray(answers), np.asarray(asked, dtype=bool)
