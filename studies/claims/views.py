"""The facts of the aggregation step as the judges read them: on D by the paper's definition, and on rows held out.

On D, the rows that explainers were chosen on, the fidelity of an aggregate is the paper's: the lowest of any chosen
explainer. On rows held out it is that of the answers: of the covered rows, the share on which the responsible explainer
agrees with the black box. The two are the same for models that answer every row.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from studies.claims.claim import Judge, Judgement
from studies.step import Facts
from studies.steps.explained_rows import HELD_OUT, LEARNED
from studies.steps.paper_program import PROGRAMS, method_name

HIGH_FLOOR = 0.9
AGGREGATES = ("submodular pick", "anchors")


@dataclass(frozen=True)
class View:
    """Rows, and the fidelity of aggregates on them.

    Parameters
    ----------
    name : str
        As claims are told apart by.
    rows : str
    fidelity : {"fidelity", "agreement"}
        The lowest fidelity of any chosen explainer, or the fidelity of the answers.
    figure : str
        The figure of a task that shows these rows, after the task's name.
    """

    name: str
    rows: str
    fidelity: str
    figure: str

    def column(self, method: str, measure: str) -> str:
        """Return the column that holds a measure of a method."""
        is_aggregate = method in AGGREGATES or method.startswith(PROGRAMS)
        return self.fidelity if measure == "agreement" and is_aggregate else measure


ON_DATA = View("on D, by the definition", LEARNED, "fidelity", "learned")
ON_HELD_OUT = View("held out", HELD_OUT, "agreement", "held_out")
VIEWS = (ON_DATA, ON_HELD_OUT)
RowsJudge = Callable[[Facts, View], Judgement]


def by_rows(judge: RowsJudge) -> dict[str, Judge]:
    """Return a judge for each view, by the view's name."""
    return {view.name: partial(_judge, judge, view) for view in VIEWS}


def _judge(judge: RowsJudge, view: View, facts: Facts) -> Judgement:
    return judge(facts, view)


def cells(facts: Facts) -> list[tuple[str, str]]:
    """Return every task with every program at every floor."""
    return [
        (task, method_name(program, floor))
        for task in facts["tasks"]
        for program in PROGRAMS
        for floor in facts["floors"]
    ]


def curve(facts: Facts, view: View, task: str, method: str, measure: str) -> list[float | None]:
    """Return a measure of a method over the budgets; None where no row is covered."""
    return list(facts["tasks"][task]["methods"][method][view.rows][view.column(method, measure)])


def known_values(values: Sequence[float | None]) -> list[float]:
    """Return the values that are known, or a single 0 if none is.

    >>> known_values([0.5, None]), known_values([None])
    ([0.5], [0.0])
    """
    return [value for value in values if value is not None] or [0.0]


def mean_figures(facts: Facts, view: View, task: str, method: str) -> tuple[float, float]:
    """Return mean coverage and mean fidelity over the budgets."""
    cover, right = (known_values(curve(facts, view, task, method, measure)) for measure in ("coverage", "agreement"))
    return sum(cover) / len(cover), sum(right) / len(right)


def mean_fidelities(facts: Facts, view: View, task: str, methods: Sequence[str]) -> dict[str, float]:
    """Return the mean fidelity of each method over the budgets."""
    return {method: mean_figures(facts, view, task, method)[1] for method in methods}


def at_floors(*floors: float) -> list[str]:
    """Return the names of both programs at some floors.

    >>> at_floors(0.9)
    ['strict 0.9', 'selective 0.9']
    """
    return [method_name(program, floor) for program in PROGRAMS for floor in floors]


def first_task(facts: Facts) -> str:
    """Return the main task's name."""
    return str(next(iter(facts["tasks"])))


def task_words(task: str) -> str:
    """Return a task's name in words.

    >>> task_words("five_classes")
    'five classes'
    """
    return task.replace("_", " ")


def measure_words(measure: str) -> str:
    """Return a measure's name as in the paper.

    >>> measure_words("agreement")
    'fidelity'
    """
    return "fidelity" if measure == "agreement" else measure


def named_shares(values: Mapping[str, float]) -> str:
    """Return named shares in words.

    >>> named_shares({"anchors": 0.966})
    'anchors 96.6%'
    """
    return ", ".join(f"{name} {value:.1%}" for name, value in values.items())
