"""Judges of the claims about the information filter: local explainers, bins, cost, and inside the program."""

from collections.abc import Mapping, Sequence
from typing import Any

from studies.claims.claim import Judge, Judgement
from studies.claims.views import RowsJudge, View, measure_words, task_words
from studies.step import Facts
from studies.steps.paper_program import PROGRAMS

# Numbers of leaves within this share of each other are called equal.
ABOUT_EQUAL = 0.2
# The paper's axis, as we read it, and fidelity in the region that an explainer is for.
ON_ALL_ROWS, IN_THE_BALL = "whole, data_fidelity", "whole, fresh_fidelity"
# Claims about the filter are judged by the letter of the paper; the figures of our filter stand beside.
LETTER, OURS = "letter", "filtered"
# The number of standard errors that make a difference.
N_ERRORS = 2.0
# The power of a size with which time may grow and still be called linear.
LINEAR = 1.3
# Differences between two pools that other seeds turn round.
CHANCE_IN_PROGRAM = 0.01


def few_features(facts: Facts) -> Judgement:
    """Count the features that the paper's filter keeps."""
    words = "; ".join(
        f"r = {radius}: at most five for {found['kept'][LETTER]['share_at_most_five']:.0%}, most "
        f"{found['kept'][LETTER]['most']} (our filter: {found['kept'][OURS]['share_at_most_five']:.0%}, most "
        f"{found['kept'][OURS]['most']})"
        for radius, found in facts["radii"].items()
    )
    holds = all(found["kept"][LETTER]["share_at_most_five"] >= 0.75 for found in facts["radii"].values())
    why = "by the letter the filter stops where no information is positive, and noise has positive information"
    return holds, f"by the letter, of {facts['n_features']} features: {words}", why


def smaller_trees(*radii: str) -> Judge:
    """Return a judge that asks for fewer leaves with the filter, at high fidelity."""

    def judge(facts: Facts) -> Judgement:
        pairs = _leaves(facts, radii, "leaves_high", LETTER)
        why = (
            "a whole tree on few features needs more splits to separate the same draws. Trees of 16 leaves: "
            + _small(facts, radii)
        )
        return (all(one < other for one, other in pairs.values()) if pairs else None), _pairs(facts, pairs), why

    return judge


def equal_trees(radius: str) -> Judge:
    """Return a judge that asks for about as many leaves with the filter as without."""

    def judge(facts: Facts) -> Judgement:
        pairs = _leaves(facts, (radius,), "leaves_high", LETTER) or _leaves(facts, (radius,), "leaves_low", LETTER)
        if not pairs:
            return None, "", ""
        one, other = pairs[radius]
        why = "the trees with the filter are larger" if one > other else "the trees with the filter are smaller"
        return abs(one - other) <= ABOUT_EQUAL * max(one, other), _pairs(facts, pairs), why

    return judge


def low_fidelity_trees(facts: Facts) -> Judgement:
    """Compare the leaves of trees with a fidelity below 0.6."""
    pairs = _leaves(facts, tuple(facts["radii"]), "leaves_low", LETTER)
    holds = all(one > other for one, other in pairs.values()) if pairs else None
    why = "" if pairs else "no explainer is below 0.6"
    return holds, _pairs(facts, pairs) or why, why


def better_fidelity(facts: Facts) -> Judgement:
    """Compare fidelity on fresh draws in the ball with and without the filter, center by center, in standard errors."""
    gains = [found[IN_THE_BALL]["gain"][LETTER] for found in facts["radii"].values()]
    if any(gain["mean"] is None or gain["error"] is None for gain in gains):
        return None, "", ""
    words = f"{_gains(facts, IN_THE_BALL, 'on fresh draws in the ball')}; {_gains(facts, ON_ALL_ROWS, 'on all rows')}"
    holds, why = decide(gains)
    return holds, words if holds is not None else f"{words}: too close", why


