import contextlib
import tracemalloc
from typing import Any

import numpy as np
import pytest

from oleander import AggregateExplainer, NothingFoundError
from oleander.black_box.asking import N_ASKED_TWICE, BlackBox, CountingBlackBox
from oleander.data.schema import FeatureSchema
from oleander.draws import Draws
from oleander.fitting.rules_on_draws import count_affordable_draws
from oleander.judging.floor import Floor
from tests.making import ASKING, Recording, halves


class TestAffordableDraws:
    """Of 300 rows, and a hundred that are asked about twice."""

    @pytest.fixture
    def count(self, square):
        def count(n_draws, max_queries):
            black_box = CountingBlackBox(BlackBox(halves, FeatureSchema.infer(square)), max_queries)
            return count_affordable_draws(n_draws, 300 + N_ASKED_TWICE, black_box)

        return count

    @pytest.mark.parametrize("max_queries", [None, 2_400, 10_000])
    def test_all_draws_where_the_limit_allows_them(self, count, max_queries):
        assert count(2_000, max_queries) == 2_000

    @pytest.mark.parametrize(("max_queries", "n_draws"), [(2_399, 1_999), (900, 500)])
    def test_draws_give_way_to_rows(self, count, max_queries, n_draws):
        with pytest.warns(UserWarning, match=f"max_queries={max_queries:,} leaves {n_draws:,} of 2,000 draws"):
            assert count(2_000, max_queries) == n_draws

    @pytest.mark.parametrize(("max_queries", "n_draws"), [(899, 499), (400, 0), (350, 0)])
    def test_too_few_draws_are_none(self, count, max_queries, n_draws):
        with pytest.warns(UserWarning, match=f"={max_queries} leaves {n_draws} of 2,000 draws, too few to learn from"):
            assert count(2_000, max_queries) == 0

    def test_fewer_draws_of_many_columns(self, count, monkeypatch):
        monkeypatch.setattr("oleander.fitting.rules_on_draws.MOST_VALUES", 1_600)
        with pytest.warns(UserWarning, match="2,000 draws of 3 columns would fill the memory: 533 are made"):
            assert count(2_000, None) == 533


# The rows of X and of the background, the options of the fit and the size of its groups; and then the status of the
# rules, the rows that judge them, and the rows asked about, besides a hundred that are asked about twice.
WAYS: dict[str, tuple[Any, ...]] = {
    "draws": (300, 0, {}, 1, "judged", 300, 1_000 + 300),
    "draws around a background": (300, 500, {}, 1, "certified", 300, 1_000 + 300),
    "many rows": (5_000, 0, {}, 1, "certified", 3_000, 1_000 + 3_000),
    "not quite so many": (4_999, 0, {}, 1, "judged", 4_999, 1_000 + 4_999),
    "many rows, none held out": (5_000, 0, {"holdout": 0.0}, 1, "judged", 5_000, 1_000 + 5_000),
    "many rows in few groups": (5_000, 0, {}, 2, "judged", 5_000, 1_000 + 5_000),
    # Without draws, each row is left out of the rules that judge it.
    "rows as draws": (300, 0, {"draws": Draws(0)}, 1, "judged", 300, 300),
    "a background as draws": (300, 700, {"draws": Draws(0)}, 1, "certified", 300, 300 + 700),
    "many rows as draws": (5_000, 0, {"draws": Draws(0)}, 1, "certified", 2_500, 5_000),
}


@pytest.mark.parametrize(
    ("n_rows", "n_background", "options", "size", "status", "n_judging", "n_asked"), WAYS.values(), ids=WAYS
)
def test_rows_judge_that_nothing_was_learned_from(n_rows, n_background, options, size, status, n_judging, n_asked):
    X, background = (np.random.default_rng(seed).uniform(size=(n, 3)) for seed, n in enumerate((n_rows, n_background)))
    box = Recording()
    atlas = AggregateExplainer(box, **{"draws": Draws(1_000), "random_state": 0, **options})
    groups = np.arange(n_rows) // size if size > 1 else None
    atlas.fit(X, background=background if n_background else None, groups=groups)
    assert atlas.coverage_ > 0.95
    assert (atlas.record_.status, atlas.evaluation_.n_rows) == (status, n_judging)
    assert box.n_rows == atlas.n_queries_ == n_asked + N_ASKED_TWICE
    assert status == "judged" or atlas.certificate_.answers.bound == 0.9
    assert (atlas.realism_ is None) == (atlas.draws.n == 0)


