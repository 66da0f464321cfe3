"""Local explainers as plain data: what a file may hold, and how it becomes an explainer again."""

from typing import Any

from oleander.local.base import Explainer
from oleander.local.linear import LimeLinear
from oleander.local.tree import Tree, TreeExplainer
from oleander.schema import FeatureSchema


def write_explainer(explainer: Explainer) -> dict[str, Any]:
    """Return a fitted explainer as plain data for JSON."""
    to_dict = getattr(explainer, "to_dict", None)
    if to_dict is None:
        raise TypeError(
            f"a {type(explainer).__name__} cannot be saved: it has no to_dict. Oleander writes data only, never code."
        )
    data: dict[str, Any] = to_dict()
    return data


def read_explainer(data: dict[str, Any], schema: FeatureSchema) -> Explainer:
    """Read what ``write_explainer`` wrote."""
    kind = data["explainer"]
    if kind == "tree":
        explainer = TreeExplainer()
        explainer.tree_ = Tree.from_dict(data["tree"], schema)
        return explainer
    if kind == "linear":
        return LimeLinear.from_dict(data, schema)
    raise ValueError(f"explainer {kind!r} is not known; the explainers are tree and linear")
