"""Commands on a saved explainer: ``predict``, ``explain-row``, ``evaluate``, ``watch``, ``export`` and others.

What a command works with is imported when it runs: a wrong option is answered before that.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from oleander.cli import options as given
from oleander.cli.options import CommandError, ExitCode, note, wrong_option
from oleander.messages import list_some, visible

if TYPE_CHECKING:
    import pandas as pd

    from oleander.explainer import AggregateExplainer


def predict(
    atlas: given.Atlas,
    data: given.Data,
    out: given.OutFile = None,
    missing: given.Missing = None,
    read: given.Read = None,
    as_json: given.AsJson = False,
) -> None:
    """Answer the rows of a file with a saved explainer; answers are empty where it abstains."""
    import numpy as np

    from oleander.cli.columns import is_id
    from oleander.cli.outputs import predictions_table, records, show_json, show_text, write_table
    from oleander.cli.tables import FileOptions, read_table
    from oleander.explainer import AggregateExplainer

    explainer = AggregateExplainer.load(atlas)
    files = FileOptions.parse(read, missing)
    given_rows = read_table(data, files)
    X = rows_for(explainer, given_rows, files.dates)
    note_unread(explainer, X)
    others = given_rows.drop(columns=[name for name in explainer.schema_.names if name in given_rows.columns])
    ids = others[[name for name in others.columns if is_id(others[name])]]
    table = predictions_table(explainer, X, np.arange(len(X)), ids)
    if out is not None:
        write_table(table, out)
    n_answered = int(table["answered"].sum())
    if as_json:
        show_json({"n_rows": len(table), "n_answered": n_answered, "predictions": records(table)})
    elif out is None:
        show_text(table.to_csv(index=False))
    else:
        typer.echo(f"{n_answered:,} of {len(table):,} rows are answered: {visible(out)}")


def explain_row(
    atlas: given.Atlas,
    data: Annotated[Path | None, given.option(given.DATA, "The file with the row.", metavar="DATA")] = None,
    row: Annotated[
        int | None,
        given.option(given.DATA, "With --data: the number of the row; the first after the header is 0.", min=0),
    ] = None,
    values: Annotated[
        list[str] | None,
        given.option(
            given.DATA, "A row of all columns instead, such as age=61,ward=north; age= is missing.", metavar="COL=V,..."
        ),
    ] = None,
    model: given.AskedModel = None,
    trust_model: given.TrustModel = False,
    classes: given.Classes = None,
    missing: given.Missing = None,
    read: given.Read = None,
    as_json: given.AsJson = False,
) -> None:
    """Explain one row with a saved explainer: its answer, the rules behind it, and what would change it."""
    from oleander.cli.models import load_optional
    from oleander.cli.outputs import show_json
    from oleander.cli.tables import FileOptions, read_table
    from oleander.explainer import AggregateExplainer

    if (data is None) == (values is None) or (data is None) != (row is None):
        raise wrong_option("give --data with --row, the number of a row, or --values, such as age=61,ward=north.")
    files = FileOptions.parse(read, missing)
    if data is None and files != FileOptions():
        raise wrong_option("--missing and --read are about the rows of --data: give it, or leave them out.")
    black_box = load_optional(model, trust_model=trust_model, classes=given.split_names(classes))
    explainer = AggregateExplainer.load(atlas, black_box)
    if data is None:
        X = rows_for(explainer, read_values(explainer, values or []), None)
    else:
        # Text is read with the whole file at hand: whether the day or the month is first may stand in another row.
        X = rows_for(explainer, read_table(data, files), files.dates)
        assert row is not None
        if row >= len(X):
            raise wrong_option(f"--row {row} is not in {visible(data)}, whose rows are 0 to {len(X) - 1:,}.")
        X = X.iloc[[row]]
    found = explainer.explain(X)
    if as_json:
        rules = [{"explainer": one.explainer + 1, "rule": str(one)} for one in found.statements]
        facts = {"answer": plain(found.label), "model": plain(found.black_box), "agrees": found.agrees}
        show_json({**facts, "rules": rules, "sentences": str(found).splitlines()})
    else:
        typer.echo(str(found))


def plain(value: Any) -> Any:
    """Return a label as JSON has it."""
    return value.item() if hasattr(value, "item") else value


def read_values(explainer: "AggregateExplainer", values: list[str]) -> "pd.DataFrame":
    """Return the row that ``--values`` gives, every column of it as the explainer's data had it."""
    import pandas as pd

    cells: dict[str, Any] = {}
    for part in given.split_names(values):
        name, equals, value = part.partition("=")
        if not equals:
            raise wrong_option(f"--values {part} is not allowed: write column=value, with commas between them.")
        cells[name] = value or None
    for feature in explainer.schema_:
        # A level that is a number or a truth value is text among the options.
        levels = {str(level): level for level in feature.levels}
        if feature.name in cells:
            cells[feature.name] = levels.get(cells[feature.name], cells[feature.name])
    return pd.DataFrame([cells], dtype=object)


