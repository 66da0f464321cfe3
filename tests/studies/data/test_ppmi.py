"""A made-up export in a temporary folder: names, keys and codes as the study's, people invented."""

import numpy as np
import pandas as pd
import pytest

from studies.data import load_ppmi
from studies.data.ppmi_tables import DEPRESSION_ITEMS, RACES, SLEEP_CONDITIONS, SLEEP_ITEMS, TABLES

# Two patients, a healthy person, somebody of another cohort, and a patient never examined.
PEOPLE = [3001, 3002, 4001, 5001, 3003]
SCORED = PEOPLE[:4]


def keyed(event="BL", people=PEOPLE, **columns):
    return pd.DataFrame({"PATNO": people, "EVENT_ID": event, **columns})


@pytest.fixture
def export(tmp_path):
    tables = {
        "Participant_Status_01Jan2024": pd.DataFrame({"PATNO": PEOPLE, "COHORT": [1, 1, 2, 4, 1]}),
        "Demographics_01Jan2024": pd.DataFrame(
            {"PATNO": PEOPLE, "SEX": [1, 0, 0, 1, 0], "CHLDBEAR": [np.nan, 1, 0, np.nan, 0], "HANDED": [1, 2, 3, 1, 1]}
            | {column: [int(column == "RAWHITE")] * 5 for column in RACES}
        ),
        "Socio-Economics_01Jan2024": pd.DataFrame({"PATNO": PEOPLE, "EDUCYRS": [16, 12, 20, 9, 9]}),
        "Age_at_visit_01Jan2024": keyed(AGE_AT_VISIT=[60.5, 70.0, 65.0, 50.0, 50.0]),
        "MDS_UPDRS_Part_II__Patient_Questionnaire_01Jan2024": keyed(people=SCORED, NP2PTOT=[5, 7, 0, 1]),
        "MDS-UPDRS_Part_III_01Jan2024": pd.concat(
            [
                keyed(people=SCORED, NP3TOT=[11, 21, 1, 2], PDSTATE=["ON", None, None, None]),
                keyed(people=[3001], NP3TOT=[20], PDSTATE=["OFF"]),
                keyed("V02", people=[3001], NP3TOT=[26], PDSTATE=["OFF"]),
            ]
        ),
        "Montreal_Cognitive_Assessment__MoCA__01Jan2024": keyed("SC", people=SCORED, MCATOT=[28, 27, 29, 30]),
        "Modified_Schwab___England_Activities_of_Daily_Living_01Jan2024": pd.concat(
            [keyed("V01", people=[3001, 3002], MSEADLG=[90, 95]), keyed("V06", people=[3002], MSEADLG=[80])]
        ),
        "REM_Sleep_Behavior_Disorder_Questionnaire_01Jan2024": keyed(
            **dict.fromkeys(SLEEP_ITEMS[:3], 1), **dict.fromkeys(SLEEP_ITEMS[3:], 0)
        ).assign(**{item: int(i < 2) for i, item in enumerate(SLEEP_CONDITIONS)}),
        "Geriatric_Depression_Scale__Short_Version__01Jan2024": keyed(
            **{item: int(item in ("GDSSATIS", "GDSGSPIR", "GDSHAPPY", "GDSALIVE")) for item in DEPRESSION_ITEMS}
        ),
        "University_of_Pennsylvania_Smell_Identification_Test_UPSIT_01Jan2024": keyed(
            people=SCORED, UPSITBK1=[4, 9, 9, 9], UPSITBK2=[4, 8, 9, 9], UPSITBK3=[5, 8, 9, 9], UPSITBK4=[5, 9, 8, 9]
        ),
        "Blood_Chemistry___Hematology_01Jan2024": pd.concat(
            [
                keyed("SC", LTSTNAME="Lymphocytes", LSIRES=["1.5", "2.5", "1.0", "2", "2"]),
                keyed("SC", LTSTNAME="APTT-QT", LSIRES=["29", "not done", "31", "30", "30"]),
                keyed("SC", LTSTNAME="Hematocrit", LSIRES=["0.41", "0.43", "0.45", "0.4", "0.4"]),
            ]
        ),
        "General_Physical_Exam_01Jan2024": pd.concat(
            [keyed("SC", PESEQ=place, ABNORM=[int(place == 3), 0, 0, 0, 0]) for place in range(1, 11)]
        ),
        "Magnetic_Resonance_Imaging__MRI__01Jan2024": keyed("SC", MRIRSLT=[1, 2, 3, 1, 1]),
    }
    (tmp_path / "Motor").mkdir()
    for name, table in tables.items():
        place = tmp_path / "Motor" if "UPDRS" in name else tmp_path
        table.to_csv(place / f"{name}.csv", index=False)
    return tmp_path


