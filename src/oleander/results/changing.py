"""What would change the answer of a row: the nearest rule with another answer, and the columns that must change.

Every change is tried out on all explainers, because another rule may answer the changed row first.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice, product
from typing import Any, NamedTuple

import numpy as np

from oleander.arrays import Bools, Floats, Ints
from oleander.data.schema import Feature, Kind
from oleander.data.schema.rounding import round_to_step
from oleander.data.tolerance import Tolerance, agrees
from oleander.messages import Shown
from oleander.results.explainer_set import ExplainerSet, name_rule
from oleander.rules.conditions import Condition, Levels, Range, conjoin

# Rules are tried out from the nearest on, and the search ends after this many.
MOST_TRIES = 200
# The most columns changed beyond those that a rule needs, and the most that they are taken from.
MOST_MORE, MOST_COLUMNS = 2, 12
# The most changed rows that are tried out for one rule.
MOST_ROWS = 2_000
# Where a threshold must be passed and no region ends nearby, it is passed by this share of the column's scale.
STEP = 0.02


@dataclass(frozen=True, eq=False)
class Change(Shown):
    """A change of a few columns that gives a row another answer."""

    # The number of the explainer that answers the changed row.
    explainer: int
    # The name of its rule.
    name: str
    # The answer after the change.
    label: Any
    # The columns that must change.
    columns: tuple[int, ...]
    # What each of them must be: a condition, of which any value gives the answer, or one value in words where a chosen
    # explainer is no box and no tree. The other columns stay as they are.
    terms: tuple[Any, ...]
    # The row with such a change, encoded.
    row: Floats
    # How near the answer is to the black box's, where it is a number.
    tolerance: Tolerance | None = field(default=None, repr=False)


class Premise(NamedTuple):
    """The conditions of one rule by their columns, and its position among the rules of its explainer.

    The label of a line means nothing, because its answer depends on the row.
    """

    explainer: int
    position: int
    label: Any
    held: dict[int, Condition]
    is_line: bool


@dataclass(frozen=True, eq=False)
class Cells:
    """The values of a column as intervals within which the answer does not change.

    There is one value of each; NaN stands for missing. The ends are those of numbers, without the lower one. The places
    count intervals in their order, so that neighbours differ by 1; a cell that is missing has none.
    """

    feature: Feature
    column: int
    values: Floats
    lower: Floats
    upper: Floats
    places: Floats

    def take(self, kept: Bools | Ints) -> "Cells":
        """Return some of the cells."""
        arrays = (self.values, self.lower, self.upper, self.places)
        return Cells(self.feature, self.column, *(array[kept] for array in arrays))

    def distances(self, value: float) -> Floats:
        """Return how far each cell is from a value, as a share of the column's scale; 1 from level to level."""
        if not self.feature.is_number or math.isnan(value):
            return np.ones(len(self.values))
        ways = np.maximum(np.maximum(self.lower - value, value - self.upper), 0.0) / self.feature.scale
        return np.where(np.isnan(self.values), 1.0, ways)

    def describe(self) -> Condition:
        """Return the condition that a value lies in one of these cells."""
        known, missing = self.take(~np.isnan(self.values)), bool(np.isnan(self.values).any())
        if self.feature.is_number:
            lower, upper = known.lower.min(initial=math.inf), known.upper.max(initial=-math.inf)
            return Range(self.column, self.feature, float(lower), float(upper), missing)
        return Levels(self.column, self.feature, frozenset(known.values.astype(int).tolist()), missing)

    def list_runs(self, best: int) -> list[list[int]]:
        """Return the cells beside one in the order in which a run may grow: up, down, and each level by itself."""
        cells = range(len(self.values))
        if not self.feature.is_number:
            return [[cell] for cell in cells if cell != best]
        # The row's own cell is left out, and no run grows across it.
        beside = [cell for cell in cells if self.places[cell] - self.places[best] == cell - best]
        up, down = [cell for cell in beside if cell > best], [cell for cell in reversed(beside) if cell < best]
        return [up, down, [cell for cell in cells if np.isnan(self.values[cell])]]


