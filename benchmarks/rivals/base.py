"""The protocol of rivals, and what they share: rows in, a set of explainers out.

A rival explains the same black box on the same rows, in the same words, so that one table can hold all methods.
"""

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Floats, Ints
from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.checks import make_seed, one_per_row
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.draws.labelled import LabelledDraws, draw_around
from oleander.results.evaluation import Evaluation
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.rules import Region
from oleander.rules.base import Explainer


class Rival(Protocol):
    """A way to explain a black box. ``AggregateExplainer`` is one too."""

    n_queries_: int

    def fit(self, X: Any, *, groups: Any = None) -> Self:
        """Explain the black box on these rows; a method that judges on rows of its own keeps groups whole."""

    def covers(self, X: Any) -> NDArray[np.bool_]:
        """Return a mask of shape (n_explainers, n_rows): the rows that each explainer covers."""

    def predict(self, X: Any) -> np.ma.MaskedArray[Any, Any]:
        """Return the answers, masked where no explainer speaks."""

    def evaluate(self, X: Any, labels: Any = None) -> Evaluation:
        """Compare the answers with the black box's."""

    @property
    def explainers_(self) -> list[ChosenExplainer]:
        """The explainers; where several cover a row, the first answers."""


@dataclass(eq=False, repr=False)
class Baseline(ABC):
    """The base class of rivals: a subclass only finds explainers, and its parameters are fields.

    Attributes
    ----------
    set_ : ExplainerSet
    schema_ : FeatureSchema
    n_queries_ : int
        Rows sent to the black box.
    """

    black_box: Any
    _: KW_ONLY
    schema: FeatureSchema | None = None
    random_state: int | None = None

    def fit(self, X: Any, *, groups: Any = None) -> Self:
        """Explain the black box on these rows; it is asked, never fitted or copied.

        Parameters
        ----------
        X : DataFrame or array
        groups : array of shape (n_rows,), optional
            The group of each row; a method that judges on rows of its own keeps groups whole.
        """
        schema = FeatureSchema.infer(X) if self.schema is None else self.schema.knowing(X)
        box = BlackBox(self.black_box, schema)
        values = schema.exact.encode(X)
        group_of_row = None if groups is None else one_per_row(groups, len(values), "groups")
        counting = CountingBlackBox(box)
        rows = label_rows(values, counting, groups=group_of_row)
        members, n_queries = self._find(rows, box, make_seed(self.random_state))
        self.schema_, self.n_queries_ = box.schema, counting.n_queries + n_queries
        self.set_ = ExplainerSet(box.schema, tuple(members))
        return self

    @abstractmethod
    def _find(self, rows: Rows, box: BlackBox, seed: int) -> tuple[list[ChosenExplainer], int]:
        """Return the explainers in the order in which they answer, and the number of rows sent to the black box."""

    @property
    def explainers_(self) -> list[ChosenExplainer]:
        """The explainers; where several cover a row, the first answers."""
        return list(self.set_.members)

    @property
    def complexity(self) -> int:
        """How much there is to read, in leaves, weights and rules."""
        return sum(member.explainer.complexity for member in self.set_.members)

    def covers(self, X: Any) -> NDArray[np.bool_]:
        """Return a mask of shape (n_explainers, n_rows): the rows that each explainer covers."""
        return self.set_.covers(self.schema_.encode(X))

    def predict(self, X: Any) -> np.ma.MaskedArray[Any, Any]:
        """Return the answers, masked where no explainer speaks."""
        return self.set_.answer(self.schema_.encode(X))

    def evaluate(self, X: Any, labels: Any = None) -> Evaluation:
        """Compare the answers with the black box's, which is asked unless its labels are given."""
        rows = self.set_.schema.encode(X)
        if labels is None:
            labels = BlackBox(self.black_box, self.schema_).ask_table(self.schema_.align(X))
            self.n_queries_ += len(rows)
        return self.set_.evaluate(rows, one_per_row(labels, len(rows), "labels"))


def choose(rows: Rows, region: Region, explainer: Explainer, origin: str) -> ChosenExplainer:
    """Return a chosen explainer with its support and fidelity on the rows that it was chosen on."""
    inside = region.contains(rows.values)
    right = inside.copy()
    right[inside] = explainer.predict(rows.values[inside]) == rows.labels[inside]
    support, n_right = int(rows.weights[inside].sum()), int(rows.weights[right].sum())
    fidelity = n_right / support if support else float("nan")
    return ChosenExplainer(region, explainer, origin, support, fidelity, float("nan"))


def spread_points(rows: Rows, most: int | None) -> Ints:
    """Return at most ``most`` points, spread over the data: one from each of equally full cells.

    Cells come from halving the data along the widest column again and again, so dense places get more points and no
    place is left out. The choice depends on the rows, not on their order.
    """
    if most is None or rows.n_points <= most:
        return np.arange(rows.n_points)
    units = np.ones(len(rows.schema))
    units[rows.schema.numbers] = rows.schema.scales
    places = rows.values / units
    # A missing value stands a little apart from every other.
    places = np.where(np.isnan(places), np.nanmin(places, axis=0) - 1.0, places)
    plain = np.where(np.isnan(rows.values), np.nan, rows.values + 0.0)
    keys = np.ascontiguousarray(plain).view(np.dtype((np.void, 8 * plain.shape[1]))).ravel()
    chosen: list[int] = []
    cells = [(np.argsort(keys), most)]
    while cells:
        points, share = cells.pop()
        inside = places[points]
        if share == 1:
            # The point nearest to the cell's middle stands for it.
            chosen.append(int(points[np.abs(inside - np.median(inside, axis=0)).sum(axis=1).argmin()]))
            continue
        widest = int(np.ptp(inside, axis=0).argmax())
        ordered = points[np.argsort(inside[:, widest], kind="stable")]
        lower = share // 2
        cut = len(points) * lower // share
        cells += [(ordered[:cut], lower), (ordered[cut:], share - lower)]
    return np.sort(np.array(chosen, dtype=np.intp))


def draw_and_ask(rows: Floats, black_box: CountingBlackBox, n_draws: int, seed: int) -> LabelledDraws:
    """Draw synthetic rows around some rows, encoded by the exact schema, and ask the black box about each."""
    values, parents = draw_around(rows, black_box.schema, n_draws, seed)
    answers = black_box.ask_in_batches(values, "asking about draws")
    return LabelledDraws.read(black_box.schema, black_box.schema.fold(values), answers, parents, seed)
