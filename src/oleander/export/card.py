"""A model card in Markdown: what the explainers answer, how well, every rule, the columns and the limits."""

import html
import re

from oleander.data.schema import Feature
from oleander.results.fit_record import FitRecord
from oleander.results.rules import describe_all
from oleander.running.shares import show_confidence, show_lower, show_share, show_upper_percent
from oleander.running.wording import visible

# Characters that Markdown gives a meaning to.
MARKS = "\\`*_[]#|~:"
# What would begin a list or underline a heading.
STARTS = re.compile(r"([-+=]|\d+[.)])")
MOST_LEVELS = 12


def write_card(record: FitRecord, title: str) -> str:
    """Return the model card of a fit."""
    sections = [
        [f"# {escape(title)}"],
        _describe_use(record),
        ["## How well it does", *_describe_figures(record)],
        ["## Rules", *_describe_rules(record)],
        ["## Rows by what the black box says", *_describe_classes(record)],
        ["## Columns", *_describe_columns(record)],
        ["## Limits", *_describe_limits(record)],
    ]
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


def escape(text: str) -> str:
    r"""Return text that Markdown shows letter by letter, in one line.

    Examples
    --------
    >>> escape("*bold* <b>")
    '\\*bold\\* &lt;b&gt;'
    """
    shown = "".join(f"\\{letter}" if letter in MARKS else letter for letter in visible(text))
    shown = html.escape(shown, quote=False)
    return f"&#{ord(shown[0])};{shown[1:]}" if STARTS.match(shown) else shown


def _describe_use(record: FitRecord) -> list[str]:
    explainers = record.explainers
    n_explainers, n_rules = len(explainers.members), explainers.n_rules
    turn = "the first one that covers a row answers" if explainers.overlap == "first" else "they abstain on it"
    return [
        f"{n_explainers} small explainer{'s'[: n_explainers > 1]} with {n_rules} rule{'s'[: n_rules > 1]} in all "
        "describe a black-box model: what it answers, not what is true. Where no explainer covers a row, none "
        f"answers. Where explainers disagree on a row, {turn}.",
    ]


def _describe_figures(record: FitRecord) -> list[str]:
    evaluation, certificate = record.evaluation, record.certificate
    lines = [
        "",
        "| figure | value |",
        "|---|---|",
        f"| floor of agreement | {record.min_fidelity:g} |",
        *(
            []
            if record.explainers.tolerance is None
            else [f"| an answer agrees within | {record.explainers.tolerance} |"]
        ),
        f"| rows that judged | {evaluation.n_rows:,} |",
        f"| coverage | {show_lower(evaluation.coverage, 3)} |",
        f"| agreement with the black box where it answers | {show_lower(evaluation.agreement, 3)} |",
        f"| rows sent to the black box | {record.n_queries:,} |",
    ]
    if certificate is not None:
        claim, rows = certificate.answers, certificate.rows
        confidence = show_confidence(certificate.confidence)
        lines.append(
            f"| certified agreement{claim.about}, at {confidence} confidence | at least {show_lower(claim.bound)} "
            f"({claim.n_right:,} of {claim.n_rows:,} {claim.unit}) |"
        )
        if rows is not None:
            bound = f"at least {show_lower(rows.bound)}" if rows.bound else "not certified"
            lines.append(
                f"| certified agreement, of all answered rows, at {confidence} confidence | {bound} "
                f"({rows.n_right:,} of {rows.n_rows:,} rows) |"
            )
    elif record.judged is not None:
        claim = record.judged
        lines.append(
            f"| judged, not certified: agreement{claim.about} | at least {show_lower(claim.bound)} "
            f"({claim.n_right:,} of {claim.n_rows:,} rows) |"
        )
    if record.proof is not None:
        gap = show_upper_percent(record.proof.gap, 2)
        lines.append(f"| choice of explainers | {escape(record.proof.status)}, gap {gap} |")
    return lines


def _describe_rules(record: FitRecord) -> list[str]:
    lines = []
    for number, member in enumerate(record.explainers.members):
        lines += [
            "",
            f"**Explainer {number}** ({describe_all(member)}): {escape(member.region.describe())}",
            "",
            *(f"- {escape(str(rule))}" for rule in member.rules()),
        ]
    return lines


def _describe_classes(record: FitRecord) -> list[str]:
    classes = record.evaluation.classes
    classes = classes if record.is_number else classes.sort_values("rows", kind="stable")
    return [
        "",
        "| label | rows | coverage | answered rightly |",
        "|---|---|---|---|",
        *(
            f"| {escape(str(line.label))} | {line.rows:,} | {show_lower(line.covered)} | "
            f"{show_lower(line.answered_rightly)} |"
            for line in classes.itertuples(index=False)
        ),
    ]


def _describe_columns(record: FitRecord) -> list[str]:
    return [
        "",
        "| column | kind | values | may be missing |",
        "|---|---|---|---|",
        *(
            f"| {escape(feature.name)} | {feature.kind} | {escape(_describe_values(feature))} | "
            f"{'yes' if feature.missing else 'no'} |"
            for feature in record.schema
        ),
    ]


def _describe_values(feature: Feature) -> str:
    if feature.is_number:
        return f"{feature.describe_value(feature.lower)} to {feature.describe_value(feature.upper)}"
    shown = [feature.describe_value(code) for code in range(min(len(feature.levels), MOST_LEVELS))]
    n_more = len(feature.levels) - len(shown)
    return ", ".join(shown) + (f" and {n_more} more" if n_more else "")


def _describe_limits(record: FitRecord) -> list[str]:
    limits = [
        "The explainers say what the black box answers. They do not say that it is right, nor what causes what.",
        "A row with a level that is not in the table above, or with a missing value where none is allowed, gets no "
        "answer.",
        "The figures hold for rows from the source of the rows that judged. `oleander evaluate` judges new rows.",
    ]
    if record.certificate is None:
        limits.append("The figures are not certified: no row was held out for that alone.")
    if record.realism is not None:
        limits.append(f"Draws can be told from rows in {show_share(record.realism)} of cases; 50% is perfect.")
    return ["", *(f"- {limit}" for limit in limits)]
