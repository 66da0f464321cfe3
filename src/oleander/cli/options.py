"""What the commands share: options, named as the parameters in Python and shown in groups by ``--help``, and errors.

An error is one sentence for the user, and an exit code for scripts.
"""

import re
from collections.abc import Collection
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from oleander.messages import visible

DATA, MODEL, NUMBERS = "The data", "The model", "Numbers and probabilities"
RULES, BALLS, OUTPUT = "The rules", "The paper's method", "Output"


def option(group: str, description: str, *names: str, **details: Any) -> Any:
    """Return an option that the help shows in a group; ``details`` are those of ``typer.Option``."""
    return typer.Option(*names, help=description, rich_help_panel=group, **details)


def _file(name: str, description: str) -> Any:
    # typer does not check files: one that cannot be read has an exit code of its own.
    return typer.Argument(metavar=name, help=description, show_default=False, readable=False)


def _check_jobs(jobs: int) -> int:
    if jobs == 0 or jobs < -1:
        raise typer.BadParameter("it should be a number of processes, or -1 for all cores")
    return jobs


Data = Annotated[Path, _file("DATA", "A CSV, Excel or Parquet file with a header.")]
Atlas = Annotated[Path, _file("ATLAS", "A saved explainer, as explain writes it.")]

Target = Annotated[str | None, option(DATA, "The column that the model predicts.", metavar="COL")]
Groups = Annotated[
    str | None, option(DATA, "The column that says which rows belong together (one patient).", metavar="COL")
]
Drop = Annotated[list[str] | None, option(DATA, "Columns to leave out.", metavar="COL,...")]
Kinds = Annotated[
    str,
    option(
        DATA,
        "Columns whose kind is not what their values suggest, such as age=integer,ward=categorical.",
        metavar="COL=KIND,...",
    ),
]
Missing = Annotated[
    list[str] | None, option(DATA, "Cells that mean a missing value, such as n/k,-999.", metavar="TEXT,...")
]
Read = Annotated[
    list[str] | None,
    option(
        DATA,
        "How to read the file, where it is not found out: separator=; or decimal=, or encoding=cp1252 or "
        "dates=%d/%m/%Y. Give it once for each.",
        metavar="HOW=VALUE",
    ),
]

Model = Annotated[
    str | None,
    option(
        MODEL,
        "A file (XGBoost .json or .ubj, LightGBM .txt, CatBoost .cbm, .onnx, .skops, or .joblib), or "
        "package.module:callable. Without it, 50 bagged trees are trained on one half of the rows and explained on "
        "the other half.",
        metavar="MODEL",
    ),
]
AskedModel = Annotated[
    str | None, option(MODEL, "The model to ask: a file, or package.module:callable.", metavar="MODEL")
]
TrustModel = Annotated[
    bool, option(MODEL, "Open a file that can run any code, such as .joblib or .pkl.", "--trust-model")
]
Classes = Annotated[
    list[str] | None,
    option(MODEL, "The classes of a model whose file only numbers them, in order.", metavar="NAME,..."),
]
Labels = Annotated[str | None, option(MODEL, "The column with the model's answers; no model is asked.", metavar="COL")]
Background = Annotated[
    Path | None,
    option(MODEL, "With --model: rows that show where data lie, such as the model's training rows.", metavar="FILE"),
]

Tolerance = Annotated[
    str | None,
    option(
        NUMBERS,
        "Explain numbers: an answer within T of the model's agrees. In units of the target; 10% is a share of it, and "
        "auto depends on the spread of the answers.",
        metavar="T",
    ),
]
Threshold = Annotated[
    float | None, option(NUMBERS, "Explain whether the model's number, or probability, is over X.", metavar="X")
]
Proba = Annotated[
    str | None,
    option(NUMBERS, "Explain the probability of this class, with --tolerance or --threshold.", metavar="CLASS"),
]

MaxExplainers = Annotated[
    int | None, option(RULES, "The maximum number of rules. Default: 10, or two per class if that is more.", min=1)
]
MinFidelity = Annotated[
    float, option(RULES, "The floor: the minimum share of answers that agree with the model.", min=0.0, max=1.0)
]
MaxConditions = Annotated[int | None, option(RULES, "The maximum number of conditions in a rule.", min=1)]
Draws = Annotated[
    int | None,
    option(RULES, "Synthetic rows that the model labels; 0 learns from the rows only. Default: 20,000.", min=0),
]

OutFolder = Annotated[Path, option(OUTPUT, "The folder to write.", metavar="DIR")]
OutFile = Annotated[Path | None, option(OUTPUT, "Write a file; default: print it.", metavar="FILE")]
Seed = Annotated[int, option(OUTPUT, "The seed of every random choice.", min=0, max=2**32 - 1)]
Jobs = Annotated[int, option(OUTPUT, "Processes to use; -1 for all cores.", callback=_check_jobs)]
IncludeRows = Annotated[bool, option(OUTPUT, "Allow the files to hold rows of the data.", "--include-rows")]
AsJson = Annotated[bool, option(OUTPUT, "Print one JSON object instead of text.", "--json")]


def split_names(values: list[str] | None) -> tuple[str, ...]:
    """Return the names that an option lists, with commas or given several times.

    Examples
    --------
    >>> split_names(["age,sex", "id"])
    ('age', 'sex', 'id')
    """
    return tuple(name for value in values or [] for name in value.split(",") if name)


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


def note(sentence: str) -> None:
    """Print a note to standard error, so that it does not mix with the output."""
    typer.echo(visible(f"note: {sentence}"), err=True)


def to_command_error(error: BaseException, options: Collection[str]) -> CommandError:
    """Return any error as one sentence with an exit code.

    Parameters
    ----------
    error : BaseException
    options : collection of str
        The parameters of the command: a message about one of them is about an option.
    """
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
