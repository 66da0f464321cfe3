"""Judges of the claims about the data: the cohort, its groups and the geriatric readings."""

import numpy as np

from studies.claims.claim import Judgement
from studies.data.published import GROUPS, MEANS, N_PEOPLE, P_VALUES
from studies.step import Facts


def cohort_size(facts: Facts) -> Judgement:
    """Count the people."""
    found = facts["n_people"], facts["n_patients"], facts["n_people"] - facts["n_patients"]
    return found[0] == N_PEOPLE, f"{found[0]} people, {found[1]} patients, {found[2]} healthy", ""


def four_groups(facts: Facts) -> Judgement:
    """Find the bend of the elbow plot."""
    found = facts["bend"], facts["held_out_bend"]
    return 4 in found, f"bend at {found[0]}, on held-out patients at {found[1]}", ""


def group_names(facts: Facts) -> Judgement:
    """Compare the names of the groups with what did not give them.

    Groups are numbered by the fall of MoCA and MSES and by UPDRS III at the end. Their names say more: motor symptoms
    of group 1 stand still, those of group 2 limit daily life most, and those of group 3 least.
    """
    change, last = facts["change"], facts["last"]
    stillest = min(change["UPDRS III"], key=lambda group: abs(change["UPDRS III"][group]))
    ranked = sorted(last["UPDRS II"], key=last["UPDRS II"].get)
    holds = stillest == "Group 1" and ranked[-1] == "Group 2" and ranked[0] == "Group 3"
    words = (
        f"UPDRS III changes least in {stillest.lower()} ({change['UPDRS III'][stillest]:+.1f}); UPDRS II at the end is "
        f"highest in {ranked[-1].lower()} ({last['UPDRS II'][ranked[-1]]:.1f}) and lowest in {ranked[0].lower()} "
        f"({last['UPDRS II'][ranked[0]]:.1f})"
    )
    return holds, words, "scores that did not give the names order the groups otherwise"


def distinct_groups(facts: Facts) -> Judgement:
    """Count the neighbours in the plane that are in the same group."""
    purity = facts["purity"]
    words = f"{purity['pca']:.0%} (PCA) and {purity['tsne']:.0%} (t-SNE) of neighbours are in the same group"
    return min(purity.values()) >= 0.9, words, ""


def table_differs(facts: Facts) -> Judgement:
    """Count the rows of the table whose p value is on the same side of 0.05."""
    words = f"{facts['n_rows_agree']} of {facts['n_rows']} rows on the same side of 0.05"
    return facts["n_rows_agree"] == facts["n_rows"], words, ""


def table_pairs(facts: Facts) -> Judgement:
    """Count the pairs that are significant here too."""
    words = (
        f"{facts['n_pairs_found']} of {facts['n_pairs_printed']} pairs, and {facts['n_pairs_more']} more; over all "
        f"features {facts['n_pairs_after_holm']} of {facts['n_pairs_plain']} are left after Holm's correction"
    )
    return facts["n_pairs_found"] == facts["n_pairs_printed"], words, ""


def no_difference(facts: Facts) -> Judgement:
    """Test race, sex and depression."""
    names = ("Race White", "Gender Male", "Geriatric Depression Score")
    words = ", ".join(f"{name} p = {facts['p'][name]:.2f} (paper {P_VALUES[name]:.2f})" for name in names)
    return all(facts["p"][name] > 0.05 for name in names), words, ""


def sleep_and_smell(facts: Facts) -> Judgement:
    """Test the two measures that the paper names."""
    found = facts["p"]["Sleep Score"], facts["p"]["Olfactory"]
    return max(found) < 0.001, "p < 0.001 for both" if max(found) < 0.001 else f"p = {found[0]:.3f}, {found[1]:.3f}", ""


def youngest_group(facts: Facts) -> Judgement:
    """Find the youngest group in the paper's own table."""
    printed = dict(zip(GROUPS, MEANS["BL/SC Age"], strict=True))
    why = "the paper's own table has group 3 younger: 58.387 years against 58.925, so it does not show early onset"
    youngest = min(printed, key=lambda group: printed[group] or np.inf)
    return youngest == "Group 0", f"youngest as printed: {youngest}", why


def three_activities(facts: Facts) -> Judgement:
    """Count the activities."""
    n = len(facts["classes"])
    why = "the files have four activities; the captions' five fit neither"
    return n == 3, f"{n}: {', '.join(facts['classes'])}", why


def fourteen_people(facts: Facts) -> Judgement:
    """Report the trials; the files do not identify people."""
    return None, f"{facts['n_trials']} trials; files name no person and no age", ""
