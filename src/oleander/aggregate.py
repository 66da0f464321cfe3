"""AggregateExplainer: a few local explainers of a black box, chosen by an integer program, with proof."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.black_box.asking import N_ASKED_TWICE, BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.black_box.keeping import resume
from oleander.black_box.labelling import label_rows
from oleander.candidates.balls import Balls
from oleander.candidates.base import Generator
from oleander.candidates.choosing import PoolProgram
from oleander.candidates.named import find_generators
from oleander.candidates.pool import CandidatePool
from oleander.data.checks import as_one_row, check_choice, check_count, check_share, make_seed, one_per_row
from oleander.data.reading import Reading, Split, read, split
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.explainers import FilteredTree, LocalExplainer
from oleander.export.saved_file import FileError, read_file, write_file
from oleander.judging.balance import balance_classes
from oleander.judging.certificate import Certificate
from oleander.judging.floor import Floor
from oleander.judging.verdict import judge_trees
from oleander.results.accuracy import Accuracy
from oleander.results.evaluation import Evaluation, Uncovered
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.results.explanation import Explanation
from oleander.results.fit_record import FitRecord, Workings
from oleander.results.summary import describe_fit
from oleander.results.tradeoff import Cell, TradeOff, default_grid, trace_tradeoff
from oleander.running.warning import warn_user
from oleander.running.wording import one_line
from oleander.selection import SelectionResult
from oleander.selection.result import Proof
from oleander.storage.checkpoint import Checkpoint
from oleander.streaming import Sampled, as_source, count_source, read_sample

# The leaves of the trees in ``verdict_`` where ``max_rules`` sets no limit.
DEFAULT_LEAVES = 40
# Options that may differ when a fit resumes from a checkpoint.
FREE_TO_CHANGE = ("black_box", "checkpoint", "n_jobs", "verbose", "time_limit", "schema")
# A black box with at least this accuracy on the rows to be explained has probably been trained on them.
SUSPICIOUS_ACCURACY = 0.99
SAVED_OPTIONS: dict[str, Any] = {"max_explainers": int, "min_fidelity": float, "confidence": float}


class NothingFoundError(ValueError):
    """No explainer reaches the floor on these rows; the message says how near the best one comes and what to do."""


class AggregateExplainer(BaseEstimator):  # type: ignore[misc]
    """Explain a black box with at most K local explainers, faithful where they speak and silent elsewhere.

    Candidates are small models, each valid in one region. An integer program chooses at most ``max_explainers`` of them
    that cover the most rows, with ``min_fidelity`` as a floor, and proves how close to the best possible choice it is.

    Parameters
    ----------
    black_box : object with ``predict``, or callable
        Rows in, labels out. It is asked, never fitted or copied.
    max_explainers : int
        The largest number of explainers (K in the paper).
    min_fidelity : float
        The floor (φ in the paper).
    max_rules : int or None
        The most rules to read in all: a box is one rule, a tree has one rule per leaf that speaks. None for no limit.
    candidates : str, Generator or several
        The generators of candidates: "auto" for small trees and nodes of trees, which ask the black box nothing beyond
        the rows; "balls" (the paper's), "trees", "nodes", "boxes", "anchors"; or generators with options of their own,
        such as ``Balls(radius=2.0)``.
    floor : Floor
        What is compared with ``min_fidelity``, and for whom it must hold.
    formulation : {"strict", "selective"}
        The paper's definition of fidelity, or its integer program to the letter.
    balance : {"class"} or None
        Give every class of the black box the same weight when coverage is maximised, instead of every row.
    holdout : float or None
        The share of rows that is kept for the certificate alone; None for no certificate.
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
    verbose : int

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
        The solver's answer, row by row. It is not saved.
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

    def __init__(
        self,
        black_box: Any,
        *,
        max_explainers: int = 10,
        min_fidelity: float = 0.9,
        max_rules: int | None = 20,
        candidates: str | Generator | Iterable[str | Generator] = "auto",
        floor: Floor = Floor(),  # noqa: B008 (frozen)
        formulation: Literal["strict", "selective"] = "strict",
        balance: Literal["class"] | None = None,
        holdout: float | None = 0.25,
        confidence: float = 0.95,
        schema: FeatureSchema | None = None,
        max_queries: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        solver: str = "auto",
        time_limit: float | None = 60.0,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.black_box = black_box
        self.max_explainers = max_explainers
        self.min_fidelity = min_fidelity
        self.max_rules = max_rules
        self.candidates = candidates
        self.floor = floor
        self.formulation = formulation
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
        radius: float | Sequence[float],
        n_draws: int = 10_000,
        local: LocalExplainer | None = None,
        max_flips: int | None = None,
        norm: float = np.inf,
        scale: Literal["schema", "std", "iqr", "range", "none"] = "none",
        centers: Literal["rounded", "rows"] = "rows",
        max_candidates: int | None = None,
        formulation: Literal["strict", "selective"] = "strict",
        max_explainers: int = 10,
        min_fidelity: float = 0.9,
        holdout: float | None = None,
        schema: FeatureSchema | None = None,
        max_queries: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        solver: str = "auto",
        time_limit: float | None = 60.0,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> Self:
        """Return an explainer with the paper's settings.

        Balls of one radius in raw units, every row a center, whole trees on the filtered features, no least support,
        the raw share as the floor of each explainer, no limit on rules and no rows held out.

        Parameters
        ----------
        black_box : object with ``predict``, or callable
        radius, n_draws, max_flips, norm, scale, centers, max_candidates
            Options of the balls; see ``oleander.Balls``.
        local : LocalExplainer or None
            What is trained in each ball; None for a whole tree behind the information filter.
        formulation, max_explainers, min_fidelity, holdout, schema, max_queries, checkpoint, solver, time_limit, \
random_state, n_jobs, verbose
            As in ``AggregateExplainer``.

        Examples
        --------
        >>> AggregateExplainer.paper(print, radius=7.0, max_explainers=5).floor.on
        'share'
        """
        balls = Balls(
            radius,
            scale=scale,
            norm=norm,
            max_flips=max_flips,
            max_candidates=max_candidates,
            n_draws=n_draws,
            local=FilteredTree(max_leaves=None) if local is None else local,
            centers=centers,
        )
        return cls(
            black_box,
            max_explainers=max_explainers,
            min_fidelity=min_fidelity,
            max_rules=None,
            candidates=balls,
            floor=Floor(on="share", over="each", min_support=1),
            formulation=formulation,
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

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also those of ``floor`` and of one generator, as ``floor__on``."""
        params = dict(super().get_params(deep=False))
        if deep:
            for name in ("candidates", "floor"):
                part = params[name]
                if is_dataclass(part):
                    params |= {f"{name}__{field.name}": getattr(part, field.name) for field in fields(part)}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of ``floor`` and of one generator: ``candidates__radius=2.0``."""
        known = self.get_params()
        unknown = [name for name in params if name not in known]
        if unknown:
            raise ValueError(f"there is no parameter {unknown[0]!r}; there are {', '.join(sorted(known))}.")
        # A part that is given whole is set before its options.
        for name in sorted(params, key=lambda name: "__" in name):
            whole, _, option = name.partition("__")
            value = replace(getattr(self, whole), **{option: params[name]}) if option else params[name]
            setattr(self, whole, value)
        return self

    def __sklearn_clone__(self) -> Self:
        # The black box is fitted and must stay so: it is passed on, not cloned.
        return type(self)(**self.get_params(deep=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_record")

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Self:
        """Choose explainers for the black box on these rows.

        Use rows that are new to the black box: the answers that it memorised on its training rows are harder to mimic
        than its answers on new rows, and not what it will answer.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_features), path, pyarrow Dataset, Dask DataFrame or Source
            Of a Parquet file or a folder of them, or a Dask DataFrame, a sample is drawn and learned from; then every
            row is counted in one pass, block by block. See ``exact_``, ``oleander.open_source`` and docs/scale.md.
        y : array of shape (n_rows,), optional
            True labels. Nothing is learned from them; they show whether the black box has seen these rows before.
            In a source the name of a column, which then is no feature.
        groups : array of shape (n_rows,), optional
            The group of each row (one patient, one trial): no group is both learned from and held out. In a source the
            name of a column too.
        """
        self._check_options()
        source, store = as_source(X), None if self.checkpoint is None else Checkpoint(self.checkpoint)
        seed = make_seed(self.random_state)
        seed = seed if store is None else int(store.remember("seed", str(seed)))

        if source is None:
            reading, positions = read(X, y, groups, self.schema), None
        else:
            reading, positions = read_sample(
                source, y, groups, self.schema, holdout=self.holdout, seed=seed, n_jobs=self.n_jobs
            )
        black_box = self._open_black_box(reading, store, seed)
        n_others = 0 if source is None else source.n_rows - len(reading.values)
        is_counted = source is not None and black_box.can_ask(len(reading.values) + N_ASKED_TWICE + n_others)
        if is_counted:
            black_box.reserve(n_others)
        parts = self._split(reading, black_box, seed)
        rows = label_rows(reading.values[parts.learned], black_box, groups=reading.groups_of(parts.learned))
        if reading.truth is not None:
            _warn_of_training_rows(rows, reading.truth[parts.learned])
        # Queries for the held-out rows are not there for training.
        black_box.reserve(len(parts.held))

        pool = CandidatePool.propose(
            find_generators(self.candidates), rows, black_box, seed, n_jobs=self.n_jobs, checkpoint=store
        )
        program = self._state_program(pool)
        result = program.select(self.max_explainers, self.min_fidelity)
        if not len(result.chosen):
            raise NothingFoundError(result.message or "no explainer was found.")
        if result.message:
            warn_user(result.message)
        explainers = ExplainerSet.choose(program, result)

        evaluation = explainers.evaluate(rows.values, rows.labels, rows.weights)
        black_box.release(len(parts.held))
        certificate = held = None
        if len(parts.held):
            held = label_rows(reading.values[parts.held], black_box, known=rows)
            certificate = self._certify(explainers, held, reading.groups_of(parts.held), seed)
            explainers = explainers.with_claims(certificate)
        record = FitRecord(explainers, result.proof, evaluation, certificate, black_box.n_queries)

        if source is not None and is_counted:
            assert positions is not None
            black_box.release(n_others)
            record = count_source(
                record,
                source,
                black_box,
                learned=Sampled(positions[parts.learned], rows.labels[rows.point_of_row]),
                held=Sampled(
                    positions[parts.held], rows.labels[:0] if held is None else held.labels[held.point_of_row]
                ),
                confidence=self.confidence,
                n_candidates=None if reading.groups is not None else len(pool.candidates),
                n_jobs=self.n_jobs,
                checkpoint=store,
            )
        elif source is not None:
            warn_user(
                f"max_queries={self.max_queries:,} does not pay for all {source.n_rows:,} rows after the sample: "
                "only the sample's figures are known."
            )
        # Nothing is set before this line: an error or an interrupt leaves the object as it was.
        self._set_record(record, black_box, Workings(program, rows, held, result, seed))
        return self

    def _check_options(self) -> None:
        """Validate options that are not validated elsewhere."""
        check_count("max_explainers", self.max_explainers)
        check_share("min_fidelity", self.min_fidelity, with_one=True)
        check_count("max_rules", self.max_rules, or_none=True)
        check_share("confidence", self.confidence)
        if self.holdout is not None:
            check_share("holdout", self.holdout, with_zero=True)
        check_count("max_queries", self.max_queries, 2, or_none=True)
        if self.balance is not None:
            check_choice("balance", self.balance, ("class",))
        check_choice("formulation", self.formulation, ("strict", "selective"))
        if not isinstance(self.floor, Floor):
            raise TypeError(f"floor is a {type(self.floor).__name__}; give a Floor, such as Floor(on='share').")
        self.floor.check()
        if self.formulation == "selective" and (self.floor.on == "bound" or self.floor.over != "each"):
            raise ValueError(
                "formulation='selective' counts rows itself and knows no bound and no floor over the union: "
                "use floor=Floor(on='share', over='each')."
            )

    def _open_black_box(self, reading: Reading, store: Checkpoint | None, seed: int) -> CountingBlackBox:
        """Return the counter of this fit, in front of the black box or of a checkpoint's answers."""
        box = BlackBox(self.black_box, reading.schema)
        if store is not None:
            params = self.get_params(deep=False)
            options = {name: value for name, value in params.items() if name not in FREE_TO_CHANGE}
            box, _ = resume(store, box, [reading.values, reading.groups], options, seed)
        return CountingBlackBox(box, self.max_queries)

    def _split(self, reading: Reading, black_box: CountingBlackBox, seed: int) -> Split:
        """Return the rows to learn from and those to hold out, as many as may be asked about."""
        n_rows, left = len(reading.values), black_box.queries_left
        if left is not None:
            left -= min(N_ASKED_TWICE, n_rows)
            if left < 2:
                raise ValueError(
                    f"max_queries={self.max_queries} leaves nothing for the rows: {N_ASKED_TWICE} rows are asked about "
                    "twice."
                )
        parts = split(reading, self.holdout, seed, n_affordable=left)
        if parts.n_unused:
            warn_user(
                f"max_queries={self.max_queries:,} pays for {n_rows - parts.n_unused:,} of {n_rows:,} rows: "
                "the others are not used."
            )
        return parts

    def _state_program(self, pool: CandidatePool) -> PoolProgram:
        if len(pool.candidates) < self.max_explainers:
            warn_user(f"max_explainers={self.max_explainers}, but there are only {len(pool.candidates)} candidates.")
        rows = pool.rows
        return PoolProgram(
            pool,
            self.floor,
            max_rules=self.max_rules,
            formulation=self.formulation,
            # The relaxation of the selective program is too weak for lazy training to save anything.
            training="eager" if self.formulation == "selective" else "lazy",
            solver=self.solver,
            time_limit=self.time_limit,
            importance=balance_classes(rows.labels, rows.weights) if self.balance == "class" else None,
            verbose=self.verbose,
        )

    def _certify(self, explainers: ExplainerSet, held: Rows, groups: Labels | None, seed: int) -> Certificate:
        """Return what the held-out rows allow to be claimed."""
        again = held.point_of_row
        return explainers.certify(
            held.values[again], held.labels[again], self.confidence, groups, np.random.default_rng(seed)
        )

    def _set_record(
        self, record: FitRecord, black_box: CountingBlackBox | None = None, workings: Workings | None = None
    ) -> None:
        self._record, self._counter, self._workings = record, black_box, workings
        self.n_features_in_ = len(record.schema)
        columns = record.schema.columns
        if columns is not None and all(isinstance(column, str) for column in columns):
            self.feature_names_in_ = np.array(columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    @property
    def record_(self) -> FitRecord:
        """The one record of the fit, which all other attributes are read from."""
        if not hasattr(self, "_record"):
            raise NotFittedError("this AggregateExplainer is not fitted: call fit with the rows to be explained first.")
        return self._record

    @property
    def explainers_(self) -> list[ChosenExplainer]:
        """The chosen explainers, in the order in which they answer."""
        return list(self.record_.explainers.members)

    @property
    def coverage_(self) -> float:
        """The share of rows that the explainers cover, of the rows that they were chosen on."""
        return self.record_.evaluation.coverage

    @property
    def fidelity_(self) -> float:
        """The lowest fidelity of an explainer on the rows that they were chosen on."""
        return self.record_.evaluation.fidelity

    @property
    def evaluation_(self) -> Evaluation:
        """The evaluation on the rows that the explainers were chosen on."""
        return self.record_.evaluation

    @property
    def proof_(self) -> Proof:
        """Objective, bound, gap and status of the choice."""
        return self.record_.proof

    @property
    def certificate_(self) -> Certificate | None:
        """What held-out rows allow to be claimed."""
        return self.record_.certificate

    @property
    def verdict_(self) -> pd.DataFrame:
        """What one plain tree and one tree that abstains would do; made when it is first read."""
        if self.record_.verdict is None:
            workings = self._need_workings("no verdict")
            table = judge_trees(
                workings.rows, self.min_fidelity, max_leaves=self.max_rules or DEFAULT_LEAVES, seed=workings.seed
            )
            self._record = replace(self.record_, verdict=table)
        verdict: pd.DataFrame = self.record_.verdict
        return verdict

    @property
    def result_(self) -> SelectionResult:
        """The solver's answer, row by row."""
        return self._need_workings("no solver's result").result

    @property
    def pool_(self) -> CandidatePool:
        """All candidates."""
        return self._need_workings("no candidates").program.pool

    @property
    def exact_(self) -> Evaluation | None:
        """The evaluation on every row of a source."""
        return self.record_.exact

    @property
    def accuracy_(self) -> Accuracy | None:
        """How near the sample of a source came to the exact figures."""
        return self.record_.accuracy

    @property
    def schema_(self) -> FeatureSchema:
        """The schema of the rows."""
        return self.record_.schema

    @property
    def n_queries_(self) -> int:
        """Rows sent to the black box, by the fit and by every later method."""
        return self.record_.n_queries if self._counter is None else self._counter.n_queries

    @property
    def explainers(self) -> list[ChosenExplainer]:
        """The chosen explainers, by the name under which the rivals have theirs."""
        return self.explainers_

    @property
    def complexity(self) -> int:
        """The number of rules to read, by the name under which the rivals have theirs."""
        return self.record_.explainers.n_rules

    def predict(self, X: Any) -> np.ma.MaskedArray[Any, Any]:
        """Return the explainers' labels, masked where they abstain."""
        return self.record_.explainers.answer(self.schema_.encode(X))

    def covers(self, X: Any) -> Bools:
        """Return a mask of the rows that each chosen explainer covers, of shape (n_explainers, n_rows)."""
        return self.record_.explainers.covers(self.schema_.encode(X))

    def responsible(self, X: Any) -> Ints:
        """Return the number of the explainer that answers each row; -1 where they abstain."""
        return self.record_.explainers.responsible(self.schema_.encode(X))

    def explain(self, x: Any) -> Explanation:
        """Return what is said of one row: a one-row DataFrame, a Series, a mapping or a one-dimensional array."""
        rows = self.schema_.encode(as_one_row(x))
        if len(rows) != 1:
            raise ValueError(f"explain takes one row, and {len(rows)} were given; use predict or covers for many.")
        return self.record_.explainers.explain(rows[0])

    def evaluate(self, X: Any, labels: Any = None) -> Evaluation:
        """Compare the explainers with the black box on other rows.

        Parameters
        ----------
        X : DataFrame or array
        labels : array, optional
            The black box's labels, if they are known. Otherwise it is asked, and the rows are counted.
        """
        rows = self.schema_.encode(X)
        return self.record_.explainers.evaluate(rows, self.label(rows, labels))

    def uncovered(self, X: Any, labels: Any = None) -> Uncovered:
        """Describe the rows that no explainer covers: their number, their classes, and a small tree around them."""
        rows = self.schema_.encode(X)
        return self.record_.explainers.uncovered(rows, self.label(rows, labels))

    def label(self, rows: Floats, labels: Any = None) -> Labels:
        """Return the black box's labels for encoded rows: those given, those known, and the others asked for."""
        schema = self.schema_
        if labels is not None:
            return one_per_row(labels, len(rows), "labels")
        if self._counter is None:
            if self.black_box is None:
                raise ValueError("the black box is not here to be asked: pass its labels.")
            self._counter = CountingBlackBox(BlackBox(self.black_box, schema), self.max_queries)
            self._counter.n_queries = self.record_.n_queries
        known = Rows.empty(schema) if self._workings is None else self._workings.known
        found = label_rows(rows, self._counter, known=known)
        return found.labels[found.point_of_row]

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
        numbers, floors = default_grid(self.max_explainers, self.min_fidelity)
        # The explainer's own cell is always there: it is the certified one.
        numbers = numbers if max_explainers is None else sorted({*max_explainers, self.max_explainers})
        floors = floors if min_fidelity is None else sorted({*min_fidelity, self.min_fidelity})
        found = trace_tradeoff(workings.program, numbers, floors).with_cell(self.own_cell())
        self._record = replace(self.record_, tradeoff=found)
        return found

    def own_cell(self) -> Cell:
        """Return the cell of the trade-off that holds the fitted and certified explainers."""
        record = self.record_
        return Cell.fill(
            self.max_explainers,
            self.min_fidelity,
            record.explainers,
            record.evaluation,
            record.proof.gap,
            record.proof.status,
        )

    def report(self, path: str | os.PathLike[str], X: Any = None, **options: Any) -> None:
        """Write the explainers as one page of HTML that opens anywhere; see ``oleander.report.write_report``."""
        # The report is a layer above this one, so it is looked up by name when it is asked for.
        import_module("oleander.report").write_report(self, path, X, **options)

    def summary(self) -> str:
        """Return the fit in a few lines of text."""
        record = self.record_
        if record.verdict is None and self._workings is not None:
            record = replace(record, verdict=self.verdict_)
        return describe_fit(record, self.min_fidelity)

    def save(self, path: str | os.PathLike[str], *, include_rows: bool = False) -> None:
        """Write the explainers to a file of JSON: data, never code.

        No row of X is written unless ``include_rows`` is set: a ball around a row of X holds that row. Balls around
        rounded rows, the default, do not.
        """
        record = replace(self.record_, n_queries=self.n_queries_)
        if not include_rows and self._workings is not None:
            rows = self._workings.known.values
            number = record.explainers.find_record(rows)
            if number is not None:
                raise ValueError(
                    f"explainer {number} is a ball around a row of the data, which the file would hold. "
                    "Allow it with include_rows=True."
                )
            if record.tradeoff is not None:
                record = replace(record, tradeoff=record.tradeoff.without_records(rows))
        write_file(path, {**record.to_dict(), "options": {name: getattr(self, name) for name in SAVED_OPTIONS}})

    @classmethod
    def load(cls, path: str | os.PathLike[str], black_box: Any = None) -> Self:
        """Read a saved explainer. It predicts and explains; with the black box given, it evaluates too."""
        content = read_file(path)
        try:
            atlas = cls(black_box, **{name: kind(content["options"][name]) for name, kind in SAVED_OPTIONS.items()})
            atlas._set_record(FitRecord.from_dict(content))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise FileError(f"{path} is not a saved explainer that can be read: {one_line(error)}.") from error
        return atlas

    def _need_workings(self, lack: str) -> Workings:
        """Return what the fit has kept, or raise where the explainer was loaded from a file."""
        if not hasattr(self, "_record") or self._workings is None:
            self.record_  # noqa: B018 (raises where nothing is fitted)
            raise NotFittedError(f"this explainer was loaded from a file, which holds {lack}: fit one to get it.")
        return self._workings


def _warn_of_training_rows(rows: Rows, truth: Labels) -> None:
    accuracy = float((rows.labels[rows.point_of_row] == truth).mean())
    if accuracy >= SUSPICIOUS_ACCURACY:
        warn_user(
            f"the black box is right on {accuracy:.1%} of these rows, so they look like the rows it was trained on. "
            "Its memorised answers are harder to mimic than its answers on new rows: explain it on rows that are new "
            "to it."
        )
