"""Learn by asking: draws that the black box labels teach, rows that made no draw judge."""

from oleander.arrays import Floats
from oleander.black_box.asking import N_ASKED_TWICE
from oleander.black_box.counting import CountingBlackBox
from oleander.black_box.labelling import label_rows, warn_of_truth
from oleander.data.reading import Reading, Split, leave_out_known
from oleander.data.rows import Rows
from oleander.data.splitting import count_units
from oleander.draws.labelled import draw_and_ask
from oleander.draws.realism import measure_realism
from oleander.fitting.nothing_found import NothingFoundError
from oleander.fitting.options import Options
from oleander.judging.certificate import Certificate
from oleander.judging.floor import Floor, why_too_few
from oleander.learning.union import UnionLearner
from oleander.results.delivering import deliver_union
from oleander.results.fit_record import FitRecord, Workings
from oleander.results.spreads import with_spreads
from oleander.running.progress import tell_progress
from oleander.running.warning import warn_user

# With fewer draws than this, explainers learn from the rows instead.
FEWEST_DRAWS = 500
# The most values of all draws together, 160 MB.
MOST_VALUES = 20_000_000
# Without a background, of at least MANY rows or groups, ENOUGH_FOR_DRAWS make the draws and the others judge.
MANY, ENOUGH_FOR_DRAWS = 5_000, 2_000


def find_holdout(options: Options, reading: Reading, *, has_background: bool) -> float | None:
    """Return the share of rows that judges: the one given, or of many rows in memory all but a few that make draws.

    Folds judge where rows are few. Of many rows a few show where data lie, and the others can certify.
    """
    n_units = count_units(len(reading.values), reading.groups)
    by_folds = options.asks and options.holdout is None and not has_background
    if not by_folds or n_units < MANY or reading.positions is not None or options.floor.level != Floor().level:
        return options.holdout
    return 1 - ENOUGH_FOR_DRAWS / n_units


def count_affordable_draws(options: Options, parts: Split, black_box: CountingBlackBox) -> int:
    """Return the number of draws that memory and ``max_queries`` leave after the rows; draws give way first."""
    wanted, left, n_columns = options.draws.n, black_box.queries_left, len(black_box.schema)
    fitting = max(FEWEST_DRAWS, MOST_VALUES // max(n_columns, 1))
    if fitting < wanted:
        warn_user(f"{wanted:,} draws of {n_columns:,} columns would fill the memory: {fitting:,} are made.")
        wanted = fitting
    if left is None:
        return wanted
    n_draws = min(wanted, left - len(parts.learned) - len(parts.held) - N_ASKED_TWICE)
    if n_draws < FEWEST_DRAWS and options.tolerance is not None:
        raise ValueError(
            f"max_queries={options.max_queries:,} leaves {max(n_draws, 0):,} draws, too few to learn numbers from: "
            "raise it."
        )
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
    options: Options,
    reading: Reading,
    parts: Split,
    background: Floats | None,
    n_draws: int,
    black_box: CountingBlackBox,
    seed: int,
) -> tuple[FitRecord, Workings]:
    """Learn a union from draws that the black box labels, and judge it on rows that made no draw.

    Parameters
    ----------
    options : Options
    reading : Reading
    parts : Split
    background : array of shape (n_rows, n_features) or None
        Encoded rows that draws are made from. None takes the rows that are not held out, or else the judging rows.
    n_draws : int
    black_box : CountingBlackBox
    seed : int
    """
    # Read and label the rows that judge.
    is_held = background is None and len(parts.held) > 0
    by_folds = background is None and not is_held
    judging = parts.held if is_held else parts.learned
    truth = None if reading.truth is None else options.read_truth(reading.truth[judging])
    groups, has_copies = reading.groups_of(judging), reading.has_copies
    asked = rows = label_rows(reading.values[judging], black_box, groups=groups, has_copies=has_copies)

    # Draw and ask, unless the rows that judge are too few for any answer to pass.
    if is_held:
        around = reading.values[parts.learned]
    elif background is None:
        # Without other rows, draws are made from the judging rows, and serve only where no parent judges.
        around = rows.values[rows.point_of_row]
    else:
        around, rows = background, leave_out_known(rows, background)
    level = options.floor.level if by_folds else 1 - options.confidence
    if options.floor.on == "bound":
        too_few = why_too_few(rows.n_units, rows.unit, options.min_fidelity, level, of_widest=by_folds)
        if too_few is not None:
            raise NothingFoundError(too_few)
    draws = draw_and_ask(around, black_box, options.draws, n_draws, seed, options.agrees_within)
    if truth is not None:
        warn_of_truth(asked, truth, draws.tolerance)
    if by_folds:
        draws = draws.with_parents(rows.point_of_row)

    # Propose and choose on the draws, judge and certify on the rows.
    learner = UnionLearner(
        draws,
        rows,
        by_folds=by_folds,
        level=level,
        on_share=options.floor.on == "share",
        min_support=options.floor.min_support,
        asks_each=options.floor.over in ("each", "both"),
        is_balanced=options.balance == "class",
        max_rules=options.max_rules,
        max_conditions=options.max_conditions,
        seed=seed,
        n_jobs=options.n_jobs,
    )
    union = learner.choose(*options.limits)
    if union is None:
        raise NothingFoundError(learner.why_nothing(*options.limits))
    explainers = deliver_union(union, rows, learner.level)
    if not by_folds:
        explainers = with_spreads(explainers, rows, options.min_fidelity, learner.level)
    certificate = Certificate((), None, union.claim, options.confidence, union.rows)
    with tell_progress("comparing draws with rows"):
        realism = measure_realism(draws.values, rows.values, draws.schema, seed)
    record = FitRecord(
        *options.limits,
        explainers,
        explainers.evaluate(rows.values, rows.labels, rows.weights),
        black_box.n_queries,
        certificate=certificate if union.is_certified else None,
        judged=None if union.is_certified else union.claim,
        realism=realism,
        by_folds=by_folds,
        output=options.output,
    )
    held = rows if is_held else Rows.empty(reading.schema)
    return record, Workings(learner, rows, held, seed)
