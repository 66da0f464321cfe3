"""Commands that fit: ``explain`` by default, ``paper`` for the paper's method and ``demo``."""

import warnings
import webbrowser
from collections.abc import Sequence
from typing import Any

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from oleander.black_box.output import Output
from oleander.cli.options import (
    Demo,
    Explain,
    Fitting,
    Paper,
    note,
    wrong_option,
)
from oleander.cli.outputs import (
    answer,
    check_folder,
    facts_of,
    predictions_table,
    show_schema,
    write_table,
)
from oleander.cli.preparing import Prepared, prepare, read_limits
from oleander.cli.tables import read_table
from oleander.data.clinic import CLINIC_COLUMNS, make_clinic
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance
from oleander.draws import Draws
from oleander.explainer import AggregateExplainer
from oleander.files.saved import whole_folder
from oleander.messages import list_some, visible
from oleander.rules import UnfilteredTree

# High, so that the demo shows abstention.
DEMO_FLOOR = 0.95


def explain(given: Explain) -> None:
    """Explain a model by rules that are learned from draws and judged on rows."""
    if given.tolerance is not None and given.threshold is not None:
        raise wrong_option("--threshold makes labels of numbers, which need no --tolerance: leave out one.")
    is_number = given.tolerance is not None or given.threshold is not None
    if given.proba is not None and not is_number:
        raise wrong_option("--proba explains a number: give --tolerance, such as 0.05, or --threshold.")
    tolerance = read_tolerance(given.tolerance)
    limits, floor_by = read_limits(given.limit)
    is_regression = given.proba is None and is_number
    prepared = _prepare(given, background=given.background, floor_by=floor_by, is_regression=is_regression)
    # Logged answers alone label no draws.
    n_draws = 0 if given.draws is None and prepared.black_box is None else given.draws
    atlas = AggregateExplainer(
        prepared.black_box,
        max_explainers=given.max_explainers,
        min_fidelity=given.min_fidelity,
        candidates=limits,
        draws=Draws() if n_draws is None else Draws(n_draws),
        tolerance=tolerance,
        output=read_output(given.proba, given.threshold, prepared.black_box),
        schema=prepared.schema,
        random_state=given.seed,
    )
    fit_and_write(atlas, prepared, given, floor_by=floor_by)


def paper(given: Paper) -> None:
    """Explain a model by the paper's method."""
    if given.letter and not given.include_rows:
        raise wrong_option("--letter centers balls on rows, which the files would hold: allow it with --include-rows.")
    radii, tolerance = read_radii(given.radius), read_tolerance(given.tolerance)
    prepared = _prepare(given, is_regression=given.tolerance is not None, n_jobs=given.jobs)
    if not given.include_rows:
        note("balls stand on rounded rows, so that no file holds a row; --include-rows takes the rows themselves.")
    same = ("n_draws", "formulation", "letter", "max_explainers", "min_fidelity", "time_limit")
    atlas = AggregateExplainer.paper(
        prepared.black_box,
        radius=radii,
        # The letter's tree has a filter of its own.
        local=UnfilteredTree(max_leaves=None) if given.local == "unfiltered" else None,
        centers="rows" if given.include_rows else "rounded",
        tolerance=tolerance,
        schema=prepared.schema,
        random_state=given.seed,
        n_jobs=given.jobs,
        **{name: getattr(given, name) for name in same},
    )
    fit_and_write(atlas, prepared, given)


def _prepare(given: Fitting, **details: Any) -> Prepared:
    check_folder(given.out)
    prepared = prepare(given, **details)
    if prepared.schema is not None and not given.as_json:
        show_schema(prepared.schema)
    return prepared


