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
        curves = {}
        for name, (coverage, agreement) in {**CURVES, **(changes or {})}.items():
            held_out = {"coverage": list(coverage), "agreement": list(agreement)}
            # On D the answers are always right, and the lowest fidelity of an explainer is that of the answers above.
            learned = {"coverage": list(coverage), "agreement": [1.0, 1.0], "fidelity": list(agreement)}
            curves[name] = {"held out": held_out, "learned": learned}
        n_classes = {"binary": 2}
        return {
            "budgets": [5, 10],
            "floors": [0.5, 0.9],
            "tasks": {
                task: {"methods": curves, "reach": {"3": 1.0}, "n_classes": n_classes.get(task, 5)} for task in tasks
            },
        }

    return make
