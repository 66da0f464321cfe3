"""From rows to explainers: by the exact program over a pool of candidates, or by what was judged best."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from oleander.arrays import Floats
from oleander.candidates.choosing import PoolSelection
from oleander.data.rows import Rows
from oleander.forms import Choice, Union, Verdict
from oleander.forms.union import chosen_of
from oleander.judging.cross_fitting import Form, Judged, cross_fit
from oleander.results.evaluation import Evaluation
from oleander.results.explanation import ExplainerSet
from oleander.selection import SelectionResult
from oleander.selection.frontier import Frontier

# Ten folds leave more rows to learn from; with many rows, or where learning takes long, five do in half the time.
MANY_ROWS = 1000


class NothingFoundError(ValueError):
    """Nothing keeps the floor on these rows; the message says how near the best comes and what to do."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit came to, before anything is certified.

    Parameters
    ----------
    kind : str
        Tree, consensus or union.
    chosen : ExplainerSet
    result : SelectionResult
        The proven choice of the program, or what was judged best, of which nothing is proven.
    coverage, fidelity : float
        On the rows that it was chosen or judged on.
    evaluation : Evaluation
        The same, class by class.
    verdict : Verdict
    n_queries : int
    selection : PoolSelection or None
        The program, where there was one.
    """

    kind: str
    chosen: ExplainerSet
    result: SelectionResult
    coverage: float
    fidelity: float
    evaluation: Evaluation
    verdict: Verdict
    n_queries: int
    selection: PoolSelection | None = None


def judge(
    forms: Sequence[Form],
    rows: Rows,
    seed: int,
    *,
    min_fidelity: float,
    importance: Floats | None,
    extra: Rows | None = None,
    n_jobs: int | None = None,
) -> Verdict:
    """Judge forms on rows that they have not learned from."""
    few = {form: rows.n_points >= MANY_ROWS or isinstance(form, Union) for form in forms}
    judged: dict[Form, Judged] = {}
    for is_few, n_folds in ((False, 10), (True, 5)):
        here = [form for form in forms if few[form] == is_few]
        judged |= zip(here, cross_fit(here, rows, n_folds, seed, extra=extra, n_jobs=n_jobs), strict=True)
    if importance is not None and extra is not None:
        importance = np.concatenate([importance, np.ones(extra.n_points)])
    return Verdict([judged[form] for form in forms], min_fidelity, importance)


def fit_judged(
    verdict: Verdict,
    rows: Rows,
    seed: int,
    *,
    kinds: Sequence[str] | None,
    max_explainers: int,
    time_limit: float | None,
) -> Fitted:
    """Take the form that was judged best and learn it anew from all rows."""
    choice = verdict.choose(kinds=kinds, max_explainers=max_explainers)
    if choice is None:
        raise NothingFoundError(_why_nothing(verdict, rows))
    form, result = choice.judged.form, as_result(choice)
    if isinstance(form, Union):
        result, chosen = _prove(form, choice.setting, rows, seed, time_limit)
    else:
        chosen = form.learn(rows, seed).at(choice.setting)
    own = np.arange(rows.n_points)
    complexity = sum(member.explainer.complexity for member in chosen.members)
    seen = Choice(choice.judged.part(own), choice.setting, choice.coverage, choice.agreement, choice.bound)
    return Fitted(
        form.kind,
        chosen,
        result,
        choice.coverage,
        choice.agreement,
        seen.evaluate(rows.labels, rows.point_of_row, complexity),
        verdict,
        rows.n_queries,
    )


def _prove(
    form: Union, setting: int, rows: Rows, seed: int, time_limit: float | None
) -> tuple[SelectionResult, ExplainerSet]:
    """Return the union that was judged, a quick choice, and how near to the best possible it is proven to be."""
    selection = form.select_from(rows, seed)
    assert selection is not None
    floor = form.asked(setting)
    result = selection.select(form.max_explainers, floor)
    selection.solver, selection.time_limit = "auto", time_limit
    proof = selection.select(form.max_explainers, floor)
    is_best = proof.objective <= result.objective
    # A better choice, if there is one, was not judged: it is not taken, and the bound tells of it.
    result = replace(
        result,
        bound=proof.bound,
        status=proof.status if is_best else "feasible",
        message=proof.message,
        runtime=proof.runtime,
    )
    return result, ExplainerSet(rows.schema, chosen_of(selection, result))


def _why_nothing(verdict: Verdict, rows: Rows) -> str:
    best = max((float(judged.bounds().max()) for judged in verdict.judged), default=0.0)
    n_rows = int(rows.weights.sum())
    return (
        f"min_fidelity={verdict.min_fidelity:g} is kept by no form of answer on {n_rows:,} judged rows: the lower "
        f"bound of the best is {best:.2f}. Lower min_fidelity, or give more rows; they need no labels."
    )


def as_result(choice: Choice) -> SelectionResult:
    """Return what was judged in the shape of a solver's answer; nothing better than all rows is ruled out."""
    weights = choice.judged.weights
    answered = choice.answered
    return SelectionResult(
        chosen=np.arange(choice.judged.form.n_explainers),
        covered=answered,
        counted=csr_array((choice.judged.form.n_explainers, len(weights))),
        objective=float(weights[answered].sum()),
        bound=float(weights.sum()),
        status="feasible",
        runtime=0.0,
        coverage=choice.coverage,
    )


def judged_frontier(
    verdict: Verdict, kinds: Sequence[str] | None, numbers: Sequence[int], floors: Sequence[float]
) -> Frontier:
    """Return what was judged best for every number of explainers and floor."""
    n_points = len(verdict.judged[0].weights)
    nothing = SelectionResult(
        chosen=np.zeros(0, dtype=np.intp),
        covered=np.zeros(n_points, dtype=bool),
        counted=csr_array((0, n_points)),
        objective=0.0,
        bound=float(verdict.judged[0].weights.sum()),
        status="unknown",
        runtime=0.0,
        message="no form of answer keeps this floor on the judged rows.",
    )
    results = {}
    for number in numbers:
        for floor in floors:
            choice = verdict.choose(kinds=kinds, max_explainers=number, min_fidelity=floor)
            results[int(number), float(floor)] = nothing if choice is None else as_result(choice)
    return Frontier(results)


def fit_union(selection: PoolSelection, verdict: Verdict, max_explainers: int, min_fidelity: float) -> Fitted:
    """Solve the program over a pool."""
    result = selection.select(max_explainers, min_fidelity)
    if not len(result.chosen):
        raise NothingFoundError(result.message or "no explainer was found.")
    rows = selection.pool.rows
    chosen = ExplainerSet(rows.schema, chosen_of(selection, result))
    return Fitted(
        "union",
        chosen,
        result,
        result.coverage,
        min(member.fidelity for member in chosen.members),
        chosen.evaluate(rows.values[rows.point_of_row], rows.labels[rows.point_of_row]),
        verdict,
        selection.pool.n_queries,
        selection,
    )
