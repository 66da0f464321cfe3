"""Rivals from other packages: each learns in a process of its own, in an environment that only they share."""
