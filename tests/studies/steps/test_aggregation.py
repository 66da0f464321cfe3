import pandas as pd
import pytest

from studies.drawing import Pen
from studies.steps import aggregation
from studies.steps.explained_rows import HELD_OUT, LEARNED
from studies.store import Store


@pytest.fixture
def curves():
    """Two budgets and two floors."""
    line = {"agreement": 0.9, "fidelity": 0.8}
    return pd.DataFrame(
        [
            {**line, "budget": budget, "floor": floor, "rows": rows, "coverage": budget / 10 - floor / 100}
            for budget in (1, 4)
            for floor in (0.5, 0.9)
            for rows in (LEARNED, HELD_OUT)
        ]
    )


def test_curves_are_drawn_for_every_method(curves, tmp_path):
    store = Store(tmp_path, "test")
    flat = curves[curves["floor"] == 0.5].drop(columns="floor")
    table = aggregation._join(
        pd.concat([curves.assign(program=program) for program in ("strict", "selective")]),
        pd.concat([flat.assign(method=name) for name in aggregation.RIVAL_COLOURS]),
    )
    store.table("two_all", lambda: table)
    figures = aggregation.draw(store, Pen())
    assert set(figures) == {"two_main"}
    main = figures["two_main"]
    panels = [*aggregation.ON_DATA_PANELS.values(), *aggregation.HELD_OUT_PANELS.values()]
    assert [ax.get_title() for ax in main.axes] == panels
    right = {line.get_label(): line.get_ydata().tolist() for line in main.axes[1].lines}
    # A tree is one explainer of all rows; an aggregate is as faithful as its worst explainer.
    assert right["naive tree"] == [0.9, 0.9]
    assert right["anchors"] == right["program, φ = 0.5"] == [0.8, 0.8]
    ax = main.axes[2]
    drawn = {line.get_label(): line for line in ax.lines}
    assert set(drawn) == {*aggregation.RIVAL_COLOURS, "program, φ = 0.5", "program, φ = 0.9"}
    wanted = table[(table["method"] == "strict 0.9") & (table["rows"] == HELD_OUT)].sort_values("budget")
    assert drawn["program, φ = 0.9"].get_ydata().tolist() == wanted["coverage"].tolist()
