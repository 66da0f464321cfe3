import numpy as np
import pytest

from benchmarks.subjects.picking import WAYS, answer, in_sequence, widest
from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.schema import FeatureSchema
from oleander.judging.cross_fitting import BARS


def make_rows(black_box, n_rows=400):
    X = np.random.default_rng(0).uniform(size=(n_rows, 3))
    schema = FeatureSchema.infer(X)
    return label_rows(schema.encode(X), CountingBlackBox(BlackBox(black_box, schema)))


@pytest.fixture
def steps():
    return make_rows(lambda X: X[:, 0] > 0.5)


@pytest.fixture
def noise():
    return make_rows(lambda X: (X.sum(axis=1) * 1e6).astype(int) % 2)


@pytest.mark.parametrize("way", WAYS)
def test_a_plain_law_is_answered_nearly_everywhere_and_noise_nowhere(way, steps, noise):
    pick = WAYS[way](steps, 0)
    answered, right = answer(pick, steps.values, steps.labels)
    assert answered.shape == (len(BARS), 400)
    assert answered[pick.bar].mean() > 0.9
    assert right[pick.bar].sum() / answered[pick.bar].sum() > 0.95
    assert WAYS[way](noise, 0) is None


def test_a_lower_level_is_never_wider(steps):
    picks = [widest(steps, 0, level) for level in (0.05, 1e-6)]
    wide, narrow = (answer(pick, steps.values, steps.labels)[0][pick.bar].sum() for pick in picks)
    assert narrow <= wide


def test_the_sequence_learns_from_half_of_the_rows(steps):
    assert in_sequence(steps, 0).rows.n_points == 200
