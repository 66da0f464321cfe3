"""The reproducibility report: pages in Markdown and figures, made from the files of finished runs and nothing else.

The main page and the page of variants are written by hand around markers; what is between ``<!-- NAME -->`` and
``<!-- end -->`` is replaced. The page of each study is written whole.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log
from pathlib import Path
from typing import Any

import pandas as pd

from oleander.files.saved import write_whole
from studies.claims import JudgedClaim, Verdict, claims_markdown, judge_claims
from studies.claims.paper import CLAIMS
from studies.claims.views import HIGH_FLOOR, STRICT, TREES, share
from studies.drawing import Pen, to_png
from studies.run import STUDIES, show_duration
from studies.settings import PAPERS_DRAWS, StudyName
from studies.step import Facts
from studies.steps.baseline_table import LEVEL
from studies.steps.explained_rows import HELD_OUT, LEARNED
from studies.steps.oleander_defaults import OWN, PAPER, TREE
from studies.store import Store
from studies.tasks import task_words

NAMES: dict[StudyName, str] = {
    "geriatric": "geriatric activities",
    "clinical": "heart disease and dermatology",
    "ppmi": "PPMI-like cohort",
}
TITLES: dict[StudyName, str] = {
    "geriatric": "The geriatric study",
    "clinical": "The paper's protocol on other patients",
    "ppmi": "The PPMI study",
}
# The figures of the pages: study, step, and figure of the step.
FIGURES: tuple[tuple[StudyName, str, str], ...] = (
    ("ppmi", "aggregation", "binary_main"),
    ("ppmi", "aggregation", "five_classes_main"),
    ("clinical", "aggregation", "heart_disease_forest_main"),
    ("clinical", "aggregation", "heart_disease_random_forest_main"),
    ("clinical", "aggregation", "dermatology_forest_main"),
    ("geriatric", "aggregation", "by_trial_main"),
    ("geriatric", "aggregation", "by_row_main"),
    ("ppmi", "oleander_defaults", "defaults"),
    ("clinical", "oleander_defaults", "defaults"),
    ("geriatric", "oleander_defaults", "defaults"),
    ("ppmi", "filter_in_program", "binary_both"),
    ("ppmi", "filter_in_program", "five_classes_both"),
    ("ppmi", "trajectories", "mean_trajectories"),
    ("ppmi", "trajectories", "projections"),
    ("ppmi", "trajectories", "elbow"),
    ("ppmi", "black_boxes", "five_classes_confusion"),
    ("ppmi", "black_boxes", "five_classes_roc"),
    ("ppmi", "local_explainers", "leaves_by_data_fidelity"),
    ("ppmi", "smallest_sets", "sets"),
    ("geriatric", "floors_by_radius", "by_trial_floors"),
    ("ppmi", "variants", "kinds"),
    ("clinical", "variants", "kinds"),
    ("geriatric", "variants", "kinds"),
)
MAX_BYTES = 100_000
SHORT = {Verdict.HOLDS: "**holds**", Verdict.FAILS: "**does not**", Verdict.OPEN: "open", Verdict.SYNTHETIC: "open"}
MAX_FIGURE = 110


@dataclass(frozen=True)
class Finished:
    """A finished run of a study: its folder, the facts of its steps, its claims and the durations of its steps."""

    study: StudyName
    folder: Path
    facts: Mapping[str, Facts]
    claims: Sequence[JudgedClaim]
    # In seconds.
    durations: Mapping[str, float]

    @classmethod
    def read(cls, study: StudyName, folder: Path) -> "Finished":
        """Read a run from its files; raise ``ValueError`` where a step is missing."""
        stores = {step.name: Store.kept(folder / step.name) for step in STUDIES[study]}
        missing = [name for name, store in stores.items() if not store.is_done]
        if missing:
            raise ValueError(f"{folder} lacks the step {missing[0]}: run python -m studies {study} --out {folder}.")
        facts = {name: store.facts for name, store in stores.items()}
        run = facts.get("trajectories", {})
        claims = judge_claims(study, facts, is_synthetic=bool(run.get("is_synthetic", study == "ppmi")))
        return cls(study, folder, facts, claims, {name: store.seconds for name, store in stores.items()})

    @property
    def is_synthetic(self) -> bool:
        """Whether the people are synthetic."""
        return any(item.verdict is Verdict.SYNTHETIC for item in self.claims)


def write_report(runs: Mapping[StudyName, Finished], page: Path) -> None:
    """Write the main page, the page of each study, the page of variants, and the figures.

    Parameters
    ----------
    runs : mapping of study to Finished
        All three studies.
    page : Path
        The main page; the others and the figures are in the folder beside it that has its name without the ending.
    """
    folder = page.with_suffix("")
    folder.mkdir(exist_ok=True)
    draw_figures(runs, folder)
    blocks = {
        "verdicts": verdict_table(runs),
        "counts": count_line(runs),
        "defaults": defaults_table(runs),
        "table 1": markdown_table(
            pd.read_csv(runs["ppmi"].folder / "baseline_table" / "baseline_shown.csv", dtype=str)
        ),
        "times": "\n".join(f"- {NAMES[study]}: {times(run.durations)}" for study, run in runs.items()),
        "at largest": largest_table(runs),
        "sets": sets_line(runs),
        "judging": judging_line(runs),
        "summary": summary(runs),
    }
    fill(page, blocks)
    fill(folder / "variants.md", {f"variants: {study}": variants_table(run) for study, run in runs.items()})
    for study, run in runs.items():
        write_whole(folder / f"{study}.md", study_page(run).encode())


def fill(page: Path, blocks: Mapping[str, str]) -> None:
    """Replace what is between ``<!-- NAME -->`` and ``<!-- end -->``; a block without a marker is an error."""
    text = page.read_text(encoding="utf-8")
    for name, content in blocks.items():
        marker = f"<!-- {name} -->"
        pattern = re.compile(re.escape(marker) + r".*?<!-- end -->", re.DOTALL)
        filled = f"{marker}\n{content.strip()}\n<!-- end -->"
        text, n_filled = pattern.subn(lambda match, filled=filled: filled, text)  # type: ignore[misc]
        if not n_filled:
            raise ValueError(f"{page} has no marker {marker}, so its content cannot be written.")
    write_whole(page, text.encode())


def draw_figures(runs: Mapping[StudyName, Finished], folder: Path) -> None:
    """Draw the figures of the pages from the tables of the runs; raise where one is too large."""
    for study, step_name, name in FIGURES:
        run = runs[study]
        step = next(step for step in STUDIES[study] if step.name == step_name)
        figure = step.draw(Store.kept(run.folder / step_name), Pen(run.is_synthetic))[name]
        content = to_png(figure)
        if len(content) > MAX_BYTES:
            content = to_png(figure, dpi=80)
        if len(content) > MAX_BYTES:
            raise ValueError(f"the figure {name} of {study} has {len(content):,} bytes, over {MAX_BYTES:,}.")
        write_whole(folder / f"{study}-{step_name}-{name}.png".replace("_", "-"), content)


def verdict_table(runs: Mapping[StudyName, Finished]) -> str:
    """Return one line per claim: the verdict on every study, a figure, and where the details are."""
    judged = {study: {item.claim.name: item for item in run.claims} for study, run in runs.items()}
    studies = " | ".join(NAMES[study] for study in runs)
    lines = [f"| the paper says | {studies} | our figure, first data with a verdict | details |"]
    lines.append("|---" * (len(runs) + 3) + "|")
    for claim in CLAIMS:
        found = {study: items[claim.name] for study, items in judged.items() if claim.name in items}
        if not found:
            continue
        cells = [_verdict_cell(found.get(study)) for study in runs]
        study, item = next(iter(found.items()))
        where = f"[{study}](studies/{study}.md#{_anchor(claim.name)})"
        why_open = f" ({_cell(item.why)})" if item.why and item.verdict is Verdict.OPEN else ""
        lines.append(f"| {_cell(claim.says)} | {' | '.join(cells)} | {first_words(item.ours)}{why_open} | {where} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Return text in which a bar does not end the cell of a table."""
    return text.replace("|", "\\|")


