"""The comment above a field of a record is its description on the page of the API."""

import ast
from typing import Any

import griffe


class FieldComments(griffe.Extension):
    """Give each field without a docstring the lines of comment above it."""

    def on_attribute_instance(self, *, node: ast.AST | griffe.ObjectNode, attr: griffe.Attribute, **_: Any) -> None:
        """Read the comment of one field."""
        if attr.docstring is not None or attr.lineno is None or attr.parent is None or not attr.parent.is_class:
            return
        lines, first = attr.lines_collection[attr.filepath], attr.lineno - 1
        start = first
        while start and lines[start - 1].lstrip().startswith("#"):
            start -= 1
        if start < first:
            text = " ".join(line.strip().removeprefix("#").strip() for line in lines[start:first])
            attr.docstring = griffe.Docstring(text, lineno=start + 1, parent=attr)
