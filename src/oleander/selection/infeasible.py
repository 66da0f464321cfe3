"""Why there is no answer, in a sentence that says how far a choice could get."""

from dataclasses import replace

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.selection.constraints import GroupMinima
from oleander.selection.model import CoverageModel
from oleander.selection.run import Run
from oleander.selection.solvers import Solver
from oleander.selection.sparse_rows import Matrix, covered_by, entries_of, row_of

# Seconds for the solves of one explanation, within the time limit.
LONGEST = 2.0


def explain_floor(fidelity: Floats, min_fidelity: float) -> str:
    """Return why no candidate may be chosen.

    Examples
    --------
    >>> explain_floor(np.array([0.5, 0.912]), 0.95).partition(". ")[0]
    'min_fidelity=0.95 leaves no candidate: the best of 2 reaches 0.912'
    """
    best = float(fidelity.max()) if len(fidelity) else 0.0
    return (
        f"min_fidelity={min_fidelity:g} leaves no candidate: the best of {len(fidelity)} reaches {best:.3g}. "
        "Lower min_fidelity, or use other radii."
    )


def explain_exclusion(n_admissible: int) -> str:
    """Return why no candidate is left although some reach the floor."""
    return f"must_exclude leaves no candidate: it names all {n_admissible} that reach the floor."


def explain_minima_out_of_reach(model: CoverageModel, minima: GroupMinima | None) -> str:
    """Return which group's minimum is more than its widest candidates count there, were they apart; "" if none is.

    Of several such groups the one furthest from its minimum is named.

    Examples
    --------
    >>> from scipy import sparse
    >>> from oleander.selection.formulations import plain_model
    >>> model = replace(plain_model(np.eye(3), budget=2), groups=sparse.csr_array(np.ones((1, 3))))
    >>> minima = GroupMinima(("all",), model.groups, np.ones(1))
    >>> explain_minima_out_of_reach(replace(model, needs=np.array([2.0])), minima)
    ''
    >>> explain_minima_out_of_reach(replace(model, needs=np.array([3.0])), minima).split(", ")[-2]
    'but at most 2 (0.667) can be reached. Lower it'
    """
    if minima is None or model.groups is None or model.needs is None:
        return ""
    worst, sentence = model.slack, ""
    for number, name in enumerate(minima.names):
        points = row_of(model.groups, number).astype(np.intp)
        counted = _count_at(model.by_point, points, model.weights)
        if model.maybe is not None and model.allowance is not None:
            counted = counted + np.minimum(_count_at(model.maybe_by_point, points, model.weights), model.allowance)
        most, need = float(np.sort(counted)[::-1][: model.limit].sum()), float(model.needs[number])
        if need - most > worst:
            worst, sentence = need - most, _say_short(name, need, float(model.weights[points].sum()), most)
    return sentence


def _count_at(by_point: Matrix, points: Ints, weights: Floats) -> Floats:
    """Return the weight of these points that each candidate has."""
    candidates, lengths = entries_of(by_point, points)
    counted = np.bincount(candidates, weights=np.repeat(weights[points], lengths), minlength=by_point.shape[1])
    return counted.astype(np.float64, copy=False)


def _say_short(name: object, need: float, total: float, most: float) -> str:
    return (
        f"min_group_coverage asks for {need / total:.3g} of group {name!r}, {need:g} of {total:g}, but at most "
        f"{most:g} ({most / total:.3g}) can be reached. Lower it, or allow more explainers."
    )


def explain_constraints(model: CoverageModel, minima: GroupMinima | None, solver: Solver, run: Run) -> str:
    """Return which constraint, of group minima and a floor over the union, leaves no choice."""
    if model.wrong is None:
        return explain_minima(model, minima, solver, run) if minima is not None else "no choice is allowed."
    if minima is None:
        return explain_union(model)
    part = run.part(time_limit=LONGEST)
    solver.solve(replace(model, wrong=None), part)
    if part.value > -np.inf:
        return explain_union(model)
    if part.bound == -np.inf:
        return explain_minima(model, minima, solver, run)
    return (
        f"no choice keeps union_fidelity={model.union_fidelity:g} and min_group_coverage together. "
        "Lower one of them, or allow more explainers."
    )


def explain_coverage(
    model: CoverageModel, minima: GroupMinima | None, min_coverage: float, total: float, solver: Solver, run: Run
) -> str:
    """Return why no choice reaches the coverage: the most that can be covered, or a constraint that forbids all."""
    part = run.part(time_limit=LONGEST)
    part.tighten(float(model.weights.sum()) + model.offset)
    solver.solve(model, part)
    if part.bound == -np.inf:
        return explain_constraints(model, minima, solver, run)
    limit = f", {model.limit} at a time," if model.limit < model.n_candidates else " together"
    # A search that was cut short may know less than the proof before it.
    most = f"at most {part.bound / total:.3g}" if part.bound < min_coverage * total - run.slack else "less"
    return (
        f"min_coverage={min_coverage:g} cannot be reached: {model.n_candidates} candidates{limit} cover {most}. "
        "Lower min_coverage or min_fidelity."
    )


def explain_minima(model: CoverageModel, minima: GroupMinima, solver: Solver, run: Run) -> str:
    """Return which group falls short of its minimum, and how much of it can be reached.

    The best choice for each group alone is bounded, without other constraints; the group furthest from its minimum
    is named.
    """
    assert model.groups is not None
    assert model.needs is not None
    worst, sentence, n_reached = 0.0, "", 0
    for number, name in enumerate(minima.names):
        members = np.asarray(model.groups[[number]].toarray()[0], dtype=np.float64)
        total, need = float(members @ model.weights), float(model.needs[number])
        points = np.flatnonzero(members)
        alone = replace(
            model,
            sure=model.sure[:, points],
            maybe=None if model.maybe is None else model.maybe[:, points],
            weights=model.weights[points],
            groups=None,
            needs=None,
            wrong=None,
        )
        part = run.part(time_limit=LONGEST / len(minima.names))
        part.tighten(total)
        if not part.should_stop():
            solver.solve(alone, part)
        n_reached += part.value >= need - run.slack
        if part.bound < need - run.slack and need - part.bound > worst:
            worst, sentence = need - part.bound, _say_short(name, need, total, part.bound)
    if sentence:
        return sentence
    if n_reached == len(minima.names):
        return (
            "min_group_coverage can be met for each group alone but not for all groups at once. "
            "Lower it, or allow more explainers."
        )
    return "min_group_coverage cannot be met for all groups at once. Lower it, or allow more explainers."


def explain_union(model: CoverageModel) -> str:
    """Return why no choice keeps the floor over the union, though one would without it."""
    assert model.wrong is not None
    right = 1.0 - (model.wrong @ model.weights) / np.maximum(model.sure @ model.weights, np.finfo(float).tiny)
    if not len(model.forced) and model.groups is None:
        return (
            f"union_fidelity={model.union_fidelity:g} leaves no choice: the best of {model.n_candidates} candidates "
            f"reaches {right.max():.3g} alone, and several together do not reach it either. Lower union_fidelity."
        )
    parts = []
    if len(model.forced):
        allowed = (1.0 - model.union_fidelity) * float(model.weights[covered_by(model.sure, model.forced)].sum())
        parts.append(f"must_include is wrong on {model.excess(model.forced) + allowed:g} by itself")
    if model.groups is not None:
        parts.append("min_group_coverage can be met without it")
    return (
        f"union_fidelity={model.union_fidelity:g} cannot be kept with what else is asked: {', and '.join(parts)}. "
        "Lower union_fidelity, or ask for less."
    )
