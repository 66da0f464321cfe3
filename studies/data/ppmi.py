"""The Parkinson's Progression Markers Initiative, read from the tables that a member of the study downloads.

The data are under an agreement and are never part of this project.
"""

from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from studies.data.base import BINARY_FEATURES, CONTINUOUS_FEATURES, SCORES, Cohort, trajectory_columns
from studies.data.ppmi_tables import BOOKLETS, DEPRESSION_ITEMS, RACES, SLEEP_CONDITIONS, SLEEP_ITEMS, read_tables

# The first seven visits of the study's schedule, and their months there (the paper speaks of 21 months in all).
VISITS = ("BL", "V01", "V02", "V03", "V04", "V05", "V06")
MONTHS = (0, 3, 6, 9, 12, 18, 24)
# Cohorts of the study. The paper's patients have Parkinson's disease "or some other kind of Parkinsonism": their scans
# show no dopaminergic deficit.
PARKINSON, HEALTHY, OTHER_PARKINSONISM = 1, 2, 3
# People who were screened and did not enter the study.
NEVER_ENROLLED = ("screened", "screen failed", "declined", "excluded", "pending")
SCORE_COLUMNS = dict(zip(SCORES, ("NP2PTOT", "NP3TOT", "MCATOT", "MSEADLG"), strict=True))
SCORE_TABLES = dict(zip(SCORES, ("updrs2", "updrs3", "moca", "mses"), strict=True))
SCREENING_SCORES = dict(zip(SCORES, ("BL/SC UPDRSII", "BL/SC UPDRSIII", "BL/SC MOCA", "BL/SC MSES"), strict=True))
BLOOD_TESTS = {"APTT-QT": "PTT", "Lymphocytes": "Lymphocytes", "Hematocrit": "Hematocrit"}
# Places of the organ systems in the physical examination.
EXAMINED = {2: "Head-Neck-Lymphatic", 3: "Eyes", 8: "Musculoskeletal", 10: "Psychiatric"}
MRI_RESULTS = {1: "MRI Normal", 2: "MRI Abnormal Insignificant", 3: "MRI Abnormal Significant"}
# Items of the depression scale in which a no counts.
REVERSED_ITEMS = ("GDSSATIS", "GDSGSPIR", "GDSHAPPY", "GDSALIVE", "GDSENRGY")
# Correct answers of 40 smells: at most 18 is anosmia, at least 34 is normosmia. The usual limits for normosmia are 34
# for men and 35 for women; one limit for all keeps sex and age out of a feature that is compared between groups.
ANOSMIA_UP_TO, NORMOSMIA_FROM = 18, 34


def load_ppmi(
    folder: str | Path,
    *,
    depression: Literal["sum", "scored"] = "sum",
    missing: Literal["median", "zero"] = "median",
) -> Cohort:
    """Build the paper's cohort from the study's tables: 31 screening features and trajectories of four scores.

    Parameters
    ----------
    folder : path
        The folder with the tables as CSV files, at any depth; see ``docs/evidence/studies/data.md``. An error names
        every missing file and column.
    depression : {"sum", "scored"}
        The sum of the scale's items as they stand, whose mean is the one that the paper prints; or its proper score,
        in which a no counts for five of the items.
    missing : {"median", "zero"}
        The value in place of a missing number. The paper's means fit zeros.

    Returns
    -------
    Cohort
        Enrolled patients (Parkinson's disease or other Parkinsonism) and healthy people; patients without any value of
        one of the four scores are left out. A missing score is taken from the visit before, or else from the next visit
        after.
    """
    if depression not in ("sum", "scored"):
        raise ValueError(f"depression={depression!r} is not known; use 'sum' or 'scored'.")
    if missing not in ("median", "zero"):
        raise ValueError(f"missing={missing!r} is not known; use 'median' or 'zero'.")
    tables = read_tables(folder)
    people = tables["status"].drop_duplicates("PATNO").set_index("PATNO")
    status = people.loc[is_enrolled(people), "COHORT"]
    status = status[status.isin([PARKINSON, HEALTHY, OTHER_PARKINSONISM])].sort_index()
    visits = {score: _visits(tables[SCORE_TABLES[score]], SCORE_COLUMNS[score]) for score in SCORES}
    known = pd.concat([visits[score].notna().any(axis=1).reindex(status.index) for score in SCORES], axis=1)
    status = status[(status == HEALTHY) | (known == True).all(axis=1)]  # noqa: E712 - a missing entry is not True
    if status.empty:
        raise ValueError(
            f"no person in {folder} is enrolled and has all four scores; Participant_Status has COHORT 1 and 3 for "
            "patients, 2 for healthy people, and their ENROLL_STATUS."
        )
    is_patient = status != HEALTHY
    whole = np.stack([visits[score].reindex(status.index).to_numpy() for score in SCORES], axis=2)
    trajectories = pd.DataFrame(whole.reshape(len(status), -1), status.index, trajectory_columns(MONTHS))
    trajectories[~is_patient] = np.nan
    X = _screening(tables, status.index, depression)
    for score, name in SCREENING_SCORES.items():
        X[name] = visits[score]["BL"]
    # Healthy people are not asked about independence in daily life: they have the full score.
    X.loc[~is_patient, "BL/SC MSES"] = X.loc[~is_patient, "BL/SC MSES"].fillna(100.0)
    numbers = list(CONTINUOUS_FEATURES)
    X[numbers] = X[numbers].fillna(0.0 if missing == "zero" else X[numbers].median())
    X = X[[*BINARY_FEATURES, *numbers]].reset_index(drop=True)
    # The study's patient numbers end here.
    return Cohort("PPMI", X, trajectories.reset_index(drop=True), MONTHS, is_patient.reset_index(drop=True))


