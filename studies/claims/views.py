"""The facts of a step about aggregates as the judges read them: figures on D, and answers on held-out rows.

On D, the rows that explainers are chosen on, the fidelity of an aggregate is the paper's: the lowest of any chosen
explainer. On held-out rows it is that of the answers: of the covered rows, the share on which the responsible explainer
agrees with the black box. Claims are judged on held-out rows, by tests; figures on D stand beside.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from oleander.arrays import Ints
from studies.claims.testing import Answered, Comparison, compare_coverage, compare_fidelity
from studies.step import Facts
from studies.steps.explained_rows import HELD_OUT, LEARNED
from studies.steps.paper_program import method_name
from studies.store import from_bits
from studies.tasks import task_words

HIGH_FLOOR = 0.9
AGGREGATES = ("submodular pick", "anchors")
TREES = ("active tree", "naive tree")
ALL_RIVALS = (*AGGREGATES, "decision set", *TREES)
# The definition of fidelity, problem (3). The printed program does not bind fidelity, so claims about fidelity are
# asked of this one alone.
STRICT = "strict"


def high(program: str = STRICT) -> str:
    """Return the name of a program at the highest floor.

    >>> high()
    'strict 0.9'
    """
    return method_name(program, HIGH_FLOOR)


def units_of(facts: Facts, task: str) -> Ints | None:
    """Return the trial of each held-out row; None where rows are independent."""
    found = facts["tasks"][task].get("units")
    return None if found is None else np.asarray(found, dtype=np.intp)


def held_out(facts: Facts, task: str, method: str, place: int) -> Answered:
    """Return the answers of a method to the held-out rows, at one budget."""
    return read_answers(facts["tasks"][task]["methods"][method], facts["tasks"][task]["n_held_out"], place)


def read_answers(by_rows: Facts, n_rows: int, place: int) -> Answered:
    """Return the answers that the facts of a method keep as bits, at one budget."""
    answered, right = by_rows[HELD_OUT]["bits"][place]
    return Answered(from_bits(answered, n_rows), from_bits(right, n_rows))


def compare(
    facts: Facts, task: str, method: str, rivals: Sequence[str], measure: str, places: Sequence[int] | None = None
) -> Iterator[Comparison | None]:
    """Yield the comparison of a method with every rival at every budget, on held-out rows."""
    budgets, test = facts["budgets"], compare_coverage if measure == "coverage" else compare_fidelity
    for place in range(len(budgets)) if places is None else places:
        one = held_out(facts, task, method, place)
        for rival in rivals:
            where = f"{task_words(task)}, {method} against {rival}, K = {budgets[place]}"
            yield test(where, one, held_out(facts, task, rival, place), units_of(facts, task))


def figures(facts: Facts, task: str, method: str, place: int = -1) -> str:
    """Return coverage and fidelity of a method at one budget in words, on D and held out."""
    by_rows = facts["tasks"][task]["methods"][method]
    on_data, new = by_rows[LEARNED], by_rows[HELD_OUT]
    is_aggregate = method in AGGREGATES or method[0:6] in ("strict", "select")
    lowest = on_data["fidelity" if is_aggregate else "agreement"][place]
    return (
        f"{share(on_data['coverage'][place])} of D at {share(lowest)}, held out {share(new['coverage'][place])} at "
        f"{share(new['agreement'][place])}"
    )


def several(facts: Facts) -> list[str]:
    """Return the tasks with more than two classes."""
    return [task for task, found in facts["tasks"].items() if found["n_classes"] > 2]


def share(value: float | None) -> str:
    """Return a share in words; a fidelity where nothing is covered is undefined.

    >>> share(0.966), share(None)
    ('96.6%', 'undefined')
    """
    return "undefined" if value is None else f"{value:.1%}"


def named_shares(values: Mapping[str, float | None]) -> str:
    """Return named shares in words.

    >>> named_shares({"anchors": 0.966, "decision set": None})
    'anchors 96.6%, decision set undefined'
    """
    return ", ".join(f"{name} {share(value)}" for name, value in values.items())
