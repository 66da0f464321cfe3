"""Commands that fit: ``explain`` by default, ``paper`` for the paper's method and ``demo``."""

import warnings
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from oleander.black_box.asking import columns_read_by, keep_columns
from oleander.black_box.output import Output
from oleander.candidates.base import Boxes
from oleander.cli.cells import clean_columns, clean_like, is_id
from oleander.cli.models import load_model, train_trees
from oleander.cli.options import CommandError, Demo, Explain, Fitting, Paper, note, show, split_names, wrong_option
from oleander.cli.outputs import answer, facts_of, predictions_table, tabulate_schema, write_table
from oleander.cli.tables import OF_TABLES, PARQUET, check_columns, is_stored, keep_known, read_how, read_table
from oleander.data.checks import check_count
from oleander.data.clinic import CLINIC_COLUMNS, make_clinic
from oleander.data.frames import take_rows
from oleander.data.reading import stack_tables
from oleander.data.rows import split_off
from oleander.data.schema import FeatureSchema
from oleander.data.source_sample import sample_size
from oleander.data.sources import open_source
from oleander.draws import Draws
from oleander.engines.tables import open_table
from oleander.explainer import AggregateExplainer
from oleander.files.saved import whole_folder
from oleander.messages import list_some, visible
from oleander.running.progress import tell_progress

# High, so that the demo shows silence.
DEMO_FLOOR = 0.95
# φ in the paper's figures.
PAPERS_FLOORS = (0.5, 0.7, 0.9)
MOST_CLASSES = 50
# A column tells the target if it alone finds this share of it, on rows of other folds, of at most this number. A class
# with fewer rows than folds may be a typo.
TELLS, N_FOLDS, MOST_ROWS = 0.99, 5, 2_000


@dataclass(frozen=True, eq=False)
class Prepared:
    """A black box, and what it is explained on."""

    black_box: Any
    # The arguments of ``fit``. Its X are rows that are new to the black box, as far as that is known, numbered as in
    # their file from 0, the first after the header; or a source or a table that stays in its engine.
    rows: dict[str, Any]
    # The model and the rows in words.
    about: str
    # None for rows that stay where they are, whose schema the fit infers.
    schema: FeatureSchema | None = None
    # Columns that name the rows and that nothing is learned from: the groups, and ids that were left out.
    ids: pd.DataFrame | None = None
    # Whether the rows are known to be new to the black box, because it was trained here.
    is_new: bool = False


def explain(given: Explain) -> None:
    """Explain a model by rules that are learned from draws and judged on rows."""
    is_number = given.tolerance is not None or given.threshold is not None
    if given.proba is not None and not is_number:
        raise wrong_option("--proba explains a number: give --tolerance, such as 0.05, or --threshold.")
    limits, floor_by = read_limits(given.limit)
    prepared = prepare(given, given.background, floor_by, is_regression=is_number and given.proba is None)
    if given.proba is not None:
        # A true label cannot be compared with a probability.
        prepared.rows["y"] = None
    # Logged answers alone label no draws.
    n_draws = 0 if given.draws is None and prepared.black_box is None else given.draws
    atlas = AggregateExplainer(
        prepared.black_box,
        max_explainers=given.max_explainers,
        min_fidelity=given.min_fidelity,
        candidates=limits,
        draws=Draws() if n_draws is None else Draws(n_draws),
        tolerance=read_number(given.tolerance),
        output=read_output(given.proba, given.threshold, prepared.black_box),
        schema=prepared.schema,
        random_state=given.seed,
    )
    fit_and_write(atlas, prepared, given, f"How the model decides: {given.data.name}")


def paper(given: Paper) -> None:
    """Explain a model by the paper's method."""
    if given.letter and not given.include_rows:
        raise wrong_option("--letter centers balls on rows, which the files would hold: allow it with --include-rows.")
    prepared = prepare(given, is_regression=given.tolerance is not None, n_jobs=given.jobs)
    # Balls make their draws around rows of X.
    prepared.rows["background"] = None
    if not given.include_rows:
        note("balls stand on rounded rows, so that no file holds a row; --include-rows takes the rows themselves.")
    radii: list[Any] = [read_number(text) for text in given.radius]
    same = ("n_draws", "formulation", "letter", "max_explainers", "min_fidelity", "time_limit")
    atlas = AggregateExplainer.paper(
        prepared.black_box,
        radius=radii[0] if len(radii) == 1 else radii,
        centers="rows" if given.include_rows else "rounded",
        tolerance=read_number(given.tolerance),
        schema=prepared.schema,
        random_state=given.seed,
        n_jobs=given.jobs,
        **{name: getattr(given, name) for name in same},
    )
    fit_and_write(atlas, prepared, given, f"How the model decides: {given.data.name}", include_rows=given.include_rows)


