"""A synthetic cohort that has the paper's published figures, in place of the real one, which may not be shared.

Published figures are matched; all other figures are assumed, in constants named ``ASSUMED_``. No result on this cohort
says anything about patients: it shows that the code runs.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from oleander.arrays import Floats
from studies.data.base import BINARY_FEATURES, CONTINUOUS_FEATURES, SCORES, Cohort, trajectory_columns
from studies.data.published import GROUPS, MEANS, MONTHS, P_VALUES, PAIR_P_VALUES, SHARES, SIZES, SMELL_COUNTS

HEALTHY = GROUPS[-1]

# Mean scores of each group at the last visit (UPDRS II, UPDRS III, MoCA, MSES), chosen to fit the paper's names of its
# groups. Those at the first visit are printed for all but MoCA.
ASSUMED_ENDS = {
    "Group 0": (8.0, 27.0, 22.5, 89.0),
    "Group 1": (7.0, 21.5, 26.7, 72.0),
    "Group 2": (14.0, 42.0, 25.3, 84.0),
    "Group 3": (4.5, 16.5, 27.6, 95.0),
}
ASSUMED_MOCA_STARTS = {"Group 0": 26.6, "Group 1": 27.0, "Group 2": 26.4, "Group 3": 27.8}
# Spread of people around their group's mean, and of visits around the person's line.
ASSUMED_SCORE_SPREAD = (1.8, 3.2, 1.2, 2.5)
ASSUMED_VISIT_SPREAD = (1.0, 2.5, 1.0, 2.5)
SCORE_BOUNDS = ((0.0, 52.0), (0.0, 132.0), (0.0, 30.0), (0.0, 100.0))
SCORE_STEPS = (1.0, 1.0, 1.0, 5.0)
ASSUMED_HEALTHY_SCORES = ((0.5, 1.0), (1.2, 2.0), (28.2, 1.1), (100.0, 0.0))
# Mean and spread of columns that the table does not have.
ASSUMED_NUMBERS = {"PTT": (29.0, 3.0), "Hematocrit": (0.43, 0.035), "Education Years": (15.6, 2.9)}
ASSUMED_SHARES = {
    "Eyes": 0.15,
    "Psychiatric": 0.08,
    "Head-Neck-Lymphatic": 0.06,
    "Musculoskeletal": 0.18,
    "Left Handed": 0.09,
    "Race Hispanic": 0.02,
    "Race American Indian": 0.006,
    "Race Asian": 0.018,
    "Race Black": 0.02,
    "Race PI": 0.003,
}
ASSUMED_AMBIDEXTROUS = 0.03
ASSUMED_CHILDBEARING_AMONG_WOMEN = 0.12
ASSUMED_MRI = {"MRI Normal": 0.55, "MRI Abnormal Insignificant": 0.4, "MRI Abnormal Significant": 0.05}
# Shapes of columns within groups, which no printed figure fixes; means and spreads stay the printed ones. Without them
# groups would be Gaussian, and logistic regression the best model. Heavy: Student's law with 3 degrees of freedom, cut
# far out so that no one is 130 years old. Split: two humps, one standard deviation on either side of the mean.
ASSUMED_SHAPES = {
    "PTT": ("heavy", "split", "heavy", "split", "heavy"),
    "Hematocrit": ("split", "heavy", "heavy", "split", "heavy"),
    "Education Years": ("heavy",) * 5,
    "Lymphocytes": ("heavy",) * 5,
    "BL/SC Age": ("heavy",) * 5,
    "Geriatric Depression Score": ("heavy",) * 5,
}
# Correlations within groups whose signs differ from group to group: interactions.
ASSUMED_CORRELATION = 0.85
ASSUMED_SIGNS = {
    ("BL/SC Age", "Lymphocytes"): (1, 1, -1, -1, 0),
    ("Education Years", "Geriatric Depression Score"): (1, -1, 1, -1, 0),
}
HEAVY_FREEDOM, HEAVY_END, HUMP_SPREAD = 3, 5.0, 0.25
# The largest spread with which a difference of 0.88 points between groups 2 and 3 has p < 0.001.
SLEEP_SPREAD = 2.4
DECIMALS = {"PTT": 1, "Lymphocytes": 2, "Hematocrit": 3, "BL/SC Age": 1}


def make_ppmi_like(random_state: int = 0) -> Cohort:
    """Draw a synthetic cohort of 779 people: four groups of patients, and healthy ones.

    Group sizes, means, proportions and counts are the published ones; spreads are implied by the published p values. In
    group 1 and among the healthy, people without a smell test have a sleep score of 0: the printed means fit only if
    missing scores were read as zeros (10 + 11 + 5 people with a smell test, and 1.892 · 83 / 26 = 6.0).

    Parameters
    ----------
    random_state : int

    Returns
    -------
    Cohort

    Examples
    --------
    >>> cohort = make_ppmi_like(random_state=0)
    >>> cohort.X.shape, int(cohort.is_patient.sum()), cohort.is_synthetic
    ((779, 31), 548, True)
    """
    rng = np.random.default_rng(random_state)
    people = pd.concat([_draw_group(group, rng) for group in GROUPS], ignore_index=True)
    # The order must not reveal the groups.
    people = people.iloc[rng.permutation(len(people))].reset_index(drop=True)
    names = trajectory_columns(MONTHS)
    X = people[[*BINARY_FEATURES, *CONTINUOUS_FEATURES]].copy()
    X[list(BINARY_FEATURES)] = X[list(BINARY_FEATURES)].astype(int)
    return Cohort(
        name="synthetic PPMI-like cohort",
        X=X,
        trajectories=people[names],
        months=MONTHS,
        is_patient=people["group"] != HEALTHY,
        group=people["group"],
        is_synthetic=True,
    )


def implied_sd(feature: str) -> float:
    """Return the spread within groups implied by the published p values of a feature.

    A t test's p value, two means and two sizes leave one unknown, the spread; several pairs are averaged. Where no pair
    is printed, the F test across all groups is inverted in the same way.

    Examples
    --------
    >>> round(implied_sd("BL/SC Age"), 1)
    13.0
    """
    means = dict(zip(GROUPS, MEANS[feature], strict=True))
    known = {group: mean for group, mean in means.items() if mean is not None}
    spreads = []
    for (one, other), p_value in PAIR_P_VALUES.get(feature, {}).items():
        n_one, n_other = SIZES[one], SIZES[other]
        t = stats.t.isf(p_value / 2, n_one + n_other - 2)
        spreads.append(abs(known[one] - known[other]) / (t * np.sqrt(1 / n_one + 1 / n_other)))
    if spreads:
        return float(np.mean(spreads))
    sizes = np.array([SIZES[group] for group in known])
    values = np.array(list(known.values()))
    between = (sizes * (values - np.average(values, weights=sizes)) ** 2).sum() / (len(values) - 1)
    return float(np.sqrt(between / stats.f.isf(P_VALUES[feature], len(values) - 1, sizes.sum() - len(values))))


def _draw_group(group: str, rng: np.random.Generator) -> pd.DataFrame:
    n, place = SIZES[group], GROUPS.index(group)
    table = pd.DataFrame({"group": np.full(n, group)})
    for name, share in ASSUMED_SHARES.items():
        table[name] = _exact_share(share, n, rng)
    table["Right Handed"] = ((table["Left Handed"] == 0) & (rng.random(n) >= ASSUMED_AMBIDEXTROUS)).astype(int)
    for name, shares in SHARES.items():
        table[name] = _exact_share(shares[place], n, rng)
    table["Female Childbearing"] = (
        (table["Gender Male"] == 0) & (rng.random(n) < ASSUMED_CHILDBEARING_AMONG_WOMEN)
    ).astype(int)
    tested = _one_of([SMELL_COUNTS[name][place] for name in SMELL_COUNTS], list(SMELL_COUNTS), n, rng, table)
    _one_of([round(share * n) for share in ASSUMED_MRI.values()], list(ASSUMED_MRI), n, rng, table)
    shapes = _draw_shapes(place, n, rng)
    for name, (mean, spread) in ASSUMED_NUMBERS.items():
        table[name] = _with_moments(shapes[name], mean, spread)
    for name in ("Lymphocytes", "BL/SC Age", "Geriatric Depression Score"):
        table[name] = _with_moments(shapes[name], MEANS[name][place] or 0.0, implied_sd(name))
    sleep = np.zeros(n)
    n_tested = int(tested.sum())
    sleep[tested] = _exact_moments((MEANS["Sleep Score"][place] or 0.0) * n / n_tested, SLEEP_SPREAD, n_tested, rng)
    table["Sleep Score"] = sleep.round().clip(0, 13)
    table["Geriatric Depression Score"] = table["Geriatric Depression Score"].round().clip(0, 15)
    table["Education Years"] = table["Education Years"].round().clip(5, 24)
    table["Lymphocytes"] = table["Lymphocytes"].clip(lower=0.4)
    for name, decimals in DECIMALS.items():
        table[name] = table[name].round(decimals)
    return pd.concat([table, _draw_scores(group, n, rng)], axis=1)


def _draw_scores(group: str, n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw the trajectories; the four scores at screening are those of the first visit."""
    names = ("BL/SC UPDRSII", "BL/SC UPDRSIII", "BL/SC MOCA", "BL/SC MSES")
    if group == HEALTHY:
        first = np.column_stack([rng.normal(mean, spread, n) for mean, spread in ASSUMED_HEALTHY_SCORES])
        blank = np.full((n, len(MONTHS) * len(SCORES)), np.nan)
        scores = pd.DataFrame(_as_scores(first), columns=list(names))
        return pd.concat([scores, pd.DataFrame(blank, columns=trajectory_columns(MONTHS))], axis=1)
    place = GROUPS.index(group)
    starts = [MEANS[name][place] if name in MEANS else ASSUMED_MOCA_STARTS[group] for name in names]
    trajectories = []
    for score, (start, end) in enumerate(zip(starts, ASSUMED_ENDS[group], strict=True)):
        assert start is not None
        mean = start + (end - start) * np.array(MONTHS) / MONTHS[-1]
        person = _exact_moments(0.0, ASSUMED_SCORE_SPREAD[score], n, rng)
        noise = rng.normal(0, ASSUMED_VISIT_SPREAD[score], (n, len(MONTHS)))
        trajectories.append(mean + person[:, None] + noise - noise.mean(axis=0))
    # Visit by visit, the four scores of a visit side by side.
    visits = np.stack(trajectories, axis=2)
    visits = _as_scores(visits.reshape(-1, len(SCORES))).reshape(n, -1)
    table = pd.DataFrame(visits, columns=trajectory_columns(MONTHS))
    return pd.concat([table, pd.DataFrame(visits[:, : len(SCORES)], columns=list(names))], axis=1)


