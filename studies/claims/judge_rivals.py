"""Judges of the claims that compare the program with its rivals, on held-out rows.

Claims about coverage are asked of either program by itself; claims about fidelity of the definition alone, because the
printed program does not bind fidelity.
"""

from collections.abc import Mapping

from oleander.arrays import Bools
from studies.claims.claim import Judge, Judgement
from studies.claims.testing import Answered, Outcome, interval, judge_together
from studies.claims.views import (
    AGGREGATES,
    ALL_RIVALS,
    HIGH_FLOOR,
    STRICT,
    TREES,
    compare,
    figures,
    held_out,
    high,
    named_shares,
    several,
    share,
)
from studies.step import Facts
from studies.steps.explained_rows import HELD_OUT
from studies.steps.paper_program import Program, method_name
from studies.tasks import task_words

# Fidelities within this of each other are called alike.
ALIKE = 0.05
PAPER_TREES, PAPER_COVERAGE = 0.7, 0.4


def more_coverage(program: Program, *tasks: str) -> Judge:
    """Return a judge that asks for more coverage than the other aggregates at every budget and floor."""

    def judge(facts: Facts) -> Judgement:
        asked = tasks or tuple(facts["tasks"])
        outcome = judge_together(
            [
                each
                for task in asked
                for floor in facts["floors"]
                for each in compare(facts, task, method_name(program, floor), AGGREGATES, "coverage")
            ]
        )
        return outcome.holds, f"{outcome.words}. {_at_largest(facts, asked, program)}", outcome.why

    return judge


def _at_largest(facts: Facts, tasks: tuple[str, ...], program: str) -> str:
    """Return the coverage of held-out rows at the largest budget in words, of the program and the other aggregates."""
    words = []
    for task in tasks:
        methods = {f"φ = {floor:g}": method_name(program, floor) for floor in facts["floors"]}
        methods |= {rival: rival for rival in AGGREGATES}
        found = facts["tasks"][task]["methods"]
        values = {name: found[method][HELD_OUT]["coverage"][-1] for name, method in methods.items()}
        words.append(f"{task_words(task)}, K = {facts['budgets'][-1]}: {named_shares(values)}")
    return "; ".join(words)


def outperforms(facts: Facts) -> Judgement:
    """Ask for more coverage and more fidelity than the other aggregates at every budget, at some floor."""
    words, why = [], ""
    verdicts: list[bool | None] = []
    for task in facts["tasks"]:
        by_floor: dict[float, Outcome] = {}
        for floor in facts["floors"]:
            method = method_name(STRICT, floor)
            measured = [compare(facts, task, method, AGGREGATES, measure) for measure in ("coverage", "fidelity")]
            by_floor[floor] = judge_together([each for found in measured for each in found])
        best = max(by_floor, key=lambda floor: (len(by_floor[floor].above) - 10 * len(by_floor[floor].below), floor))
        words.append(f"{task_words(task)}, φ = {best:g}: {by_floor[best].words}")
        found = {outcome.holds for outcome in by_floor.values()}
        verdicts.append(True if True in found else None if None in found else False)
        why = why or (by_floor[best].why if verdicts[-1] is False else "")
    return _all(verdicts), "; ".join(words), why


def pareto(facts: Facts) -> Judgement:
    """Count the budgets at which no rival covers as much and is as faithful as the program at every floor.

    The claim fails if, at some budget, a rival beats each floor in both measures, and in one of them beyond chance. The
    comparisons with all beating rivals are corrected together.
    """
    floors, places = facts["floors"], range(len(facts["budgets"]))
    beating = {
        (task, place, floor): _beating(facts, task, method_name(STRICT, floor), place)
        for task in facts["tasks"]
        for place in places
        for floor in floors
    }
    pairs = [
        (cell, each)
        for cell, rivals in beating.items()
        for measure in ("coverage", "fidelity")
        for each in compare(facts, cell[0], method_name(STRICT, cell[2]), rivals, measure, [cell[1]])
        if each is not None
    ]
    beyond = set(map(id, judge_together([each for _, each in pairs]).below))
    beaten_beyond = {cell for cell, each in pairs if id(each) in beyond}
    words, better = [], set()
    verdicts: list[bool | None] = []
    for task in facts["tasks"]:
        dominated = [place for place in places if all(beating[task, place, floor] for floor in floors)]
        better |= {rival for place in dominated for floor in floors for rival in beating[task, place, floor]}
        words.append(f"{task_words(task)}: on the frontier at {len(places) - len(dominated)} of {len(places)} budgets")
        is_beaten = any(all((task, place, floor) in beaten_beyond for floor in floors) for place in dominated)
        verdicts.append(True if not dominated else False if is_beaten else None)
    why = f"at some budget every floor is beaten in both measures by {' or '.join(sorted(better))}"
    return _all(verdicts), "; ".join(words), why if False in verdicts else ""


