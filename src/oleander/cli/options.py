"""The options of every command as records, shown in groups by ``--help``, and errors: a sentence and an exit code.

An option is named as the parameter in Python, and written once: in the record of its command, or in one that several
records extend.
"""

import re
import sys
from collections.abc import Collection, Sequence
from dataclasses import MISSING, dataclass, field
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any, Literal, TextIO, dataclass_transform

from oleander.messages import visible

ARGUMENTS, DATA, MODEL, NUMBERS = "arguments", "the data", "the model", "numbers and probabilities"
RULES, BALLS, OUTPUT = "the rules", "the paper's method", "output"
GROUPS = (ARGUMENTS, DATA, MODEL, NUMBERS, RULES, BALLS, OUTPUT)
# What is listed with commas, or by giving the option several times.
Names = Sequence[str]
TABLE = (
    "A CSV, Excel or Parquet file with a header. Or a table that stays where it is: FILE.duckdb::TABLE, a folder of "
    "Parquet files, or env:VARIABLE::TABLE with a connection string in an environment variable."
)


def option(default: Any, group: str, about: str, *, flag: str | None = None, metavar: str | None = None) -> Any:
    """Return an option that the help shows in a group, named as its field where no ``flag`` is given.

    In the group ``ARGUMENTS`` it is an argument by its place, which may be left out if it has a default.
    """
    return field(default=default, metadata={"group": group, "flag": flag, "help": about, "metavar": metavar})


# What several records have.
_atlas = partial(option, MISSING, ARGUMENTS, "A saved explainer, as explain writes it.", metavar="ATLAS")
_seed = partial(option, 0, OUTPUT, "The seed of every random choice.")
_rows = partial(option, False, OUTPUT, "Allow the files to hold rows of the data.")
_out_file = partial(option, None, OUTPUT)


@dataclass_transform(kw_only_default=True, frozen_default=True)
@dataclass(frozen=True, kw_only=True)
class Options:
    """What every command takes; a record that extends it is a frozen dataclass."""

    as_json: bool = option(False, OUTPUT, "Print one JSON object instead of text.", flag="--json")

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


class Reading(Options):
    """How files of rows are read."""

    read: list[str] | None = option(
        None,
        DATA,
        "How to read the file, where that is not detected: separator=; or decimal=, or encoding=cp1252 or "
        "dates=%d/%m/%Y, or missing=n/k,-999 for cells that mean a missing value. For a table: key=COL, with a "
        "different whole number in each row, and labels=COL, the model's answers. Repeat the option for each.",
        metavar="HOW=VALUE",
    )


class Opening(Reading):
    """How files of rows are read, and a model."""

    model: str | None = option(
        None, MODEL, "A .json, .ubj, .txt, .cbm, .onnx, .skops or .joblib file, or package.module:callable."
    )
    trust_model: bool = option(False, MODEL, "Open a file that can run any code: .joblib or .pkl.")
    classes: Names = option((), MODEL, "The classes of a model whose file numbers them, in order.", metavar="NAME,...")


class Fitting(Opening):
    """A model and the rows to explain it on; without a model, one is trained on the target."""

    data: Path = option(MISSING, ARGUMENTS, TABLE, metavar="DATA")
    target: str | None = option(None, DATA, "The column of true labels, which the model predicts.", metavar="COL")
    groups: str | None = option(None, DATA, "The column that says which rows belong together.", metavar="COL")
    drop: Names = option((), DATA, "Columns to leave out.", metavar="COL,...")
    kinds: str = option("", DATA, "Kinds of columns that are detected wrongly: age=integer.", metavar="COL=KIND,...")
    columns: Path | None = option(None, DATA, "A data dictionary: a file with the columns name, description and unit.")
    tolerance: str | None = option(
        None,
        NUMBERS,
        "Explain numbers: how far an answer may be from the model's, such as 30, 10% or auto.",
        metavar="T",
    )
    out: Path = option(Path("oleander-out"), OUTPUT, "The folder to write.", metavar="DIR")
    seed: int = _seed()


class Explain(Fitting):
    """Explain a model on the rows of a file; write the rules, their answers, the trade-off and the page.

    Without --model, 50 bagged trees are trained on one half of the rows and explained on the other half.
    """

    background: Path | None = option(
        None, MODEL, "With --model: rows that show where data lie, such as it learned from."
    )
    threshold: float | None = option(None, NUMBERS, "Explain whether the number or probability exceeds X.")
    proba: str | None = option(None, NUMBERS, "Explain the probability of this class.", metavar="CLASS")
    max_explainers: int | None = option(None, RULES, "The maximum number of rules. Default: 10, or two per class.")
    min_fidelity: float = option(0.9, RULES, "The floor: the minimum share of answers that agree with the model.")
    limit: list[str] | None = option(
        None,
        RULES,
        "What rules may do: conditions=3 at most, or forbid=COL,... or monotone=COL+,... or order=LABEL,... (labels "
        "from low to high, for monotone), or floor_by=COL,... (the floor within every subgroup, or silence there). "
        "Repeat the option for each.",
        metavar="WHAT=VALUE",
    )
    draws: int | None = option(None, RULES, "Synthetic rows to ask about; 0 learns from rows only. Default: 20,000.")


