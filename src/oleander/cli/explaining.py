"""Commands that fit: ``explain`` by default, ``paper`` for the paper's method, ``compare-models`` and ``demo``.

What a command works with is imported when it runs: a wrong option is answered before that.
"""

import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from oleander.cli import options as given
from oleander.cli.options import note, wrong_option
from oleander.messages import list_some, show_lower_percent, show_share, show_upper_percent, visible

if TYPE_CHECKING:
    from oleander.black_box.output import Output
    from oleander.cli.preparing import Prepared, Request
    from oleander.explainer import AggregateExplainer

# Of the small tree that shows where two models differ most; a leaf with fewer rows shows nothing.
MAX_LEAVES, MIN_ROWS = 6, 10
# The demo gives the paper's program fewer rows and draws than the paper, so that it is short, and the default a high
# floor, so that it shows abstention.
RADIUS, N_CENTERS, N_DRAWS = 8.0, 200, 1_000
NUMBERS, FLOORS, DEMO_FLOOR = (1, 2, 3, 5, 10), (0.8, 0.9, 0.95), 0.95
NO_PICTURE = 'A picture of the two panels needs matplotlib: pip install "oleander[plot]"'
# φ in the paper's figures.
PAPERS_FLOORS = (0.5, 0.7, 0.9)


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
    from oleander.cli.preparing import Request
    from oleander.draws import Draws
    from oleander.explainer import AggregateExplainer

    if tolerance is not None and threshold is not None:
        raise wrong_option("--threshold makes labels of numbers, which need no --tolerance: leave out one.")
    if proba is not None and tolerance is None and threshold is None:
        raise wrong_option("--proba explains a number: give --tolerance, such as 0.05, or --threshold.")
    within = read_tolerance(tolerance)
    request = Request.read(
        data,
        target,
        groups=groups,
        drop=drop,
        kinds=kinds,
        missing=missing,
        read=read,
        model=model,
        trust_model=trust_model,
        classes=classes,
        background=background,
        is_regression=proba is None and (tolerance is not None or threshold is not None),
    )
    prepared = _prepare(request, out, seed, as_json=as_json)
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
    from oleander.cli.preparing import Request
    from oleander.explainer import AggregateExplainer
    from oleander.rules import LimeLinear, LocalExplainer, SparseLine, UnfilteredTree

    if tolerance is not None and local == "lime":
        raise wrong_option("--local lime explains labels: with --tolerance use tree, unfiltered or line.")
    if tolerance is None and local == "line":
        raise wrong_option("--local line explains numbers: give --tolerance, or use tree, unfiltered or lime.")
    if letter and not include_rows:
        raise wrong_option("--letter centers balls on rows, which the files would hold: allow it with --include-rows.")
    radii, within = read_radii(radius), read_tolerance(tolerance)
    request = Request.read(
        data,
        target,
        groups=groups,
        drop=drop,
        kinds=kinds,
        missing=missing,
        read=read,
        model=model,
        trust_model=trust_model,
        classes=classes,
        is_regression=tolerance is not None,
    )
    prepared = _prepare(request, out, seed, n_jobs=jobs, as_json=as_json)
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

    def also(folder: Path) -> None:
        write_panels(atlas, folder)

    fit_and_write(atlas, prepared, out, as_json=as_json, title=title, include_rows=include_rows, also=also)


def write_panels(atlas: "AggregateExplainer", folder: Path) -> None:
    """Write the paper's two panels: coverage and lowest fidelity over K, a line per floor, beside one tree of all rows.

    The picture needs matplotlib; without it the table is written alone.
    """
    import pandas as pd

    from oleander.cli.outputs import write_table

    panels = atlas.tradeoff(min_fidelity=sorted({*PAPERS_FLOORS, atlas.min_fidelity}))
    trees = atlas.verdict_.rename(columns={"answer": "method", "agreement": "fidelity"})
    rivals = trees[["method", "coverage", "fidelity"]]
    whole = pd.concat([panels.table.assign(method="the program"), rivals], ignore_index=True)
    write_table(whole, folder / "panels.csv")
    if find_spec("matplotlib") is not None:
        panels.plot(folder / "panels.png", rivals=rivals)


