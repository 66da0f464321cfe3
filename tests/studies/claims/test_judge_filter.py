import pytest

from studies.claims import judge_filter as judges
from studies.claims.views import ON_DATA, ON_HELD_OUT


def radius(high=(None, None), low=(None, None), gain=(0.01, 0.001), kept=0.8):
    """Facts of one radius; pairs are the paper's filter and no filter."""
    kinds = ("letter", "unfiltered")
    gains = {kind: dict(zip(("mean", "error"), gain, strict=True)) for kind in ("letter", "filtered")}
    found = {
        "leaves_high": dict(zip(kinds, high, strict=True)),
        "leaves_low": dict(zip(kinds, low, strict=True)),
        "fidelity": {"letter": 0.9, "filtered": 0.9, "unfiltered": 0.8},
        "gain": gains,
    }
    shares = {"share_at_most_five": kept, "most": 7}
    return {
        "whole, data_fidelity": found,
        "whole, fresh_fidelity": found,
        "small, fresh_fidelity": found,
        # Our filter keeps few features, whatever the paper's keeps.
        "kept": {"letter": shares, "filtered": {"share_at_most_five": 1.0, "most": 5}},
    }


@pytest.mark.parametrize(
    ("judge", "radii", "expected"),
    [
        (judges.smaller_trees("7", "11"), {"7": radius((10, 20)), "11": radius((10, 11))}, True),
        (judges.smaller_trees("7", "11"), {"7": radius((10, 20)), "11": radius((12, 11))}, False),
        (judges.smaller_trees("7", "11"), {"3": radius((10, 20))}, None),
        (judges.equal_trees("3"), {"3": radius((10, 11))}, True),
        (judges.equal_trees("3"), {"3": radius((10, 20))}, False),
        (judges.equal_trees("3"), {"3": radius(low=(10, 11))}, True),
        (judges.equal_trees("15"), {"3": radius((10, 11))}, None),
        (judges.low_fidelity_trees, {"3": radius(low=(10, 5))}, True),
        (judges.low_fidelity_trees, {"3": radius((10, 5))}, None),
        (judges.better_fidelity, {"3": radius()}, True),
        (judges.better_fidelity, {"3": radius(), "7": radius(gain=(0.001, 0.001))}, None),
        (judges.better_fidelity, {"3": radius(gain=(0.001, 0.001))}, False),
        (judges.better_fidelity, {"3": radius(), "7": radius(gain=(-0.01, 0.001))}, False),
        (judges.better_fidelity, {"3": radius(gain=(0.01, None))}, None),
        (judges.few_features, {"3": radius()}, True),
        (judges.few_features, {"3": radius(kept=0.1)}, False),
    ],
)
def test_judges_of_local_explainers(judge, radii, expected):
    assert judge({"radii": radii, "n_features": 31})[0] is expected


def test_fidelity_is_judged_inside_the_ball():
    outside = radius(gain=(0.01, 0.001))
    inside = {**outside, "whole, fresh_fidelity": radius(gain=(-0.01, 0.001))["whole, fresh_fidelity"]}
    assert judges.better_fidelity({"radii": {"3": inside}})[0] is False


def test_the_whole_filter_must_be_linear():
    facts = {
        "counts": {"draws": 1.0, "features": 1.9},
        "seconds": {"draws": 0.9, "features": 1.8},
        "one_round": {"draws": 0.9, "features": 0.9},
    }
    assert judges.linear_filter(facts)[0] is False
    assert judges.linear_filter(facts | {"counts": {"draws": 1.0, "features": 1.1}})[0] is True


@pytest.mark.parametrize(("saved", "l1", "expected"), [(1.0, 0.1, True), (-1.0, 0.1, False), (0.01, 0.1, None)])
def test_complexity_is_compared_with_pruned_trees_and_l1(saved, l1, expected):
    needed = {"letter": 8.0, "pruned": 16.0, "saved": {"mean": saved, "error": 0.01}}
    unknown = {"letter": None, "pruned": None, "saved": {"mean": None, "error": None}}
    found = {
        "leaves_needed": {"0.8": needed, "0.9": unknown},
        "at_equal_features": {"5": {"mean": l1, "error": 0.01}},
    }
    assert judges.less_complex({"radii": {"3": found}})[0] is expected


def test_more_bins_must_be_better_by_more_than_chance():
    def bins(ahead):
        line = {"fidelity": 0.9, "n_selected": 3.0, "error": 0.001}
        return {"bins": {"2": {**line, "ahead": 0.1}, "3": {**line, "ahead": 0.0}, "5": {**line, "ahead": ahead}}}

    assert judges.three_bins(bins(0.001))[0] is True
    assert judges.three_bins(bins(0.01))[0] is False


def gain(mean, n_ahead, without_filter=0.0):
    lime = {measure: {"mean": mean, "n_ahead": n_ahead, "n": 2} for measure in ("coverage", "agreement", "fidelity")}
    trees = {measure: {"mean": without_filter, "n_ahead": 0, "n": 2} for measure in lime}
    return {rows: {"lime": lime, "unfiltered": trees} for rows in ("held out", "learned")}


@pytest.mark.parametrize(
    ("judge", "binary", "five", "expected"),
    [
        (judges.filter_covers_more("binary", "coverage"), gain(0.1, 2), gain(0, 0), True),
        (judges.filter_covers_more("five_classes", "coverage", "agreement"), gain(0.1, 2), gain(0.1, 1), False),
        (judges.filter_adds("binary", "agreement", 0.04), gain(0.05, 2), gain(0, 0), True),
        (judges.filter_adds("binary", "agreement", 0.04), gain(0.01, 2), gain(0, 0), False),
        (judges.filter_adds("binary", "agreement", 0.04), gain(None, 0), gain(0, 0), None),
        (judges.filter_adds_less, gain(0.1, 2), gain(0.05, 2), True),
        (judges.filter_adds_less, gain(0.01, 2), gain(0.05, 2), False),
        # A lead over LIME is no gain by the filter.
        (judges.filter_itself, gain(0.1, 2), gain(0.1, 2), False),
        (judges.filter_itself, gain(0.1, 2, 0.03), gain(0.1, 2, 0.03), True),
        (judges.filter_itself, gain(0.1, 2, 0.03), gain(0.1, 2, 0.005), None),
    ],
)
@pytest.mark.parametrize("view", [ON_DATA, ON_HELD_OUT])
def test_judges_of_the_filter_in_the_program(judge, binary, five, expected, view):
    tasks = {
        name: {"gain": dict.fromkeys(("strict", "selective"), found)}
        for name, found in (("five_classes", five), ("binary", binary))
    }
    assert judge({"tasks": tasks}, view)[0] is expected
