"""Local explainers and their regions as plain data for files, and back."""

from collections.abc import Iterable
from typing import Any

from oleander.data.schema import FeatureSchema
from oleander.explainers.abstaining import AbstainingExplainer, AbstainingTree, Spoken
from oleander.explainers.base import Explainer
from oleander.explainers.constant import Constant
from oleander.explainers.line import Line
from oleander.explainers.linear import LimeLinear
from oleander.explainers.tree import Tree
from oleander.explainers.tree_explainers import TreeExplainer
from oleander.regions import Region, read_region

# The most conditions of all rules that a file may hold; reading them takes some seconds.
MOST_TO_READ = 500_000


def check_size(explainers: Iterable[Explainer]) -> None:
    """Raise ``ValueError`` for explainers whose rules take minutes to read: a small file may hold a very deep tree."""
    trees = [getattr(explainer, "tree_", getattr(explainer, "tree", None)) for explainer in explainers]
    cost = sum(tree.reading_cost for tree in trees if isinstance(tree, Tree))
    if cost > MOST_TO_READ:
        raise ValueError(
            f"the rules of its trees hold {cost:,} conditions, and a file may hold {MOST_TO_READ:,}: limit the leaves "
            "of the trees"
        )


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
    """Return the explainer that ``write_explainer`` wrote."""
    kind = data["explainer"]
    if kind == "tree":
        explainer = TreeExplainer()
        explainer.tree_ = Tree.from_dict(data["tree"], schema)
        return explainer
    if kind == "linear":
        return LimeLinear.from_dict(data, schema)
    if kind == "abstaining tree":
        return AbstainingTree.from_dict(data, schema)
    if kind == "constant":
        return Constant.from_dict(data)
    if kind == "line":
        return Line.from_dict(data, schema)
    raise ValueError(
        f"explainer {kind!r} is not known; the explainers are tree, abstaining tree, linear, line and constant"
    )


def read_region_of(data: dict[str, Any], schema: FeatureSchema, explainer: Explainer) -> Region:
    """Return the region of an explainer, given its ``to_dict``."""
    if data["region"] != "spoken":
        return read_region(data, schema)
    if not isinstance(explainer, AbstainingExplainer):
        raise ValueError("the region is where the explainer speaks, but the explainer never abstains")
    return Spoken(read_region(data["outer"], schema), explainer)
