import numpy as np
import pytest

from studies.store import to_bits

N_HELD_OUT = 400
CURVES = {
    "strict 0.5": ((0.6, 0.8), (0.8, 0.85)),
    "strict 0.9": ((0.4, 0.5), (0.95, 0.96)),
    "selective 0.5": ((0.6, 0.8), (0.8, 0.85)),
    "selective 0.9": ((0.4, 0.5), (0.95, 0.96)),
    "anchors": ((0.2, 0.25), (0.7, 0.75)),
    "submodular pick": ((0.2, 0.3), (0.6, 0.6)),
    "decision set": ((1, 1), (0.7, 0.7)),
    "active tree": ((1, 1), (0.75, 0.75)),
    "naive tree": ((1, 1), (0.7, 0.7)),
}


def bits(coverage, agreement, n=N_HELD_OUT):
    """Answers to the first rows, of which the first are right."""
    n_answered = round(coverage * n)
    return [to_bits(np.arange(n) < n_answered), to_bits(np.arange(n) < round(n_answered * (agreement or 0.0)))]


def make_method(coverage, agreement, n=N_HELD_OUT):
    held_out = {"coverage": list(coverage), "agreement": list(agreement)}
    held_out["bits"] = [bits(*pair, n) for pair in zip(coverage, agreement, strict=True)]
    learned = {"coverage": list(coverage), "agreement": [1.0, 1.0], "fidelity": list(agreement)}
    return {"held out": held_out, "learned": learned}


@pytest.fixture
def make_facts():
    """A maker of the aggregation's facts, with coverage and fidelity by method.

    Two budgets and two floors; the program at the high floor covers less and is more faithful.
    """

    def make(changes=None, tasks=("by_trial",), n=N_HELD_OUT):
        methods = {name: make_method(*curves, n) for name, curves in {**CURVES, **(changes or {})}.items()}
        found = {"methods": methods, "n_held_out": n, "units": None}
        n_classes = {"binary": 2}
        return {
            "budgets": [5, 10],
            "floors": [0.5, 0.9],
            "tasks": {task: {**found, "n_classes": n_classes.get(task, 5)} for task in tasks},
        }

    return make
