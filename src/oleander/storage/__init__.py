"""Files on disk: checkpoints, zip archives, and files that appear whole or not at all."""