def demo(given: Demo) -> None:
    """Explain a forest on patients of a generated clinic that are new to it, with a high floor."""
    with whole_folder(given.out):
        X, y = make_clinic(random_state=given.seed)
    train, new = X[::2], X[1::2]
    encoder = make_column_transformer(
        (OneHotEncoder(), list(X.select_dtypes(exclude="number").columns)), remainder="passthrough"
    )
    forest = make_pipeline(encoder, RandomForestClassifier(50, min_samples_leaf=3, random_state=given.seed))
    forest.fit(train, y[::2])
    rows = {"X": new, "y": y[1::2].to_numpy(), "background": train, "columns": CLINIC_COLUMNS}
    about = f"a forest of 50 trees on {len(new)} patients of a generated clinic that are new to it"
    prepared = Prepared(forest, rows, about, FeatureSchema.infer(X), new[[]], is_new=True)
    atlas = AggregateExplainer(forest, min_fidelity=DEMO_FLOOR, random_state=given.seed)
    fit_and_write(atlas, prepared, given, "A generated clinic: how the forest decides")
    if given.opens and not webbrowser.open((given.out / "report.html").resolve().as_uri()):
        note(f"no browser was found here: open {given.out / 'report.html'} yourself.")


def fit_and_write(
    atlas: AggregateExplainer, prepared: Prepared, given: Fitting | Demo, title: str, *, include_rows: bool = False
) -> None:
    """Show the columns, fit, write all files to a folder, and print the summary or the main figures."""
    if prepared.schema is not None and not given.as_json:
        show(f"{tabulate_schema(prepared.schema)}\n")
    with whole_folder(given.out) as draft:
        with warnings.catch_warnings():
            if prepared.is_new:
                # A model trained here may be right on every row without having seen one of them.
                warnings.filterwarnings("ignore", "the black box is correct on")
            atlas.fit(**prepared.rows)
        tables, X = {"explainers.csv": atlas.rules_frame(), "tradeoff.csv": atlas.tradeoff().table}, prepared.rows["X"]
        if prepared.ids is not None:
            tables["predictions.csv"] = predictions_table(atlas, X, prepared.ids)
        for name, table in tables.items():
            write_table(table, draft / name)
        ids = None if prepared.ids is None else X.index.to_numpy()
        atlas.report(draft / "report.html", ids=ids, title=title, about=prepared.about, include_rows=include_rows)
        atlas.save(draft / "atlas.oleander", include_rows=include_rows)
        if isinstance(given, Paper):
            # The paper's two panels, beside one tree of all rows.
            panels = atlas.tradeoff(min_fidelity=sorted({*PAPERS_FLOORS, atlas.min_fidelity}))
            write_table(panels.table, draft / "panels.csv")
            if find_spec("matplotlib") is not None:
                tree = atlas.verdict_.set_axis(["one plain tree"]).rename(columns={"agreement": "fidelity"})
                panels.plot(draft / "panels.png", rivals=tree)
        files = [str(given.out / file.name) for file in sorted(draft.iterdir())]
    facts = {"explained": prepared.about, **facts_of(atlas), "files": files}
    written = f"Written: {visible(', '.join(files))}\nOpen {visible(given.out / 'report.html')} in a browser."
    answer(given, facts, f"Explaining {visible(prepared.about)}.\n\n{atlas.summary()}\n\n{written}")


