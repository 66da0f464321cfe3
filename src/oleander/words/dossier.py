"""The README of a dossier in Markdown: what the rules are for, how well they do, every rule, and how to check it.

Its sections have plain headings, or stand under those of Annex IV of the EU AI Act.
"""

import html
import re
from collections.abc import Sequence
from typing import Any, Literal

from oleander.messages import show_percent, visible
from oleander.results.explainer_set import name_rule
from oleander.results.fit_record import FitRecord
from oleander.words.claims import how_many
from oleander.words.rules import describe_evidence
from oleander.words.summary import describe_facts, describe_fit, describe_realism, tabulate_classes

# Characters that Markdown gives a meaning to.
MARKS = "\\`*_[]#|~:"
# What would begin a list or underline a heading.
STARTS = re.compile(r"([-+=]|\d+[.)])")
Headings = Literal["plain", "annex-iv"]
PROVIDER = "*To be written by the provider: nothing in a set of rules says it.*"
# The sections under each point; where there is none, the provider writes it.
ANNEX_IV: dict[str, tuple[str, ...]] = {
    "1. General description of the AI system": ("Intended use",),
    "2. Elements of the AI system and process for its development": ("Data", "Rules"),
    "3. Monitoring, functioning and control of the AI system": ("Performance", "Oversight", "Limits"),
    "4. Appropriateness of the performance metrics": (),
    "5. Risk management system": (),
    "6. Relevant changes made through the lifecycle": ("Change log",),
    "7. Harmonised standards applied": (),
    "8. EU declaration of conformity": (),
    "9. Evaluation of the performance in the post-market phase": (),
    "How to check this folder": ("How to check this folder",),
}


def escape(text: str) -> str:
    r"""Return text that Markdown shows letter by letter, in one line.

    >>> escape("*bold* <b>")
    '\\*bold\\* &lt;b&gt;'
    """
    shown = "".join(f"\\{letter}" if letter in MARKS else letter for letter in visible(text))
    shown = html.escape(shown, quote=False)
    return f"&#{ord(shown[0])};{shown[1:]}" if STARTS.match(shown) else shown


def write_readme(record: FitRecord, facts: dict[str, Any], *, title: str, intended_use: str, headings: Headings) -> str:
    """Return the README of a dossier."""
    n_rules = len(record.explainers.members)
    figures = [*describe_fit(record), *describe_facts(record)]
    columns = record.schema.table
    columns["missing"] = ["yes" if feature.missing else "no" for feature in record.schema]
    sections = {
        "Intended use": [
            f"{how_many(n_rules, 'rules')} describe{'s' * (n_rules == 1)} a black-box model: what it answers, not what "
            "is true. Where no rule holds, they are silent. Where several hold, the most faithful one answers.",
            "",
            escape(intended_use) or PROVIDER,
        ],
        "Data": [
            *_describe_data(record, facts),
            "",
            *_tabulate(["column", "kind", "values", "may be missing"], *columns.to_numpy().tolist()),
        ],
        "Rules": _list_rules(record),
        "Performance": [
            *(f"{'  ' * line.startswith(' ')}- {escape(line.strip())}" for line in figures),
            "",
            *_tabulate(*tabulate_classes(record.widest_evaluation, record)),
        ],
        "Limits": _list_limits(record),
        "Oversight": [
            "Where the rules are silent, a person should decide. Rules that people wrote or forced in are marked.",
            "",
            "`oleander watch` checks new rows as often as you like: while the floor holds, the probability that it "
            "ever raises an alarm is at most 5%.",
        ],
        "Change log": [f"- {escape(edit.words)}" for edit in record.edits] or ["No rule was changed after the fit."],
        "How to check this folder": _describe_check(record, facts),
    }
    if headings == "annex-iv":
        points = {point: [sections[name] for name in names] or [[PROVIDER]] for point, names in ANNEX_IV.items()}
        sections = {point: [line for lines in found for line in (*lines, "")][:-1] for point, found in points.items()}
    parts = ("\n".join([f"## {heading}", "", *lines]) for heading, lines in sections.items())
    return "\n\n".join([f"# {escape(title)}", *parts]) + "\n"


