"""One tree that learns from the same draws as our rules and is judged on the same rows."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from benchmarks.rivals.abstaining_tree import choose_tree
from benchmarks.rivals.base import Baseline, draw_and_ask
from oleander import NothingFoundError
from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.draws import Draws
from oleander.fitting.rule_learner import RuleLearner
from oleander.fitting.rules_on_draws import deliver_rules
from oleander.results.explainer_set import ChosenExplainer


@dataclass(eq=False, repr=False)
class TreeOnDraws(Baseline):
    """Learn one tree from draws around background rows."""

    background: Any = None
    _: KW_ONLY
    # A large tree is cut back exactly to ``max_leaves`` leaves that speak, at the boldest price whose bound reaches the
    # floor. Otherwise a tree of ``max_leaves`` leaves answers every row.
    abstains: bool = True
    min_fidelity: float = 0.9
    max_leaves: int = 20

    def fit(self, X: Any, *, groups: Any = None) -> Self:
        """Draw, ask, learn and judge, as ``AggregateExplainer`` does with a background."""
        schema = FeatureSchema.infer(X) if self.schema is None else self.schema
        counting = CountingBlackBox(BlackBox(self.black_box, schema))
        of_rows = None if groups is None else groups.to_numpy()
        rows = label_rows(schema.encode(X), counting, groups=of_rows, merge=False)
        draws = draw_and_ask(schema.encode(self.background), counting, Draws().n, self.random_state or 0)
        learner = RuleLearner(draws, rows, by_folds=False, seed=self.random_state or 0)
        found = (
            choose_tree(learner, self.max_leaves, self.min_fidelity)
            if self.abstains
            else learner.plain_tree(self.max_leaves)
        )
        if found is None:
            raise NothingFoundError("no cut of the tree reaches the floor.")
        self.schema_, self.n_queries_ = schema, counting.n_queries
        self.set_ = deliver_rules(found)[0]
        self.certificate_ = found.certificate if found.is_certified else None
        return self

    def _find(self, rows: Rows, box: BlackBox, seed: int) -> tuple[list[ChosenExplainer], int]:
        raise TypeError("a tree on draws is fitted as a whole.")
