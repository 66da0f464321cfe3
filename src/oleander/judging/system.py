"""Rules and a model as one system: what may be claimed of it, and what it saves.

The rules answer, and the model is asked where they are silent. So the system differs from the model only where a rule
answers and is wrong.
"""

from dataclasses import dataclass, replace

import numpy as np

from oleander.arrays import Floats
from oleander.data.checks import Count
from oleander.files.codec import Saved
from oleander.judging.certificate import Claim
from oleander.judging.judged import Judged
from oleander.messages import Shown

# The part of the error that the claim of agreement may use. The claim of answered rows pays for every step that could
# have been chosen, and its bound hardly depends on how small its part is.
PART_OF_AGREEMENT = 0.8


@dataclass(frozen=True)
class SystemCertificate(Shown, Saved):
    """Two claims about a router that hold together.

    Parameters
    ----------
    agreement : Claim
        The share of all rows on which the router says what the model says.
    answered : Claim
        The share of all rows that rules answer. The model is asked about the others.
    confidence : float
        The probability that both bounds hold.
    is_certified : bool
        Whether nothing was learned from the rows that judge, and they are independent.
    """

    agreement: Claim
    answered: Claim
    confidence: float
    is_certified: bool

    @property
    def most_asked(self) -> float:
        """The upper bound on the share of rows that the model is asked about."""
        return 1 - self.answered.bound


@dataclass(frozen=True)
class Cost(Shown):
    """What a router saves on some rows: calls, and seconds as measured here.

    Parameters
    ----------
    n_rows, n_asked : int
        All rows, and those that the model was asked about.
    model_seconds, router_seconds : float
        The time that the model alone took for the rows, and that the router took, its calls of the model included.
    """

    n_rows: Count
    n_asked: Count
    model_seconds: float
    router_seconds: float

    @property
    def calls_saved(self) -> float:
        """The share of rows that the model was not asked about."""
        return 1 - self.n_asked / self.n_rows

    @property
    def seconds_saved(self) -> float:
        """Negative where the model is faster than the rules."""
        return self.model_seconds - self.router_seconds


def as_system(judged: Judged) -> Judged:
    """Return what a router says with each setting: it answers every row, and is correct where no rule is wrong.

    >>> answered, right = np.array([[True, True, False]]), np.array([[True, False, False]])
    >>> as_system(Judged(answered, right, np.ones(3, dtype=np.intp))).n_right.tolist()
    [2]
    """
    every = np.ones_like(judged.answered)
    return replace(judged, answered=every, right=judged.right | ~judged.answered)


def certify_system(
    judged: Judged, setting: int, level: float, n_settings: int, *, target: float | None = None, is_certified: bool
) -> SystemCertificate:
    """Return what may be claimed of a router with one setting, chosen by looking at these rows among ``n_settings``.

    ``target`` is the share that a fixed sequence of its own has shown with ``PART_OF_AGREEMENT`` of the level; None
    where there was no such sequence. Other bounds hold for all settings together.
    """
    one = judged.part(np.array([setting]))
    system, spoken = as_system(one), replace(one, answered=np.ones_like(one.answered), right=one.answered)
    agreement = _claim(system, PART_OF_AGREEMENT * level / n_settings)
    if target is not None:
        agreement = replace(agreement, bound=target)
    answered = _claim(spoken, (1 - PART_OF_AGREEMENT) * level / n_settings)
    return SystemCertificate(agreement, answered, round(1 - level, 12), is_certified)


def _claim(judged: Judged, level: float) -> Claim:
    bounds: Floats = judged.certified_bounds(level)
    (n_right,), (n_units,) = judged.count_units()
    return Claim(n_right.item(), int(n_units), float(bounds[0]), "rows" if judged.groups is None else "groups")
