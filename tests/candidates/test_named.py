import pytest

from oleander.candidates import Anchors, Balls, Boxes, Nodes, Trees
from oleander.candidates.named import GENERATORS, find_generators


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("auto", [Trees, Nodes]),
        ("balls", [Balls]),
        ("trees", [Trees]),
        ("nodes", [Nodes]),
        ("boxes", [Boxes]),
        ("anchors", [Anchors]),
    ],
)
def test_generators_by_name(name, kinds):
    assert [type(generator) for generator in find_generators(name)] == kinds


def test_every_name_is_tested():
    assert set(GENERATORS) == {"auto", "balls", "trees", "nodes", "boxes", "anchors"}


def test_names_and_generators_may_be_mixed():
    own = Balls(2.0)
    assert find_generators(own) == [own]
    assert [type(generator) for generator in find_generators((own, "auto"))] == [Balls, Trees, Nodes]
    assert find_generators((own, "auto"))[0] is own


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="candidates='ball' is not known; use 'anchors' or 'auto' or 'balls'"):
        find_generators(["trees", "ball"])


def test_another_object_is_refused():
    with pytest.raises(TypeError, match="candidates holds a float; give names or generators"):
        find_generators([2.0])