def _verdict_cell(item: JudgedClaim | None) -> str:
    if item is None:
        return "–"
    short = SHORT.get(item.verdict, str(item.verdict))
    return f"{short} ({item.on_synthetic})" if item.on_synthetic else short


def first_words(ours: str) -> str:
    """Return the first clause of our figures, short enough for a cell.

    >>> first_words("ahead in 3 of 4 comparisons; more follows. And more")
    'ahead in 3 of 4 comparisons'
    """
    words = re.split(r"; |\. ", ours, maxsplit=1)[0].rstrip(".")
    return _cell(words if len(words) <= MAX_FIGURE else words[: words.rfind(" ", 0, MAX_FIGURE)] + " …")


def _anchor(name: str) -> str:
    """Return the anchor of a heading as mkdocs makes it.

    >>> _anchor("filter at r = 7 and 11")
    'filter-at-r-7-and-11'
    """
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", name.lower())).strip("-")


def count_line(runs: Mapping[StudyName, Finished]) -> str:
    """Return the number of claims that hold, do not, and stay open, study by study."""
    words = []
    for study, run in runs.items():
        counts = {word: sum(item.verdict is v for item in run.claims) for v, word in _COUNTED.items()}
        shown = ", ".join(f"{n} {word}" for word, n in counts.items() if n)
        words.append(f"{NAMES[study]}: {shown}")
    return f"Of {len(CLAIMS)} claims: {'; '.join(words)}."


