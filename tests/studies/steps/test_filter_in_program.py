import numpy as np
import pandas as pd

from studies.steps.explained_rows import HELD_OUT
from studies.steps.filter_in_program import gains


def test_gains_by_hand():
    line = {"program": "strict", "rows": HELD_OUT}
    table = pd.DataFrame(
        [
            {**line, "method": "strict filtered", "budget": 5, "coverage": 0.5, "agreement": 0.9},
            {**line, "method": "strict lime", "budget": 5, "coverage": 0.3, "agreement": np.nan},
            {**line, "method": "strict filtered", "budget": 10, "coverage": 0.6, "agreement": 0.8},
            {**line, "method": "strict lime", "budget": 10, "coverage": 0.6, "agreement": 0.9},
        ]
    )
    assert gains(table) == {
        "strict": {
            HELD_OUT: {
                "coverage": {"mean": 0.1, "n_ahead": 1, "n": 2},
                "agreement": {"mean": -0.1, "n_ahead": 0, "n": 1},
            }
        }
    }
