"""From a choice to the explainers that are delivered, with their figures."""

from dataclasses import replace

from oleander.candidates.choosing import PoolProgram
from oleander.draws.labelled import LabelledDraws
from oleander.learning.candidates import Candidate
from oleander.learning.learner import RuleLearner, RuleSet
from oleander.results.evaluation import Evaluation
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.rules import Box
from oleander.rules.base import Explainer
from oleander.rules.constant import Constant
from oleander.selection import SelectionResult


def deliver_rules(rules: RuleSet, learner: RuleLearner, share: float | None = None) -> tuple[ExplainerSet, Evaluation]:
    """Return the rules as explainers, the widest first, and their evaluation on the judging rows.

    By folds the rows made the draws, so their counts bound nothing.

    Parameters
    ----------
    rules : RuleSet
    learner : RuleLearner
    share : float or None
        The share of new rows within the spread of each rule for numbers; None leaves the spreads out.
    """
    draws, rows, level = rules.family.draws, learner.rows, learner.level
    members = []
    for rule in rules.step.rules:
        box = rules.family.grid.to_box(rule.key)
        members.append(
            ChosenExplainer(
                box,
                _make_explainer(draws, rule, box),
                "asking",
                support=0,
                fidelity=float("nan"),
                draw_fidelity=rule.fidelity,
                tolerance=draws.tolerance,
            )
        )
    explainers = ExplainerSet(draws.schema, tuple(members))
    # The rules are laid over the rows once, and everything is counted from there.
    answers = explainers.read(rows.values)
    support, n_right = answers.covers @ rows.weights, answers.agree(rows.labels) @ rows.weights
    explainers = replace(
        explainers,
        members=tuple(
            replace(
                member,
                support=int(support[number]),
                fidelity=float(n_right[number] / support[number]) if support[number] else float("nan"),
            )
            for number, member in enumerate(members)
        ),
    )
    evaluation = explainers.evaluate_answers(answers, rows.labels, rows.weights)
    return explainers if learner.by_folds else explainers.judged_on(rows, answers, level, share), evaluation


def _make_explainer(draws: LabelledDraws, rule: Candidate, box: Box) -> Explainer:
    """Return what says the answer of a rule in its box."""
    if rule.label < len(draws.classes):
        return Constant(draws.classes[rule.label], rule.n_draws, rule.fidelity, draws.classes.dtype)
    line = draws.lines[rule.label - len(draws.classes)].within(box.conditions)
    return replace(line, n_draws=rule.n_draws, share=rule.fidelity)


def deliver_choice(program: PoolProgram, result: SelectionResult) -> ExplainerSet:
    """Return the candidates that a result chooses as explainers, the widest first."""
    pool, fidelity = program.pool, program.pool.fidelity
    members = []
    for index in sorted(result.chosen.tolist(), key=lambda index: -pool.support[index]):
        candidate, explainer = pool.candidates[index], pool.explainers[index]
        assert explainer is not None
        members.append(
            ChosenExplainer(
                candidate.region,
                explainer,
                candidate.origin,
                support=int(pool.support[index]),
                fidelity=float(fidelity[index]),
                draw_fidelity=float(pool.draw_fidelity[index]),
                tolerance=pool.tolerance,
            )
        )
    return ExplainerSet(pool.rows.schema, tuple(members))
