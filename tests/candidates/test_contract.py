"""The contract of every generator."""

import numpy as np
import pandas as pd
import pytest

from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.candidates import Anchors, Balls, Boxes, Candidate, Generator, Inside, Nodes, Trees
from oleander.candidates.pool import CandidatePool
from oleander.data.schema import FeatureSchema
from oleander.explainers.saving import read_explainer, read_region_of, write_explainer

LEARNING = [
    Trees(n_trees=12),
    Nodes(n_trees=4),
    Nodes(n_trees=2, inside=Inside(["tree"], max_leaves=2)),
    Boxes(n_centers=20),
]
ASKING = [Anchors(max_anchors=10, max_conditions=2)]
GENERATORS = [Balls("auto", max_candidates=10, n_draws=200), *LEARNING, *ASKING]


def rows_of(X, black_box, groups=None):
    box = BlackBox(black_box, FeatureSchema.infer(X))
    return label_rows(box.schema.encode(X), CountingBlackBox(box), groups=groups)


def counter_of(rows, black_box):
    return CountingBlackBox(BlackBox(black_box, rows.schema))


def stripes(X):
    return np.array(["low", "mid", "high"])[np.digitize(np.asarray(X)[:, 0], [0.3, 0.6])]


@pytest.fixture
def square():
    return np.random.default_rng(0).uniform(size=(240, 3))


def words(candidates):
    """Return the region and the rules of each candidate in words."""
    return [
        (candidate.region.describe(), *(str(rule) for rule in candidate.explainer.rules())) for candidate in candidates
    ]


def answers_of(candidate, rows):
    """Return a candidate's answer to each point, None where it abstains."""
    inside = candidate.region.contains(rows.values)
    labels = candidate.explainer.predict(rows.values)
    return tuple(label if here else None for label, here in zip(labels.tolist(), inside, strict=True))


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda generator: type(generator).__name__)
class TestContract:
    def test_is_a_generator(self, generator, square):
        assert isinstance(generator, Generator)
        rows = rows_of(square, stripes)
        black_box = counter_of(rows, stripes)
        candidates = generator.propose(rows, 0, black_box)
        assert (black_box.n_queries > 0) == (generator in ASKING)
        assert candidates
        assert all(isinstance(candidate, Candidate) for candidate in candidates)
        assert {candidate.origin for candidate in candidates} == {type(generator).__name__.lower()}

    def test_mixed_columns_and_missing_values(self, generator, mixed, mixed_black_box):
        rows = rows_of(mixed, mixed_black_box)
        black_box = counter_of(rows, mixed_black_box)
        pool = CandidatePool(rows, generator.propose(rows, 0, black_box), black_box)
        pool.train(range(len(pool.candidates)))
        assert (pool.support > 0).all()
        assert pool.fidelity.max() > 0.9

    @pytest.mark.parametrize("n_rows", [1, 2, 3, 5, 10, 20])
    def test_few_rows(self, generator, mixed, mixed_black_box, n_rows):
        def scrambled(table):
            hashes = pd.util.hash_pandas_object(table, index=False).to_numpy()
            return np.array(["yes", "no", "no"])[hashes % 3]

        rows = rows_of(mixed.iloc[:n_rows], scrambled)
        for candidate in generator.propose(rows, 0, counter_of(rows, scrambled)):
            assert candidate.region.contains(rows.values).any()

    def test_one_class_and_constant_columns(self, generator):
        X = pd.DataFrame({"same": np.ones(60), "level": ["a"] * 60, "number": np.arange(60) / 7})

        def always(table):
            return np.full(len(table), "always")

        rows = rows_of(X, always)
        black_box = counter_of(rows, always)
        pool = CandidatePool(rows, generator.propose(rows, 0, black_box), black_box)
        pool.train(range(len(pool.candidates)))
        assert (pool.fidelity == 1).all()
        assert all(explainer.complexity == 1 for explainer in pool.explainers)


@pytest.mark.parametrize("generator", LEARNING, ids=lambda generator: type(generator).__name__)
class TestLearning:
    """Generators that learn from the rows and do not ask the black box."""

    def test_is_the_same_every_time_and_another_with_another_seed(self, generator, mixed, mixed_black_box):
        rows = rows_of(mixed, mixed_black_box)
        assert words(generator.propose(rows, 3)) == words(generator.propose(rows, 3))
        assert words(generator.propose(rows, 3)) != words(generator.propose(rows, 4))

    def test_no_two_give_the_same_answers(self, generator, mixed, mixed_black_box):
        rows = rows_of(mixed, mixed_black_box)
        answers = [answers_of(candidate, rows) for candidate in generator.propose(rows, 0)]
        assert len(set(answers)) == len(answers)

    def test_nothing_is_learned_from_the_rows_that_judge(self, generator, square):
        """Other labels on the second half change no candidate that learned from the first."""
        names = np.array(["low", "mid", "high"])
        numbers = np.digitize(square[:, 0], [0.3, 0.6])
        half = rows_of(square, stripes).halves(0)

        def learned_from_first(shift):
            # With other labels on the second half, no candidate of one is equal to one of the other.
            labels = names[np.where(half, numbers, (numbers + shift) % 3)]
            known = dict(zip(map(bytes, square), labels, strict=True))
            rows = rows_of(square, lambda X: np.array([known[bytes(row)] for row in X]))
            candidates = generator.propose(rows, 0)
            first = [candidate for candidate in candidates if np.array_equal(candidate.learned_from, half)]
            assert all(np.array_equal(c.learned_from, ~half) for c in candidates if c not in first)
            assert 0 < len(first) < len(candidates)
            return words(first)

        assert learned_from_first(1) == learned_from_first(2)

    def test_no_group_is_both_learned_from_and_judged(self, generator, square):
        groups = np.arange(240) // 12
        for candidate in generator.propose(rows_of(square, stripes, groups), 0):
            learned = set(groups[candidate.learned_from])
            assert learned
            assert not learned & set(groups[~candidate.learned_from])

    def test_one_group_leaves_no_row_to_judge(self, generator, square):
        assert generator.propose(rows_of(square, stripes, np.zeros(240)), 0) == []

    def test_equal_rows_count_as_often_as_they_occur(self, generator, square):
        X = np.repeat(square[:60], np.resize([1, 4], 60), axis=0)
        rows = rows_of(X, stripes)
        for candidate in generator.propose(rows, 0):
            n_learned = rows.weights[candidate.learned_from].sum()
            assert max(rule.n_draws for rule in candidate.explainer.rules()) <= n_learned

    def test_can_be_saved(self, generator, mixed, mixed_black_box):
        rows = rows_of(mixed, mixed_black_box)
        for candidate in generator.propose(rows, 0):
            explainer = read_explainer(write_explainer(candidate.explainer), rows.schema)
            region = read_region_of(candidate.region.to_dict(), rows.schema, explainer)
            np.testing.assert_array_equal(region.contains(rows.values), candidate.region.contains(rows.values))
            np.testing.assert_array_equal(explainer.predict(rows.values), candidate.explainer.predict(rows.values))
            assert region.describe() == candidate.region.describe()

    def test_rules_are_in_the_users_words(self, generator, mixed, mixed_black_box):
        rows = rows_of(mixed, mixed_black_box)
        text = " ".join(" ".join(sentence) for sentence in words(generator.propose(rows, 0)))
        assert "dose" in text
        assert "missing" in text
        assert "no dose" in text
        assert "site" not in text
