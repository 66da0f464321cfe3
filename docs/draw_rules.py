"""Draw docs/rules.svg: the rules of the quickstart, the rows where each holds, and the rest (``make picture``)."""

import contextlib
import io
import re
from html import escape
from pathlib import Path

from oleander import AggregateExplainer

QUICKSTART = Path(__file__).with_name("quickstart.md")
LEFT, BAR, LINE, TOP = 16, 640, 58, 104
# The width of a character in the widest of the usual fonts.
CHARACTER = 9.7

# Colour-blind readers can distinguish blue and orange, and each answer is written too. There is a dark theme.
STYLE = """
svg { --ink: #1b1f24; --soft: #57606a; --paper: #ffffff; --right: #0072b2; --wrong: #d55e00; --empty: #d8dee4; }
@media (prefers-color-scheme: dark) {
svg { --ink: #e6edf3; --soft: #9da7b1; --paper: #0f141a; --right: #56b4e9; --wrong: #ff9e4a; --empty: #3a444e; }
}
.paper { fill: var(--paper); }
text { font: 17px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: var(--ink); }
.title { font-size: 22px; font-weight: 700; }
.soft { fill: var(--soft); }
.answer { font-weight: 700; }
.right { fill: var(--right); }
.wrong { fill: var(--wrong); }
.empty { fill: var(--empty); }
"""


def fit_quickstart() -> AggregateExplainer:
    """Run the first block of the quickstart and return its explainer."""
    found = re.search(r"^```python\n(.*?)^```", QUICKSTART.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert found is not None
    names: dict[str, AggregateExplainer] = {"__name__": "quickstart"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(found[1], "<quickstart>", "exec"), names)
    return names["atlas"]


def write(x: float, y: float, text: str, kind: str = "") -> str:
    """Return a line of text."""
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(text)}</text>'


def write_rule(y: float, where: str, answer: str) -> str:
    """Return a line of text that ends with the answer in bold."""
    return f'<text x="{LEFT}" y="{y:g}">{escape(where)} → <tspan class="answer">{escape(answer)}</tspan></text>'


def draw_bar(y: float, widths: dict[str, float]) -> list[str]:
    """Return the parts of a bar beside each other."""
    parts, x = [], float(LEFT)
    for kind, width in widths.items():
        parts.append(f'<rect x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="14" class="{kind}"/>')
        x += width
    return parts


def draw(atlas: AggregateExplainer) -> str:
    """Return the picture of a fitted explainer."""
    rules, figures = atlas.rules_frame(), atlas.evaluation_
    # Rules overlap, so their rows do not add up to those that are answered.
    n_rows, n_answered, n_right = figures.n_rows, figures.n_answered, figures.n_right
    unit = BAR / max(int(rules["rows"].max()), n_rows - n_answered)
    longest = max(len(f"{rule.conditions} → {rule.answer}") for rule in rules.itertuples())
    width = max(1000, round(2 * LEFT + CHARACTER * longest))
    height = TOP + LINE * len(rules) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{len(rules)} rules answer {n_answered} of {n_rows} patients">',
        f"<style>{STYLE}</style>",
        f'<rect width="{width}" height="{height}" class="paper"/>',
        write(
            LEFT, 32, f"{len(rules)} rules answer for a boosting model on {n_answered} of {n_rows} patients", "title"
        ),
        write(
            LEFT,
            60,
            f"Each rule can be read alone. Together they match the model on {n_right / n_answered:.1%} of these, "
            f"certified to be at least {atlas.min_fidelity:.0%}.",
            "soft",
        ),
    ]
    for number, rule in enumerate(rules.itertuples()):
        y = TOP + LINE * number
        parts.append(write_rule(y, rule.conditions, rule.answer))
        parts += draw_bar(y + 9, {"right": rule.right * unit, "wrong": (rule.rows - rule.right) * unit})
        parts.append(
            write(LEFT + rule.rows * unit + 10, y + 22, f"matches the model on {rule.right} of {rule.rows}", "soft")
        )
    y, n_silent = TOP + LINE * len(rules), n_rows - n_answered
    parts.append(write_rule(y, "no rule holds", "silent"))
    parts += draw_bar(y + 9, {"empty": n_silent * unit})
    parts.append(write(LEFT + n_silent * unit + 10, y + 22, f"{n_silent} patients", "soft"))
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    Path(__file__).with_name("rules.svg").write_text(draw(fit_quickstart()), encoding="utf-8")
