"""The options of every command as records, shown in groups by ``--help``, and errors: a sentence and an exit code.

An option is named as the parameter in Python, and written once: in the record of its command, or in one that several
records extend.
"""

import math
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
# What is listed with commas, or by giving the option several times.
Names = Sequence[str]
GROUPS = (ARGUMENTS, DATA, MODEL, NUMBERS, RULES, BALLS, OUTPUT)


def option(
    default: Any,
    group: str,
    description: str,
    *,
    flag: str | None = None,
    metavar: str | None = None,
    least: float = -math.inf,
    most: float = math.inf,
) -> Any:
    """Return an option that the help shows in a group, named as its field where no ``flag`` is given."""
    details = {"help": description, "metavar": metavar}
    return field(default=default, metadata={"group": group, "flag": flag, "limits": (least, most), "details": details})


def argument(name: str, description: str, default: Any = MISSING) -> Any:
    """Return a positional argument, which may be left out if it has a default."""
    return option(default, ARGUMENTS, description, metavar=name)


# What several records have.
TABLES = (
    "A CSV, Excel or Parquet file with a header. Or a table that stays where it is: FILE.duckdb::TABLE, a folder of "
    "Parquet files, or env:VARIABLE::TABLE with a connection string in an environment variable."
)
_data = partial(argument, "DATA", "A CSV, Excel or Parquet file with a header.")
_atlas = partial(argument, "ATLAS", "A saved explainer, as explain writes it.")
_seed = partial(option, 0, OUTPUT, "The seed of every random choice.", least=0, most=2**32 - 1)
_jobs = partial(option, 1, OUTPUT, "Processes to use; -1 for all cores.", least=-1)
_rows = partial(option, False, OUTPUT, "Allow the files to hold rows of the data.")
_out_file = partial(option, None, OUTPUT, metavar="FILE")
_groups = partial(option, None, DATA, "The column that says which rows belong together (one patient).", metavar="COL")
_drop = partial(option, (), DATA, "Columns to leave out.", metavar="COL,...")
_model = partial(option, None, MODEL, metavar="MODEL")
_labels = partial(option, None, MODEL, "The column with the model's answers; no model is asked.", metavar="COL")


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
    """How files of rows are read and files of models are opened."""

    trust_model: bool = option(False, MODEL, "Open a file that can run any code: .joblib or .pkl.")
    classes: Names = option(
        (), MODEL, "The classes of a model whose file only numbers them, in order.", metavar="NAME,..."
    )


class Fitting(Opening):
    """A model and the rows to explain it on; without a model, one is trained on the target."""

    data: Path = argument("DATA", TABLES)
    target: str | None = option(None, DATA, "The column of true labels, which the model predicts.", metavar="COL")
    groups: str | None = _groups()
    drop: Names = _drop()
    kinds: str = option("", DATA, "Kinds of columns that are detected wrongly: age=integer.", metavar="COL=KIND,...")
    columns: Path | None = option(
        None, DATA, "A data dictionary: a file with the columns name, description and unit.", metavar="FILE"
    )
    model: str | None = _model(
        "A file (XGBoost .json or .ubj, LightGBM .txt, CatBoost .cbm, .onnx, .skops, or .joblib), or "
        "package.module:callable. Without it, 50 bagged trees are trained on one half of the rows and explained on the "
        "other half.",
    )
    tolerance: str | None = option(
        None,
        NUMBERS,
        "Explain numbers: an answer within T of the model's agrees. In units of the target; 10% is a share of it, and "
        "auto depends on the spread of the answers.",
        metavar="T",
    )
    out: Path = option(Path("oleander-out"), OUTPUT, "The folder to write.", metavar="DIR")
    seed: int = _seed()


