"""The command ``compare-models``: where two models differ, in rules.

What a command works with is imported when it runs: a wrong option is answered before that.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oleander.cli import options as given
from oleander.messages import show_lower_percent, show_share, show_upper_percent, visible

if TYPE_CHECKING:
    import pandas as pd

    from oleander.arrays import Labels
    from oleander.data.schema import FeatureSchema
    from oleander.explainer import AggregateExplainer
    from oleander.rules import Rule

# The leaves of the small tree that shows where the models differ most.
MAX_LEAVES = 6
# A leaf with fewer rows shows nothing.
MIN_ROWS = 10


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
    from oleander.cli.tables import FileOptions
    from oleander.draws import Draws
    from oleander.explainer import AggregateExplainer
    from oleander.fitting.options import NothingFoundError
    from oleander.judging.bounds import lower_bound, upper_bound

    request = Request(
        data,
        target,
        drop=given.split_names(drop),
        kinds=kinds,
        files=FileOptions.parse(read, missing),
        model=first,
        trust_model=trust_model,
    )
    other = load_model(second, trust_model=trust_model)
    prepared = prepare(request, random_state=seed, beside=other)
    X, schema = prepared.X, prepared.schema
    assert isinstance(X, pd.DataFrame)
    assert schema is not None
    pair = ModelPair(prepared.black_box, other)
    labels = BlackBox(pair, schema).ask_table(X)
    n_differ = int((labels != ALIKE).sum())
    lower, upper = (float(bound(n_differ, len(labels), 0.05)) for bound in (lower_bound, upper_bound))
    atlas: AggregateExplainer | None = None
    n_queries = len(labels)
    if n_differ:
        atlas = AggregateExplainer(
            pair,
            max_explainers=max_explainers,
            min_fidelity=min_fidelity,
            draws=Draws() if draws is None else Draws(draws),
            schema=schema,
            random_state=seed,
        )
        try:
            atlas.fit(X)
            n_queries += atlas.n_queries_
        except NothingFoundError:
            atlas = None
    counts = _count_pairs(labels, atlas)
    rules = pd.DataFrame() if atlas is None else atlas.rules_frame()
    where = _find_concentrations(X, labels, schema) if n_differ else []
    if out is not None:
        write_table(rules, out)
    if as_json:
        show_json(
            {
                "n_rows": len(labels),
                "n_differ": n_differ,
                "share": n_differ / len(labels),
                "lower": lower,
                "upper": upper,
                "pairs": records(counts),
                "rules": records(rules),
                "coverage": 0.0 if atlas is None else atlas.coverage_,
                "agreement": None if atlas is None else atlas.evaluation_.agreement,
                "concentrations": [
                    {"where": rule.premise, "n_rows": n_rows, "share": share} for rule, n_rows, share in where
                ],
                "n_queries": n_queries,
            }
        )
        return
    typer.echo(
        f"A and B differ on {n_differ:,} of {len(labels):,} rows: {show_share(n_differ / len(labels), 1)}, at least "
        f"{show_lower_percent(lower)} and at most {show_upper_percent(upper)}, each with 95% confidence"
    )
    if not n_differ:
        return
    show_table(counts, "What A and B say")
    typer.echo(_describe_rules(atlas, min_fidelity))
    if where:
        typer.echo("\nWhere A and B differ most often, by a small tree grown on these rows:")
    for rule, n_rows, share in where:
        typer.echo(f"  {rule.premise}: they differ on {show_share(share)} of {n_rows:,} rows")


def _count_pairs(labels: "Labels", atlas: "AggregateExplainer | None") -> "pd.DataFrame":
    """Return a line per label of the pair: its rows, and the share of them that the rules answer correctly."""
    import pandas as pd

    names, rows = pd.Series(labels).value_counts().pipe(lambda counts: (counts.index, counts.to_numpy()))
    table = pd.DataFrame({"label": names, "rows": rows, "share": rows / len(labels)})
    if atlas is None:
        return table.assign(answered_correctly=0.0)
    classes = atlas.evaluation_.classes.set_index("label")["answered_correctly"]
    return table.assign(answered_correctly=table["label"].map(classes).fillna(0.0).to_numpy())


def _describe_rules(atlas: "AggregateExplainer | None", floor: float) -> str:
    if atlas is None:
        return f"\nNo rule reaches the floor of {floor:g}."
    rules = [rule for member in atlas.explainers_ for rule in member.rules()]
    lines = ["", "Rules; where several hold, the most faithful one answers:"]
    lines += [
        f"  rule {number}: {rule.premise or 'always'} → {rule.answer}" for number, rule in enumerate(rules, start=1)
    ]
    lacking = sorted(set(atlas.evaluation_.classes["label"]) - {rule.label for rule in rules})
    lines += [f"No rule that reaches the floor says: {visible(label)}" for label in lacking]
    evaluation = atlas.evaluation_
    coverage, agreement = show_share(evaluation.coverage, 1), show_share(evaluation.agreement, 1)
    lines.append(f"They answer {coverage} of the rows, {agreement} of them correctly (floor {floor:g}).")
    return "\n".join(lines)


def _find_concentrations(
    X: "pd.DataFrame", labels: "Labels", schema: "FeatureSchema"
) -> "list[tuple[Rule, int, float]]":
    """Return the leaves of a small tree in which models differ more often than on all rows, with rows and share."""
    import numpy as np

    from oleander.black_box.output import ALIKE
    from oleander.rules import UnfilteredTree

    rows = schema.encode(X)
    differs = labels != ALIKE
    tree = UnfilteredTree(max_leaves=MAX_LEAVES).fit(rows, np.where(differs, "differ", ALIKE), schema=schema)
    leaf_of_row = tree.apply(rows)
    found: list[tuple[Any, int, float]] = []
    for leaf in tree.leaves.tolist():
        inside = leaf_of_row == leaf
        share = float(differs[inside].mean()) if inside.any() else 0.0
        if inside.sum() >= MIN_ROWS and share > differs.mean():
            found.append((tree.rule(leaf), int(inside.sum()), share))
    return sorted(found, key=lambda leaf: -leaf[2])
