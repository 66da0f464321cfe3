"""The command ``demo``: the paper's program, the default and one tree, on a generated clinic.

What it works with is imported when it runs: a wrong option is answered before that.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from oleander.cli import options as given
from oleander.cli.explaining import fit_and_write

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.pipeline import Pipeline

    from oleander.results.tradeoff import TradeOff

# The paper's program gets fewer rows and draws than in the paper, so that the demo is short.
RADIUS, N_CENTERS, N_DRAWS = 8.0, 200, 1_000
NUMBERS, FLOORS = (1, 2, 3, 5, 10), (0.8, 0.9, 0.95)
# A high floor, so that the default shows abstention.
FLOOR = 0.95
NO_PICTURE = 'A picture of the two panels needs matplotlib: pip install "oleander[plot]"'


def demo(
    out: given.OutFolder = Path("oleander-demo"),
    seed: given.Seed = 0,
    jobs: given.Jobs = 1,
    as_json: given.AsJson = False,
) -> None:
    """Explain a forest on a generated clinic: by the paper's program, by asking, and by one tree."""
    from oleander.cli.outputs import check_folder, show_table, write_table
    from oleander.cli.preparing import Prepared
    from oleander.data.clinic import make_clinic
    from oleander.data.schema import FeatureSchema
    from oleander.explainer import AggregateExplainer

    check_folder(out)
    X, y = make_clinic(random_state=seed)
    train, new = X[::2], X[1::2]
    forest = train_forest(train, y[::2], seed)
    about = f"a forest of 50 trees on {len(new)} patients of a generated clinic that are new to it"
    paper = AggregateExplainer.paper(
        forest, radius=RADIUS, n_draws=N_DRAWS, max_explainers=10, min_fidelity=0.9, random_state=seed, n_jobs=jobs
    ).fit(new[:N_CENTERS])
    tradeoff = paper.tradeoff(max_explainers=NUMBERS, min_fidelity=FLOORS)
    can_draw = find_spec("matplotlib") is not None

    def write_panels(folder: Path) -> None:
        write_table(tradeoff.table, folder / "paper.csv")
        if can_draw:
            tradeoff.plot(folder / "paper.png")

    if not as_json:
        typer.echo(
            f"1. The paper's program: a ball of radius {RADIUS:g} around each of {N_CENTERS} patients, {N_DRAWS:,} "
            "draws in each,\n   a tree on the features that the information filter keeps there, and the best K.\n"
        )
        show_table(make_panels(tradeoff), "Coverage, and the lowest fidelity of an explainer, by K and floor φ")
        typer.echo("\n" + "\n".join(paper.summary().splitlines()[:2]))
        typer.echo("The two panels are in paper.png." if can_draw else NO_PICTURE)
        typer.echo(
            "\n2. The default: rules learned by asking and judged on every patient; then 3. what one tree would do."
        )
    atlas = AggregateExplainer(forest, min_fidelity=FLOOR, random_state=seed, n_jobs=jobs)
    prepared = Prepared(
        forest, new, y[1::2].to_numpy(), None, new.index.to_numpy(), FeatureSchema.infer(X), about, train
    )
    title = "A generated clinic: how the forest decides"
    fit_and_write(atlas, prepared, out, as_json=as_json, title=title, also=write_panels)


def train_forest(X: "pd.DataFrame", y: "pd.Series", seed: int) -> "Pipeline":
    """Return a forest behind an encoder of words."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    words = list(X.select_dtypes(exclude="number").columns)
    encoder = make_column_transformer((OneHotEncoder(), words), remainder="passthrough")
    return make_pipeline(encoder, RandomForestClassifier(50, min_samples_leaf=3, random_state=seed)).fit(X, y)


def make_panels(tradeoff: "TradeOff") -> "pd.DataFrame":
    """Return the paper's two panels as a table: a line per number of explainers, two columns per floor."""
    import pandas as pd

    table = tradeoff.table
    columns = {"K": sorted(table["max_explainers"].unique())}
    for measure in ("coverage", "fidelity"):
        for floor, part in table.groupby("min_fidelity"):
            columns[f"{measure}, φ = {floor:g}"] = list(part.sort_values("max_explainers")[measure])
    return pd.DataFrame(columns)
