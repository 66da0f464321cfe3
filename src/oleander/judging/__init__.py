"""Bounds, the floor, certificates, and the comparison with one tree."""

from oleander.judging.bounds import lower_bound
from oleander.judging.certificate import Certificate, Claim
from oleander.judging.floor import Floor

__all__ = ["Certificate", "Claim", "Floor", "lower_bound"]
