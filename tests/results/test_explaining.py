import numpy as np
import pandas as pd

from oleander.data.schema import FeatureSchema
from oleander.explainers import AbstainingTree, UnfilteredTree
from oleander.explainers.abstaining import Spoken
from oleander.judging.certificate import Claim
from oleander.regions import Box
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.results.explaining import describe_far, describe_silence, explain_row, state

X = np.random.default_rng(0).uniform(size=(300, 2))
SCHEMA = FeatureSchema.infer(X)
TREE = UnfilteredTree(max_leaves=2).fit(X, X[:, 0] > 0.5, schema=SCHEMA).tree_
CAREFUL = AbstainingTree(TREE, np.array([False, True, False]), "draws")
JUDGED = (Claim(58, 60, 0.899),)
MEMBER = ChosenExplainer(Spoken(Box(()), CAREFUL), CAREFUL, "asking", 60, 0.97, 0.9, 1.0, judged=JUDGED)
CHOSEN = ExplainerSet(SCHEMA, (MEMBER,), in_turn=True)


def test_the_words_are_those_of_the_summary():
    said = state(CHOSEN, 0, np.array([0.2, 0.5]))
    assert str(said) == "rule 0: x0 ≤ 0.5 → False (right on 58 of 60 rows, at least 0.89)"
    assert said.judged == JUDGED[0]
    assert said.certified is None


def test_a_silent_leaf_is_named():
    (why,) = describe_silence(CHOSEN, np.array([0.9, 0.5]))
    n_draws = int(TREE.n_draws[2])
    assert why == f"explainer 0 abstains where x0 > 0.5 ('True' is right on 100% of {n_draws} draws there)"
    explanation = explain_row(CHOSEN, np.array([0.9, 0.5]))
    assert explanation.label is None
    assert explanation.why_silent == why
    assert str(explanation.change) == "would be 'False' (rule 0) if x0 ≤ 0.5"


def test_no_rule_covers_the_row():
    assert describe_silence(ExplainerSet(SCHEMA, ()), X[0]) == ("no explainer covers this row",)


class TestFarOutside:
    SCHEMA = FeatureSchema.infer(
        pd.DataFrame({"age": [18, 30, 90], "dose": [0.5, np.nan, 2.5], "sex": ["F", "M", "F"], "site": [7.5, 7.5, 7.5]})
    )

    def far(self, **changes):
        row = {"age": 40, "dose": 1.0, "sex": "M", "site": 7.5} | changes
        (words,) = describe_far(self.SCHEMA, self.SCHEMA.encode(pd.DataFrame([row])))
        return list(words)

    def test_values_among_the_data_and_near_them_are_fine(self):
        assert self.far() == self.far(age=18, dose=2.6) == self.far(age=95, dose=np.nan) == []

    def test_values_far_outside_are_named_without_a_value_of_the_data(self):
        words = self.far(age=120, dose=-1.0)
        assert words == [
            "age = 120 lies far over all values of the data, and no such row was judged",
            "dose = -1 lies far under all values of the data, and no such row was judged",
        ]
        assert not any(value in " ".join(words) for value in ("18", "90", "0.5", "2.5"))

    def test_another_value_of_a_constant_column(self):
        assert len(self.far(site=8.0)) == 1
