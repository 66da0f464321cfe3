"""Rules written for other programs: SQL, Python, and a folder of evidence."""
