"""Commands that fit: ``explain`` by default, and ``paper`` for the paper's method.

What a command works with is imported when it runs: a wrong option is answered before that.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from oleander.cli import options as given
from oleander.cli.errors import note, wrong_option
from oleander.messages import list_some, show_share, visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from oleander.black_box.output import Output
    from oleander.cli.preparing import Prepared
    from oleander.explainer import AggregateExplainer


def explain(
    data: given.Data,
    target: given.Target = None,
    groups: given.Groups = None,
    drop: given.Drop = None,
    kinds: given.Kinds = "",
    missing: given.Missing = None,
    read: given.Read = None,
    model: given.Model = None,
    trust_model: given.TrustModel = False,
    classes: given.Classes = None,
    background: given.Background = None,
    tolerance: given.Tolerance = None,
    threshold: given.Threshold = None,
    proba: given.Proba = None,
    max_explainers: given.MaxExplainers = None,
    min_fidelity: given.MinFidelity = 0.9,
    max_conditions: given.MaxConditions = None,
    draws: given.Draws = None,
    out: given.OutFolder = Path("oleander-out"),
    seed: given.Seed = 0,
    as_json: given.AsJson = False,
) -> None:
    """Explain a model on the rows of a file; write the rules, their answers, the trade-off and the page."""
    from oleander.candidates.boxes import Boxes
    from oleander.cli.outputs import check_folder, show_schema
    from oleander.cli.preparing import Request, prepare_to_explain
    from oleander.cli.tables import FileOptions
    from oleander.draws import Draws
    from oleander.explainer import AggregateExplainer

    check_folder(out)
    if tolerance is not None and threshold is not None:
        raise wrong_option("--threshold makes labels of numbers, which need no --tolerance: leave out one.")
    if proba is not None and tolerance is None and threshold is None:
        raise wrong_option("--proba explains a number: give --tolerance, such as 0.05, or --threshold.")
    within = read_tolerance(tolerance)
    request = Request(
        data,
        target,
        groups=groups,
        drop=given.split_names(drop),
        kinds=kinds,
        files=FileOptions.parse(read, missing),
        model=model,
        trust_model=trust_model,
        classes=given.split_names(classes),
        background=background,
        is_regression=proba is None and (tolerance is not None or threshold is not None),
    )
    prepared = prepare_to_explain(request, random_state=seed)
    if prepared.schema is not None and not as_json:
        show_schema(prepared.schema)
    atlas = AggregateExplainer(
        prepared.black_box,
        max_explainers=max_explainers,
        min_fidelity=min_fidelity,
        candidates=Boxes(max_conditions),
        draws=Draws() if draws is None else Draws(draws),
        tolerance=within,
        output=read_output(proba, threshold, prepared.black_box),
        schema=prepared.schema,
        random_state=seed,
    )
    fit_and_write(atlas, prepared, out, as_json=as_json, title=f"How the model decides: {data.name}")


def paper(
    data: given.Data,
    radius: Annotated[
        list[str],
        given.option(
            given.BALLS,
            "The radius of the balls in the units of the data, or auto. Several radii are tried around each row.",
            metavar="R,...",
        ),
    ],
    target: given.Target = None,
    groups: given.Groups = None,
    drop: given.Drop = None,
    kinds: given.Kinds = "",
    missing: given.Missing = None,
    read: given.Read = None,
    model: given.Model = None,
    trust_model: given.TrustModel = False,
    classes: given.Classes = None,
    tolerance: given.Tolerance = None,
    max_explainers: Annotated[int, given.option(given.BALLS, "K: the maximum number of explainers.", min=1)] = 10,
    min_fidelity: Annotated[
        float,
        given.option(given.BALLS, "φ: the minimum share of each ball's rows that agree with the model.", min=0, max=1),
    ] = 0.9,
    n_draws: Annotated[int, given.option(given.BALLS, "N: the number of draws in each ball.", min=1)] = 10_000,
    local: Annotated[
        Literal["tree", "unfiltered", "lime", "line"],
        given.option(
            given.BALLS,
            "The explainer in each ball: a tree on filtered features or on all, LIME, or a line for numbers.",
        ),
    ] = "tree",
    formulation: Annotated[
        Literal["strict", "selective"] | None,
        given.option(given.BALLS, "The program: strict (by the definition; the default) or selective (as printed)."),
    ] = None,
    letter: Annotated[
        bool,
        given.option(
            given.BALLS,
            "The paper to the letter: its filter, draws in the whole ball, the printed program (or --formulation "
            "strict).",
            "--letter",
        ),
    ] = False,
    time_limit: Annotated[float, given.option(given.BALLS, "Seconds for solving the program.", min=0)] = 60.0,
    out: given.OutFolder = Path("oleander-out"),
    seed: given.Seed = 0,
    jobs: given.Jobs = 1,
    include_rows: given.IncludeRows = False,
    as_json: given.AsJson = False,
) -> None:
    """Explain a model by the paper's method: balls around rows, a small model in each, and the integer program."""
    from oleander.cli.outputs import check_folder, show_schema
    from oleander.cli.preparing import Request, prepare_to_explain
    from oleander.cli.tables import FileOptions
    from oleander.explainer import AggregateExplainer
    from oleander.rules import LimeLinear, LocalExplainer, SparseLine, UnfilteredTree

    check_folder(out)
    if tolerance is not None and local == "lime":
        raise wrong_option("--local lime explains labels: with --tolerance use tree, unfiltered or line.")
    if tolerance is None and local == "line":
        raise wrong_option("--local line explains numbers: give --tolerance, or use tree, unfiltered or lime.")
    if letter and not include_rows:
        raise wrong_option("--letter centers balls on rows, which the files would hold: allow it with --include-rows.")
    radii, within = read_radii(radius), read_tolerance(tolerance)
    request = Request(
        data,
        target,
        groups=groups,
        drop=given.split_names(drop),
        kinds=kinds,
        files=FileOptions.parse(read, missing),
        model=model,
        trust_model=trust_model,
        classes=given.split_names(classes),
        is_regression=tolerance is not None,
    )
    prepared = prepare_to_explain(request, random_state=seed, n_jobs=jobs)
    if prepared.schema is not None and not as_json:
        show_schema(prepared.schema)
    if not include_rows:
        note("balls stand on rounded rows, so that no file holds a row; --include-rows takes the rows themselves.")
    # None is the tree: the letter's has a filter of its own.
    others: dict[str, LocalExplainer] = {
        "unfiltered": UnfilteredTree(max_leaves=None),
        "lime": LimeLinear(),
        "line": SparseLine(),
    }
    atlas = AggregateExplainer.paper(
        prepared.black_box,
        radius=radii,
        n_draws=n_draws,
        local=others.get(local),
        centers="rows" if include_rows else "rounded",
        formulation=formulation,
        letter=letter,
        max_explainers=max_explainers,
        min_fidelity=min_fidelity,
        tolerance=within,
        schema=prepared.schema,
        time_limit=time_limit,
        random_state=seed,
        n_jobs=jobs,
    )
    title = f"How the model decides: {data.name}"
    fit_and_write(atlas, prepared, out, as_json=as_json, title=title, include_rows=include_rows)


