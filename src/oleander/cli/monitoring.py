"""The command ``evaluate``: a saved explainer judged on new rows, with an exit code for cron.

What a command works with is imported when it runs: a wrong option is answered before that.
"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from oleander.cli import options as given
from oleander.cli.errors import CommandError, ExitCode, note
from oleander.running.wording import list_some

if TYPE_CHECKING:
    import pandas as pd

    from oleander.aggregate import AggregateExplainer


def evaluate(
    atlas: given.Atlas,
    data: given.Data,
    model: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="The model to ask: a .joblib or .onnx file, or package.module:callable."),
    ] = None,
    trust_model: given.TrustModel = False,
    labels: Annotated[
        str | None, typer.Option(metavar="COL", help="The column with the model's answers; no model is asked.")
    ] = None,
    alarm: Annotated[
        str,
        typer.Option(
            metavar="WHEN",
            help="When to end with code 6: broken (the agreement is shown to be under the floor), under (the counted "
            "share is), or unproven (it is not shown to reach the floor).",
        ),
    ] = "broken",
    confidence: Annotated[float, typer.Option(help="Of each of the two bounds.", min=0.5, max=0.999999)] = 0.95,
    separator: given.Separator = None,
    decimal: given.Decimal = None,
    encoding: given.Encoding = None,
    missing: given.Missing = None,
    date_format: given.DateFormat = None,
    as_json: given.AsJson = False,
    debug: given.Debug = False,
) -> None:
    """Judge a saved explainer on new rows; end with code 6 where its floor is broken."""
    from oleander.aggregate import AggregateExplainer
    from oleander.cli.models import load_model
    from oleander.cli.outputs import records, show_json, show_table
    from oleander.cli.saved import note_unread, rows_for
    from oleander.cli.tables import FileOptions, check_columns, read_table
    from oleander.data.checks import check_choice
    from oleander.judging.monitor import FloorCheck
    from oleander.running.shares import show_lower

    check_choice("alarm", alarm, ("broken", "under", "unproven"))
    if (model is None) == (labels is None):
        raise CommandError(
            "give --model, which is asked about the rows, or --labels, the column with its answers, and not both.",
            ExitCode.USAGE,
        )
    if trust_model and model is None:
        raise CommandError("--trust-model is for --model: leave out one.", ExitCode.USAGE)
    black_box = None if model is None else load_model(model, trust_model=trust_model)
    explainer = AggregateExplainer.load(atlas, black_box)
    files = FileOptions(separator, decimal, encoding, given.split_names(missing), date_format)
    table, known = read_table(data, files), None
    n_saved = explainer.n_queries_
    if labels is not None:
        check_columns(table, [labels], "--labels")
        table = _with_labels(table, labels)
        known = table[labels].to_numpy()
        _check_labels(explainer, known, labels)
        if labels not in (explainer.schema_.columns or ()):
            table = table.drop(columns=labels)
    X = rows_for(explainer, table, date_format)
    note_unread(explainer, X)
    result = explainer.evaluate(X, known)
    n_answered = round(result.coverage * result.n_rows)
    if not n_answered:
        raise CommandError(f"none of the {result.n_rows:,} rows is answered, so the floor cannot be judged.")
    check = FloorCheck.count(
        round(result.agreement * n_answered), n_answered, floor=explainer.min_fidelity, confidence=confidence
    )
    alarms = check.alarms(alarm)  # type: ignore[arg-type]
    if as_json:
        facts: dict[str, Any] = {
            "n_rows": result.n_rows,
            "coverage": result.coverage,
            **vars(check),
            "agreement": check.agreement,
            "state": check.state,
            "alarm": alarms,
            "n_queries": explainer.n_queries_ - n_saved,
            "explainers": records(result.explainers),
            "classes": records(result.classes),
        }
        show_json(facts)
    else:
        typer.echo(f"{result.n_rows:,} new rows, coverage {show_lower(result.coverage, 3)}\n{check}")
        show_table(result.explainers.reset_index(names="explainer"), "Each explainer")
    if alarms:
        raise typer.Exit(ExitCode.BROKEN)


def _with_labels(table: "pd.DataFrame", labels: str) -> "pd.DataFrame":
    known = table[labels].notna()
    if not known.all():
        note(f"rows without a value of {labels!r} are left out: {(~known).sum():,}.")
    if not known.any():
        raise CommandError(f"column {labels!r} has no value.")
    return table[known].reset_index(drop=True)


def _check_labels(explainer: "AggregateExplainer", known: Any, labels: str) -> None:
    """Refuse a column that holds none of the explainer's labels: another column, or labels of another type."""
    if explainer.record_.is_number:
        if known.dtype.kind not in "iuf":
            raise CommandError(f"--labels {labels} holds {list_some(known.tolist())}, and the explainer's are numbers.")
        return
    answers = {rule.label for member in explainer.explainers_ for rule in member.rules()}
    answers |= set(explainer.evaluation_.classes["label"].tolist())
    found = list(dict.fromkeys(known.tolist()))
    if answers.isdisjoint(found):
        raise CommandError(
            f"--labels {labels} holds {list_some(found)}, and the explainer's labels are "
            f"{list_some(sorted(answers, key=str))}.",
        )
