import numpy as np
import pandas as pd

from oleander.data.schema import FeatureSchema
from oleander.judging.certificate import Claim
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.results.explanation import explain_row, list_far
from oleander.rules import Box, Constant
from oleander.rules.conditions import Range

X = np.random.default_rng(0).uniform(size=(300, 2))
SCHEMA = FeatureSchema.infer(X)
JUDGED = (Claim(58, 60, 0.899),)
BOX = Box((Range(0, SCHEMA[0], upper=0.5),))
MEMBER = ChosenExplainer(BOX, Constant(False, 140, 1.0), "asking", 60, 0.97, 1.0, judged=JUDGED)
CHOSEN = ExplainerSet(SCHEMA, (MEMBER,))


def test_the_words_are_those_of_the_summary():
    (said,) = explain_row(CHOSEN, np.array([0.2, 0.5]), with_change=False).statements
    assert str(said) == "rule 1: x0 ≤ 0.5 → False (matches the model on 58 of 60 rows; at least 89% on new rows)"
    assert said.member.judged == JUDGED


def test_a_silent_row_is_told_what_would_answer_it():
    explanation = explain_row(CHOSEN, np.array([0.9, 0.5]))
    assert explanation.label is None
    assert "The rules are silent: no rule holds for this row." in str(explanation)
    assert str(explanation.change) == "The rules would answer 'False' (rule 1) if x0 ≤ 0.5."


class TestFarOutside:
    SCHEMA = FeatureSchema.infer(
        pd.DataFrame({"age": [18, 30, 90], "dose": [0.5, np.nan, 2.5], "sex": ["F", "M", "F"], "site": [7.5, 7.5, 7.5]})
    )

    def far(self, **changes):
        row = {"age": 40, "dose": 1.0, "sex": "M", "site": 7.5} | changes
        (found,) = list_far(self.SCHEMA, self.SCHEMA.encode(pd.DataFrame([row])))
        return list(map(str, found))

    def test_values_among_the_data_and_near_them_are_fine(self):
        assert self.far() == self.far(age=18, dose=2.6) == self.far(age=95, dose=np.nan) == []

    def test_values_far_outside_are_named_without_a_value_of_the_data(self):
        words = self.far(age=120, dose=-1.0)
        assert words == [
            "age = 120 lies far above all values in the data, where no rule was checked",
            "dose = -1 lies far below all values in the data, where no rule was checked",
        ]
        assert not any(value in " ".join(words) for value in ("18", "90", "0.5", "2.5"))

    def test_another_value_of_a_constant_column(self):
        assert len(self.far(site=8.0)) == 1