def prepare(
    given: Fitting,
    background: Path | None = None,
    floor_by: Sequence[str] = (),
    *,
    is_regression: bool = False,
    n_jobs: int | None = None,
) -> Prepared:
    """Read the data, open or train the black box, and return the rows to be explained.

    A large Parquet file is read block by block, unless a model is trained here, which needs its rows in memory.
    ``floor_by`` names columns of subgroups, which X gets even if nothing is learned from them. ``is_regression`` says
    whether a model trained here answers with numbers.
    """
    # What would be refused only after the work.
    with whole_folder(given.out):
        check_count("random_state", given.seed, least=0)
    named = {"--target": [given.target], "--groups": [given.groups], "--drop": given.drop}
    dictionary = None if given.columns is None else read_table(given.columns)
    if is_stored(given.data) or (given.model is not None and _is_large(given.data)):
        return _prepare_stored(given, background, named, {"columns": dictionary, "floor_by": floor_by or None})
    how, kinds = read_how(given.read), dict(pair.rpartition("=")[::2] for pair in split_names(given.kinds))
    table, target, group = read_table(given.data, how), given.target, given.groups
    for option, names in {**named, "--limit floor_by": floor_by, "--kinds": [*kinds]}.items():
        check_columns(table.columns, names, option)
    if target in floor_by:
        raise wrong_option(f"--limit floor_by={target} names the target, which new rows do not have.")
    black_box = load_model(given)
    if target is not None:
        table = keep_known(table, target)
    if black_box is None:
        if target is None:
            raise wrong_option("without --model a model is trained, and that needs --target.")
        if background is not None:
            raise wrong_option("--background is for a model given with --model: without it, training rows are it.")
        check_target(table[target], is_regression=is_regression)
    X = table.drop(columns=list({target, group, *given.drop} - {None}))
    if black_box is not None:
        if columns_read_by(black_box) is None and target is None:
            note(
                "the model does not name its columns, so it gets all of them: leave out with --target or --drop what "
                "it does not read, such as the true label."
            )
        X = keep_columns(X, black_box)
    X.attrs = table.attrs
    declared = {name: kind for name, kind in kinds.items() if name in X.columns}
    X = clean_columns(X, declared=declared, may_drop=black_box is None)
    schema, around = FeatureSchema.infer(X, kinds=declared), None
    if background is not None:
        around = read_table(background, how)
        if lacking := [name for name in schema.names if name not in around.columns]:
            raise CommandError(f"--background {background} lacks columns of the data: {list_some(lacking)}.")
        around = clean_like(around, schema)[list(schema.names)]
        schema = FeatureSchema.infer(stack_tables(X, around), kinds=declared)
    ids = table[[name for name in table if name not in (target, *X) and (name == group or is_id(table[name]))]]
    if target is not None:
        note_leaks(X, schema, table[target], is_regression=is_regression)
    X = X.assign(**{name: table[name] for name in floor_by if name not in X.columns})
    rows = {
        "X": X,
        "y": None if target is None else table[target].to_numpy(),
        "groups": None if group is None else table[group].to_numpy(),
        "background": around,
        "columns": dictionary,
        "floor_by": list(floor_by) or None,
    }
    if black_box is not None:
        return Prepared(black_box, rows, f"{given.model} on {len(X):,} rows", schema, ids)
    train, new = split_off(len(X), 0.5, rows["groups"], given.seed)
    with tell_progress("training 50 bagged trees"):
        black_box = train_trees(
            take_rows(X, train), rows["y"][train], schema, given.seed, n_jobs, is_regression=is_regression
        )
    rows |= {"X": take_rows(X, new), "background": take_rows(X, train)}
    rows |= {name: rows[name][new] for name in ("y", "groups") if rows[name] is not None}
    about = f"50 bagged trees, trained on {len(train):,} rows, on {len(new):,} rows that are new to them"
    return Prepared(black_box, rows, about, schema, take_rows(ids, new), is_new=True)


def _is_large(data: Path) -> bool:
    if data.suffix.lower() not in PARQUET:
        return False
    source = open_source(data)
    return source.n_rows > sample_size(source.epsilon, source.delta, None)


def _prepare_stored(
    given: Fitting, background: Path | None, named: dict[str, Sequence[str | None]], others: dict[str, Any]
) -> Prepared:
    """Return a table that stays where it is, or a large Parquet file, of which a sample is explained."""
    data, is_table = given.data, is_stored(given.data)
    how = read_how(given.read, OF_TABLES if is_table else ())
    key, labels = how.get("key"), how.get("labels")
    if given.kinds:
        raise wrong_option(f"--kinds is for files that are read whole: the columns of {data} have types.")
    if is_table and key is None:
        raise wrong_option(
            f"{data} is a table: name a column with a different whole number in each row, --read key=COL."
        )
    if given.model is None and labels is None:
        raise wrong_option("give --model, or --read labels=COL for a column with its answers.")
    rows: Any = nw.from_native(open_table(str(data))) if is_table else open_source(data)
    columns = rows.collect_schema().names() if is_table else rows.columns
    for option, names in named.items():
        check_columns(columns, names, option)
    size = f"rows of {data}" if is_table else f"{rows.n_rows:,} rows"
    place = "stays where it is" if is_table else f"has {size} and is read block by block"
    note(f"{data} {place}: a sample is explained, and predictions.csv is not written.")
    fit = {
        "X": rows.drop(*given.drop).to_native() if is_table else rows.without(given.drop),
        "y": given.target,
        "groups": given.groups,
        "background": None if background is None else open_source(background),
        "labels": labels,
        "key": key,
    }
    return Prepared(load_model(given), fit | others, f"{given.model or f'the answers in column {labels!r}'} on {size}")


