"""Draw the thumbnails of docs/gallery: the rules of each example and the rows where each holds (``make picture``)."""

import contextlib
import io
import re
import sys
from html import escape
from pathlib import Path
from typing import Any

from oleander import AggregateExplainer

FOLDER = Path(__file__).with_name("gallery")
EXAMPLES = sorted(page for page in FOLDER.glob("*.md") if page.name != "index.md")
BLOCK = re.compile(r"^```python\n(.*?)^```\n\nIt prints:\n\n```text\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
WIDTH, HEIGHT, LEFT, TOP, LINE = 400, 250, 16, 30, 42
# The number of rules that fit, and of characters in a line.
N_RULES, N_CHARACTERS = 4, 52

# The colours of rules.svg, with its dark theme.
STYLE = """
svg { --ink: #1b1f24; --soft: #57606a; --paper: #ffffff; --right: #0072b2; --wrong: #d55e00; --empty: #d8dee4; }
@media (prefers-color-scheme: dark) {
svg { --ink: #e6edf3; --soft: #9da7b1; --paper: #0f141a; --right: #56b4e9; --wrong: #ff9e4a; --empty: #3a444e; }
}
.paper { fill: var(--paper); }
text { font: 13.5px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: var(--ink); }
.soft { fill: var(--soft); }
.right { fill: var(--right); }
.wrong { fill: var(--wrong); }
.empty { fill: var(--empty); }
"""


def run(page: Path) -> tuple[str, str, dict[str, Any]]:
    """Run the example of a page; return what it prints, what the page shows, and its names."""
    found = BLOCK.search(page.read_text(encoding="utf-8"))
    assert found is not None, f"{page.name} has no example with what it prints"
    names: dict[str, Any] = {"__name__": "gallery"}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(found[1], page.name, "exec"), names)
    return out.getvalue(), found[2], names


def draw(atlas: AggregateExplainer) -> str:
    """Return the thumbnail of a fitted explainer: its widest rules, and the silent rows."""
    rules, figures = atlas.rules_frame(), atlas.evaluation_
    shown = rules.sort_values("rows", ascending=False, kind="stable")[:N_RULES]
    n_silent = figures.n_rows - figures.n_answered
    unit = (WIDTH - 2 * LEFT) / max(int(shown["rows"].max()), n_silent)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{figures.n_answered:,} of {figures.n_rows:,} rows are answered">',
        f"<style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" class="paper"/>',
    ]
    for number, rule in enumerate(shown.itertuples()):
        y = TOP + LINE * number
        where = rule.where if rule.conditions in ("", "always") else rule.conditions
        parts.append(f'<text x="{LEFT}" y="{y}">{escape(shorten(f"{where} → {rule.answer}"))}</text>')
        parts += draw_bar(y + 7, {"right": rule.right * unit, "wrong": (rule.rows - rule.right) * unit})
    y = TOP + LINE * N_RULES
    rest = f"and {len(rules) - len(shown)} more; " if len(rules) > len(shown) else ""
    parts.append(f'<text x="{LEFT}" y="{y}" class="soft">{rest}{n_silent:,} silent rows</text>')
    parts += draw_bar(y + 7, {"empty": n_silent * unit})
    return "\n".join([*parts, "</svg>", ""])


def draw_bar(y: float, widths: dict[str, float]) -> list[str]:
    """Return the parts of a bar beside each other."""
    parts, x = [], float(LEFT)
    for kind, width in widths.items():
        parts.append(f'<rect x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="12" class="{kind}"/>')
        x += width
    return parts


def shorten(text: str) -> str:
    """Return the text, without its middle where it is too long for a line."""
    if len(text) <= N_CHARACTERS:
        return text
    conditions, _, answer = text.rpartition(" → ")
    room = N_CHARACTERS - len(answer) - 5
    return f"{conditions[:room].rsplit(' ', 1)[0]} … → {answer}" if room > 12 else f"{text[: N_CHARACTERS - 1]}…"


def main() -> None:
    """Draw all thumbnails."""
    # The example of a service imports its client from examples/.
    sys.path.insert(0, str(FOLDER.parents[1]))
    for page in EXAMPLES:
        page.with_suffix(".svg").write_text(draw(run(page)[2]["atlas"]), encoding="utf-8")


if __name__ == "__main__":
    main()