_COUNTED = {
    Verdict.HOLDS: "hold",
    Verdict.FAILS: "do not",
    Verdict.OPEN: "cannot be decided",
    Verdict.SYNTHETIC: "cannot be decided on synthetic people",
}


def summary(runs: Mapping[StudyName, Finished]) -> str:
    """Return what is reproduced and what is not, in one paragraph with the run's own figures."""
    found = {task: about for run in runs.values() for task, about in run.facts["aggregation"]["tasks"].items()}

    def at(task: str, method: str = f"{STRICT} 0.9") -> str:
        by_rows = found[task]["methods"][method]
        on_data, new = by_rows[LEARNED], by_rows[HELD_OUT]
        answered = f"{share(new['coverage'][-1])} of new rows at {share(new['agreement'][-1])}"
        return f"{share(on_data['coverage'][-1])} of D, {answered if new['coverage'][-1] else 'no new row'}"

    trees = [
        about["methods"][tree][HELD_OUT]["agreement"][-1]
        for about in found.values()
        if about["n_classes"] > 2
        for tree in TREES
    ]
    proofs = [
        solve for run in runs.values() for solves in run.facts["aggregation"]["proofs"].values() for solve in solves
    ]
    n_proven = sum(solve["status"] in ("optimal", "infeasible") for solve in proofs)
    return (
        "We repeated the two studies of *Optimal Local Explainer Aggregation for Interpretable Prediction* (Li, "
        "Cummings and Mintz, AAAI 2022) by its letter, and its protocol on patients with heart and skin diseases. PPMI "
        "may not be shared: a synthetic cohort stands in for it and decides nothing about patients. **Reproduced:** "
        f"the program is solved to proven optimality ({n_proven} of {len(proofs)} solves). **In part:** more "
        f"explainers cover more ({_where(runs, 'more explainers cover more')}); φ = 0.9 covers at least 40% of new "
        f"rows at a fidelity of 90% ({_where(runs, 'at 40 to 50% coverage')}). On the PPMI-like cohort it covers the "
        f"paper's 40 to 50% ({at('five_classes')}). Dermatology ({at('dermatology_forest')}) and geriatric activities "
        f"({at('by_trial')}) are easier. On heart disease hardly any ball reaches φ = 0.9 around 50 bagged whole "
        f"trees, which repeat the noise of their labels ({at('heart_disease_forest')}); more do around a smoother "
        f"random forest ({at('heart_disease_random_forest')}). **Not reproduced:** trees that answer every row match "
        f"the black box on {share(min(trees))} to {share(max(trees))} of new rows (the paper: 70%), and on most data "
        "they are as faithful as the program or more, so that it is not on the Pareto frontier there; the filter keeps "
        "far more than five features; at moderate radii it does not make trees smaller (judged on geriatric activities "
        "alone, where it keeps nearly all features); the printed program does not bind fidelity."
    )


