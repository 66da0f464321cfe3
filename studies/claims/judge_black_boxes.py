"""Judges of the claims about the black boxes."""

from studies.claims.claim import Judgement
from studies.claims.views import task_words
from studies.data.published import SPLIT_SIZES
from studies.step import Facts

# The number of splits that can show that a claim holds on every split.
ENOUGH_SPLITS = 5


def split_sizes(facts: Facts) -> Judgement:
    """Count the rows of each part."""
    found = tuple(facts["five_classes"]["n"].values())
    return found == SPLIT_SIZES, " / ".join(map(str, found)), ""


def logistic_worst(facts: Facts) -> Judgement:
    """Count the splits on which logistic regression is worst."""
    return _judge_repeats(facts, "logistic_worst", "worst", "another model is as bad or worse on most splits")


def forest_best(facts: Facts) -> Judgement:
    """Count the splits on which the forest is best."""
    return _judge_repeats(facts, "forest_best", "best", "another model is as good or better on most splits")


def _judge_repeats(facts: Facts, count: str, word: str, why: str) -> Judgement:
    """Judge a claim about every split, on every task that was repeated."""
    repeats = {task: found["repeats"] for task, found in facts.items() if "repeats" in found}
    words = "; ".join(
        f"{task_words(task)}: {word} on {found[count]} of {found['n']} splits, {_means(found['mean'])}"
        for task, found in repeats.items()
    )
    verdicts = [_on_every_split(found, count) for found in repeats.values()]
    if False in verdicts:
        return False, words, why
    return None if None in verdicts else True, words, why


def _on_every_split(repeats: Facts, count: str) -> bool | None:
    """Return True if a count includes every split, False if fewer than half, None otherwise or with too few splits."""
    if repeats["n"] < ENOUGH_SPLITS:
        return None
    return True if repeats[count] == repeats["n"] else False if 2 * repeats[count] < repeats["n"] else None


def forest_by_class(facts: Facts) -> Judgement:
    """Compare forest and network class by class."""
    forest, network = facts["five_classes"]["forest"]["recall"], facts["five_classes"]["network"]["recall"]
    others = [name for name in forest if name != "Group 0"]
    holds = forest["Group 0"] < network["Group 0"] and all(forest[name] >= network[name] for name in others)
    words = "; ".join(f"{name} {forest[name]:.0%} against {network[name]:.0%}" for name in forest)
    return holds, f"right by class, forest against network: {words}", ""


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


def _means(mean: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.1%}" for name, value in mean.items())
