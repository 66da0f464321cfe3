"""Generators of candidates: one file each, behind one protocol."""
