import numpy as np
import pytest

from oleander import AggregateExplainer, Balls, Floor, NothingFoundError, Program
from tests.making import QUICK, OwnTrees, halves


class TestChooseFromPool:
    def test_groups_are_kept_whole(self, square):
        groups = np.arange(300) // 5
        atlas = AggregateExplainer(halves, **{**QUICK, "holdout": 0.3}).fit(square, groups=groups)
        learned = {tuple(row) for row in atlas.pool_.rows.values}
        is_learned = np.array([tuple(row) in learned for row in square])
        by_group = [is_learned[groups == group] for group in range(60)]
        assert all(part.all() or not part.any() for part in by_group)
        assert atlas.certificate_.unit == "groups"
        assert atlas.certificate_.coverage.n_rows == 18

    def test_held_out_rows_are_used_for_nothing_else(self, square):
        atlas = AggregateExplainer(halves, **QUICK).fit(square)
        assert atlas.pool_.rows.weights.sum() == 225
        assert atlas.certificate_.coverage.n_rows == 75
        assert AggregateExplainer(halves, **{**QUICK, "holdout": None}).fit(square).certificate_ is None

    def test_generators_that_learn_from_rows_ask_nothing_and_are_saved(self, square, tmp_path):
        """Candidates of several kinds stand in one pool, groups reach them, and a file brings all of them back."""
        groups = np.arange(300) // 5
        generators = [OwnTrees(), OwnTrees(by_leaf=True)]
        atlas = AggregateExplainer(halves, candidates=generators, max_explainers=3, random_state=0)
        atlas.fit(square, groups=groups)
        assert atlas.coverage_ > 0.9
        assert all(member.fidelity >= 0.9 for member in atlas.explainers_)
        # The rows once, and some of them again to see whether answers change.
        assert atlas.n_queries_ <= 2 * 300
        atlas.save(tmp_path / "atlas.oleander")
        again = AggregateExplainer.load(tmp_path / "atlas.oleander")
        np.testing.assert_array_equal(
            np.ma.getmaskarray(again.predict(square)), np.ma.getmaskarray(atlas.predict(square))
        )
        np.testing.assert_array_equal(again.predict(square).compressed(), atlas.predict(square).compressed())

    @pytest.mark.slow
    def test_what_is_certified_is_what_predict_does(self):
        """On the held-out rows the certificate counts exactly what predict answers, in 30 random fits."""
        n_silent = n_overlaps = 0
        for seed in range(30):
            rng = np.random.default_rng(seed)
            X, slope = rng.uniform(size=(160, 3)).round(rng.integers(1, 4)), rng.uniform(-1, 1, size=3)

            def black_box(X, slope=slope):
                return np.where(X @ slope + 0.15 * np.sin(25 * X[:, 0]) > slope.sum() / 2, "above", "below")

            ways = [OwnTrees(), Balls([0.5, 1.0], n_draws=100, max_candidates=15), OwnTrees(by_leaf=True)]
            options = {"min_fidelity": 0.7, "floor": Floor(on="share", min_support=3), "holdout": 0.25}
            atlas = AggregateExplainer(black_box, candidates=ways[seed % 3], **options, random_state=seed).fit(X)
            held, certificate = atlas.engine_.held, atlas.certificate_
            rows = held.values[held.point_of_row]
            answers, truth, covers = atlas.predict(rows), black_box(rows), atlas.covers(rows)
            answered = ~np.ma.getmaskarray(answers)
            right = answered & (np.ma.getdata(answers) == truth)
            assert (certificate.coverage.n_right, certificate.coverage.n_rows) == (answered.sum(), len(rows))
            assert (certificate.answers.n_right, certificate.answers.n_rows) == (right.sum(), answered.sum())
            for member, claim, inside in zip(atlas.explainers_, certificate.fidelity, covers, strict=True):
                agrees = member.explainer.predict(rows[inside]) == truth[inside]
                assert (member.claim, claim.n_right, claim.n_rows) == (claim, agrees.sum(), inside.sum())
            n_silent += (~answered).sum()
            n_overlaps += (covers.sum(axis=0) > 1).sum()
        # Otherwise the order of the explainers and their silence would not have mattered.
        assert min(n_silent, n_overlaps) > 50

    def test_more_explainers_than_candidates(self):
        X = np.random.default_rng(0).uniform(size=(60, 2))
        balls = Balls(2.0, max_candidates=5)
        with pytest.warns(UserWarning, match="max_explainers=50, but there are only 5 candidates") as caught:
            AggregateExplainer(halves, max_explainers=50, candidates=balls, random_state=0).fit(X)
        assert caught[0].filename == __file__


class TestNothingFound:
    def test_nothing_is_faithful_enough(self, square):
        noise = np.random.default_rng(1)
        table = {tuple(row): noise.random() < 0.5 for row in square}

        def black_box(X):
            return np.array([table.get(tuple(row), row[0] > 0.5) for row in X])

        with pytest.raises(
            NothingFoundError,
            match=r"min_fidelity=0.95 is not reached: the best of \d+ trained candidates is at 0\.\d+",
        ):
            AggregateExplainer(black_box, **{**QUICK, "min_fidelity": 0.95}).fit(square)

    def test_what_left_no_candidate_trained_is_named(self, square):
        with pytest.raises(NothingFoundError, match="time_limit=1e-09 ended before a candidate was trained"):
            AggregateExplainer(halves, **QUICK, program=Program(time_limit=1e-9)).fit(square)
        with pytest.raises(NothingFoundError, match="max_queries=450 ended before a candidate was trained"):
            AggregateExplainer(halves, **QUICK, max_queries=450).fit(square)
