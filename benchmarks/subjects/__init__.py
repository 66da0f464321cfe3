"""What is measured: one file or folder per subject. A process of its own imports only the subject that it measures."""