def evaluate(
    atlas: given.Atlas,
    data: given.Data,
    model: given.AskedModel = None,
    trust_model: given.TrustModel = False,
    classes: given.Classes = None,
    labels: given.Labels = None,
    alarm: Annotated[
        Literal["broken", "under", "unproven"],
        typer.Option(
            help="When to end with code 6: broken (the agreement is shown to be under the floor), under (the counted "
            "share is), or unproven (it is not shown to reach the floor).",
        ),
    ] = "broken",
    confidence: Annotated[float, typer.Option(help="Of each of the two bounds.", min=0.5, max=0.999999)] = 0.95,
    missing: given.Missing = None,
    read: given.Read = None,
    as_json: given.AsJson = False,
) -> None:
    """Judge a saved explainer on new rows; end with code 6 where its floor is broken."""
    from oleander.cli.outputs import records, show_json, show_table
    from oleander.judging.floor import FloorCheck
    from oleander.messages import show_lower

    explainer, X, known = _read_judged(atlas, data, model, trust_model, classes, labels, missing, read)
    n_saved = explainer.n_queries_
    result = explainer.evaluate(X, known)
    n_answered = round(result.coverage * result.n_rows)
    if not n_answered:
        raise CommandError(f"none of the {result.n_rows:,} rows is answered, so the floor cannot be judged.")
    check = FloorCheck.count(
        round(result.agreement * n_answered), n_answered, floor=explainer.min_fidelity, confidence=confidence
    )
    alarms = check.alarms(alarm)
    if as_json:
        facts: dict[str, Any] = {
            "n_rows": result.n_rows,
            "coverage": result.coverage,
            **vars(check),
            "agreement": check.agreement,
            "state": check.state,
            "alarm": alarms,
            "n_queries": explainer.n_queries_ - n_saved,
            "explainers": records(result.explainers.reset_index()),
            "classes": records(result.classes),
        }
        show_json(facts)
    else:
        typer.echo(f"{result.n_rows:,} new rows, coverage {show_lower(result.coverage, 3)}\n{check}")
        show_table(result.explainers.reset_index(), "Each explainer")
    if alarms:
        raise typer.Exit(ExitCode.BROKEN)


