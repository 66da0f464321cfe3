"""Judges of the claims about the integer program itself: what it says, how it is solved, budgets and floors."""

import numpy as np

from oleander.selection import SelectionProblem
from studies.claims.claim import Judge, Judgement
from studies.claims.testing import compare_coverage, compare_fidelity, judge_together
from studies.claims.views import STRICT, figures, held_out, high, read_answers, share, units_of
from studies.step import Facts
from studies.steps.explained_rows import HELD_OUT, LEARNED
from studies.steps.paper_program import method_name
from studies.tasks import task_words

# People in the paper's cohort: a row and an explainer for each.
PAPERS_ROWS = 779
# A gap under this might be closed with a little more work.
SMALL_GAP = 0.01


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
    """Count the solves that were proven optimal within a generous number of nodes.

    A small gap that is left decides nothing: with a little more work it might be closed.
    """
    words, n_left, worst = [], 0, 0.0
    n_solves = sum(map(len, facts["proofs"].values()))
    for task, solves in facts["proofs"].items():
        for solve in solves:
            # That no explainer reaches the floor is proven too.
            is_proven = solve["status"] in ("optimal", "infeasible")
            n_left += not is_proven
            worst = max(worst, solve["gap"])
            outcome = "proven" if is_proven else f"gap {solve['gap']:.2%}"
            words.append(f"{task_words(task)}, {solve['program']}, K = {solve['budget']}: {outcome}")
    why = f"a gap of over {SMALL_GAP:.0%} remains after {facts['proof_nodes']:,} nodes"
    ours = f"{n_solves - n_left} of {n_solves} solves proven optimal; {'; '.join(words)}"
    if n_left and worst <= SMALL_GAP:
        return None, ours, ""
    return not n_left, ours, why


def solved_as_printed(facts: Facts) -> Judgement:
    """Report a general solver beside ours; the claim holds if it proves all instances, one of them of the paper's size.

    That a free solver fails says nothing about commercial ones, so the claim cannot fail.
    """
    words, all_proven = [], True
    for name, (general, own) in facts["instances"].items():
        all_proven &= general["proven"]
        words.append(f"{name}, {general['rows']} rows: {_outcome(general)}; {_outcome(own)}")
    largest = max(general["rows"] for general, _ in facts["instances"].values())
    return True if all_proven and largest >= PAPERS_ROWS else None, "; ".join(words), ""


def _outcome(line: Facts) -> str:
    is_bounded = line["bound"] is not None and not np.isnan(line["bound"])
    proof = "proven" if line["proven"] else f"at most {line['bound']:g}" if is_bounded else "no bound"
    return f"{line['solver']}: {line['covered']} covered ({proof})"


def more_explainers(measure: str) -> Judge:
    """Return a judge that compares the largest with the smallest budget on held-out rows, for every floor."""

    def judge(facts: Facts) -> Judgement:
        test = compare_coverage if measure == "coverage" else compare_fidelity
        found, words = [], []
        for task in facts["tasks"]:
            for floor in facts["floors"]:
                method = method_name(STRICT, floor)
                few, many = (held_out(facts, task, method, place) for place in (0, -1))
                found.append(test(f"{task_words(task)}, φ = {floor:g}", many, few, units_of(facts, task)))
            words.append(
                f"{task_words(task)}, φ = 0.9, K = {facts['budgets'][0]} → {facts['budgets'][-1]}: "
                f"{figures(facts, task, high(), 0)} → {figures(facts, task, high())}"
            )
        outcome = judge_together(found)
        return outcome.holds, f"{outcome.words}. {'; '.join(words)}", outcome.why

    return judge


def floor_is_a_knob(facts: Facts) -> Judgement:
    """Compare the highest with the lowest floor at every radius, on held-out rows, at the largest budget.

    The floor acts where fidelity rises beyond chance. More fidelity at no loss of coverage is no failure, and neither
    is a radius at which the floor changes nothing. It fails where fidelity falls beyond chance. On D, where the program
    enforces it, its effect stands in the words.
    """
    fidelity, words = [], []
    for task, found in facts["tasks"].items():
        for radius, methods in found["radii"].items():
            names = [method_name(STRICT, floor) for floor in (min(facts["floors"]), max(facts["floors"]))]
            low, tall = (read_answers(methods[name], found["n_held_out"], -1) for name in names)
            where = f"{task_words(task)}, r = {radius}"
            fidelity.append(compare_fidelity(where, tall, low, units_of(facts, task)))
            words.append(f"{where}: {_by_floor(facts, methods)}")
    rises = judge_together(fidelity)
    acts = "; ".join(each.where for each in rises.above)
    ours = (
        f"fidelity of the answers to held-out rows rises beyond chance at: {acts or 'no radius'}. "
        f"φ = {', '.join(f'{floor:g}' for floor in facts['floors'])}: {'; '.join(words)}"
    )
    holds = False if rises.below else True if rises.above else None
    return holds, ours, f"fidelity falls at {rises.why}" if rises.below else ""


def _by_floor(facts: Facts, methods: Facts) -> str:
    """Return coverage and fidelity at every floor and the largest budget in words, on D and held out."""
    words = []
    for rows, measure, name in ((LEARNED, "fidelity", "of D"), (HELD_OUT, "agreement", "held out")):
        found = [methods[method_name(STRICT, floor)][rows] for floor in facts["floors"]]
        shown = [f"{share(each['coverage'][-1])} at {share(each[measure][-1])}" for each in found]
        words.append(f"{name} {', '.join(shown)}")
    return ", ".join(words)


def not_whole(facts: Facts) -> Judgement:
    """Compare coverage of D at the largest budget with 1."""
    words, whole = [], []
    for task, found in facts["tasks"].items():
        for floor in facts["floors"]:
            value = found["methods"][method_name(STRICT, floor)][LEARNED]["coverage"][-1]
            whole.append(value == 1.0)
            words.append(f"{task_words(task)}, φ = {floor:g}: {value:.1%}")
    return not any(whole), "; ".join(words), "balls of this radius cover every row"
