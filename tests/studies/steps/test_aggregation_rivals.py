import pytest

from benchmarks.rivals import AnchorPick
from studies.steps import aggregation, aggregation_rivals
from studies.steps.explained_rows import HELD_OUT, LEARNED


@pytest.mark.parametrize("budget", [1, 2])
def test_anchors_cut_to_a_budget_are_those_of_a_smaller_pick(explained, budget):
    at = aggregation_rivals.anchors(explained, 2, 10, random_state=0)
    alone = AnchorPick(
        explained.model, max_explainers=budget, max_anchors=10, schema=explained.schema, random_state=0
    ).fit(explained.tables[LEARNED])
    found = [member.region.describe() for member in at(budget).members]
    assert found == [member.region.describe() for member in alone.explainers_]


def test_every_rival_at_every_budget(small_work, explained, monkeypatch):
    monkeypatch.setattr(aggregation_rivals, "MAX_LEAVES", 2)
    table = aggregation_rivals.measure_rivals(small_work, explained)
    assert set(table["method"]) == set(aggregation.RIVAL_COLOURS)
    assert (table.groupby("method").size() == 4).all()
    of_budget = table[table["method"].isin(["submodular pick", "anchors"])]
    assert (of_budget["n_explainers"] <= of_budget["budget"]).all()
    trees = table[table["method"].isin(["active tree", "naive tree"]) & (table["rows"] == HELD_OUT)]
    assert (trees["coverage"] == 1).all()
    assert (trees["agreement"] > 0.9).all()
