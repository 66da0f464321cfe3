"""Commands on a saved explainer: ``predict``, ``export``, ``report`` and ``tradeoff``.

What a command works with is imported when it runs: a wrong option is answered before that.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oleander.cli import options as given
from oleander.cli.errors import CommandError, ExitCode, note
from oleander.running.wording import list_some, printable

if TYPE_CHECKING:
    import pandas as pd

    from oleander.aggregate import AggregateExplainer

FORMS = ("sql", "python", "dict", "card")


def predict(
    atlas: given.Atlas,
    data: given.Data,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a CSV file; default: print it.")] = None,
    separator: given.Separator = None,
    decimal: given.Decimal = None,
    encoding: given.Encoding = None,
    missing: given.Missing = None,
    date_format: given.DateFormat = None,
    as_json: given.AsJson = False,
    debug: given.Debug = False,
) -> None:
    """Answer the rows of a file with a saved explainer; answers are empty where it abstains."""
    import numpy as np

    from oleander.aggregate import AggregateExplainer
    from oleander.cli.outputs import predictions_table, records, show_json, write_table
    from oleander.cli.tables import FileOptions, read_table

    explainer = AggregateExplainer.load(atlas)
    files = FileOptions(separator, decimal, encoding, given.split_names(missing), date_format)
    X = rows_for(explainer, read_table(data, files), date_format)
    note_unread(explainer, X)
    table = predictions_table(explainer, X, np.arange(len(X)))
    if out is not None:
        write_table(table, out)
    n_abstains = int(table["abstains"].sum())
    if as_json:
        show_json({"n_rows": len(table), "n_abstains": n_abstains, "predictions": records(table)})
    elif out is None:
        typer.echo(table.to_csv(index=False), nl=False)
    else:
        typer.echo(f"{len(table) - n_abstains:,} of {len(table):,} rows are answered: {out}")


def export(
    atlas: given.Atlas,
    form: Annotated[str, typer.Option("--format", metavar="NAME", help="sql, python, dict (JSON) or card (Markdown).")],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a file; default: print it.")] = None,
    dialect: Annotated[
        str | None, typer.Option(metavar="NAME", help="With sql: duckdb, sqlite or postgres. Default: duckdb.")
    ] = None,
    table: Annotated[str | None, typer.Option(help="With sql: the table with the rows. Default: data.")] = None,
    title: Annotated[str | None, typer.Option(help="With card: what the model is.")] = None,
    as_json: given.AsJson = False,
    debug: given.Debug = False,
) -> None:
    """Write a saved explainer as SQL, Python, JSON or a model card."""
    import json

    from oleander.aggregate import AggregateExplainer
    from oleander.cli.outputs import show_json
    from oleander.storage.files import write_whole

    if form not in FORMS:
        raise CommandError(f"--format {form} is not known; use one of {', '.join(FORMS)}.", ExitCode.USAGE)
    for option, value, only in (("--dialect", dialect, "sql"), ("--table", table, "sql"), ("--title", title, "card")):
        if value is not None and form != only:
            raise CommandError(f"{option} is for --format {only}: leave out one.", ExitCode.USAGE)
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
        # A name of a column in SQL may hold orders to the terminal; a pipe or a file gets the text as it is.
        typer.echo(printable(text) if sys.stdout.isatty() else text, nl=False)
    else:
        typer.echo(f"{out} is written ({len(text.encode()):,} bytes)")


def report(
    atlas: given.Atlas,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path("report.html"),
    data: Annotated[
        Path | None, typer.Option(metavar="DATA", help="Rows for the map and for the part on unanswered rows.")
    ] = None,
    model: given.Model = None,
    trust_model: given.TrustModel = False,
    classes: given.Classes = None,
    title: Annotated[str, typer.Option(help="What the page is about.")] = "How the model decides",
    separator: given.Separator = None,
    decimal: given.Decimal = None,
    encoding: given.Encoding = None,
    missing: given.Missing = None,
    date_format: given.DateFormat = None,
    include_rows: given.IncludeRows = False,
    as_json: given.AsJson = False,
    debug: given.Debug = False,
) -> None:
    """Write the page of a saved explainer."""
    from oleander.aggregate import AggregateExplainer
    from oleander.cli.models import load_model
    from oleander.cli.outputs import show_json
    from oleander.cli.tables import FileOptions, read_table

    black_box = (
        None if model is None else load_model(model, trust_model=trust_model, classes=given.split_names(classes))
    )
    explainer = AggregateExplainer.load(atlas, black_box)
    X = None
    if data is not None:
        files = FileOptions(separator, decimal, encoding, given.split_names(missing), date_format)
        X = rows_for(explainer, read_table(data, files), date_format)
    explainer.report(out, X, title=title, include_rows=include_rows)
    size = out.stat().st_size
    if as_json:
        show_json({"page": str(out), "bytes": size})
    else:
        typer.echo(f"{out} is written ({size / 1e6:.1f} MB)")


def tradeoff(
    atlas: given.Atlas,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a CSV file too.")] = None,
    as_json: given.AsJson = False,
    debug: given.Debug = False,
) -> None:
    """Show the coverage for each number of explainers and each floor."""
    from oleander.aggregate import AggregateExplainer
    from oleander.cli.outputs import records, show_json, show_table, write_table

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


def rows_for(explainer: "AggregateExplainer", table: "pd.DataFrame", date_format: str | None) -> "pd.DataFrame":
    """Return the columns that the explainer uses; others, such as the target, are ignored with a note."""
    from oleander.cli.cleaning import clean_like
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
    return clean_like(table, schema, date_format=date_format)[needed].set_axis(list(schema.columns), axis=1)
