"""No choice worth the cutoff contains a candidate that was dropped."""

from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.selection.bounds import tighten
from oleander.selection.fix import still_possible
from tests.selection.making import every_choice, make_model


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["plain", "costs", "forced", "selective"]))
def test_no_choice_worth_the_cutoff_needs_a_dropped_candidate(seed, kind):
    model = make_model(seed, kind)
    choices = list(every_choice(model))
    best = max(value for _, value in choices)
    possible = set(still_possible(model, tighten(model, best, n_steps=60), cutoff=best - 1e-9).tolist())
    assert all(set(chosen.tolist()) <= possible for chosen, value in choices if value >= best - 1e-9)
