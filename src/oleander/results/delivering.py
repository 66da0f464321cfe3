"""From a union that was learned by asking to its explainers, with what the judging rows say of each."""

from dataclasses import replace

import numpy as np

from oleander.arrays import Bools
from oleander.data.rows import Rows
from oleander.data.tolerance import Tolerance, agrees
from oleander.draws.labelled import LabelledDraws
from oleander.explainers.abstaining import Spoken
from oleander.explainers.base import Explainer
from oleander.explainers.constant import Constant
from oleander.judging.bounds import lower_bound
from oleander.learning.pruning import PrunedTree
from oleander.learning.union import Union
from oleander.regions import Box, Region
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet


def deliver_union(union: Union, rows: Rows, level: float) -> ExplainerSet:
    """Return the boxes of a union, or its one tree, as explainers.

    Parameters
    ----------
    union : Union
    rows : Rows
        The judging rows.
    level : float
        The one-sided error of the bound on each explainer's fidelity.
    """
    step, draws = union.step, union.family.draws
    if step.tree is not None:
        explainers = ExplainerSet(draws.schema, (_deliver_tree(step.tree, draws, rows, level),), in_turn=True)
        return explainers.with_judged(rows, union.answered, union.right, level)
    boxes = [union.family.grid.to_box(key) for key in step.keys]
    on_rows, on_draws = (
        step.find_speaker(np.array([box.contains(values) for box in boxes])) for values in (rows.values, draws.values)
    )
    members = []
    for number, (box, code) in enumerate(zip(boxes, step.labels, strict=True)):
        own = on_rows == number
        drawn = draws.is_right(np.full(len(draws.values), code))[on_draws == number]
        share = float(drawn.mean()) if len(drawn) else 0.0
        explainer = _make_explainer(draws, code, box, len(drawn), share)
        right = own & agrees(explainer.predict(rows.values), rows.labels, draws.tolerance)
        members.append(_judge(box, explainer, share, own, right, rows, level, draws.tolerance))
    explainers = ExplainerSet(draws.schema, tuple(members), step.overlap, in_turn=True)
    return explainers.with_judged(rows, union.answered, union.right, level)


def _make_explainer(draws: LabelledDraws, code: int, box: Box, n_draws: int, share: float) -> Explainer:
    """Return what says an answer, given as a code, in a box."""
    if code < len(draws.classes):
        return Constant(draws.classes[code], n_draws, share, draws.classes.dtype)
    return replace(draws.lines[code - len(draws.classes)].within(box.conditions), n_draws=n_draws, share=share)


def _deliver_tree(pruned: PrunedTree, draws: LabelledDraws, rows: Rows, level: float) -> ChosenExplainer:
    explainer = pruned.to_explainer(draws)
    region = Spoken(Box(()), explainer)
    own = region.contains(rows.values)
    right = own & agrees(explainer.predict(rows.values), rows.labels, draws.tolerance)
    tree, spoken = explainer.tree, explainer.spoken_leaves
    share = float(tree.n_right[spoken].sum() / tree.n_draws[spoken].sum())
    return _judge(region, explainer, share, own, right, rows, level, draws.tolerance)


def _judge(
    region: Region,
    explainer: Explainer,
    draw_share: float,
    own: Bools,
    right: Bools,
    rows: Rows,
    level: float,
    tolerance: Tolerance | None,
) -> ChosenExplainer:
    """Return an explainer with its figures, given the rows that it answers and those that it answers rightly."""
    support, n_right = int(rows.weights[own].sum()), int(rows.weights[right].sum())
    return ChosenExplainer(
        region,
        explainer,
        "asking",
        support=support,
        fidelity=n_right / support if support else float("nan"),
        floor_value=float(lower_bound(n_right, support, level)),
        draw_fidelity=draw_share,
        tolerance=tolerance,
    )