def _where(runs: Mapping[StudyName, Finished], name: str) -> str:
    """Return on which data a claim holds, does not, and stays open, in words; synthetic people decide nothing."""
    words = {Verdict.HOLDS: "holds on", Verdict.FAILS: "does not hold on", Verdict.OPEN: "open on"}
    data: dict[Verdict, list[str]] = {verdict: [] for verdict in words}
    for study, run in runs.items():
        for item in run.claims:
            if item.claim.name == name and item.verdict in data:
                data[item.verdict].append(NAMES[study])
    return "; ".join(f"{words[verdict]} {' and '.join(names)}" for verdict, names in data.items() if names)


def largest_table(runs: Mapping[StudyName, Finished]) -> str:
    """Return coverage and fidelity of every program, floor and rival, at the smallest and largest budget."""
    lines = [
        "| task | method | on D, K = 5 | on D, K = 50 | held out, K = 5 | held out, K = 50 |",
        "|---|---|---|---|---|---|",
    ]
    for run in runs.values():
        for task, found in run.facts["aggregation"]["tasks"].items():
            for method, by_rows in found["methods"].items():
                lowest = "fidelity" if method.split()[0] in (*_LOWEST,) else "agreement"
                pairs = [
                    (LEARNED, lowest, 0),
                    (LEARNED, lowest, -1),
                    (HELD_OUT, "agreement", 0),
                    (HELD_OUT, "agreement", -1),
                ]
                cells = [
                    f"{share(by_rows[rows]['coverage'][place])} at {share(by_rows[rows][measure][place])}"
                    for rows, measure, place in pairs
                ]
                lines.append(f"| {task_words(task)} | {method.replace('selective', 'printed')} | {' | '.join(cells)} |")
    return "\n".join(lines)


_LOWEST = ("strict", "selective", "submodular", "anchors")


