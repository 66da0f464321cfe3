"""What every explainer can do, and how it is written to a file and read back.

A kind of explainer is one class derived from ``Explainer``, in one module. All other code uses the members below and
does not know the kinds.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, cast, runtime_checkable

import numpy as np
import pandas as pd

from oleander.arrays import Floats, Ints, Labels
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance, show_answer
from oleander.messages import show_share
from oleander.rules.conditions import clauses

if TYPE_CHECKING:
    from oleander.rules.line import Line

# The maximum number of conditions in all rules of a file; reading them takes some seconds.
MOST_TO_READ = 500_000


@dataclass(frozen=True)
class Rule:
    """One statement of an explainer: a label, and the conditions behind it.

    >>> print(Rule(("age > 60", "sex is F"), "at risk", 412, 0.97))
    age > 60 and sex is F → at risk (97% of 412 draws)
    """

    # The conditions; ``str`` gives each in the names and units of the data.
    terms: tuple[Any, ...]
    # The label that the explainer gives; for a line without a row, the line in words.
    label: Any
    # The number of draws that the rule was learned from.
    n_draws: int
    # The share of them on which the black box gives the same label.
    share: float
    # How near a label that is a number has to be to the black box's answer.
    tolerance: Tolerance | None = field(default=None, repr=False)
    # The line that the label of a row was computed by; empty without a line.
    formula: str = field(default="", repr=False)

    @property
    def answer(self) -> str:
        """The label in words, with its tolerance, and the line behind it."""
        words = show_answer(self.label, self.tolerance)
        return f"{words}, by {self.formula}" if self.formula else words

    @property
    def premise(self) -> str:
        """The terms as one sentence; empty without terms."""
        return " and ".join(clauses(self.terms))

    def __str__(self) -> str:
        return f"{self.premise or 'always'} → {self.answer} ({show_share(self.share)} of {self.n_draws:,} draws)"


class Savable(ABC):
    """What a file holds by the name of its kind: an explainer or a region."""

    # The name in files; empty for a kind that cannot be saved.
    saved_as: ClassVar[str] = ""
    # The classes by their names in files.
    kinds: ClassVar[dict[str, type[Any]]]
    # "explainer" or "region".
    called: ClassVar[str]

    def __init_subclass__(cls, *, saved_as: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.saved_as:
            raise TypeError(
                f"{cls.__name__} derives from the {cls.called} {cls.saved_as!r} and would be described, exported and "
                f"saved as one: derive it from oleander.rules.{cls.called.title()}."
            )
        if saved_as:
            cls.saved_as = saved_as
            cls.kinds[saved_as] = cls

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, without the schema, which is saved beside it."""
        raise TypeError(
            f"a {type(self).__name__} cannot be saved: its class has no name in files. Oleander writes data only, "
            "never code."
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Return what ``to_dict`` wrote; ``ValueError`` for other data."""
        raise NotImplementedError(f"{cls.__name__} has no from_dict.")

    def write(self) -> dict[str, Any]:
        """Return plain data for JSON, with the name of the kind."""
        return {self.called: self.saved_as, **self.to_dict()}

    @classmethod
    def read(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Return what ``write`` wrote, whatever its kind."""
        kind = data[cls.called]
        if not isinstance(kind, str) or kind not in cls.kinds:
            raise ValueError(
                f"{cls.called} {kind!r} is not known; the {cls.called}s are {', '.join(sorted(cls.kinds))}"
            )
        return cast(Self, cls.kinds[kind].from_dict(data, schema))


class Explainer(Savable):
    """A small fitted model of the black box. Rows are encoded by the schema.

    A kind of your own derives from this class and defines ``predict``, ``features``, ``rules`` and ``path``. Every
    other member has a default and adds an ability: to be exported, drawn on the page, or saved. With ``saved_as="..."``
    in its head it is saved under this name, read back while it is imported, and defines ``to_dict`` and ``from_dict``.

    Attributes
    ----------
    is_one_rule : bool
        Whether it has one rule without conditions, so that the conditions of its box are those of the rule.
    is_plain : bool
        Whether other programs can compute what ``predict`` answers: the value of ``line``, or else the label of the
        first of ``rules()`` whose terms hold, which must all be conditions. Only such explainers are exported.
    """

    kinds: ClassVar[dict[str, type[Any]]] = {}
    called = "explainer"
    is_one_rule: ClassVar[bool] = False
    is_plain: ClassVar[bool] = False

    @abstractmethod
    def predict(self, rows: Floats) -> Labels:
        """Return the labels that the explainer gives."""

    @property
    @abstractmethod
    def features(self) -> tuple[int, ...]:
        """The columns that the explainer uses."""

    @property
    def columns(self) -> frozenset[int] | None:
        """The columns that ``predict`` reads; None for all."""
        return frozenset(self.features) if self.is_plain else None

    @property
    def complexity(self) -> int:
        """The number of things to read: rules, or leaves of a tree."""
        return self.n_rules

    @abstractmethod
    def rules(self) -> list[Rule]:
        """Return all rules of the explainer."""

    @abstractmethod
    def path(self, row: Floats) -> Rule:
        """Return the rule that gives one row its label."""

    @property
    def is_constant(self) -> bool:
        """Whether it gives every row the same label."""
        return self.is_one_rule and self.line is None

    @property
    def n_rules(self) -> int:
        """The number of rules."""
        return len(self.rules())

    def find_rules(self, rows: Floats) -> Ints | None:
        """Return the position in ``rules()`` of the rule that gives each row its label; None if it is not known."""
        return np.zeros(len(rows), dtype=np.intp) if self.is_one_rule else None

    @property
    def line(self) -> "Line | None":
        """The line that computes the answer, if there is one."""
        return None

    def cuts(self) -> dict[int, list[float]] | None:
        """Return the numbers at which the answer may change, by column; none for a column of levels.

        None if the answer may also change elsewhere.
        """
        return None

    def form(self) -> dict[str, Any]:
        """Return plain data from which the page and the figures draw it; of the kind "other" they show the rules."""
        return {"kind": "other"}


@runtime_checkable
class LocalExplainer(Protocol):
    """What learns an explainer from draws in a region."""

    def fit(self, draws: Floats, labels: Labels, *, schema: FeatureSchema, center: Floats | None = None) -> Explainer:
        """Return an explainer, learned from draws in the region and their labels by the black box.

        A class that also explains numbers takes ``tolerance``, a ``Tolerance`` if the labels are numbers.
        """


def check_size(explainers: Iterable[Explainer]) -> None:
    """Raise ``ValueError`` for explainers whose rules take minutes to read: a small file can hold a very deep tree."""
    cost = sum(getattr(explainer, "reading_cost", 0) for explainer in explainers)
    if cost > MOST_TO_READ:
        raise ValueError(
            f"the rules of its trees hold {cost:,} conditions, and a file may hold {MOST_TO_READ:,}: limit the leaves "
            "of the trees"
        )


def write_numbers(values: Floats) -> list[float | str | None]:
    """Return numbers as plain data for JSON, in which NaN is None and infinity a string."""
    return [None if np.isnan(value) else str(value) if np.isinf(value) else value for value in values.tolist()]


def read_numbers(data: Iterable[Any]) -> Floats:
    """Return the numbers that ``write_numbers`` wrote."""
    return np.array([np.nan if value is None else float(value) for value in data])


def encode_labels(labels: Labels) -> tuple[Labels, Ints]:
    """Return the distinct labels in order and each row's position among them."""
    given = np.asarray(labels)
    if given.dtype.kind != "O":
        codes, classes = pd.factorize(given, sort=True)
        return np.asarray(classes), codes
    # pandas reads every text to its end again. A text knows its hash, and equal long ones are one object.
    values = given.tolist()
    place = {label: code for code, label in enumerate(sorted(set(values)))}
    codes = np.fromiter(map(place.__getitem__, values), dtype=np.intp, count=len(values))
    return np.array([*place], dtype=object), codes
