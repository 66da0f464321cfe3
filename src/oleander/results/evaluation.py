"""How good a set of explainers is on given rows: pure functions of coverage and answers."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.arrays import Bools, Ints, Labels
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance, agrees
from oleander.explainers import Rule, UnfilteredTree
from oleander.explainers.base import encode_labels, read_labels, write_labels
from oleander.results.ranges import Ranges
from oleander.running.fragments import Fragment, table
from oleander.running.shares import show_lower, show_share

FIGURES: dict[str, Any] = {
    "n_rows": int,
    "coverage": float,
    "fidelity": float,
    "mean_fidelity": float,
    "agreement": float,
    "conflicts": float,
    "complexity": int,
}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The figures of a set of explainers on some rows.

    Parameters
    ----------
    n_rows : int
    coverage : float
        Share of rows in at least one region (Cov in the paper, as a share).
    fidelity : float
        The lowest fidelity among the explainers (Fid in the paper); NaN if none covers a row.
    mean_fidelity : float
        Their mean.
    agreement : float
        Share of covered rows on which the answer given is the black box's; NaN if none is covered.
    conflicts : float
        Share of covered rows on which explainers that cover them disagree.
    complexity : int
        Leaves, or weights, in total.
    explainers : DataFrame
        One line each: rows covered, fidelity, complexity.
    classes : DataFrame
        One line per label of the black box, or per range of its numbers: rows, share covered, share of all its rows
        answered rightly.
    """

    n_rows: int
    coverage: float
    fidelity: float
    mean_fidelity: float
    agreement: float
    conflicts: float
    complexity: int
    explainers: pd.DataFrame
    classes: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        figures = {name: getattr(self, name) for name in FIGURES}
        # NaN differs from itself; `isnan` fails on integers beyond 64 bits, which a file may hold.
        figures = {name: None if value != value else value for name, value in figures.items()}
        labels = write_labels(self.classes["label"].to_numpy())
        shares = {name: self.classes[name].tolist() for name in ("rows", "covered", "answered_rightly")}
        members = self.explainers.astype(object).where(self.explainers.notna(), None).to_dict("list")
        return {**figures, "classes": {"label": labels, **shares}, "explainers": members}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote."""
        figures = {name: kind("nan" if data[name] is None else data[name]) for name, kind in FIGURES.items()}
        classes = {name: np.array(data["classes"][name], dtype=float) for name in ("covered", "answered_rightly")}
        rows = np.array(data["classes"]["rows"], dtype=int)
        members = {
            name: np.array(data["explainers"][name], dtype=kind)
            for name, kind in (("rows", int), ("fidelity", float), ("complexity", int))
        }
        table = pd.DataFrame({"label": read_labels(data["classes"]["label"]), "rows": rows, **classes})
        return cls(**figures, explainers=pd.DataFrame(members), classes=table)

    @property
    def n_answered(self) -> int:
        """The number of rows in at least one region."""
        return round(self.coverage * self.n_rows)

    @property
    def n_right(self) -> int:
        """The number of these on which the answer given is the black box's."""
        return round(self.agreement * self.n_answered) if self.n_answered else 0

    def describe(self) -> list[str]:
        """Return the figures in words, one line for each subject."""
        if not self.n_answered:
            return [f"none of {self.n_rows:,} rows is covered"]
        return [
            f"{self.n_answered:,} of {self.n_rows:,} rows covered ({show_share(self.coverage, 1)})",
            f"the answer is the black box's on {self.n_right:,} of these ({show_share(self.agreement, 1)})",
            f"fidelity at least {show_lower(self.fidelity, 3)}, {self.mean_fidelity:.3f} on average",
            f"{show_share(self.conflicts, 1)} of the covered rows in conflict",
            f"{self.complexity} rules in all",
        ]

    def __str__(self) -> str:
        return "; ".join(self.describe())

    def _repr_html_(self) -> str:
        first, *others = self.describe()
        return Fragment().heading(first).lines(others).add(draw_classes(self)).html


@dataclass(frozen=True, eq=False)
class Uncovered:
    """The rows that are not answered: no explainer covers them, or explainers disagree.

    Parameters
    ----------
    n_rows : int
    share : float
    classes : DataFrame
        One line per label of the black box: rows, and how many of them are not answered.
    rules : list of Rule
        The leaves of a small tree that separates the uncovered rows from the others.
    """

    n_rows: int
    share: float
    classes: pd.DataFrame
    rules: list[Rule]

    def __str__(self) -> str:
        lines = [f"{self.n_rows:,} rows ({show_share(self.share, 1)}) are not answered"]
        for rule in self.rules:
            if rule.label == "not answered":
                where = rule.premise or "everywhere"
                lines.append(f"  {where}: {show_share(rule.share)} of {rule.n_draws:,} rows are not answered")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        first, *others = str(self).splitlines()
        lines = self.classes[["label", "rows", "uncovered"]].itertuples(index=False)
        rows = [(label, f"{n_rows:,}", f"{n_left:,}") for label, n_rows, n_left in lines]
        return Fragment().heading(first).lines(others).add(table(["black box", "rows", "not answered"], rows)).html


def draw_classes(evaluation: Evaluation) -> str:
    """Return a table of the classes as HTML: rows, answered, answered rightly; the rarest class first."""
    classes = evaluation.classes.sort_values("rows", kind="stable")
    lines = [
        (
            line.label,
            f"{line.rows:,}",
            f"{round(line.rows * line.covered):,}",
            f"{round(line.rows * line.answered_rightly):,}",
        )
        for line in classes.itertuples(index=False)
    ]
    return table(["black box", "rows", "answered", "rightly"], lines)


