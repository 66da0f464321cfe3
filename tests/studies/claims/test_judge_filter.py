import pytest

from studies.claims import judge_filter as judges


def radius(high=(None, None), low=(None, None), gain=(0.01, 0.001)):
    names = ("leaves_high_filtered", "leaves_high_unfiltered", "leaves_low_filtered", "leaves_low_unfiltered")
    fidelity = {"fidelity_filtered": 0.9, "fidelity_unfiltered": 0.8, "gain": 0.0, "gain_error": 0.001}
    gains = dict(zip(("gain", "gain_error"), gain, strict=True))
    return {
        "whole, data_fidelity": dict(zip(names, (*high, *low), strict=True)) | gains,
        "whole, fresh_fidelity": fidelity,
        "small, fresh_fidelity": fidelity,
        "share_at_most_five": 0.8,
        "most_selected": 7,
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
        (judges.better_fidelity, {"3": radius(), "7": radius(gain=(0.001, 0.001))}, False),
        (judges.better_fidelity, {"3": radius(gain=(0.01, None))}, None),
        (judges.few_features, {"3": radius()}, True),
    ],
)
def test_judges_of_local_explainers(judge, radii, expected):
    assert judge({"radii": radii, "n_features": 31})[0] is expected


def test_linear_filter():
    facts = {"power_of_draws": 1.05, "power_of_features": 0.9, "power_of_rounds": 1.0}
    assert judges.linear_filter(facts)[0]
    assert not judges.linear_filter(facts | {"power_of_draws": 2.0})[0]


def test_more_bins_must_be_better_by_more_than_chance():
    def bins(ahead):
        line = {"fidelity": 0.9, "n_selected": 3.0, "error": 0.001}
        return {"bins": {"2": {**line, "ahead": 0.1}, "3": {**line, "ahead": 0.0}, "5": {**line, "ahead": ahead}}}

    assert judges.three_bins(bins(0.001))[0] is True
    assert judges.three_bins(bins(0.01))[0] is False


def gain(mean, n_ahead):
    found = {"mean": mean, "n_ahead": n_ahead, "n": 2}
    return {"held out": {"coverage": found, "agreement": found}}


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
    ],
)
def test_judges_of_the_filter_in_the_program(judge, binary, five, expected):
    tasks = {
        name: {"gain": dict.fromkeys(("strict", "selective"), found)}
        for name, found in (("five_classes", five), ("binary", binary))
    }
    assert judge({"tasks": tasks})[0] is expected
