"""The model to be explained: asked, its answers checked, and the rows sent to it counted."""

from oleander.black_box.answers import BlackBoxError
from oleander.black_box.asking import BlackBox, CountingBlackBox, SpentError

__all__ = ["BlackBox", "BlackBoxError", "CountingBlackBox", "SpentError"]