def fit_and_write(
    atlas: AggregateExplainer,
    prepared: Prepared,
    given: Fitting | Demo,
    *,
    floor_by: Sequence[str] = (),
) -> None:
    """Fit, write all files to a folder, and print the summary or the main figures."""
    include_rows = isinstance(given, Paper) and given.include_rows
    title = "A generated clinic: how the forest decides"
    dictionary: Any = CLINIC_COLUMNS
    if isinstance(given, Fitting):
        title = f"How the model decides: {given.data.name}"
        dictionary = None if given.columns is None else read_table(given.columns)
    with whole_folder(given.out) as draft:
        # The training rows of a model trained here are a background only where draws are made.
        background = prepared.background if atlas.asks else None
        # A true label cannot be compared with a probability.
        y = None if atlas.output.of == "proba" else prepared.y
        with warnings.catch_warnings():
            if prepared.is_new:
                # A model trained here may be right on every row without having seen one of them.
                warnings.filterwarnings("ignore", "the black box is correct on")
            atlas.fit(
                *(prepared.X, y),
                groups=prepared.groups,
                background=background,
                columns=dictionary,
                floor_by=list(floor_by) or None,
                labels=prepared.labels,
                key=prepared.key,
            )
        tables = {"explainers.csv": atlas.rules_frame(), "tradeoff.csv": atlas.tradeoff().table}
        if isinstance(prepared.X, pd.DataFrame):
            tables["predictions.csv"] = predictions_table(atlas, prepared.X, prepared.row, prepared.ids)
        for name, table in tables.items():
            write_table(table, draft / name)
        # The rows of a source have no numbers here.
        ids = prepared.row if len(prepared.row) else None
        atlas.report(draft / "report.html", ids=ids, title=title, about=prepared.about, include_rows=include_rows)
        atlas.save(draft / "atlas.oleander", include_rows=include_rows)
        files = [str(given.out / file.name) for file in sorted(draft.iterdir())]
    if prepared.schema is None and not given.as_json:
        show_schema(atlas.schema_)
    written = f"Written: {visible(', '.join(files))}\nOpen {visible(given.out / 'report.html')} in a browser."
    facts = {"explained": prepared.about, **facts_of(atlas), "files": files}
    answer(given, facts, f"Explaining {visible(prepared.about)}.\n\n{atlas.summary()}\n\n{written}")


def read_tolerance(text: str | None) -> float | str | None:
    """Return the tolerance that ``--tolerance`` gives: a number, a share such as "10%", or "auto".

    >>> read_tolerance("30"), read_tolerance("10%")
    (30.0, '10%')
    """
    if text is None or text == "auto":
        return text
    try:
        tolerance: float | str = float(text)
    except ValueError:
        tolerance = text
    # Refuses what is no tolerance.
    Tolerance.read(tolerance)
    return tolerance


def read_output(proba: str | None, threshold: float | None, model: Any) -> Output:
    """Return what ``--proba`` and ``--threshold`` explain of a model; a class by the name that the model gives it."""
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
    """Return the radius, or the several, that ``--radius`` gives.

    >>> read_radii(["7"]), read_radii(["5", "7", "9"]), read_radii(["auto"])
    (7.0, [5.0, 7.0, 9.0], 'auto')
    """
    if list(radius) == ["auto"]:
        return "auto"
    try:
        radii = [float(word) for word in radius]
    except ValueError:
        radii = []
    if not radii:
        raise wrong_option(f"--radius {' '.join(radius)} is not allowed: give auto, a number, or several numbers.")
    return radii[0] if len(radii) == 1 else radii


def demo(given: Demo) -> None:
    """Explain a forest on patients of a generated clinic that are new to it, with a high floor."""
    check_folder(given.out)
    X, y = make_clinic(random_state=given.seed)
    train, new = X[::2], X[1::2]
    encoder = make_column_transformer(
        (OneHotEncoder(), list(X.select_dtypes(exclude="number").columns)), remainder="passthrough"
    )
    forest = make_pipeline(encoder, RandomForestClassifier(50, min_samples_leaf=3, random_state=given.seed))
    forest.fit(train, y[::2])
    about = f"a forest of 50 trees on {len(new)} patients of a generated clinic that are new to it"
    schema, row = FeatureSchema.infer(X), new.index.to_numpy()
    prepared = Prepared(forest, new, y[1::2].to_numpy(), None, row, schema, about, train, is_new=True)
    atlas = AggregateExplainer(forest, min_fidelity=DEMO_FLOOR, random_state=given.seed, n_jobs=given.jobs)
    fit_and_write(atlas, prepared, given)
    if given.opens and not webbrowser.open((given.out / "report.html").resolve().as_uri()):
        note(f"no browser was found here: open {given.out / 'report.html'} yourself.")