def decide(gains: Sequence[Mapping[str, float]]) -> tuple[bool | None, str]:
    """Return whether every gain is above chance, and why not; None if only some are, and none is below chance.

    >>> clear, small = {"mean": 0.1, "error": 0.01}, {"mean": 0.001, "error": 0.01}
    >>> decide([clear])[0], decide([small])[0], decide([clear, small])[0]
    (True, False, None)
    """
    if any(gain["mean"] < -N_ERRORS * gain["error"] for gain in gains):
        return False, "somewhere the difference is negative and more than chance"
    if all(gain["mean"] > N_ERRORS * gain["error"] for gain in gains):
        return True, ""
    if all(gain["mean"] <= N_ERRORS * gain["error"] for gain in gains):
        return False, "nowhere is there a gain that is more than chance"
    return None, ""


def less_complex(facts: Facts) -> Judgement:
    """Compare leaves needed with pruned trees, and fidelity at equal features with L1 logistic models."""
    words, gains = [], []
    for radius, found in facts["radii"].items():
        needed = found["leaves_needed"]
        known = {target: line for target, line in needed.items() if line["saved"]["mean"] is not None}
        gains += [line["saved"] for line in known.values() if line["saved"]["error"] is not None]
        shown = ", ".join(
            f"{line['letter']:g} against {line['pruned']:g} leaves for {target}" for target, line in known.items()
        )
        l1 = found["at_equal_features"]
        gains += [line for line in l1.values() if line["mean"] is not None and line["error"] is not None]
        beside = ", ".join(f"{n} features {line['mean']:+.3f}" for n, line in l1.items() if line["mean"] is not None)
        words.append(f"r = {radius}: {shown or 'no fidelity that both reach'}; against L1 at equal features: {beside}")
    if not gains:
        return None, "", ""
    holds, why = decide(gains)
    ours = f"filtered trees (the paper's filter) against pruned trees, median leaves needed: {'. '.join(words)}"
    return holds, ours if holds is not None else f"{ours}: some differences are within chance", why


def linear_filter(facts: Facts) -> Judgement:
    """Compare the powers of the filter's total work with 1, in the paper's worst case: every feature is picked."""
    names = {"draws": "draws", "features": "features"}
    seconds = ", ".join(f"{facts['seconds'][name]:.2f} of {words}" for name, words in names.items())
    counted = ", ".join(f"{facts['counts'][name]:.2f} of {words}" for name, words in names.items())
    words = (
        f"in total, where every feature is picked: work grows with the power {counted}, time with {seconds}; one round "
        f"alone: {facts['one_round']['draws']:.2f} of draws, {facts['one_round']['features']:.2f} of features"
    )
    why = "a round is linear, but every round scores all features that are left: N·|Φ|·(features picked) in total"
    return max(facts["counts"].values()) < LINEAR, words, why


def three_bins(facts: Facts) -> Judgement:
    """Compare more bins with three, center by center, in standard errors."""
    found = facts["bins"]
    words = "; ".join(
        f"{n} bins {line['fidelity']:.3f} ({line['n_selected']:.1f} features)" for n, line in found.items()
    )
    better = [n for n, line in found.items() if int(n) > 3 and line["ahead"] > N_ERRORS * line["error"]]
    why = f"slightly more faithful: {' and '.join(better)} bins (figure bins)"
    return not better, f"fidelity on fresh draws: {words}", why


def filter_covers_more(task: str, *measures: str) -> RowsJudge:
    """Return a judge that asks for a lead of trees behind the paper's filter over LIME at every budget."""

    def judge(facts: Facts, view: View) -> Judgement:
        found = _found(facts, task, view, "lime", measures)
        words = "; ".join(
            f"{p}, {measure_words(m)}: ahead at {line['n_ahead']} of {line['n']} budgets, {_points(line['mean'])}"
            for (p, m), line in found.items()
        )
        holds = all(line["n"] and line["n_ahead"] == line["n"] for line in found.values())
        return holds, words, f"LIME is as good or better at some budgets (figure {task}_both)"

    return judge


