import numpy as np
import pandas as pd
import pytest

from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.candidates import Balls
from oleander.candidates.radii import Holding, PerRow, check_radius, choose_ladder, read_radii, typical_radii
from oleander.data.schema import FeatureSchema


def rows_of(X, **options):
    box = BlackBox(lambda X: np.zeros(len(X), dtype=int), FeatureSchema.infer(X))
    return label_rows(box.schema.encode(X), CountingBlackBox(box), **options)


class TestPerRow:
    def test_equal_rows_give_their_point_every_radius_of_theirs(self):
        X = np.array([[0.5, 1.0], [2.5, 1.0], [0.5, 1.0], [0.5, 1.0]])
        assert PerRow([3.0, 1.0, 2.0, 3.0]).of_points(rows_of(X)) == [{2.0: 2, 3.0: 0}, {1.0: 1}]

    def test_a_radius_follows_its_row_through_a_sample_and_a_part(self):
        X = np.random.default_rng(0).normal(size=(20, 2))
        radii = PerRow(np.arange(20.0))
        taken = np.array([3, 4, 11, 17])
        rows = rows_of(X[taken], row_numbers=taken)
        assert radii.of_points(rows) == [{3.0: 3}, {4.0: 4}, {11.0: 11}, {17.0: 17}]
        assert radii.of_points(rows.part(np.array([False, True, False, True]))) == [{4.0: 4}, {17.0: 17}]
        assert radii.of_points(rows_of(X).part(np.arange(20) % 7 == 5)) == [{5.0: 5}, {12.0: 12}, {19.0: 19}]

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ([1.0, -2.0], "the radius -2 for row 1"),
            ([np.nan], "the radius nan for row 0"),
            ([], "shape"),
            (2.0, "shape"),
            ([[1.0]], "shape"),
        ],
    )
    def test_bad_values(self, values, message):
        with pytest.raises(ValueError, match=message):
            PerRow(values)

    def test_all_values_stand_in_its_text(self):
        """A checkpoint compares options by their text."""
        values = np.zeros(5_000)
        changed = values.copy()
        changed[2_500] = 1.0
        assert repr(PerRow(values)) != repr(PerRow(changed))


class TestCheckRadius:
    @pytest.mark.parametrize("radius", [[1.0, 2.0, 3.0], np.arange(3.0), (1.0, 1.0, 1.0)])
    def test_a_sequence_as_long_as_the_rows_is_refused(self, radius):
        with pytest.raises(ValueError, match="write radius=PerRow"):
            check_radius(radius, 3)

    @pytest.mark.parametrize("radius", [1.0, [1.0, 2.0], "auto", Holding(0.2), PerRow([1.0, 2.0, 3.0])])
    def test_other_radii_are_clear(self, radius):
        check_radius(radius, 3)

    def test_one_row(self):
        check_radius([1.0], 1)

    def test_per_row_needs_one_for_each(self):
        with pytest.raises(ValueError, match="has 2 values, and X has 3 rows"):
            check_radius(PerRow([1.0, 2.0]), 3)


@pytest.mark.parametrize("share", [0.0, -0.1, 1.5, np.nan])
def test_holding_takes_a_share(share):
    with pytest.raises(ValueError, match="a share of the rows"):
        Holding(share)


class TestTypicalRadii:
    @pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
    def test_balls_around_typical_rows_hold_the_share(self, mixed, share):
        rows = rows_of(mixed)
        ladder = read_radii(Holding(share), rows, np.inf, None, None)
        assert len(ladder) == 1
        candidates = Balls(ladder[0], centers="rows", n_draws=1).propose(rows, 0)
        held = np.median([candidate.region.contains(rows.values).mean() for candidate in candidates])
        # Levels differ by whole numbers, so the share moves in steps.
        assert held >= share - 0.05

    def test_no_radius_reaches_beyond_the_flips_allowed(self):
        X = np.array([[f"level {i % 40}", 0.5 + i] for i in range(200)], dtype=object)
        rows = rows_of(pd.DataFrame({"a": X[:, 0], "b": X[:, 1].astype(float)}))
        assert np.isinf(typical_radii(rows, np.inf, None, 0, [0.5])).all()
        assert np.isfinite(typical_radii(rows, np.inf, None, 1, [0.5])).all()
        with pytest.raises(ValueError, match=r"radius=Holding\(0.5\) is not possible with max_flips=0"):
            read_radii(Holding(0.5), rows, np.inf, None, 0)


class TestLadder:
    def test_balls_of_the_ladder_hold_the_stated_shares(self):
        X = np.random.default_rng(0).normal(size=(400, 2))
        rows = rows_of(X)
        scaled = X / X.std(axis=0)
        held = [
            np.median([(np.abs(scaled - row).max(axis=1) <= radius).mean() for row in scaled])
            for radius in choose_ladder(rows)
        ]
        np.testing.assert_allclose(held, [0.05, 0.1, 0.2, 0.35, 0.6], atol=0.03)

    def test_the_ladder_is_in_units_of_the_scale(self):
        X = np.random.default_rng(0).normal(size=(300, 2)) * 1000
        raw = {candidate.region.radius for candidate in Balls(scale="none", n_draws=1).propose(rows_of(X), 0)}
        scaled = {candidate.region.radius for candidate in Balls(scale="std", n_draws=1).propose(rows_of(X), 0)}
        assert max(scaled) < 10 < min(raw)

    def test_one_radius_where_all_rows_are_equal(self):
        assert choose_ladder(rows_of(np.full((5, 2), 0.5))) == [1.0]