def test_people_and_trajectories(export):
    cohort = load_ppmi(export)
    assert cohort.is_patient.tolist() == [True, True, False]
    assert not cohort.is_synthetic
    first = cohort.trajectories.iloc[0]
    # Without the drug's effect where both are there; carried on where a visit is missing.
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
        "Left Handed": [0, 1, 0],
        "Race White": [1, 1, 1],
        "Race Black": [0, 0, 0],
        "Eyes": [1, 0, 0],
        "Psychiatric": [0, 0, 0],
        "Anosmia": [1, 0, 0],
        "Hyposmia": [0, 1, 0],
        "Normosmia": [0, 0, 1],
        "MRI Abnormal Insignificant": [0, 1, 0],
        "PTT": [29, 30, 31],
        "Lymphocytes": [1.5, 2.5, 1.0],
        "Sleep Score": [4, 4, 4],
        "Geriatric Depression Score": [4, 4, 4],
        "BL/SC Age": [60.5, 70.0, 65.0],
        "BL/SC MOCA": [28, 27, 29],
        "BL/SC MSES": [90, 95, 100],
        "Education Years": [16, 12, 20],
    }
    assert {name: X[name].tolist() for name in expected} == expected


def test_choices(export):
    assert load_ppmi(export, depression="scored").X["Geriatric Depression Score"].tolist() == [1, 1, 1]
    assert load_ppmi(export, missing="zero").X["PTT"].tolist() == [29, 0, 31]
    with pytest.raises(ValueError, match="depression='other' is not known"):
        load_ppmi(export, depression="other")
    with pytest.raises(ValueError, match="missing='other' is not known"):
        load_ppmi(export, missing="other")


def test_the_newest_download_counts(export):
    keyed(people=SCORED, NP2PTOT=[1, 1, 1, 1]).to_csv(
        export / "MDS_UPDRS_Part_II__Patient_Questionnaire_02Feb2023.csv", index=False
    )
    assert load_ppmi(export).X["BL/SC UPDRSII"].tolist() == [5, 7, 0]
    keyed(people=SCORED, NP2PTOT=[2, 2, 2, 2]).to_csv(
        export / "mds-updrs part ii patient questionnaire_02Feb2025.csv", index=False
    )
    assert load_ppmi(export).X["BL/SC UPDRSII"].tolist() == [2, 2, 2]


@pytest.mark.parametrize("key", TABLES)
def test_a_missing_file_is_named(export, key):
    name = TABLES[key].names[0]
    (file,) = export.rglob(f"{name}_01*.csv")
    file.unlink()
    with pytest.raises(ValueError, match=rf"lacks 1 of the 14 tables.*\n- no file {name}\.csv"):
        load_ppmi(export)


@pytest.mark.parametrize(("key", "column"), [(key, table.columns[-1]) for key, table in TABLES.items()])
def test_a_missing_column_is_named(export, key, column):
    (file,) = export.rglob(f"{TABLES[key].names[0]}_01*.csv")
    pd.read_csv(file).drop(columns=column).to_csv(file, index=False)
    with pytest.raises(ValueError, match=rf"- {file.name} has no column {column}\n"):
        load_ppmi(export)


def test_all_problems_at_once(export, tmp_path):
    for file in export.rglob("*UPDRS_Part*.csv"):
        file.unlink()
    with pytest.raises(ValueError, match=r"(?s)lacks 2 of the 14 tables.*Part_II__.*Part_III\.csv"):
        load_ppmi(export)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        load_ppmi(tmp_path / "nowhere")


def test_nobody_left_is_told(export):
    pd.DataFrame({"PATNO": PEOPLE, "COHORT": 4}).to_csv(export / "Participant_Status_01Jan2024.csv", index=False)
    with pytest.raises(ValueError, match=r"no person in .* has all four scores"):
        load_ppmi(export)
