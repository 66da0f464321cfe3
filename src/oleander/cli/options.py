"""Options that several commands share, named as the parameters in Python."""

from pathlib import Path
from typing import Annotated

import typer


def _check_jobs(jobs: int) -> int:
    if jobs == 0 or jobs < -1:
        raise typer.BadParameter("it should be a number of processes, or -1 for all cores")
    return jobs


# typer does not check files: one that cannot be read has an exit code of its own.
Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="A CSV, Excel or Parquet file with a header.", show_default=False, readable=False
    ),
]
Atlas = Annotated[
    Path,
    typer.Argument(
        metavar="ATLAS", help="A saved explainer, as explain writes it.", show_default=False, readable=False
    ),
]
Target = Annotated[str | None, typer.Option(metavar="COL", help="The column to be predicted.")]
Model = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL",
        help="A file (.joblib, .onnx, XGBoost .json or .ubj, LightGBM .txt, CatBoost .cbm, TorchScript .pt), or "
        "package.module:callable. Without it 50 bagged trees are trained on the "
        "target with half of the rows, and explained on the other half.",
    ),
]
TrustModel = Annotated[
    bool, typer.Option("--trust-model", help="Open a .joblib or TorchScript file, which can run any code.")
]
Candidates = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES", help="Generators of candidates: balls, trees, nodes, boxes, anchors. Default: boxes by asking."
    ),
]
Groups = Annotated[
    str | None, typer.Option(metavar="COL", help="The column that names the group of each row (one patient).")
]
Drop = Annotated[list[str] | None, typer.Option(metavar="COL", help="Columns to leave out; commas between several.")]
Kinds = Annotated[str, typer.Option(metavar="COL=KIND,...", help="Kinds of columns, such as age=integer,sex=binary.")]
Separator = Annotated[
    str | None, typer.Option(help="The mark between columns of a CSV file. Default: found in the first line.")
]
Decimal = Annotated[str | None, typer.Option(help="The decimal mark in a CSV file. Default: found in the columns.")]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The encoding of a CSV file. Default: UTF-8 or UTF-16, else cp1252 (Windows)."),
]
Missing = Annotated[
    list[str] | None, typer.Option(metavar="TEXT", help="Cells that mean a missing value; commas between several.")
]
DateFormat = Annotated[
    str | None, typer.Option(metavar="FORMAT", help="The format of dates, such as %d/%m/%Y. Default: the usual ones.")
]
Classes = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME", help="The classes of a model whose file only numbers them, in order; commas between several."
    ),
]
MaxExplainers = Annotated[int, typer.Option(help="The largest number of explainers.", min=1)]
MinFidelity = Annotated[
    float, typer.Option(help="The floor: the least share of answers that must be the model's.", min=0.0, max=1.0)
]
Tolerance = Annotated[
    str | None,
    typer.Option(
        metavar="T",
        help="Explain numbers: an answer agrees within T of the model's, in its units; 10% is a share of it, and auto "
        "follows the answers. Without --model a regression is trained.",
    ),
]
Threshold = Annotated[
    float | None, typer.Option(metavar="X", help="Explain whether the model's number, or probability, is over X.")
]
Proba = Annotated[
    str | None,
    typer.Option(metavar="CLASS", help="Explain the probability of this class, with --tolerance or --threshold."),
]
Radius = Annotated[
    list[str] | None,
    typer.Option(
        metavar="R",
        help="Choose among balls of this radius: auto or a number, with commas or again for several. In standard "
        "deviations; with --paper in the units of the data.",
    ),
]
Paper = Annotated[
    bool, typer.Option("--paper", help="The system of the paper: balls, a whole tree in each, and the integer program.")
]
Local = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="With --paper: the explainer in each ball: tree, unfiltered, lime, or line for numbers."
    ),
]
Formulation = Annotated[
    str | None, typer.Option(metavar="NAME", help="With --paper: strict (the definition) or selective (as printed).")
]
Letter = Annotated[
    bool, typer.Option("--letter", help="With --paper: its letter, without our changes to filter, draws and program.")
]
MaxRules = Annotated[int | None, typer.Option(help="The largest number of rules in all. Default: 20.", min=1)]
MaxConditions = Annotated[int | None, typer.Option(help="The largest number of conditions in a rule.", min=1)]
Stability = Annotated[
    int | None, typer.Option(metavar="REFITS", help="Refit this often, and say how often each rule comes back.", min=1)
]
TimeLimit = Annotated[
    float | None, typer.Option(help="Seconds for solving, where candidates are named. Default: 60.", min=0.0)
]
Background = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Rows that show where data lie, such as the model's training rows."),
]
NDraws = Annotated[
    int | None,
    typer.Option(
        help="Draws that the model labels; 0 learns from the rows only. Default: 20,000. With --paper draws in each "
        "ball, by default 10,000.",
        min=0,
    ),
]
Jobs = Annotated[int, typer.Option(help="Processes to use; -1 for all cores.", callback=_check_jobs)]
Seed = Annotated[int, typer.Option(help="The seed of every random choice.", min=0, max=2**32 - 1)]
IncludeRows = Annotated[bool, typer.Option("--include-rows", help="Allow the files to hold rows of the data.")]
OutFolder = Annotated[Path, typer.Option(metavar="DIR", help="The folder to write.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def split_names(values: list[str] | None) -> tuple[str, ...]:
    """Return the names that an option lists, with commas or given several times.

    Examples
    --------
    >>> split_names(["age,sex", "id"])
    ('age', 'sex', 'id')
    """
    return tuple(name for value in values or [] for name in value.split(",") if name)
