"""Judges of the claims about the information filter: local explainers, bins, cost, and inside the program."""

from typing import Any

from studies.claims.claim import Judge, Judgement
from studies.claims.held_out import measure_words, task_words
from studies.step import Facts
from studies.steps.explained_rows import HELD_OUT
from studies.steps.paper_program import PROGRAMS

# Numbers of leaves within this share of each other are called equal.
ABOUT_EQUAL = 0.2
PAPER_MEASURE = "whole, data_fidelity"
# The number of standard errors that make a difference.
N_ERRORS = 2.0


def few_features(facts: Facts) -> Judgement:
    """Count the features that the filter keeps."""
    radii = facts["radii"]
    words = "; ".join(
        f"r = {radius}: at most five for {found['share_at_most_five']:.0%}, most {found['most_selected']}"
        for radius, found in radii.items()
    )
    holds = all(found["share_at_most_five"] >= 0.75 for found in radii.values())
    return holds, f"{words} of {facts['n_features']}", "with many draws, weak features are significant too"


def smaller_trees(*radii: str) -> Judge:
    """Return a judge that asks for fewer leaves with the filter, at high fidelity."""

    def judge(facts: Facts) -> Judgement:
        pairs = _leaves(facts, radii, "high")
        why = (
            "a whole tree on few features needs more splits to separate the same draws. Trees of 16 leaves: "
            + _small(facts, radii)
        )
        return (all(one < other for one, other in pairs.values()) if pairs else None), _pairs(pairs), why

    return judge


def equal_trees(radius: str) -> Judge:
    """Return a judge that asks for about as many leaves with the filter as without."""

    def judge(facts: Facts) -> Judgement:
        pairs = _leaves(facts, (radius,), "high") or _leaves(facts, (radius,), "low")
        if not pairs:
            return None, "", ""
        one, other = pairs[radius]
        why = "the trees with the filter are larger" if one > other else "the trees with the filter are smaller"
        return abs(one - other) <= ABOUT_EQUAL * max(one, other), _pairs(pairs), why

    return judge


def low_fidelity_trees(facts: Facts) -> Judgement:
    """Compare the leaves of trees with a fidelity below 0.6."""
    pairs = _leaves(facts, tuple(facts["radii"]), "low")
    holds = all(one > other for one, other in pairs.values()) if pairs else None
    why = "" if pairs else "no explainer is below 0.6"
    return holds, _pairs(pairs) or why, why


def better_fidelity(facts: Facts) -> Judgement:
    """Compare fidelity with and without the filter, center by center, in standard errors."""
    radii = facts["radii"]
    gains = [(found[PAPER_MEASURE]["gain"], found[PAPER_MEASURE]["gain_error"]) for found in radii.values()]
    if any(gain is None or error is None for gain, error in gains):
        return None, "", ""
    why = "at some radius the gain is negative or within the noise"
    return all(gain > N_ERRORS * error for gain, error in gains), _gains(facts), why


def linear_filter(facts: Facts) -> Judgement:
    """Compare the powers of the filter's time with 1."""
    draws, features, rounds = (facts[f"power_of_{name}"] for name in ("draws", "features", "rounds"))
    words = f"powers: {draws:.2f} of draws, {features:.2f} of features, {rounds:.2f} of features picked"
    return max(draws, features) < 1.3, words, "time grows faster than linearly"


def three_bins(facts: Facts) -> Judgement:
    """Compare more bins with three, center by center, in standard errors."""
    found = facts["bins"]
    words = "; ".join(
        f"{n} bins {line['fidelity']:.3f} ({line['n_selected']:.1f} features)" for n, line in found.items()
    )
    better = [n for n, line in found.items() if int(n) > 3 and line["ahead"] > N_ERRORS * line["error"]]
    why = f"slightly more faithful: {' and '.join(better)} bins (figure bins)"
    return not better, f"fidelity on fresh draws: {words}", why


def filter_covers_more(task: str, *measures: str) -> Judge:
    """Return a judge that asks for a lead of filtered trees over LIME at every budget, in some measures."""

    def judge(facts: Facts) -> Judgement:
        gain = facts["tasks"][task]["gain"]
        found = {(p, m): gain[p][HELD_OUT][m] for p in PROGRAMS for m in measures}
        words = "; ".join(
            f"{p}, {measure_words(m)}: ahead at {line['n_ahead']} of {line['n']} budgets, {_points(line['mean'])}"
            for (p, m), line in found.items()
        )
        holds = all(line["n"] and line["n_ahead"] == line["n"] for line in found.values())
        return holds, words, f"LIME is as good or better at some budgets (figure {task}_both)"

    return judge


def filter_adds(task: str, measure: str, paper: float) -> Judge:
    """Return a judge that asks for at least half of the paper's gain, on average over the budgets."""

    def judge(facts: Facts) -> Judgement:
        gain = facts["tasks"][task]["gain"]
        found = {p: gain[p][HELD_OUT][measure]["mean"] for p in PROGRAMS}
        words = "; ".join(f"{p}: {_points(value)}" for p, value in found.items())
        known = [value for value in found.values() if value is not None]
        if not known:
            return None, words, ""
        holds = all(value >= paper / 2 for value in known)
        return holds, f"{measure_words(measure)}, {words}", f"the gain is not near {paper:+.0%}"

    return judge


def filter_adds_less(facts: Facts) -> Judgement:
    """Compare the gains in coverage with two and with five classes."""
    gains = {task: facts["tasks"][task]["gain"]["strict"][HELD_OUT]["coverage"]["mean"] for task in facts["tasks"]}
    words = ", ".join(f"{task_words(task)} {_points(value)}" for task, value in gains.items())
    if any(value is None for value in gains.values()):
        return None, words, ""
    return gains["five_classes"] < gains["binary"], f"coverage, strict: {words}", "the gain is larger with five classes"


def _gains(facts: Facts) -> str:
    words = []
    for measure, where in (("whole, data_fidelity", "on all rows"), ("whole, fresh_fidelity", "on fresh draws")):
        found = [
            f"r = {radius} {line[measure]['gain']:+.4f} ± {line[measure]['gain_error']:.4f}"
            for radius, line in facts["radii"].items()
        ]
        words.append(f"gain {where}: {', '.join(found)}")
    return "; ".join(words)


def _leaves(facts: Facts, radii: tuple[str, ...], side: str) -> dict[str, tuple[float, float]]:
    """Return the mean number of leaves with and without the filter, by radius, where both are known."""
    found = {}
    for radius in radii:
        leaves: dict[str, Any] = facts["radii"].get(radius, {}).get(PAPER_MEASURE, {})
        one, other = leaves.get(f"leaves_{side}_filtered"), leaves.get(f"leaves_{side}_unfiltered")
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
        small = facts["radii"].get(radius, {}).get("small, fresh_fidelity")
        if small:
            words.append(f"r = {radius} {small['fidelity_filtered']:.3f} against {small['fidelity_unfiltered']:.3f}")
    return "fidelity on fresh draws at " + "; ".join(words) if words else "not measured"


def _points(value: float | None) -> str:
    return "nothing to compare" if value is None else f"{value:+.1%}"
