"""Rivals that exist only to be measured, behind the same protocol as those of ``oleander.baselines``."""

from typing import Any

from benchmarks.rivals.active_tree import ActiveTree
from benchmarks.rivals.decision_set import DecisionSet
from benchmarks.rivals.proxies import Proxies
from oleander.baselines import Rival, make_rivals
from oleander.data.schema import FeatureSchema

__all__ = ["ActiveTree", "DecisionSet", "Proxies", "make_all_rivals"]


def make_all_rivals(
    black_box: Any,
    *,
    max_explainers: int = 10,
    min_fidelity: float = 0.9,
    max_leaves: int = 40,
    schema: FeatureSchema | None = None,
    random_state: int | None = None,
) -> dict[str, Rival]:
    """Return the methods of ``make_rivals`` and those of this package with the same budget, by name."""
    common: dict[str, Any] = {"schema": schema, "random_state": random_state}
    several = {"max_explainers": max_explainers, **common}
    return make_rivals(black_box, min_fidelity=min_fidelity, max_leaves=max_leaves, **several) | {
        "active tree": ActiveTree(black_box, max_leaves=max_leaves, **common),
        "decision set": DecisionSet(black_box, max_rules=max_leaves, **common),
        "decision set, rules only": DecisionSet(black_box, max_rules=max_leaves, default_rule=False, **common),
        "proxies": Proxies(black_box, **several),
    }
