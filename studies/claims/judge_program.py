"""Judges of the claims about the integer program itself: what it says, how it is solved, budgets and floors."""

import numpy as np

from oleander.selection import SelectionProblem
from studies.claims.claim import Judgement
from studies.claims.held_out import (
    HIGH_FLOOR,
    cells,
    curve,
    first_task,
    known_values,
    mean_figures,
    named_shares,
    task_words,
)
from studies.step import Facts
from studies.steps.paper_program import PROGRAMS, method_name

# The longest time for one budget and floor that counts as efficient.
MAX_SECONDS = 60.0


def program_is_definition(facts: Facts) -> Judgement:
    """Solve the smallest example: ten rows in one ball, six of them right, and a floor of 0.9."""
    covers = np.ones((1, 10), dtype=bool)
    agrees = np.arange(10)[None, :] < 6
    problem = SelectionProblem(covers, agrees)
    result = problem.solve(max_explainers=1, min_fidelity=0.9, formulation="selective")
    words = f"an explainer right on 6 of 10 rows is chosen at a floor of 0.9, and counts {result.objective:g} rows"
    why = "the program need not count every row in a chosen ball, so rows that an explainer gets wrong are left out"
    return len(result.chosen) == 0, words, why


def solvable(facts: Facts) -> Judgement:
    """Count the cells that were proven optimal in time."""
    words, holds = [], True
    for task, found in facts["tasks"].items():
        for program, solved in found["programs"].items():
            holds &= solved["n_proven"] == solved["n_cells"] and solved["most_seconds"] <= MAX_SECONDS
            words.append(
                f"{task_words(task)}, {program}: {solved['n_proven']} of {solved['n_cells']} proven optimal in "
                f"{solved['seconds']:.0f} s, worst gap {solved['worst_gap']:.1%}"
            )
    why = "at some budgets and floors a gap remains within the time limit"
    return holds, "; ".join(words), why


def more_explainers(facts: Facts) -> Judgement:
    """Compare the smallest with the largest budget, for every program and floor."""
    words, n_wider, n_better = [], 0, 0
    all_cells = cells(facts)
    for task, method in all_cells:
        cover, right = (known_values(curve(facts, task, method, measure)) for measure in ("coverage", "agreement"))
        n_wider += cover[-1] >= cover[0]
        n_better += right[-1] > right[0]
        if method == method_name("strict", HIGH_FLOOR):
            words.append(
                f"{task_words(task)}, {method}: coverage {cover[0]:.0%} → {cover[-1]:.0%}, fidelity {right[0]:.1%} → "
                f"{right[-1]:.1%}"
            )
    counts = f"coverage rises in {n_wider} and fidelity in {n_better} of {len(all_cells)} cases"
    why = (
        "the program maximises coverage alone, and explainers added for coverage are not always more faithful "
        f"(figure {first_task(facts)}_held_out)"
    )
    return n_wider == n_better == len(all_cells), f"{counts}; {'; '.join(words)}", why


def floor_is_a_knob(facts: Facts) -> Judgement:
    """Compare means over the budgets from floor to floor."""
    words, holds = [], dict.fromkeys(PROGRAMS, True)
    for task in facts["tasks"]:
        for program in PROGRAMS:
            pairs = [mean_figures(facts, task, method_name(program, floor)) for floor in facts["floors"]]
            covers, rights = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            holds[program] &= covers[0] > covers[-1] and rights[-1] > rights[0]
            words.append(
                f"{task_words(task)}, {program}: coverage {_shares(covers)}, fidelity {_shares(rights)} at φ = "
                f"{', '.join(f'{floor:g}' for floor in facts['floors'])}"
            )
    failing = [program for program, is_knob in holds.items() if not is_knob]
    reasons = {
        "strict": "in the strict program the floor changes little where most explainers reach the highest floor anyway",
        "selective": "in the selective program rows that an explainer gets wrong need not be counted",
    }
    why = f"{'; '.join(reasons[program] for program in failing)} (figure {first_task(facts)}_held_out)"
    return not failing, "; ".join(words), why


def not_whole(facts: Facts) -> Judgement:
    """Compare coverage at the largest budget with 1."""
    ours = {f"{task_words(task)} {m}": curve(facts, task, m, "coverage")[-1] or 0.0 for task, m in cells(facts)}
    reach = next(iter(facts["tasks"].values()))["reach"]
    words = ", ".join(f"r = {radius} {share:.0%}" for radius, share in reach.items())
    why = "balls of this radius cover every row"
    return max(ours.values()) < 1, f"{named_shares(ours)}. Balls could cover, by radius: {words}", why


def _shares(values: list[float]) -> str:
    return ", ".join(f"{value:.0%}" for value in values)
