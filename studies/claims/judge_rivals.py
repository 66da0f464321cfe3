"""Judges of the claims that compare the program with its rivals, on D and on rows held out.

A claim about the method is judged for both of its programs, and holds only if it holds for both.
"""

from collections.abc import Sequence

from studies.claims.claim import Judgement
from studies.claims.views import (
    AGGREGATES,
    HIGH_FLOOR,
    RowsJudge,
    View,
    at_floors,
    curve,
    first_task,
    mean_fidelities,
    named_shares,
    task_words,
)
from studies.step import Facts
from studies.steps.paper_program import PROGRAMS, method_name

TREES = ("active tree", "naive tree")
ALL_RIVALS = (*AGGREGATES, "decision set", *TREES)
BOTH_MEASURES = ("coverage", "agreement")
# Fidelities within this of each other are called alike.
ALIKE = 0.05
PAPER_COVERAGE = (0.4, 0.5)


def more_coverage(*tasks: str) -> RowsJudge:
    """Return a judge that asks for more coverage than the other aggregates at every budget and floor."""

    def judge(facts: Facts, view: View) -> Judgement:
        n_budgets = len(facts["budgets"])
        words, why = [], ""
        for task in tasks or tuple(facts["tasks"]):
            for program in PROGRAMS:
                counts = []
                for floor in facts["floors"]:
                    method = method_name(program, floor)
                    n_ahead = _n_ahead(facts, view, task, method, ("coverage",))
                    counts.append(str(n_ahead))
                    if n_ahead < n_budgets and not why:
                        why = f"{_worst_coverage(facts, view, task, method)} (figure {task}_{view.figure})"
                words.append(f"{task_words(task)}, {program}: {', '.join(counts)}")
        floors = ", ".join(f"{floor:g}" for floor in facts["floors"])
        ours = f"budgets of {n_budgets} at which it is ahead of both, φ = {floors}: {'; '.join(words)}"
        return not why, ours, why

    return judge


def outperforms(facts: Facts, view: View) -> Judgement:
    """Ask for more coverage and more fidelity than the other aggregates at every budget, at some floor."""
    words, holds = [], True
    n_budgets = len(facts["budgets"])
    for task in facts["tasks"]:
        n_ahead = {method: _n_ahead(facts, view, task, method, BOTH_MEASURES) for method in at_floors(*facts["floors"])}
        best = max(n_ahead, key=lambda method: n_ahead[method])
        holds &= n_ahead[best] == n_budgets
        words.append(f"{task_words(task)}: best {best}, ahead in both at {n_ahead[best]} of {n_budgets} budgets")
    why = f"at no floor is it ahead of both in both measures at every budget (figure {first_task(facts)}_trade_off)"
    return holds, "; ".join(words), why


def pareto(facts: Facts, view: View) -> Judgement:
    """Count the budgets at which no rival covers as much and is as faithful."""
    words: list[str] = []
    better: set[str] = set()
    n_budgets = len(facts["budgets"])
    for task in facts["tasks"]:
        for program in PROGRAMS:
            counts = []
            for floor in facts["floors"]:
                dominated = _dominated(facts, view, task, method_name(program, floor))
                counts.append(f"{n_budgets - len(dominated)}")
                better |= set(dominated.values())
            words.append(f"{task_words(task)}, {program}: {', '.join(counts)}")
    floors = ", ".join(f"{floor:g}" for floor in facts["floors"])
    why = f"as wide and as faithful: {' and '.join(sorted(better))} (figure {first_task(facts)}_trade_off)"
    return not better, f"budgets of {n_budgets} at which no rival beats it, φ = {floors}: {'; '.join(words)}", why


def low_floors_alike(facts: Facts, view: View) -> Judgement:
    """Compare fidelity at the lower floors with the other aggregates and decision sets, binary."""
    rivals = mean_fidelities(facts, view, "binary", (*AGGREGATES, "decision set"))
    low = [floor for floor in facts["floors"] if floor < HIGH_FLOOR]
    ours = mean_fidelities(facts, view, "binary", at_floors(*low))
    holds = min(ours.values()) >= min(rivals.values()) - ALIKE
    return holds, f"{named_shares(ours)}; {named_shares(rivals)}", "the program is less faithful than every rival"


def high_floor_above(facts: Facts, view: View) -> Judgement:
    """Compare fidelity at the highest floor with the same rivals, binary."""
    rivals = mean_fidelities(facts, view, "binary", (*AGGREGATES, "decision set"))
    ours = mean_fidelities(facts, view, "binary", at_floors(HIGH_FLOOR))
    holds = min(ours.values()) > max(rivals.values()) + ALIKE
    return holds, f"{named_shares(ours)}; {named_shares(rivals)}", "some rival is as faithful"


def trees_unbeaten(facts: Facts, view: View) -> Judgement:
    """Compare the fidelity of trees with that of the program at its highest floor, binary."""
    trees = mean_fidelities(facts, view, "binary", TREES)
    ours = mean_fidelities(facts, view, "binary", at_floors(HIGH_FLOOR))
    holds = min(trees.values()) >= max(ours.values())
    return holds, f"{named_shares(trees)}; {named_shares(ours)}", "a tree is less faithful than the program"