def describe_uncovered(
    rows: NDArray[np.float64],
    labels: Labels,
    covered: Bools,
    schema: FeatureSchema,
    *,
    max_leaves: int = 4,
    tolerance: Tolerance | None = None,
) -> Uncovered:
    """Count the uncovered rows by label or range of numbers, and describe them by a small tree."""
    codes, names = group_answers(labels, tolerance)
    table = pd.DataFrame({"code": codes, "uncovered": ~covered})
    classes = table.groupby("code")["uncovered"].agg(rows="size", uncovered="sum").reset_index(drop=True)
    classes.insert(0, "label", names)
    words = np.where(covered, "answered", "not answered")
    tree = UnfilteredTree(max_leaves=max_leaves).fit(rows, words, schema=schema)
    return Uncovered(int((~covered).sum()), float((~covered).mean()), classes, tree.rules())


def evaluate(
    covers: Bools,
    said: Labels,
    answers: Labels,
    labels: Labels,
    complexity: list[int],
    weights: Ints | None = None,
    tolerance: Tolerance | None = None,
) -> Evaluation:
    """Compare what explainers say with what the black box says.

    Parameters
    ----------
    covers : bool array of shape (n_explainers, n_rows)
    said : array of shape (n_explainers, n_rows)
        What each explainer says of each row; looked at only where it covers.
    answers : array of shape (n_rows,)
        The answer given; looked at only where a row is covered.
    labels : array of shape (n_rows,)
        What the black box says.
    complexity : list of int
    weights : int array of shape (n_rows,), optional
        The number of equal rows that each row stands for; 1 by default.
    tolerance : Tolerance or None
        How near an answer must be to the black box's to agree; None for labels.

    Examples
    --------
    >>> covers = np.array([[True, True, False]])
    >>> said = np.array([["a", "b", "b"]])
    >>> result = evaluate(covers, said, said[0], np.array(["a", "a", "b"]), [2])
    >>> round(result.coverage, 3), result.fidelity, result.agreement
    (0.667, 0.5, 0.5)
    """
    counts = np.ones(len(labels), dtype=np.intp) if weights is None else weights
    covered = covers.any(axis=0)
    right = covered & agrees(answers, labels, tolerance)
    codes, names = group_answers(labels, tolerance)
    by_label = [
        np.bincount(codes, weights=counts * mask, minlength=len(names))
        for mask in (np.ones_like(covered), covered, right)
    ]
    return evaluate_counts(
        n_rows=int(counts.sum()),
        n_answered=int(counts[covered].sum()),
        n_right=int(counts[right].sum()),
        n_conflicts=int(counts[disagree(covers, said) & covered].sum()),
        covered=covers @ counts,
        agreed=(covers & agrees(said, labels, tolerance)) @ counts,
        complexity=complexity,
        labels=names,
        classes=np.array(by_label).T.astype(np.intp),
    )


def group_answers(labels: Labels, tolerance: Tolerance | None) -> tuple[Ints, Labels]:
    """Return the position of each answer among the labels or, for numbers, among a few ranges; and these in words.

    Examples
    --------
    >>> group_answers(np.array(["b", "a"]), None)[1].tolist()
    ['a', 'b']
    >>> group_answers(np.array([1.0, 1.0, 7.0]), Tolerance(0.5))[1].tolist()
    ['up to 1', 'over 4.6']
    """
    if tolerance is None or not len(labels):
        names, codes = encode_labels(labels)
        return codes, names
    ranges = Ranges.of(labels)
    found, codes = np.unique(ranges.find(labels), return_inverse=True)
    return codes.astype(np.intp), ranges.names[found]


def evaluate_counts(
    *,
    n_rows: int,
    n_answered: int,
    n_right: int,
    n_conflicts: int,
    covered: NDArray[np.integer[Any]],
    agreed: NDArray[np.integer[Any]],
    complexity: list[int],
    labels: Labels,
    classes: NDArray[np.integer[Any]],
) -> Evaluation:
    """Return the evaluation of explainers from counts of rows.

    Parameters
    ----------
    n_rows, n_answered, n_right, n_conflicts : int
        Rows; rows that are answered; rows that are answered as the black box does; rows on which explainers disagree.
    covered, agreed : int arrays of shape (n_explainers,)
        Rows that each covers, and on which it says what the black box says.
    complexity : list of int
    labels : array of shape (n_classes,)
    classes : int array of shape (n_classes, 3)
        For each label of the black box its rows, those answered, and those answered as it does.
    """
    fidelity = np.divide(agreed, covered, out=np.full(len(covered), np.nan), where=covered > 0)
    known = fidelity[covered > 0]
    size = classes[:, 0]
    return Evaluation(
        n_rows=n_rows,
        coverage=n_answered / n_rows,
        fidelity=float(known.min()) if len(known) else float("nan"),
        mean_fidelity=float(known.mean()) if len(known) else float("nan"),
        agreement=n_right / n_answered if n_answered else float("nan"),
        conflicts=n_conflicts / n_answered if n_answered else 0.0,
        complexity=int(sum(complexity)),
        explainers=pd.DataFrame({"rows": covered, "fidelity": fidelity, "complexity": complexity}),
        classes=pd.DataFrame(
            {
                "label": labels,
                "rows": size,
                "covered": classes[:, 1] / size,
                "answered_rightly": classes[:, 2] / size,
            }
        ),
    )


def disagree(covers: Bools, said: Labels) -> Bools:
    """Return a mask of the rows on which two explainers that cover them say different things."""
    n_rows = covers.shape[1]
    differs = np.zeros(n_rows, dtype=bool)
    if not len(covers):
        return differs
    first = said[covers.argmax(axis=0), np.arange(n_rows)]
    for inside, words in zip(covers, said, strict=True):
        differs |= inside & (words != first)
    return differs
