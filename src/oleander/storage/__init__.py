"""Files on the disk: written whole, read within bounds, and checkpoints."""
