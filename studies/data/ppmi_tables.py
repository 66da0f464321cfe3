"""The study's tables as its members download them: their file names and columns, of today and of older downloads."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pandas as pd

KEYS = ("PATNO", "EVENT_ID")
# The name of a download ends with its day: MDS-UPDRS_Part_III_01Jan2024.csv.
DAY = re.compile(r"_(\d{2}[A-Za-z]{3}\d{4})$")
# Correct answers in the four booklets of the smell test, in older downloads. Today's have one column for each smell,
# SCENT_01_CORRECT to SCENT_40_CORRECT, their sum, and a percentile for age and sex (UPSIT_PRCNTGE).
BOOKLETS = ("UPSITBK1", "UPSITBK2", "UPSITBK3", "UPSITBK4")
SLEEP_ITEMS = (
    *("DRMVIVID", "DRMAGRAC", "DRMNOCTB", "SLPLMBMV", "SLPINJUR", "DRMVERBL", "DRMFIGHT", "DRMUMV", "DRMOBJFL"),
    *("MVAWAKEN", "DRMREMEM", "SLPDSTRB"),
)
SLEEP_CONDITIONS = ("STROKE", "HETRA", "PARKISM", "RLS", "NARCLPSY", "DEPRS", "EPILEPSY", "BRNINFM", "CNSOTH")
DEPRESSION_ITEMS = (
    *("GDSSATIS", "GDSDROPD", "GDSEMPTY", "GDSBORED", "GDSGSPIR", "GDSAFRAD", "GDSHAPPY", "GDSHLPLS"),
    *("GDSHOME", "GDSMEMRY", "GDSALIVE", "GDSWRTLS", "GDSENRGY", "GDSHOPLS", "GDSBETER"),
)
RACES = {
    "RAWHITE": "Race White",
    "HISPLAT": "Race Hispanic",
    "RAINDALS": "Race American Indian",
    "RAASIAN": "Race Asian",
    "RABLACK": "Race Black",
    "RAHAWOPI": "Race PI",
}


@dataclass(frozen=True)
class Table:
    """One table of the study: what it holds, the possible names of its file, and the columns that are read."""

    about: str
    # Without day and ending; upper and lower case, spaces, hyphens and underscores make no difference.
    names: tuple[str, ...]
    columns: tuple[str, ...]
    # The columns of older downloads, where they differ. Where both are there, both are returned, the newer first.
    older: tuple[str, ...] = ()

    @property
    def forms(self) -> tuple[tuple[str, ...], ...]:
        """The sets of columns that may be read, today's first."""
        return (self.columns, self.older) if self.older else (self.columns,)


TABLES: Mapping[str, Table] = {
    "status": Table("cohort and enrolment", ("Participant_Status",), ("PATNO", "COHORT", "ENROLL_STATUS")),
    "demographics": Table(
        "sex, handedness and race", ("Demographics",), ("PATNO", "SEX", "CHLDBEAR", "HANDED", *RACES)
    ),
    "education": Table("years of education", ("Socio-Economics",), ("PATNO", "EDUCYRS")),
    "age": Table("age", ("Age_at_visit",), (*KEYS, "AGE_AT_VISIT")),
    "updrs2": Table(
        "MDS-UPDRS part II", ("MDS_UPDRS_Part_II__Patient_Questionnaire", "MDS_UPDRS_Part_II"), (*KEYS, "NP2PTOT")
    ),
    "updrs3": Table("MDS-UPDRS part III", ("MDS-UPDRS_Part_III",), (*KEYS, "NP3TOT")),
    "moca": Table("MoCA", ("Montreal_Cognitive_Assessment__MoCA_", "Montreal_Cognitive_Assessment"), (*KEYS, "MCATOT")),
    "mses": Table(
        "Schwab and England scale", ("Modified_Schwab___England_Activities_of_Daily_Living",), (*KEYS, "MSEADLG")
    ),
    "sleep": Table(
        "sleep questionnaire", ("REM_Sleep_Behavior_Disorder_Questionnaire",), (*KEYS, *SLEEP_ITEMS, *SLEEP_CONDITIONS)
    ),
    "depression": Table(
        "depression scale",
        ("Geriatric_Depression_Scale__Short_Version_", "Geriatric_Depression_Scale__Short_"),
        (*KEYS, *DEPRESSION_ITEMS),
    ),
    "smell": Table(
        "smell test",
        (
            "University_of_Pennsylvania_Smell_Identification_Test_UPSIT",
            "University_of_Pennsylvania_Smell_Identification_Test",
            "University_of_Pennsylvania_Smell_ID_Test",
        ),
        (*KEYS, "TOTAL_CORRECT"),
        (*KEYS, *BOOKLETS),
    ),
    "blood": Table(
        "blood tests",
        ("Blood_Chemistry___Hematology", "Blood_Chemistry___Hematology-Archived"),
        (*KEYS, "LTSTNAME", "LSIRES"),
    ),
    "exam": Table(
        "physical examination", ("General_Physical_Exam", "General_Physical_Exam-Archived"), (*KEYS, "PESEQ", "ABNORM")
    ),
    "mri": Table("MRI", ("Magnetic_Resonance_Imaging__MRI_", "Magnetic_Resonance_Imaging"), (*KEYS, "MRIRSLT")),
}
OPTIONAL = {"updrs3": ("PDSTATE",), "status": ("ENROLL_DATE",)}


