"""What a fit comes to: the chosen explainers, what they say, how good they are, and the trade-off around them."""

from oleander.results.changing import Change
from oleander.results.evaluation import Evaluation, Uncovered
from oleander.results.explainer_set import Answers, ChosenExplainer, ExplainerSet
from oleander.results.explanation import Explanation, Statement
from oleander.results.fit_record import Accuracy, BallSize, FitRecord, ModelScore, Stability
from oleander.results.tradeoff import Cell, TradeOff

__all__ = [
    "Accuracy",
    "Answers",
    "BallSize",
    "Cell",
    "Change",
    "ChosenExplainer",
    "Evaluation",
    "ExplainerSet",
    "Explanation",
    "FitRecord",
    "ModelScore",
    "Stability",
    "Statement",
    "TradeOff",
    "Uncovered",
]