class TestLearnByAsking:
    def test_the_default_learns_by_asking(self, square):
        box = Recording()
        atlas = AggregateExplainer(box, random_state=0).fit(square)
        assert atlas.coverage_ > 0.95
        assert box.n_rows == atlas.n_queries_ == 20_000 + 300 + 100
        assert {member.origin for member in atlas.explainers_} == {"asking"}
        # Folds judged: the word for it is not certified.
        assert atlas.certificate_ is None
        assert atlas.proof_.coverage <= atlas.proof_.bound / atlas.proof_.total_weight
        assert atlas.record_.status == "judged"
        assert not hasattr(atlas, "pool_")

    @pytest.mark.slow
    def test_what_is_certified_is_what_predict_does_after_asking(self):
        """The certificate counts the answers of predict on every judging row, in 12 random fits."""
        n_silent = n_certified = 0
        for seed in range(12):
            rng = np.random.default_rng(seed)
            X, background = rng.normal(size=(2, 300, 3))
            # A few rows of X are in the background too, and judge all the same.
            background[:5] = X[:5]

            def black_box(X):
                return np.where(X[:, 0] + 0.5 * X[:, 1] + 0.2 * np.sin(9 * X[:, 2]) > 0.4, "above", "below")

            options = {"draws": Draws(1_500), "max_explainers": 1 + seed % 6, "min_fidelity": 0.9}
            explainer = AggregateExplainer(black_box, random_state=seed, **options)
            if seed % 2:
                atlas = explainer.fit(X, background=background)
                judging = X
            else:
                atlas = explainer.set_params(holdout=0.5).fit(X)
                judging = atlas.engine_.held.values
                assert len(judging) == 150
            answers = atlas.predict(judging)
            answered = ~np.ma.getmaskarray(answers)
            right = answered & (np.ma.getdata(answers) == black_box(judging))
            claim = atlas.certificate_.answers if atlas.certificate_ else atlas.record_.judged
            assert (claim.n_right, claim.n_rows) == (right.sum(), answered.sum())
            assert atlas.evaluation_.coverage == pytest.approx(answered.mean())
            assert atlas.evaluation_.agreement == pytest.approx(claim.share)
            n_silent += (~answered).sum()
            n_certified += atlas.certificate_ is not None
        assert n_silent > 50
        assert n_certified >= 6


class TestSmallFirst:
    """Of choices that keep the floor, the smallest of those that are nearly as wide as the widest is taken."""

    @staticmethod
    def three_leaves(X):
        """Return three leaves, and another label on 4% of the rows, which looks like noise."""
        leaf = np.where(X[:, 0] <= 0.4, 0, np.where(X[:, 1] <= 0.5, 1, 2))
        noise = np.sin(X @ np.array([12.9, 78.2, 37.7, 91.1])) * 43758.5 % 1
        return np.where(noise < 0.04, (leaf + 1) % 3, leaf)

    def count(self, floor, **options):
        X, background = (np.random.default_rng(seed).uniform(size=(4_000, 4)) for seed in (0, 1))
        atlas = AggregateExplainer(self.three_leaves, min_fidelity=floor, random_state=0, **options)
        atlas.fit(X, background=background[:500])
        return sum(len(member.explainer.rules()) for member in atlas.explainers_), atlas.coverage_

    def test_noise_is_not_read(self):
        assert self.count(0.9) == (3, 1.0)


class TestRowsAsDraws:
    """Without draws, or with too few of them, rules learn from rows that the black box has labelled."""

    def test_what_only_copying_the_row_could_say_is_not_said(self, square):
        """Rules could learn these labels by heart; rows that are left out show that nothing was learned."""
        with pytest.raises(NothingFoundError, match=r"min_fidelity=0.9 is not reached: of \d+ rule sets"):
            AggregateExplainer(toss_coin, draws=Draws(0), random_state=0).fit(square)

    def test_the_background_gives_way_to_rows(self, square):
        background = np.random.default_rng(1).uniform(size=(700, 3))
        box = Recording()
        with pytest.warns(UserWarning, match="max_queries=1,000 does not pay for the background: rules learn from X"):
            atlas = AggregateExplainer(box, draws=Draws(0), max_queries=1_000, random_state=0).fit(
                square, background=background
            )
        assert box.n_rows == 400
        assert atlas.record_.status == "judged"

    def test_numbers(self, square):
        atlas = AggregateExplainer(lambda X: 2 * X[:, 0], draws=Draws(0), tolerance=0.1, random_state=0).fit(square)
        assert atlas.coverage_ > 0.95


def toss_coin(X):
    """Return a label that no explainer can learn, and that rows with a tiny jitter share."""
    return np.floor(1e4 * X[:, 0] + 0.5).astype(int) % 2