def filter_adds(task: str, measure: str, paper: float) -> RowsJudge:
    """Return a judge that asks for at least half of the paper's gain over LIME, on average over the budgets."""

    def judge(facts: Facts, view: View) -> Judgement:
        found = {p: line["mean"] for (p, _), line in _found(facts, task, view, "lime", (measure,)).items()}
        words = "; ".join(f"{p}: {_points(value)}" for p, value in found.items())
        known = [value for value in found.values() if value is not None]
        if not known:
            return None, words, ""
        holds = all(value >= paper / 2 for value in known)
        return holds, f"{measure_words(measure)}, {words}", f"the gain is not near {paper:+.0%}"

    return judge


def filter_adds_less(facts: Facts, view: View) -> Judgement:
    """Compare the gains in coverage over LIME with two and with five classes."""
    gains = {
        task: _found(facts, task, view, "lime", ("coverage",))["strict", "coverage"]["mean"] for task in facts["tasks"]
    }
    words = ", ".join(f"{task_words(task)} {_points(value)}" for task, value in gains.items())
    if any(value is None for value in gains.values()):
        return None, words, ""
    return gains["five_classes"] < gains["binary"], f"coverage, strict: {words}", "the gain is larger with five classes"


def filter_itself(facts: Facts, view: View) -> Judgement:
    """Compare trees behind the paper's filter with the same trees without it: gains in coverage and in fidelity."""
    words, gains = [], []
    for task in facts["tasks"]:
        for (program, measure), line in _found(facts, task, view, "unfiltered", ("coverage", "agreement")).items():
            if line["mean"] is not None:
                gains.append({"mean": line["mean"], "error": CHANCE_IN_PROGRAM / N_ERRORS})
            words.append(f"{task_words(task)}, {program}, {measure_words(measure)} {_points(line['mean'])}")
    if not gains:
        return None, "", ""
    holds, why = decide(gains)
    ours = f"against the same trees without a filter, mean over K: {'; '.join(words)}"
    return holds, ours if holds is not None else f"{ours}: mixed, much of it within chance", why


def _found(facts: Facts, task: str, view: View, rival: str, measures: Sequence[str]) -> dict[tuple[str, str], Facts]:
    """Return the gains of trees behind the paper's filter over a rival, by program and measure."""
    gain = facts["tasks"][task]["gain"]
    return {(p, m): gain[p][view.rows][rival][view.column(p, m)] for p in PROGRAMS for m in measures}


def _gains(facts: Facts, measure: str, where: str) -> str:
    words = []
    for kind, name in ((LETTER, "the paper's filter"), (OURS, "ours")):
        found = [
            f"r = {radius} {line[measure]['gain'][kind]['mean']:+.4f} ± {line[measure]['gain'][kind]['error']:.4f}"
            for radius, line in facts["radii"].items()
        ]
        words.append(f"{name} {', '.join(found)}")
    return f"gain {where}: {'; '.join(words)}"


def _leaves(facts: Facts, radii: tuple[str, ...], side: str, kind: str) -> dict[str, tuple[float, float]]:
    """Return the mean number of leaves with a filter and without, by radius, where both are known."""
    found = {}
    for radius in radii:
        leaves: dict[str, Any] = facts["radii"].get(radius, {}).get(ON_ALL_ROWS, {}).get(side, {})
        one, other = leaves.get(kind), leaves.get("unfiltered")
        if one is not None and other is not None:
            found[radius] = one, other
    return found


def _pairs(facts: Facts, pairs: dict[str, tuple[float, float]]) -> str:
    words = []
    for radius, (one, other) in pairs.items():
        ours = facts["radii"][radius][ON_ALL_ROWS]["leaves_high"].get(OURS)
        beside = "" if ours is None else f" (our filter {ours:.0f})"
        words.append(f"r = {radius}: {one:.0f} leaves with the paper's filter{beside}, {other:.0f} without")
    return "; ".join(words)


def _small(facts: Facts, radii: tuple[str, ...]) -> str:
    words = []
    for radius in radii:
        small = facts["radii"].get(radius, {}).get("small, fresh_fidelity")
        if small:
            fidelity = small["fidelity"]
            words.append(f"r = {radius} {fidelity[LETTER]:.3f} against {fidelity['unfiltered']:.3f}")
    return "fidelity on fresh draws at " + "; ".join(words) if words else "not measured"


def _points(value: float | None) -> str:
    return "nothing to compare" if value is None else f"{value:+.1%}"
