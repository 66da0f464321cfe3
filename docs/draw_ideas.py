"""Draw docs/ideas.svg: the paper's two programs on one small instance, solved here (``make picture``)."""

from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from oleander.selection import SelectionProblem, SelectionResult

MAX_EXPLAINERS, MIN_FIDELITY = 2, 0.8
NAMES = "ABC"
CENTERS = np.array([[105.0, 170.0], [340.0, 175.0], [340.0, 175.0]])
RADII = np.array([82.0, 130.0, 66.0])
WIDTH, PANEL, TOP, HEIGHT = 1000, 500, 44, 585

# Colour-blind readers can distinguish blue and orange, and marks differ in shape too. There is a dark theme.
STYLE = """
svg { --ink: #1b1f24; --soft: #57606a; --paper: #ffffff; --right: #0072b2; --wrong: #c24e00; --line: #b6bec6; }
@media (prefers-color-scheme: dark) {
svg { --ink: #e6edf3; --soft: #9da7b1; --paper: #0f141a; --right: #56b4e9; --wrong: #ff9e4a; --line: #4a5560; }
}
.paper { fill: var(--paper); }
text { font: 17px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: var(--ink); }
.title { font-size: 22px; font-weight: 700; }
.soft { fill: var(--soft); }
.figure { font-size: 20px; font-weight: 700; }
.chosen { fill: var(--right); fill-opacity: .10; stroke: var(--right); stroke-width: 2.5; }
.out { fill: none; stroke: var(--line); stroke-width: 2; stroke-dasharray: 5 5; }
.name { font-weight: 700; }
.right { fill: var(--right); }
.wrong { stroke: var(--wrong); stroke-width: 3.5; fill: none; }
.ring { stroke: var(--wrong); stroke-width: 1.8; stroke-dasharray: 3 2.5; fill: none; }
.silent { fill: none; stroke: var(--soft); stroke-width: 1.6; }
.rule { stroke: var(--line); stroke-width: 1; }
"""


@dataclass(frozen=True, eq=False)
class Instance:
    """Rows in a plane, the rows that each candidate covers, and those on which it agrees with the model."""

    points: np.ndarray
    covers: np.ndarray
    agrees: np.ndarray

    def solve(self, formulation: str) -> SelectionResult:
        """Return the proven best choice of at most two."""
        problem = SelectionProblem(self.covers, self.agrees)
        return problem.solve(MAX_EXPLAINERS, MIN_FIDELITY, formulation=formulation)


def make_instance() -> Instance:
    """Return A, right nearly everywhere; B, wide and often wrong; C, the middle of B, always right."""
    in_a = CENTERS[0] + spread(10, 66)
    in_c = CENTERS[2] + spread(6, 44)
    turn = np.deg2rad([-68, -22, 22, 68, 110, 150, 205, 248])
    around = CENTERS[1] + 110 * np.c_[np.sin(turn), -np.cos(turn)]
    elsewhere = np.array([[26, 48], [196, 60], [205, 292], [40, 292], [478, 48], [474, 302]], dtype=float)
    points = np.concatenate([in_a, in_c, around, elsewhere])
    covers = np.linalg.norm(points[None] - CENTERS[:, None], axis=2) <= RADII[:, None]
    agrees = covers.copy()
    agrees[0, 7] = False
    agrees[1, [16, 17, 19, 20, 22, 23]] = False
    return Instance(points, covers, agrees)


def spread(n_points: int, radius: float) -> np.ndarray:
    """Return points spread evenly over a disc, as the seeds of a sunflower are."""
    number = np.arange(n_points)
    turn = number * np.pi * (3 - np.sqrt(5)) + 0.6
    return (radius * np.sqrt((number + 0.5) / n_points))[:, None] * np.c_[np.cos(turn), np.sin(turn)]


