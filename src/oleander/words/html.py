"""Results as HTML for notebooks, in which all text is escaped and the notebook's colours are kept."""

import html
from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from oleander.judging.evidence import Watched
from oleander.messages import show_percent, show_share, visible
from oleander.results.evaluation import Evaluation
from oleander.results.explainer_set import ChosenExplainer, name_rule
from oleander.results.explanation import Explanation
from oleander.results.fit_record import FitRecord
from oleander.results.tradeoff import TradeOff
from oleander.words.claims import describe, describe_watched
from oleander.words.rules import (
    count_matches,
    describe_black_box,
    describe_evidence,
    describe_rest,
    describe_sureness,
)
from oleander.words.summary import (
    describe_evaluation,
    describe_facts,
    describe_fit,
    tabulate_classes,
)

# Colours are inherited, so that a fragment is readable in light and in dark notebooks.
STYLE = "font-size:0.95em;line-height:1.45;max-width:72em"
CELL = "padding:0.15em 0.9em 0.15em 0;vertical-align:top;background:none;text-align:"
LINE = "border-bottom:1px solid rgba(128,128,128,0.4)"
CARD = "border-left:3px solid rgba(128,128,128,0.4);padding:0.1em 0 0.1em 0.7em;margin:0.5em 0"
# The largest number of rules in a table.
MOST_DRAWN = 20


@singledispatch
def draw(result: Any) -> str:
    """Return a result as HTML: its lines, where it has no other form."""
    first, *others = describe(result).splitlines()
    return fragment(first, others)


def fragment(head: str, lines: Iterable[str], *pieces: str) -> str:
    """Return a line in bold, lines (indented where they start with spaces), and HTML that is escaped already."""
    parts = [f"<div><strong>{escape(head)}</strong></div>"]
    for text in lines:
        parts.append(f'<div style="margin-left:{len(text) - len(text.lstrip())}em">{escape(text.strip())}</div>')
    return f'<div style="{STYLE}">{"".join([*parts, *pieces])}</div>'


def table(names: Sequence[str], lines: Iterable[Sequence[Any]], caption: str = "") -> str:
    """Return a table; numbers stand to the right, and the first column is not broken into lines."""
    rows = [list(line) for line in lines]
    columns = [[row[place] for row in rows] for place in range(len(names))]
    sides = ["right" if column and all(map(_is_number, column)) else "left" for column in columns]
    head = "".join(_cell("th", name, side, LINE) for name, side in zip(names, sides, strict=True))
    # One line of a name is easier to find than two.
    looks = ["white-space:nowrap", *[""] * (len(names) - 1)]
    body = ""
    for row in rows:
        cells = (_cell("td", *parts) for parts in zip(row, sides, looks, strict=True))
        body += f"<tr>{''.join(cells)}</tr>"
    title = f'<caption style="text-align:left;caption-side:top">{escape(caption)}</caption>' if caption else ""
    return (
        f'<table style="border-collapse:collapse;margin:0.4em 0">{title}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def escape(value: Any) -> str:
    """Return any value as text of one line that HTML shows as it is."""
    return html.escape(visible(value))


def _is_number(value: Any) -> bool:
    text = str(value).strip().strip("<>≤≥%").replace(",", "")
    return text in ("", "–", "unknown") or text.replace(".", "", 1).isdigit()


def _cell(tag: str, value: Any, side: str, extra: str = "") -> str:
    return f'<{tag} style="{CELL}{side};{extra}">{escape(value)}</{tag}>'


def draw_watch(watched: Watched, title: str) -> str:
    """Return a page of a watch: what all batches say, the path of the evidence over time, and a table of batches."""
    sentences = describe_watched(watched).splitlines()
    names = [one.title for one in watched.evidence]
    heads = ["batch", "rows", "answered", "answers that match", *names]
    lines = []
    for batch, shares in zip(watched.batches, np.transpose([one.shares for one in watched.evidence]), strict=True):
        counts = batch.n_rows, batch.n_answered, batch.n_right
        lines.append([batch.name, *(f"{count:,}" for count in counts), *(f"{share:.2g}" for share in shares)])
    caption = "Evidence against each floor, as a share of what raises an alarm"
    body = fragment(sentences[0], sentences[1:], _draw_path(watched, names), table(heads, lines, caption))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head>'
        f'<body style="font-family:sans-serif;margin:2em"><h1>{escape(title)}</h1>{body}</body></html>\n'
    )


