"""Commands on a saved explainer: ``predict``, ``explain-row``, ``evaluate``, ``watch``, ``export`` and others."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from oleander.cli.cells import clean_like, is_id
from oleander.cli.models import load_model
from oleander.cli.options import (
    CommandError,
    Edit,
    Evaluate,
    ExitCode,
    ExplainRow,
    Export,
    Judging,
    Predict,
    Report,
    Tradeoff,
    Watch,
    note,
    wrong_option,
)
from oleander.cli.outputs import answer, predictions_table, records, show_text, tabulate, write_table
from oleander.cli.tables import check_columns, is_stored, keep_known, read_how, read_table
from oleander.data.checks import check_share
from oleander.engines.tables import draw_from_table, open_table
from oleander.explainer import AggregateExplainer
from oleander.files.saved import write_whole
from oleander.judging.floor import FloorCheck
from oleander.messages import list_some, one_line, show_lower, visible
from oleander.router import ASK_MODEL

# The options of ``export`` that some formats have.
ONLY = {"dialect": ("sql",), "table": ("sql",), "ask_model": ("sql", "python"), "title": ("dossier",)}


def predict(given: Predict) -> None:
    """Answer the rows of a file; answers are empty where the explainer is silent."""
    explainer = AggregateExplainer.load(given.atlas)
    table = read_table(given.data, read_how(given.read))
    X, schema, used = rows_for(explainer, table), explainer.schema_, explainer.record_.explainers
    readable = used.can_read(*schema.encode_readable(X, used.columns))
    if readable is not None:
        if not readable.any():
            raise CommandError(f"{schema.describe_unreadable(X, used.columns)}.")
        _note_silent(int((~readable).sum()), len(X))
    ids = table[[name for name in table if name not in schema.names and is_id(table[name])]]
    answers = predictions_table(explainer, X, ids)
    n_answered = int(answers["answered"].sum())
    if given.out is not None:
        write_table(answers, given.out)
    elif not given.as_json:
        return show_text(answers.to_csv(index=False))
    facts = {"n_rows": len(X), "n_answered": n_answered, "predictions": records(answers)}
    return answer(given, facts, f"{n_answered:,} of {len(X):,} rows are answered: {visible(given.out)}")


def explain_row(given: ExplainRow) -> None:
    """Explain one row: its answer, the rules behind it, and what would change it."""
    explainer = _open(given)
    # Text is read with the whole file at hand: whether the day or the month is first may stand in another row.
    X = rows_for(explainer, read_table(given.data, read_how(given.read)))
    if not 0 <= given.row < len(X):
        raise wrong_option(f"--row {given.row} is not in {visible(given.data)}, whose rows are 0 to {len(X) - 1:,}.")
    found = explainer.explain(X.iloc[[given.row]])
    rules = [{"explainer": one.explainer + 1, "rule": str(one)} for one in found.statements]
    facts = {"answer": found.label, "model": found.black_box, "agrees": found.agrees, "rules": rules}
    answer(given, {**facts, "sentences": str(found).splitlines()}, str(found))


def evaluate(given: Evaluate) -> ExitCode:
    """Judge an explainer on new rows; exit with code 6 if its floor is broken."""
    check_share("confidence", given.confidence)
    explainer, X, known = _read_judged(given, given.data)
    n_saved = explainer.n_queries_
    result = explainer.evaluate(X, known)
    _note_silent(result.n_unread, result.n_rows)
    if not result.n_answered:
        raise CommandError(f"none of the {result.n_rows:,} rows is answered, so the floor cannot be judged.")
    check = FloorCheck.count(
        result.n_right, result.n_answered, floor=explainer.min_fidelity, confidence=given.confidence
    )
    is_broken, each = check.state == "broken", result.explainers.reset_index()
    facts = {
        "n_rows": result.n_rows,
        "coverage": result.coverage,
        "silent": result.silent,
        **vars(check),
        "agreement": check.agreement,
        "state": check.state,
        "alarm": is_broken,
        "n_queries": explainer.n_queries_ - n_saved,
        "explainers": records(each),
        "classes": records(result.classes),
    }
    head = f"{result.n_rows:,} new rows, coverage {show_lower(result.coverage, 3)}\n{check}"
    answer(given, facts, f"{head}\n{tabulate(each, 'Each explainer')}")
    return ExitCode.BROKEN if is_broken else ExitCode.DONE


def watch(given: Watch) -> ExitCode:
    """Add a batch of new rows to a watch; exit with code 6 on an alarm, 7 on a suspicion."""
    if given.data is not None:
        explainer, *batch = _read_judged(given, given.data)
    elif given.name or given.labels or given.model or given.read or not given.log.is_file():
        raise wrong_option("give DATA; to look at a watch, give no option about rows and a --log that exists.")
    else:
        explainer, batch = AggregateExplainer.load(given.atlas), []
    log = explainer.watch(given.log, min_coverage=given.min_coverage, level=given.level)
    found = log.add(*batch, name=given.name) if batch else log.look()
    if given.report is not None:
        log.report(given.report)
    facts = {"state": found.state, "n_batches": len(found.batches), "sentences": str(found).splitlines()}
    answer(given, facts, str(found))
    return {"well": ExitCode.DONE, "suspicion": ExitCode.SUSPICION, "alarm": ExitCode.BROKEN}[found.state]


def edit(given: Edit) -> ExitCode:
    """Change rules by a file of edits, and certify them on a reserve if one is given."""
    if (given.reserve is None) != (given.log is None):
        raise wrong_option("--reserve and --log go together: the log remembers every test on the rows of the reserve.")
    try:
        content = json.loads(given.apply.read_text(encoding="utf-8"))
        edits, made_for = content["edits"], content.get("explainer")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        lack = f'no file of edits, {{"edits": [...]}}: {one_line(error)}'
        raise CommandError(f"{visible(given.apply)} is {lack}.") from error
    explainer, *rows = _read_judged(given, given.data)
    if made_for not in (None, explainer.record_.fingerprint):
        raise CommandError(f"{visible(given.apply)} holds edits of another explainer, whose rules differ.")
    edited = explainer.edit(edits, *rows)
    tested = None
    if given.reserve is not None:
        tested = explainer.reserve(*_read_known(explainer, given, given.reserve), path=given.log).certify(edited)
    edited.save(given.out)
    facts = {"n_edits": edited.record_.n_edits, "passed": None if tested is None else tested.passed}
    answer(given, facts, edited.summary() if tested is None or tested else f"{edited.summary()}\n\n{tested}")
    return ExitCode.DONE if tested is None or tested else ExitCode.BROKEN


def export(given: Export) -> None:
    """Write an explainer as SQL, Python, JSON or a folder of evidence."""
    for name, only in ONLY.items():
        if getattr(given, name) and given.form not in only:
            flag = f"--{name.replace('_', '-')}"
            raise wrong_option(f"{flag} is for --format {' or '.join(only)}: leave out one.")
    explainer = AggregateExplainer.load(given.atlas)
    if given.form == "dossier":
        if given.out is None:
            raise wrong_option("--format dossier writes a folder: give --out, its name.")
        explainer.dossier(given.out, title=given.title or "How the model decides")
        written = f"{visible(given.out)} is written: README.md says what is in it."
        return answer(given, {"format": given.form, "folder": str(given.out)}, written)
    if given.form == "sql":
        text = explainer.to_sql(given.dialect or "duckdb", table=given.table or "data", flags=given.ask_model)
    elif given.form == "python":
        text = explainer.to_python() + ASK_MODEL * given.ask_model
    else:
        text = json.dumps(explainer.to_dict(), allow_nan=False, indent=1) + "\n"
    facts = {"format": given.form, "file": None if given.out is None else str(given.out), "text": text}
    if given.out is None and not given.as_json:
        return show_text(text)
    if given.out is not None:
        write_whole(given.out, text.encode())
    return answer(given, facts, f"{visible(given.out)} is written ({len(text.encode()):,} bytes)")


def report(given: Report) -> None:
    """Write the page of an explainer."""
    if given.data is None and (given.model or given.read):
        raise wrong_option("--model and --read are about the rows of --data: give it, or leave them out.")
    explainer = _open(given)
    X = None if given.data is None else rows_for(explainer, read_table(given.data, read_how(given.read)))
    explainer.report(given.out, X, title=given.title, include_rows=given.include_rows)
    size = given.out.stat().st_size
    answer(given, {"page": str(given.out), "bytes": size}, f"{visible(given.out)} is written ({size / 1e6:.1f} MB)")


def tradeoff(given: Tradeoff) -> None:
    """Show the coverage for each number of explainers and each floor."""
    table = AggregateExplainer.load(given.atlas).tradeoff().table
    if given.out is not None:
        write_table(table, given.out)
    wide = table.pivot(index="max_explainers", columns="min_fidelity", values="coverage").reset_index()
    wide.columns = ["explainers", *(f"≥ {floor:g}" for floor in wide.columns[1:])]
    title = "Share of rows answered, by number of explainers and floor of fidelity"
    answer(given, {"cells": records(table)}, tabulate(wide, title))


def _open(given: Any) -> AggregateExplainer:
    """Return a saved explainer with the model that is to be asked, if one is given."""
    return AggregateExplainer.load(given.atlas, load_model(given))


def _read_judged(given: Judging, data: Path) -> tuple[AggregateExplainer, Any, Any]:
    """Return a saved explainer, new rows, and the model's answers; None where the model is to be asked.

    Of a table that stays where it is, the answers are the name of a column.
    """
    if (given.model is None) == (given.labels is None):
        raise wrong_option(
            "give --model, which is asked about the rows, or --labels, the column with its answers, and not both."
        )
    explainer = _open(given)
    if not is_stored(data):
        return explainer, *_read_known(explainer, given, data)
    key = read_how(given.read, ("key",)).get("key")
    if (key is None) != (given.model is None):
        raise wrong_option(
            "of a table, --model and --read key=COL go together: the key, a different whole number in each row, draws "
            "the rows that the model is asked about."
        )
    if key is None:
        return explainer, open_table(str(data)), given.labels
    drawn = draw_from_table(str(data), key)
    note(f"the model is asked about a sample alone, {len(drawn.rows):,} of {drawn.n_rows:,} rows.")
    return explainer, drawn.rows, None


def _read_known(explainer: AggregateExplainer, given: Judging, data: Path) -> tuple[pd.DataFrame, Any]:
    """Return rows of a file, and the name of their column with the model's answers; None where the model is asked."""
    table, labels = read_table(data, read_how(given.read)), given.labels
    if labels is None:
        return rows_for(explainer, table), None
    check_columns(table.columns, [labels], "--labels")
    table = keep_known(table, labels).reset_index(drop=True)
    X, known = rows_for(explainer, table.drop(columns=labels)), table[labels]
    # An explainer of an array counts its columns, so none may stand beside them.
    return (X, known.to_numpy()) if explainer.schema_.columns is None else (X.assign(**{labels: known}), labels)


def _note_silent(n_unread: int, n_rows: int) -> None:
    if n_unread:
        note(f"{n_unread:,} of {n_rows:,} rows hold values that the explainer does not know: it is silent there.")


def rows_for(explainer: AggregateExplainer, table: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that the explainer knows; others, such as the target, are ignored with a note."""
    schema, by = explainer.schema_, explainer.record_.floor_by
    if schema.columns is None:
        if table.shape[1] != len(schema):
            raise CommandError(f"the data have {table.shape[1]} columns, and the explainer needs {len(schema)}.")
        return table.set_axis([*range(len(schema))], axis=1)
    known = {str(name): name for name in (*schema.columns, *(() if by is None else by.columns))}
    if others := [name for name in table.columns if name not in known]:
        note(f"columns that the explainer does not use are ignored: {list_some(others)}.")
    return clean_like(table, schema).drop(columns=others).rename(columns=known)