def write(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    """Return a line of text."""
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


def mark(x: float, y: float, kind: str) -> str:
    """Return the mark of a row: right, wrong, wrong and not counted, or not covered."""
    if kind == "right":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" class="right"/>'
    if kind == "silent":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" class="silent"/>'
    ring = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="12.5" class="ring"/>' if kind == "ignored" else ""
    return f'<path d="M{x - 6:.1f} {y - 6:.1f}l12 12m0 -12l-12 12" class="wrong"/>{ring}'


def draw_panel(instance: Instance, formulation: str, title: str, subtitle: str) -> list[str]:
    """Return one reading: the regions, every row as it is counted, and the result."""
    result = instance.solve(formulation)
    assert result.is_proven_optimal
    chosen = set(result.chosen.tolist())
    inside = instance.covers[result.chosen].any(axis=0)
    wrong = (instance.covers & ~instance.agrees)[result.chosen].any(axis=0)
    parts = [write(12, 24, title, "title"), write(12, 47, subtitle, "soft")]
    parts.append(f'<g transform="translate(0 {TOP})">')
    # The widest region first, so that the others are drawn over it.
    for i in np.argsort(-RADII):
        (x, y), radius = CENTERS[i], RADII[i]
        kind = "chosen" if i in chosen else "out"
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" class="{kind}"/>')
        n_right, n_rows = instance.agrees[i].sum(), instance.covers[i].sum()
        words = f"{NAMES[i]}: right on {n_right} of {n_rows}"
        parts.append(write(x, y - radius - 8, words, "name" if i in chosen else "soft", "middle"))
    for (x, y), is_inside, is_wrong, is_counted in zip(instance.points, inside, wrong, result.covered, strict=True):
        kind = "silent" if not is_inside else "right" if not is_wrong else "wrong" if is_counted else "ignored"
        parts.append(mark(x, y, kind))
    parts.append("</g>")
    n_inside, n_right = int(inside.sum()), int((inside & ~wrong).sum())
    n_left_out = int((inside & ~result.covered).sum())
    names = " and ".join(NAMES[i] for i in sorted(chosen))
    parts.append(write(12, 396, f"{names}: {result.objective:g} of {len(inside)} rows count", "figure"))
    parts.append(write(12, 421, f"They cover {n_inside} rows and are right on {n_right} ({n_right / n_inside:.0%})."))
    others = [i for i in range(len(NAMES)) if i not in chosen]
    if n_left_out:
        (kept,) = [row for i, row in zip(result.chosen, result.counted.toarray() > 0, strict=True) if NAMES[i] == "B"]
        n_kept, n_good = int(kept.sum()), int((kept & instance.agrees[1]).sum())
        last = f"{n_left_out} of B's wrong rows do not count: {n_good} of {n_kept}, it passes."
    else:
        low = [NAMES[i] for i in others if instance.agrees[i].sum() / instance.covers[i].sum() < MIN_FIDELITY]
        last = f"{' and '.join(low)} is not allowed: under the floor on its rows."
    parts.append(write(12, 444, last))
    return parts


def draw() -> str:
    """Return the picture."""
    instance = make_instance()
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="Two readings of one program on {len(instance.points)} rows">',
        f"<style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" class="paper"/>',
        write(
            12,
            24,
            f"{len(instance.points)} rows, three candidate explainers. Choose at most K = {MAX_EXPLAINERS}, "
            f"each faithful on at least φ = {MIN_FIDELITY:.0%} of its rows.",
            "soft",
        ),
    ]
    panels = {
        "strict": ("Strict: the paper's definition", "Every row in a chosen region counts."),
        "selective": ("Selective: the program to the letter", "The program may choose which rows count."),
    }
    for number, (formulation, words) in enumerate(panels.items()):
        parts.append(f'<g transform="translate({number * PANEL} 34)">')
        parts += draw_panel(instance, formulation, *words)
        parts.append("</g>")
    parts.append(f'<line x1="{PANEL - 6}" x2="{PANEL - 6}" y1="44" y2="{HEIGHT - 92}" class="rule"/>')
    parts.append(f'<line x1="12" x2="{WIDTH - 12}" y1="{HEIGHT - 82}" y2="{HEIGHT - 82}" class="rule"/>')
    legend = {
        "right": (28, 56, "the explainer agrees with the model"),
        "wrong": (28, 22, "the explainer disagrees with the model"),
        "silent": (528, 56, "silent: no explainer covers it"),
        "ignored": (528, 22, "the explainer disagrees, not counted"),
    }
    for kind, (x, up, words) in legend.items():
        parts += [mark(x, HEIGHT - up, kind), write(x + 22, HEIGHT - up + 6, words)]
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    Path(__file__).with_name("ideas.svg").write_text(draw(), encoding="utf-8")
