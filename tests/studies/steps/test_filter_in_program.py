import numpy as np
import pandas as pd

from studies.steps.explained_rows import HELD_OUT
from studies.steps.filter_in_program import gains


def test_gains_by_hand():
    line = {"program": "strict", "rows": HELD_OUT, "fidelity": 0.7}
    table = pd.DataFrame(
        [
            {**line, "method": "strict letter", "budget": 5, "coverage": 0.5, "agreement": 0.9},
            {**line, "method": "strict lime", "budget": 5, "coverage": 0.3, "agreement": np.nan},
            {**line, "method": "strict letter", "budget": 10, "coverage": 0.6, "agreement": 0.8},
            {**line, "method": "strict lime", "budget": 10, "coverage": 0.6, "agreement": 0.9},
            {**line, "method": "strict unfiltered", "budget": 10, "coverage": 0.4, "agreement": 0.8},
        ]
    )
    found = gains(table)["strict"][HELD_OUT]
    assert found["lime"] == {
        "coverage": {"mean": 0.1, "n_ahead": 1, "n": 2},
        "agreement": {"mean": -0.1, "n_ahead": 0, "n": 1},
        "fidelity": {"mean": 0.0, "n_ahead": 0, "n": 2},
    }
    assert found["unfiltered"]["coverage"] == {"mean": 0.2, "n_ahead": 1, "n": 1}
