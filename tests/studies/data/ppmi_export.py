"""A whole cohort written as the tables of the study, in today's form or an older one, from which it is read back."""

from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from studies.data.base import SCORES, Cohort
from studies.data.ppmi import BLOOD_TESTS, EXAMINED, MRI_RESULTS, SCORE_COLUMNS, SCORE_TABLES, SCREENING_SCORES, VISITS
from studies.data.ppmi_tables import BOOKLETS, DEPRESSION_ITEMS, RACES, SLEEP_CONDITIONS, SLEEP_ITEMS, TABLES

# Correct answers that stand for each result; the healthy people without a result have no row.
SMELLS = {"Anosmia": 12, "Hyposmia": 27, "Normosmia": 37}


def write_export(cohort: Cohort, folder: Path, vintage: Literal["today", "older"]) -> None:
    """Write the 14 tables; every third patient is one of other Parkinsonism."""
    X, n = cohort.X, len(cohort.X)
    numbers = np.arange(3001, 3001 + n)
    sick = np.where(np.arange(n) % 3 == 0, 3, 1)

    def keyed(event: str = "BL", rows: np.ndarray | slice = slice(None), **columns: object) -> pd.DataFrame:
        return pd.DataFrame({"PATNO": numbers[rows], "EVENT_ID": event, **columns})

    def code(names: dict[int, str], otherwise: int) -> np.ndarray:
        return np.select([X[name] == 1 for name in names.values()], list(names), otherwise)

    tables = {
        "status": pd.DataFrame(
            {"PATNO": numbers, "COHORT": np.where(cohort.is_patient, sick, 2), "ENROLL_STATUS": "Enrolled"}
        ),
        "demographics": pd.DataFrame(
            {
                "PATNO": numbers,
                "SEX": X["Gender Male"],
                "CHLDBEAR": X["Female Childbearing"],
                "HANDED": code({1: "Right Handed", 2: "Left Handed"}, 3),
                **{column: X[name] for column, name in RACES.items()},
            }
        ),
        "education": pd.DataFrame({"PATNO": numbers, "EDUCYRS": X["Education Years"]}),
        "age": keyed(AGE_AT_VISIT=X["BL/SC Age"]),
        "sleep": _items(keyed(), X["Sleep Score"], SLEEP_ITEMS).assign(**dict.fromkeys(SLEEP_CONDITIONS, 0)),
        "depression": _items(keyed(), X["Geriatric Depression Score"], DEPRESSION_ITEMS),
        "blood": pd.concat([keyed("SC", LTSTNAME=test, LSIRES=X[name]) for test, name in BLOOD_TESTS.items()]),
        "exam": pd.concat([keyed("SC", PESEQ=place, ABNORM=X[name]) for place, name in EXAMINED.items()]),
        "mri": keyed("SC", MRIRSLT=code(MRI_RESULTS, 0)),
    }
    for score in SCORES:
        visits = []
        for visit, month in zip(VISITS, cohort.months, strict=True):
            values = cohort.trajectories[f"{score}, month {month}"]
            if visit == "BL":
                values = values.fillna(X[SCREENING_SCORES[score]])
            rows = np.flatnonzero(values.notna())
            visits.append(keyed(visit, rows, **{SCORE_COLUMNS[score]: values.to_numpy()[rows]}))
        tables[SCORE_TABLES[score]] = pd.concat(visits)
    smells = sum(correct * X[name] for name, correct in SMELLS.items()).to_numpy()
    rows = np.flatnonzero(smells)
    if vintage == "today":
        scents = {f"SCENT_{i + 1:02d}_CORRECT": (smells[rows] > i).astype(int) for i in range(40)}
        tables["smell"] = keyed("SC", rows, **scents, TOTAL_CORRECT=smells[rows], UPSIT_PRCNTGE=50)
    else:
        booklets = {name: (smells[rows] + i) // 4 for i, name in enumerate(BOOKLETS)}
        tables["smell"] = keyed("SC", rows, **booklets)
    for key, table in tables.items():
        name = TABLES[key].names[-1 if vintage == "older" and key == "smell" else 0]
        table.to_csv(folder / f"{name}_01Jan2024.csv", index=False)


def _items(table: pd.DataFrame, score: pd.Series, items: tuple[str, ...]) -> pd.DataFrame:
    """Spread a score over the items of a questionnaire; what is no whole number stays in the first."""
    rest = score - score.clip(0, len(items)).round()
    answers = {item: (score.round() > i).astype(float) for i, item in enumerate(items)}
    answers[items[0]] = answers[items[0]] + rest
    return table.assign(**answers)
