"""The tables of a study in a page that is written by hand: a run puts its figures between the page's markers."""

import re
from pathlib import Path

from oleander.files.atomic import write_whole
from studies.claims import claims_markdown
from studies.claims.views import VIEWS
from studies.run import StudyResult, show_duration
from studies.settings import StudyName
from studies.step import Facts
from studies.steps.explained_rows import LEARNED


def fill_page(page: Path, study: StudyName, result: StudyResult) -> None:
    """Replace what is between ``<!-- NAME: STUDY -->`` and ``<!-- end -->``, for each table that the page has.

    The names are ``claims``, ``aggregation`` and ``times``.
    """
    text = page.read_text(encoding="utf-8")
    blocks = {
        "claims": claims_markdown(result.claims, "").split("\n", 2)[2],
        "aggregation": aggregation_table(result.facts["aggregation"]),
        "times": times(result.seconds),
    }
    n_filled = 0
    for name, content in blocks.items():
        marker = f"<!-- {name}: {study} -->"
        pattern = re.compile(re.escape(marker) + r".*?<!-- end -->", re.DOTALL)
        filled = f"{marker}\n{content.strip()}\n<!-- end -->"
        text, n = pattern.subn(lambda match, filled=filled: filled, text)  # type: ignore[misc]
        n_filled += n
    if not n_filled:
        raise ValueError(f"{page} has no marker such as <!-- claims: {study} -->, so no table can be written.")
    write_whole(page, text.encode())


def aggregation_table(facts: Facts) -> str:
    """Return coverage and fidelity of every method at the smallest and the largest budget, as a table in Markdown."""
    first, last = facts["budgets"][0], facts["budgets"][-1]
    lines = []
    for task, found in facts["tasks"].items():
        lines += [
            f"*{found['title']}*, r = {found['radius']:g}, {found['n_candidates']} balls:",
            "",
            f"| {task.replace('_', ' ')} | on D, K = {first} | on D, K = {last} | held out, K = {first} | held out, "
            f"K = {last} | leaves, weights or rules at {last} |",
            "|---|---|---|---|---|---|",
        ]
        for method, by_rows in found["methods"].items():
            cells = [
                _pair(
                    by_rows[view.rows]["coverage"][place], by_rows[view.rows][view.column(method, "agreement")][place]
                )
                for view in VIEWS
                for place in (0, -1)
            ]
            size = by_rows[LEARNED]["complexity"][-1]
            lines.append(f"| {method} | {' | '.join(cells)} | {'–' if size is None else f'{size:,.0f}'} |")
        lines.append("")
    return "\n".join(lines)


def times(seconds: dict[str, float]) -> str:
    """Return the time of a study and of each of its steps in words.

    >>> times({"black_boxes": 61.0, "aggregation": 4.0})
    'The run took 1 min 5 s: black boxes 1 min 1 s, aggregation 4 s.'
    """
    words = ", ".join(f"{name.replace('_', ' ')} {show_duration(each)}" for name, each in seconds.items())
    return f"The run took {show_duration(sum(seconds.values()))}: {words}."


def _pair(coverage: float | None, fidelity: float | None) -> str:
    return ", ".join("–" if value is None else f"{value:.1%}" for value in (coverage, fidelity))