def several_class_fidelity(facts: Facts, view: View) -> Judgement:
    """Ask for a fidelity of 0.9 where that of trees is 0.7, in every task with several classes."""
    words, holds = [], True
    for task in _several(facts):
        trees = mean_fidelities(facts, view, task, TREES)
        ours = mean_fidelities(facts, view, task, at_floors(HIGH_FLOOR))
        holds &= min(ours.values()) >= HIGH_FLOOR - ALIKE and max(trees.values()) <= min(ours.values()) - 0.1
        words.append(f"{task_words(task)}: {named_shares(ours)}; {named_shares(trees)}")
    why = "trees are more faithful than the paper says, or the program is less faithful"
    return holds, ". ".join(words), why


def several_class_coverage(facts: Facts, view: View) -> Judgement:
    """Compare the coverage at the highest floor and the largest budget with the paper's."""
    words, holds = [], True
    least, most = PAPER_COVERAGE
    for task in _several(facts):
        ours = {m: curve(facts, view, task, m, "coverage")[-1] or 0.0 for m in at_floors(HIGH_FLOOR)}
        holds &= all(least - ALIKE <= value <= most + ALIKE for value in ours.values())
        words.append(f"{task_words(task)}: {named_shares(ours)}")
    return holds, "; ".join(words), "coverage is outside this range"


def _several(facts: Facts) -> list[str]:
    """Return the tasks with more than two classes."""
    return [task for task, found in facts["tasks"].items() if found["n_classes"] > 2]


def more_fidelity(facts: Facts, view: View) -> Judgement:
    """Ask for more fidelity than every rival."""
    words, better = [], set()
    for task in facts["tasks"]:
        ours = mean_fidelities(facts, view, task, at_floors(HIGH_FLOOR))
        rivals = mean_fidelities(facts, view, task, ALL_RIVALS)
        better |= {name for name, value in rivals.items() if value >= min(ours.values())}
        words.append(f"{task_words(task)}: {named_shares(ours)}; {named_shares(rivals)}")
    why = f"as faithful or more: {' and '.join(sorted(better))} (figure {first_task(facts)}_{view.figure})"
    return not better, ". ".join(words), why


def many_classes(facts: Facts, view: View) -> Judgement:
    """Ask for more fidelity than every rival with several classes, and for a larger lead than with two classes."""
    leads = {}
    for task in facts["tasks"]:
        ours = max(mean_fidelities(facts, view, task, at_floors(HIGH_FLOOR)).values())
        leads[task] = ours - max(mean_fidelities(facts, view, task, ALL_RIVALS).values())
    several = [leads[task] for task in _several(facts)]
    holds = min(several) > 0 and ("binary" not in leads or min(several) > leads["binary"])
    words = ", ".join(f"{task_words(task)} {lead:+.1%}" for task, lead in leads.items())
    why = f"with several classes, too, some rival is more faithful (figure {first_task(facts)}_trade_off)"
    return holds, f"fidelity against the best rival, φ = {HIGH_FLOOR:g}: {words}", why


def _value(facts: Facts, view: View, task: str, method: str, measure: str, place: int) -> float:
    """Return a measure at one budget; 0 where no row is covered."""
    return curve(facts, view, task, method, measure)[place] or 0.0


def _n_ahead(facts: Facts, view: View, task: str, method: str, measures: Sequence[str]) -> int:
    """Return the number of budgets at which a method is above the other aggregates in all measures."""
    return sum(
        all(
            _value(facts, view, task, method, measure, place) > _value(facts, view, task, rival, measure, place)
            for measure in measures
            for rival in AGGREGATES
        )
        for place in range(len(facts["budgets"]))
    )


def _worst_coverage(facts: Facts, view: View, task: str, method: str) -> str:
    """Return in words where another aggregate is furthest ahead in coverage."""
    pairs = {
        (rival, place): tuple(_value(facts, view, task, name, "coverage", place) for name in (rival, method))
        for rival in AGGREGATES
        for place in range(len(facts["budgets"]))
    }
    (rival, place), (theirs, ours) = max(pairs.items(), key=lambda pair: pair[1][0] - pair[1][1])
    where = f"{task_words(task)}, {method}, K = {facts['budgets'][place]}"
    return f"{where}: {rival} coverage {theirs:.1%} against {ours:.1%}"


def _dominated(facts: Facts, view: View, task: str, method: str) -> dict[int, str]:
    """Return the budgets at which a rival is as wide and as faithful, and better in one of the two."""
    found = {}
    for place, budget in enumerate(facts["budgets"]):
        ours = [_value(facts, view, task, method, measure, place) for measure in BOTH_MEASURES]
        for rival in ALL_RIVALS:
            theirs = [_value(facts, view, task, rival, measure, place) for measure in BOTH_MEASURES]
            if theirs != ours and all(one >= other for one, other in zip(theirs, ours, strict=True)):
                found[int(budget)] = rival
    return found