class Explain(Fitting):
    """Explain a model on the rows of a file; write the rules, their answers, the trade-off and the page."""

    background: Path | None = option(
        None, MODEL, "With --model: rows that show where data lie, such as its training rows.", metavar="FILE"
    )
    threshold: float | None = option(None, NUMBERS, "Explain whether the number or probability exceeds X.", metavar="X")
    proba: str | None = option(
        None, NUMBERS, "Explain the probability of this class, with --tolerance or --threshold.", metavar="CLASS"
    )
    max_explainers: int | None = option(
        None, RULES, "The maximum number of rules. Default: 10, or two per class if that is more.", least=1
    )
    min_fidelity: float = option(
        0.9, RULES, "The floor: the minimum share of answers that agree with the model.", least=0, most=1
    )
    limit: list[str] | None = option(
        None,
        RULES,
        "What rules may do: conditions=3 at most, or forbid=COL,... or monotone=COL+,... or order=LABEL,... (labels "
        "from low to high, for monotone), or floor_by=COL,... (the floor within every subgroup, or silence there). "
        "Repeat the option for each.",
        metavar="WHAT=VALUE",
    )
    draws: int | None = option(
        None, RULES, "Synthetic rows that the model labels; 0 learns from the rows only. Default: 20,000.", least=0
    )


class Paper(Fitting):
    """Explain a model by the paper's method: balls around rows, a small model in each, and the integer program."""

    radius: Names = option(
        MISSING,
        BALLS,
        "The radius of the balls in the units of the data, or auto. Several are tried around a row.",
        metavar="R,...",
    )
    max_explainers: int = option(10, BALLS, "K: the maximum number of explainers.", least=1)
    min_fidelity: float = option(
        0.9, BALLS, "φ: the minimum share of each ball's rows that agree with the model.", least=0, most=1
    )
    n_draws: int = option(10_000, BALLS, "N: the number of draws in each ball.", least=1)
    local: Literal["tree", "unfiltered"] = option(
        "tree", BALLS, "The explainer in each ball: a tree on filtered features or on all."
    )
    formulation: Literal["strict", "selective"] | None = option(
        None, BALLS, "The program: strict (by the definition; the default) or selective (as printed)."
    )
    letter: bool = option(
        False, BALLS, "To the letter: its filter, draws in the whole ball, the printed program by default."
    )
    time_limit: float = option(60.0, BALLS, "Seconds for solving the program.", least=0)
    jobs: int = _jobs()
    include_rows: bool = _rows()


class Demo(Options):
    """Explain a forest on a generated clinic, which needs no data."""

    out: Path = option(Path("oleander-demo"), OUTPUT, "The folder to write.", metavar="DIR")
    seed: int = _seed()
    jobs: int = _jobs()
    opens: bool = option(False, OUTPUT, "Open the page in a browser at the end.", flag="--open")


class Predict(Reading):
    """Answer the rows of a file with a saved explainer; answers are empty where it abstains."""

    atlas: Path = _atlas()
    data: Path = _data()
    out: Path | None = _out_file("Write a file; default: print it.")


class Asking(Opening):
    """A model to ask about rows beside a saved explainer."""

    atlas: Path = _atlas()
    model: str | None = _model("The model to ask: a file, or package.module:callable.")


class ExplainRow(Asking):
    """Explain one row with a saved explainer: its answer, the rules behind it, and what would change it."""

    data: Path | None = option(None, DATA, "The file with the row.", metavar="DATA")
    row: int | None = option(
        None, DATA, "With --data: the number of the row; the first after the header is 0.", least=0
    )
    values: list[str] | None = option(
        None, DATA, "A row of all columns instead, such as age=61,ward=north; age= is missing.", metavar="COL=V,..."
    )


class Judging(Asking):
    """New rows to judge a saved explainer on."""

    atlas: Path = _atlas()
    data: Path | None = argument("DATA", TABLES)
    labels: str | None = _labels()


class Evaluate(Judging):
    """Judge a saved explainer on new rows; exit with code 6 if its floor is broken."""

    confidence: float = option(0.95, RULES, "The confidence of each of the two bounds.", least=0.5, most=0.999999)


class Watch(Judging):
    """Add a batch of new rows to a watch over a saved explainer; exit with code 6 on an alarm, 7 on a suspicion.

    Without rows, say what all batches so far show.
    """

    atlas: Path = _atlas()
    data: Path | None = argument("DATA", TABLES, default=None)
    log: Path = option(MISSING, OUTPUT, "The file that keeps the counts of all batches.", metavar="FILE")
    name: str | None = option(
        None, DATA, "The name of this batch, such as its date; a name counts once. Default: the time.", metavar="NAME"
    )
    level: float = option(0.05, RULES, "The probability of ever raising a false alarm.", least=1e-9, most=0.5)
    report: Path | None = _out_file("Write a page with the path over time.")
    min_coverage: float | None = option(
        None, RULES, "The share of rows to be answered. Default: nine tenths of the fit's.", least=1e-9, most=1.0
    )


