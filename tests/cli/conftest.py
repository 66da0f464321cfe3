import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from oleander.cli import main


@dataclass
class Finished:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def sentence(self) -> str:
        """The one line that an error ends in."""
        lines = [line for line in self.err.splitlines() if line.startswith("oleander: ")]
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0]


def run_command(*arguments: Any) -> Finished:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            # argparse ends the process after the help.
            code = end.code
    return Finished(code, out.getvalue(), err.getvalue())


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A function that runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return run_command


def make_patients(n_rows: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n_rows),
            "dose": rng.uniform(0, 5, n_rows).round(2),
            "sex": rng.choice(["F", "M"], n_rows),
            "ward": rng.choice(["north", "south", "west"], n_rows),
            "patient": rng.integers(0, n_rows // 2, n_rows),
        }
    )
    table.loc[rng.random(n_rows) < 0.1, "dose"] = np.nan
    table["risk"] = np.where((table["age"] > 60) & (table["dose"].fillna(0) < 3), "high", "low")
    return table


@pytest.fixture
def patients() -> pd.DataFrame:
    return make_patients()


@pytest.fixture
def patients_csv(patients, tmp_path):
    path = tmp_path / "patients.csv"
    patients.to_csv(path, index=False)
    return path


@dataclass
class Explained:
    """The output of ``explain`` on patients."""

    facts: dict[str, Any]
    folder: Path
    arguments: tuple[Any, ...]

    @property
    def atlas(self) -> Path:
        return self.folder / "atlas.oleander"


@pytest.fixture(scope="session")
def explained(tmp_path_factory):
    """Explained once for all tests, which must not change its folder."""
    folder = tmp_path_factory.mktemp("explained")
    make_patients().to_csv(folder / "patients.csv", index=False)
    arguments = ("explain", folder / "patients.csv", "--target", "risk", "--groups", "patient", "--draws", 2000)
    done = run_command(*arguments, "--out", folder / "out", "--json")
    assert done.code == 0, done.err
    return Explained(done.json, folder / "out", arguments)
