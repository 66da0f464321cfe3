"""A synthetic export of the study: names, keys and codes are the study's, people are invented."""

import numpy as np
import pandas as pd
import pytest

from studies.data.ppmi_tables import DEPRESSION_ITEMS, RACES, SLEEP_CONDITIONS, SLEEP_ITEMS

# Two patients, a healthy person, a person of another cohort, and a patient without examinations.
PEOPLE = [3001, 3002, 4001, 5001, 3003]
SCORED = PEOPLE[:4]


def keyed(event="BL", people=PEOPLE, **columns):
    return pd.DataFrame({"PATNO": people, "EVENT_ID": event, **columns})


# Columns as in today's download of the smell test, and as in older ones.
SCENTS = [f"SCENT_{number:02d}_CORRECT" for number in range(1, 41)]
UPSIT = "University_of_Pennsylvania_Smell_Identification_Test_UPSIT"


def todays_smell(correct, people=SCORED):
    answers = {name: [int(number < total) for total in correct] for number, name in enumerate(SCENTS)}
    return keyed(people=people, **answers, TOTAL_CORRECT=correct, UPSIT_PRCNTGE=50)


def older_smell(booklets, people=SCORED):
    return keyed(people=people, **{f"UPSITBK{number + 1}": list(each) for number, each in enumerate(booklets)})


@pytest.fixture(params=["today", "older"])
def export(request, tmp_path):
    tables = {
        "Participant_Status_01Jan2024": pd.DataFrame(
            {"PATNO": PEOPLE, "COHORT": [1, 3, 2, 4, 1], "COHORT_DEFINITION": "", "ENROLL_STATUS": "Enrolled"}
        ).assign(ENROLL_DATE="01/2012"),
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
        f"{UPSIT}_01Jan2024": todays_smell([18, 33, 35, 36])
        if request.param == "today"
        else older_smell([(4, 8, 9, 9), (4, 8, 9, 9), (5, 8, 9, 9), (5, 9, 8, 9)]),
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