def watch(
    atlas: given.Atlas,
    data: given.Data,
    log: Annotated[Path, given.option(given.OUTPUT, "The file that keeps the counts of all batches.", metavar="FILE")],
    name: Annotated[
        str | None,
        given.option(
            given.DATA,
            "What this batch is called, such as its day; a name counts once. Default: the time.",
            metavar="NAME",
        ),
    ] = None,
    model: given.AskedModel = None,
    trust_model: given.TrustModel = False,
    classes: given.Classes = None,
    labels: given.Labels = None,
    level: Annotated[
        float, given.option(given.RULES, "The probability of a false alarm, ever.", min=1e-9, max=0.5)
    ] = 0.05,
    min_coverage: Annotated[
        float | None,
        given.option(
            given.RULES, "The share of rows to be answered. Default: nine tenths of the fit's.", min=1e-9, max=1.0
        ),
    ] = None,
    missing: given.Missing = None,
    read: given.Read = None,
    as_json: given.AsJson = False,
) -> None:
    """Add a batch of new rows to a watch over a saved explainer; end with code 6 on an alarm, 7 on a suspicion."""
    from oleander.cli.outputs import show_json

    explainer, X, known = _read_judged(atlas, data, model, trust_model, classes, labels, missing, read)
    found = explainer.watch(log, min_coverage=min_coverage, level=level).add(X, known, name=name)
    if as_json:
        show_json({"state": found.state, "n_batches": len(found.batches), "sentences": str(found).splitlines()})
    else:
        typer.echo(str(found))
    if found.state != "well":
        raise typer.Exit(ExitCode.BROKEN if found.state == "alarm" else ExitCode.SUSPICION)


def _read_judged(
    atlas: Path,
    data: Path,
    model: str | None,
    trust_model: bool,
    classes: list[str] | None,
    labels: str | None,
    missing: list[str] | None,
    read: list[str] | None,
) -> "tuple[AggregateExplainer, pd.DataFrame, Any]":
    """Return a saved explainer, new rows, and the model's answers in a column; None where the model is to be asked."""
    from oleander.cli.models import load_optional
    from oleander.cli.tables import FileOptions, check_columns, read_table
    from oleander.explainer import AggregateExplainer

    if (model is None) == (labels is None):
        raise wrong_option(
            "give --model, which is asked about the rows, or --labels, the column with its answers, and not both."
        )
    files = FileOptions.parse(read, missing)
    black_box = load_optional(model, trust_model=trust_model, classes=given.split_names(classes))
    explainer = AggregateExplainer.load(atlas, black_box)
    table, known = read_table(data, files), None
    if labels is not None:
        check_columns(table.columns, [labels], "--labels")
        table = _with_labels(table, labels)
        known = table[labels].to_numpy()
        _check_labels(explainer, known, labels)
        if labels not in (explainer.schema_.columns or ()):
            table = table.drop(columns=labels)
    X = rows_for(explainer, table, files.dates)
    note_unread(explainer, X)
    return explainer, X, known


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


def export(
    atlas: given.Atlas,
    form: Annotated[
        Literal["sql", "python", "dict", "card"],
        typer.Option("--format", help="SQL, Python code, JSON, or a model card in Markdown."),
    ],
    out: given.OutFile = None,
    dialect: Annotated[
        str | None, typer.Option(metavar="NAME", help="With sql: duckdb, sqlite or postgres. Default: duckdb.")
    ] = None,
    table: Annotated[str | None, typer.Option(help="With sql: the table with the rows. Default: data.")] = None,
    title: Annotated[str | None, typer.Option(help="With card: what the model is.")] = None,
    as_json: given.AsJson = False,
) -> None:
    """Write a saved explainer as SQL, Python, JSON or a model card."""
    import json

    from oleander.cli.outputs import show_json, show_text
    from oleander.explainer import AggregateExplainer
    from oleander.files.atomic import write_whole

    for option, value, only in (("--dialect", dialect, "sql"), ("--table", table, "sql"), ("--title", title, "card")):
        if value is not None and form != only:
            raise wrong_option(f"{option} is for --format {only}: leave out one.")
    explainer = AggregateExplainer.load(atlas)
    if form == "sql":
        # An unknown dialect is refused where the dialects are known.
        text = explainer.to_sql(dialect or "duckdb", table=table or "data")  # type: ignore[arg-type]
    elif form == "python":
        text = explainer.to_python()
    elif form == "card":
        text = explainer.to_card() if title is None else explainer.to_card(title=title)
    else:
        text = json.dumps(explainer.to_dict(), allow_nan=False, indent=1) + "\n"
    if out is not None:
        write_whole(out, text.encode())
    if as_json:
        show_json({"format": form, "file": None if out is None else str(out), "text": text})
    elif out is None:
        show_text(text)
    else:
        typer.echo(f"{visible(out)} is written ({len(text.encode()):,} bytes)")


