"""Choose the best K of many local explainers, with the proof: two sparse matrices in, a result out."""

from oleander.selection.problem import SelectionProblem
from oleander.selection.result import SelectionResult
from oleander.selection.run import Progress, StageRecord

__all__ = ["Progress", "SelectionProblem", "SelectionResult", "StageRecord"]
