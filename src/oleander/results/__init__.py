"""What a fit comes to: the chosen explainers, what they say, how good they are, and the trade-off around them."""

from oleander.results.changing import Change
from oleander.results.evaluation import Evaluation, Uncovered
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.results.explanation import Explanation, Statement
from oleander.results.fit_record import FitRecord
from oleander.results.tradeoff import Cell, TradeOff

__all__ = [
    "Cell",
    "Change",
    "ChosenExplainer",
    "Evaluation",
    "ExplainerSet",
    "Explanation",
    "FitRecord",
    "Statement",
    "TradeOff",
    "Uncovered",
]
