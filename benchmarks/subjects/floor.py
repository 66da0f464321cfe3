"""The floor on the raw share of rows, as in the paper, beside the floor on a lower bound of that share."""

from collections.abc import Sequence
from functools import cache, partial

from benchmarks.cases import BLACK_BOXES, Case, make_case
from benchmarks.data_sets import available, from_sklearn
from benchmarks.journal import Journal, Row
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_table, mean, number, percent
from oleander import AggregateExplainer, Balls, Floor
from oleander.fitting.nothing_found import NothingFoundError

FLOOR = 0.9
FIGURES = ("coverage", "worst", "reached", "agreement", "queries")


def fit_balls(case: Case, floor_on: str, n_centers: int, n_draws: int) -> Row:
    """Return coverage and fidelity on new rows of a union of balls, each of which must reach the floor."""
    atlas = AggregateExplainer(
        case.black_box,
        candidates=Balls(max_candidates=n_centers, n_draws=n_draws),
        floor=Floor(on=floor_on, over="each"),
        min_fidelity=FLOOR,
        holdout=0.25,
        max_rules=None,
        time_limit=2,
        schema=case.schema,
        random_state=case.seed,
    )
    try:
        atlas.fit(case.explain, groups=case.groups)
    except NothingFoundError:
        return {"coverage": 0.0, "worst": None, "reached": True, "bounds held": True, "agreement": None, "queries": 0}
    result = atlas.evaluate(case.test, case.black_box.predict(case.test))
    bounds = [claim.bound for claim in atlas.certificate_.fidelity]
    return {
        "coverage": result.coverage,
        "worst": result.fidelity,
        "reached": not result.fidelity < FLOOR,
        "bounds held": not (result.explainers["fidelity"] < bounds).any(),
        "agreement": result.agreement,
        "queries": atlas.n_queries_,
    }


class FloorOn(Subject):
    """Coverage and worst fidelity under both floors."""

    name = "floor"
    title = "The floor on a share or on a bound"
    asks = "How often does the worst explainer reach the floor on new rows, if the floor is on the share or on a bound?"

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure split by split, so that a run that is stopped has every data set."""
        n_splits, max_rows, n_centers, n_draws = (5, 1_000, 150, 1_000) if size == "full" else (1, 130, 20, 100)
        for seed in range(n_splits):
            for data in available() if size == "full" else [from_sklearn("breast_cancer")]:
                for name in BLACK_BOXES:
                    make = cache(partial(make_case, data, name, seed, max_rows))
                    for floor_on in ("share", "bound"):
                        key = {"data": data.name, "black box": name, "seed": seed, "floor on": floor_on}
                        journal.once(key, lambda make=make, on=floor_on: fit_balls(make(), on, n_centers, n_draws))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a line for each data set and black box, then one for all."""
        keys = list(dict.fromkeys((row["data"], row["black box"], row["floor on"]) for row in rows))
        lines = []
        for data, box, floor_on in [*keys, *(("all", "both", floor_on) for floor_on in ("share", "bound"))]:
            part = [
                row
                for row in rows
                if row["floor on"] == floor_on and (data == "all" or (row["data"], row["black box"]) == (data, box))
            ]
            coverage, worst, reached, agreement, queries = (mean(row[name] for row in part) for name in FIGURES)
            cells = number(coverage), number(worst), percent(reached), number(agreement), number(queries, 0)
            lines.append((data, box, floor_on, *cells))
        columns = (
            "data",
            "black box",
            "floor on",
            "coverage",
            "worst fidelity",
            "worst ≥ floor",
            "agreement",
            "queries",
        )
        held = percent(mean(row["bounds held"] for row in rows))
        return "\n".join(
            [
                NOTES,
                make_table(columns, lines),
                f"Every certified bound held on the test rows in {held} of the {len(rows)} runs.\n",
            ]
        )


NOTES = f"""\
The paper's union of balls has its floor on the raw share of rows on which an explainer is right. Here that is beside a
floor on a one-sided 95% lower bound of the share. Floor {FLOOR}, K = 10, at most 150 centers with 1,000 draws each. The
black box is trained on one part of the rows, explained on a second, and both are compared on a third; rows of one trial
or patient are in one part. "Worst ≥ floor" is the share of runs in which the worst chosen explainer reaches the floor
on the third part; a run that finds no explainer counts as reached. The bound counts groups where rows
come in groups, and 14 patients are too few for it.
"""
