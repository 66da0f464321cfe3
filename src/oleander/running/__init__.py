"""How work runs: in parallel, and with progress bars."""