class Paper(Fitting):
    """Explain a model by the paper's method: balls around rows, a small model in each, and the integer program.

    Without --model, 50 bagged trees are trained on one half of the rows and explained on the other half.
    """

    radius: Names = option(
        MISSING, BALLS, "The radii of the balls, in the units of the data, or auto.", metavar="R,..."
    )
    max_explainers: int = option(10, BALLS, "K: the maximum number of explainers.")
    min_fidelity: float = option(0.9, BALLS, "φ: the minimum share of each ball's rows that agree with the model.")
    n_draws: int = option(10_000, BALLS, "N: the number of draws in each ball.")
    formulation: Literal["strict", "selective"] | None = option(
        None, BALLS, "The program: strict (by the definition; the default) or selective (as printed)."
    )
    letter: bool = option(False, BALLS, "To the letter: its filter, its draws, and by default its printed program.")
    time_limit: float = option(60.0, BALLS, "Seconds for solving the program.")
    jobs: int = option(1, OUTPUT, "Processes to use; -1 for all cores.")
    include_rows: bool = _rows()


class Demo(Options):
    """Explain a forest on a generated clinic, which needs no data."""

    out: Path = option(Path("oleander-demo"), OUTPUT, "The folder to write.", metavar="DIR")
    seed: int = _seed()
    opens: bool = option(False, OUTPUT, "Open the page in a browser at the end.", flag="--open")


class Predict(Reading):
    """Answer the rows of a file with a saved explainer; answers are empty where it is silent."""

    atlas: Path = _atlas()
    data: Path = option(MISSING, ARGUMENTS, "A CSV, Excel or Parquet file with a header.", metavar="DATA")
    out: Path | None = _out_file("Write a file; default: print it.")


class ExplainRow(Opening):
    """Explain one row with a saved explainer: its answer, the rules behind it, and what would change it."""

    atlas: Path = _atlas()
    data: Path = option(MISSING, DATA, "The file with the row.", metavar="DATA")
    row: int = option(MISSING, DATA, "The number of the row; the first after the header is 0.")


class Judging(Opening):
    """A saved explainer, and the model's answers to judge it by: a column, or the model."""

    atlas: Path = _atlas()
    labels: str | None = option(None, MODEL, "The column with the model's answers; no model is asked.", metavar="COL")


class Evaluate(Judging):
    """Judge a saved explainer on new rows; exit with code 6 if its floor is broken."""

    data: Path = option(MISSING, ARGUMENTS, TABLE, metavar="DATA")
    confidence: float = option(0.95, RULES, "The confidence of each of the two bounds.")


class Watch(Judging):
    """Add a batch of new rows to a watch over a saved explainer; exit with code 6 on an alarm, 7 on a suspicion.

    Without rows, say what all batches so far show.
    """

    data: Path | None = option(None, ARGUMENTS, TABLE, metavar="DATA")
    log: Path = option(MISSING, OUTPUT, "The file that keeps the counts of all batches.")
    name: str | None = option(None, DATA, "The name of this batch, which counts once. Default: the time.")
    level: float = option(0.05, RULES, "The probability of ever raising a false alarm.")
    report: Path | None = _out_file("Write a page with the path over time.")
    min_coverage: float | None = option(None, RULES, "The share of rows to be answered. Default: 0.9 of the fit's.")


class Edit(Judging):
    """Change the rules of a saved explainer by a file of edits; exit with code 6 if a reserve does not pass them."""

    apply: Path = option(MISSING, RULES, "The edits as JSON, as the page exports them.")
    data: Path = option(MISSING, DATA, "Rows on which the edited rules are counted.", metavar="DATA")
    reserve: Path | None = option(None, DATA, "New rows that certify the edited rules.", metavar="DATA")
    log: Path | None = option(None, DATA, "With --reserve: the file that remembers all its tests.")
    out: Path = option(MISSING, OUTPUT, "The edited explainer.")


