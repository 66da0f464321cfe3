"""Options that several commands share, named as the parameters in Python and shown in groups by ``--help``."""

from pathlib import Path
from typing import Annotated, Any

import typer

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