def fit_and_write(
    atlas: "AggregateExplainer",
    prepared: "Prepared",
    out: Path,
    *,
    as_json: bool,
    title: str,
    include_rows: bool = False,
    also: Callable[[Path], None] | None = None,
) -> None:
    """Fit, write all files to a folder, and print the summary or the main figures.

    ``also`` writes further files to the folder that it is given.
    """
    import pandas as pd

    from oleander.cli.outputs import facts_of, predictions_table, show_json, show_schema, whole_folder, write_table

    with whole_folder(out) as draft:
        # The training rows of a model trained here are a background only where draws are made.
        background = prepared.background if atlas.asks else None
        # A true label cannot be compared with a probability.
        y = None if atlas.output.of == "proba" else prepared.y
        atlas.fit(prepared.X, y, groups=prepared.groups, background=background)
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
    accuracy, sentence = measure_model(atlas, prepared.X, prepared.truth)
    if as_json:
        show_json({"explained": prepared.about, "accuracy": accuracy, **facts_of(atlas), "files": files})
        return
    if prepared.schema is None:
        show_schema(atlas.schema_)
    typer.echo(f"Explaining {visible(prepared.about)}.\n")
    if sentence:
        typer.echo(f"{sentence}\n")
    typer.echo(atlas.summary())
    typer.echo(f"\nWritten: {visible(', '.join(files))}\nOpen {visible(out / 'report.html')} in a browser.")


