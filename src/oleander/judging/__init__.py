"""Bounds, the floor, certificates, floors by subgroup, and evidence over batches."""