def _draw_path(watched: Watched, names: Sequence[str]) -> str:
    """Return the evidence over the batches as SVG, on a logarithmic scale from a thousandth of an alarm up."""
    width, height, left = 720, 240, 70
    powers = np.array([(one.path + np.log(one.level)) / np.log(10) for one in watched.evidence])
    top = max(1.0, float(np.ceil(powers.max(initial=0.0))))

    def y_of(power: float) -> str:
        return f"{10 + (height - 40) * (top - max(power, -3.0)) / (top + 3):.1f}"

    parts = []
    for power, words in ((0.0, "alarm"), (-1.0, "suspicion"), (-3.0, "0.1%")):
        ends = f'x1="{left}" x2="{width}" y1="{y_of(power)}" y2="{y_of(power)}"'
        parts.append(f'<line {ends} stroke="currentColor" stroke-dasharray="4 4" opacity="0.5"/>')
        parts.append(f'<text x="0" y="{y_of(power)}" dy="4" font-size="12" fill="currentColor">{words}</text>')
    step = (width - left - 10) / max(len(watched.batches), 1)
    for name, path in zip(names, powers, strict=True):
        points = " ".join(f"{left + step * (n + 0.5):.1f},{y_of(power)}" for n, power in enumerate(path.tolist()))
        colour, thick = {"agreement": ("#0072B2", 2.5), "coverage": ("#E69F00", 2.5)}.get(name, ("#888888", 1.2))
        look = f'fill="none" stroke="{colour}" stroke-width="{thick}"'
        parts.append(f'<polyline points="{points}" {look}><title>{escape(name)}</title></polyline>')
    legend = "batches in their order (blue: agreement; yellow: coverage; grey: each rule)"
    parts.append(f'<text x="{left}" y="{height - 6}" font-size="12" fill="currentColor">{legend}</text>')
    label = f"Evidence against the floors over {len(watched.batches)} batches"
    look = f'viewBox="0 0 {width} {height}" style="max-width:{width}px" role="img" aria-label="{label}"'
    return f"<svg {look}>{''.join(parts)}</svg>"


def draw_fit(record: FitRecord) -> str:
    """Return a fit as HTML for a notebook: what is answered, how sure that is, the rules and the classes."""
    first, *others = describe_fit(record)
    lines = [*others, *describe_facts(record)]
    rules = _draw_rules(record.explainers.members)
    return fragment(first, lines, rules, _draw_classes(record.widest_evaluation, record))


@draw.register
def draw_evaluation(evaluation: Evaluation) -> str:
    """Return the figures of explainers on some rows."""
    first, *others = describe_evaluation(evaluation)
    return fragment(first, others, _draw_classes(evaluation))


@draw.register
def draw_explanation(explanation: Explanation) -> str:
    """Return what is said of a row."""
    statements = explanation.statements
    lines = [(one.name, one.rule.premise or "always", one.rule.answer, describe_sureness(one)) for one in statements]
    # What is said of the row as a whole stands after the rules.
    rest = "".join(f"<div>{escape(text)}</div>" for text in describe_rest(explanation))
    rules = table(["", "conditions", "answer", "how sure"], lines) if lines else ""
    head = statements[0].rule.answer if statements else "Silent"
    return fragment(head, [describe_black_box(explanation)], rules, rest)


@draw.register
def draw_tradeoff(tradeoff: TradeOff) -> str:
    """Return the coverage of each cell."""
    wide = tradeoff.table.pivot(index="max_explainers", columns="min_fidelity", values="coverage")
    lines = [(number, *(show_share(share, 1) for share in row)) for number, *row in wide.itertuples(name=None)]
    heads = ["explainers, at most", *(f"floor {show_percent(floor)}" for floor in wide.columns)]
    return fragment("Share of rows covered, by number of explainers and floor", [], table(heads, lines))


def _draw_rules(members: Sequence[ChosenExplainer]) -> str:
    """Return a card for each of the widest rules: its sentence, a bar of the rows where it holds, how sure it is."""
    rules = [(number, *pair) for number, member in enumerate(members) for pair in enumerate(member.rules())]
    shown = rules if len(rules) <= MOST_DRAWN else sorted(rules, key=lambda one: -one[2].n_draws)[:MOST_DRAWN]
    counts = [count_matches(members[number], position) for number, position, _ in shown]
    widest = max([pair[1] for pair in counts if pair], default=1)
    drawn = ""
    for (number, position, rule), pair in zip(shown, counts, strict=True):
        title = f"{name_rule(members, number, position)}: {f'if {rule.premise}' if rule.premise else 'always'}"
        evidence = describe_evidence(members[number], position, rule)
        drawn += (
            f'<div style="{CARD}"><div>{escape(title)} → <strong>{escape(rule.answer)}</strong></div>'
            f'{draw_bar(pair, widest)}<div style="font-size:0.9em;opacity:0.8">{escape(evidence)}</div></div>'
        )
    n_more = len(rules) - len(shown)
    return drawn + f"<div>The widest rules; {n_more:,} narrower ones are in rules_frame().</div>" * (n_more > 0)


def draw_bar(counts: tuple[int, int] | None, widest: int) -> str:
    """Return a bar of the rows that match the model and those that do not; the widest rule has the full length."""
    if counts is None:
        return ""
    right, n_rows = counts
    shares = ((100 * right / widest, "#0072B2"), (100 * (n_rows - right) / widest, "#D55E00"))
    parts = [f'<div style="width:{share:.2f}%;background:{colour}"></div>' for share, colour in shares if share]
    return f'<div style="display:flex;height:0.5em;max-width:24em;margin:0.15em 0">{"".join(parts)}</div>'


def _draw_classes(evaluation: Evaluation, record: FitRecord | None = None) -> str:
    heads, *lines = tabulate_classes(evaluation, record)
    return table(heads, lines)
