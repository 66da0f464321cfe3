"""How work runs: in parallel, with progress bars, warnings and optional packages; and how messages are worded."""
