"""A study's page: figures and tables beside what the paper says, as one plain HTML file."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd

from studies.claims import JudgedClaim, Verdict, claims_table, count_verdicts
from studies.step import Exhibit, Facts, Step

MAX_ROWS = 40
# Of every study: the main result.
MAIN_STEP = "aggregation"
CLASSES = {
    Verdict.HOLDS: "holds",
    Verdict.FAILS: "fails",
    Verdict.SYNTHETIC: "open",
    Verdict.OPEN: "open",
    Verdict.NOT_MEASURED: "open",
    Verdict.SMALL: "open",
}
PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 3rem; border-bottom: 1px solid #ddd; }
img { max-width: 100%; height: auto; } figure { margin: 1.5rem 0; }
figcaption, .paper, .note { max-width: 50rem; }
.paper { color: #555; border-left: 3px solid #ccc; padding-left: .7rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .82rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem; border-bottom: 1px solid #e4e4e4; }
th { background: #f6f6f6; } .holds { background: #e3f4ea; } .fails { background: #fbe5e1; } .open { color: #666; }
details { margin: 1rem 0; } summary { cursor: pointer; color: #555; } .redraws { color: #555; font-weight: 600; }
.warn { background: #fff4d6; padding: .6rem 1rem; border-radius: .3rem; } nav a { margin-right: 1rem; }
</style>
</head>
<body>
<h1>$title</h1>
$notes
<nav>$contents</nav>
$sections
</body>
</html>
""")


def make_page(
    title: str,
    notes: Sequence[str],
    steps: Sequence[Step],
    facts: Mapping[str, Facts],
    judged: Sequence[JudgedClaim],
    out: Path,
    *,
    is_synthetic: bool,
) -> str:
    """Return the page of a study whose steps' files are in folders below ``out``.

    The main result comes first, then the claims, then the other steps; exhibits behind the main ones open on demand.
    """
    paragraphs = "".join(f'<p class="note">{escape(note)}</p>' for note in notes)
    if is_synthetic:
        paragraphs = (
            '<p class="warn">All results here come from a <b>synthetic cohort</b> drawn from the paper\'s printed '
            "figures. They show that the code runs; they say nothing about patients.</p>" + paragraphs
        )
    contents, sections = "", ""
    done = [step for step in steps if step.name in facts]
    for step in sorted(done, key=lambda step: step.name != MAIN_STEP):
        if step.name != MAIN_STEP and "#claims" not in contents:
            contents, sections = _add_claims(contents, sections, judged)
        contents += f'<a href="#{escape(step.name)}">{escape(step.title)}</a>'
        sections += f'<h2 id="{escape(step.name)}">{escape(step.title)}</h2>{_exhibits(step, facts[step.name], out)}'
    if "#claims" not in contents:
        contents, sections = _add_claims(contents, sections, judged)
    return PAGE.substitute(title=escape(title), notes=paragraphs, contents=contents, sections=sections)


def _add_claims(contents: str, sections: str, judged: Sequence[JudgedClaim]) -> tuple[str, str]:
    return contents + '<a href="#claims">Claims</a>', sections + _claims_section(judged)


def _exhibits(step: Step, facts: Facts, out: Path) -> str:
    """Return the exhibits of a step; those behind the others in one block that opens."""
    exhibits = step.exhibits(facts)
    shown = "".join(_exhibit(exhibit, step, out) for exhibit in exhibits if not exhibit.is_behind)
    behind = "".join(_exhibit(exhibit, step, out) for exhibit in exhibits if exhibit.is_behind)
    return shown + (f"<details><summary>More panels and tables</summary>{behind}</details>" if behind else "")


def table_html(table: pd.DataFrame, max_rows: int = MAX_ROWS, classes: Sequence[str] = ()) -> str:
    """Return a table as HTML, every cell escaped, cut to its first rows.

    >>> table_html(pd.DataFrame({"a<b": [0.123456, None]}))
    '<div class="wide"><table><tr><th>a&lt;b</th></tr><tr><td>0.1235</td></tr><tr><td></td></tr></table></div>'
    """
    head = "".join(f"<th>{escape(str(column))}</th>" for column in table.columns)
    body = ""
    for number, row in enumerate(table.head(max_rows).itertuples(index=False)):
        mark = f' class="{classes[number]}"' if classes else ""
        body += f"<tr{mark}>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row) + "</tr>"
    more = f"<p>{len(table) - max_rows:,} more rows in the file.</p>" if len(table) > max_rows else ""
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>{more}'


def _cell(value: Any) -> str:
    if pd.isna(value):
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _claims_section(judged: Sequence[JudgedClaim]) -> str:
    table = claims_table(judged).drop(columns=["claim"])
    classes = [CLASSES[item.verdict] for item in judged]
    body = table_html(table, len(table), classes)
    return f'<h2 id="claims">What the paper claims</h2><p>{escape(count_verdicts(judged))}</p>{body}'


def _exhibit(exhibit: Exhibit, step: Step, out: Path) -> str:
    redraws = f"Redraws the paper's {exhibit.redraws}." if exhibit.redraws else "Not in the paper."
    caption = (
        f'<figcaption><span class="redraws">{escape(redraws)}</span> {escape(exhibit.caption)}'
        f"{_link(exhibit, step, out)}</figcaption>"
    )
    paper = f'<p class="paper">Paper: {escape(exhibit.paper)}</p>' if exhibit.paper else ""
    if exhibit.kind == "figure":
        file = f"{step.name}/{exhibit.name}.png"
        shown = f'<img src="{escape(file)}" alt="{escape(exhibit.caption)}">' if (out / file).exists() else ""
    else:
        shown = table_html(pd.read_csv(out / step.name / f"{exhibit.name}.csv"))
    return f"<figure>{shown}{caption}{paper}</figure>"


def _link(exhibit: Exhibit, step: Step, out: Path) -> str:
    """Return a link to the table that has the exhibit's name, if there is one."""
    file = f"{step.name}/{exhibit.name}.csv"
    return f' <a href="{escape(file)}">data</a>' if (out / file).exists() else ""
