"""Run docs/tutorial.ipynb and store its outputs (``make picture``)."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

TUTORIAL = Path(__file__).with_name("tutorial.ipynb")


def run_tutorial() -> nbformat.NotebookNode:
    """Return the notebook with fresh outputs, without times, versions and standard error."""
    notebook = nbformat.read(TUTORIAL, as_version=4)
    metadata = {cell.id: cell.metadata.copy() for cell in notebook.cells}
    kernel = notebook.metadata.copy()
    # A busy machine would cut what a cell prints into several outputs.
    NotebookClient(notebook, timeout=600, kernel_name="python3", coalesce_streams=True).execute()
    notebook.metadata = kernel
    for cell in notebook.cells:
        cell.metadata = metadata[cell.id]
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not is_passing(output)]
    return notebook


def is_passing(output: nbformat.NotebookNode) -> bool:
    """Return whether an output depends on the machine: warnings, and bars of progress, which slow work alone shows."""
    return output.get("name") == "stderr" or output.output_type == "display_data"


if __name__ == "__main__":
    nbformat.write(run_tutorial(), TUTORIAL)
