import pytest

from oleander.draws import Draws


@pytest.mark.parametrize("draws", [Draws(), Draws(0), Draws(batch_size=1)])
def test_allowed_options_pass(draws):
    draws.check()


@pytest.mark.parametrize(
    ("draws", "message"),
    [
        (Draws(-1), r"draws\.n=-1 is not allowed"),
        (Draws(2.5), r"draws\.n=2\.5 is not allowed"),
        (Draws(batch_size=0), r"draws\.batch_size=0 is not allowed"),
    ],
)
def test_others_are_refused_in_a_sentence(draws, message):
    with pytest.raises(ValueError, match=message) as caught:
        draws.check()
    assert "\n" not in str(caught.value)