def read_tables(folder: str | Path) -> dict[str, pd.DataFrame]:
    """Read every table; raise one error that names all missing files and columns.

    Files may be in the folder or below it. Of several downloads of a table the newest counts; of a table whose columns
    have changed, the newest of either form, one below the other.
    """
    place = Path(folder)
    if not place.is_dir():
        raise FileNotFoundError(f"there is no folder {place}; give the folder with the study's tables.")
    found: dict[str, list[tuple[datetime, Path]]] = {}
    for file in sorted(place.rglob("*.csv")):
        name, day = _name_and_day(file)
        found.setdefault(name, []).append((day, file))
    tables, problems = {}, []
    for key, wanted in TABLES.items():
        files = [pair for name in wanted.names for pair in found.get(_plain(name), [])]
        # The sort is stable: of two files of one day, that with the name listed last counts.
        newest_first = [file for _, file in sorted(files, key=lambda pair: pair[0])][::-1]
        parts = [part for columns in wanted.forms if (part := _read_form(newest_first, columns, key)) is not None]
        if parts:
            tables[key] = pd.concat(parts, ignore_index=True)
        elif newest_first:
            problems.append(f"{wanted.about}: {_lacking(newest_first[0], wanted)}")
        else:
            names = " or ".join(f"{name}.csv" for name in wanted.names)
            problems.append(f"{wanted.about}: no file {names} (a day may follow the name)")
    if problems:
        raise ValueError(
            f"{place} lacks {len(problems)} of the {len(TABLES)} tables that are needed:\n- "
            + "\n- ".join(problems)
            + "\nDownload them from the study's site and put them there."
        )
    return tables


def _read_form(newest_first: list[Path], columns: tuple[str, ...], key: str) -> pd.DataFrame | None:
    """Return these columns of the newest file that has all of them; None if none has."""
    for file in newest_first:
        there = pd.read_csv(file, nrows=0).columns
        if all(column in there for column in columns):
            kept = [*columns, *(column for column in OPTIONAL.get(key, ()) if column in there)]
            return pd.read_csv(file, usecols=kept, low_memory=False)[kept]
    return None


def _lacking(file: Path, wanted: Table) -> str:
    """Return which columns a file lacks, of today's form and of the older one."""
    there = pd.read_csv(file, nrows=0).columns
    missing = [", ".join(column for column in columns if column not in there) for columns in wanted.forms]
    return f"{file.name} has no column {', and no '.join(missing)}"


def _name_and_day(file: Path) -> tuple[str, datetime]:
    match = DAY.search(file.stem)
    if match is None:
        return _plain(file.stem), datetime.min
    return _plain(file.stem[: match.start()]), datetime.strptime(match[1], "%d%b%Y")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
