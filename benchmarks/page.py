"""The page: every subject's tables and figure, on what it was measured and by which command."""

from collections.abc import Mapping
from pathlib import Path

from subjects.base import Journal, Size, Subject, make_table

HEAD = """# Benchmarks

Written by `make bench` (`benchmarks/run.py`); do not edit by hand. Oleander beside what a user would pick instead, on
one machine. Seconds of a shared machine say little; ratios within one run say more. Nothing here is a timed test. A
subject alone: `python benchmarks/run.py --subject growth`; the same in small: `make bench-tiny`.
"""
# Benchmarks with commands of their own, whose tables were printed by those.
ALSO = Path(__file__).with_name("also.md")


def write_page(out: Path, subjects: Mapping[str, Subject], paths: Mapping[str, Path], size: Size) -> None:
    """Write the page and its figures, which lie in a folder beside it."""
    parts = [HEAD if size == "full" else HEAD + "\n**This is the tiny size, which shows that it runs and no more.**\n"]
    machines = []
    for name, subject in subjects.items():
        parts += [f"## {subject.title}", "", subject.asks, ""]
        journal = Journal(paths[name])
        rows = journal.rows
        if not rows:
            parts.append("Not measured yet.\n")
            continue
        machines.append((subject.title, journal.machine | {"code": ", ".join(journal.sources)}))
        figure = draw_figure(subject, rows, out.parent / out.stem / f"{name}.png")
        parts += [f"`python benchmarks/run.py --subject {name} --size {size}`, begun {journal.machine['date']}", ""]
        parts += [f"![{subject.title}]({figure.relative_to(out.parent)})", "", subject.write(rows)]
    if machines:
        facts = list(machines[0][1])
        table = make_table(("", *(title for title, _ in machines)), _facts(facts, machines))
        parts += ["## Measured on", "", table]
    # Links of the hand-written part start from docs.
    parts.append(ALSO.read_text())
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(parts))


def draw_figure(subject: Subject, rows: list[dict[str, object]], path: Path) -> Path:
    """Draw a subject's figure into a file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 5), layout="constrained")
    subject.draw(rows, figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    return path


def _facts(facts: list[str], machines: list[tuple[str, dict[str, object]]]) -> list[tuple[object, ...]]:
    return [(fact, *(machine.get(fact, "") for _, machine in machines)) for fact in facts]