def measure_model(atlas: "AggregateExplainer", X: Any, truth: "NDArray[Any] | None") -> tuple[float | None, str]:
    """Return the share of rows on which the model itself is right, and a sentence that says so.

    The answers are known from the fit; no row is sent to the model. None and no sentence without true labels, for a
    source, for a probability, and where no label is both true and an answer.
    """
    import numpy as np
    import pandas as pd

    if truth is None or not isinstance(X, pd.DataFrame) or atlas._engine is None or atlas.output.of == "proba":
        return None, ""
    known = atlas._engine.known
    places = known.find(atlas.schema_.exact.encode(X))
    answers, true = known.labels[places[places >= 0]], np.asarray(atlas.output.of_truth(truth))[places >= 0]
    tolerance = atlas.record_.explainers.tolerance
    never = [label for label in sorted(set(true.tolist()), key=str) if label not in set(known.labels.tolist())]
    if not len(answers) or (tolerance is None and not set(answers.tolist()) & set(true.tolist())):
        return None, ""
    agrees = answers == true if tolerance is None else tolerance.agrees(answers.astype(float), true.astype(float))
    share = float(np.mean(agrees))
    right = f"on {show_share(share, 1)} of {len(answers):,} rows"
    if tolerance is not None:
        return share, f"The model itself is right, {tolerance}, {right}."
    end = f"; it never answers {list_some(never)}" if never else ""
    return share, f"The model itself is right {right}{end}."


def read_tolerance(text: str | None) -> float | str | None:
    """Return the tolerance that ``--tolerance`` gives: a number, a share such as "10%", or "auto".

    Examples
    --------
    >>> read_tolerance("30"), read_tolerance("10%")
    (30.0, '10%')
    """
    from oleander.data.tolerance import Tolerance

    if text is None or text == "auto":
        return text
    try:
        tolerance: float | str = float(text)
    except ValueError:
        tolerance = text
    # Refuses what is no tolerance.
    Tolerance.read(tolerance)
    return tolerance


def read_output(proba: str | None, threshold: float | None, model: Any) -> "Output":
    """Return what ``--proba`` and ``--threshold`` explain of a model; a class by the name that the model gives it."""
    from oleander.black_box.output import Output

    if proba is None:
        return Output(threshold=threshold)
    known = getattr(model, "classes_", None)
    if known is None:
        return Output("proba", proba, threshold)
    classes = known.tolist() if hasattr(known, "tolist") else list(known)
    for one in classes:
        # A class that is a number is text among the options.
        if str(one) == proba:
            return Output("proba", one, threshold)
    raise wrong_option(f"--proba {proba} is not a class of the model, which has {list_some(classes)}.")


def read_radii(radius: Sequence[str]) -> Any:
    """Return the radius that ``--radius`` gives, once or several times, with commas or without.

    Examples
    --------
    >>> read_radii(["7"]), read_radii(["5", "7,9"]), read_radii(["auto"])
    (7.0, [5.0, 7.0, 9.0], 'auto')
    """
    words = given.split_names(list(radius))
    if words == ("auto",):
        return "auto"
    try:
        radii = [float(word) for word in words]
    except ValueError:
        radii = []
    if not radii:
        raise wrong_option(f"--radius {' '.join(radius)} is not allowed: give auto, a number, or several numbers.")
    return radii[0] if len(radii) == 1 else radii