def _as_scores(values: Floats) -> Floats:
    """Return values rounded to the steps of each score and clipped to its bounds."""
    steps, bounds = np.array(SCORE_STEPS), np.array(SCORE_BOUNDS)
    rounded: Floats = np.clip(np.round(values / steps) * steps, bounds[:, 0], bounds[:, 1])
    return rounded


def _draw_shapes(place: int, n: int, rng: np.random.Generator) -> dict[str, Floats]:
    """Draw the columns of one group that have a shape, before they get their mean and spread."""
    shapes: dict[str, Floats] = {}
    for name, by_group in ASSUMED_SHAPES.items():
        if by_group[place] == "heavy":
            shapes[name] = rng.standard_t(HEAVY_FREEDOM, size=n).clip(-HEAVY_END, HEAVY_END)
        else:
            shapes[name] = rng.choice([-1.0, 1.0], size=n) + rng.normal(0, HUMP_SPREAD, n)
    rest = np.sqrt(1 - ASSUMED_CORRELATION**2)
    for (one, other), signs in ASSUMED_SIGNS.items():
        if signs[place]:
            shapes[other] = signs[place] * ASSUMED_CORRELATION * shapes[one] + rest * shapes[other]
    return shapes


def _exact_moments(mean: float, spread: float, n: int, rng: np.random.Generator) -> Floats:
    """Draw normal numbers and shift them to exactly this mean and spread."""
    return _with_moments(rng.normal(size=n), mean, spread)


def _with_moments(values: Floats, mean: float, spread: float) -> Floats:
    """Return values shifted and stretched to exactly this mean and spread."""
    moved: Floats = mean + spread * (values - values.mean()) / values.std(ddof=1)
    return moved


def _exact_share(share: float, n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return a random 0/1 column with this share of ones, and at least one of each, so that it is not constant."""
    values = np.zeros(n, dtype=np.intp)
    values[: min(max(round(share * n), 1), n - 1)] = 1
    return rng.permutation(values)


def _one_of(
    counts: Sequence[int], names: Sequence[str], n: int, rng: np.random.Generator, table: pd.DataFrame
) -> NDArray[np.bool_]:
    """Add a 0/1 column per result with these counts, and return a mask of the people with any result."""
    codes = np.full(n, -1)
    filled = np.repeat(np.arange(len(counts)), counts)[:n]
    codes[: len(filled)] = filled
    codes = rng.permutation(codes)
    for code, name in enumerate(names):
        table[name] = (codes == code).astype(int)
    return codes >= 0
