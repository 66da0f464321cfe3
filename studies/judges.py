"""From a step's facts to an answer: does a claim of the paper come out? Each judge reads facts and nothing else."""

from collections.abc import Callable
from typing import Any

import numpy as np

from oleander.selection import SelectionProblem
from studies.data.published import GROUPS, MEANS, N_PEOPLE, P_VALUES, SPLIT_SIZES
from studies.steps import Facts

# Whether the claim comes out (None: these facts do not tell), our figure, and why it fails where it does.
Judgement = tuple[bool | None, str, str]
Judge = Callable[[Facts], Judgement]
# Numbers of leaves within this share of each other are called equal.
ABOUT_EQUAL = 0.2
PAPER_MEASURE = "whole, data_fidelity"
# So many standard errors are a difference, and so many splits show what is so on every split.
N_ERRORS = 2.0
ENOUGH_SPLITS = 5


def cohort_size(facts: Facts) -> Judgement:
    """Count the people."""
    found = facts["n_people"], facts["n_patients"], facts["n_people"] - facts["n_patients"]
    return found[0] == N_PEOPLE, f"{found[0]} people, {found[1]} patients, {found[2]} healthy", ""


def four_groups(facts: Facts) -> Judgement:
    """Look at the elbow."""
    found = facts["bend"], facts["held_out_bend"]
    return 4 in found, f"bend at {found[0]}, on held-out patients at {found[1]}", ""


def group_names(facts: Facts) -> Judgement:
    """See whether the mean trajectories are as the groups are called."""
    change = facts["change"]
    lowest = {score: min(values, key=values.get) for score, values in change.items()}
    highest = max(change["UPDRS III"], key=change["UPDRS III"].get)
    flat = change["UPDRS III"]["Group 1"]
    comes_out = lowest["MoCA"] == "Group 0" and lowest["MSES"] == "Group 1" and highest == "Group 2"
    words = (
        f"MoCA of group 0 {change['MoCA']['Group 0']:+.1f}, MSES of group 1 {change['MSES']['Group 1']:+.1f} with "
        f"UPDRS III {flat:+.1f}, UPDRS III of group 2 {change['UPDRS III']['Group 2']:+.1f}"
    )
    return comes_out, words, ""


def distinct_groups(facts: Facts) -> Judgement:
    """See how many neighbours in the plane are of the same group."""
    purity = facts["purity"]
    words = f"{purity['pca']:.0%} (PCA) and {purity['tsne']:.0%} (t-SNE) of neighbours are of the same group"
    return min(purity.values()) >= 0.9, words, ""


def table_differs(facts: Facts) -> Judgement:
    """Count the rows of the table on the same side of 0.05."""
    words = f"{facts['n_rows_agree']} of {facts['n_rows']} rows on the same side of 0.05"
    return facts["n_rows_agree"] == facts["n_rows"], words, ""


def table_pairs(facts: Facts) -> Judgement:
    """Count the pairs."""
    words = (
        f"{facts['n_pairs_found']} of {facts['n_pairs_printed']} pairs, and {facts['n_pairs_more']} more; over all "
        f"features {facts['n_pairs_after_holm']} of {facts['n_pairs_plain']} are left after Holm's correction"
    )
    return facts["n_pairs_found"] == facts["n_pairs_printed"], words, ""


def no_difference(facts: Facts) -> Judgement:
    """Look at race, sex and depression."""
    names = ("Race White", "Gender Male", "Geriatric Depression Score")
    words = ", ".join(f"{name} p = {facts['p'][name]:.2f} (paper {P_VALUES[name]:.2f})" for name in names)
    return all(facts["p"][name] > 0.05 for name in names), words, ""


def sleep_and_smell(facts: Facts) -> Judgement:
    """Look at the two measures that the paper singles out."""
    found = facts["p"]["Sleep Score"], facts["p"]["Olfactory"]
    return max(found) < 0.001, "p < 0.001 for both" if max(found) < 0.001 else f"p = {found[0]:.3f}, {found[1]:.3f}", ""


def youngest_group(facts: Facts) -> Judgement:
    """Read the paper's own table."""
    printed = dict(zip(GROUPS, MEANS["BL/SC Age"], strict=True))
    why = "the paper's own table has group 3 younger: 58.387 years against 58.925; early onset is not shown by it"
    youngest = min(printed, key=lambda group: printed[group] or np.inf)
    return youngest == "Group 0", f"youngest as printed: {youngest}", why


