"""Learn by asking: draws that the black box labels teach, or rows where there are no draws; other rows judge."""

import numpy as np

from oleander.arrays import Floats
from oleander.black_box.asking import N_ASKED_TWICE, CountingBlackBox
from oleander.black_box.labelling import label_rows, warn_of_truth
from oleander.candidates.boxes import Boxes
from oleander.data.reading import Reading, Split
from oleander.data.rows import Rows
from oleander.data.splitting import count_units
from oleander.draws.jitter import measure_realism
from oleander.draws.labelled import draw_and_ask, take_as_draws
from oleander.fitting.options import NothingFoundError, Parameters, find_tolerance, read_truth
from oleander.fitting.workings import Workings, deliver_rules
from oleander.judging.certificate import Certificate
from oleander.learning.learner import RuleLearner
from oleander.messages import warn_user
from oleander.results.fit_record import FitRecord
from oleander.running.progress import tell_progress
from oleander.words.claims import why_too_few

# With fewer draws than this, explainers learn from the rows instead.
FEWEST_DRAWS = 500
# The most values of all draws together, 160 MB.
MOST_VALUES = 20_000_000
# Without a background, of at least MANY rows or groups, ENOUGH_FOR_DRAWS make the draws and the others judge.
MANY, ENOUGH_FOR_DRAWS = 5_000, 2_000


def find_holdout(options: Parameters, reading: Reading, *, has_background: bool) -> float | None:
    """Return the share of rows that judges: the one given, or of many rows all but a few that make draws.

    Folds judge where rows are few. Of many rows a few show where data lie, and the others can certify.
    """
    n_units = count_units(len(reading.values), reading.groups)
    # Rows that are draws themselves are worth less to learn from than the draws around them.
    n_taught = ENOUGH_FOR_DRAWS if options.draws.n else n_units // 2
    by_folds = options.asks and options.holdout is None and not has_background
    if not by_folds or n_units < MANY:
        return options.holdout
    return 1 - n_taught / n_units


def count_affordable_draws(options: Parameters, parts: Split, black_box: CountingBlackBox) -> int:
    """Return the number of draws that memory and ``max_queries`` leave after the rows; draws give way first."""
    wanted, left, n_columns = options.draws.n, black_box.queries_left, len(black_box.schema)
    fitting = max(FEWEST_DRAWS, MOST_VALUES // max(n_columns, 1))
    if fitting < wanted:
        warn_user(f"{wanted:,} draws of {n_columns:,} columns would fill the memory: {fitting:,} are made.")
        wanted = fitting
    if left is None or not wanted:
        return wanted
    n_draws = min(wanted, left - len(parts.learned) - len(parts.held) - N_ASKED_TWICE)
    if n_draws < FEWEST_DRAWS:
        warn_user(
            f"max_queries={options.max_queries:,} leaves {max(n_draws, 0):,} draws, too few to learn from: explainers "
            "learn from the rows."
        )
        return 0
    if n_draws < wanted:
        warn_user(f"max_queries={options.max_queries:,} leaves {n_draws:,} of {wanted:,} draws.")
    return n_draws


def learn_by_asking(
    options: Parameters,
    boxes: Boxes,
    reading: Reading,
    parts: Split,
    background: Floats | None,
    n_draws: int,
    black_box: CountingBlackBox,
    seed: int,
) -> tuple[FitRecord, Workings]:
    """Learn rules from draws that the black box labels, and judge them on rows that made no draw.

    Parameters
    ----------
    options : Parameters
    boxes : Boxes
    reading : Reading
    parts : Split
    background : array of shape (n_rows, n_features) or None
        Rows that draws are made from, encoded by ``reading.schema.exact``. None takes the rows that are not held out,
        or else the judging rows.
    n_draws : int
        0 takes the same rows as draws.
    black_box : CountingBlackBox
    seed : int
    """
    # Read and label the rows that judge.
    is_held = background is None and len(parts.held) > 0
    judging = parts.held if is_held else parts.learned
    truth = read_truth(options, reading.truth, judging)
    clusters = None if reading.clusters is None else reading.clusters[judging]
    groups = reading.groups_of(judging)
    rows = label_rows(reading.values[judging], black_box, groups=groups, clusters=clusters, merge=False)

    # Without other rows, draws are made from the judging rows, and serve only where no parent judges.
    around = reading.values[parts.learned] if is_held else background
    if around is not None and not n_draws:
        around = _take_affordable(around, black_box, seed)
    by_folds = around is None
    level = options.floor.level
    if options.floor.on == "bound":
        too_few = why_too_few(rows.n_units, rows.unit, options.min_fidelity, level, of_widest=by_folds)
        if too_few is not None:
            raise NothingFoundError(too_few)
    # Draw and ask, or take rows as draws.
    within, taught = find_tolerance(options), None
    if n_draws:
        parents = rows.exact if around is None else around
        draws = draw_and_ask(parents, black_box, n_draws, seed, within)
    else:
        taught = None if around is None else label_rows(around, black_box, known=rows)
        draws = take_as_draws(rows if taught is None else taught, seed, within)
    if truth is not None:
        warn_of_truth(rows, truth, draws.tolerance)

    # Propose and choose on the draws, judge and certify on the rows.
    learner = RuleLearner(
        draws,
        rows,
        by_folds=by_folds,
        level=level,
        on_share=options.floor.on == "share",
        min_support=options.floor.min_support,
        max_conditions=boxes.max_conditions,
        seed=seed,
        n_jobs=options.n_jobs,
    )
    limits = int(options.max_explainers or learner.default_number), float(options.min_fidelity)
    rules = learner.choose(*limits)
    if rules is None:
        raise NothingFoundError(learner.why_nothing(*limits))
    with tell_progress("bounding what other rules could cover"):
        proof, n_candidates = rules.prove()
    explainers, evaluation = deliver_rules(rules, learner, options.min_fidelity)
    is_certified = rules.is_certified and reading.can_certify
    certificate = Certificate((), None, rules.claim, options.floor.confidence, rules.rows)
    realism = None
    if n_draws:
        with tell_progress("comparing draws with rows"):
            realism = measure_realism(draws.values, rows.values, draws.schema, seed)
    record = FitRecord(
        *limits,
        explainers,
        evaluation,
        black_box.n_queries,
        proof=proof,
        n_candidates=n_candidates,
        certificate=certificate if is_certified else None,
        judged=None if is_certified else certificate.as_judged(),
        realism=realism,
        by_folds=by_folds,
        output=options.output,
    )
    held = rows if is_held else Rows.empty(reading.schema)
    return record, Workings(learner, rows, held, seed, taught=taught)


def _take_affordable(rows: Floats, black_box: CountingBlackBox, seed: int) -> Floats | None:
    """Return the rows that ``max_queries`` leaves to ask about; None if they are too few to learn from."""
    left = black_box.queries_left
    if left is None or left >= len(rows):
        return rows
    if left < FEWEST_DRAWS:
        warn_user(f"max_queries={black_box.max_queries:,} pays for none of the background: rules learn from X.")
        return None
    warn_user(f"max_queries={black_box.max_queries:,} pays for {left:,} of {len(rows):,} rows of the background.")
    return rows[np.random.default_rng(seed).permutation(len(rows))[:left]]
