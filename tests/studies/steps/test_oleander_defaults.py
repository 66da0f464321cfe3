import pandas as pd
import pytest

from studies.steps import oleander_defaults as step


@pytest.mark.slow
def test_defaults_answer_and_certify(small_work, explained):
    lines = step.fit_own(small_work, explained, 4, 0.5)
    assert all(line["coverage"] > 0.8 and line["agreement"] > 0.9 for line in lines)
    assert all(0 < line["certified_fidelity"] <= 1 for line in lines)
    certified = step.certified(pd.DataFrame([{"budget": 4, "floor": 0.5, **line} for line in lines]))
    assert certified["0.5"]["certified_fidelity"] == pytest.approx(lines[0]["certified_fidelity"], abs=1e-4)


@pytest.mark.slow
def test_defaults_are_silent_where_the_floor_cannot_be_shown(small_work, explained):
    # 60 rows cannot show an agreement of 99.9%.
    lines = step.fit_own(small_work, explained, 4, 0.999)
    assert all(line["n_explainers"] == 0 and line["coverage"] == 0 for line in lines)
    assert step.certified(pd.DataFrame([{"budget": 4, "floor": 0.999, **line} for line in lines])) == {"0.999": None}


def test_a_budget_that_is_not_used_up_is_fitted_once(small_work, explained, monkeypatch):
    fitted = []

    def fit_own(work, explained, budget, floor):
        fitted.append((floor, budget))
        return [{"rows": rows, "n_explainers": min(budget, 3)} for rows in explained.tables]

    monkeypatch.setattr(step, "fit_own", fit_own)
    table = step._own(small_work, explained)
    assert fitted == [(0.5, 4), (0.5, 1), (0.9, 4), (0.9, 1)]
    assert len(table) == 2 * 2 * 2
    fitted.clear()
    monkeypatch.setattr(step, "fit_own", lambda *options: [{**line, "n_explainers": 1} for line in fit_own(*options)])
    step._own(small_work, explained)
    assert fitted == [(0.5, 4), (0.9, 4)]