def split_sizes(facts: Facts) -> Judgement:
    """Count the rows of each part."""
    found = tuple(facts["five_classes"]["n"].values())
    return found == SPLIT_SIZES, " / ".join(map(str, found)), ""


def logistic_worst(facts: Facts) -> Judgement:
    """Count the splits of the main task on which logistic regression is worst."""
    repeats = next(iter(facts.values()))["repeats"]
    words = f"worst on {repeats['logistic_worst']} of {repeats['n']} splits; {_means(repeats['mean'])}"
    return _on_every_split(repeats, "logistic_worst"), words, "another model is as bad or worse on some splits"


def forest_best(facts: Facts) -> Judgement:
    """Count the splits of the main task on which the forest is best."""
    repeats = next(iter(facts.values()))["repeats"]
    words = f"best on {repeats['forest_best']} of {repeats['n']} splits; {_means(repeats['mean'])}"
    return _on_every_split(repeats, "forest_best"), words, "another model is as good or better on some splits"


def _on_every_split(repeats: Facts, what: str) -> bool | None:
    """Return whether it is so on every split; a few splits do not tell."""
    if repeats[what] < repeats["n"]:
        return False
    return True if repeats["n"] >= ENOUGH_SPLITS else None


def forest_by_class(facts: Facts) -> Judgement:
    """Compare forest and network class by class."""
    forest, network = facts["five_classes"]["forest"]["recall"], facts["five_classes"]["network"]["recall"]
    others = [name for name in forest if name != "Group 0"]
    comes_out = forest["Group 0"] < network["Group 0"] and all(forest[name] >= network[name] for name in others)
    words = "; ".join(f"{name} {forest[name]:.0%} against {network[name]:.0%}" for name in forest)
    return comes_out, f"right by class, forest against network: {words}", ""


def hundred_units(facts: Facts) -> Judgement:
    """Compare the paper's network with the best other one in cross-validation."""
    return _papers_choice(facts, "network")


def fifty_trees(facts: Facts) -> Judgement:
    """Compare the paper's forest with the best other one in cross-validation."""
    return _papers_choice(facts, "forest")


def _papers_choice(facts: Facts, model: str) -> Judgement:
    """Judge a choice on the main task: a difference that chance explains is a tie, which tells nothing."""
    found = next(iter(facts.values()))[model]["against_rivals"]
    if found is None:
        return None, "", ""
    ahead, margin = found["ahead"], found["margin"]
    words = f"{ahead:+.2%} against the best other choice (chance explains {margin:.2%})"
    if abs(ahead) <= margin:
        return None, f"{words}: not told apart", ""
    return ahead > 0, words, "another choice does better"


def few_features(facts: Facts) -> Judgement:
    """Count the features that the filter keeps."""
    radii = facts["radii"]
    words = "; ".join(
        f"r = {radius}: at most five for {found['share_at_most_five']:.0%}, most {found['most_selected']}"
        for radius, found in radii.items()
    )
    comes_out = all(found["share_at_most_five"] >= 0.75 for found in radii.values())
    return comes_out, f"{words} of {facts['n_features']}", "with so many draws, weak features are significant too"


def smaller_trees(*radii: str) -> Judge:
    """Return a judge of whether trees with the filter have fewer leaves at high fidelity."""

    def judge(facts: Facts) -> Judgement:
        pairs = _leaves(facts, radii, "high")
        why = (
            "a tree grown to the end on few features needs more splits to part the same draws. Trees of 16 leaves: "
            + _small(facts, radii)
        )
        return (all(one < other for one, other in pairs.values()) if pairs else None), _pairs(pairs), why

    return judge


def equal_trees(radius: str) -> Judge:
    """Return a judge of whether the filter makes no great difference."""

    def judge(facts: Facts) -> Judgement:
        pairs = _leaves(facts, (radius,), "high") or _leaves(facts, (radius,), "low")
        if not pairs:
            return None, "", ""
        one, other = pairs[radius]
        why = "the trees with the filter are larger" if one > other else "the trees with the filter are smaller"
        return abs(one - other) <= ABOUT_EQUAL * max(one, other), _pairs(pairs), why

    return judge


def low_fidelity_trees(facts: Facts) -> Judgement:
    """Compare leaves below the fidelity of 0.6."""
    pairs = _leaves(facts, tuple(facts["radii"]), "low")
    comes_out = all(one > other for one, other in pairs.values()) if pairs else None
    why = "" if pairs else "no explainer is below 0.6"
    return comes_out, _pairs(pairs) or why, why