def _beating(facts: Facts, task: str, method: str, place: int) -> list[str]:
    """Return the rivals that cover as many held-out rows and are as faithful, and better in one of the two."""
    ours = held_out(facts, task, method, place)
    found = []
    for rival in ALL_RIVALS:
        theirs = held_out(facts, task, rival, place)
        if theirs.fidelity is None:
            continue
        pairs = ((theirs.coverage, ours.coverage), (theirs.fidelity, ours.fidelity or 0.0))
        if all(one >= other for one, other in pairs) and any(one > other for one, other in pairs):
            found.append(rival)
    return found


def low_floors_alike(facts: Facts) -> Judgement:
    """Compare fidelity at the lower floors with the other aggregates and decision sets, binary."""
    rivals = (*AGGREGATES, "decision set")
    methods = [method_name(STRICT, floor) for floor in facts["floors"] if floor < HIGH_FLOOR]
    outcome = judge_together([each for m in methods for each in compare(facts, "binary", m, rivals, "fidelity")])
    values = {name: _mean_fidelity(facts, "binary", name) for name in (*methods, *rivals)}
    ours = [value for name, value in values.items() if name in methods and value is not None]
    others = [value for name, value in values.items() if name in rivals and value is not None]
    is_alike = bool(ours and others) and min(ours) >= min(others) - ALIKE
    holds = True if is_alike else outcome.holds
    return holds, f"means over K: {named_shares(values)}; {outcome.words}", "" if is_alike else outcome.why


def high_floor_above(facts: Facts) -> Judgement:
    """Compare fidelity at the highest floor with the same rivals, binary."""
    return _more_fidelity(facts, ["binary"], (*AGGREGATES, "decision set"))


def more_fidelity(facts: Facts) -> Judgement:
    """Ask for more fidelity than every rival."""
    return _more_fidelity(facts, list(facts["tasks"]), ALL_RIVALS)


def many_classes(facts: Facts) -> Judgement:
    """Ask for more fidelity than every rival where there are several classes."""
    return _more_fidelity(facts, several(facts), ALL_RIVALS)


def above_trees(facts: Facts) -> Judgement:
    """Ask for more fidelity than either tree where there are several classes."""
    return _more_fidelity(facts, several(facts), TREES)


def _more_fidelity(facts: Facts, tasks: list[str], rivals: tuple[str, ...]) -> Judgement:
    outcome = judge_together([each for t in tasks for each in compare(facts, t, high(), rivals, "fidelity")])
    words = []
    for task in tasks:
        values = {name: _mean_fidelity(facts, task, name) for name in (high(), *rivals)}
        words.append(f"{task_words(task)}, mean over K: {named_shares(values)}")
    return outcome.holds, f"{outcome.words}. {'; '.join(words)}", outcome.why


def trees_unbeaten(facts: Facts) -> Judgement:
    """Ask that the program at its highest floor is not more faithful than either tree, binary."""
    outcome = judge_together(list(compare(facts, "binary", high(), TREES, "fidelity")))
    values = {name: _mean_fidelity(facts, "binary", name) for name in (high(), *TREES)}
    holds = False if outcome.above else True if outcome.n and not outcome.n_ahead else None
    why = "the program is more faithful than a tree" if outcome.above else ""
    return holds, f"mean over K: {named_shares(values)}; {outcome.words}", why


