"""The field: the living rivals beside ours on the same rows, draws and judge."""

from benchmarks.subjects.field.subject import Field

__all__ = ["Field"]
