"""The names of the fuzzing targets, readable without importing the targets."""

TARGET_NAMES = (
    "table",
    "parquet",
    "schema",
    "saved-file",
    "saved-content",
    "page",
    "exports",
)
