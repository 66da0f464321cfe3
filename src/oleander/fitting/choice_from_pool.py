"""Choice from a pool: generators propose candidates, the integer program chooses, and held-out rows certify."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from oleander.black_box.asking import CountingBlackBox
from oleander.black_box.labelling import label_rows, split_rows, warn_of_truth
from oleander.candidates.balls import warn_of_sizes
from oleander.candidates.lazy_training import PoolProgram
from oleander.candidates.pool import CandidatePool
from oleander.data.reading import Reading
from oleander.draws.labelled import take_as_draws
from oleander.fitting.engine import Engine
from oleander.fitting.options import NothingFoundError, Parameters, find_tolerance, list_generators, read_truth
from oleander.fitting.rule_learner import RuleLearner
from oleander.judging.certificate import certify_system
from oleander.judging.fixed_sequence import Judged
from oleander.messages import warn_user
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.results.fit_record import FitRecord, ModelScore
from oleander.results.tradeoff import Cell, TradeOff
from oleander.selection import SelectionResult
from oleander.selection.result import relative_gap

DEFAULT_NUMBER = 10


@dataclass(eq=False)
class ChoiceFromPool(Engine):
    """Explainers that a program chose from a pool."""

    program: PoolProgram
    result: SelectionResult

    @property
    def n_candidates(self) -> int:
        return len(self.program.pool.candidates)

    @property
    def attributes(self) -> dict[str, Any]:
        return {"pool_": self.program.pool, "result_": self.result}

    @classmethod
    def fit(
        cls, options: Parameters, reading: Reading, black_box: CountingBlackBox, seed: int
    ) -> tuple[FitRecord, Self]:
        """Choose explainers among the candidates of generators by the integer program, and certify the choice.

        Candidates are learned and chosen on one part of the rows, and certified on the other.
        """
        generators = list_generators(options)
        parts = split_rows(reading, options.holdout, seed, black_box)
        within = find_tolerance(options)
        limits = int(options.max_explainers or DEFAULT_NUMBER), float(options.min_fidelity)
        assert within != "auto"
        # Read and label the rows that teach and choose.
        learned = reading.take(parts.learned)
        truth = read_truth(options, learned.truth)
        rows = label_rows(learned.values, black_box, groups=learned.groups)
        if truth is not None:
            warn_of_truth(rows, truth, within)
        # Queries for the held-out rows are not there for training.
        black_box.reserve(len(parts.held))

        # Propose and choose. Balls draw and ask when they are trained.
        pool = CandidatePool.propose(generators, rows, black_box, seed, n_jobs=options.n_jobs, tolerance=within)
        warn_of_sizes(pool)
        if len(pool.candidates) < (options.max_explainers or 0):
            warn_user(f"max_explainers={options.max_explainers}, but there are only {len(pool.candidates)} candidates.")
        program = PoolProgram(pool, options.floor, **asdict(options.program))
        result = program.select(*limits)
        if not len(result.chosen):
            raise NothingFoundError(program.why_nothing(result, options.min_fidelity))
        if result.message:
            warn_user(result.message)
        explainers = deliver_choice(program, result)

        # Judge and certify.
        said = explainers.read(rows.values)
        evaluation = said.evaluate(rows.labels, rows.weights)
        black_box.release(len(parts.held))
        others = reading.take(parts.held)
        held = label_rows(others.values, black_box, groups=others.groups, known=rows)
        certificate, judged, system = None, None, None
        if len(parts.held):
            answers = explainers.read(held.values)
            certified = answers.certify(held.labels, options.floor.confidence, held.weights, held.groups)
            if reading.can_certify:
                certificate, explainers = certified, explainers.with_claims(certified)
            else:
                judged = certified.as_judged()
            explainers = explainers.judged_on(held, answers, options.floor.level)
            heard = Judged(answers.answered[None], answers.right(held.labels)[None], held.weights, held.groups)
            system = certify_system(heard, 0, options.floor.level, 1, is_certified=reading.can_certify)
        record = FitRecord(
            *limits,
            explainers,
            evaluation,
            black_box.n_queries,
            proof=result.proof,
            counted=result.coverage if options.program.formulation == "selective" else None,
            certificate=certificate,
            judged=judged,
            output=options.output,
            model_score=ModelScore.count(said, rows, truth),
            system=system,
        )
        # Trees in the place of the explainers would learn from the rows, and be judged by folds.
        learner = RuleLearner(take_as_draws(rows, seed, within), rows, by_folds=True, seed=seed)
        return record, cls(reading, parts, black_box, learner, held, program, result)

    def tradeoff(self, fitted: Cell, max_explainers: Sequence[int], min_fidelity: Sequence[float]) -> TradeOff:
        """Return the best choice for each number and floor; candidates are trained as the answers need them."""
        known = {(fitted.max_explainers, fitted.min_fidelity): self.result}
        results = self.program.sweep(max_explainers, min_fidelity, known)
        cells = [self._fill_cell(number, floor, result) for (number, floor), result in results.items()]
        return TradeOff(tuple(cells)).with_cell(fitted)

    def _fill_cell(self, number: int, floor: float, result: SelectionResult) -> Cell:
        bound, status = result.bound, result.status
        if not len(result.chosen) and status != "infeasible":
            # Time ran out before anything was found: a quick choice among the trained candidates is better than none.
            problem = self.program.problem(trained_only=True)
            result = problem.solve(number, floor, formulation=self.program.formulation, solver="greedy")
            status = "feasible" if len(result.chosen) else "unknown"
        explainers = deliver_choice(self.program, result)
        evaluation = explainers.evaluate(self.rows.values, self.rows.labels, self.rows.weights)
        gap = relative_gap(result.objective, max(bound, result.objective))
        return Cell.fill(number, floor, explainers, evaluation, gap, status)


def deliver_choice(program: PoolProgram, result: SelectionResult) -> ExplainerSet:
    """Return the candidates that a result chooses as explainers, the widest first."""
    pool, fidelity = program.pool, program.pool.fidelity
    members = []
    for index in sorted(result.chosen.tolist(), key=lambda index: -pool.support[index]):
        candidate, explainer = pool.candidates[index], pool.explainers[index]
        assert explainer is not None
        figures = int(pool.support[index]), float(fidelity[index]), float(pool.draw_fidelity[index])
        members.append(
            ChosenExplainer(candidate.region, explainer, candidate.origin, *figures, tolerance=pool.tolerance)
        )
    return ExplainerSet(pool.rows.schema, tuple(members))
