"""The names of the doors, where they can be read without opening any."""

DOORS = ("table", "parquet", "schema", "saved-file", "saved-content", "page", "geriatric", "trial", "answer")
