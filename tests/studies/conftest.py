from dataclasses import replace

import pytest

from oleander.datasets import make_ppmi_like


@pytest.fixture(scope="session")
def few_people():
    """A quarter of the synthetic cohort, for what need not be exact."""
    cohort = make_ppmi_like(random_state=0)
    parts = {name: getattr(cohort, name).iloc[:200] for name in ("X", "trajectories", "is_patient", "group")}
    return replace(cohort, **parts)
