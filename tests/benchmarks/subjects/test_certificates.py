import pytest

from benchmarks.subjects.certificates import MANY, Certificates, judge


def make_row(law, status, share=0.95, **found):
    """Return a measured line with a bound of 0.9."""
    of_rows = {"bound of rows": None, "share of rows": share}
    return {"law": law, "way": "background", "status": status, "bound": 0.9, "share": share} | (of_rows | found)


def test_a_certificate_is_false_where_its_bound_is_higher_than_the_truth():
    rows = [make_row("Zipf", "certified") for _ in range(MANY - 2)]
    rows += [make_row("Zipf", "certified", share) for share in (0.9, 0.89)]
    rows += [make_row("Zipf", "judged", 0.5), {"law": "Zipf", "way": "background", "status": "silent"}]
    rows += [make_row("40 groups", "certified", **{"bound of rows": 0.9, "share of rows": 0.8})]
    written = Certificates().write(rows)
    assert "| Zipf | 42 | 41 | 40 | 1 | 0 | 0 | 1 | 1 |" in written
    assert "| 40 groups | 1 | 1 | 1 | 0 | 1 | 1 | 0 | 0 |" in written
    assert "| **all without repeated records** | 1 | 1 | 1 | 0 |" in written
    assert "| **all** | 43 | 42 | 41 | 1 | 1 | 1 | 1 | 1 |" in written
    assert "in every cell of at least 40 | 1 cells; the worst: 1 of 40 (Zipf, background) | yes |" in written
    assert "| no sample that is not independent is certified | 0 of 0 | not measured |" in written


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ["background", "holdout"])
def test_repeated_measurements_without_groups_are_not_certified(way):
    assert judge("repeated measurements", way, 0, 0.8, n_draws=2_000)["status"] in ("judged", "silent")


def test_goals_that_are_missed():
    rows = [make_row("Zipf", "certified", 0.8) for _ in range(MANY)] + [make_row("copied rows", "certified")]
    rows.append({"law": "plain", "way": "holdout", "status": "refused", "why": "no reason"})
    written = Certificates().write(rows)
    assert "the worst: 40 of 40 (Zipf, background) | **no** |" in written
    assert "| at most 5% of all certificates are false | 40 of 41 | **no** |" in written
    assert "| no sample that is not independent is certified | 1 of 1 | **no** |" in written
    assert "| no fit is refused | 1 of 42 | **no** |" in written
