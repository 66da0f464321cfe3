"""What is measured, one file per subject. The list is apart: a process of its own imports only what it needs."""
