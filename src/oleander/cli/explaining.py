"""Commands that fit: ``explain`` and ``compare``.

What a command works with is imported when it runs: a wrong option is answered before that.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oleander.cli import options as given
from oleander.cli.errors import CommandError, ExitCode
from oleander.draws.options import Draws
from oleander.running.wording import printable

if TYPE_CHECKING:
    from oleander.aggregate import AggregateExplainer
    from oleander.cli.preparing import Prepared


def explain(
    data: given.Data,
    target: given.Target = None,
    out: given.OutFolder = Path("oleander-out"),
    model: given.Model = None,
    trust_model: given.TrustModel = False,
    classes: given.Classes = None,
    max_explainers: given.MaxExplainers = 10,
    min_fidelity: given.MinFidelity = 0.9,
    max_rules: given.MaxRules = None,
    max_conditions: given.MaxConditions = None,
    tolerance: given.Tolerance = None,
    threshold: given.Threshold = None,
    proba: given.Proba = None,
    candidates: given.Candidates = None,
    radius: given.Radius = None,
    paper: given.Paper = False,
    local: given.Local = None,
    formulation: given.Formulation = None,
    letter: given.Letter = False,
    background: given.Background = None,
    draws: given.NDraws = None,
    stability: given.Stability = None,
    groups: given.Groups = None,
    drop: given.Drop = None,
    kinds: given.Kinds = "",
    separator: given.Separator = None,
    decimal: given.Decimal = None,
    encoding: given.Encoding = None,
    missing: given.Missing = None,
    date_format: given.DateFormat = None,
    time_limit: given.TimeLimit = None,
    jobs: given.Jobs = 1,
    seed: given.Seed = 0,
    include_rows: given.IncludeRows = False,
    as_json: given.AsJson = False,
    debug: given.Debug = False,
) -> None:
    """Explain a model on the rows of a file; write the explainers, their answers, the trade-off and the page."""
    from oleander.aggregate import AggregateExplainer
    from oleander.cli.numbers import NumberOptions
    from oleander.cli.outputs import check_folder, show_schema
    from oleander.cli.paper import PaperOptions, read_candidates
    from oleander.cli.preparing import Request, prepare_to_explain
    from oleander.cli.tables import FileOptions

    check_folder(out)
    numbers = NumberOptions(tolerance, threshold, proba)
    numbers.check(local, candidates)
    by_paper = PaperOptions(radius, local, formulation, letter, draws, include_rows)
    if paper:
        by_paper.check(
            candidates=candidates,
            max_rules=max_rules,
            max_conditions=max_conditions,
            background=background,
            stability=stability,
        )
    else:
        by_paper.refuse()
    files = FileOptions(separator, decimal, encoding, given.split_names(missing), date_format)
    request = Request(
        data,
        target,
        model,
        trust_model,
        groups,
        given.split_names(drop),
        kinds,
        files,
        background,
        given.split_names(classes),
        numbers.is_regression,
    )
    generators = read_candidates(candidates or "auto", radius)
    learned_from = Draws() if draws is None else Draws(draws)
    if not paper:
        _check_draws(generators, learned_from, background, stability)
    prepared = prepare_to_explain(request, random_state=seed, n_jobs=jobs)
    if prepared.schema is not None and not as_json:
        show_schema(prepared.schema)
    options: dict[str, Any] = {
        "max_explainers": max_explainers,
        "min_fidelity": min_fidelity,
        "schema": prepared.schema,
        "random_state": seed,
        "n_jobs": jobs,
    }
    if time_limit is not None:
        options["time_limit"] = time_limit
    options |= numbers.make(prepared.black_box)
    if paper:
        atlas = by_paper.make(prepared.black_box, **options)
    else:
        if max_rules is not None:
            options["max_rules"] = max_rules
        if max_conditions is not None:
            options["max_conditions"] = max_conditions
        atlas = AggregateExplainer(prepared.black_box, candidates=generators, draws=learned_from, **options)
    fit_and_write(
        atlas,
        prepared,
        out,
        as_json=as_json,
        include_rows=include_rows,
        title=f"How the model decides: {data.name}",
        n_refits=stability,
    )


def compare(
    data: given.Data,
    target: given.Target = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table as CSV too.")] = None,
    model: given.Model = None,
    trust_model: given.TrustModel = False,
    classes: given.Classes = None,
    max_explainers: given.MaxExplainers = 10,
    min_fidelity: given.MinFidelity = 0.9,
    methods: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Compare only these methods; commas between several.")
    ] = None,
    radius: Annotated[
        list[str] | None,
        typer.Option(
            metavar="R",
            help="The radius of the paper's balls in the units of the data. Default: one that holds 20% of the rows.",
        ),
    ] = None,
    groups: given.Groups = None,
    drop: given.Drop = None,
    kinds: given.Kinds = "",
    separator: given.Separator = None,
    decimal: given.Decimal = None,
    encoding: given.Encoding = None,
    missing: given.Missing = None,
    date_format: given.DateFormat = None,
    jobs: given.Jobs = 1,
    seed: given.Seed = 0,
    as_json: given.AsJson = False,
    debug: given.Debug = False,
) -> None:
    """Fit Oleander and its rivals on the same rows, and measure all of them on the same other rows."""
    from oleander import baselines
    from oleander.cli.outputs import records, show_json, show_table, write_table
    from oleander.cli.paper import read_radii
    from oleander.cli.preparing import Request, prepare
    from oleander.cli.tables import FileOptions

    files = FileOptions(separator, decimal, encoding, given.split_names(missing), date_format)
    names = given.split_names(classes)
    request = Request(data, target, model, trust_model, groups, given.split_names(drop), kinds, files, classes=names)
    prepared = prepare(request, random_state=seed, n_jobs=jobs)
    rivals = baselines.make_rivals(
        prepared.black_box,
        max_explainers=max_explainers,
        min_fidelity=min_fidelity,
        schema=prepared.schema,
        random_state=seed,
        **({} if radius is None else {"radius": read_radii(radius)}),
    )
    wanted = given.split_names(methods) or tuple(rivals)
    unknown = [name for name in wanted if name not in rivals]
    if unknown:
        raise CommandError(
            f"--methods {unknown[0]} is not known; known methods are {', '.join(sorted(rivals))}.", ExitCode.USAGE
        )
    if radius is not None and "paper" not in wanted:
        raise CommandError(
            "--radius is for the method paper, which --methods leaves out: leave out one.", ExitCode.USAGE
        )
    table = baselines.compare(
        prepared.black_box,
        prepared.X,
        rivals={name: rivals[name] for name in wanted},
        groups=prepared.groups,
        schema=prepared.schema,
        random_state=seed,
    )
    if out is not None:
        write_table(table, out)
    if as_json:
        show_json({"explained": prepared.about, "methods": records(table)})
    else:
        show_table(table, f"Explaining {prepared.about}")


def _check_draws(candidates: Any, draws: Draws, background: Path | None, stability: int | None) -> None:
    """Refuse options of draws where none are made."""
    makes_draws = isinstance(candidates, str) and draws.n > 0
    if draws not in (Draws(), Draws(0)) and not makes_draws:
        raise CommandError("--draws is for --candidates auto: leave out one.", ExitCode.USAGE)
    if stability is not None and not makes_draws:
        raise CommandError("--stability is for explainers learned from draws: leave it out.", ExitCode.USAGE)
    if background is not None and not makes_draws:
        raise CommandError("--background is for draws, and these options make none: leave it out.", ExitCode.USAGE)


def fit_and_write(
    atlas: "AggregateExplainer",
    prepared: "Prepared",
    out: Path,
    *,
    as_json: bool,
    title: str,
    include_rows: bool = False,
    n_refits: int | None = None,
    also: Callable[[Path], None] | None = None,
) -> None:
    """Fit, write all files to a folder, and print the summary or the main figures.

    ``n_refits`` says how often rules come back, and ``also`` writes further files to the folder that it is given.
    """
    import pandas as pd

    from oleander.cli.accuracy import ModelAccuracy
    from oleander.cli.outputs import facts_of, predictions_table, show_json, show_schema, whole_folder, write_table

    with whole_folder(out) as draft:
        # The training rows of a model trained here are a background only where draws are made.
        background = prepared.background if atlas.asks else None
        # A true label cannot be compared with a probability.
        y = None if atlas.output.of == "proba" else prepared.y
        atlas.fit(prepared.X, y, groups=prepared.groups, background=background)
        if n_refits is not None:
            atlas.stability(n_refits)
        tables = {"explainers.csv": atlas.rules_frame(), "tradeoff.csv": atlas.tradeoff().table}
        if isinstance(prepared.X, pd.DataFrame):
            tables["predictions.csv"] = predictions_table(atlas, prepared.X, prepared.row)
        for name, table in tables.items():
            write_table(table, draft / name)
        atlas.report(draft / "report.html", title=title, about=prepared.about, include_rows=include_rows)
        atlas.save(draft / "atlas.oleander", include_rows=include_rows)
        if also is not None:
            also(draft)
        files = [str(out / file.name) for file in sorted(draft.iterdir())]
    accuracy = ModelAccuracy.measure(atlas, prepared.X, prepared.truth)
    if as_json:
        right = None if accuracy is None else accuracy.share
        show_json({"explained": prepared.about, "accuracy": right, **facts_of(atlas), "files": files})
        return
    if prepared.schema is None:
        show_schema(atlas.schema_)
    typer.echo(f"Explaining {prepared.about}.\n")
    if accuracy is not None:
        typer.echo(printable(f"{accuracy.describe()}\n"))
    typer.echo(atlas.summary())
    typer.echo(f"\nWritten: {', '.join(files)}\nOpen {out / 'report.html'} in a browser.")