class ChangeSearch:
    """The search for changes of one encoded row, whose answer is ``label``; None where there is none."""

    def __init__(self, explainers: ExplainerSet, row: Floats, label: Any) -> None:
        self.explainers, self.row, self.label = explainers, row, label
        self.premises: list[Premise] = []
        # The cells of each column that was looked at.
        self._found: dict[int, Cells] = {}
        # The values at which an answer may change, for each column that a condition is on.
        self.ends: dict[int, set[float]] = {}
        # Where every explainer is a box or a tree, an answer is the same all over a cell.
        self.is_exact = True
        for number, member in enumerate(explainers.members):
            cuts, is_line = member.explainer.cuts(), member.explainer.line is not None
            self.is_exact &= cuts is not None and member.region.box is not None
            for position, rule in enumerate(member.explainer.rules()):
                if not all(isinstance(term, Condition) for term in rule.terms):
                    continue
                held = {one.column: one for one in conjoin([*member.conditions, *rule.terms])}
                for column, one in held.items():
                    own = (one.lower, one.upper) if isinstance(one, Range) else ()
                    self.ends.setdefault(column, set()).update(filter(math.isfinite, own))
                if is_line or self._is_other(rule.label):
                    self.premises.append(Premise(number, position, rule.label, held, is_line))
            for column, values in (cuts or {}).items():
                self.ends.setdefault(column, set()).update(values)

    def _is_other(self, answers: Any) -> Bools:
        """Return whether answers differ from the row's own."""
        if self.label is None:
            return np.ones(np.shape(answers), dtype=bool)
        return ~agrees(answers, self.label, self.explainers.tolerance)

    def find(self) -> Change | None:
        """Return the change of the fewest columns, and among these the smallest; None where none was found."""
        best: tuple[int, float, Change] | None = None
        for n_columns, least, premise, columns in islice(self._list_options(), MOST_TRIES):
            if best is not None and (n_columns, least) >= best[:2]:
                break
            found = self._try(premise, columns)
            if found is not None and (best is None or (n_columns, found[0]) < best[:2]):
                best = n_columns, *found
        return None if best is None else best[2]

    def _list_options(self) -> Iterator[tuple[int, float, Premise, tuple[int, ...]]]:
        """Yield the columns that each rule needs to be changed, alone and with one or two more, the fewest first.

        More may be needed where another rule answers first. Of as many columns the smallest change comes first.
        """
        rules = []
        for premise in self.premises:
            needed = tuple(j for j, one in premise.held.items() if not one.contains(self.row[None, :])[0])
            ways = [self._cells(j, premise).distances(self.row[j]).min(initial=math.inf) for j in needed]
            if math.isfinite(sum(ways)):
                rules.append((float(sum(ways)), premise, needed))
        rules.sort(key=lambda rule: rule[0])
        for n_columns in range(1, max((len(needed) for _, _, needed in rules), default=0) + MOST_MORE + 1):
            for least, premise, needed in rules:
                if 0 <= n_columns - len(needed) <= MOST_MORE:
                    others = [j for j in self.ends if j not in needed][:MOST_COLUMNS]
                    for more in combinations(others, n_columns - len(needed)):
                        yield n_columns, least, premise, (*needed, *more)

    def _try(self, premise: Premise, columns: Sequence[int]) -> tuple[float, Change] | None:
        """Return the smallest change of these columns after which the rule answers, with its size."""
        cells = [self._cells(j, premise) for j in columns]
        shape = tuple(len(one.values) for one in cells)
        if not math.prod(shape) or math.prod(shape) > MOST_ROWS:
            return None
        changed = np.repeat(self.row[None, :], math.prod(shape), axis=0)
        changed[:, list(columns)] = list(product(*(one.values for one in cells)))
        answers = self.explainers.read(changed)
        is_wanted = self._is_other(answers.given) if premise.is_line else answers.given == premise.label
        good = ((answers.speaker == premise.explainer) & is_wanted).reshape(shape)
        if not good.any():
            return None
        far = [one.distances(self.row[j]) for one, j in zip(cells, columns, strict=True)]
        sizes = np.where(good, np.sum(np.meshgrid(*far, indexing="ij"), axis=0), np.inf)
        best = [int(place) for place in np.unravel_index(int(sizes.argmin()), shape)]
        place = np.ravel_multi_index(best, shape)
        name = name_rule(self.explainers.members, premise.explainer, premise.position)
        terms = tuple(self._describe(cells, good, best))
        tolerance = self.explainers.tolerance
        change = Change(premise.explainer, name, answers.given[place], tuple(columns), terms, changed[place], tolerance)
        return float(sizes[tuple(best)]), change

    def _describe(self, cells: Sequence[Cells], good: Bools, best: Sequence[int]) -> list[Any]:
        """Return what each column must be: its widest run of cells around the best where the answer stays the same."""
        if not self.is_exact:
            return [
                f"{one.feature.shown} = {one.feature.with_unit(one.feature.describe_value(one.values[place]))}"
                for one, place in zip(cells, best, strict=True)
            ]
        kept = [[place] for place in best]
        for axis, (one, place) in enumerate(zip(cells, best, strict=True)):
            for run in one.list_runs(place):
                for cell in run:
                    wider = [*kept[:axis], [*kept[axis], cell], *kept[axis + 1 :]]
                    if not good[np.ix_(*wider)].all():
                        break
                    kept = wider
        return [one.take(np.array(own)).describe() for one, own in zip(cells, kept, strict=True)]

    def _cells(self, column: int, premise: Premise) -> Cells:
        """Return the cells of a column that a rule allows and that do not hold the row's own value."""
        if column not in self._found:
            self._found[column] = self._find_cells(column)
        cells, condition = self._found[column], premise.held.get(column)
        return cells if condition is None else cells.take(condition.holds(cells.values))

    def _find_cells(self, column: int) -> Cells:
        """Return the cells of a column that do not hold the row's own value."""
        feature, value = self.explainers.schema[column], self.row[column]
        if feature.is_number:
            edges = np.array([-np.inf, *sorted(self.ends[column]), np.inf])
            lower, upper = edges[:-1], edges[1:]
            values = _pick_values(feature, lower, upper, value)
            # Between two thresholds there may be no whole number.
            inside = (values > lower) & (values <= upper)
            values, lower, upper = values[inside], lower[inside], upper[inside]
        else:
            # Rare levels have no name, so no change to one can be suggested.
            values = lower = upper = np.arange(len(feature.named_levels), dtype=float)
        arrays = [values, lower, upper, np.arange(len(values), dtype=float)]
        cells = Cells(feature, column, *([np.append(array, np.nan) for array in arrays] if feature.missing else arrays))
        own = np.isnan(cells.values) if math.isnan(value) else cells.values == value
        if feature.is_number:
            own |= (value > cells.lower) & (value <= cells.upper)
        return cells.take(~own)


