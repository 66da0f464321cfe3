"""Explainers written for other programs, and saved files."""
