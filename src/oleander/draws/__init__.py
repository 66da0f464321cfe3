"""Draws: synthetic rows that the black box labels."""
