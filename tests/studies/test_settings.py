import pytest

from studies.settings import RADIUS, Settings


@pytest.mark.parametrize("study", ["geriatric", "ppmi", "clinical"])
def test_the_small_version_is_smaller(study):
    full, quick = (Settings.plan(study, quick=quick) for quick in (False, True))
    assert full.radius == quick.radius == RADIUS[study]
    assert quick.n_draws < full.n_draws == 10_000
    assert len(quick.budgets) < len(full.budgets)
    assert set(quick.radii) < set(full.radii)
    assert full.decides
    assert not quick.decides
