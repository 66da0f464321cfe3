from oleander.rules import Box
from oleander.rules.conditions import Levels, Range


def test_box_reads_as_a_sentence(mixed_schema):
    box = Box((Range(1, mixed_schema[1], lower=60), Levels(3, mixed_schema[3], frozenset({2}))))
    assert box.describe() == "age > 60 and colour is red"
    assert Box(()).describe() == "everywhere"


def test_an_or_beside_other_conditions_stands_in_brackets(mixed_schema):
    dose = mixed_schema.position("dose")
    low = Range(dose, mixed_schema[dose], upper=2.0, missing=True)
    absent = Range(dose, mixed_schema[dose], lower=float("inf"), missing=True)
    old = Range(1, mixed_schema[1], lower=60)
    assert Box((low,)).describe() == "dose ≤ 2 or missing"
    assert Box((old, low)).describe() == "age > 60 and (dose ≤ 2 or missing)"
    assert Box((old, absent)).describe() == "age > 60 and dose is missing"
