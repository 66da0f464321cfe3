import os

# Tests run in parallel, and a thread per core in each process would slow all of them down. The libraries read these
# variables when they are imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import signal
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

from oleander.data.schema import FeatureSchema
from oleander.draws.labelled import LabelledDraws

# A process that is started in the background may ignore Ctrl-C, which tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Without bytecode, every worker rewrites the assertions of every file again, and every process that a test starts
# compiles the whole package.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# The same examples on every machine: by itself hypothesis draws others in CI. `make fuzz` looks for new ones.
settings.register_profile(
    "oleander", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("oleander")

# Tests against oracles have up to hundreds of seeds, of which a fast run takes this many.
FAST_SEEDS = 5


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        seed = item.callspec.params.get("seed", 0) if hasattr(item, "callspec") else 0
        if isinstance(seed, int) and seed >= FAST_SEEDS:
            item.add_marker(pytest.mark.slow)


SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not SHARED.is_dir():
        pytest.skip("the public data sets do not lie in ../shared/data")
    return SHARED


@pytest.fixture(scope="session")
def heart_disease(shared_data: Path) -> pd.DataFrame:
    """920 patients, mixed columns, many missing values; the last column is the diagnosis."""
    # Imported here, so that tests of the package need nothing of the studies.
    from studies.data import load_heart_disease

    data = load_heart_disease(shared_data / "heart_disease")
    table = data.X.assign(num=data.y)
    table["cp"] = table["cp"].map({1: "typical", 2: "atypical", 3: "non-anginal", 4: "none"}).astype("category")
    table["sex"] = table["sex"].map({0: "female", 1: "male"})
    return table


@pytest.fixture(scope="session")
def square() -> np.ndarray:
    return np.random.default_rng(0).uniform(size=(300, 3))


def make_mixed(n_rows: int = 300, seed: int = 0) -> pd.DataFrame:
    """Every kind of column, with and without missing values, and a constant."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "weight": rng.normal(70, 12, n_rows),
            "age": rng.integers(18, 90, n_rows),
            "smoker": rng.random(n_rows) < 0.3,
            "colour": rng.choice(["blue", "green", "red"], n_rows),
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], n_rows), ["low", "mid", "high"], ordered=True),
            "dose": np.where(rng.random(n_rows) < 0.2, np.nan, rng.uniform(0, 5, n_rows)),
            "visits": pd.array(np.where(rng.random(n_rows) < 0.2, np.nan, rng.integers(0, 9, n_rows)), dtype="Int64"),
            "partner": pd.array(rng.choice([True, False, None], n_rows), dtype="boolean"),
            "site": "north",
        }
    )
    table.loc[rng.random(n_rows) < 0.1, "colour"] = None
    return table


@pytest.fixture
def mixed() -> pd.DataFrame:
    return make_mixed()


@pytest.fixture
def mixed_schema(mixed: pd.DataFrame) -> FeatureSchema:
    return FeatureSchema.infer(mixed)


@pytest.fixture
def mixed_black_box():
    """A black box that insists on the user's own columns and dtypes."""
    return label_mixed


def label_mixed(table: pd.DataFrame) -> np.ndarray:
    expected = make_mixed(5).dtypes
    pd.testing.assert_series_equal(table.dtypes, expected)
    heavy = (table["weight"] > 72).to_numpy()
    red = (table["colour"] == "red").fillna(False).to_numpy(dtype=bool)
    without_dose = table["dose"].isna().to_numpy()
    return np.select([without_dose, heavy & red, heavy], ["no dose", "heavy and red", "heavy"], "light")


@pytest.fixture
def label_draws():
    """Return a function that makes labelled draws of values and codes, over a schema of their own."""

    def make(values: np.ndarray, codes: np.ndarray, parents: np.ndarray | None = None) -> LabelledDraws:
        classes = np.arange(int(codes.max()) + 1)
        return LabelledDraws(FeatureSchema.infer(values), values, classes, codes.astype(np.intp), parents)

    return make
