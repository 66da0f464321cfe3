"""Step 2: differences between the groups at screening. A test across all groups per feature, t tests for pairs."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from oleander.arrays import Floats, Labels
from studies.data.base import BINARY_FEATURES, CONTINUOUS_FEATURES
from studies.data.published import GROUPS, MEANS, P_VALUES, PAIR_P_VALUES, SHARES, SMELL_COUNTS
from studies.step import Facts, Step, Work
from studies.steps.trajectories import patient_groups
from studies.store import Store

LEVEL = 0.05
# Compared among patients only, as in the paper's table.
PATIENTS_ONLY = ("BL/SC UPDRSII", "BL/SC UPDRSIII", "BL/SC MSES")


def holm(p_values: Sequence[float]) -> Floats:
    """Return p values corrected to control the chance of any false finding (Holm).

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values)
    raised = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(raised, 1.0)
    return corrected


def benjamini_hochberg(p_values: Sequence[float]) -> Floats:
    """Return p values corrected to control the share of false findings (Benjamini and Hochberg).

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    corrected: Floats = stats.false_discovery_control(np.asarray(p_values, dtype=float))
    return corrected


def compare(X: pd.DataFrame, groups: Labels, names: Sequence[str]) -> pd.DataFrame:
    """Return one line per feature: the test across all groups, its p value, and each group's mean or share.

    Numbers are compared by ANOVA, features of 0 and 1 by the chi-squared test of independence.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [60.0, 61, 70, 71], "male": [0, 1, 0, 1]})
    >>> compare(X, np.array(["a", "a", "b", "b"]), ["a", "b"])[["feature", "test", "a", "b"]]
      feature         test     a     b
    0     age        ANOVA  60.5  70.5
    1    male  chi-squared   0.5   0.5
    """
    lines = []
    for feature in X.columns:
        values = {name: X.loc[groups == name, feature].to_numpy(float) for name in names}
        values = {name: inside[~np.isnan(inside)] for name, inside in values.items()}
        known = {name: inside for name, inside in values.items() if len(inside)}
        if set(np.unique(np.concatenate(list(known.values())))) <= {0.0, 1.0}:
            counts = [[inside.sum(), len(inside) - inside.sum()] for inside in known.values()]
            test, p_value = "chi-squared", chi_squared(counts)
        else:
            test, p_value = "ANOVA", float(stats.f_oneway(*known.values()).pvalue)
        means = {name: float(inside.mean()) if len(inside) else np.nan for name, inside in values.items()}
        lines.append({"feature": feature, "test": test, **means, "p": p_value})
    return pd.DataFrame(lines)


def chi_squared(counts: Sequence[Sequence[float]]) -> float:
    """Return the p value of independence: one row of counts per group, one column per result.

    >>> round(chi_squared([[10, 20], [20, 10]]), 4)
    0.0098
    """
    table = np.array(counts, dtype=float)
    # A result that no one has carries no information, and the test refuses it.
    table = table[:, table.sum(axis=0) > 0]
    return float(stats.chi2_contingency(table, correction=False).pvalue) if table.shape[1] > 1 else 1.0


def compare_pairs(X: pd.DataFrame, groups: Labels, names: Sequence[str]) -> pd.DataFrame:
    """Return one line per feature and pair of groups: the p value of the t test with equal variances."""
    lines = []
    for feature in X.columns:
        for one, other in combinations(names, 2):
            pair = [X.loc[groups == name, feature].dropna() for name in (one, other)]
            if min(map(len, pair)) < 2:
                continue
            p_value = 1.0 if all(part.nunique() == 1 for part in pair) else float(stats.ttest_ind(*pair).pvalue)
            lines.append({"feature": feature, "one": one, "other": other, "p": p_value})
    return pd.DataFrame(lines)


def add_corrections(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with p values corrected for the number of tests, in both ways."""
    return table.assign(p_holm=holm(table["p"].tolist()), p_bh=benjamini_hochberg(table["p"].tolist()))


