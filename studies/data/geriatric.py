"""Activities of older people from a sensor that they wear: the paper's second data set (UCI 427)."""

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from oleander.messages import one_line
from studies.data.base import DataSet
from studies.data.fetch import fetch_file

ARCHIVE = "uci_archive.zip"
URL = (
    "https://archive.ics.uci.edu/static/public/427/"
    "activity+recognition+with+healthy+older+people+using+a+batteryless+wearable+sensor.zip"
)
SHA256 = "b05fb0ddadffcb5ec70f1b340d57f5345a1150bd603e8c0299a67ccf3c4ac8dc"
COLUMNS = ("time", "frontal", "vertical", "lateral", "antenna", "rssi", "phase", "frequency", "activity")
ACTIVITIES = {1: "sitting on bed", 2: "sitting on chair", 3: "lying", 4: "ambulating"}
# A trial's file: the room (d1, d2), a running number, and the person's sex.
TRIAL = re.compile(r"d[12]p\d{2}[MF]")


def load_geriatric(
    path: str | Path | None = None, *, drop_repeats: bool = False, rows_per_trial: int | None = None
) -> DataSet:
    """Read the sensor readings of 87 trials by 14 people in two rooms, with the activity at the time.

    Parameters
    ----------
    path : path or None
        The zip archive, a folder with ``uci_archive.zip``, or a folder with the trials' files at any depth. None
        fetches the archive from UCI once and keeps it in ``OLEANDER_DATA`` or the user's cache.
    drop_repeats : bool
        Drop a reading that equals an earlier one of its trial in all but its time; a third of them do.
    rows_per_trial : int or None
        The most readings kept of a trial, evenly spread over it; None keeps all.

    Returns
    -------
    DataSet
        Rows have three accelerations, antenna, signal strength, phase, frequency and whether the person is male. The
        label is one of four activities, the groups are the trials (the files do not identify people); ``about`` has the
        room, the trial's number, the sex and the time.
    """
    if rows_per_trial is not None and rows_per_trial < 1:
        raise ValueError(f"rows_per_trial={rows_per_trial} is not allowed: keep at least 1, or all with None.")
    tables = []
    for name, content in _trials(path):
        room, number, sex = name[1], name[3:5], name[-1]
        table = _read_trial(name, content)
        if drop_repeats:
            table = table.drop_duplicates(COLUMNS[1:])
        if rows_per_trial is not None and len(table) > rows_per_trial:
            table = table.iloc[np.linspace(0, len(table) - 1, rows_per_trial).astype(int)]
        tables.append(table.assign(trial=name, room=int(room), number=int(number), sex=sex))
    table = pd.concat(tables, ignore_index=True)
    X = table[list(COLUMNS[1:-1])].assign(male=(table["sex"] == "M").astype(int))
    activity = table["activity"].map(ACTIVITIES)
    return DataSet("geriatric", X, activity, table["trial"], table[["room", "number", "sex", "time"]])


def _trials(path: str | Path | None) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the trials in order."""
    place = fetch_file(URL, SHA256, f"geriatric-{ARCHIVE}") if path is None else Path(path)
    if place.is_dir():
        files = {file.name: file for file in sorted(place.rglob("d*")) if TRIAL.fullmatch(file.name)}
        if files:
            for name in sorted(files):
                yield name, files[name].read_bytes()
            return
        place /= ARCHIVE
    if not place.is_file():
        raise FileNotFoundError(
            f"there is no geriatric data at {path}: neither {ARCHIVE} nor files like d1p01M. Give the archive, a "
            "folder with it or with the trials, or no path to fetch it."
        )
    # The archive's folders are entries without a slash at their end, so files are found by the trials' names.
    try:
        with zipfile.ZipFile(place) as archive:
            members = {member.rsplit("/", 1)[-1]: member for member in archive.namelist()}
            names = sorted(name for name in members if TRIAL.fullmatch(name))
            if not names:
                raise ValueError(f"{place} is an archive without files like d1p01M; is it UCI's data set 427?")
            for name in names:
                yield name, archive.read(members[name])
    except zipfile.BadZipFile as error:
        raise ValueError(f"{place} is not a complete zip file: {error}.") from error


def _read_trial(name: str, content: bytes) -> pd.DataFrame:
    try:
        table = pd.read_csv(io.BytesIO(content), header=None)
    except ValueError as error:
        raise ValueError(f"{name} cannot be read as a trial: {one_line(error)}.") from error
    if table.shape[1] != len(COLUMNS):
        raise ValueError(f"{name} has {table.shape[1]} columns, and a trial has {len(COLUMNS)}: {', '.join(COLUMNS)}.")
    table.columns = pd.Index(COLUMNS)
    unknown = ~table["activity"].isin(ACTIVITIES)
    if unknown.any():
        row = int(unknown.argmax())
        raise ValueError(f"{name} has activity {str(table['activity'][row])[:40]} in line {row + 1}; known are 1 to 4.")
    return table
