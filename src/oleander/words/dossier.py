"""The readable part of a dossier, under plain headings or in the order of Annex IV of the EU AI Act."""

from typing import Any, Literal

from oleander.messages import show_percent
from oleander.results.fit_record import FitRecord
from oleander.words.card import (
    describe_use,
    escape,
    list_figures,
    list_limits,
    list_rules_of,
    tabulate_classes,
    tabulate_columns,
)
from oleander.words.claims import how_many

Headings = Literal["plain", "annex-iv"]
PROVIDER = ["", "*To be written by the provider: nothing in a set of rules says it.*"]
# The parts under each heading, in order.
PLAIN = {
    "Intended use": ("use",),
    "Data": ("data", "columns"),
    "Rules": ("rules",),
    "Performance": ("performance", "classes"),
    "Limits": ("limits",),
    "Oversight": ("oversight", "monitoring"),
    "Change log": ("changes",),
    "How to check this folder": ("check",),
}
ANNEX_IV = {
    "1. General description of the AI system": ("use",),
    "2. Elements of the AI system and process for its development": ("data", "columns", "rules"),
    "3. Monitoring, functioning and control of the AI system": ("performance", "classes", "oversight", "limits"),
    "4. Appropriateness of the performance metrics": ("metrics",),
    "5. Risk management system": ("provider",),
    "6. Relevant changes made through the lifecycle": ("changes",),
    "7. Harmonised standards applied": ("provider",),
    "8. EU declaration of conformity": ("provider",),
    "9. Evaluation of the performance in the post-market phase": ("monitoring", "provider"),
    "How to check this folder": ("check",),
}


def write_dossier(
    record: FitRecord, facts: dict[str, Any], *, title: str, intended_use: str, headings: Headings
) -> str:
    """Return the README of a dossier in Markdown."""
    parts = {
        "use": [*describe_use(record), "", escape(intended_use) if intended_use else PROVIDER[1]],
        "data": _describe_data(record, facts),
        "columns": ["", *tabulate_columns(record)],
        "rules": list_rules_of(record),
        "performance": list_figures(record),
        "classes": ["", *tabulate_classes(record)],
        "metrics": [
            "The figures say how well the rules stand for the model: how many rows they answer, and on how many "
            "of them they say what it says. How often the model is correct is another question.",
            *PROVIDER,
        ],
        "limits": ["", *list_limits(record)],
        "oversight": [
            "",
            "Where no rule holds, no answer is given, and a person should decide. Rules that people wrote or forced in "
            "are marked.",
        ],
        "monitoring": [
            "`oleander watch` looks at new rows as often as wanted: while the floor holds, the probability that it "
            "ever raises an alarm is at most 5%."
        ],
        "changes": [f"- {escape(edit.words)}" for edit in record.edits] or ["No rule was changed after the fit."],
        "check": _describe_check(facts),
        "provider": PROVIDER,
    }
    sections = [f"# {escape(title)}"]
    for heading, names in (ANNEX_IV if headings == "annex-iv" else PLAIN).items():
        sections.append("\n".join([f"## {heading}", "", *(line for name in names for line in parts[name])]))
    return "\n\n".join(sections) + "\n"


def _describe_data(record: FitRecord, facts: dict[str, Any]) -> list[str]:
    figures = facts["figures"]
    lines = [
        f"- {how_many(record.evaluation.n_rows)} judged the rules. No row is in this folder unless `rows.csv` is.",
        f"- Rows sent to the model: {record.n_queries:,}.",
    ]
    if record.by_folds:
        lines.append("- The rules were learned around the same rows, so counts of these rows certify nothing.")
    for name in ("fingerprint of the rows", "fingerprint of the rows with the answers"):
        if name in figures:
            lines.append(f"- SHA-256, {name}: `{figures[name]}`")
    if facts["model file"] is not None:
        lines.append(f"- SHA-256 of the model's file: `{facts['model file']}`")
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return [*lines, f"- Versions: {versions}."]


def _describe_check(facts: dict[str, Any]) -> list[str]:
    groups = " --groups COLUMN" if "groups" in facts["figures"] else ""
    return [
        f"`python recompute.py rows.csv --answers COLUMN{groups}` recomputes {len(facts['figures'])} figures from the "
        "rows and the model's answers, and compares them with `figures.json`. It needs Python and nothing else. "
        "`rules.py` holds the rules as code, and `rules.json` all that Oleander knows of them. The floor is "
        f"{show_percent(facts['floor'])}, with {show_percent(facts['confidence'])} confidence.",
    ]
