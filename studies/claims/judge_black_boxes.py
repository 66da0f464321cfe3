"""Judges of the claims about the black boxes."""

import numpy as np

from studies.claims.claim import Judgement
from studies.claims.testing import Answered, compare_fidelity, compare_splits, judge_together
from studies.claims.views import share
from studies.data.published import SPLIT_SIZES
from studies.step import Facts
from studies.store import from_bits
from studies.tasks import task_words


def split_sizes(facts: Facts) -> Judgement:
    """Count the rows of each part."""
    found = tuple(facts["five_classes"]["n"].values())
    return found == SPLIT_SIZES, " / ".join(map(str, found)), ""


def logistic_worst(facts: Facts) -> Judgement:
    """Ask whether network and forest do better than logistic regression."""
    pairs = (("network", "logistic"), ("forest", "logistic"))
    return _compare_models(facts, pairs, "logistic regression is better than another model")


def forest_best(facts: Facts) -> Judgement:
    """Ask whether the forest does better than network and logistic regression."""
    return _compare_models(facts, (("forest", "network"), ("forest", "logistic")), "another model is better")


def _compare_models(facts: Facts, pairs: tuple[tuple[str, str], ...], why: str) -> Judgement:
    """Compare models over further splits of the same rows, on every task that was repeated."""
    words, found = [], []
    for task, about in facts.items():
        if "repeats" not in about:
            continue
        repeats = about["repeats"]
        accuracy = {name: np.asarray(values) for name, values in repeats["accuracy"].items()}
        means = ", ".join(f"{name} {values.mean():.1%}" for name, values in accuracy.items())
        words.append(f"{task_words(task)}, {repeats['n']} splits: {means}")
        for one, other in pairs:
            where = f"{task_words(task)}, {one} against {other}"
            found.append(compare_splits(where, accuracy[one] - accuracy[other], repeats["test_per_train"]))
    outcome = judge_together(found)
    return (
        outcome.holds,
        f"{'; '.join(words)}. The claim is {outcome.words}",
        f"{why}, {outcome.why}" if outcome.below else outcome.why,
    )


def forest_by_class(facts: Facts) -> Judgement:
    """Compare forest and network class by class, on the test rows of the class.

    The claim holds if the forest is right less often in group 0 beyond chance and nowhere else. It does not hold if
    the forest is right more often there, or less often elsewhere, beyond chance.
    """
    about = facts["five_classes"]
    n_rows = about["n"]["test"]
    right = {name: from_bits(about[name]["right_bits"], n_rows) for name in ("forest", "network")}
    found, words = {}, []
    for name, bits in about["test_classes"].items():
        is_here = from_bits(bits, n_rows)
        forest, network = (Answered(np.ones(is_here.sum(), dtype=bool), right[model][is_here]) for model in right)
        found[name] = compare_fidelity(name, forest, network)
        words.append(f"{name} {share(forest.fidelity)} against {share(network.fidelity)} of {is_here.sum()}")
    outcome = judge_together(list(found.values()))
    above, below = ([each.where for each in side] for side in (outcome.above, outcome.below))
    elsewhere = [name for name in below if name != "Group 0"]
    holds = False if elsewhere or "Group 0" in above else True if "Group 0" in below else None
    why = f"the forest is right less often in {' and '.join(elsewhere)}" if elsewhere else ""
    if "Group 0" in above:
        why = why or "it is right more often there"
    return holds, f"right by class, forest against network: {'; '.join(words)}", why


def hundred_units(facts: Facts) -> Judgement:
    """Compare the paper's network with the best other one in cross-validation."""
    return _papers_choice(facts, "network")


def fifty_trees(facts: Facts) -> Judgement:
    """Compare the paper's forest with the best other one in cross-validation."""
    return _papers_choice(facts, "forest")


def _papers_choice(facts: Facts, model: str) -> Judgement:
    """Judge a choice on the main task; a difference that chance explains decides nothing."""
    found = next(iter(facts.values()))[model]["papers_lead"]
    if found is None:
        return None, "", ""
    ahead, margin = found["ahead"], found["margin"]
    words = f"{ahead:+.2%} against the best other choice (chance explains {margin:.2%})"
    if abs(ahead) <= margin:
        return None, f"{words}: too close", ""
    return ahead > 0, words, "another choice is better"
