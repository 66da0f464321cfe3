from studies.drawing import Pen
from studies.steps import floors_by_radius as step
from studies.steps.explained_rows import HELD_OUT, LEARNED
from studies.store import Store


def test_every_program_at_every_floor(small_work, explained, tmp_path):
    table = step._at_radius(small_work, explained, 3.0)
    assert set(table["method"]) == {"strict 0.5", "strict 0.9", "selective 0.5", "selective 0.9"}
    assert set(table["rows"]) == {LEARNED, HELD_OUT}
    store = Store(tmp_path, "test")
    store.table("two_floors", lambda: table)
    figure = step.draw(store, Pen())["two_floors"]
    # One program, two kinds of rows, two measures, one radius.
    assert len(figure.axes) == 4
