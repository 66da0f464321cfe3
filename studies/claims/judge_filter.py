"""Judges of the claims about the information filter: local explainers, bins, cost, and inside the program."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from studies.claims.claim import Judge, Judgement
from studies.claims.testing import Comparison, Outcome, compare_means, judge_together
from studies.claims.views import STRICT, compare
from studies.step import Facts
from studies.steps.explained_rows import HELD_OUT
from studies.tasks import task_words

# Numbers of leaves within this share of each other differ by "no great difference"; within the smaller one not at all.
ABOUT_EQUAL, EQUAL = 0.2, 0.05
# Standard errors on either side of a 95% interval.
TWO_SIDED = 1.96
# The paper's axis, as we read it, and fidelity in the region that an explainer is for.
ON_ALL_ROWS, IN_THE_BALL = "whole, data_fidelity", "whole, fresh_fidelity"
# Claims about the filter are judged by the letter of the paper; the figures of our filter stand beside.
LETTER, OURS = "letter", "filtered"
# The power of a size with which time may grow and still be called linear.
LINEAR = 1.3
# Of the trees: where the filter keeps every feature for more, comparing trees with it and without decides nothing.
HALF = 0.5
# Two mean gains that differ by less are not put in an order.
CLEAR = 0.05


def few_features(facts: Facts) -> Judgement:
    """Count the features that the paper's filter keeps."""
    words = "; ".join(
        f"r = {radius}: at most five for {found['kept'][LETTER]['share_at_most_five']:.0%}, most "
        f"{found['kept'][LETTER]['most']} (our filter: {found['kept'][OURS]['share_at_most_five']:.0%}, most "
        f"{found['kept'][OURS]['most']})"
        for radius, found in facts["radii"].items()
    )
    shares = [found["kept"][LETTER]["share_at_most_five"] for found in facts["radii"].values()]
    why = "by the letter the filter stops where no information is positive, and noise has positive information"
    lead = f"the paper's filter keeps at most five of {facts['n_features']} features for {_range(shares)} of the trees"
    return min(shares) >= 0.75, f"{lead}; {words}", why


def _range(values: Sequence[float]) -> str:
    """Return the smallest and the largest share in words.

    >>> _range([0.5, 0.7]), _range([0.0, 0.0])
    ('50% to 70%', '0%')
    """
    low, high = f"{min(values):.0%}", f"{max(values):.0%}"
    return low if low == high else f"{low} to {high}"


def smaller_trees(*radii: str) -> Judge:
    """Return a judge that asks for fewer leaves with the filter, at high fidelity."""

    def judge(facts: Facts) -> Judgement:
        ratios = _ratios(facts, radii, "high")
        holds = _fewer(ratios, -1)
        why = f"{_why_not_smaller(ratios)}. Trees of 16 leaves: {_small(facts, radii)}" if holds is False else ""
        return holds, _pairs(facts, ratios, "high"), why

    return judge


def equal_trees(radius: str) -> Judge:
    """Return a judge that asks for about as many leaves with the filter as without.

    Where the filter keeps every feature, both trees are the same, which decides nothing.
    """

    def judge(facts: Facts) -> Judgement:
        side = "high" if _ratios(facts, (radius,), "high") else "low"
        ratios = _ratios(facts, (radius,), side)
        if not ratios:
            return None, "", ""
        words = _pairs(facts, ratios, side)
        share_all = facts["radii"][radius]["kept"][LETTER]["share_all"]
        if share_all >= HALF:
            return None, words, f"the filter keeps every feature for {share_all:.0%} of the trees"
        mean, margin = ratios[radius]["mean"], TWO_SIDED * ratios[radius]["error"]
        limit = np.log2(1 + ABOUT_EQUAL)
        if abs(mean) + margin <= limit:
            return True, words, ""
        if abs(mean) - margin <= limit:
            return None, words, ""
        return False, words, f"the trees with the filter are {'larger' if mean > 0 else 'smaller'}"

    return judge


def low_fidelity_trees(facts: Facts) -> Judgement:
    """Compare the leaves of trees with a fidelity below 0.6."""
    ratios = _ratios(facts, tuple(facts["radii"]), "low")
    if not ratios:
        return None, "at most one explainer is below 0.6", ""
    holds = _fewer(ratios, 1)
    why = "without the filter trees are as large or larger" if holds is False else ""
    return holds, _pairs(facts, ratios, "low"), why


def _ratios(facts: Facts, radii: tuple[str, ...], side: str) -> dict[str, dict[str, float]]:
    """Return mean and error of log2 of leaves with the paper's filter over leaves without, by radius, where known."""
    found = {}
    for radius in radii:
        ratio: dict[str, Any] = facts["radii"].get(radius, {}).get(ON_ALL_ROWS, {}).get(f"ratio_{side}", {})
        line = ratio.get(LETTER, {})
        if line.get("mean") is not None and line.get("error") is not None:
            found[radius] = line
    return found


