from benchmarks.subjects.whole_explanation import average, on_front


def row(coverage, worst):
    return {"coverage": coverage, "worst fidelity": worst}


def test_the_front_has_the_methods_that_no_other_beats():
    assert on_front(row(0.5, 0.9), [row(0.9, 0.5), row(0.5, 0.9)])
    assert not on_front(row(0.5, 0.9), [row(0.5, 0.95)])
    assert not on_front(row(0.0, None), [])
    assert on_front(row(0.5, 0.9), [row(0.0, None)])


def test_a_split_without_an_answer_counts_as_coverage_0_and_has_no_fidelity():
    rest = {"agreement": None, "explainers": 1, "complexity": 1, "queries": 10, "seconds": 1.0}
    key = {"data": "wine", "K": 5, "method": "tree"}
    means = average([key | rest | row(0.5, 0.9), key | rest | row(0.0, None), key | {"refused": "no numbers"}])
    assert [(mean["coverage"], mean["worst fidelity"]) for mean in means] == [(0.25, 0.9)]
