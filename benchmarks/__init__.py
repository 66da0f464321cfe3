"""Benchmarks: one system of subjects, run as ``python -m benchmarks.run``; not installed with the package."""
