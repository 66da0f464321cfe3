"""The choice of the best K of many local explainers, with its proof: two sparse matrices in, a result out."""

from oleander.selection.problem import SelectionProblem
from oleander.selection.result import Proof, SelectionResult, StageRecord

__all__ = ["Proof", "SelectionProblem", "SelectionResult", "StageRecord"]