def defaults_table(runs: Mapping[StudyName, Finished]) -> str:
    """Return what the default answers on every task beside the paper's program and one tree, on held-out rows."""
    lines = [
        "| task | φ | Oleander, K = 10 | rules | certified | the paper's program, K = 10 | K = 50 | abstaining tree |"
    ]
    lines.append("|---" * 8 + "|")
    for run in runs.values():
        facts = run.facts["oleander_defaults"]
        for task, found in facts["tasks"].items():
            for floor in facts["floors"]:
                own = _line(found, OWN, floor, facts["budget"])
                papers = [_line(found, PAPER, floor, budget) for budget in (facts["budget"], 50)]
                tree = _line(found, TREE, floor, None)
                bound = own.get("certified")
                cells = [_pair(own), f"{own['n_explainers']:.0f}", "–" if bound is None else f"{bound:.2f}"]
                cells += [_pair(line) for line in (*papers, tree)]
                lines.append(f"| {task_words(task)} | {floor:g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def judging_line(runs: Mapping[StudyName, Finished]) -> str:
    """Return how many rows or trials judge the default on every task, and the highest floor that they can show."""
    words = []
    for run in runs.values():
        for task, found in run.facts["oleander_defaults"]["tasks"].items():
            if "random" not in task:
                shown = f"{found['n_judging']} {found['unit']}s, at most {found['most_shown']:.3f}"
                words.append(f"{task_words(task)} {shown}")
    n_needed = ceil(log(LEVEL) / log(HIGH_FLOOR))
    return f"What can be shown: {'; '.join(words)}. A floor of {HIGH_FLOOR} needs {n_needed} rows or trials."


def _line(found: Facts, method: str, floor: float, budget: int | None) -> Facts:
    lines = [line for line in found["lines"] if line["method"] == method and line["floor"] == floor]
    chosen: Facts = next((line for line in lines if budget is None or line["budget"] == budget), {})
    return chosen


def _pair(line: Facts) -> str:
    if not line or not line["coverage"]:
        return "silent" if line else "–"
    return f"{share(line['coverage'])} at {share(line['agreement'])}"


def variants_table(run: Finished) -> str:
    """Return coverage and fidelity of every filter and kind of draws, at both budgets."""
    lines = [
        "| task | filter | draws | K | of D, lowest fidelity | held out, fidelity | leaves |",
        "|---|---|---|---|---|---|---|",
    ]
    for task, found in run.facts["variants"]["tasks"].items():
        for line in found["lines"]:
            figures = {name: None if pd.isna(value) else value for name, value in line.items()}
            leaves = "–" if figures["leaves"] is None else f"{figures['leaves']:,.0f}"
            lines.append(
                f"| {task_words(task)} | {line['filter']} | {line['draws']} | {line['budget']} | "
                f"{share(figures['coverage_on_data'])} at {share(figures['lowest_fidelity'])} | "
                f"{share(figures['coverage'])} at {share(figures['agreement'])} | {leaves} |"
            )
    return "\n".join(lines)


def sets_line(runs: Mapping[StudyName, Finished]) -> str:
    """Return a table of how near FFFS comes to the smallest sufficient set, study by study."""
    lines = [
        "| data | share of the information | by brute force | by FFFS | equally small | at most |",
        "|---" * 6 + "|",
    ]
    for study, run in runs.items():
        for share_kept, found in run.facts["smallest_sets"]["shares"].items():
            lines.append(
                f"| {NAMES[study]} | {float(share_kept):.0%} | {found['smallest']:.1f} features | "
                f"{found['fffs']:.1f} | around {found['equal']:.0%} of the rows | {found['most_more']} more |"
            )
    return "\n".join(lines)


def study_page(run: Finished) -> str:
    """Return the page of one study: sizes, its claims with all figures, and its times."""
    found = run.facts["aggregation"]["tasks"]
    sizes = [
        f"- {item['title']}: {item['n_learned']:,} rows of D, {item['n_held_out']:,} held out, {item['n_candidates']} "
        f"balls of radius {item['radius']:g} with {PAPERS_DRAWS:,} draws each."
        for item in found.values()
    ]
    synthetic = ""
    if run.is_synthetic:
        could_fail = [item.claim.name for item in run.claims if not item.claim.is_built_in]
        synthetic = (
            "The people are synthetic, so no claim about patients can be decided; behind each verdict stands what it "
            f"would be if they were real. Claims that *could* fail on this cohort: {'; '.join(could_fail)}. All others "
            "are built into it.\n\n"
        )
    head = (
        f"{synthetic}Written by `make paper` from the files of its run. [The report](../studies.md) has the summary, "
        f"[how claims are judged](method.md) the rules.\n\n" + "\n".join(sizes) + f"\n\n{times(run.durations)}\n"
    )
    text = claims_markdown(run.claims, TITLES[run.study])
    title, rest = text.split("\n", 1)
    return f"{title}\n\n{head}{rest}"


def markdown_table(table: pd.DataFrame) -> str:
    """Return a table in Markdown; empty cells stay empty.

    >>> print(markdown_table(pd.DataFrame({"a": ["1", None]})))
    | a |
    |---|
    | 1 |
    |  |
    """
    lines = [f"| {' | '.join(map(str, table.columns))} |", "|---" * table.shape[1] + "|"]
    for row in table.itertuples(index=False):
        lines.append(f"| {' | '.join('' if pd.isna(value) else str(value) for value in row)} |")
    return "\n".join(lines)


def times(durations: Mapping[str, float]) -> str:
    """Return the time of a study and of each of its steps in words.

    >>> times({"black_boxes": 61.0, "aggregation": 4.0})
    'The run took 1 min 5 s: black boxes 1 min 1 s, aggregation 4 s.'
    """
    words = ", ".join(f"{name.replace('_', ' ')} {show_duration(seconds)}" for name, seconds in durations.items())
    return f"The run took {show_duration(sum(durations.values()))}: {words}."


def read_runs(folder: Path) -> dict[StudyName, Any]:
    """Read the finished runs below a folder, in the order of the report."""
    return {study: Finished.read(study, folder / study) for study in NAMES}
