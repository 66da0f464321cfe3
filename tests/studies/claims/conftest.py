import pytest

CURVES = {
    "strict 0.5": ((0.6, 0.8), (0.8, 0.85)),
    "strict 0.9": ((0.4, 0.5), (0.95, 0.96)),
    "selective 0.5": ((0.6, 0.8), (0.8, 0.85)),
    "selective 0.9": ((0.4, 0.5), (0.95, 0.96)),
    "anchors": ((0.3, 0.35), (0.7, 0.75)),
    "submodular pick": ((0.2, 0.3), (0.6, 0.6)),
    "decision set": ((1, 1), (0.7, 0.7)),
    "active tree": ((1, 1), (0.75, 0.75)),
    "naive tree": ((1, 1), (0.7, 0.7)),
}


@pytest.fixture
def make_facts():
    """A maker of the aggregation's facts, with coverage and fidelity by method.

    Two budgets and two floors; the program at the high floor covers less and is more faithful.
    """

    def make(changes=None, tasks=("by_trial",)):
        curves = {
            name: {"held out": {"coverage": list(coverage), "agreement": list(agreement)}}
            for name, (coverage, agreement) in {**CURVES, **(changes or {})}.items()
        }
        solved = {"n_cells": 4, "n_proven": 4, "worst_gap": 0.0, "seconds": 1.0, "most_seconds": 0.5}
        programs = {"strict": solved, "selective": solved}
        task = {"methods": curves, "programs": programs, "reach": {"3": 1.0}}
        return {"budgets": [5, 10], "floors": [0.5, 0.9], "tasks": dict.fromkeys(tasks, task)}

    return make