def better_fidelity(facts: Facts) -> Judgement:
    """Compare fidelity with and without the filter, center by center; two standard errors decide."""
    radii = facts["radii"]
    gains = [(found[PAPER_MEASURE]["gain"], found[PAPER_MEASURE]["gain_error"]) for found in radii.values()]
    if any(gain is None or error is None for gain, error in gains):
        return None, "", ""
    why = "the filter adds nothing that can be told from noise at some radius, or takes away"
    return all(gain > N_ERRORS * error for gain, error in gains), _gains(facts), why


def _gains(facts: Facts) -> str:
    words = []
    for measure, where in (("whole, data_fidelity", "on all rows"), ("whole, fresh_fidelity", "on fresh draws")):
        found = [
            f"r = {radius} {mine[measure]['gain']:+.4f} ± {mine[measure]['gain_error']:.4f}"
            for radius, mine in facts["radii"].items()
        ]
        words.append(f"gain {where}: {', '.join(found)}")
    return "; ".join(words)


def linear_filter(facts: Facts) -> Judgement:
    """Look at the powers of the filter's time."""
    draws, features, rounds = (facts[f"power_of_{name}"] for name in ("draws", "features", "rounds"))
    words = f"powers: {draws:.2f} of draws, {features:.2f} of features, {rounds:.2f} of features picked"
    return max(draws, features) < 1.3, words, "time grows faster than linearly"


def three_bins(facts: Facts) -> Judgement:
    """Ask whether more bins are better by more than chance explains, center by center."""
    found = facts["bins"]
    words = "; ".join(
        f"{n} bins {mine['fidelity']:.3f} ({mine['n_selected']:.1f} features)" for n, mine in found.items()
    )
    better = [n for n, mine in found.items() if int(n) > 3 and mine["ahead"] > N_ERRORS * mine["error"]]
    why = f"more faithful, if by little: {' and '.join(better)} bins (figure bins)"
    return not better, f"fidelity on fresh draws: {words}", why


def three_activities(facts: Facts) -> Judgement:
    """Count the classes."""
    n = len(facts["classes"])
    why = "the files have four activities; the captions' five fit neither"
    return n == 3, f"{n}: {', '.join(facts['classes'])}", why


def fourteen_people(facts: Facts) -> Judgement:
    """Say what the files tell of people."""
    return None, f"{facts['n_trials']} trials; files name no person and no age", ""


def program_is_definition(facts: Facts) -> Judgement:
    """Solve the smallest example: ten rows in one ball, six of them right, and a floor of 0.9."""
    covers = np.ones((1, 10), dtype=bool)
    agrees = np.arange(10)[None, :] < 6
    problem = SelectionProblem(covers, agrees)
    result = problem.solve(max_explainers=1, min_fidelity=0.9, formulation="selective")
    words = f"an explainer right on 6 of 10 rows is chosen at a floor of 0.9, and counts {result.objective:g} rows"
    why = "rows in a chosen ball need not be counted in the program, so an explainer may pass over those it gets wrong"
    return len(result.chosen) == 0, words, why


def _means(mean: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.1%}" for name, value in mean.items())


def _leaves(facts: Facts, radii: tuple[str, ...], side: str) -> dict[str, tuple[float, float]]:
    """Return mean leaves with and without the filter at those radii where both are known."""
    found = {}
    for radius in radii:
        mine: dict[str, Any] = facts["radii"].get(radius, {}).get(PAPER_MEASURE, {})
        one, other = mine.get(f"leaves_{side}_filtered"), mine.get(f"leaves_{side}_unfiltered")
        if one is not None and other is not None:
            found[radius] = one, other
    return found


def _pairs(pairs: dict[str, tuple[float, float]]) -> str:
    return "; ".join(
        f"r = {radius}: {one:.0f} leaves with, {other:.0f} without" for radius, (one, other) in pairs.items()
    )


def _small(facts: Facts, radii: tuple[str, ...]) -> str:
    words = []
    for radius in radii:
        mine = facts["radii"].get(radius, {}).get("small, fresh_fidelity")
        if mine:
            words.append(f"r = {radius} {mine['fidelity_filtered']:.3f} against {mine['fidelity_unfiltered']:.3f}")
    return "fidelity on fresh draws at " + "; ".join(words) if words else "not measured"
