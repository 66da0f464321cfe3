import pytest

from oleander.draws import Draws


def test_options_are_allowed_or_refused_in_a_sentence():
    for draws in (Draws(), Draws(0), Draws(batch_size=1)):
        draws.check()
    for draws, name in ((Draws(-1), "n=-1"), (Draws(2.5), r"n=2\.5"), (Draws(batch_size=0), "batch_size=0")):
        with pytest.raises(ValueError, match=rf"draws\.{name} is not allowed: give a whole number"):
            draws.check()
