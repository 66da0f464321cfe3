"""The command ``study``: the paper's studies."""

from pathlib import Path
from typing import Annotated

import typer
from studies.claims import claims_table
from studies.run import run_study

from oleander.cli import options as given
from oleander.cli.outputs import records, show_json
from oleander.running.extras import import_extra


def study(
    study: Annotated[given.Study, typer.Argument(metavar="geriatric|ppmi", help="Which one.", show_default=False)],
    out: given.OutFolder = Path("study"),
    data: Annotated[
        Path | None,
        typer.Option(help="Folder or archive; default: fetched (geriatric), a synthetic cohort (ppmi)."),
    ] = None,
    telemonitoring: Annotated[Path | None, typer.Option(help="Folder of the public telemonitoring data.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small version in a minute or two.")] = False,
    jobs: given.Jobs = 2,
    as_json: given.AsJson = False,
    debug: given.Debug = False,
) -> None:
    """Redo one of the paper's studies: figures, tables, claims and a page."""
    import_extra("matplotlib", extra="plot", purpose="Drawing a study's figures")
    result = run_study(
        study.value,
        data=data,
        out=out / study.value,
        quick=quick,
        telemonitoring=telemonitoring,
        n_jobs=jobs,
        tell=lambda words: typer.echo(words, err=as_json),
    )
    if as_json:
        claims = records(claims_table(result.claims))
        show_json({"out": str(result.out), "seconds": result.seconds, "claims": claims})
