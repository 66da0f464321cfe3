"""The page of benchmarks: every subject's tables and figure, the machine and the command."""

from collections.abc import Mapping
from pathlib import Path

from benchmarks.journal import Journal, Row
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_table

HEAD = """# Benchmarks

Oleander compared with the alternatives, on one machine. Trust ratios within one run more than seconds, because the
machine was shared. `make bench` writes this page; do not edit it by hand. `make bench SUBJECT=growth` runs one subject,
and `make bench-tiny` a small version of all.
"""
TINY = "**This is the tiny size, which shows that it runs and no more.**\n"


def write_page(out: Path, subjects: Mapping[str, Subject], journals: Mapping[str, Journal], size: Size) -> list[str]:
    """Write the page if every subject on it has lines; return the names of those that have none.

    A page of a few subjects would wipe out the published figures of the others, whose journals are not kept with the
    project.
    """
    missing = [name for name in subjects if not journals[name].rows]
    if missing:
        return missing
    parts = [HEAD if size == "full" else f"{HEAD}\n{TINY}"]
    for name, subject in subjects.items():
        parts += [f"## {subject.title}", "", subject.asks, ""]
        parts += [f"`{command(name, size)}`, begun {journals[name].machine['date']}", ""]
        if subject.figure_size is not None:
            figure = draw_figure(subject, journals[name].rows, out.with_suffix(""))
            parts += [f"![{subject.title}]({figure.relative_to(out.parent)})", ""]
        parts.append(subject.write(journals[name].rows))
    parts += ["## Measured on", "", _machine_table(subjects, journals)]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(parts))
    return []


def write_part(page: Path, subject: Subject, rows: list[Row]) -> bool:
    """Write a subject's tables between its two marks on a page of other text; return whether the page has them."""
    first, last = f"<!-- {subject.name}: written by the benchmark -->", f"<!-- end of {subject.name} -->"
    text = page.read_text() if page.exists() else ""
    before, has_first, rest = text.partition(first)
    _, has_last, after = rest.partition(last)
    if not has_first or not has_last:
        return False
    page.write_text(f"{before}{first}\n{subject.write(rows).strip()}\n{last}{after}")
    return True


def command(name: str, size: Size) -> str:
    """Return the command that measures a subject."""
    return f"make bench SUBJECT={name}" if size == "full" else f"python -m benchmarks.run --subject {name} --size tiny"


def draw_figure(subject: Subject, rows: list[Row], folder: Path) -> Path:
    """Draw a subject's figure into a file of the folder and return its path."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=subject.figure_size, layout="constrained")
    subject.draw(rows, figure)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{subject.name}.png"
    figure.savefig(path, dpi=100)
    return path


def _machine_table(subjects: Mapping[str, Subject], journals: Mapping[str, Journal]) -> str:
    machines = [journals[name].machine | {"code": ", ".join(journals[name].sources)} for name in subjects]
    lines = [(fact, *(machine.get(fact, "") for machine in machines)) for fact in machines[0]]
    return make_table(("", *(subject.title for subject in subjects.values())), lines)