def _tabulate(names: Sequence[str], *lines: Sequence[str]) -> list[str]:
    body = [f"| {' | '.join(map(escape, line))} |" for line in lines]
    return [f"| {' | '.join(names)} |", "|---" * len(names) + "|", *body]


def _describe_data(record: FitRecord, facts: dict[str, Any]) -> list[str]:
    judged = f"{how_many(record.evaluation.n_rows)} judged the rules. No row is in this folder."
    if record.exact is not None and record.accuracy is not None:
        judged = (
            f"The rules were learned and chosen on a sample of {how_many(record.accuracy.n_sample)}, and counted on "
            f"all {how_many(record.exact.n_rows)}. No row is in this folder."
        )
    lines = [judged, f"Rows sent to the model: {record.n_queries:,}."]
    if record.by_folds:
        lines.append("The rules were learned around the same rows, so counts of these rows certify nothing.")
    hashes = {name: value for name, value in facts["figures"].items() if name.startswith("fingerprint")}
    if facts["model file"] is not None:
        hashes["the model's file"] = facts["model file"]
    lines += [f"SHA-256, {name}: `{value}`" for name, value in hashes.items()]
    lines.append(f"Versions: {', '.join(f'{name} {version}' for name, version in facts['versions'].items())}.")
    return [f"- {line}" for line in lines]


def _list_rules(record: FitRecord) -> list[str]:
    members = record.explainers.members
    of = "rows" if record.exact is None else "rows that nothing was learned or chosen from"
    of += "" if record.floor_by is None else ", in subgroups that get answers,"
    lines = [f"Widest first. Counts are of all {of} where the conditions of the rule hold.", ""]
    for number, member in enumerate(members):
        (rule,) = member.rules()
        words = f"{rule.premise or 'always'} → {rule.answer} ({describe_evidence(member, 0, rule)})"
        lines.append(f"- **{name_rule(members, number, 0)}**: {escape(words)}")
    return lines


def _list_limits(record: FitRecord) -> list[str]:
    limits = [
        "The rules say what the model answers. They do not say that it is right, nor what causes what.",
        'A level that is not in the table above counts as "rare" where the column has that level. Otherwise the rules '
        "are silent on a row with such a level, and on one with a missing value where none is allowed.",
        "The figures hold for rows from the same source as the rows that were checked. `oleander evaluate` checks new "
        "rows.",
    ]
    if record.certificate is None and record.reserved is None:
        limits.append("The figures are not certified: no row was held out for that alone.")
    limits += map(escape, describe_realism(record))
    return [f"- {limit}" for limit in limits]


def _describe_check(record: FitRecord, facts: dict[str, Any]) -> list[str]:
    groups = " --groups COLUMN" if "groups" in facts["figures"] else ""
    whose = "the rows that judged the rules" if record.exact is None else "all rows of the table"
    lines = [
        f"`python recompute.py rows.csv --answers COLUMN{groups}` recomputes {len(facts['figures'])} figures from "
        f"{whose} and the model's answers, and compares them with `figures.json`. It needs Python and nothing else. "
        "`rules.py` holds the rules as code, and `rules.json` all that Oleander knows of them; of these two files and "
        "this one, the script compares the hashes. The floor is "
        f"{show_percent(facts['floor'])}, with {show_percent(facts['confidence'])} confidence.",
    ]
    if record.exact is not None:
        lines.append(
            "It does not recompute the certificate and the counts beside each rule: they are of the rows that nothing "
            "was learned or chosen from, and which these are is not written down."
        )
    if record.floor_by is not None:
        lines.append(
            "Of each subgroup that gets answers it checks that the bound reaches the floor; how the error is divided "
            "among the subgroups it does not check."
        )
    return lines
