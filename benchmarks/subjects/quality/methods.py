"""The methods by name. Each gets a case (train rows, rows to explain, groups) and a budget, and returns a fit."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from benchmarks.cases import Case, typical_radius
from benchmarks.rivals import AnchorPick, NaiveTree, Proxies, Rival, SubmodularPick, TreeWithAbstention
from benchmarks.rivals.tree_on_draws import TreeOnDraws
from oleander import AggregateExplainer, Balls, Draws, Program


@dataclass(frozen=True)
class Budget:
    """The floor, and the largest number of explainers (None for the default) and of rules of a rival to read."""

    max_explainers: int | None = None
    max_rules: int = 20
    min_fidelity: float = 0.9

    @property
    def n_explainers(self) -> int:
        """The number of explainers where a method has no default."""
        return self.max_explainers or 10

    @property
    def max_leaves(self) -> int:
        """The largest number of leaves of a tree: twice the rules, since its silent leaves count."""
        return 2 * self.max_rules


@dataclass(frozen=True)
class Effort:
    """The draws and candidates of a method: fewer than its defaults, so that all runs take hours and not days."""

    n_learned_from: int = 20_000
    n_paper_draws: int = 10_000
    n_draws: int = 500
    max_candidates: int = 100
    max_anchors: int = 40
    max_conditions: int = 5
    n_components: int = 100


TINY = Effort(
    n_learned_from=500, n_paper_draws=50, n_draws=50, max_candidates=5, max_anchors=2, max_conditions=2, n_components=3
)
# Returns a fitted explainer. A method that draws from other rows than those to explain has `case.train` for it.
Method = Callable[[Case, Budget, Effort], Rival]


def fit_default(case: Case, budget: Budget, effort: Effort, **options: Any) -> Rival:
    """Fit ours with its defaults but for ``options``, and the black box's training rows as background."""
    return _make_ours(case, budget, effort, **options).fit(case.explain, groups=case.groups, background=case.train)


def fit_without_background(case: Case, budget: Budget, effort: Effort, **options: Any) -> Rival:
    """Fit ours with draws from the rows to explain, fold by fold."""
    return _make_ours(case, budget, effort, **options).fit(case.explain, groups=case.groups)


def fit_ten(case: Case, budget: Budget, effort: Effort) -> Rival:
    """Fit ours with at most ten rules, however many classes there are."""
    return fit_default(case, replace(budget, max_explainers=10), effort)


def fit_without_draws(case: Case, budget: Budget, effort: Effort) -> Rival:
    """Fit ours so that explainers learn from the rows alone."""
    return fit_without_background(case, budget, effort, draws=Draws(0))


def _make_ours(case: Case, budget: Budget, effort: Effort, **options: Any) -> AggregateExplainer:
    named = {**_common(case), **options}
    if "candidates" not in named:
        named.setdefault("draws", Draws(effort.n_learned_from))
    return AggregateExplainer(
        case.black_box, max_explainers=budget.max_explainers, min_fidelity=budget.min_fidelity, **named
    )


def fit_tree_on_draws(case: Case, budget: Budget, effort: Effort, *, max_leaves: int, abstains: bool = True) -> Rival:
    """Fit one tree from the draws of our default, judged on the same rows."""
    return _fit(
        case,
        partial(TreeOnDraws, background=case.train),
        abstains=abstains,
        min_fidelity=budget.min_fidelity,
        max_leaves=max_leaves,
    )


def fit_balls(case: Case, budget: Budget, effort: Effort) -> Rival:
    """Fit ours with balls as candidates; the trees inside have as many leaves as they need."""
    balls = Balls(max_candidates=effort.max_candidates, n_draws=effort.n_draws)
    return fit_without_background(case, budget, effort, candidates=balls, program=Program(time_limit=2))


def fit_paper(case: Case, budget: Budget, effort: Effort) -> Rival:
    """Fit the paper's system by its letter, chosen by its definition of fidelity: raw units, one radius, every row."""
    atlas = AggregateExplainer.paper(
        case.black_box,
        letter=True,
        formulation="strict",
        radius=typical_radius(case.data),
        n_draws=effort.n_paper_draws,
        max_explainers=budget.n_explainers,
        min_fidelity=budget.min_fidelity,
        time_limit=10,
        **_common(case),
    )
    return atlas.fit(case.explain, groups=case.groups)


def fit_tree_with_abstention(case: Case, budget: Budget, effort: Effort) -> Rival:
    """Fit one tree that is silent where it is not sure enough."""
    return _fit(case, TreeWithAbstention, min_fidelity=budget.min_fidelity, max_leaves=budget.max_leaves)


def fit_naive_tree(case: Case, budget: Budget, effort: Effort) -> Rival:
    """Fit one tree that answers every row."""
    return _fit(case, NaiveTree, max_leaves=budget.max_leaves)


def fit_anchors(case: Case, budget: Budget, effort: Effort) -> Rival:
    """Fit a greedy pick of anchors."""
    sizes = {"max_anchors": effort.max_anchors, "max_conditions": effort.max_conditions}
    return _fit(case, AnchorPick, max_explainers=budget.n_explainers, **sizes)


def fit_submodular_pick(case: Case, budget: Budget, effort: Effort) -> Rival:
    """Fit LIME's submodular pick."""
    sizes = {"max_candidates": effort.max_candidates, "n_draws": effort.n_draws}
    floor = {"min_fidelity": budget.min_fidelity}
    return _fit(case, SubmodularPick, max_explainers=budget.n_explainers, **floor, **sizes)


def fit_proxies(case: Case, budget: Budget, effort: Effort) -> Rival:
    """Fit proxies of local models."""
    sizes = {"max_candidates": effort.max_candidates, "n_draws": effort.n_draws}
    return _fit(case, Proxies, max_explainers=budget.n_explainers, **sizes)


def _fit(case: Case, rival: Callable[..., Rival], **options: Any) -> Rival:
    return rival(case.black_box, **_common(case), **options).fit(case.explain, groups=case.groups)


def _common(case: Case) -> dict[str, Any]:
    return {"schema": case.schema, "random_state": case.seed}


OURS: dict[str, Method] = {
    "default": fit_default,
    "default, K = 10": fit_ten,
    "without background": fit_without_background,
    "without draws": fit_without_draws,
    "balls": fit_balls,
    "paper": fit_paper,
}
TREES: dict[str, Method] = {
    "abstaining tree on draws, 10 leaves": partial(fit_tree_on_draws, max_leaves=10),
    "abstaining tree on draws, 20 leaves": partial(fit_tree_on_draws, max_leaves=20),
    "plain tree on draws, 20 leaves": partial(fit_tree_on_draws, max_leaves=20, abstains=False),
    "tree with abstention": fit_tree_with_abstention,
    "naive tree": fit_naive_tree,
}
# Measured beside the rest of the field.
RIVALS: dict[str, Method] = {
    "anchors": fit_anchors,
    "submodular pick": fit_submodular_pick,
    "proxies": fit_proxies,
}
METHODS = OURS | TREES | RIVALS
