"""Facts about the geriatric data: classes, trials, readings that repeat the one before."""

from typing import Any

import pandas as pd

from studies.drawing import COLOURS, Pen
from studies.step import Exhibit, Facts, Step, Work
from studies.store import Store


def count_repeats(X: pd.DataFrame, y: pd.Series, groups: pd.Series) -> int:
    """Return the number of rows that equal the row before in the same group, label included.

    >>> count_repeats(pd.DataFrame({"a": [1, 1, 1]}), pd.Series([0, 0, 0]), pd.Series(["one", "one", "two"]))
    1
    """
    whole = X.assign(label=y.to_numpy(), group=groups.to_numpy())
    return int((whole == whole.shift()).all(axis=1).sum())


def compute(work: Work, store: Store) -> Facts:
    """Count rows, trials, classes and repeated readings."""
    data = work.readings
    assert data.groups is not None
    assert data.about is not None
    about = data.about.assign(activity=data.y.to_numpy(), trial=data.groups.to_numpy())
    store.table("rows_by_room", lambda: about.groupby(["activity", "room"]).size().rename("rows").reset_index())
    return {
        "n_rows": len(data.X),
        "n_trials": int(data.groups.nunique()),
        "classes": {str(name): int(n) for name, n in data.y.value_counts().items()},
        # Readings that were thinned out are not neighbours any more.
        "n_repeats": None if work.settings.rows_per_trial else count_repeats(data.X, data.y, data.groups),
        "n_columns": data.X.shape[1],
    }


def draw(store: Store, pen: Pen) -> dict[str, Any]:
    """Draw the number of readings by activity and room."""
    table = store.read("rows_by_room").pivot(index="activity", columns="room", values="rows").fillna(0)
    table = table.loc[table.sum(axis=1).sort_values().index]
    figure, axes = pen.sheet("Readings by activity and room", width=6, height=2.6)
    left = pd.Series(0.0, index=table.index)
    for number, room in enumerate(table.columns):
        axes[0, 0].barh(table.index, table[room], left=left, color=COLOURS[number], label=f"room {room}")
        left += table[room]
    axes[0, 0].set(xlabel="readings")
    axes[0, 0].legend(fontsize="small")
    return {"rows_by_room": figure}


def exhibits(facts: Facts) -> list[Exhibit]:
    """Return what the page shows."""
    caption = f"{facts['n_rows']:,} readings of {facts['n_trials']} trials; {len(facts['classes'])} activities."
    if facts["n_repeats"] is not None:
        caption += (
            f" {facts['n_repeats'] / facts['n_rows']:.0%} of the readings repeat the one before except for the time, "
            "so a split by row puts equal readings on both sides; a split by trial does not."
        )
    paper = "Fourteen people aged 66 to 86; three activities in the text, five classes in the captions."
    return [Exhibit("rows_by_room", caption, paper)]


DATA_FACTS = Step("data_facts", "The data", compute, draw, exhibits)