def _prepare(request: "Request", out: Path, seed: int, *, n_jobs: int | None = None, as_json: bool) -> "Prepared":
    from oleander.cli.outputs import check_folder, show_schema
    from oleander.cli.preparing import prepare_to_explain

    check_folder(out)
    prepared = prepare_to_explain(request, random_state=seed, n_jobs=n_jobs)
    if prepared.schema is not None and not as_json:
        show_schema(prepared.schema)
    return prepared


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
        with warnings.catch_warnings():
            if prepared.is_new:
                # A model trained here may be right on every row without having seen one of them.
                warnings.filterwarnings("ignore", "the black box is right on")
            atlas.fit(prepared.X, y, groups=prepared.groups, background=background)
        tables = {"explainers.csv": atlas.rules_frame(), "tradeoff.csv": atlas.tradeoff().table}
        if isinstance(prepared.X, pd.DataFrame):
            tables["predictions.csv"] = predictions_table(atlas, prepared.X, prepared.row, prepared.ids)
        for name, table in tables.items():
            write_table(table, draft / name)
        # The rows of a source have no numbers here.
        ids = prepared.row if len(prepared.row) else None
        atlas.report(draft / "report.html", ids=ids, title=title, about=prepared.about, include_rows=include_rows)
        atlas.save(draft / "atlas.oleander", include_rows=include_rows)
        if also is not None:
            also(draft)
        files = [str(out / file.name) for file in sorted(draft.iterdir())]
    if as_json:
        show_json({"explained": prepared.about, **facts_of(atlas), "files": files})
        return
    if prepared.schema is None:
        show_schema(atlas.schema_)
    typer.echo(f"Explaining {visible(prepared.about)}.\n\n{atlas.summary()}")
    typer.echo(f"\nWritten: {visible(', '.join(files))}\nOpen {visible(out / 'report.html')} in a browser.")


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


def compare_models(
    first: Annotated[
        str,
        typer.Argument(metavar="A", help="A .joblib or .onnx file, or package.module:callable.", show_default=False),
    ],
    second: Annotated[str, typer.Argument(metavar="B", help="The other model.", show_default=False)],
    data: given.Data,
    target: Annotated[str | None, typer.Option(metavar="COL", help="The column that the models predict.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the rules as CSV too.")] = None,
    trust_model: given.TrustModel = False,
    max_explainers: given.MaxExplainers = None,
    min_fidelity: given.MinFidelity = 0.9,
    draws: Annotated[int | None, typer.Option(help="Draws that both models label. Default: 20,000.", min=1)] = None,
    drop: given.Drop = None,
    kinds: given.Kinds = "",
    missing: given.Missing = None,
    read: given.Read = None,
    seed: given.Seed = 0,
    as_json: given.AsJson = False,
) -> None:
    """Say in rules where two models differ, and on which share of the rows."""
    import pandas as pd

    from oleander.black_box.asking import BlackBox
    from oleander.black_box.output import ALIKE, ModelPair
    from oleander.cli.models import load_model
    from oleander.cli.outputs import records, show_json, show_table, write_table
    from oleander.cli.preparing import Request, prepare
    from oleander.draws import Draws
    from oleander.explainer import AggregateExplainer
    from oleander.fitting.options import NothingFoundError
    from oleander.judging.bounds import lower_bound, upper_bound
    from oleander.results.evaluation import describe_uncovered
    from oleander.words.sentences import count_silent

    request = Request.read(
        data, target, drop=drop, kinds=kinds, missing=missing, read=read, model=first, trust_model=trust_model
    )
    other = load_model(second, trust_model=trust_model)
    prepared = prepare(request, random_state=seed, beside=other)
    X, schema = prepared.X, prepared.schema
    assert isinstance(X, pd.DataFrame)
    assert schema is not None
    pair = ModelPair(prepared.black_box, other)
    labels = BlackBox(pair, schema).ask_table(X)
    differs = labels != ALIKE
    n_differ, n_rows, n_queries = int(differs.sum()), len(labels), len(labels)
    lower, upper = (float(bound(n_differ, n_rows, 0.05)) for bound in (lower_bound, upper_bound))
    counts = pd.Series(labels).value_counts().rename_axis("label").reset_index(name="rows")
    counts = counts.assign(share=counts["rows"] / n_rows, answered_correctly=0.0)
    atlas, rules, where = None, pd.DataFrame(), []
    if n_differ:
        fitted = AggregateExplainer(
            pair,
            max_explainers=max_explainers,
            min_fidelity=min_fidelity,
            draws=Draws() if draws is None else Draws(draws),
            schema=schema,
            random_state=seed,
        )
        try:
            atlas = fitted.fit(X)
        except NothingFoundError:
            pass
        else:
            n_queries, rules = n_queries + atlas.n_queries_, atlas.rules_frame()
            classes = atlas.evaluation_.classes.set_index("label")["answered_correctly"]
            counts["answered_correctly"] = counts["label"].map(classes).fillna(0.0)
        # The leaves of a small tree in which they differ more often than on all rows.
        tree = describe_uncovered(schema.encode(X), labels, ~differs, schema, max_leaves=MAX_LEAVES)
        leaves = [(rule, count_silent(rule) / rule.n_draws) for rule in tree.rules if rule.n_draws >= MIN_ROWS]
        where = sorted((leaf for leaf in leaves if leaf[1] > tree.share), key=lambda leaf: -leaf[1])
    if out is not None:
        write_table(rules, out)
    if as_json:
        show_json(
            {
                "n_rows": n_rows,
                "n_differ": n_differ,
                "share": n_differ / n_rows,
                "lower": lower,
                "upper": upper,
                "pairs": records(counts),
                "rules": records(rules),
                "coverage": 0.0 if atlas is None else atlas.coverage_,
                "agreement": None if atlas is None else atlas.evaluation_.agreement,
                "concentrations": [
                    {"where": rule.premise, "n_rows": rule.n_draws, "share": share} for rule, share in where
                ],
                "n_queries": n_queries,
            }
        )
        return
    typer.echo(
        f"A and B differ on {n_differ:,} of {n_rows:,} rows: {show_share(n_differ / n_rows, 1)}, at least "
        f"{show_lower_percent(lower)} and at most {show_upper_percent(upper)}, each with 95% confidence"
    )
    if not n_differ:
        return
    show_table(counts, "What A and B say")
    typer.echo(_describe_differences(atlas, [label for label in counts["label"] if label != ALIKE], min_fidelity))
    if where:
        typer.echo("\nWhere A and B differ most often, by a small tree grown on these rows:")
    for rule, share in where:
        typer.echo(f"  {rule.premise}: they differ on {show_share(share)} of {rule.n_draws:,} rows")


