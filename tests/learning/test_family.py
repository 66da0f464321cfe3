import numpy as np

from oleander.learning.family import SILENT, Family, Step, learn_family


def test_a_law_of_boxes_is_learned(label_draws):
    rng = np.random.default_rng(0)
    values = rng.uniform(size=(4000, 4))
    draws = label_draws(values, (values[:, 0] > 0.5).astype(int) + (values[:, 1] > 0.7))
    family = learn_family(draws, np.random.default_rng(0)).ordered()
    bold = family.steps[-1]
    assert bold.mass > 0.9
    assert bold.agreement > 0.9
    assert len(bold.keys) <= 10
    new = rng.uniform(size=(500, 4))
    covered = np.any([family.grid.to_box(key).contains(new) for key in bold.keys], axis=0)
    answered = family.answer(new)[-1] != SILENT
    assert (answered <= covered).all()
    assert bold.overlap == "silent" or (answered == covered).all()


def test_the_order_is_from_careful_to_bold(label_draws):
    rng = np.random.default_rng(1)
    values = rng.uniform(size=(3000, 3))
    noise = rng.random(3000) < 0.1 + 0.3 * (values[:, 1] > 0.6)
    family = learn_family(label_draws(values, ((values[:, 0] > 0.5) ^ noise).astype(int)), rng).ordered()
    worth = [step.worth for step in family.steps]
    agreement = [step.agreement for step in family.steps]
    assert worth == sorted(worth)
    assert agreement == sorted(agreement, reverse=True)


def test_a_small_choice_stands_where_a_large_one_adds_little():
    small = Step(((),), (0,), "first", 1.0, mass=0.95, agreement=0.97)
    large = Step(((),) * 5, (0,) * 5, "first", 1.0, mass=0.953, agreement=0.97)
    wide = Step(((),) * 5, (0,) * 5, "first", 1.0, mass=1.0, agreement=0.95)
    assert Family(None, None, (small, large, wide)).ordered().steps == (small, wide)


def test_overlaps_are_read_in_two_ways():
    inside = np.array([[True, True, False, False], [True, False, True, False]])
    first = Step(((), ()), (4, 7), "first", 1.0)
    silent = Step(((), ()), (4, 7), "silent", 1.0)
    assert first.read(inside).tolist() == [4, 4, 7, SILENT]
    assert silent.read(inside).tolist() == [SILENT, 4, 7, SILENT]
    assert first.find_speaker(inside).tolist() == [0, 0, 1, SILENT]


def test_one_class_and_few_draws(label_draws):
    draws = label_draws(np.random.default_rng(0).uniform(size=(30, 2)), np.zeros(30))
    assert learn_family(draws, np.random.default_rng(0)).ordered().steps[-1].mass == 1.0
