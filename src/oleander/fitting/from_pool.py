"""Choose from a pool: generators propose candidates, the integer program chooses, held-out rows certify."""

from collections.abc import Sequence

from oleander.black_box.asking import CountingBlackBox
from oleander.black_box.labelling import label_rows, warn_of_truth
from oleander.candidates.balls import Balls, measure_sizes, warn_of_sizes
from oleander.candidates.base import Generator
from oleander.candidates.choosing import PoolProgram
from oleander.candidates.pool import CandidatePool
from oleander.data.reading import Reading, Split
from oleander.files.checkpoint import Checkpoint
from oleander.fitting.options import NothingFoundError, Parameters, find_tolerance, read_truth
from oleander.fitting.workings import Workings, deliver_choice
from oleander.messages import warn_user
from oleander.results.fit_record import FitRecord

DEFAULT_NUMBER = 10


def choose_from_pool(
    options: Parameters,
    reading: Reading,
    parts: Split,
    generators: Sequence[Generator],
    black_box: CountingBlackBox,
    store: Checkpoint | None,
    seed: int,
) -> tuple[FitRecord, Workings]:
    """Choose explainers among the candidates of generators by the integer program, and certify the choice.

    Parameters
    ----------
    options : Parameters
    reading : Reading
    parts : Split
        Candidates are learned and chosen on one part of the rows, and certified on the other.
    generators : sequence of Generator
    black_box : CountingBlackBox
    store : Checkpoint or None
        Where trained explainers are kept.
    seed : int
    """
    within = find_tolerance(options)
    limits = int(options.max_explainers or DEFAULT_NUMBER), float(options.min_fidelity)
    assert within != "auto"
    # Read and label the rows that teach and choose.
    learned = parts.learned
    truth = read_truth(options, reading.truth, learned)
    is_whole = len(learned) == len(reading.values)
    rows = label_rows(
        reading.values if is_whole else reading.values[learned],
        black_box,
        groups=reading.groups_of(learned),
        row_numbers=reading.numbers_of(learned),
    )
    if truth is not None:
        warn_of_truth(rows, truth, within)
    # Queries for the held-out rows are not there for training.
    black_box.reserve(len(parts.held))

    # Propose and choose. Balls draw and ask when they are trained.
    pool = CandidatePool.propose(
        list(generators), rows, black_box, seed, n_jobs=options.n_jobs, checkpoint=store, tolerance=within
    )
    sizes = measure_sizes(pool)
    for generator in generators:
        if isinstance(generator, Balls):
            warn_of_sizes(generator, rows, sizes)
    program = _state_program(options, pool)
    result = program.select(*limits)
    if not len(result.chosen):
        raise NothingFoundError(program.why_nothing(result, options.min_fidelity))
    if result.message:
        warn_user(result.message)
    explainers = deliver_choice(program, result)

    # Judge and certify.
    evaluation = explainers.evaluate(rows.values, rows.labels, rows.weights)
    black_box.release(len(parts.held))
    held = label_rows(
        reading.values[parts.held],
        black_box,
        groups=reading.groups_of(parts.held),
        known=rows,
    )
    certificate, judged = None, None
    if len(parts.held):
        answers = explainers.read(held.values)
        certified = explainers.certify(held, answers, options.floor.confidence)
        if reading.can_certify:
            certificate, explainers = certified, explainers.with_claims(certified)
        else:
            judged = certified.as_judged()
        explainers = explainers.judged_on(held, answers, options.floor.level, options.min_fidelity)
    record = FitRecord(
        *limits,
        explainers,
        evaluation,
        black_box.n_queries,
        proof=result.proof,
        counted=result.coverage if options.program.formulation == "selective" else None,
        certificate=certificate,
        judged=judged,
        ball_sizes=sizes,
        output=options.output,
    )
    n_rows = len(reading.values) if reading.positions is None else None
    return record, Workings(program, rows, held, seed, result, n_rows)


def _state_program(options: Parameters, pool: CandidatePool) -> PoolProgram:
    if len(pool.candidates) < (options.max_explainers or 0):
        warn_user(f"max_explainers={options.max_explainers}, but there are only {len(pool.candidates)} candidates.")
    return PoolProgram(
        pool,
        options.floor,
        formulation=options.program.formulation,
        solver=options.program.solver,
        time_limit=options.program.time_limit,
    )
