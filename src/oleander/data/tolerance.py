"""When an answer agrees with the black box's: equal labels, or numbers within a tolerance."""

import math
import re
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from oleander.arrays import Bools, Floats, Labels
from oleander.data.checks import is_number
from oleander.data.schema.rounding import format_number, readable_step
from oleander.files.codec import Saved
from oleander.messages import visible

# Rounding of a difference must not exclude an answer that lies exactly at the tolerance.
ROUNDING = 1e-9
# Answers of a black box for the same row may differ in their last digits, like sums over threads.
SAME = 1e-6
# Digits of an answer below this share of the tolerance are not shown.
READ = 0.02


@dataclass(frozen=True)
class Tolerance(Saved):
    """How far an answer may be from the black box's, in the answers' units or as a share of it, and still agree.

    >>> str(Tolerance(0.05)), str(Tolerance(0.1, is_relative=True))
    ('± 0.05', '± 10%')
    """

    value: float
    is_relative: bool = False

    @classmethod
    def read(cls, given: Any) -> Self:
        """Return the tolerance that a user gives as a number or as text such as "10%"; ``ValueError`` for others."""
        share = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*%\s*", given) if isinstance(given, str) else None
        if share is not None and 0 < float(share[1]) < 100:
            return cls(float(share[1]) / 100, is_relative=True)
        if not is_number(given) or not 0 < given < math.inf:
            auto = "" if given == "auto" else ", or 'auto'"
            raise ValueError(
                f"tolerance={given!r} is not allowed: give a number over 0 in the units of the answers, a share such "
                f"as '10%'{auto}; labels that must be equal need no tolerance."
            )
        return cls(float(given))

    def __str__(self) -> str:
        return f"± {self.given if self.is_relative else format_number(self.value)}"

    @property
    def given(self) -> float | str:
        """The tolerance as ``read`` reads it."""
        return f"{format_number(100 * self.value)}%" if self.is_relative else self.value

    def width(self, truth: Any) -> Any:
        """Return how far from each of the black box's answers an answer may be."""
        return self.value * np.abs(truth) if self.is_relative else self.value

    @property
    def digits(self) -> int:
        """The number of decimals of an answer that are worth reading, or of digits if the tolerance is relative."""
        decimals = readable_step(READ * self.value)[1]
        return decimals + 1 if self.is_relative else decimals

    def show(self, number: float) -> str:
        """Return an answer with as many digits as are worth reading."""
        return format_number(float(f"{number:.{self.digits}{'g' if self.is_relative else 'f'}}"))

    def agrees(self, answers: Any, truth: Any) -> Bools:
        """Return a mask of the answers that are within the tolerance of the black box's."""
        return np.asarray(np.abs(answers - truth) <= self.width(truth) * (1 + ROUNDING))

    def to_windows(self, truth: Floats) -> Floats:
        """Return answers in units of a window, inside which one constant agrees with every answer."""
        if not self.is_relative:
            return np.asarray(truth / (2 * self.value))
        size = np.abs(truth)
        if not size.any():
            return np.zeros(len(size))
        smallest = size[size > 0].min(initial=np.inf)
        # The largest constant that agrees with y agrees with all answers from y to y (1 + r) / (1 - r).
        ratio = np.log((1 + self.value) / (1 - self.value))
        windows = 1 + (np.log(np.maximum(size, smallest)) - np.log(smallest)) / ratio
        return np.asarray(np.where(size > 0, np.sign(truth) * windows, 0.0))

    def check_read(self) -> None:
        """Raise ``ValueError`` for an impossible tolerance."""
        if not 0 < self.value < (1 if self.is_relative else math.inf):
            raise ValueError(f"a tolerance of {self.value} is impossible")


def agrees(answers: Any, truth: Any, tolerance: Tolerance | None) -> Bools:
    """Return a mask of the answers that agree with the black box's; without a tolerance they must be equal."""
    return np.asarray(answers == truth) if tolerance is None else tolerance.agrees(answers, truth)


def changed(labels: Labels, again: Labels) -> Bools:
    """Return a mask of the answers that a black box has changed, beyond the last digits of a number."""
    if labels.dtype.kind == again.dtype.kind == "f":
        return ~np.isclose(again, labels, rtol=SAME, atol=0.0)
    return np.asarray(again.astype(object) != labels.astype(object))


def show_answer(label: Any, tolerance: Tolerance | None) -> str:
    """Return an answer in words."""
    if tolerance is None:
        return visible(label)
    # A line comes in words.
    return f"{label if isinstance(label, str) else tolerance.show(label)} {tolerance}"
