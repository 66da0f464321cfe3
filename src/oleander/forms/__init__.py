"""Forms of answer: how explainers are made and read together, and which form to take."""

from oleander.forms.consensus import Consensus, make_consensus_forms
from oleander.forms.union import Union
from oleander.judging.verdict import Choice, Verdict, balance_classes, read_verdict, write_verdict

__all__ = [
    "Choice",
    "Consensus",
    "Union",
    "Verdict",
    "balance_classes",
    "make_consensus_forms",
    "read_verdict",
    "write_verdict",
]
