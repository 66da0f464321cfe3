"""The search for an anchor: a beam of the most precise rules of each length, from the empty rule upwards.

A search is a coroutine. It yields the draws that it needs and is resumed when they are answered, so that many searches
run in step and each round is one call of the black box.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.rivals.anchors.ledger import Demand, Ledger
from benchmarks.rivals.anchors.lucb import Trial, judge, most_precise
from benchmarks.rivals.anchors.predicates import Conjunction, extend
from oleander.arrays import Bools, Ints

# Rules, and a function that returns their draws: it is called only for rules that can be extended.
Beam = dict[Conjunction, Callable[[], "Sample"]]
# A rule is accepted once its lower bound is over the precision minus this slack.
SLACK = 0.05


@dataclass(frozen=True)
class Settings:
    """The options of a search."""

    # The least share of a rule's draws with the label (τ in the paper).
    precision: float = 0.95
    # The probability with which a statement on precision may be wrong.
    delta: float = 0.1
    # The most by which a rule in the beam may fall short of the most precise ones (ε in the paper).
    tolerance: float = 0.15
    # The rules of each length that are extended.
    beam_size: int = 4
    # The most predicates in a rule; longer ones cover few rows. None for no limit.
    max_conditions: int | None = 8


@dataclass(frozen=True)
class Anchor:
    """A rule that holds the black box to a label."""

    rule: Conjunction
    # The label's code in the ledger.
    label: int
    n_draws: int
    # The share of the draws with the label.
    share: float
    # Whether the share is known to reach the precision. If not, this is the most precise rule found.
    holds: bool


def find_anchors(points: Iterable[int], ledger: Ledger, settings: Settings) -> list[Anchor]:
    """Return an anchor for each of the learning rows; all searches run in step."""
    searches = [search_anchor(point, ledger, settings) for point in points]
    found: dict[int, Anchor] = {}

    def advance(numbers: Iterable[int]) -> Iterator[tuple[int, list[Demand]]]:
        for number in numbers:
            try:
                yield number, next(searches[number])
            except StopIteration as end:
                found[number] = end.value

    demands = dict(advance(range(len(searches))))
    while demands:
        ledger.fill(demand for several in demands.values() for demand in several)
        demands = dict(advance(demands))
    return [found[number] for number in range(len(searches))]


def search_anchor(point: int, ledger: Ledger, settings: Settings) -> Generator[list[Demand], None, Anchor]:
    """Search for the widest rule around a learning row that is precise enough.

    Yields
    ------
    list of Demand
        The draws that the ledger must hold before the search is resumed.
    """
    label = int(ledger.label_codes[point])
    usable = ledger.grid.predicates_of(point)
    # The rules that are judged share the error: a beam of them at each length, and a length for each predicate.
    delta = settings.delta / (1 + (settings.beam_size - 1) * len(usable))
    n_sizes = len(usable) if settings.max_conditions is None else settings.max_conditions
    # Draws of the empty rule are the rows themselves, so its precision needs no estimate.
    weights = ledger.rows.weights
    share = float(weights[ledger.label_codes == label].sum() / weights.sum())
    best = Anchor((), label, int(weights.sum()), share, share >= settings.precision)
    width = 0.0
    beam: Beam = {(): lambda: Sample(np.zeros((len(usable), 0), dtype=bool), np.zeros(0, dtype=bool))}
    for _ in range(0 if best.holds else n_sizes):
        found = extensions(beam, usable, ledger, wider_than=width)
        if not found:
            break
        trial = Trial(
            list(found),
            np.array([extension.n_draws for extension in found.values()]),
            np.array([extension.n_right for extension in found.values()]),
            label,
            ledger,
        )
        top = yield from most_precise(trial, settings.beam_size, settings.delta, settings.tolerance)
        accepted = yield from judge(trial, top, settings.precision, SLACK, delta)
        beam = {}
        for arm, holds in zip(top, accepted, strict=True):
            rule, share = trial.rules[arm], float(trial.shares[arm])
            if (found[rule].width > width) if holds else (not best.holds and share > best.share):
                best = Anchor(rule, label, int(trial.n_draws[arm]), share, bool(holds))
                width = found[rule].width if holds else width
            beam[rule] = partial(found[rule].follow, rule, int(trial.n_batches[arm]), usable, label, ledger)
    return best


@dataclass(frozen=True, eq=False)
class Sample:
    """Draws of a rule."""

    # A mask of the draws that fulfil each predicate of the search, of shape (n_usable, n_draws).
    fulfils: Bools
    # A mask of the draws with the label, of shape (n_draws,).
    is_right: Bools


@dataclass(frozen=True, eq=False)
class Extension:
    """A rule in the beam with one more predicate."""

    # Draws of the shorter rule.
    begin: Sample
    # The predicate's position among the usable ones.
    line: int
    # The number of learning rows that the longer rule covers.
    width: float
    # The number of draws of the shorter rule that also fulfil the longer one, and of those with the label.
    n_draws: int
    n_right: int

    def follow(self, rule: Conjunction, n_batches: int, usable: Ints, label: int, ledger: Ledger) -> Sample:
        """Return the draws of the longer rule: those of the shorter rule that fulfil it, and its own."""
        kept = self.begin.fulfils[self.line]
        own = [answers == label for answers in ledger.labels(rule, n_batches)]
        return Sample(
            np.concatenate([self.begin.fulfils[:, kept], ledger.fulfils(rule, n_batches, usable)], axis=1),
            np.concatenate([self.begin.is_right[kept], *own]),
        )


def extensions(beam: Beam, usable: Ints, ledger: Ledger, *, wider_than: float) -> dict[Conjunction, Extension]:
    """Return the rules with one predicate more than a rule in the beam, narrowest first.

    Rules that cover no more than the best found are left out, since their extensions would cover less still. A rule
    that extends several rules takes the one that gives it the most draws.
    """
    grid = ledger.grid
    found: dict[Conjunction, Extension] = {}
    for rule, draw in beam.items():
        inside = ledger.rows.weights.astype(np.float32)
        for predicate in rule:
            inside = inside * ledger.condition(predicate)[0]
        widths = grid.fulfils[usable] @ inside
        longer = {
            int(line): extend(rule, grid.predicates[usable[line]]) for line in np.flatnonzero(widths > wider_than)
        }
        if not any(longer.values()):
            continue
        sample = draw()
        n_draws, n_right = sample.fulfils.sum(axis=1), sample.fulfils[:, sample.is_right].sum(axis=1)
        for line, child in longer.items():
            if child is not None and (child not in found or found[child].n_draws < n_draws[line]):
                found[child] = Extension(sample, line, float(widths[line]), int(n_draws[line]), int(n_right[line]))
    return dict(sorted(found.items(), key=lambda item: (item[1].width, item[0])))
