"""Rules on draws that the black box labels, or on rows in their place: chosen there, and judged on other rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import pandas as pd

from oleander import kernels
from oleander.arrays import Bools, Labels
from oleander.black_box.asking import N_ASKED_TWICE, CountingBlackBox
from oleander.black_box.labelling import ask_twice, label_rows, split_rows, warn_of_truth
from oleander.candidates.base import Boxes
from oleander.data.checks import check_share
from oleander.data.reading import Reading
from oleander.data.rows import Rows, Unit, count_units
from oleander.draws.labelled import LabelledDraws, draw_around, take_as_draws
from oleander.fitting.engine import Engine
from oleander.fitting.options import NothingFoundError, Parameters, find_tolerance, read_truth, refuse
from oleander.fitting.rule_learner import RuleLearner, RuleSet
from oleander.messages import warn_user
from oleander.results.evaluation import Evaluation
from oleander.results.explainer_set import Answers, ChosenExplainer, ExplainerSet
from oleander.results.fit_record import FitRecord, ModelScore
from oleander.results.tradeoff import Cell, CellStatus, TradeOff
from oleander.rules.base import Explainer
from oleander.rules.constant import Constant
from oleander.running.progress import tell_progress
from oleander.words.claims import why_too_few

# With fewer draws than this, explainers learn from the rows instead.
FEWEST_DRAWS = 500
# The most values of all draws together, 160 MB.
MOST_VALUES = 20_000_000
# Without a background, of at least MANY rows or groups, ENOUGH_FOR_DRAWS make the draws and the others judge.
MANY, ENOUGH_FOR_DRAWS = 5_000, 2_000
# Rules of a router are correct on at least this share of the draws where they hold, however low the target.
LOWEST_FLOOR = 0.5
# Rows that are draws themselves are worth less to learn from than the draws around them.
SHARE_TAUGHT = 0.5


@dataclass(eq=False)
class RulesOnDraws(Engine):
    """Rules that were learned from draws."""

    # The rule sets of the last trade-off.
    _chosen: dict[tuple[int, float], RuleSet | None] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def fit(
        cls, options: Parameters, reading: Reading, black_box: CountingBlackBox, seed: int
    ) -> tuple[FitRecord, Self]:
        """Learn rules from draws that the black box labels, and judge them on rows that made no draw.

        Draws are made from the background, or else from the rows that are not held out, or else from the judging rows.
        """
        assert isinstance(options.candidates, Boxes)
        # Where kernels have to be compiled, a second process compiles most of them while the black box is asked.
        kernels.load("pack")
        parts = split_rows(reading, find_holdout(options, reading), seed, black_box)
        n_rows = 0 if reading.labels is not None else len(parts.learned) + len(parts.held) + N_ASKED_TWICE
        n_draws = count_affordable_draws(options.draws.n, n_rows, black_box)
        is_held = reading.background is None and len(parts.held) > 0
        judges = reading.take(parts.held if is_held else parts.learned)
        truth, labels, schema = read_truth(options, judges.truth), judges.labels, reading.schema
        # Without other rows, draws are made from the judging rows, and serve only where no parent judges.
        others = reading.take(parts.learned) if is_held else None
        around, logged = (reading.background, None) if others is None else (others.values, others.labels)
        if around is not None and not n_draws and logged is None:
            n_others = 0 if labels is not None else len(judges.values) + N_ASKED_TWICE
            if not black_box.can_ask(len(around) + n_others):
                warn_user(f"max_queries={black_box.max_queries:,} does not pay for the background: rules learn from X.")
                around = None
        by_folds = around is None
        on_share, level = options.floor.on == "share", options.floor.level
        if judges.subgroups is not None:
            check_subgroups(judges.subgroups, judges.groups, by_folds=by_folds, on_share=on_share)
        if not on_share:
            unit: Unit = "rows" if judges.groups is None else "groups"
            n_units = count_units(len(judges.values), judges.groups)
            too_few = why_too_few(n_units, unit, options.min_fidelity, level, of_widest=by_folds)
            if too_few is not None:
                raise NothingFoundError(too_few)
        # Ask about the rows that judge and about draws, in one call: or take rows as draws.
        within, taught = find_tolerance(options), None
        if n_draws:
            values, parents = draw_around(judges.values if around is None else around, schema, n_draws, seed)
            if labels is None:
                labels, answers = ask_twice(judges.values, black_box, values)
            else:
                answers = black_box.ask_in_batches(values, "asking about draws")
            draws = LabelledDraws.read(schema, schema.fold(values), answers, parents, seed, within)
        rows = label_rows(
            judges.values, black_box, groups=judges.groups, clusters=judges.clusters, answers=labels, merge=False
        )
        if not n_draws:
            taught = None if around is None else label_rows(around, black_box, known=rows, answers=logged)
            draws = take_as_draws(rows if taught is None else taught, seed, within)
        if truth is not None:
            warn_of_truth(rows, truth, draws.tolerance)

        # Boxes move late, but what is needed before, the second process has in hand.
        kernels.load("CodedDraws")
        how = options.floor, options.candidates, seed, options.n_jobs
        learner = RuleLearner(draws, rows, by_folds, *how, judges.subgroups, reading.can_certify)
        record = choose_and_judge(options, learner, truth, black_box.n_queries, from_draws=n_draws > 0)
        held = rows if is_held else Rows.empty(reading.schema)
        return record, cls(reading, parts, black_box, learner, held, taught=taught)

    def tradeoff(self, fitted: Cell, max_explainers: Sequence[int], min_fidelity: Sequence[float]) -> TradeOff:
        """Return the best rules for each number of rules and floor, from one computation."""
        judged = self.learner.judge_sets(max_explainers, min_fidelity)
        self._chosen = judged.choose_each(max_explainers, min_fidelity)
        # Several floors may be reached by the same choice, which is delivered and evaluated once.
        nothing, cells = ExplainerSet(self.learner.draws.schema, ()), []
        delivered = {-1: (nothing, nothing.evaluate(self.rows.values, self.rows.labels, self.rows.weights))}
        for limits, rules in self._chosen.items():
            place = -1 if rules is None else rules.place
            if rules is not None and place not in delivered:
                delivered[place] = deliver_rules(rules)[::2]
            status: CellStatus = "unknown" if rules is None else "judged"
            cells.append(Cell.fill(*limits, *delivered[place], float("nan"), status))
        # The fit's own cell shows what it delivered, which one number and one floor alone decided.
        self._chosen.pop((fitted.max_explainers, fitted.min_fidelity), None)
        return TradeOff(tuple(cells)).with_cell(fitted)

    def judged_apart(self, limits: tuple[int, float]) -> tuple[Bools, Bools] | None:
        rules = self._chosen[limits] if limits in self._chosen else self.learner.choose(*limits)
        if rules is None:
            return None
        answers, points = rules.judged.answers, self.rows.point_of_row
        return answers.answered[rules.place, points], answers.right[rules.place, points]


def choose_and_judge(
    options: Parameters, learner: RuleLearner, truth: Labels | None, n_queries: int, *, from_draws: bool
) -> FitRecord:
    """Propose rules and choose among them on the draws, and judge and certify the choice on the rows."""
    number, floor = int(options.max_explainers or learner.default_number), float(options.min_fidelity)
    judged = learner.judge_sets([number], [floor])
    rules = judged.choose(floor)
    if rules is None:
        raise NothingFoundError(judged.why_nothing(floor))
    with tell_progress("bounding what other rules could cover"):
        proof, n_candidates = rules.prove()
    explainers, answers, evaluation = deliver_rules(rules)
    return FitRecord(
        number,
        floor,
        explainers,
        evaluation,
        n_queries,
        proof=proof,
        n_candidates=n_candidates,
        certificate=rules.certificate if rules.is_certified else None,
        judged=None if rules.is_certified else rules.certificate.as_judged(),
        from_draws=from_draws,
        by_folds=learner.by_folds,
        output=options.output,
        model_score=ModelScore.count(answers, learner.rows, truth),
        # Which subgroups are silent is chosen by looking, too, so nothing is claimed of a router then.
        system=rules.claim_system() if learner.subgroups is None else None,
        floor_by=rules.floor_by,
        n_draws=len(learner.draws.values),
        max_conditions=learner.limits.max_conditions,
    )


def route(record: FitRecord, learner: RuleLearner, target: float) -> FitRecord:
    """Return the record of the widest explainers with which a router reaches a target."""
    check_share("target", target)
    refuse(
        {
            f"target={target:g} chooses among rule sets that are learned by asking, and a program chose these "
            "explainers: leave it out.": not record.is_asked,
            f"target={target:g} is for one floor, and these rules have one in each subgroup: leave it out.": (
                record.floor_by is not None
            ),
            f"target={target:g} chooses among the rule sets of the fit, which have none of the edits: leave it out, or "
            "route by the explainer before its edits.": record.n_edits > 0,
        }
    )
    # A router that answers half of the rows may be wrong on twice as many of these.
    floor = min(record.min_fidelity, max(round(1 - 2 * (1 - target), 12), LOWEST_FLOOR))
    rules, rows = learner.judge_sets([record.max_explainers], [floor]).choose_system(floor, target), learner.rows
    if rules is None:
        raise NothingFoundError(
            f"target={target:g} is not reached: not even the most cautious rule set shows it on "
            f"{rows.n_units:,} {rows.unit}. Lower the target, or give more {rows.unit}; they need no labels."
        )
    proof, n_candidates = rules.prove()
    explainers, _, evaluation = deliver_rules(rules)
    return record.with_others(
        explainers,
        evaluation,
        min_fidelity=floor,
        proof=proof,
        n_candidates=n_candidates,
        judged=rules.certificate.answers,
        system=rules.claim_system(target),
    )


def deliver_rules(rules: RuleSet) -> tuple[ExplainerSet, Answers, Evaluation]:
    """Return the rules as explainers, the widest first, what they say of the judging rows, and their figures there."""
    draws, rows, judged = rules.sequence.draws, rules.judged.learner.rows, rules.judged
    members = []
    for rule in rules.step.rules:
        box, number = rules.sequence.grid.to_box(rule.key), rule.label - len(draws.classes)
        says: Explainer
        if number < 0:
            says = Constant(draws.classes[rule.label], rule.n_draws, rule.fidelity, draws.classes.dtype)
        else:
            line = draws.lines[number].within(box.conditions)
            says = replace(line, n_draws=rule.n_draws, share=rule.fidelity)
        member = ChosenExplainer(box, says, "asking", draw_fidelity=rule.fidelity, tolerance=draws.tolerance)
        members.append(member)
    explainers = ExplainerSet(draws.schema, tuple(members))
    # The rules were laid over the rows when these judged them, and everything is counted from there.
    answers = explainers.speak(rules.covers, rows.values)
    evaluation = answers.evaluate(rows.labels, rows.weights)
    explainers = explainers.counted(evaluation)
    # By folds the rows made the draws, so their counts bound nothing.
    if judged.sisters is None:
        explainers = explainers.judged_on(rows, answers, judged.learner.floor.level)
    return explainers, answers, evaluation


def check_subgroups(names: Labels, groups: Labels | None, *, by_folds: bool, on_share: bool) -> None:
    """Raise ``ValueError`` where the judging rows can show no floor within their subgroups."""
    if by_folds or on_share:
        why = "floor=Floor('share') states no bound" if on_share else "folds judge here, which certify nothing"
        raise ValueError(f"floor_by needs rows that can show a floor, and {why}: give a background, or a holdout.")
    if groups is not None:
        several = pd.Series(names).groupby(groups).nunique()
        worst = int(several.argmax())
        if several.iloc[worst] > 1:
            raise ValueError(
                f"floor_by puts rows of group {several.index.tolist()[worst]!r} into {several.iloc[worst]} subgroups: "
                "every group has to lie in one, as a patient has one sex."
            )


def find_holdout(options: Parameters, reading: Reading) -> float | None:
    """Return the share of rows that judges: the one given, or of many rows all but a few that make draws.

    Folds judge where rows are few. Of many rows a few show where data lie, and the others can certify.
    """
    n_units = count_units(len(reading.values), reading.groups)
    n_taught = ENOUGH_FOR_DRAWS if options.draws.n else int(SHARE_TAUGHT * n_units)
    by_folds = options.holdout is None and reading.background is None
    if not by_folds or n_units < MANY:
        return options.holdout
    return 1 - n_taught / n_units


def count_affordable_draws(wanted: int, n_rows: int, black_box: CountingBlackBox) -> int:
    """Return the number of draws that memory and ``max_queries`` leave after some rows; draws give way first."""
    n_columns, left = len(black_box.schema), black_box.queries_left
    n_draws = min(wanted, max(FEWEST_DRAWS, MOST_VALUES // max(n_columns, 1)))
    if n_draws < wanted:
        warn_user(f"{wanted:,} draws of {n_columns:,} columns would fill the memory: {n_draws:,} are made.")
    if left is None or left - n_rows >= n_draws:
        return n_draws
    few = f"max_queries={black_box.max_queries:,} leaves {max(left - n_rows, 0):,} of {n_draws:,} draws"
    if left - n_rows < FEWEST_DRAWS:
        warn_user(f"{few}, too few to learn from: explainers learn from the rows.")
        return 0
    warn_user(f"{few}.")
    return left - n_rows