class Export(Options):
    """Write a saved explainer as SQL, Python, JSON or a folder of evidence."""

    atlas: Path = _atlas()
    form: Literal["sql", "python", "dict", "dossier"] = option(
        MISSING, OUTPUT, "SQL, Python code, JSON, or a folder of evidence to check.", flag="--format"
    )
    out: Path | None = _out_file("Write a file; default: print it.")
    dialect: str | None = option(None, OUTPUT, "With sql: duckdb (the default), sqlite, postgres or spark.")
    table: str | None = option(None, OUTPUT, "With sql: the table with the rows. Default: data.")
    title: str | None = option(None, OUTPUT, "With dossier: what the model is.")
    ask_model: bool = option(False, OUTPUT, "With sql and python: also say of which rows the model must be asked.")


class Report(Opening):
    """Write the page of a saved explainer."""

    atlas: Path = _atlas()
    out: Path = option(Path("report.html"), OUTPUT, "The page to write.")
    data: Path | None = option(None, DATA, "Rows that the page counts.", metavar="DATA")
    title: str = option("How the model decides", OUTPUT, "What the page is about.")
    include_rows: bool = _rows()


class Tradeoff(Options):
    """Show the coverage for each number of explainers and each floor."""

    atlas: Path = _atlas()
    out: Path | None = _out_file("Write a CSV file too.")


def split_names(text: str) -> tuple[str, ...]:
    """Return the names that an option lists with commas."""
    return tuple(name for name in text.split(",") if name)


class ExitCode(IntEnum):
    """The exit codes of all commands."""

    DONE = 0
    UNEXPECTED = 1
    USAGE = 2
    DATA = 3
    MODEL = 4
    FLOOR = 5
    BROKEN = 6
    SUSPICION = 7
    INTERRUPTED = 130


class CommandError(Exception):
    """An error with a sentence for the user and an exit code."""

    def __init__(self, sentence: str, code: ExitCode = ExitCode.DATA) -> None:
        super().__init__(sentence)
        self.code = code


def wrong_option(sentence: str) -> CommandError:
    """Return the error of an option that is not allowed, or that would do nothing."""
    return CommandError(sentence, ExitCode.USAGE)


def show(text: str, *, end: str = "\n", file: TextIO | None = None) -> None:
    """Print text at once, so that output and notes stand in their order where both go to one place."""
    print(text, end=end, file=file, flush=True)


def note(sentence: str) -> None:
    """Print a note to standard error, so that it does not mix with the output."""
    show(visible(f"note: {sentence}"), file=sys.stderr)


# Parameters in Python that have another name here.
RENAMED = {"random_state": "seed", "n_jobs": "jobs", "draws.n": "draws", "max_conditions": "limit conditions"}


def name_options(message: str, options: Collection[str]) -> str:
    """Return a message about parameters in Python as one about the options of a command.

    Names of one word may be words of the sentence, so they are options only before a value.

    >>> name_options("At most min_fidelity=0.86 can be shown: lower min_fidelity.", ["min_fidelity"])
    'At most --min-fidelity 0.86 can be shown: lower --min-fidelity.'
    """
    for name in (*options, *RENAMED):
        flag = f"--{RENAMED.get(name, name).replace('_', '-')}"
        message = re.sub(rf"(?<![\w.'-]){re.escape(name)}=(?! )", f"{flag} ", message)
        if "_" in name:
            message = re.sub(rf"(?<![\w.'-]){name}(?![\w.']*[\w'])", flag, message)
    return message


def to_command_error(error: BaseException, options: Collection[str]) -> CommandError:
    """Return any error as one sentence with an exit code; a message about a parameter in ``options`` is about it."""
    if isinstance(error, CommandError):
        return error
    # Imported here, because a wrong option is answered before scikit-learn is imported.
    from oleander.black_box.answers import BlackBoxError
    from oleander.files.saved import FileError
    from oleander.fitting.options import NothingFoundError

    message = " ".join(str(error).split()).replace("include_rows=True", "--include-rows")
    match error:
        case KeyboardInterrupt():
            return CommandError("interrupted; nothing was written.", ExitCode.INTERRUPTED)
        case FileExistsError():
            return CommandError(f"{error.filename} is a file, where a folder is needed.")
        case OSError() if error.filename is not None:
            return CommandError(f"{error.filename}: {error.strerror}.")
        case NothingFoundError():
            return CommandError(name_options(message, options), ExitCode.FLOOR)
        case BlackBoxError():
            return CommandError(message, ExitCode.MODEL)
        case ImportError():
            return wrong_option(message)
        case FileError() | ValueError() | OSError():
            # Parameters of Python are options here; rows, columns and files are checked where they are read.
            named = name_options(message, options)
            return wrong_option(named) if named.startswith("--") else CommandError(message)
    return CommandError(f"unexpected {type(error).__name__}: {message} (--debug shows where).", ExitCode.UNEXPECTED)
