"""Edits of rules by hand, and the reserve of new rows that certifies them."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Boxes, Draws
from oleander.judging.certificate import level_of_next
from oleander.reserve import ReserveError

RULES = [{"do": "without", "rule": 1}, {"do": "note", "rule": 2, "text": "agreed with the ward"}]


def make_rows(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"age": rng.integers(20, 90, n), "gait": rng.uniform(0, 30, n), "sex": rng.choice(["F", "M"], n)}
    )


def decide(X):
    age, gait = X["age"].to_numpy(), X["gait"].to_numpy()
    return np.where((age > 60) & (gait <= 12), "fall clinic", np.where(gait > 24, "ward", "home"))


@pytest.fixture(scope="module")
def atlas():
    options = {"draws": Draws(2_000), "candidates": Boxes(max_conditions=2), "random_state": 0}
    return AggregateExplainer(decide, max_explainers=4, **options).fit(make_rows(500, 0), background=make_rows(500, 1))


def find(atlas, label):
    """Return the number of a rule with this answer."""
    return next(number for number, one in enumerate(atlas.explainers_, 1) if one.rules()[0].label == label)


def premises(atlas):
    return [str(member.rules()[0]) for member in atlas.explainers_]


def test_edits_make_a_new_explainer_and_leave_the_old_one(atlas):
    before, text = premises(atlas), atlas.summary()
    edited = atlas.without(find(atlas, "ward"))
    assert (premises(atlas), atlas.summary()) == (before, text)
    assert edited.coverage_ == edited.evaluate(make_rows(500, 0)).coverage < atlas.coverage_
    # Edits refer to the rules before all of them.
    assert premises(atlas.edit([{"do": "without", "rule": 1}, {"do": "without", "rule": 2}])) == before[2:]
    assert atlas.certificate_ is not None
    assert edited.certificate_ is None
    assert len(edited.explainers_) == len(before) - 1
    assert "Edited: 1 edit, not certified." in edited.summary()
    assert "was removed" in edited.summary()
    assert not (edited.predict(make_rows(200, 2)) == "ward").any()


def test_a_rule_by_hand_is_counted_and_answers(atlas):
    edited = atlas.with_rule("age > 70 and gait ≤ 10", "fall clinic")
    member, X = edited.explainers_[-1], make_rows(500, 0)
    inside = (X["age"] > 70) & (X["gait"] <= 10)
    assert (member.support, member.fidelity, member.by_hand) == (inside.sum(), 1.0, "written")
    assert member.draw_fidelity == 1.0
    assert edited.rules_frame()["by_hand"].tolist()[-1] == "written"
    assert f"matches the model on {inside.sum()} of {inside.sum()} rows; edited by hand)" in edited.summary()


def test_a_rule_under_the_floor_needs_force_and_is_marked_everywhere(atlas):
    with pytest.raises(ValueError, match=r"age > 70 → fall clinic matches the model on .* under the floor of 90%"):
        atlas.with_rule("age > 70", "fall clinic")
    edited = atlas.with_rule("age > 70", "fall clinic", force=True)
    assert "A rule was forced in by hand: age > 70 → fall clinic." in edited.summary()
    mark = "edited by hand, although it misses the floor on the rows that rules were learned from"
    # The rule answers last, so it is looked up by a row that no other rule holds for.
    shown = [edited.summary(), edited._repr_html_(), edited.report().html]
    assert all(mark in text for text in shown)


def test_a_rule_that_holds_on_no_draw_is_refused(atlas):
    with pytest.raises(ValueError, match="holds on none of the draws"):
        atlas.with_rule("age > 500", "home")
    assert np.isnan(atlas.with_rule("age > 500", "home", force=True).explainers_[-1].draw_fidelity)


def test_a_threshold_is_moved(atlas):
    number = find(atlas, "ward")
    edited = atlas.with_threshold(number, "gait", 26)
    assert str(edited.explainers_[number - 1].conditions[0]) == "gait > 26"
    assert "was changed from gait >" in edited.summary()


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda atlas: atlas.without(99), "there is no rule 99; there are rules 1 to"),
        (lambda atlas: atlas.without(0), "rule=0 is not allowed"),
        (lambda atlas: atlas.without(*range(1, len(atlas.explainers_) + 1)), "no rule would be left"),
        (lambda atlas: atlas.with_rule("gaite > 3", "home"), "Did you mean 'gait'"),
        (lambda atlas: atlas.with_rule("gait > 3", "hom"), "never answers 'hom'; .* Did you mean 'home'"),
        (lambda atlas: atlas.with_threshold(find(atlas, "ward"), "sex", 3), "has no condition on column 'sex'"),
        (lambda atlas: atlas.with_threshold(1, "gaite", 3), "there is no column 'gaite'"),
        (lambda atlas: atlas.with_threshold(find(atlas, "ward"), "gait", (1, 2)), "has one bound on column 'gait'"),
        (lambda atlas: atlas.edit([{"do": "eval"}]), "is no edit: an edit is a mapping whose 'do' is without or"),
        (lambda atlas: atlas.with_threshold(find(atlas, "ward"), "gait", "15"), "cannot be compared with '15'"),
        (lambda atlas: atlas.edit([{"do": "note", "rule": 1, "text": 5}]), "the note 5 is no text"),
        (lambda atlas: atlas.edit(3), "3 is no list of edits: give a list"),
        (lambda atlas: atlas.edit([{"do": "without"}]), "the edit 'without' has no field; it takes rule"),
        (lambda atlas: atlas.without(1).tradeoff(max_explainers=[2]), "edited rules have no trade-off"),
    ],
)
def test_bad_edits_are_refused(atlas, edit, message):
    with pytest.raises(ValueError, match=message):
        edit(atlas)


def test_a_note_changes_nothing(atlas):
    noted = atlas.edit([{"do": "note", "rule": 1, "text": "agreed"}])
    assert noted.certificate_ == atlas.certificate_
    assert "Note on " in noted.summary()
    # Numbers change where a rule is removed, so a note quotes its rule.
    edited = atlas.edit([{"do": "without", "rule": 1}, {"do": "note", "rule": 2, "text": "agreed"}])
    rule = edited.explainers_[0].rules()[0]
    assert (
        f"Note on {' and '.join(map(str, edited.explainers_[0].conditions))} → {rule.answer}: agreed"
        in edited.summary()
    )


def test_edited_rules_are_saved_and_edited_again_on_given_rows(atlas, tmp_path):
    edited = atlas.edit(RULES).with_rule("age > 70", "fall clinic", force=True)
    # What the summary computes when it is first read is saved with the rest.
    summary = edited.summary()
    edited.save(tmp_path / "edited.oleander")
    again = AggregateExplainer.load(tmp_path / "edited.oleander")
    assert again.summary() == summary
    with pytest.raises(ValueError, match="no draws and rows to count on: give some, as in edit\\(edits, X, labels\\)"):
        again.without(1)
    X = make_rows(300, 5)
    further = again.edit([{"do": "without", "rule": 1}], X, decide(X))
    assert further.record_.n_edits == 3
    assert further.evaluation_.n_rows == 300


@pytest.mark.parametrize("level", [0.05, 0.2])
def test_the_levels_of_all_patterns_of_failures_add_up_to_the_level(level):
    most = 400
    total = level_of_next([], level)
    after_one = sum(level_of_next([True] * k + [False], level) for k in range(most))
    total += after_one
    ratios = [
        level_of_next([True] * k + [False, False], level) / level_of_next([True] * k + [False], level) for k in (0, 7)
    ]
    # Failure number f + 1 at once has the same part of what failure f left, whatever came before.
    assert ratios == pytest.approx([0.25, 0.25])
    # Each life's total is half of the one before, so all lives after the first together are twice the second.
    assert total + after_one == pytest.approx(level, rel=0.01)
    assert total + after_one <= level


class TestReserve:
    def test_edited_rules_that_hold_pass(self, atlas):
        reserve = atlas.reserve(make_rows(400, 10))
        edited = atlas.without(1)
        result = reserve.certify(edited)
        assert result
        # Nothing of the rows is shown.
        shown = {"passed", "floor", "confidence", "n_units", "unit", "n_failed", "next_level"}
        assert set(result.to_dict()) == shown
        assert str(result).startswith("Passed: at least 90% of answers match the model (95% confidence for all that")
        assert "Edited: 1 edit, certified on 400 new rows." in edited.summary()
        assert edited.without(1).record_.reserved is None

    def test_rules_that_do_not_hold_fail_and_cost_level(self, atlas):
        reserve = atlas.reserve(make_rows(400, 11))
        bad = atlas.with_rule("age > 20", "home", force=True).without(*range(1, len(atlas.explainers_) + 1))
        assert "not tested on yet. No test has failed so far" in str(reserve)
        assert "to pass the next test, 371 of 400 rows must match the model, if all are answered." in str(reserve)
        result = reserve.certify(bad)
        assert not result
        assert str(result).startswith("Not passed: a floor of 90% is not shown on the 400 rows of this reserve. 1 test")
        assert bad.record_.reserved is None
        assert result.next_level == pytest.approx(0.0025)
        # Tested again, the same rules cost nothing, and so do rules that pass.
        assert reserve.certify(bad).next_level == result.next_level
        assert reserve.certify(atlas.without(1)).next_level == result.next_level

    def test_the_same_rows_are_the_same_reserve(self, atlas, tmp_path):
        X = make_rows(400, 13)
        reserve = atlas.reserve(X)
        assert atlas.reserve(X.iloc[::-1]) is reserve
        assert atlas.without(1).reserve(X) is reserve
        with pytest.raises(ReserveError, match="a reserve already"):
            atlas.reserve(X, path=tmp_path / "other.sqlite")

    @pytest.mark.parametrize("seed", [0, 1])
    def test_rows_of_the_fit_and_of_its_background_are_refused(self, atlas, seed):
        with pytest.raises(ReserveError, match="500 of 500 rows are rows of the fit or its background, of another"):
            atlas.reserve(make_rows(500, seed))
        with pytest.raises(ReserveError, match="100 of 400 rows are rows of the fit"):
            atlas.reserve(pd.concat([make_rows(500, seed)[:100], make_rows(300, 30)]))

    def test_most_rows_of_another_reserve_are_refused(self, atlas):
        X = make_rows(800, 31)
        atlas.reserve(X).certify(atlas.without(1))
        with pytest.raises(ReserveError, match="799 of 800 rows are"):
            atlas.without(2).reserve(pd.concat([X[1:], make_rows(1, 32)]))

    def test_rows_that_edits_are_counted_on_are_refused(self, atlas, tmp_path):
        fresh, X = load_again(atlas, tmp_path), make_rows(300, 33)
        edited = fresh.edit([{"do": "without", "rule": 1}], X, decide(X))
        with pytest.raises(ReserveError, match="300 of 300 rows are"):
            edited.reserve(X, decide(X))
        new = make_rows(300, 34)
        edited.reserve(new, decide(new))
        with pytest.raises(ReserveError, match="300 of 300 rows are"):
            edited.edit([{"do": "without", "rule": 1}], new, decide(new))

    def test_a_later_fit_on_the_rows_of_a_reserve_is_not_certified_by_it(self, atlas):
        def make(model=decide):
            return AggregateExplainer(model, schema=atlas.schema_, draws=Draws(1_000), random_state=0)

        X, explainer = make_rows(400, 50), make().fit(make_rows(400, 51))
        reserve = explainer.reserve(X)
        assert reserve.certify(explainer)
        for later in (make().fit(X), make().fit(make_rows(400, 52), background=X), explainer.fit(X)):
            with pytest.raises(ReserveError, match="400 of 400 rows are rows of the fit"):
                reserve.certify(later)
        with pytest.raises(ReserveError, match="400 of 400 rows are rows of the fit"):
            explainer.reserve(X).certify(explainer)
        with pytest.raises(ReserveError, match="of another model than this reserve"):
            reserve.certify(make(lambda X: decide(X).copy()).fit(make_rows(400, 53)))

    def test_a_fit_with_other_columns_has_reserves_of_its_own(self):
        explainer = AggregateExplainer(decide, draws=Draws(1_000), random_state=0).fit(make_rows(300, 54))
        explainer.reserve(make_rows(400, 55))
        explainer.fit(make_rows(300, 54).assign(bmi=np.arange(300.0)))
        assert explainer.reserve(make_rows(400, 56).assign(bmi=np.arange(400.0))).n_units == 400

    def test_new_rows_that_equal_old_ones_by_coincidence_are_taken(self):
        def make_answers(seed):
            return pd.DataFrame(np.random.default_rng(seed).integers(0, 5, (400, 3)), columns=["pain", "sleep", "mood"])

        explainer = AggregateExplainer(lambda X: X["pain"] > 2, draws=Draws(600), random_state=0)
        explainer.fit(make_answers(0), background=make_answers(1))
        assert explainer.reserve(make_answers(2)).n_units == 400
        with pytest.raises(ReserveError, match="400 of 400 rows are"):
            explainer.reserve(make_answers(0))

    def test_answers_and_groups_may_be_columns(self, atlas):
        X = make_rows(300, 35)
        reserve = atlas.reserve(X.assign(said=decide(X), patient=np.arange(300) // 2), "said", groups="patient")
        assert (reserve.n_units, reserve.unit) == (150, "groups")
        assert "for a random row of a random group" in str(reserve.certify(atlas.without(1)))
        with pytest.raises(ValueError, match="the table lacks column 'sad'"):
            atlas.reserve(make_rows(300, 36), "sad")

    def test_a_file_remembers_and_refuses_others(self, atlas, tmp_path):
        X, path = make_rows(300, 15), tmp_path / "reserve.sqlite"
        bad = atlas.with_rule("age > 20", "home", force=True).without(*range(1, len(atlas.explainers_) + 1))
        atlas.reserve(X, path=path).certify(bad)
        fresh = load_again(atlas, tmp_path)
        assert fresh.reserve(X, decide(X), path=path).certify(atlas.without(1)).n_failed == 1
        with pytest.raises(ReserveError, match="is of a reserve of other rows"):
            load_again(atlas, tmp_path).reserve(make_rows(300, 16), decide(make_rows(300, 16)), path=path)
        path.write_bytes(b"no database")
        with pytest.raises(ReserveError, match="cannot be read or written as the file of a reserve"):
            load_again(atlas, tmp_path).reserve(X, decide(X), path=path)

    def test_a_file_that_lost_tests_is_noticed(self, atlas, tmp_path):
        X, path = make_rows(300, 17), tmp_path / "reserve.sqlite"
        reserve = atlas.reserve(X, path=path)
        reserve.certify(atlas.without(1))
        with sqlite3.connect(path) as database:
            database.execute("DELETE FROM tests")
        with pytest.raises(ReserveError, match="lacks tests that were made"):
            reserve.certify(atlas.without(2))

    def test_several_writers_make_one_sequence(self, atlas, tmp_path):
        X, path = make_rows(300, 18), tmp_path / "reserve.sqlite"
        reserves = [load_again(atlas, tmp_path).reserve(X, decide(X), path=path) for _ in range(3)]
        bad = [
            atlas.with_rule(f"age > {age}", "home", force=True).without(*range(1, len(atlas.explainers_) + 1))
            for age in (20, 21, 22)
        ]
        with ThreadPoolExecutor(3) as pool:
            found = list(pool.map(lambda pair: pair[0].certify(pair[1]), zip(reserves, bad, strict=True)))
        assert sorted(result.n_failed for result in found) == [1, 2, 3]

    @pytest.mark.parametrize("change", [{"min_fidelity": 0.8}, {}])
    def test_other_explainers_are_refused(self, atlas, change):
        X = make_rows(300, 19)
        other = X.drop(columns="sex") if not change else X
        options = {"draws": Draws(600), "random_state": 0, "schema": atlas.schema_ if change else None, **change}
        explainer = AggregateExplainer(decide, **options).fit(other)
        message = "tests a floor of 90%" if change else "is of other data than this reserve"
        with pytest.raises(ReserveError, match=message):
            atlas.reserve(X).certify(explainer)


def load_again(atlas, folder):
    atlas.save(folder / "atlas.oleander")
    return AggregateExplainer.load(folder / "atlas.oleander")
