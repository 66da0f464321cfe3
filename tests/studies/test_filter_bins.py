from studies import filter_bins, judges


def test_one_feature_decides_whatever_the_bins(explained):
    lines = filter_bins.filter_center(explained, 0, 4.0, 400, 200, 0)
    assert [line["bins"] for line in lines] == list(filter_bins.BINS)
    assert all(line["fidelity"] > 0.95 for line in lines)


def test_more_bins_must_be_better_by_more_than_chance():
    def bins(ahead):
        line = {"fidelity": 0.9, "n_selected": 3.0, "error": 0.001}
        return {"bins": {"2": {**line, "ahead": 0.1}, "3": {**line, "ahead": 0.0}, "5": {**line, "ahead": ahead}}}

    assert judges.three_bins(bins(0.001))[0] is True
    assert judges.three_bins(bins(0.01))[0] is False
