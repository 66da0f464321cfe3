"""What it costs to take the widest of many answers, and what each way of paying for it keeps.

All ways see the same rows and the same forms (one tree, or two to eight read together). What is taken is learned anew
on all the rows that may be learned from, and measured on rows that nothing has seen.
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from data_sets import available
from floor import black_boxes, thirds

from oleander.black_box.asking import BlackBox
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.forms import make_consensus_forms
from oleander.judging.certificate import lower_bound
from oleander.judging.cross_fitting import Judged, cross_fit

FLOOR = 0.9


def widest(judged: list[Judged], level: float, floor: float) -> tuple[int, int] | None:
    """Return the form and setting that answer most with their bound at the floor."""
    best = [np.where(one.bounds(level) >= floor, one.coverage(), 0.0) for one in judged]
    form = int(np.argmax([coverage.max() for coverage in best]))
    return (form, int(best[form].argmax())) if best[form].max() > 0 else None


def in_sequence(rows: Rows, seed: int) -> tuple[Rows, tuple[int, int] | None]:
    """Choose a form on half of the rows; on the other half grow bolder, test by test, until one fails.

    The order of the tests is fixed before the other half is looked at, so the answer is right on at least the floor
    with 95% confidence: a formal guarantee.
    """
    half = rows.halves(seed)
    learned, tested = rows.part(half), rows.part(~half)
    judged = cross_fit(make_consensus_forms(10, 40), learned, 10, seed)
    chosen = widest(judged, 0.2, FLOOR)
    if chosen is None:
        return learned, None
    form, wanted = chosen
    labels, given = judged[form].form.learn(learned, seed).answers(tested.values)
    passed = None
    n_bars = judged[form].form.n_settings // len(judged[form].form.readings)
    for setting in range((wanted // n_bars + 1) * n_bars - 1, wanted // n_bars * n_bars - 1, -1):
        answered = given[setting]
        right = answered & (labels[setting] == tested.labels)
        if answered.sum() and lower_bound(right.sum(), answered.sum(), 0.05) < FLOOR and passed is not None:
            break
        if answered.sum() and lower_bound(right.sum(), answered.sum(), 0.05) >= FLOOR:
            passed = setting
    return learned, None if passed is None else (form, passed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--data", nargs="*")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    forms = make_consensus_forms(10, 40)
    lines = []
    for data in available():
        if options.data and data.name not in options.data:
            continue
        schema = FeatureSchema.infer(data.X)
        for seed in range(options.splits):
            parts = [np.random.default_rng(seed).permutation(part)[: options.rows] for part in thirds(data, seed)]
            train, explain, test = (data.X.iloc[part] for part in parts)
            groups = None if data.groups is None else data.groups.to_numpy()[parts[1]]
            for model in black_boxes(seed).values():
                model.fit(train, data.y.iloc[parts[0]])
                box = BlackBox(model, schema)
                rows = Rows.ask(explain, box).unmerged(groups)
                new, truth = schema.encode(test), model.predict(test)
                judged = cross_fit(forms, rows, 10, seed)
                ways = {
                    "level 0.05, picking not paid for": (rows, widest(judged, 0.05, FLOOR)),
                    "level 0.05, margin 0.02": (rows, widest(judged, 0.05, FLOOR + 0.02)),
                    "level 0.02 (the default)": (rows, widest(judged, 0.02, FLOOR)),
                    "level 0.05 shared over the forms": (rows, widest(judged, 0.05 / len(forms), FLOOR)),
                    "fixed sequence on held-out half": in_sequence(rows, seed),
                }
                for way, (learned, chosen) in ways.items():
                    line = {"way": way, "data": data.name, "coverage": 0.0, "kept": True}
                    if chosen is not None:
                        labels, given = forms[chosen[0]].learn(learned, seed).answers(new)
                        answered = given[chosen[1]]
                        right = (labels[chosen[1]] == truth)[answered]
                        line |= {"coverage": answered.mean(), "kept": not len(right) or right.mean() >= FLOOR}
                    lines.append(line)
    table = pd.DataFrame(lines)
    print("| way | coverage | kept |\n|---|---|---|")
    for way, part in table.groupby("way", sort=False):
        print(f"| {way} | {part['coverage'].mean():.2f} | {part['kept'].mean():.0%} of {len(part)} |")


if __name__ == "__main__":
    main()
