import numpy as np
import pytest

from studies.claims import judge_black_boxes as judges
from studies.store import to_bits


def repeats(forest, network=(0.8, 0.81, 0.79, 0.8), logistic=(0.7, 0.71, 0.7, 0.69)):
    accuracy = {"forest": list(forest), "network": list(network), "logistic": list(logistic)}
    return {"task": {"repeats": {"n": len(forest), "accuracy": accuracy, "test_per_train": 0.2}}}


@pytest.mark.parametrize(
    ("forest", "expected"),
    [
        ((0.9, 0.91, 0.89, 0.9), True),
        # Ahead of the network on three of four splits, by chance.
        ((0.82, 0.82, 0.8, 0.78), None),
        ((0.75, 0.76, 0.74, 0.75), False),
    ],
)
def test_models_are_compared_over_the_splits(forest, expected):
    assert judges.forest_best(repeats(forest))[0] is expected
    assert judges.logistic_worst(repeats(forest))[0] is True


def test_one_split_decides_nothing():
    assert judges.forest_best(repeats((0.9,), (0.8,), (0.7,)))[0] is None


@pytest.mark.parametrize(
    ("in_group_0", "elsewhere", "expected"),
    [((0.2, 0.9), (0.9, 0.9), True), ((0.9, 0.2), (0.9, 0.9), False), ((0.2, 0.9), (0.2, 0.9), False),
     ((0.5, 0.52), (0.9, 0.9), None)],
)  # fmt: skip
def test_forest_and_network_are_compared_class_by_class(in_group_0, elsewhere, expected):
    """Fifty test rows of each of two classes; pairs are the shares that forest and network get right."""
    place = np.arange(50)
    models = {
        name: {"right_bits": to_bits(np.concatenate([place < 50 * in_group_0[i], place < 50 * elsewhere[i]]))}
        for i, name in enumerate(("forest", "network"))
    }
    classes = {name: to_bits(np.repeat([True, False], 50) == here) for name, here in (("Group 0", 1), ("Healthy", 0))}
    facts = {"five_classes": {"n": {"test": 100}, "test_classes": classes, **models}}
    assert judges.forest_by_class(facts)[0] is expected


@pytest.mark.parametrize(("ahead", "expected"), [(0.03, True), (-0.03, False), (0.01, None), (-0.01, None)])
def test_a_tie_decides_nothing(ahead, expected):
    facts = {"task": {"forest": {"papers_lead": {"ahead": ahead, "margin": 0.02}}}}
    assert judges.fifty_trees(facts)[0] is expected
