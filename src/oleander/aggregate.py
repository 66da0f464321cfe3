"""AggregateExplainer: a few local explainers of a black box, chosen by an integer program, with proof."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, ClassVar, Literal, Self

import numpy as np

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.black_box.asking import BlackBox, check_numbers
from oleander.black_box.counting import CountingBlackBox
from oleander.black_box.keeping import resume
from oleander.black_box.labelling import label_rows, split_affordable
from oleander.black_box.output import Output
from oleander.candidates.balls import Balls
from oleander.candidates.base import Generator
from oleander.candidates.named import find_generators
from oleander.candidates.radii import Radius
from oleander.data.checks import make_seed, one_per_row
from oleander.data.frames import take_rows, to_table
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.draws.options import Draws
from oleander.explainers import FilteredTree, LocalExplainer
from oleander.export.exporting import Exporting
from oleander.export.saved_file import FileError, read_file, write_file
from oleander.fitting.by_asking import count_affordable_draws, find_holdout, learn_by_asking
from oleander.fitting.from_pool import choose_from_pool
from oleander.fitting.options import DEFAULT_CONFIDENCE, DEFAULT_TIME_LIMIT, Options, refuse_beside_letter
from oleander.judging.floor import Floor
from oleander.results.abstentions import fill_abstentions
from oleander.results.evaluation import Evaluation, Uncovered
from oleander.results.fit_record import FitRecord
from oleander.results.showing import ShownExplainer
from oleander.results.tradeoff import TradeOff, default_grid, trace_tradeoff
from oleander.running.parameters import NestedEstimator
from oleander.running.progress import showing_progress
from oleander.running.wording import one_line
from oleander.storage.checkpoint import Checkpoint
from oleander.streaming import Sampled, SourceCount, as_source, encode_background, read_rows


class AggregateExplainer(ShownExplainer, Exporting, NestedEstimator):
    """Explain a black box with at most K local explainers, faithful where they speak and silent elsewhere.

    Candidates are small models, each valid in one region. An integer program chooses at most ``max_explainers`` of them
    that cover the most rows, with ``min_fidelity`` as a floor, and proves how close to the best possible choice it is.

    Parameters
    ----------
    black_box : object with ``predict``, or callable
        Rows in, labels or numbers out. It is asked, never fitted or copied.
    max_explainers : int
        The largest number of explainers (K in the paper).
    min_fidelity : float
        The floor (φ in the paper).
    max_rules : int or None
        The most rules to read in all: a box is one rule, a tree has one rule per leaf that speaks. None for no limit.
    max_conditions : int or None
        The most conditions of a rule, where explainers are learned by asking; a range of one column is one condition.
    candidates : str, Generator or several
        "auto" learns boxes by asking: draws are labelled by the black box, boxes are learned and chosen on the draws,
        and judged on the rows. Otherwise a program chooses among the candidates of generators: "balls" (the paper's),
        "trees", "nodes", "boxes", "anchors", or generators with options of their own, such as ``Balls(radius=2.0)``.
    draws : Draws
        The number of draws and how they are made. ``Draws(0)`` asks about the rows only: a program then chooses among
        small trees and nodes of trees that are learned from the rows.
    floor : Floor
        The measure that is compared with ``min_fidelity``, and whether it holds for each explainer or for all.
    formulation : {"strict", "selective"}
        The paper's definition of fidelity, or its integer program to the letter.
    tolerance : float, str or None
        Explains numbers: an answer agrees if it is within the tolerance of the black box's, in its units. "10%" is a
        share of its answer, and "auto" follows the answers; see docs/how-to/regression.md. None explains labels.
    output : Output
        What is explained of the model: its answer, the probability of a class, or whether a number is over a threshold.
    balance : {"class"} or None
        Give every class of the black box the same weight when coverage is maximised, instead of every row.
    holdout : float or None
        The share of rows that is kept for the certificate alone. With a background every row of X certifies, and no
        hold-out is needed. None keeps all but 2,000 rows (or groups) of 5,000 and more, where explainers are learned by
        asking and there is no background, and none elsewhere: then nothing is certified. 0 always keeps none.
    confidence : float
        The probability with which all statements of the certificate hold together.
    schema : FeatureSchema or None
        None infers it from the rows.
    max_queries : int or None
        The most rows ever sent to the black box. If the rows alone are more, as many are used as it allows; if training
        would take more, the answer is the best of what could be trained, with an honest gap.
    checkpoint : path or None
        A folder that keeps the black box's answers and each trained explainer as it is done. A fit of the same data and
        options resumes from there and asks none of the rows again. It holds no row, only hashes.
    solver : {"auto", "highs", "quick", "greedy", "exhaustive"}
    time_limit : float or None
        Seconds for solving.
    random_state : int or None
    n_jobs : int or None
        As in joblib.
    verbose : int or None
        None shows progress bars in a terminal and in a notebook once work takes over two seconds, 0 shows none, and 1
        prints a line now and then where there is neither.

    Attributes
    ----------
    explainers_ : list of ChosenExplainer
        In the order in which they answer.
    coverage_ : float
        The share of rows that the explainers cover, of the rows that they were chosen on.
    fidelity_ : float
        The lowest fidelity of an explainer on the same rows.
    evaluation_ : Evaluation
        These figures and more, class by class.
    proof_ : Proof
        Objective, bound, gap and status of the choice.
    certificate_ : Certificate or None
        What held-out rows allow to be claimed.
    verdict_ : DataFrame
        What one plain tree and one tree that abstains would do, judged on rows that they were not grown on.
    result_ : SelectionResult
        The solver's answer, point by point: equal rows are one point. It is not saved.
    variables_ : PaperVariables
        The paper's w, y and z for each row of X, where balls were chosen. They are not saved.
    pool_ : CandidatePool
        All candidates. It is not saved.
    exact_ : Evaluation or None
        Counted on every row of a source, without any error of sampling. The other figures are those of the sample.
    accuracy_ : Accuracy or None
        How far the sample's shares are from the exact ones, and what was promised.
    schema_ : FeatureSchema
    n_queries_ : int
        Rows sent to the black box, by this fit and by every later method of this object.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> atlas = AggregateExplainer(lambda X: X[:, 0] > 0.5, max_explainers=3, random_state=0).fit(X)
    >>> atlas.coverage_ > 0.9
    True
    """

    PARTS: ClassVar = ("candidates", "draws", "floor", "output")

    def __init__(
        self,
        black_box: Any,
        *,
        max_explainers: int = 10,
        min_fidelity: float = 0.9,
        max_rules: int | None = 20,
        max_conditions: int | None = None,
        candidates: str | Generator | Iterable[str | Generator] = "auto",
        draws: Draws = Draws(),  # noqa: B008 (frozen)
        floor: Floor = Floor(),  # noqa: B008 (frozen)
        formulation: Literal["strict", "selective"] = "strict",
        tolerance: float | str | None = None,
        output: Output = Output(),  # noqa: B008 (frozen)
        balance: Literal["class"] | None = None,
        holdout: float | None = None,
        confidence: float = DEFAULT_CONFIDENCE,
        schema: FeatureSchema | None = None,
        max_queries: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        solver: str = "auto",
        time_limit: float | None = DEFAULT_TIME_LIMIT,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ) -> None:
        self.black_box = black_box
        self.max_explainers = max_explainers
        self.min_fidelity = min_fidelity
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.candidates = candidates
        self.draws = draws
        self.floor = floor
        self.formulation = formulation
        self.tolerance = tolerance
        self.output = output
        self.balance = balance
        self.holdout = holdout
        self.confidence = confidence
        self.schema = schema
        self.max_queries = max_queries
        self.checkpoint = checkpoint
        self.solver = solver
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def paper(
        cls,
        black_box: Any,
        *,
        radius: Radius,
        n_draws: int = 10_000,
        local: LocalExplainer | None = None,
        max_flips: int | None = None,
        norm: float = np.inf,
        scale: Literal["schema", "std", "iqr", "range", "none"] = "none",
        centers: Literal["rounded", "rows"] = "rows",
        max_candidates: int | None = None,
        formulation: Literal["strict", "selective"] | None = None,
        letter: bool = False,
        max_explainers: int = 10,
        min_fidelity: float = 0.9,
        tolerance: float | str | None = None,
        output: Output = Output(),  # noqa: B008 (frozen)
        holdout: float | None = None,
        schema: FeatureSchema | None = None,
        max_queries: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        solver: str = "auto",
        time_limit: float | None = DEFAULT_TIME_LIMIT,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ) -> Self:
        """Return the system of the paper: balls around rows, a tree in each, and the integer program.

        Every row is a center, whole trees grow on the filtered features, the share of the rows in a ball is the floor
        of each explainer, and there is no least support, no limit on rules and no hold-out. Three things differ from
        the print unless ``letter`` is set: the filter stops at information that is not significant, draws stay within
        the bounds of the columns, and the program is that of the definition of fidelity.

        Parameters
        ----------
        black_box : object with ``predict``, or callable
        radius : float, sequence of float, PerRow, Holding or "auto"
            r in the paper, in raw units. A sequence is a ladder for every center; ``PerRow(values)`` is the paper's
            r_i, one for each row of X; ``Holding(share)`` holds a share of the rows around a typical row; "auto" is a
            ladder taken from the data.
        n_draws : int
            N in the paper: draws in each ball.
        local : LocalExplainer or None
            What is trained in each ball: ``FilteredTree``, ``UnfilteredTree``, ``LimeLinear``, for numbers
            ``SparseLine``, or another. None for a whole tree behind the information filter.
        max_flips, norm, scale
            The metric d of the balls; see ``oleander.Balls``. By default ℓ∞ along numbers in raw units, also with a
            schema, and as many differing levels as the whole part of the radius.
        centers, max_candidates
            The centers of the balls; see ``oleander.Balls``.
        formulation : {"strict", "selective"} or None
            The paper's definition of fidelity (its problem 3), or its printed program (Proposition 3). None is
            "strict", and "selective" with ``letter``.
        letter : bool
            The letter of the paper: the filter stops where no information is positive (``alpha=None``), draws are not
            cut to the bounds of the columns, and the printed program chooses.
        max_explainers, min_fidelity
            K and φ in the paper.
        tolerance, output, holdout, schema, max_queries, checkpoint, solver, time_limit, random_state, n_jobs, verbose
            As in ``AggregateExplainer``.

        Notes
        -----
        These differ from the paper with ``letter`` too:

        - The filter's estimate is mended in two places where the print has slips: the second factor below is p(y | S),
          and the conditioning is on S, not on U. Information under the rounding error counts as none.
        - Bins are of equal width over the range of the draws: three for a number, one for each level, and one for
          missing values. The paper has numbers and bits only; here levels, whole numbers and missing values are drawn
          as such, and a value that is missing on one side only is a flip.
        - The most flips are the whole part of the radius, or the number of columns with levels if that is smaller.
        - Trees split between readable quantiles of the draws, not between any two of them.
        - Equal rows are one point with a weight; of equally wide choices the fewest explainers are returned.
        - The program is solved by bounds and HiGHS, not by a commercial solver, and after ``time_limit`` with its gap.
        - The paper does not say which explainer answers where several cover a row; here ``explainers_`` is the order.

        Examples
        --------
        >>> AggregateExplainer.paper(print, radius=7.0, letter=True).formulation
        'selective'
        """
        if letter:
            refuse_beside_letter(local=local, formulation=formulation, centers=centers)
        tree = FilteredTree(max_leaves=None, alpha=None) if letter else FilteredTree(max_leaves=None)
        balls = Balls(
            radius,
            scale=scale,
            norm=norm,
            max_flips=max_flips,
            max_candidates=max_candidates,
            n_draws=n_draws,
            local=tree if local is None else local,
            centers=centers,
            uncut=letter,
        )
        return cls(
            black_box,
            max_explainers=max_explainers,
            min_fidelity=min_fidelity,
            max_rules=None,
            candidates=balls,
            floor=Floor(on="share", over="each", min_support=1),
            formulation=formulation or ("selective" if letter else "strict"),
            tolerance=tolerance,
            output=output,
            holdout=holdout,
            schema=schema,
            max_queries=max_queries,
            checkpoint=checkpoint,
            solver=solver,
            time_limit=time_limit,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = False
        return tags

    @showing_progress
    def fit(self, X: Any, y: Any = None, *, groups: Any = None, background: Any = None) -> Self:
        """Choose explainers for the black box on these rows.

        Use rows that are new to the black box, which has memorised its training rows. Those are the best background.

        Parameters
        ----------
        X : pandas, polars or other frame, array of shape (n_rows, n_features), or source of many rows
            Columns of a frame are taken by name, here and in every other method; those that the black box was not
            fitted on (``feature_names_in_``) are left out. A sample is drawn of a Parquet file or a folder of them, a
            Dataset, a Dask DataFrame or a Source, and every row is then counted block by block. See ``exact_``,
            ``oleander.open_source`` and docs/scale.md.
        y : array of shape (n_rows,), optional
            True labels. Nothing is learned from them; they show whether the black box has seen these rows before.
            In a source the name of a column, which then is no feature.
        groups : array of shape (n_rows,), optional
            The group of each row (one patient, one trial): no group is both learned from and judged on. In a source the
            name of a column too.
        background : DataFrame, array or source, optional
            Rows that show where data lie, such as the black box's training rows. Draws are made from them, and every
            row of X judges. Without a background, draws are made from the rows that ``holdout`` leaves, or else from
            X itself: fold by fold, or of 5,000 rows (or groups) and more from 2,000, while the others judge.
        """
        options = self._options_of_fit()
        options.check()
        generators = find_generators(options.candidates)
        source = as_source(X)
        options.check_use(has_background=background is not None, is_source=source is not None, has_truth=y is not None)
        store = None if self.checkpoint is None else Checkpoint(self.checkpoint)
        seed = make_seed(self.random_state)
        seed = seed if store is None else int(store.remember("seed", str(seed)))

        of_fit = {"model": self.black_box, "schema": self.schema, "holdout": self.holdout, "n_jobs": self.n_jobs}
        reading, table = read_rows(X, source, y, groups, background, seed=seed, **of_fit)
        n_rows = len(reading.values) if source is None else source.n_rows
        for balls in (generator for generator in generators if isinstance(generator, Balls)):
            balls.check()
            balls.check_rows(n_rows)
        around = None if table is None else encode_background(table, reading.schema)
        model = self.output.of_model(self.black_box)
        box = BlackBox(model, reading.schema, is_number=self.tolerance is not None)
        if store is not None:
            box, _ = resume(store, box, [reading.values, reading.groups, around], options.remembered, seed)
        black_box = CountingBlackBox(box, self.max_queries)
        count = None if source is None else SourceCount.plan(source, reading, black_box)
        holdout = find_holdout(options, reading, has_background=around is not None)
        parts = split_affordable(reading, holdout, seed, black_box)
        n_draws = count_affordable_draws(options, parts, black_box) if options.asks else 0
        if n_draws:
            record, workings = learn_by_asking(options, reading, parts, around, n_draws, black_box, seed)
        else:
            record, workings = choose_from_pool(options, reading, parts, generators, black_box, store, seed)
        if count is not None:
            learned = workings.rows
            if n_draws and len(parts.held):
                # The rows that draws were made from are no evidence, so their answers are counted apart.
                learned = label_rows(reading.values[parts.learned], black_box, known=workings.held)
            record = count.complete(
                record,
                Sampled.take(reading, parts.learned, learned),
                Sampled.take(reading, parts.held, workings.held),
                confidence=self.confidence,
                n_candidates=workings.n_candidates,
                n_jobs=self.n_jobs,
                checkpoint=store,
            )
        # Nothing is set before this line: an error or an interrupt leaves the object as it was.
        self._set_record(record, black_box, workings)
        return self

    @property
    def asks(self) -> bool:
        """Whether explainers are learned by asking the black box about draws."""
        return self._options_of_fit().asks

    def _options_of_fit(self) -> Options:
        return Options(**self.get_params(deep=False))

    def predict(self, X: Any, *, abstain: Any = np.ma.masked) -> Any:
        """Return the explainers' labels, masked where they abstain; with ``abstain``, a plain array with that value.

        Rows with a level that was never seen, or with a missing value where none was, are left unanswered.
        """
        return fill_abstentions(self.record_.explainers.answer(*self.schema_.encode_readable(X)), abstain)

    def covers(self, X: Any) -> Bools:
        """Return a mask of the rows that each chosen explainer covers, of shape (n_explainers, n_rows)."""
        return self.record_.explainers.covers(*self.schema_.encode_readable(X))

    def responsible(self, X: Any) -> Ints:
        """Return the number of the explainer that answers each row; -1 where they abstain."""
        return self.record_.explainers.responsible(*self.schema_.encode_readable(X))

    @showing_progress
    def evaluate(self, X: Any, labels: Any = None) -> Evaluation:
        """Compare the explainers with the black box on other rows.

        Parameters
        ----------
        X : DataFrame or array
        labels : array, optional
            The black box's labels, if they are known. Otherwise it is asked, and the rows are counted.
        """
        X = to_table(X)
        rows, readable = self.schema_.encode_readable(X)
        known = self._label_table(X, rows, readable, labels)
        return self.record_.explainers.evaluate(rows, known, readable=readable)

    @showing_progress
    def uncovered(self, X: Any, labels: Any = None) -> Uncovered:
        """Describe the rows that are not answered: their number, their classes, and a small tree around them."""
        X = to_table(X)
        rows, readable = self.schema_.encode_readable(X)
        return self.record_.explainers.uncovered(rows, self._label_table(X, rows, readable, labels), readable)

    def _label_table(self, X: Any, rows: Floats, readable: Bools | None, labels: Any) -> Labels:
        """Return the black box's labels for the rows of a table, of which some may not be readable."""
        if readable is None or labels is not None:
            return self.label(rows, labels)
        known = self.label(rows[readable])
        assert self._counter is not None
        others = self._counter.ask_table(take_rows(self.schema_.align(X), np.flatnonzero(~readable)))
        # The longer of two texts decides the dtype of both.
        found = np.empty(len(rows), dtype=np.concatenate([known, others]).dtype)
        found[readable], found[~readable] = known, others
        return found

    def label(self, rows: Floats, labels: Any = None) -> Labels:
        """Return the black box's labels for encoded rows: those given, those known, and the others asked for."""
        if labels is not None:
            given = one_per_row(labels, len(rows), "labels")
            return check_numbers(given, len(rows)) if self._record.is_number else given
        if self._counter is None:
            if self.black_box is None:
                raise ValueError("the black box is not here to be asked: pass its labels.")
            self._counter = self._record.count_queries(self.black_box, self.max_queries)
        known = Rows.empty(self.schema_) if self._workings is None else self._workings.known
        found = label_rows(rows, self._counter, known=known)
        return found.labels_of_rows

    @showing_progress
    def tradeoff(
        self, *, max_explainers: Sequence[int] | None = None, min_fidelity: Sequence[float] | None = None
    ) -> TradeOff:
        """Return the best choice for each number of explainers and floor, with its explainers.

        Candidates are trained as the answers need them. The trade-off is kept, and saved with the explainer; a loaded
        explainer has the one that was saved with it.

        Parameters
        ----------
        max_explainers : sequence of int or None
            None takes numbers up to the explainer's own.
        min_fidelity : sequence of float or None
            None takes floors around the explainer's own.
        """
        record = self.record_
        if max_explainers is None and min_fidelity is None and record.tradeoff is not None:
            return record.tradeoff
        workings = self._need_workings("no trade-off")
        own = record.cell
        numbers, floors = default_grid(own.max_explainers, own.min_fidelity)
        # The explainer's own cell is always there: it is the certified one.
        numbers = numbers if max_explainers is None else sorted({*max_explainers, own.max_explainers})
        floors = floors if min_fidelity is None else sorted({*min_fidelity, own.min_fidelity})
        known = {} if workings.result is None else {(own.max_explainers, own.min_fidelity): workings.result}
        found = trace_tradeoff(workings.program, numbers, floors, known).with_cell(own)
        self._record = replace(self._record, tradeoff=found)
        return found

    @showing_progress
    def report(self, path: str | os.PathLike[str] | None = None, X: Any = None, **options: Any) -> Any:
        """Write the explainers as one page of HTML that opens anywhere; see ``oleander.report.write_report``.

        Without a path the page is returned, and a notebook shows it in the cell.
        """
        # The report is a layer above this one, so it is looked up by name when it is asked for.
        report = import_module("oleander.report")
        return report.make_page(self, X, **options) if path is None else report.write_report(self, path, X, **options)

    def save(self, path: str | os.PathLike[str], *, include_rows: bool = False) -> None:
        """Write the explainers to a file of JSON: data, never code.

        No row of X is written unless ``include_rows`` is set: a ball around a row of X holds that row. Balls around
        rounded rows, the default, do not.
        """
        write_file(path, self.to_dict(include_rows=include_rows))

    @classmethod
    def load(cls, path: str | os.PathLike[str], black_box: Any = None) -> Self:
        """Read a saved explainer. It predicts and explains; with the black box given, it evaluates too."""
        content = read_file(path)
        try:
            record = FitRecord.from_dict(content)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise FileError(f"{path} is not a saved explainer that can be read: {one_line(error)}.") from error
        atlas = cls(black_box, **record.parameters)
        atlas._set_record(record)
        return atlas
