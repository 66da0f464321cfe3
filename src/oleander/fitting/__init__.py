"""The two ways to explainers: learned by asking the black box about draws, or chosen from a pool by a program."""
