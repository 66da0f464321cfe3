from dataclasses import dataclass

import pytest
from sklearn.base import clone

from oleander.fitting.options import NestedEstimator


@dataclass(frozen=True)
class Part:
    width: float = 1.0
    depth: int = 2


class Whole(NestedEstimator):
    PARTS = ("part",)

    def __init__(self, part="plain", other=None, model=None):
        self.part, self.other, self.model = part, other, model


def test_options_of_a_part_are_listed_and_set():
    whole = Whole(Part(width=3.0))
    assert whole.get_params() == {
        "part": Part(width=3.0),
        "part__width": 3.0,
        "part__depth": 2,
        "other": None,
        "model": None,
    }
    assert whole.get_params(deep=False) == {"part": Part(width=3.0), "other": None, "model": None}
    assert whole.set_params(part__width=4.0, other=1) is whole
    assert (whole.part, whole.other) == (Part(width=4.0), 1)


def test_only_parts_have_options():
    """A model that happens to be a dataclass is not taken apart."""
    assert Whole("plain", model=Part()).get_params() == {"part": "plain", "other": None, "model": Part()}


def test_a_part_and_its_options_in_one_call():
    whole = Whole("plain")
    whole.set_params(part__depth=7, part=Part(width=5.0))
    assert whole.part == Part(width=5.0, depth=7)


@pytest.mark.parametrize(
    "params",
    [{"size": 1}, {"part__size": 1}, {"part": "plain", "part__width": 1.0}, {"other__width": 1}, {"part__": 1}],
)
def test_an_unknown_name_is_refused_and_changes_nothing(params):
    whole = Whole(Part())
    with pytest.raises(ValueError, match=r"there is no parameter '.*'; there are model, other, part"):
        whole.set_params(model="new", **params)
    assert whole.get_params(deep=False) == {"part": Part(), "other": None, "model": None}


def test_a_clone_shares_parts_and_models():
    model = object()
    whole = Whole(Part(width=2.0), model=model)
    copied = clone(whole)
    assert copied is not whole
    assert copied.part is whole.part
    assert copied.model is model


def test_a_change_of_a_clone_leaves_the_original():
    whole = Whole(Part())
    clone(whole).set_params(part__width=9.0)
    assert whole.part == Part()
