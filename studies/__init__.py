"""The paper's two studies, figure by figure: each step a module, one call for all."""

from studies.run import StudyResult, run_study

__all__ = ["StudyResult", "run_study"]
