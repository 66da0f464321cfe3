"""The paper's form of answer over a rich pool: explainers in regions of their own, chosen by the exact program.

The family runs from bold to careful by the floor that is asked of the rows it was learned on; how high it must be for
the answers to keep their word on other rows is for the judge to say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oleander.arrays import Bools, Floats, Labels
from oleander.black_box.asking import BlackBox
from oleander.candidates import Generator
from oleander.candidates.choosing import Floor, PoolSelection
from oleander.candidates.pool import CandidatePool, EmptyPoolError
from oleander.data.rows import MOST_LEARNED, Rows
from oleander.results.explanation import ChosenExplainer, ExplainerSet
from oleander.selection import SelectionResult

# How much over the floor is asked while learning.
EXTRA = (0.0, 0.01, 0.02, 0.04, 0.06, 0.09)


@dataclass(frozen=True, eq=False)
class Union:
    """Explainers chosen from a pool so that they cover the most, under a floor for each and for all together.

    Parameters
    ----------
    generators : sequence of Generator
    black_box : BlackBox
    max_explainers : int
    max_leaves_total : int or None
    min_fidelity : float
    min_support : int
    """

    generators: Sequence[Generator]
    black_box: BlackBox
    max_explainers: int
    max_leaves_total: int | None
    min_fidelity: float
    min_support: int = 10

    @property
    def kind(self) -> str:
        """What users call it."""
        return "union"

    @property
    def n_explainers(self) -> int:
        """The most explainers that it takes."""
        return self.max_explainers

    @property
    def n_settings(self) -> int:
        """How many floors are asked."""
        return len(EXTRA)

    def asked(self, setting: int) -> float:
        """Return the floor that a setting asks of the rows it is learned on."""
        return min(self.min_fidelity + EXTRA[setting], 0.999)

    def select_from(self, rows: Rows, seed: int) -> PoolSelection | None:
        """Return the program over what the generators propose; None if that is nothing.

        Of very many rows some are learned from and chosen on: the others judge.
        """
        rows = rows.at_most(MOST_LEARNED, seed)
        try:
            pool = CandidatePool.propose(self.generators, rows, self.black_box, seed)
        except EmptyPoolError:
            return None
        return PoolSelection(
            pool,
            Floor("share", self.min_support),
            floor_over="both",
            max_leaves_total=self.max_leaves_total,
            training="eager",
            solver="quick",
            time_limit=None,
        )

    def learn(self, rows: Rows, seed: int) -> "Choices":
        """Propose candidates and choose among them once for each floor.

        The choices are quick ones: they depend on no clock, and are hardly ever bettered by a proof.
        """
        selection = self.select_from(rows, seed)
        if selection is None:
            return Choices((ExplainerSet(rows.schema, ()),) * len(EXTRA))
        results = [selection.select(self.max_explainers, self.asked(setting)) for setting in range(len(EXTRA))]
        return Choices(tuple(ExplainerSet(rows.schema, chosen_of(selection, result)) for result in results))


@dataclass(frozen=True, eq=False)
class Choices:
    """What was chosen under each floor."""

    sets: tuple[ExplainerSet, ...]

    def answers(self, rows: Floats) -> tuple[Labels, Bools]:
        """Return the labels and whether they are given under each floor."""
        given: list[Any] = [each.answer(rows) for each in self.sets]
        labels = np.array([np.ma.getdata(one).astype(object) for one in given])
        return labels, np.array([~np.ma.getmaskarray(one) for one in given])

    def at(self, setting: int) -> ExplainerSet:
        """Return what was chosen under one floor."""
        return self.sets[setting]


def chosen_of(selection: PoolSelection, result: SelectionResult) -> tuple[ChosenExplainer, ...]:
    """Return the chosen candidates with what is known of each."""
    pool, measured, fidelity = selection.pool, selection.measured, selection.pool.fidelity
    chosen = []
    for index in result.chosen.tolist():
        candidate, explainer = pool.candidates[index], pool.explainers[index]
        assert explainer is not None
        chosen.append(
            ChosenExplainer(
                candidate.region,
                explainer,
                candidate.origin,
                support=int(pool.support[index]),
                fidelity=float(fidelity[index]),
                floor_value=float(measured[index]),
                draw_fidelity=float(pool.draw_fidelity[index]),
            )
        )
    return tuple(chosen)
