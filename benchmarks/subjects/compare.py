"""Every way to explain a black box in one table, on rows that the black box has not seen."""

import argparse
import warnings

from data_sets import available
from floor import black_boxes, thirds

from oleander.baselines import compare


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", default=["breast_cancer", "wine"])
    parser.add_argument("--max-explainers", type=int, default=10)
    parser.add_argument("--min-fidelity", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for data in available():
        if data.name not in options.data:
            continue
        train, explain, test = thirds(data, options.seed)
        forest = black_boxes(options.seed)["forest"].fit(data.X.iloc[train], data.y.iloc[train])
        table = compare(
            forest,
            data.X.iloc[explain],
            X_test=data.X.iloc[test],
            groups=None if data.groups is None else data.groups.iloc[explain],
            max_explainers=options.max_explainers,
            min_fidelity=options.min_fidelity,
            random_state=options.seed,
        )
        held = table[table["rows"] == "held out"].drop(columns="rows")
        print(f"\n{data.name}: explained on {len(explain)} rows, measured on {len(test)} others\n")
        print("| " + " | ".join(held.columns) + " |")
        print("|" + "---|" * len(held.columns))
        for line in held.itertuples(index=False):
            cells = [
                f"{cell:,}" if isinstance(cell, int) else f"{cell:.2f}" if isinstance(cell, float) else cell
                for cell in line
            ]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
