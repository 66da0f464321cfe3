"""Does an explainer keep its word on new rows? The floor on the raw share, as in the paper, against that on a bound.

The black box is trained on one part of the rows, explained on a second that is new to it, and both are compared on a
third. Parts are made by patient or trial where rows come in such groups.
"""

import argparse
import sys
import time
import warnings

import numpy as np
import pandas as pd
from data_sets import DataSet, available
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit
from sklearn.pipeline import make_pipeline

from oleander import AggregateExplainer
from oleander.data.schema import FeatureSchema
from oleander.results.fitting import NothingFoundError


def black_boxes(seed: int) -> dict[str, object]:
    return {
        "forest": make_pipeline(SimpleImputer(strategy="median"), RandomForestClassifier(50, random_state=seed)),
        "boosting": HistGradientBoostingClassifier(max_iter=50, random_state=seed),
    }


def thirds(data: DataSet, seed: int) -> list[np.ndarray]:
    """Return three parts of the rows, no group torn apart."""

    def halve(rows: np.ndarray, share: float) -> list[np.ndarray]:
        groups = None if data.groups is None else data.groups.to_numpy()[rows]
        splitter = ShuffleSplit if groups is None else GroupShuffleSplit
        return [rows[part] for part in next(splitter(1, test_size=share, random_state=seed).split(rows, groups=groups))]

    first, rest = halve(np.arange(len(data.X)), 2 / 3)
    return [first, *halve(rest, 1 / 2)]


def run(data: DataSet, seed: int, most_rows: int, min_fidelity: float) -> list[dict[str, object]]:
    train, explain, test = (part[:most_rows] for part in thirds(data, seed))
    lines = []
    for name, model in black_boxes(seed).items():
        model.fit(data.X.iloc[train], data.y.iloc[train])
        truth = model.predict(data.X.iloc[test])
        for floor_on in ("share", "bound"):
            start = time.perf_counter()
            line = {"data": data.name, "black box": name, "seed": seed, "floor on": floor_on}
            try:
                atlas = AggregateExplainer(
                    model,
                    candidates="balls",
                    floor_over="each",
                    min_fidelity=min_fidelity,
                    floor_on=floor_on,
                    max_candidates=150,
                    n_draws=1000,
                    time_limit=2,
                    schema=FeatureSchema.infer(data.X),
                    random_state=seed,
                ).fit(data.X.iloc[explain], groups=None if data.groups is None else data.groups.iloc[explain])
            except NothingFoundError:
                line |= {"coverage": 0.0, "worst": np.nan, "kept": True, "certified kept": True, "queries": 0}
            else:
                result = atlas.evaluate(data.X.iloc[test], truth)
                bounds = [claim.bound for claim in atlas.certificate_.fidelity]
                fidelity = result.explainers["fidelity"]
                line |= {
                    "coverage": result.coverage,
                    "worst": result.fidelity,
                    "kept": not result.fidelity < min_fidelity,
                    "certified kept": not (fidelity < bounds).any(),
                    "agreement": result.agreement,
                    "queries": atlas.n_queries_,
                }
            lines.append({**line, "seconds": time.perf_counter() - start})
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1000, help="at most so many rows in each part")
    parser.add_argument("--min-fidelity", type=float, default=0.9)
    parser.add_argument("--data", nargs="*", help="names of data sets; all by default")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for data in available():
        if options.data and data.name not in options.data:
            continue
        for seed in range(options.splits):
            lines += run(data, seed, options.rows, options.min_fidelity)
            print(f"{data.name}, split {seed + 1} of {options.splits} is done", file=sys.stderr, flush=True)
    table = pd.DataFrame(lines)
    print(f"floor {options.min_fidelity}, K = 10, {options.splits} splits, on rows that nothing has seen\n")
    print("| data | black box | floor on | coverage | worst fidelity | worst ≥ floor | agreement | queries |")
    print("|---|---|---|---|---|---|---|---|")
    for keys, part in table.groupby(["data", "black box", "floor on"], sort=False):
        print_line(keys, part)
    for floor_on, part in table.groupby("floor on", sort=False):
        print_line(("all", "both", floor_on), part)
    kept = table["certified kept"].mean()
    print(
        f"\nEvery certified bound held on the test rows in {kept:.0%} of {len(table)} runs (test rows have noise too)."
    )


def print_line(keys: tuple[str, ...], part: pd.DataFrame) -> None:
    figures = [f"{part['coverage'].mean():.2f}", f"{part['worst'].mean():.2f}", f"{part['kept'].mean():.0%}"]
    figures += [f"{part['agreement'].mean():.2f}", f"{part['queries'].mean():,.0f}"]
    print(f"| {' | '.join([*keys, *figures])} |")


if __name__ == "__main__":
    main()