def report(
    atlas: given.Atlas,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path("report.html"),
    data: Annotated[
        Path | None, typer.Option(metavar="DATA", help="Rows for the map and for the part on unanswered rows.")
    ] = None,
    model: given.AskedModel = None,
    trust_model: given.TrustModel = False,
    classes: given.Classes = None,
    title: Annotated[str, typer.Option(help="What the page is about.")] = "How the model decides",
    missing: given.Missing = None,
    read: given.Read = None,
    include_rows: given.IncludeRows = False,
    as_json: given.AsJson = False,
) -> None:
    """Write the page of a saved explainer."""
    from oleander.cli.models import load_optional
    from oleander.cli.outputs import show_json
    from oleander.cli.tables import FileOptions, read_table
    from oleander.explainer import AggregateExplainer

    files = FileOptions.parse(read, missing)
    if data is None and (model is not None or files != FileOptions()):
        raise wrong_option("--model, --missing and --read are about the rows of --data: give it, or leave them out.")
    black_box = load_optional(model, trust_model=trust_model, classes=given.split_names(classes))
    explainer = AggregateExplainer.load(atlas, black_box)
    X = None if data is None else rows_for(explainer, read_table(data, files), files.dates)
    explainer.report(out, X, title=title, include_rows=include_rows)
    size = out.stat().st_size
    if as_json:
        show_json({"page": str(out), "bytes": size})
    else:
        typer.echo(f"{visible(out)} is written ({size / 1e6:.1f} MB)")


def tradeoff(
    atlas: given.Atlas,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a CSV file too.")] = None,
    as_json: given.AsJson = False,
) -> None:
    """Show the coverage for each number of explainers and each floor."""
    from oleander.cli.outputs import records, show_json, show_table, write_table
    from oleander.explainer import AggregateExplainer

    table = AggregateExplainer.load(atlas).tradeoff().table
    if out is not None:
        write_table(table, out)
    if as_json:
        show_json({"cells": records(table)})
        return
    wide = table.pivot(index="max_explainers", columns="min_fidelity", values="coverage").reset_index()
    wide.columns = ["explainers", *(f"≥ {floor:g}" for floor in wide.columns[1:])]
    show_table(wide, "Share of rows answered, by number of explainers and floor of fidelity")


def note_unread(explainer: "AggregateExplainer", X: "pd.DataFrame") -> None:
    """Say how many rows hold values that the explainer does not know; raise ``ValueError`` where all do."""
    _, readable = explainer.schema_.encode_readable(X)
    if readable is None:
        return
    if not readable.any():
        # The message names the column, the row and the value.
        explainer.schema_.encode(X)
    note(f"{(~readable).sum():,} of {len(X):,} rows hold values that the explainer does not know: it abstains there.")


def rows_for(explainer: "AggregateExplainer", table: "pd.DataFrame", dates: str | None) -> "pd.DataFrame":
    """Return the columns that the explainer uses; others, such as the target, are ignored with a note."""
    from oleander.cli.columns import clean_like
    from oleander.cli.tables import MOST_LISTED

    schema = explainer.schema_
    if schema.columns is None:
        if table.shape[1] != len(schema):
            raise CommandError(f"the data have {table.shape[1]} columns, and the explainer needs {len(schema)}.")
        return table.set_axis([*range(len(schema))], axis=1)
    needed = [str(column) for column in schema.columns]
    lacking = [name for name in needed if name not in table.columns]
    if lacking:
        raise CommandError(f"the data lack columns that the explainer needs: {list_some(lacking, MOST_LISTED)}.")
    others = [name for name in table.columns if name not in needed]
    if others:
        note(f"columns that the explainer does not use are ignored: {list_some(others, MOST_LISTED)}.")
    return clean_like(table, schema, dates=dates)[needed].set_axis(list(schema.columns), axis=1)
