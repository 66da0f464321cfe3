"""How good answers are, how much of that is luck, and what may be claimed of them."""

from oleander.judging.bounds import lower_bound
from oleander.judging.certificate import Certificate, Claim
from oleander.judging.floor import Floor

__all__ = ["Certificate", "Claim", "Floor", "lower_bound"]
