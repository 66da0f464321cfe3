"""Small pieces of HTML for notebooks, in which all text is escaped and the notebook's colours are kept."""

import html
from collections.abc import Iterable, Sequence
from typing import Any

# Colours are inherited, so that a fragment is readable in light and in dark notebooks.
STYLE = "font-size:0.95em;line-height:1.45;max-width:72em"
CELL = "padding:0.15em 0.9em 0.15em 0;vertical-align:top;background:none;text-align:"
LINE = "border-bottom:1px solid rgba(128,128,128,0.4)"


class Fragment:
    """HTML that grows by escaped lines and by tables.

    Examples
    --------
    >>> Fragment().line("a < b").html
    '<div style="font-size:0.95em;line-height:1.45;max-width:72em"><div>a &lt; b</div></div>'
    """

    def __init__(self) -> None:
        self._parts: list[str] = []

    @property
    def html(self) -> str:
        """The whole fragment."""
        return f'<div style="{STYLE}">{"".join(self._parts)}</div>'

    def heading(self, text: str) -> "Fragment":
        """Add a line in bold."""
        return self.add(f"<div><strong>{escape(text)}</strong></div>")

    def line(self, text: str) -> "Fragment":
        """Add a line of text."""
        return self.add(f"<div>{escape(text)}</div>")

    def lines(self, texts: Iterable[str]) -> "Fragment":
        """Add lines of text; a line that starts with spaces is indented."""
        for text in texts:
            self.add(f'<div style="margin-left:{len(text) - len(text.lstrip())}em">{escape(text.strip())}</div>')
        return self

    def add(self, piece: str) -> "Fragment":
        """Add HTML that is escaped already."""
        self._parts.append(piece)
        return self


def table(names: Sequence[str], lines: Iterable[Sequence[Any]], caption: str = "") -> str:
    """Return a table; numbers stand to the right, and the first column is not broken into lines.

    Examples
    --------
    >>> "a&lt;b" in table(["name"], [["a<b"]])
    True
    """
    rows = [list(line) for line in lines]
    sides = ["right" if rows and all(_is_number(row[place]) for row in rows) else "left" for place in range(len(names))]
    head = "".join(_cell("th", name, side, LINE) for name, side in zip(names, sides, strict=True))
    body = "".join(
        "<tr>"
        + "".join(
            _cell("td", value, side, "" if place else "white-space:nowrap")
            for place, (value, side) in enumerate(zip(row, sides, strict=True))
        )
        + "</tr>"
        for row in rows
    )
    title = f'<caption style="text-align:left;caption-side:top">{escape(caption)}</caption>' if caption else ""
    return (
        f'<table style="border-collapse:collapse;margin:0.4em 0">{title}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def escape(value: Any) -> str:
    """Return any value as text that HTML shows as it is."""
    return html.escape(str(value))


def _is_number(value: Any) -> bool:
    text = str(value).strip().strip("<>≤≥%").replace(",", "")
    return text in ("", "–", "unknown") or text.replace(".", "", 1).isdigit()


def _cell(tag: str, value: Any, side: str, extra: str = "") -> str:
    return f'<{tag} style="{CELL}{side};{extra}">{escape(value)}</{tag}>'