def _fewer(ratios: Mapping[str, Mapping[str, float]], sign: int) -> bool | None:
    """Return whether leaves differ in the direction of the sign at every radius, by a test, center by center.

    It is not so either where they differ by less than a twentieth at every radius, with 95% confidence.
    """
    if not ratios:
        return None
    outcome = judge_together([compare_means(r, sign * line["mean"], line["error"]) for r, line in ratios.items()])
    limit = np.log2(1 + EQUAL)
    if all(abs(line["mean"]) + TWO_SIDED * line["error"] <= limit for line in ratios.values()):
        return False
    return outcome.holds


def _why_not_smaller(ratios: Mapping[str, Mapping[str, float]]) -> str:
    if all(abs(line["mean"]) <= np.log2(1 + EQUAL) for line in ratios.values()):
        return "the filter keeps nearly all features, so the trees are nearly the same"
    return "a whole tree on few features needs more splits to separate the same draws"


def better_fidelity(facts: Facts) -> Judgement:
    """Compare fidelity on fresh draws in the ball with and without the filter, center by center, in standard errors."""
    gains = [found[IN_THE_BALL]["gain"][LETTER] for found in facts["radii"].values()]
    if any(gain["mean"] is None or gain["error"] is None for gain in gains):
        return None, "", ""
    means = [gain["mean"] for gain in gains]
    lead = f"{min(means):+.4f} to {max(means):+.4f} on fresh draws in the ball, by the paper's filter"
    words = f"{lead}; {_gains(facts, IN_THE_BALL, 'there')}; {_gains(facts, ON_ALL_ROWS, 'on all rows')}"
    outcome = decide(gains)
    return outcome.holds, words, "somewhere the difference is negative beyond chance" if outcome.below else outcome.why


def decide(gains: Sequence[Mapping[str, float]]) -> Outcome:
    """Return what several mean gains show together, each with its standard error.

    >>> clear, small = {"mean": 0.1, "error": 0.01}, {"mean": 0.001, "error": 0.01}
    >>> decide([clear]).holds, decide([small]).holds, decide([{"mean": -0.1, "error": 0.01}, small]).holds
    (True, None, False)
    """
    return judge_together([compare_means("", gain["mean"], gain["error"]) for gain in gains])


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
    outcome = decide(gains)
    leaves = f"Trees behind the paper's filter against pruned trees, median leaves needed: {'. '.join(words)}"
    ours = f"{outcome.words}. {leaves}"
    why = "somewhere the regularized explainers are smaller or more faithful beyond chance"
    return outcome.holds, ours, why if outcome.below else outcome.why


def linear_filter(facts: Facts) -> Judgement:
    """Compare the powers of the filter's total work with 1, in the paper's worst case: every feature is picked."""
    names = {"draws": "draws", "features": "features"}
    seconds = ", ".join(f"{facts['seconds'][name]:.2f} of {words}" for name, words in names.items())
    counted = ", ".join(f"{facts['counts'][name]:.2f} of {words}" for name, words in names.items())
    words = (
        f"work grows with the power {counted}; where every feature is picked, in total; time with {seconds}; one round "
        f"alone: {facts['one_round']['draws']:.2f} of draws, {facts['one_round']['features']:.2f} of features"
    )
    why = "a round is linear, but every round scores all features that are left: N·|Φ|·(features picked) in total"
    return max(facts["counts"].values()) < LINEAR, words, why


def three_bins(facts: Facts) -> Judgement:
    """Compare more bins with three, center by center, in standard errors.

    Where three bins keep every feature, the tree is that without a filter; that more bins do no better is no merit.
    """
    found = facts["bins"]
    words = "; ".join(
        f"{n} bins {line['fidelity']:.3f} ({line['n_selected']:.1f} features)" for n, line in found.items()
    )
    more = [compare_means(f"{n} bins", line["ahead"], line["error"]) for n, line in found.items() if int(n) > 3]
    better = [each.where for each in judge_together(more).above]
    best = max(line["fidelity"] for n, line in found.items() if int(n) > 3)
    lead = f"fidelity on fresh draws {found['3']['fidelity']:.3f} with 3 bins, at best {best:.3f} with more"
    if better:
        return False, f"{lead}; {words}", f"more faithful beyond chance: {' and '.join(better)}"
    if found["3"]["n_selected"] >= facts["n_features"]:
        return None, f"{lead}; {words}", f"with three bins the filter keeps all {facts['n_features']} features"
    return True, f"{lead}; {words}", ""