def is_enrolled(people: pd.DataFrame) -> pd.Series:
    """Return a mask of the people who entered the study, by their status and, if it is there, the day of enrolment.

    >>> is_enrolled(pd.DataFrame({"ENROLL_STATUS": ["Enrolled", "Screen failed", "Withdrew"]})).tolist()
    [True, False, True]
    """
    words = people["ENROLL_STATUS"].astype("string").str.strip().str.lower()
    entered = words.notna() & ~words.isin(NEVER_ENROLLED)
    return entered & people["ENROLL_DATE"].notna() if "ENROLL_DATE" in people else entered


def count_smells(table: pd.DataFrame) -> pd.DataFrame:
    """Return the smell test as one column of correct answers: today's sum, or the sum of the four booklets."""
    numbers = table.reindex(columns=["TOTAL_CORRECT", *BOOKLETS]).apply(pd.to_numeric, errors="coerce")
    booklets = numbers[list(BOOKLETS)].sum(axis=1, min_count=len(BOOKLETS))
    total = numbers["TOTAL_CORRECT"].fillna(booklets)
    return table[["PATNO", "EVENT_ID"]].assign(correct=total).dropna(subset=["correct"])


def _visits(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a score by person and visit; gaps are filled from the visit before, or else from the one after."""
    table = table.assign(**{column: pd.to_numeric(table[column], errors="coerce")}).dropna(subset=[column])
    if "PDSTATE" in table:
        # Of two examinations at a visit, the one without the drug's effect counts.
        table = table.assign(is_on=table["PDSTATE"].eq("ON")).sort_values("is_on", kind="stable")
    wide = table.drop_duplicates(["PATNO", "EVENT_ID"]).pivot(index="PATNO", columns="EVENT_ID", values=column)
    wide = wide.reindex(columns=[*VISITS, "SC"])
    wide["BL"] = wide["BL"].fillna(wide["SC"])
    return wide[list(VISITS)].ffill(axis=1).bfill(axis=1)


def _at_screening(table: pd.DataFrame, *more: str) -> pd.DataFrame:
    """Return each person's row at baseline, or else the one at screening."""
    early = table[table["EVENT_ID"].isin(["BL", "SC"])].sort_values("EVENT_ID", kind="stable")
    return early.drop_duplicates(["PATNO", *more]).set_index(["PATNO", *more])


def _screening(tables: dict[str, pd.DataFrame], people: pd.Index, depression: str) -> pd.DataFrame:
    X = pd.DataFrame(index=people)
    person = tables["demographics"].drop_duplicates("PATNO").set_index("PATNO").reindex(people)
    is_male = person["SEX"] == 1
    X["Gender Male"] = is_male
    X["Female Childbearing"] = ~is_male & (person["CHLDBEAR"] == 1)
    X["Right Handed"], X["Left Handed"] = person["HANDED"] == 1, person["HANDED"] == 2
    for column, name in RACES.items():
        X[name] = person[column] == 1
    exam = _at_screening(tables["exam"], "PESEQ")["ABNORM"].unstack()
    for place, name in EXAMINED.items():
        X[name] = (exam[place] == 1).reindex(people, fill_value=False) if place in exam else False
    smell = _at_screening(count_smells(tables["smell"]))["correct"].reindex(people)
    X["Anosmia"], X["Normosmia"] = smell <= ANOSMIA_UP_TO, smell >= NORMOSMIA_FROM
    X["Hyposmia"] = smell.notna() & ~X["Anosmia"] & ~X["Normosmia"]
    mri = _at_screening(tables["mri"])["MRIRSLT"].reindex(people)
    for code, name in MRI_RESULTS.items():
        X[name] = mri == code
    X = X.astype(int)
    X["BL/SC Age"] = _at_screening(tables["age"])["AGE_AT_VISIT"]
    X["Education Years"] = tables["education"].drop_duplicates("PATNO").set_index("PATNO")["EDUCYRS"]
    blood = tables["blood"].assign(LSIRES=pd.to_numeric(tables["blood"]["LSIRES"], errors="coerce"))
    blood = _at_screening(blood.dropna(subset=["LSIRES"]), "LTSTNAME")["LSIRES"].unstack()
    for test, name in BLOOD_TESTS.items():
        X[name] = blood.get(test, np.nan)
    sleep = _at_screening(tables["sleep"])
    # The questionnaire's last question is a list; any of its conditions makes one point.
    X["Sleep Score"] = sleep[list(SLEEP_ITEMS)].sum(axis=1, min_count=1) + sleep[list(SLEEP_CONDITIONS)].max(axis=1)
    mood = _at_screening(tables["depression"])[list(DEPRESSION_ITEMS)]
    if depression == "scored":
        mood = mood.assign(**{item: 1 - mood[item] for item in REVERSED_ITEMS})
    X["Geriatric Depression Score"] = mood.sum(axis=1, min_count=1)
    return X
