"""How work runs: in parallel, with progress and optional dependencies; and how messages are worded."""