def _describe_differences(atlas: "AggregateExplainer | None", labels: Sequence[str], floor: float) -> str:
    """Return the rules that say where the models differ, and the differences that no rule describes."""
    members = [] if atlas is None else atlas.explainers_
    rules = [(n, rule) for n, member in enumerate(members, start=1) for rule in member.rules() if rule.label in labels]
    lines = ["", "Rules on where they differ; where several hold, the most faithful one answers:"] if rules else [""]
    lines += [f"  rule {number}: {rule.premise or 'always'} → {rule.answer}" for number, rule in rules]
    lacking = sorted(set(labels) - {rule.label for _, rule in rules})
    lines += [f"No rule that reaches the floor of {floor:g} says: {visible(label)}" for label in lacking]
    if atlas is not None:
        found = atlas.evaluation_
        lines.append(
            f"The rules, those on where they agree included, answer {show_share(found.coverage, 1)} of the rows, "
            f"{show_share(found.agreement, 1)} of them as the two models do."
        )
    return "\n".join(lines)


def demo(
    out: given.OutFolder = Path("oleander-demo"),
    seed: given.Seed = 0,
    jobs: given.Jobs = 1,
    opens: Annotated[bool, given.option(given.OUTPUT, "Open the page in a browser at the end.", "--open")] = False,
    as_json: given.AsJson = False,
) -> None:
    """Explain a forest on a generated clinic: by the paper's program, by asking, and by one tree."""
    import webbrowser

    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    from oleander.cli.outputs import check_folder, show_table, write_table
    from oleander.cli.preparing import Prepared
    from oleander.data.clinic import make_clinic
    from oleander.data.schema import FeatureSchema
    from oleander.explainer import AggregateExplainer

    check_folder(out)
    X, y = make_clinic(random_state=seed)
    train, new = X[::2], X[1::2]
    encoder = make_column_transformer(
        (OneHotEncoder(), list(X.select_dtypes(exclude="number").columns)), remainder="passthrough"
    )
    forest = make_pipeline(encoder, RandomForestClassifier(50, min_samples_leaf=3, random_state=seed))
    forest.fit(train, y[::2])
    paper = AggregateExplainer.paper(
        forest, radius=RADIUS, n_draws=N_DRAWS, max_explainers=10, min_fidelity=0.9, random_state=seed, n_jobs=jobs
    ).fit(new[:N_CENTERS])
    panels = paper.tradeoff(max_explainers=NUMBERS, min_fidelity=FLOORS)
    can_draw = find_spec("matplotlib") is not None

    def write_panels(folder: Path) -> None:
        write_table(panels.table, folder / "paper.csv")
        if can_draw:
            panels.plot(folder / "paper.png")

    if not as_json:
        typer.echo(
            f"1. The paper's program: a ball of radius {RADIUS:g} around each of {N_CENTERS} patients, {N_DRAWS:,} "
            "draws in each,\n   a tree on the features that the information filter keeps there, and the best K.\n"
        )
        shown = panels.table.rename(columns={"max_explainers": "K"})
        columns = [
            shown.pivot(index="K", columns="min_fidelity", values=one).add_prefix(f"{one}, φ = ")
            for one in ("coverage", "fidelity")
        ]
        title = "Coverage, and the lowest fidelity of an explainer, by K and floor φ"
        show_table(pd.concat(columns, axis=1).reset_index(), title)
        typer.echo("\n" + "\n".join(paper.summary().split("\n\n")[:2]))
        typer.echo("The two panels are in paper.png." if can_draw else NO_PICTURE)
        typer.echo(
            "\n2. The default: rules learned by asking and judged on every patient; then 3. what one tree would do."
        )
    about = f"a forest of 50 trees on {len(new)} patients of a generated clinic that are new to it"
    prepared = Prepared(
        forest, new, y[1::2].to_numpy(), None, new.index.to_numpy(), FeatureSchema.infer(X), about, train, is_new=True
    )
    atlas = AggregateExplainer(forest, min_fidelity=DEMO_FLOOR, random_state=seed, n_jobs=jobs)
    title = "A generated clinic: how the forest decides"
    fit_and_write(atlas, prepared, out, as_json=as_json, title=title, also=write_panels)
    if opens and not webbrowser.open((out / "report.html").resolve().as_uri()):
        note(f"no browser was found here: open {out / 'report.html'} yourself.")
