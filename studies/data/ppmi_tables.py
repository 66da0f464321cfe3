"""The study's tables as its members download them: their file names and columns."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pandas as pd

KEYS = ("PATNO", "EVENT_ID")
# The name of a download ends with its day: MDS-UPDRS_Part_III_01Jan2024.csv.
DAY = re.compile(r"_(\d{2}[A-Za-z]{3}\d{4})$")
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
    """One table of the study: the possible names of its file, and the columns that are read.

    Parameters
    ----------
    names : tuple of str
        Without day and ending; upper and lower case, spaces, hyphens and underscores make no difference.
    columns : tuple of str
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]


TABLES: Mapping[str, Table] = {
    "status": Table(("Participant_Status",), ("PATNO", "COHORT")),
    "demographics": Table(("Demographics",), ("PATNO", "SEX", "CHLDBEAR", "HANDED", *RACES)),
    "education": Table(("Socio-Economics",), ("PATNO", "EDUCYRS")),
    "age": Table(("Age_at_visit",), (*KEYS, "AGE_AT_VISIT")),
    "updrs2": Table(("MDS_UPDRS_Part_II__Patient_Questionnaire", "MDS_UPDRS_Part_II"), (*KEYS, "NP2PTOT")),
    "updrs3": Table(("MDS-UPDRS_Part_III",), (*KEYS, "NP3TOT")),
    "moca": Table(("Montreal_Cognitive_Assessment__MoCA_", "Montreal_Cognitive_Assessment"), (*KEYS, "MCATOT")),
    "mses": Table(("Modified_Schwab___England_Activities_of_Daily_Living",), (*KEYS, "MSEADLG")),
    "sleep": Table(("REM_Sleep_Behavior_Disorder_Questionnaire",), (*KEYS, *SLEEP_ITEMS, *SLEEP_CONDITIONS)),
    "depression": Table(
        ("Geriatric_Depression_Scale__Short_Version_", "Geriatric_Depression_Scale__Short_"),
        (*KEYS, *DEPRESSION_ITEMS),
    ),
    "smell": Table(
        (
            "University_of_Pennsylvania_Smell_Identification_Test_UPSIT",
            "University_of_Pennsylvania_Smell_Identification_Test",
            "University_of_Pennsylvania_Smell_ID_Test",
        ),
        (*KEYS, "UPSITBK1", "UPSITBK2", "UPSITBK3", "UPSITBK4"),
    ),
    "blood": Table(
        ("Blood_Chemistry___Hematology", "Blood_Chemistry___Hematology-Archived"), (*KEYS, "LTSTNAME", "LSIRES")
    ),
    "exam": Table(("General_Physical_Exam", "General_Physical_Exam-Archived"), (*KEYS, "PESEQ", "ABNORM")),
    "mri": Table(("Magnetic_Resonance_Imaging__MRI_", "Magnetic_Resonance_Imaging"), (*KEYS, "MRIRSLT")),
}
OPTIONAL = {"updrs3": ("PDSTATE",)}


def read_tables(folder: str | Path) -> dict[str, pd.DataFrame]:
    """Read every table; raise one error that names all missing files and columns.

    Files may be in the folder or below it. Of several downloads of a table the newest counts.
    """
    place = Path(folder)
    if not place.is_dir():
        raise FileNotFoundError(f"there is no folder {place}; give the folder with the study's tables.")
    found: dict[str, tuple[datetime, Path]] = {}
    for file in sorted(place.rglob("*.csv")):
        name, day = _name_and_day(file)
        if name not in found or found[name][0] <= day:
            found[name] = day, file
    tables, problems = {}, []
    for key, wanted in TABLES.items():
        names = [name for name in wanted.names if _plain(name) in found]
        if not names:
            files = " or ".join(f"{name}.csv" for name in wanted.names)
            problems.append(f"no file {files} (a day may follow the name)")
            continue
        file = found[_plain(names[0])][1]
        columns = pd.read_csv(file, nrows=0).columns
        missing = [column for column in wanted.columns if column not in columns]
        if missing:
            problems.append(f"{file.name} has no column {', '.join(missing)}")
            continue
        kept = [*wanted.columns, *(column for column in OPTIONAL.get(key, ()) if column in columns)]
        tables[key] = pd.read_csv(file, usecols=kept, low_memory=False)[kept]
    if problems:
        raise ValueError(
            f"{place} lacks {len(problems)} of the {len(TABLES)} tables that are needed:\n- "
            + "\n- ".join(problems)
            + "\nDownload them from the study's site and put them there."
        )
    return tables


def _name_and_day(file: Path) -> tuple[str, datetime]:
    match = DAY.search(file.stem)
    if match is None:
        return _plain(file.stem), datetime.min
    return _plain(file.stem[: match.start()]), datetime.strptime(match[1], "%d%b%Y")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