class TestCopies:
    """Copies of rows are no independent evidence: they are noticed, and nothing is certified on them."""

    @pytest.mark.parametrize("options", [{}, {"holdout": 0.5}, {"background": True}], ids=str)
    @pytest.mark.parametrize("jitter", [0.0, 1e-9])
    def test_a_coin_is_not_certified_by_copies_of_few_rows(self, options, jitter):
        rng = np.random.default_rng(0)
        X = np.repeat(rng.normal(size=(60, 4)), 8, axis=0)
        X += jitter * rng.normal(size=X.shape)
        of_fit = {"background": rng.normal(size=(100, 4))} if options.get("background") else {}
        atlas = AggregateExplainer(
            toss_coin, min_fidelity=0.8, holdout=options.get("holdout"), draws=Draws(500), random_state=0
        )
        with pytest.warns(UserWarning, match="420 of 480 rows repeat"), contextlib.suppress(NothingFoundError):
            atlas.fit(X, **of_fit)
        assert not hasattr(atlas, "record_") or atlas.certificate_ is None

    def test_all_rows_judge_and_groups_certify(self):
        rng = np.random.default_rng(0)
        X, background = np.repeat(rng.uniform(size=(100, 3)), 5, axis=0), rng.uniform(size=(100, 3))
        with pytest.warns(UserWarning, match="400 of 500 rows repeat an earlier row"):
            atlas = AggregateExplainer(halves, **ASKING).fit(X, background=background)
        assert atlas.certificate_ is None
        assert atlas.evaluation_.n_rows == 500
        assert "which was checked but is not certified" in atlas.summary()
        atlas.fit(X, groups=np.repeat(np.arange(100), 5), background=background)
        assert atlas.certificate_.unit == "groups"
        assert atlas.certificate_.answers.n_rows <= 100

    def test_training_rows_do_not_certify(self):
        X = np.random.default_rng(0).uniform(size=(300, 3))
        with pytest.warns(UserWarning, match="300 of 300 rows of X are in the background too"):
            atlas = AggregateExplainer(halves, **ASKING).fit(X, background=X)
        assert atlas.certificate_ is None
        assert atlas.evaluation_.n_rows == 300


class TestRefits:
    """A certificate holds for the fit that was planned, so an object counts its fits on the same rows."""

    def test_fits_on_the_same_rows_are_counted(self, square):
        background = np.random.default_rng(1).uniform(size=(500, 3))
        atlas = AggregateExplainer(halves, **ASKING)
        for number in (1, 2):
            atlas.set_params(random_state=number).fit(square[::number], background=background[: 100 * number])
            assert atlas.n_fits_ == 1
        atlas.fit(square[::-1], background=background)
        assert atlas.n_fits_ == 2
        assert "fit number 2 on these rows" in atlas.summary()


def test_a_row_that_all_groups_share_counts_in_each():
    """Half of the rows of each group are one row, on which every answer is wrong: no more than half is certified."""
    rng = np.random.default_rng(0)
    own = rng.uniform(size=(80, 2))
    shared = np.tile([0.25, 0.75], (80, 1))
    X, groups = np.concatenate([own, shared]), np.tile(np.arange(80), 2)
    atlas = AggregateExplainer(lambda X: (X[:, 0] > 0.5) ^ (X == [0.25, 0.75]).all(axis=1), min_fidelity=0.8, **ASKING)
    with pytest.raises(NothingFoundError, match="is not reached"):
        atlas.fit(X, groups=groups, background=rng.uniform(size=(100, 2)))


@pytest.mark.parametrize("has_background", [True, False])
def test_rows_and_draws_are_asked_about_in_one_call_and_some_rows_again_in_two(has_background):
    X, box = np.random.default_rng(0).uniform(size=(400, 2)), Recording()
    background = X[200:] if has_background else None
    atlas = AggregateExplainer(box, **ASKING).fit(X[:200], background=background)
    n_draws = atlas.record_.n_draws
    assert box.calls == [200 + n_draws, 50, 50]
    assert atlas.n_queries_ == 300 + n_draws


@pytest.mark.parametrize(("n_rows", "groups"), [(1, None), (2, None), (60, 1), (60, 2), (60, 14)])
def test_too_few_rows_or_groups_are_named(n_rows, groups):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n_rows, 2))
    of_fit = {} if groups is None else {"groups": np.arange(n_rows) % groups}
    unit = "row" if groups is None else "group"
    with pytest.raises(NothingFoundError, match=rf"cannot be shown on {groups or n_rows} {unit}s?, .* 29 are needed"):
        AggregateExplainer(halves, **ASKING).fit(X, background=rng.uniform(size=(100, 2)), **of_fit)


def test_memory_does_not_grow_with_the_length_of_labels():
    rows = np.random.default_rng(0).normal(size=(300, 3))

    def measure(length):
        words = ["no" * length, "yes" * length]
        atlas = AggregateExplainer(lambda X: [words[int(x > 0)] for x in X[:, 0]], verbose=0, **ASKING)
        tracemalloc.start()
        try:
            atlas.fit(rows)
            return tracemalloc.get_traced_memory()[1], atlas
        finally:
            tracemalloc.stop()

    (short_peak, short), (long_peak, long) = measure(1), measure(30_000)
    assert len(long.explainers_) == len(short.explainers_)
    assert long.coverage_ == short.coverage_
    assert long_peak < short_peak + 10e6


@pytest.mark.parametrize("tolerance", [None, 0.5])
@pytest.mark.parametrize("n_rows", [1, 2])
def test_rows_without_a_sister_to_judge_them_are_not_explained(n_rows, tolerance):
    X = np.random.default_rng(0).uniform(size=(n_rows, 2))
    options = {**ASKING, "floor": Floor(on="share"), "tolerance": tolerance}
    with pytest.raises(NothingFoundError, match=r"is not reached: .* on 0 of 0 answered rows"):
        AggregateExplainer(lambda X: 1.0 * (X[:, 0] > 0.5), **options).fit(X)
