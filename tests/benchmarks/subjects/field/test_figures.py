from matplotlib.figure import Figure

from benchmarks.subjects.field.figures import draw_field, find_front


def test_the_front_has_no_point_that_another_beats():
    points = [(0.2, 0.99), (0.5, 0.95), (0.5, 0.97), (0.4, 0.9), (1.0, 0.8)]
    assert find_front(points) == [(0.2, 0.99), (0.5, 0.97), (1.0, 0.8)]


def test_a_model_that_is_long_to_read_is_not_on_the_left():
    common = {"seconds": 1.0, "agreement": 0.9, "form": "abstains", "data": "wine"}
    rows = [
        {**common, "method": "default", "coverage": 0.8, "rules": 6},
        {**common, "method": "EBM", "coverage": 0.9, "rules": 30},
    ]
    figure = Figure()
    draw_field(rows, figure)
    left, right = figure.axes
    assert [text.get_text() for text in left.texts] == ["default"]
    assert [text.get_text() for text in right.texts] == ["default", "EBM"]
