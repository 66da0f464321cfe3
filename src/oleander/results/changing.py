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

from oleander.arrays import Bools, Floats
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
    """The conditions of one rule, which stands at ``position`` among the rules of its explainer.

    The label of a line means nothing, because its answer depends on the row.
    """

    explainer: int
    position: int
    label: Any
    conditions: tuple[Condition, ...]
    is_line: bool


@dataclass(frozen=True, eq=False)
class Cells:
    """The values of a column as intervals within which the answer does not change.

    ``values`` holds one value of each; NaN stands for missing. The ends are those of numbers, without the lower one.
    """

    feature: Feature
    column: int
    values: Floats
    lower: Floats
    upper: Floats

    def take(self, kept: Bools) -> "Cells":
        """Return some of the cells."""
        return Cells(self.feature, self.column, self.values[kept], self.lower[kept], self.upper[kept])

    def distances(self, value: float) -> Floats:
        """Return how far each cell is from a value, as a share of the column's scale; 1 from level to level."""
        if not self.feature.is_number or math.isnan(value):
            return np.ones(len(self.values))
        ways = np.maximum(np.maximum(self.lower - value, value - self.upper), 0.0) / self.feature.scale
        return np.where(np.isnan(self.values), 1.0, ways)

    def describe(self, kept: Bools) -> Condition:
        """Return the condition that a value lies in one of these cells."""
        values, missing = self.values[kept], bool(np.isnan(self.values[kept]).any())
        if self.feature.is_number:
            known = kept & ~np.isnan(self.values)
            ends = (self.lower[known].min(), self.upper[known].max()) if known.any() else (math.inf, -math.inf)
            return Range(self.column, self.feature, float(ends[0]), float(ends[1]), missing)
        codes = frozenset(int(code) for code in values[~np.isnan(values)])
        return Levels(self.column, self.feature, codes, missing)

    def list_runs(self, place: int) -> list[list[int]]:
        """Return the cells beside one in the order in which a run may grow: up, down, and each level by itself."""
        others = [cell for cell in range(len(self.values)) if cell != place]
        if not self.feature.is_number:
            return [[cell] for cell in others]
        up, down = [place], [place]
        # The row's own cell is left out, and no run grows across it.
        while up[-1] + 1 < len(self.values) and self._adjoins(up[-1]):
            up.append(up[-1] + 1)
        while down[-1] > 0 and self._adjoins(down[-1] - 1):
            down.append(down[-1] - 1)
        return [up[1:], down[1:], [cell for cell in others if math.isnan(self.values[cell])]]

    def _adjoins(self, cell: int) -> bool:
        """Return whether no number lies between a cell and the next one; a cell that is missing adjoins none."""
        end, start = float(self.upper[cell]), float(self.lower[cell + 1])
        if self.feature.kind is Kind.INTEGER and math.isfinite(end) and math.isfinite(start):
            return math.floor(end) == math.floor(start)
        return end == start


