"""Files on disk: saved explainers, checkpoints, and files that are written whole or not at all."""
