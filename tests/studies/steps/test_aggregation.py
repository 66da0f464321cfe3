from itertools import product

import pandas as pd

from studies.drawing import Pen
from studies.steps import aggregation
from studies.steps.explained_rows import HELD_OUT, LEARNED
from studies.store import Store


def test_curves_are_drawn_for_every_method(tmp_path):
    line = {"agreement": 0.9, "fidelity": 0.8}
    lines = [
        {**line, "budget": budget, "floor": floor, "rows": rows, "coverage": budget / 10 - floor / 100}
        for budget, floor, rows in product((1, 4), (0.5, 0.9), (LEARNED, HELD_OUT))
    ]
    store, curves = Store(tmp_path, "test"), pd.DataFrame(lines)
    flat = curves[curves["floor"] == 0.5].drop(columns="floor")
    table = aggregation._join(
        pd.concat([curves.assign(program=program) for program in ("strict", "selective")]),
        pd.concat([flat.assign(method=name) for name in aggregation.RIVAL_COLOURS]),
    )
    store.table("two_all", lambda: table)
    main = aggregation.draw(store, Pen())["two_main"]
    right = {line.get_label(): line.get_ydata().tolist() for line in main.axes[1].lines}
    # A tree is one explainer of all rows; an aggregate is as faithful as its worst explainer.
    assert right["naive tree"] == [0.9, 0.9]
    assert right["anchors"] == right["program, φ = 0.5"] == [0.8, 0.8]
    ax = main.axes[2]
    drawn = {line.get_label(): line for line in ax.lines}
    assert set(drawn) == {*aggregation.RIVAL_COLOURS, "program, φ = 0.5", "program, φ = 0.9"}
    wanted = table[(table["method"] == "strict 0.9") & (table["rows"] == HELD_OUT)].sort_values("budget")
    assert drawn["program, φ = 0.9"].get_ydata().tolist() == wanted["coverage"].tolist()