class Edit(Asking):
    """Change the rules of a saved explainer by a file of edits; exit with code 6 if a reserve does not pass them."""

    apply: Path = option(MISSING, RULES, "The edits as JSON, as the page exports them.", metavar="FILE")
    data: Path = option(MISSING, DATA, "Rows on which the edited rules are counted.", metavar="DATA")
    labels: str | None = _labels()
    reserve: Path | None = option(
        None, DATA, "New rows that certify the edited rules, and show only whether they pass.", metavar="DATA"
    )
    log: Path | None = option(None, DATA, "With --reserve: the file that remembers all its tests.", metavar="FILE")
    out: Path = option(MISSING, OUTPUT, "The edited explainer.", metavar="FILE")


class Export(Options):
    """Write a saved explainer as SQL, Python, JSON or a folder of evidence."""

    atlas: Path = _atlas()
    form: Literal["sql", "python", "dict", "dossier"] = option(
        MISSING,
        OUTPUT,
        "SQL, Python code, JSON, or a folder of evidence to check.",
        flag="--format",
    )
    out: Path | None = _out_file("Write a file; default: print it.")
    dialect: str | None = option(
        None,
        OUTPUT,
        "With sql: duckdb (the default), sqlite, postgres or spark.",
        metavar="NAME",
    )
    table: str | None = option(None, OUTPUT, "With sql: the table with the rows. Default: data.")
    title: str | None = option(None, OUTPUT, "With dossier: what the model is.")
    ask_model: bool = option(False, OUTPUT, "With sql and python: also say of which rows the model must be asked.")


class Report(Asking):
    """Write the page of a saved explainer."""

    out: Path = option(Path("report.html"), OUTPUT, "The page to write.", metavar="FILE")
    data: Path | None = option(None, DATA, "Rows that the page counts.", metavar="DATA")
    title: str = option("How the model decides", OUTPUT, "What the page is about.")
    include_rows: bool = _rows()


class Tradeoff(Options):
    """Show the coverage for each number of explainers and each floor."""

    atlas: Path = _atlas()
    out: Path | None = _out_file("Write a CSV file too.")


def split_names(text: str) -> tuple[str, ...]:
    """Return the names that an option lists with commas.

    >>> split_names("age,sex,")
    ('age', 'sex')
    """
    return tuple(name for name in text.split(",") if name)


# The start of a message about a parameter in Python, such as ``radius=-1.0 is not allowed``.
PARAMETER = re.compile(r"(\w+)=(?! )")


def name_options(message: str, options: Collection[str]) -> str:
    """Return a message about parameters in Python as one about the options of a command.

    Names of one word may be words of the sentence, so they are options only before a value.

    >>> name_options("At most min_fidelity=0.86 can be shown: lower min_fidelity.", ["min_fidelity"])
    'At most --min-fidelity 0.86 can be shown: lower --min-fidelity.'
    """
    for name in options:
        flag = f"--{name.replace('_', '-')}"
        message = re.sub(rf"(?<![\w.'-]){name}=(?! )", f"{flag} ", message)
        if "_" in name:
            message = re.sub(rf"(?<![\w.'-]){name}(?![\w.']*[\w'])", flag, message)
    return message


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


def to_command_error(error: BaseException, options: Collection[str]) -> CommandError:
    """Return any error as one sentence with an exit code; a message about a parameter in ``options`` is about it."""
    if isinstance(error, CommandError):
        return error
    # Imported here, because a wrong option is answered before scikit-learn is imported.
    from oleander.black_box.answers import BlackBoxError
    from oleander.files.saved import FileError
    from oleander.fitting.options import NothingFoundError

    message = " ".join(str(error).split()).replace("include_rows=True", "--include-rows")
    named = PARAMETER.match(message)
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
        case ValueError() if named and named[1] in options:
            # Parameters of Python are options here.
            return wrong_option(name_options(message, options))
        case FileError() | ValueError() | OSError():
            # Rows, columns and files are checked where they are read, with the column and row named.
            return CommandError(message)
    sentence = f"unexpected {type(error).__name__}: {message} (--debug shows where)."
    return CommandError(sentence, ExitCode.UNEXPECTED)
