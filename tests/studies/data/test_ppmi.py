import pandas as pd
import pytest

from studies.data import load_ppmi
from tests.studies.data.conftest import UPSIT, older_smell, todays_smell


def test_people_and_trajectories(export):
    cohort = load_ppmi(export)
    assert cohort.is_patient.tolist() == [True, True, False]
    assert not cohort.is_synthetic
    first = cohort.trajectories.iloc[0]
    # The examination without the drug's effect counts; a missing visit repeats the one before.
    assert [first[f"UPDRS III, month {month}"] for month in cohort.months] == [20, 20, 26, 26, 26, 26, 26]
    second = cohort.trajectories.iloc[1]
    assert [second[f"MSES, month {month}"] for month in cohort.months] == [95] * 6 + [80]
    assert cohort.trajectories.iloc[2].isna().all()
    assert list(cohort.trajectories.columns[:4]) == [
        f"{score}, month 0" for score in ("UPDRS II", "UPDRS III", "MoCA", "MSES")
    ]


def test_screening_features(export):
    X = load_ppmi(export).X
    assert X.shape == (3, 31)
    expected = {
        "Gender Male": [1, 0, 0],
        "Female Childbearing": [0, 1, 0],
        "Right Handed": [1, 0, 0],
        "Race White": [1, 1, 1],
        "Eyes": [1, 0, 0],
        "Anosmia": [1, 0, 0],
        "Hyposmia": [0, 1, 0],
        "Normosmia": [0, 0, 1],
        "MRI Abnormal Insignificant": [0, 1, 0],
        "PTT": [29, 30, 31],
        "Lymphocytes": [1.5, 2.5, 1.0],
        "Sleep Score": [4, 4, 4],
        "Geriatric Depression Score": [4, 4, 4],
        "BL/SC MSES": [90, 95, 100],
    }
    assert {name: X[name].tolist() for name in expected} == expected


def test_options(export):
    assert load_ppmi(export, depression="scored").X["Geriatric Depression Score"].tolist() == [1, 1, 1]
    assert load_ppmi(export, missing="zero").X["PTT"].tolist() == [29, 0, 31]
    with pytest.raises(ValueError, match="depression='other' is not known"):
        load_ppmi(export, depression="other")
    with pytest.raises(ValueError, match="missing='other' is not known"):
        load_ppmi(export, missing="other")


def test_a_cohort_without_people_is_refused(export):
    file = export / "Participant_Status_01Jan2024.csv"
    pd.read_csv(file).assign(COHORT=4).to_csv(file, index=False)
    with pytest.raises(ValueError, match=r"no person in .* is enrolled and has all four scores"):
        load_ppmi(export)


def test_old_and_new_tables_of_the_smell_test_side_by_side(export):
    """Today's table counts; people who are only in the older one have their result from there."""
    for file in export.glob("University*.csv"):
        file.unlink()
    booklets = [(9, 1, 9, 9), (9, 1, 9, 9), (9, 1, 9, 9), (9, 1, 9, 9)]
    older_smell(booklets).to_csv(export / "University_of_Pennsylvania_Smell_ID_Test.csv", index=False)
    todays_smell([18, 33], people=[3001, 3002]).to_csv(export / f"{UPSIT}_05Mar2025.csv", index=False)
    X = load_ppmi(export).X
    assert X[["Anosmia", "Hyposmia", "Normosmia"]].to_numpy().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize(("change", "expected"), [({"ENROLL_STATUS": "Screen failed"}, 2), ({"ENROLL_DATE": None}, 2)])
def test_people_who_never_entered_the_study_are_left_out(export, change, expected):
    file = export / "Participant_Status_01Jan2024.csv"
    table = pd.read_csv(file)
    for column, value in change.items():
        table.loc[table["PATNO"] == 3002, column] = value
    table.to_csv(file, index=False)
    cohort = load_ppmi(export)
    assert len(cohort.X) == expected
    assert cohort.is_patient.tolist() == [True, False]
