"""Judges of the claims about the integer program itself: what it says, how it is solved, budgets and floors."""

from collections.abc import Sequence

import numpy as np

from oleander.selection import SelectionProblem
from studies.claims.claim import Judgement
from studies.claims.views import (
    HIGH_FLOOR,
    RowsJudge,
    View,
    cells,
    curve,
    first_task,
    known_values,
    mean_figures,
    named_shares,
    task_words,
)
from studies.step import Facts
from studies.steps.paper_program import Program, method_name

# A gap under this is not told apart from a proof that a busy machine had no time for.
SMALL_GAP = 0.01
# Changes of coverage and of fidelity that are not seen in a figure.
NOTICEABLE = 0.005


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
    """Count the solves that were proven optimal within a generous limit.

    A small gap that is left decides nothing: on a quieter machine it might be closed.
    """
    words, n_left, worst = [], 0, 0.0
    for task, solves in facts["proofs"].items():
        for solve in solves:
            # That no explainer reaches the floor is proven too.
            is_proven = solve["status"] in ("optimal", "infeasible")
            n_left += not is_proven
            worst = max(worst, solve["gap"])
            outcome = "proven" if is_proven else f"gap {solve['gap']:.2%}"
            words.append(
                f"{task_words(task)}, {solve['program']}, K = {solve['budget']}: {outcome} in {solve['seconds']:.1f} s "
                f"and {solve['nodes']:,} nodes"
            )
    limit = f"limit {facts['proof_limit']:g} s each: {'; '.join(words)}"
    why = f"a gap of over {SMALL_GAP:.0%} remains within a generous limit"
    if n_left and worst <= SMALL_GAP:
        return None, limit, ""
    return not n_left, limit, why


def solved_as_printed(facts: Facts) -> Judgement:
    """Report a general solver beside ours; that a free solver fails says nothing about commercial ones."""
    words, all_proven = [], True
    for name, (general, own) in facts["instances"].items():
        all_proven &= general["proven"]
        words.append(
            f"{name}, {general['rows']} rows: {_outcome(general)}; {_outcome(own)}, "
            f"{general['seconds'] / max(own['seconds'], 1e-9):.0f} times as fast"
        )
    return True if all_proven else None, "; ".join(words), ""


def _outcome(line: Facts) -> str:
    is_bounded = line["bound"] is not None and not np.isnan(line["bound"])
    proof = "proven" if line["proven"] else f"at most {line['bound']:g}" if is_bounded else "no bound"
    return f"{line['solver']} {line['covered']} rows ({proof}) in {line['seconds']:.1f} s"


def more_explainers(facts: Facts, view: View) -> Judgement:
    """Compare the smallest with the largest budget, for every program and floor."""
    words, n_wider, n_better = [], 0, 0
    all_cells = cells(facts)
    for task, method in all_cells:
        cover, right = (known_values(curve(facts, view, task, method, m)) for m in ("coverage", "agreement"))
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
        f"(figure {first_task(facts)}_{view.figure})"
    )
    return n_wider == n_better == len(all_cells), f"{counts}; {'; '.join(words)}", why


def floor_is_a_knob(program: Program) -> RowsJudge:
    """Return a judge that compares means over the budgets from the lowest to the highest floor, at every radius.

    A floor that no explainer reaches is left out. A radius at which the floor changes nothing does not count: nearly
    every explainer reaches the highest floor there.
    """

    def judge(facts: Facts, view: View) -> Judgement:
        words, acts, fails = [], [], []
        for task, found in facts["tasks"].items():
            for radius, methods in found["radii"].items():
                at_radius = {"tasks": {task: {"methods": methods}}}
                pairs = [mean_figures(at_radius, view, task, method_name(program, floor)) for floor in facts["floors"]]
                # A choice that covers no row has no fidelity.
                covers, rights = zip(*[pair for pair in pairs if pair[0]] or [(0.0, 0.0)], strict=True)
                fall, rise = covers[0] - covers[-1], rights[-1] - rights[0]
                where = f"{task_words(task)}, r = {radius}"
                words.append(f"{where}: coverage {_shares(covers)}, fidelity {_shares(rights)}")
                if fall > NOTICEABLE and rise > NOTICEABLE:
                    acts.append(where)
                elif fall > NOTICEABLE or abs(rise) > NOTICEABLE:
                    fails.append(where)
        floors = ", ".join(f"{floor:g}" for floor in facts["floors"])
        ours = f"φ = {floors}, means over K; {'; '.join(words)}"
        if not acts and not fails:
            return None, f"{ours}: the floor changes nothing at any radius", ""
        reason = {
            "strict": "a higher floor costs coverage without more fidelity, or the reverse",
            "selective": "rows that an explainer gets wrong need not be counted, so the floor excludes few explainers",
        }[program]
        return not fails, ours, f"{reason}, at {'; '.join(fails)} (figure {first_task(facts)}_floors)"

    return judge


def not_whole(facts: Facts, view: View) -> Judgement:
    """Compare coverage at the largest budget with 1."""
    ours = {f"{task_words(task)} {m}": curve(facts, view, task, m, "coverage")[-1] or 0.0 for task, m in cells(facts)}
    reach = next(iter(facts["tasks"].values()))["reach"]
    words = ", ".join(f"r = {radius} {share:.0%}" for radius, share in reach.items())
    why = "balls of this radius cover every row"
    return max(ours.values()) < 1, f"{named_shares(ours)}. Balls could cover, by radius: {words}", why


def _shares(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.0%}" for value in values)
