"""The aggregation steps on a box that one number decides: what is chosen, measured, cut to a budget and drawn."""

import numpy as np
import pandas as pd
import pytest

from oleander.baselines import AnchorPick
from studies import aggregation, filtered_aggregation, own_defaults, rivals
from studies.drawing import Pen
from studies.explaining import HELD_OUT, LEARNED, explain, solve_grid, trained_pool
from studies.steps import Settings, Work
from studies.store import Store


@pytest.fixture(scope="module")
def strict(small_work, explained):
    pool = trained_pool(small_work, explained, "filtered")
    return solve_grid(explained, pool, "strict", small_work.settings, small_work.settings.floors)


def test_the_program_keeps_the_floor_where_it_chose(strict):
    learned = strict[strict["rows"] == LEARNED]
    assert len(strict) == 2 * 2 * 2
    assert (learned["status"] == "optimal").all()
    assert (learned["fidelity"] >= learned["floor"]).all()
    # Under the strict program, what it counts is what its regions cover.
    assert learned["coverage"].to_numpy() == pytest.approx(learned["counted"].to_numpy())
    wide = learned.pivot(index="budget", columns="floor", values="coverage")
    assert (np.diff(wide.to_numpy(), axis=0) >= 0).all()
    assert (np.diff(wide.to_numpy(), axis=1) <= 0).all()


def test_rows_held_out_are_not_those_learned_from(few_people):
    work = Work("ppmi", few_people, Settings())
    work.facts["black_boxes"] = {"binary": {"forest": {"chosen": {"n_estimators": 3}}}}
    task = aggregation.make_tasks(work)["binary"]
    found = explain(work, task)
    learned, held = (set(found.tables[name].index) for name in (LEARNED, HELD_OUT))
    assert not learned & held
    assert len(learned) == len(task.parts["train"]) + len(task.parts["validation"])
    assert (found.labels[HELD_OUT] == found.forest.predict(found.tables[HELD_OUT])).all()


@pytest.mark.parametrize("budget", [1, 2])
def test_anchors_are_cut_to_what_a_smaller_pick_takes(explained, budget):
    at = rivals.anchors(explained, 2, 10, random_state=0)
    alone = AnchorPick(
        explained.forest, max_explainers=budget, max_anchors=10, schema=explained.schema, random_state=0
    ).fit(explained.tables[LEARNED])
    found = [member.region.describe() for member in at(budget).members]
    assert found == [member.region.describe() for member in alone.explainers]


def test_every_rival_at_every_budget(small_work, explained, monkeypatch):
    monkeypatch.setattr(rivals, "MAX_LEAVES", 2)
    table = rivals.measure_rivals(small_work, explained)
    assert set(table["method"]) == set(aggregation.RIVAL_COLOURS)
    assert (table.groupby("method").size() == 4).all()
    of_budget = table[table["method"].isin(["submodular pick", "anchors"])]
    assert (of_budget["n_explainers"] <= of_budget["budget"]).all()
    trees = table[table["method"].isin(["active tree", "naive tree"]) & (table["rows"] == HELD_OUT)]
    assert (trees["coverage"] == 1).all()
    assert (trees["agreement"] > 0.9).all()


def test_gains_by_hand():
    line = {"program": "strict", "rows": HELD_OUT}
    table = pd.DataFrame(
        [
            {**line, "method": "strict filtered", "budget": 5, "coverage": 0.5, "agreement": 0.9},
            {**line, "method": "strict lime", "budget": 5, "coverage": 0.3, "agreement": np.nan},
            {**line, "method": "strict filtered", "budget": 10, "coverage": 0.6, "agreement": 0.8},
            {**line, "method": "strict lime", "budget": 10, "coverage": 0.6, "agreement": 0.9},
        ]
    )
    assert filtered_aggregation.gains(table) == {
        "strict": {
            HELD_OUT: {
                "coverage": {"mean": 0.1, "n_ahead": 1, "n": 2},
                "agreement": {"mean": -0.1, "n_ahead": 0, "n": 1},
            }
        }
    }


def test_our_defaults_say_nothing_rather_than_too_much(small_work, explained):
    kept = own_defaults.fit_own(small_work, explained, 4, 0.5)
    assert all(line["coverage"] > 0.8 and line["agreement"] > 0.9 for line in kept)
    assert all(0 < line["certified_fidelity"] <= 1 for line in kept)
    # So few rows cannot show that 99.9% are right.
    silent = own_defaults.fit_own(small_work, explained, 4, 0.999)
    assert all(line["form"] == "none" and line["coverage"] == 0 for line in silent)
    table = pd.DataFrame([{"budget": 4, "floor": 0.5, **line} for line in kept])
    table = pd.concat([table, pd.DataFrame([{"budget": 4, "floor": 0.999, **line} for line in silent])])
    certified = own_defaults.certified(table)
    assert certified["0.999"] is None
    assert certified["0.5"]["certified_fidelity"] == pytest.approx(kept[0]["certified_fidelity"], abs=1e-4)


def test_curves_are_drawn_for_every_method(strict, tmp_path):
    store = Store(tmp_path, "test")
    flat = strict[strict["floor"] == 0.5].drop(columns="floor")
    table = aggregation._join(
        {"strict": strict, "selective": strict},
        pd.concat([flat.assign(method=name) for name in aggregation.RIVAL_COLOURS]),
    )
    store.table("two_all", lambda: table)
    figures = aggregation.draw(store, Pen())
    assert set(figures) == {"two_held_out", "two_learned", "two_trade_off"}
    ax = figures["two_held_out"].axes[0]
    drawn = {line.get_label(): line for line in ax.lines}
    assert set(drawn) == {*aggregation.RIVAL_COLOURS, "program, φ = 0.5", "program, φ = 0.9"}
    wanted = table[(table["method"] == "strict 0.9") & (table["rows"] == HELD_OUT)].sort_values("budget")
    assert drawn["program, φ = 0.9"].get_ydata().tolist() == wanted["coverage"].tolist()
