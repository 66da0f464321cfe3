from studies.steps import filter_bins


def test_any_number_of_bins_finds_the_one_feature(explained):
    lines = filter_bins.filter_center(explained, 0, 4.0, 400, 200, 0)
    assert [line["bins"] for line in lines] == list(filter_bins.BINS)
    assert all(line["fidelity"] > 0.95 for line in lines)