def check_target(target: pd.Series, *, is_regression: bool) -> None:
    """Raise ``CommandError`` for a column on which no model can be trained here; note classes that may be typos."""
    name, n_classes, counts = target.name, target.nunique(), target.value_counts()
    if is_regression:
        if not pd.api.types.is_numeric_dtype(target) or pd.api.types.is_bool_dtype(target):
            raise CommandError(f"the target {name!r} holds {target.iloc[0]!r}, which is not a number.")
    elif n_classes < 2:
        raise CommandError(f"the target {name!r} has one class, {target.iloc[0]!r}; two or more are needed.")
    elif n_classes > MOST_CLASSES:
        raise CommandError(
            f"the target {name!r} has {n_classes:,} different values, which looks like a measurement or a name; at "
            f"most {MOST_CLASSES} classes are allowed. --tolerance explains numbers."
        )
    elif rare := counts.index[counts < N_FOLDS].tolist():
        note(f"the target {name!r} has classes with fewer than {N_FOLDS} rows, perhaps typos: {list_some(rare)}.")


def note_leaks(X: pd.DataFrame, schema: FeatureSchema, target: pd.Series, *, is_regression: bool) -> None:
    """Say which columns alone tell the target: of labels by a small tree, of numbers by their order.

    Such a column may have been filled in after the target was known, and then no new row has it.
    """
    some = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
    values, known = schema.encode(take_rows(X, some)), target.to_numpy()[some]
    if is_regression:
        truth = pd.Series(pd.to_numeric(known, errors="coerce"))
        tells = pd.DataFrame(values).corrwith(truth, method="spearman").abs() >= TELLS
    else:
        codes = pd.factorize(known.astype(str))[0]
        # A class that is not in every fold shows nothing.
        often = np.bincount(codes)[codes] >= N_FOLDS
        tells = pd.Series([_tells_all(values[often, j], codes[often], len(one.levels)) for j, one in enumerate(schema)])
    for j in np.flatnonzero(tells):
        name = schema.names[j]
        note(
            f"column {name!r} alone tells the target {target.name!r}, a possible leak: if it is known only after the "
            f"target, leave it out with --drop {quote(name)}."
        )


def _tells_all(column: Any, codes: Any, n_levels: int) -> bool:
    """Return whether a small tree finds nearly all rows of each class by one column."""
    n_classes, one = len(np.unique(codes)), column[:, None]
    if n_classes < 2:
        return False
    tree = DecisionTreeClassifier(max_leaf_nodes=max(2 * n_classes, n_levels + 1), random_state=0)
    # The mean over classes, because "no" alone is correct on most rows where "yes" is rare. Most columns fail on the
    # rows that the tree is grown on, which takes a fifth of the time.
    if balanced_accuracy_score(codes, tree.fit(one, codes).predict(one)) < TELLS:
        return False
    return bool(cross_val_score(tree, one, codes, cv=N_FOLDS, scoring="balanced_accuracy").mean() >= TELLS)


def read_limits(limits: Sequence[str] | None) -> tuple[Boxes, tuple[str, ...]]:
    """Return what ``--limit`` allows rules, and the columns of the subgroups in which the floor must hold."""
    found: dict[str, Any] = {}
    for text in limits or ():
        name, _, value = text.partition("=")
        names = split_names(value)
        if name == "conditions" and value.isdecimal():
            found["max_conditions"] = int(value)
        elif name == "monotone" and names:
            found[name] = {one[:-1]: one[-1] for one in names}
        elif name in ("forbid", "order", "floor_by") and names:
            found[name] = names
        else:
            raise wrong_option(
                f"--limit {text} is not allowed: write conditions=3, forbid=COL,... or monotone=COL+,... or "
                "order=LABEL,... or floor_by=COL,... and give the option once for each."
            )
    return Boxes(**{name: value for name, value in found.items() if name != "floor_by"}), found.get("floor_by", ())


def read_output(proba: str | None, threshold: float | None, model: Any) -> Output:
    """Return what ``--proba`` and ``--threshold`` explain of a model; a class by the name that the model gives it."""
    if proba is None:
        return Output(threshold=threshold)
    classes = np.asarray(getattr(model, "classes_", [proba])).tolist()
    # A class that is a number is text among the options.
    named = {str(one): one for one in classes}
    if proba not in named:
        raise wrong_option(f"--proba {proba} is not a class of the model, which has {list_some(classes)}.")
    return Output("proba", named[proba], threshold)


def read_number(text: str | None) -> float | str | None:
    """Return text that is a number as a number; the parameter says what else it may be, such as "10%" or "auto"."""
    try:
        return text if text is None else float(text)
    except ValueError:
        return text