def filter_covers_more(task: str, *measures: str) -> Judge:
    """Return a judge that asks for a lead of trees behind the paper's filter over LIME at every budget."""

    def judge(facts: Facts) -> Judgement:
        outcome = judge_together([each for measure in measures for each in _compare(facts, task, "lime", measure)])
        gains = "; ".join(f"{measure} {_mean(facts, task, 'lime', measure)}" for measure in measures)
        return outcome.holds, f"{outcome.words}; mean gain over LIME: {gains}", outcome.why

    return judge


def filter_adds(task: str, measure: str, paper: float) -> Judge:
    """Return a judge that asks for a gain over LIME beyond chance, of at least half the paper's on average."""

    def judge(facts: Facts) -> Judgement:
        outcome = judge_together(list(_compare(facts, task, "lime", measure)))
        mean = _gain(facts, task, "lime", measure)
        words = f"{measure}, mean gain over LIME {_mean(facts, task, 'lime', measure)}; {outcome.words}"
        if outcome.below or mean is None:
            return (False if outcome.below else None), words, outcome.why
        return (True if outcome.above and mean >= paper / 2 else None), words, ""

    return judge


def filter_adds_less(facts: Facts) -> Judgement:
    """Compare the gains in coverage over LIME with two and with five classes; only a clear order decides."""
    gains = {task: _gain(facts, task, "lime", "coverage") for task in facts["tasks"]}
    words = "; ".join(f"{task_words(task)} {_mean(facts, task, 'lime', 'coverage')}" for task in gains)
    two, five = gains["binary"], gains["five_classes"]
    if two is None or five is None or abs(two - five) < CLEAR:
        return None, f"coverage, mean gain over LIME: {words}", ""
    return five < two, f"coverage, mean gain over LIME: {words}", "the gain is larger with five classes"


def filter_itself(facts: Facts) -> Judgement:
    """Compare trees behind the paper's filter with the same trees without it: coverage and fidelity."""
    found, words = [], []
    for task in facts["tasks"]:
        for measure in ("coverage", "fidelity"):
            found += list(_compare(facts, task, "unfiltered", measure))
            words.append(f"{task_words(task)}, {measure} {_mean(facts, task, 'unfiltered', measure)}")
    outcome = judge_together(found)
    return (
        outcome.holds,
        f"{outcome.words}; mean gain over the same trees without a filter: {'; '.join(words)}",
        outcome.why,
    )


def _compare(facts: Facts, task: str, rival: str, measure: str) -> list[Comparison | None]:
    """Return the comparisons of trees behind the paper's filter with a rival at every budget, by the definition."""
    return list(compare(facts, task, f"{STRICT} {LETTER}", [f"{STRICT} {rival}"], measure))


def _gain(facts: Facts, task: str, rival: str, measure: str) -> float | None:
    """Return the mean gain over the budgets on held-out rows."""
    column = "coverage" if measure == "coverage" else "agreement"
    found: float | None = facts["tasks"][task]["gain"][STRICT][HELD_OUT][rival][column]["mean"]
    return found


def _mean(facts: Facts, task: str, rival: str, measure: str) -> str:
    value = _gain(facts, task, rival, measure)
    return "nothing to compare" if value is None else f"{100 * value:+.1f} points"


def _gains(facts: Facts, measure: str, where: str) -> str:
    words = []
    for kind, name in ((LETTER, "the paper's filter"), (OURS, "ours")):
        found = [
            f"r = {radius} {line[measure]['gain'][kind]['mean']:+.4f} ± {line[measure]['gain'][kind]['error']:.4f}"
            for radius, line in facts["radii"].items()
        ]
        words.append(f"{name} {', '.join(found)}")
    return f"gain {where}: {'; '.join(words)}"


def _pairs(facts: Facts, ratios: Mapping[str, Mapping[str, float]], side: str) -> str:
    """Return the mean number of leaves by radius in words, and how much they differ center by center."""
    words = []
    for radius, line in ratios.items():
        leaves = facts["radii"][radius][ON_ALL_ROWS][f"leaves_{side}"]
        ours = leaves.get(OURS)
        beside = "" if ours is None else f" (our filter {ours:.0f})"
        low, high = (2 ** (line["mean"] + sign * TWO_SIDED * line["error"]) - 1 for sign in (-1, 1))
        words.append(
            f"r = {radius}: {leaves[LETTER]:.0f} leaves with the paper's filter{beside}, {leaves['unfiltered']:.0f} "
            f"without, {low:+.1%} to {high:+.1%} center by center"
        )
    return "; ".join(words)


def _small(facts: Facts, radii: tuple[str, ...]) -> str:
    words = []
    for radius in radii:
        small = facts["radii"].get(radius, {}).get("small, fresh_fidelity")
        if small:
            fidelity = small["fidelity"]
            words.append(f"r = {radius} {fidelity[LETTER]:.3f} against {fidelity['unfiltered']:.3f}")
    return "fidelity on fresh draws at " + "; ".join(words) if words else "not measured"
