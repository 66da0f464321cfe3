"""What other tolerances would give: the same draws and rows, judged anew. The black box is not asked."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pandas as pd

from oleander.data.tolerance import Tolerance
from oleander.learning.union import UnionLearner
from oleander.results.delivering import deliver_union
from oleander.running.progress import told

# Without tolerances of the user's, these multiples of the explainer's own.
MULTIPLES = (0.5, 0.75, 1.0, 1.5, 2.0)


def trace_tolerances(
    learner: UnionLearner, max_explainers: int, min_fidelity: float, tolerances: Iterable[Any] | None
) -> pd.DataFrame:
    """Return a line for each tolerance: what is answered, how well, and how much there is to read.

    Parameters
    ----------
    learner : UnionLearner
        Of numbers.
    max_explainers : int
    min_fidelity : float
    tolerances : iterable of float or str, or None
        None takes multiples of the learner's own.
    """
    own = learner.draws.tolerance
    if own is None:
        raise ValueError("these explainers explain labels, which have no tolerance: fit with tolerance= first.")
    if tolerances is None:
        several = [replace(own, value=multiple * own.value) for multiple in MULTIPLES]
        several = [one for one in several if not one.is_relative or one.value < 1]
    elif isinstance(tolerances, (str, int, float)):
        raise TypeError(f"tolerances={tolerances!r} is one tolerance: give several, such as [{tolerances!r}].")
    else:
        several = [Tolerance.read(one) for one in tolerances]
    lines = []
    for tolerance in told(several, "tracing tolerances", str):
        union = replace(learner, draws=learner.draws.with_tolerance(tolerance), _known={}).choose(
            max_explainers, min_fidelity
        )
        if union is None:
            lines.append((tolerance.given, 0, 0.0, float("nan"), float("nan"), "unknown"))
            continue
        rules = deliver_union(union, learner.rows, learner.level).n_rules
        # A tolerance that is picked after looking at several is judged, not certified.
        status = "certified" if union.is_certified and tolerance == own else "judged"
        lines.append((tolerance.given, rules, union.coverage, union.claim.share, union.claim.bound, status))
    return pd.DataFrame(lines, columns=["tolerance", "n_rules", "coverage", "agreement", "at_least", "status"])