class ChangeSearch:
    """The search for changes of one encoded row, whose answer is ``label``; None where there is none."""

    def __init__(self, explainers: ExplainerSet, row: Floats, label: Any) -> None:
        self.explainers, self.row, self.label = explainers, row, label
        self.premises: list[Premise] = []
        # The cells of each column that was looked at.
        self._found: dict[int, Cells] = {}
        # The values at which an answer may change, for each column that a condition is on.
        ends: dict[int, set[float]] = {}
        # Where every explainer is a box or a tree, an answer is the same all over a cell.
        self.is_exact = True
        for number, member in enumerate(explainers.members):
            cuts = member.explainer.cuts()
            self.is_exact &= cuts is not None and member.region.box is not None
            for position, rule in enumerate(member.explainer.rules()):
                if not all(isinstance(term, Condition) for term in rule.terms):
                    continue
                conditions, is_line = conjoin([*member.conditions, *rule.terms]), member.explainer.line is not None
                for one in conditions:
                    own = (one.lower, one.upper) if isinstance(one, Range) else ()
                    ends.setdefault(one.column, set()).update(filter(math.isfinite, own))
                if is_line or self._is_other(rule.label):
                    self.premises.append(Premise(number, position, rule.label, conditions, is_line))
            for column, values in (cuts or {}).items():
                ends.setdefault(column, set()).update(values)
        self.cuts = {column: np.array(sorted(found), dtype=float) for column, found in ends.items()}

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
            held = {one.column: one for one in premise.conditions}
            needed = tuple(j for j, one in held.items() if not one.contains(self.row[None, :])[0])
            least = 0.0
            for j in needed:
                cells = self._cells(j, held[j])
                least += float(cells.distances(self.row[j]).min()) if len(cells.values) else math.inf
            if math.isfinite(least):
                rules.append((least, premise, needed))
        rules.sort(key=lambda rule: rule[0])
        for n_columns in range(1, max((len(needed) for _, _, needed in rules), default=0) + MOST_MORE + 1):
            for least, premise, needed in rules:
                if 0 <= n_columns - len(needed) <= MOST_MORE:
                    others = [j for j in self.cuts if j not in needed][:MOST_COLUMNS]
                    for more in combinations(others, n_columns - len(needed)):
                        yield n_columns, least, premise, (*needed, *more)

    def _try(self, premise: Premise, columns: Sequence[int]) -> tuple[float, Change] | None:
        """Return the smallest change of these columns after which the rule answers, with its size."""
        held = {one.column: one for one in premise.conditions}
        cells = [self._cells(j, held.get(j)) for j in columns]
        shape = tuple(len(one.values) for one in cells)
        if not math.prod(shape) or math.prod(shape) > MOST_ROWS:
            return None
        changed = np.repeat(self.row[None, :], math.prod(shape), axis=0)
        changed[:, list(columns)] = list(product(*(one.values for one in cells)))
        answers = self.explainers.read(changed)
        answered, said = answers.speaker == premise.explainer, answers.given
        is_wanted = self._is_other(said) if premise.is_line else said == premise.label
        good = (answered & is_wanted).reshape(shape)
        if not good.any():
            return None
        far = [one.distances(self.row[j]) for one, j in zip(cells, columns, strict=True)]
        sizes = np.where(good, np.sum(np.meshgrid(*far, indexing="ij"), axis=0), np.inf)
        best = np.unravel_index(int(sizes.argmin()), shape)
        place = np.ravel_multi_index(best, shape)
        name = name_rule(self.explainers.members, premise.explainer, premise.position)
        terms = tuple(self._describe(cells, good, [int(place) for place in best]))
        tolerance = self.explainers.tolerance
        change = Change(premise.explainer, name, said[place], tuple(columns), terms, changed[place], tolerance)
        return float(sizes[best]), change

    def _describe(self, cells: Sequence[Cells], good: Bools, best: Sequence[int]) -> list[Any]:
        """Return what each column must be: its widest run of cells around the best where the answer stays the same."""
        if not self.is_exact:
            return [
                f"{one.feature.shown} = {one.feature.with_unit(one.feature.describe_value(one.values[place]))}"
                for one, place in zip(cells, best, strict=True)
            ]
        kept = [np.arange(len(one.values)) == place for one, place in zip(cells, best, strict=True)]
        for axis, (one, place) in enumerate(zip(cells, best, strict=True)):
            for run in one.list_runs(place):
                for cell in run:
                    wider = [*kept[:axis], kept[axis] | (np.arange(len(one.values)) == cell), *kept[axis + 1 :]]
                    if not good[np.ix_(*wider)].all():
                        break
                    kept[axis] = wider[axis]
        return [one.describe(mask) for one, mask in zip(cells, kept, strict=True)]

    def _cells(self, column: int, condition: Condition | None) -> Cells:
        """Return the cells of a column that fulfil a condition and do not hold the row's own value."""
        if column not in self._found:
            self._found[column] = self._find_cells(column)
        cells = self._found[column]
        return cells if condition is None else cells.take(condition.holds(cells.values))

    def _find_cells(self, column: int) -> Cells:
        """Return the cells of a column that do not hold the row's own value."""
        feature, cuts = self.explainers.schema[column], self.cuts[column]
        if feature.is_number:
            edges = np.concatenate([[-np.inf], cuts, [np.inf]])
            lower, upper = edges[:-1], edges[1:]
            values = self._pick_values(feature, lower, upper, self.row[column])
            inside = (values > lower) & (values <= upper)
            cells = Cells(feature, column, values, lower, upper).take(inside)
        else:
            # Rare levels have no name, so no change to one can be suggested.
            codes = np.arange(len(feature.named_levels), dtype=float)
            cells = Cells(feature, column, codes, codes, codes)
        if feature.missing:
            ends = [np.append(end, np.nan) for end in (cells.values, cells.lower, cells.upper)]
            cells = Cells(feature, column, *ends)
        value = self.row[column]
        own = np.isnan(cells.values) if math.isnan(value) else cells.values == value
        if feature.is_number:
            own |= (value > cells.lower) & (value <= cells.upper)
        return cells.take(~own)

    def _pick_values(self, feature: Feature, lower: Floats, upper: Floats, value: float) -> Floats:
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
        top = np.floor(upper) if whole else upper
        # Where a value is above the cell, the upper end is the nearest.
        return np.where(np.isfinite(upper) & ((value > upper) | (over > upper)), top, over)


def find_change(explainers: ExplainerSet, row: Floats, label: Any) -> Change | None:
    """Return what would change the answer of an encoded row, or give it one; None where nothing was found.

    The rules of boxes and trees are looked at. In a ball, only the conditions of its tree are changed, and of a line
    only a change of the rule is looked for, so that a change to these may be missed.
    """
    # A file may hold bounds and thresholds whose differences no float holds.
    with np.errstate(all="ignore"):
        return ChangeSearch(explainers, row, label).find()