def reaches_floor(facts: Facts) -> Judgement:
    """Ask for a fidelity of 0.9 on held-out rows of every task with several classes."""
    verdicts = {task: _is_faithful(held_out(facts, task, high(), -1)) for task in several(facts)}
    words = "; ".join(_at_high_floor(facts, task) for task in verdicts)
    return _all(list(verdicts.values())), words, _below(verdicts, "fewer than 90% match the model")


def wide_enough(facts: Facts) -> Judgement:
    """Ask for a coverage of at least 40% at a fidelity of 0.9, on held-out rows of every task with several classes.

    More coverage than the paper's 40 to 50% is no failure.
    """
    wide, faithful = {}, {}
    for task in several(facts):
        answers = held_out(facts, task, high(), -1)
        wide[task] = _reaches(answers.answered, PAPER_COVERAGE)
        faithful[task] = _is_faithful(answers)
    verdicts = {task: _all([wide[task], faithful[task]]) for task in wide}
    reached = sum(verdict is True for verdict in verdicts.values())
    where = f"at least 40% of the rows at a fidelity of at least 90% on {reached} of {len(verdicts)} tasks"
    reasons = (_below(wide, "fewer than 40% are covered"), _below(faithful, "fewer than 90% match the model"))
    why = "; ".join(reason for reason in reasons if reason)
    return _all(list(verdicts.values())), f"{where}. {'; '.join(_at_high_floor(facts, task) for task in wide)}", why


def _at_high_floor(facts: Facts, task: str) -> str:
    return f"{task_words(task)}, K = {facts['budgets'][-1]}: {figures(facts, task, high())}"


def _is_faithful(answers: Answered) -> bool | None:
    """Return whether a fidelity of 0.9 is reached; None too where nothing is answered."""
    return _reaches(answers.right[answers.answered], HIGH_FLOOR)


def _reaches(mask: Bools, level: float) -> bool | None:
    """Return whether a share reaches a level: True if it does, False if the level lies above its 95% interval.

    >>> import numpy as np
    >>> _reaches(np.ones(4, bool), 0.9), _reaches(np.zeros(50, bool), 0.4), _reaches(np.arange(20) < 7, 0.4)
    (True, False, None)
    """
    if not len(mask):
        return None
    _, upper = interval(int(mask.sum()), len(mask))
    return True if mask.mean() >= level else False if upper < level else None


def _below(verdicts: Mapping[str, bool | None], words: str) -> str:
    """Return where a level is not reached beyond chance, or else where chance may explain it, in words."""
    failed = [task_words(task) for task, is_reached in verdicts.items() if is_reached is False]
    unclear = [task_words(task) for task, is_reached in verdicts.items() if is_reached is None]
    if failed:
        return f"{words}, beyond chance: {' and '.join(failed)}"
    return f"{words}, which chance may explain: {' and '.join(unclear)}" if unclear else ""


def trees_at_seventy(facts: Facts) -> Judgement:
    """Ask whether the trees that answer every row have a fidelity of about 0.7 where there are several classes."""
    words, is_near, found = [], [], []
    for task in several(facts):
        for tree in TREES:
            answers = held_out(facts, task, tree, -1)
            found.append(answers.fidelity or 0.0)
            low, upper = interval(int(answers.right.sum()), int(answers.answered.sum()))
            words.append(f"{task_words(task)}, {tree}: {share(answers.fidelity)}")
            is_near.append(low <= PAPER_TREES + ALIKE and upper >= PAPER_TREES - ALIKE)
    ours = f"{share(min(found))} to {share(max(found))}; {'; '.join(words)}"
    return all(is_near), ours, "" if all(is_near) else "a tree is more faithful than that"


def _mean_fidelity(facts: Facts, task: str, method: str) -> float | None:
    """Return the mean fidelity on held-out rows over the budgets at which it is defined."""
    values = [v for v in facts["tasks"][task]["methods"][method][HELD_OUT]["agreement"] if v is not None]
    return sum(values) / len(values) if values else None


def _all(verdicts: list[bool | None]) -> bool | None:
    """Return False if a verdict is False, None if one is None, True otherwise."""
    return False if False in verdicts else None if None in verdicts else True