def mark_pairs(table: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the pairs that differ significantly, without and with each correction."""

    def words(feature: str, column: str) -> str:
        found = pairs[(pairs["feature"] == feature) & (pairs[column] < LEVEL)]
        return "; ".join(
            f"{_short(one)}–{_short(other)}" for one, other in zip(found["one"], found["other"], strict=True)
        )

    columns = {"pairs": "p", "pairs_holm": "p_holm", "pairs_bh": "p_bh"}
    return table.assign(**{new: [words(feature, old) for feature in table["feature"]] for new, old in columns.items()})


def _short(group: str) -> str:
    return group.removeprefix("Group ").replace("Healthy", "H")


def compute(work: Work, store: Store) -> Facts:
    """Compare all 31 features between the groups, beside the paper's table."""
    cohort = work.cohort
    groups = np.full(len(cohort.X), GROUPS[-1], dtype=object)
    groups[cohort.is_patient.to_numpy()] = patient_groups(work)
    X = cohort.X[[*CONTINUOUS_FEATURES, *BINARY_FEATURES]].astype(float).copy()
    X.loc[~cohort.is_patient, list(PATIENTS_ONLY)] = np.nan

    counts = [[float(X.loc[groups == name, smell].sum()) for smell in SMELL_COUNTS] for name in GROUPS]

    def whole() -> pd.DataFrame:
        table = compare(X, groups, GROUPS)
        line = {"feature": "Olfactory", "test": "chi-squared", "p": chi_squared(counts)}
        return add_corrections(pd.concat([table, pd.DataFrame([line])], ignore_index=True))

    pairs = store.table("pairs", lambda: add_corrections(compare_pairs(X[list(CONTINUOUS_FEATURES)], groups, GROUPS)))
    table = store.table("all_features", lambda: mark_pairs(whole(), pairs))
    ours = store.table("baseline_table", lambda: _beside_paper(table))
    store.table("baseline_shown", lambda: _shown(ours, _smell(counts)))
    printed = {(feature, *pair) for feature, found in PAIR_P_VALUES.items() for pair in found}
    tested = pairs[pairs["feature"].isin(PAIR_P_VALUES)]
    marked = {(line.feature, line.one, line.other) for line in tested[tested["p"] < LEVEL].itertuples()}
    by_name = table.set_index("feature")
    agree = (ours["p"] < LEVEL) == (ours["paper_p"] < LEVEL)
    return {
        "p": by_name["p"].round(6).to_dict(),
        "p_holm": by_name["p_holm"].round(6).to_dict(),
        "age": {name: round(float(by_name.loc["BL/SC Age", name]), 3) for name in GROUPS},
        "n_features_significant": int((by_name["p"] < LEVEL).sum()),
        "n_features": len(by_name),
        "n_rows": len(ours),
        "n_rows_agree": int(agree.sum()),
        "n_pairs_printed": len(printed),
        "n_pairs_found": len(printed & marked),
        "n_pairs_more": len(marked - printed),
        "n_pairs_after_holm": int((pairs["p_holm"] < LEVEL).sum()),
        "n_pairs_plain": int((pairs["p"] < LEVEL).sum()),
    }


def _beside_paper(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the paper's table: our figures and the printed ones."""
    lines = []
    for feature, paper_p in P_VALUES.items():
        ours = table[table["feature"] == feature].iloc[0]
        printed = MEANS.get(feature) or SHARES.get(feature) or (None,) * len(GROUPS)
        line: dict[str, Any] = {"feature": feature, "test": ours["test"]}
        line |= {name: ours[name] for name in GROUPS}
        line |= {f"paper: {name}": value for name, value in zip(GROUPS, printed, strict=True)}
        line |= {name: ours[name] for name in ("p", "p_holm", "p_bh")} | {"paper_p": paper_p}
        line |= {name: ours[name] for name in ("pairs", "pairs_holm", "pairs_bh")}
        marked = PAIR_P_VALUES.get(feature, {})
        line["paper_pairs"] = "; ".join(f"{_short(one)}–{_short(other)}" for one, other in marked)
        lines.append(line)
    return pd.DataFrame(lines)


def _smell(counts: Sequence[Sequence[float]]) -> pd.DataFrame:
    """Return the number of people with each result of the smell test, ours and in brackets the printed ones."""
    lines = []
    for place, (result, printed) in enumerate(SMELL_COUNTS.items()):
        pairs = zip(GROUPS, counts, printed, strict=True)
        cells = {name: f"{found[place]:.0f} ({paper})" for name, found, paper in pairs}
        lines.append({"feature": f"Olfactory: {result}", **cells})
    return pd.DataFrame(lines)


def _shown(table: pd.DataFrame, smell: pd.DataFrame) -> pd.DataFrame:
    """Return the table for the page, with the paper's figures in brackets behind ours."""

    def number(value: float) -> str:
        return "" if pd.isna(value) else f"{value:.3f}".rstrip("0").rstrip(".")

    def p_value(value: float) -> str:
        return "< 0.001" if value < 0.001 else f"{value:.3f}"

    shown = table[["feature"]].copy()
    for name in GROUPS:
        pairs = zip(table[name], table[f"paper: {name}"], strict=True)
        shown[name] = [f"{number(one)} ({number(other)})" if not pd.isna(one) else "" for one, other in pairs]
    printed = ["≤ 0.001" if value <= 0.001 else f"{value:g}" for value in table["paper_p"]]
    shown["p"] = [f"{p_value(value)} ({paper})" for value, paper in zip(table["p"], printed, strict=True)]
    shown["p, Holm"], shown["p, BH"] = table["p_holm"].map(p_value), table["p_bh"].map(p_value)
    shown["pairs"], shown["pairs, Holm"] = table["pairs"], table["pairs_holm"]
    shown = shown.assign(**{"pairs, paper": table["paper_pairs"]})
    # The results of the smell test are counts: three lines below the line of their test, as in the paper.
    place = shown.index[shown["feature"] == "Olfactory"][0] + 1
    return pd.concat([shown[:place], smell.reindex(columns=shown.columns), shown[place:]], ignore_index=True)


BASELINE_TABLE = Step("baseline_table", "Groups at screening", compute, needs=("trajectories",))
