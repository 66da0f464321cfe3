"""No row of X or of the background leaves a fit: not in a page, a file, a checkpoint, an export, a log or an error."""

import json
import logging
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oleander import AggregateExplainer, Balls, Draws

rng = np.random.default_rng(0)
# Seven digits after the point: no value can be met by chance.
X, BACKGROUND = (rng.normal(size=(300, 4)).round(7) for _ in range(2))
ROWS = np.vstack([X, BACKGROUND])
# A file holds the bounds of the columns, which are values of rows, and no other value.
BOUNDS = {float(end) for rows in (X, ROWS) for column in rows.T for end in (column.min(), column.max())}
WAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "background": ({"draws": Draws(1_000)}, {"background": BACKGROUND}),
    "folds": ({"draws": Draws(1_000)}, {}),
    "numbers": ({"draws": Draws(1_000), "tolerance": 2.5}, {"background": BACKGROUND}),
    "rows": ({"draws": Draws(0)}, {}),
    "balls": ({"candidates": Balls(n_draws=100, max_candidates=15)}, {}),
}


def find_values(content: bytes) -> set[float]:
    """Return the values of rows that stand in some content, as text or as bytes; short texts may do so by chance."""
    values = [value for value in ROWS[~np.isin(ROWS, list(BOUNDS))] if len(repr(float(value))) >= len("0.1234567")]
    return {float(value) for value in values if value.tobytes() in content or repr(float(value)).encode() in content}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS)
def test_no_row_leaves_a_fit(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, way: str
) -> None:
    caplog.set_level(logging.DEBUG)
    options, given = WAYS[way]

    def black_box(rows: np.ndarray) -> np.ndarray:
        score = rows[:, 0] - rows[:, 1]
        return score if way == "numbers" else (score > 0).astype(int)

    atlas = AggregateExplainer(
        black_box, min_fidelity=0.7, random_state=0, checkpoint=tmp_path / "kept", verbose=1, **options
    ).fit(X, **given)
    atlas.save(tmp_path / "saved")
    atlas.report(tmp_path / "page.html", X)
    with zipfile.ZipFile(tmp_path / "saved") as archive:
        saved = archive.read("atlas.json")
    content = {
        "file": saved,
        "page": (tmp_path / "page.html").read_bytes(),
        "checkpoint": b"".join(path.read_bytes() for path in (tmp_path / "kept").iterdir()),
        "exports": (str(atlas.to_card()) + json.dumps(atlas.to_dict())).encode(),
        "summary": str(atlas.summary()).encode(),
    }
    if way != "numbers":
        content["code"] = (atlas.to_sql() + atlas.to_python()).encode()
    with pytest.raises(ValueError, match="min_fidelity=1 cannot be shown on 9 rows") as refused:
        AggregateExplainer(lambda rows: rows[:, 0] > 0, min_fidelity=1, random_state=0, draws=Draws(500)).fit(X[:9])
    shown = capfd.readouterr()
    content["log"] = (caplog.text + shown.out + shown.err + str(refused.value)).encode()
    assert {name: find_values(part) for name, part in content.items()} == {name: set() for name in content}
