"""Make pages of the site from notebooks and the outputs that are stored in them (a hook of mkdocs)."""

import json
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ENDING = ".ipynb"


class NotebookFile(File):
    """A notebook that is a page, not a file to download."""

    def is_documentation_page(self) -> bool:
        """Return True."""
        return True


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replace every notebook by a page."""
    for file in [file for file in files if file.src_uri.endswith(ENDING)]:
        files.remove(file)
        files.append(NotebookFile(file.src_uri, config.docs_dir, config.site_dir, config.use_directory_urls))
    return files


def on_page_read_source(page: Page, config: MkDocsConfig) -> str | None:
    """Return a notebook as Markdown."""
    if not page.file.src_uri.endswith(ENDING):
        return None
    return "\n\n".join(part for cell in json.loads(page.file.content_string)["cells"] for part in write_cell(cell))


def write_cell(cell: dict[str, Any]) -> list[str]:
    """Return the parts of a cell: its text, or its code and outputs."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    return [f"```python\n{source}\n```", *(write_output(output) for output in cell["outputs"])]


def write_output(output: dict[str, Any]) -> str:
    """Return an output as HTML if it has any, otherwise as text."""
    data = output.get("data", {"text/plain": output.get("text", [])})
    if "text/html" in data:
        # Python-Markdown ends a block of HTML at an empty line.
        lines = "".join(data["text/html"]).splitlines()
        return "\n".join(["<div>", *(line for line in lines if line.strip()), "</div>"])
    return "```text\n" + "".join(data["text/plain"]).rstrip() + "\n```"