def _pick_values(feature: Feature, lower: Floats, upper: Floats, value: float) -> Floats:
    """Return a value in each cell: the upper end, or one a little over the lower end where that is nearer."""
    whole = feature.kind is Kind.INTEGER
    bottom = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - feature.scale, 0.0))
    if whole:
        over = np.floor(bottom) + 1
    else:
        step = max(STEP * feature.scale, sys.float_info.min)
        over = round_to_step(bottom + step, step, whole=False, rounding=np.ceil)
        # Beside a very large number the step is nothing.
        over = np.where(over > bottom, over, np.nextafter(bottom, np.inf))
    # Where a value is above the cell, the upper end is the nearest.
    top = np.floor(upper) if whole else upper
    return np.where(np.isfinite(upper) & ((value > upper) | (over > upper)), top, over)


def find_change(explainers: ExplainerSet, row: Floats, label: Any) -> Change | None:
    """Return what would change the answer of an encoded row, or give it one; None where nothing was found.

    The rules of boxes and trees are looked at. In a ball, only the conditions of its tree are changed, and of a line
    only a change of the rule is looked for, so that a change to these may be missed.
    """
    # A file may hold bounds and thresholds whose differences no float holds.
    with np.errstate(all="ignore"):
        return ChangeSearch(explainers, row, label).find()
