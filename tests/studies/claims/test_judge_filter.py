import numpy as np
import pytest

from studies.claims import judge_filter as judges
from tests.studies.claims.conftest import N_HELD_OUT, make_method


def radius(high=(None, None), low=(None, None), gain=(0.01, 0.001), kept=0.8, error=0.01, share_all=0.0):
    """Facts of one radius; pairs are the paper's filter and no filter."""
    kinds = ("letter", "unfiltered")
    ratios = {
        f"ratio_{side}": {
            "letter": {"mean": np.log2(pair[0] / pair[1]), "error": error} if pair[0] else {"mean": None, "error": None}
        }
        for side, pair in (("high", high), ("low", low))
    }
    gains = {kind: dict(zip(("mean", "error"), gain, strict=True)) for kind in ("letter", "filtered")}
    found = {
        "leaves_high": dict(zip(kinds, high, strict=True)),
        "leaves_low": dict(zip(kinds, low, strict=True)),
        "fidelity": {"letter": 0.9, "filtered": 0.9, "unfiltered": 0.8},
        "gain": gains,
        **ratios,
    }
    shares = {"share_at_most_five": kept, "share_all": share_all, "most": 7}
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
        (judges.smaller_trees("7", "11"), {"7": radius((10, 20)), "11": radius((10, 11), error=1.0)}, None),
        # Trees of the same size are not smaller.
        (judges.smaller_trees("7"), {"7": radius((100, 101))}, False),
        (judges.smaller_trees("7"), {"7": radius((100, 101), error=0.2)}, None),
        (judges.smaller_trees("7", "11"), {"3": radius((10, 20))}, None),
        (judges.equal_trees("3"), {"3": radius((10, 11))}, True),
        (judges.equal_trees("3"), {"3": radius((10, 20))}, False),
        # A filter that keeps every feature changes no tree.
        (judges.equal_trees("3"), {"3": radius((10, 10), share_all=0.9)}, None),
        (judges.equal_trees("3"), {"3": radius((10, 11), error=0.5)}, None),
        (judges.equal_trees("3"), {"3": radius(low=(10, 11))}, True),
        (judges.equal_trees("15"), {"3": radius((10, 11))}, None),
        (judges.low_fidelity_trees, {"3": radius(low=(10, 5))}, True),
        (judges.low_fidelity_trees, {"3": radius((10, 5))}, None),
        (judges.better_fidelity, {"3": radius()}, True),
        (judges.better_fidelity, {"3": radius(), "7": radius(gain=(0.001, 0.001))}, None),
        (judges.better_fidelity, {"3": radius(gain=(0.001, 0.001))}, None),
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
    found = {"leaves_needed": {"0.8": needed, "0.9": unknown}, "at_equal_features": {"5": {"mean": l1, "error": 0.01}}}
    assert judges.less_complex({"radii": {"3": found}})[0] is expected


def test_more_bins_must_be_better_by_more_than_chance():
    def bins(ahead, n_selected=3.0):
        line = {"fidelity": 0.9, "n_selected": n_selected, "error": 0.001}
        found = {"2": {**line, "ahead": 0.1}, "3": {**line, "ahead": 0.0}, "5": {**line, "ahead": ahead}}
        return {"bins": found, "n_features": 8}

    assert judges.three_bins(bins(0.001))[0] is True
    assert judges.three_bins(bins(0.01))[0] is False
    # Three bins that keep all features are no filter.
    assert judges.three_bins(bins(0.001, n_selected=8.0))[0] is None


def kinds(letter, lime, unfiltered):
    """Facts of one task: shares of 400 held-out rows that are covered, and fidelities, at two budgets."""
    methods = {"strict letter": letter, "strict lime": lime, "strict unfiltered": unfiltered}
    gain = {
        rival: {
            "coverage": {"mean": round(letter[0][1] - other[0][1], 4)},
            "agreement": {"mean": None if other[1][1] is None else round(letter[1][1] - other[1][1], 4)},
        }
        for rival, other in (("lime", lime), ("unfiltered", unfiltered))
    }
    found = {name: make_method(*each) for name, each in methods.items()}
    return {"methods": found, "gain": {"strict": {"held out": gain}}, "n_held_out": N_HELD_OUT, "units": None}


WIDE, MIDDLE, NARROW = ((0.8, 0.9), (0.95, 0.95)), ((0.5, 0.6), (0.85, 0.85)), ((0.2, 0.3), (0.6, 0.6))
SILENT = ((0.0, 0.0), (None, None))


@pytest.mark.parametrize(
    ("judge", "binary", "five", "expected"),
    [
        (judges.filter_covers_more("binary", "coverage"), (WIDE, NARROW, WIDE), (WIDE, WIDE, WIDE), True),
        (judges.filter_covers_more("five_classes", "coverage", "fidelity"), (WIDE,) * 3, (MIDDLE, WIDE, WIDE), False),
        (judges.filter_covers_more("binary", "coverage", "fidelity"), (WIDE, SILENT, WIDE), (WIDE,) * 3, True),
        (judges.filter_adds("binary", "fidelity", 0.04), (WIDE, MIDDLE, WIDE), (WIDE,) * 3, True),
        (judges.filter_adds("binary", "fidelity", 0.04), (MIDDLE, WIDE, WIDE), (WIDE,) * 3, False),
        (judges.filter_adds("binary", "fidelity", 0.04), (WIDE, WIDE, WIDE), (WIDE,) * 3, None),
        (judges.filter_adds("binary", "fidelity", 0.04), (WIDE, SILENT, WIDE), (WIDE,) * 3, None),
        (judges.filter_adds_less, (WIDE, NARROW, WIDE), (WIDE, MIDDLE, WIDE), True),
        (judges.filter_adds_less, (WIDE, MIDDLE, WIDE), (WIDE, NARROW, WIDE), False),
        (judges.filter_adds_less, (WIDE, MIDDLE, WIDE), (WIDE, MIDDLE, WIDE), None),
        # A lead over LIME is no gain by the filter.
        (judges.filter_itself, (WIDE, NARROW, WIDE), (WIDE, NARROW, WIDE), None),
        (judges.filter_itself, (WIDE, WIDE, NARROW), (WIDE, WIDE, NARROW), True),
        (judges.filter_itself, (WIDE, WIDE, NARROW), (NARROW, NARROW, WIDE), False),
    ],
)
def test_judges_of_the_filter_in_the_program(judge, binary, five, expected):
    tasks = {"five_classes": kinds(*five), "binary": kinds(*binary)}
    assert judge({"budgets": [5, 10], "tasks": tasks})[0] is expected
