"""AggregateExplainer, the estimator that people meet: a few small models that explain a black box, with proof."""

import inspect
import os
import warnings
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from oleander.arrays import Ints, Labels
from oleander.black_box.asking import N_ASKED_TWICE, BlackBox
from oleander.black_box.keeping import KeptBlackBox, resume
from oleander.candidates import Balls, Generator
from oleander.candidates.choosing import Floor, PoolSelection
from oleander.candidates.named import GENERATORS, MIX, make_generators
from oleander.candidates.pool import CandidatePool
from oleander.data.checks import (
    as_one_row,
    check_choice,
    draw_rows,
    one_per_row,
    seed_of,
    split_rows,
    take_rows,
)
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.explainers import FilteredTree, LocalExplainer
from oleander.export.saved_file import FileError, read_file, write_file
from oleander.forms import Union, balance_classes, make_consensus_forms
from oleander.judging.cross_fitting import Form
from oleander.results.evaluation import Evaluation, Uncovered
from oleander.results.explanation import ChosenExplainer, ExplainerSet, Explanation
from oleander.results.fitting import Fitted, fit_judged, fit_union, judge, judged_frontier
from oleander.results.outcome import Outcome
from oleander.results.summary import describe_fit
from oleander.results.tradeoff import TradeOff, default_grid, judged_tradeoff, union_tradeoff
from oleander.running.wording import one_line
from oleander.selection.frontier import Frontier
from oleander.storage.checkpoint import Checkpoint
from oleander.streaming import Source, open_source
from oleander.streaming.source_fit import SourceFit

DEFAULT_LEAVES = 40
# What may differ when a fit goes on from a checkpoint: how it is run, and what is compared by other means.
FREE_TO_CHANGE = ("black_box", "checkpoint", "n_jobs", "verbose", "time_limit", "schema", "block_size")
# A black box that is right on so many of the rows it explains has likely seen them in training.
SUSPICIOUS_ACCURACY = 0.99


class AggregateExplainer(BaseEstimator):  # type: ignore[misc]
    """Explain a black box with at most so many small models, faithful where they speak and silent elsewhere.

    Several forms of answer are judged on rows that they have not learned from, and the widest that keeps
    ``min_fidelity`` is taken: one small tree that abstains, a consensus of a few small trees, or the paper's union of
    local explainers, chosen by an integer program with a proof of how close to the best possible choice it is.

    Parameters
    ----------
    black_box : object with ``predict``, or callable
        Rows in, labels out. It is asked, never fitted or copied.
    max_explainers : int
        The largest number of explainers (K in the paper).
    min_fidelity : float
        The floor (φ in the paper).
    combine : {"auto", "tree", "consensus", "union"}
        How explainers are read together. In a union any explainer that covers a row may answer (the paper's reading);
        in a consensus those that are sure of a row must agree; a tree is a consensus of one. "auto" takes the one that
        answers the most rows with the floor kept on rows that it has not seen, and says so in ``verdict_``.
    max_leaves_total : int or None
        Leaves to be read in all; None for no limit in a union, and 40 in the other forms.
    balance : {"class"} or None
        Count every class of the black box alike, instead of every row, when coverage is compared.
    neighbour_draws : int
        So many draws between neighbouring rows, labelled by the black box, are added to what small trees learn from.
        They are never judged on: the black box's word there is not what it says of real rows.
    radius : float, sequence of float or "auto"
        Of the balls, in units of ``scale``; several make a ladder from which the program chooses. "auto" takes radii
        at which a ball around a typical row holds from 5% to 60% of the rows.
    max_flips : int or None
        Most levels that may differ in a ball; None means the whole part of the radius.
    scale : {"std", "iqr", "range", "none"}
    n_draws : int
        Draws per ball, labelled by the black box.
    local : {"filtered_tree", "unfiltered_tree", "lime"} or LocalExplainer
    max_leaves : int or None
        Of each tree.
    formulation : {"strict", "selective"}
        The paper's definition of fidelity, or its integer program to the letter.
    min_support : int
        An explainer must cover at least so many rows.
    max_candidates : int or None
        At most so many centers, spread over the data.
    candidates : "auto", "balls", "trees", "nodes", "boxes", "anchors", Generator or several
        Who proposes candidates for a union: "auto" mixes small trees and nodes of trees, which ask the black box
        nothing; "balls" are the paper's, with the options above. Whoever gives candidates, or a radius, asks for a
        union of them, unless ``combine`` says otherwise.
    floor_on : {"bound", "share"}
        In a union, ask the floor of the one-sided 95% lower bound on an explainer's fidelity, or of the raw share as in
        the paper, which new rows often fall short of.
    floor_over : {"each", "union", "both"}
        In a union, ask the floor of each explainer (the paper's), of the answers that they give together, or of both.
    confidence : float
        With which all statements of the certificate hold together.
    holdout : float or None
        The share of rows that is kept from everything but the certificate; None for no certificate.
    training : {"lazy", "eager"}
        Train explainers only when the answer needs them, or all. The answer and its proof are the same.
    solver : {"auto", "highs", "quick", "greedy", "exhaustive"}
    time_limit : float or None
        Seconds for solving.
    max_queries : int or None
        The most rows ever sent to the black box. If the rows alone are more, as many are used as it pays for; if
        training would take more, the answer is the best of what could be trained, with an honest gap.
    checkpoint : path or None
        A folder that keeps the black box's answers and each trained explainer as it is done. A fit of the same, after
        whatever stopped the last one, goes on from there and asks none of them again. It holds no row, only hashes.
    epsilon, delta : float
        Where X is a Parquet file or a Dask DataFrame, as many rows are drawn to learn from and to hold out as bring the
        shares that candidates cover, and get right, within epsilon of those of all rows, with probability 1 − delta.
    block_size : int
        The most rows of such a source that a process holds at once, besides the sample.
    schema : FeatureSchema or None
        None infers it.
    random_state : int or None
    n_jobs : int or None
        As in joblib.
    verbose : int

    Attributes
    ----------
    explainers_ : list of ChosenExplainer
    combine_ : str
        The form that was taken: tree, consensus or union.
    coverage_ : float
        Share of the rows that is answered: of those it was judged on, or of those a union was chosen on.
    fidelity_ : float
        Share of the answered ones that is answered as the black box does; in a union the lowest of any explainer.
    evaluation_ : Evaluation
        More of the same, class by class.
    verdict_ : DataFrame
        How a plain tree, a tree with abstention and the other forms did on rows that they have not seen.
    certificate_ : Certificate or None
        What held-out rows allow to be claimed.
    result_ : SelectionResult
        The choice with its bound, gap and status; outside a union nothing is proven, and it is never "optimal".
    pool_ : CandidatePool
        The candidates of a union.
    exact_ : Evaluation or None
        Counted on every row of a Parquet file or a Dask DataFrame: coverage, fidelity and the classes without any error
        of sampling. The other figures stay those of the sample, on which the choice was made and its gap proven.
    accuracy_ : Accuracy or None
        How far the sample's shares are from the exact ones, and what was promised of that.
    schema_ : FeatureSchema
    n_queries_ : int
        Rows sent to the black box.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> atlas = AggregateExplainer(lambda X: X[:, 0] > 0.5, max_explainers=3, random_state=0).fit(X)
    >>> atlas.combine_, atlas.coverage_ > 0.9
    ('tree', True)
    """

    def __init__(
        self,
        black_box: Any,
        *,
        max_explainers: int = 10,
        min_fidelity: float = 0.9,
        combine: Literal["auto", "tree", "consensus", "union"] = "auto",
        max_leaves_total: int | None = None,
        balance: Literal["class"] | None = None,
        neighbour_draws: int = 0,
        radius: float | Sequence[float] | Literal["auto"] = "auto",
        max_flips: int | None = None,
        scale: str = "std",
        n_draws: int = 2000,
        local: str | LocalExplainer = "filtered_tree",
        max_leaves: int | None = 16,
        formulation: Literal["strict", "selective"] = "strict",
        min_support: int = 10,
        max_candidates: int | None = 2000,
        candidates: str | Generator | Iterable[str | Generator] = "auto",
        floor_on: Literal["bound", "share"] = "bound",
        floor_over: Literal["each", "union", "both"] = "both",
        confidence: float = 0.95,
        holdout: float | None = 0.25,
        training: Literal["lazy", "eager"] = "lazy",
        solver: str = "auto",
        time_limit: float | None = 60.0,
        max_queries: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        epsilon: float = 0.02,
        delta: float = 0.05,
        block_size: int = 100_000,
        schema: FeatureSchema | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.black_box = black_box
        self.max_explainers = max_explainers
        self.min_fidelity = min_fidelity
        self.combine = combine
        self.max_leaves_total = max_leaves_total
        self.balance = balance
        self.neighbour_draws = neighbour_draws
        self.radius = radius
        self.max_flips = max_flips
        self.scale = scale
        self.n_draws = n_draws
        self.local = local
        self.max_leaves = max_leaves
        self.formulation = formulation
        self.min_support = min_support
        self.max_candidates = max_candidates
        self.candidates = candidates
        self.floor_on = floor_on
        self.floor_over = floor_over
        self.confidence = confidence
        self.holdout = holdout
        self.training = training
        self.solver = solver
        self.time_limit = time_limit
        self.max_queries = max_queries
        self.checkpoint = checkpoint
        self.epsilon = epsilon
        self.delta = delta
        self.block_size = block_size
        self.schema = schema
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def paper(cls, black_box: Any, *, radius: float, n_draws: int = 10_000, **options: Any) -> Self:
        """Return an explainer with the paper's settings to the letter.

        One radius in raw units, every row a center, whole trees on the filtered features, no rule on support, the raw
        share as floor, no rows held out. Other parameters can be given as well.

        Examples
        --------
        >>> AggregateExplainer.paper(print, radius=7.0, max_explainers=5).floor_on
        'share'
        """
        balls = Balls(radius, max_candidates=None, n_draws=n_draws, local=FilteredTree(max_leaves=None), centers="rows")
        settings = {
            "combine": "union",
            "scale": "none",
            "min_support": 1,
            "floor_on": "share",
            "floor_over": "each",
            "holdout": None,
            "candidates": balls,
        }
        return cls(black_box, radius=radius, n_draws=n_draws, **{**settings, **options})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; those of the black box are its own affair."""
        return dict(super().get_params(deep=False))

    def __sklearn_clone__(self) -> Self:
        # The black box is fitted and must stay so: it is passed on, not cloned.
        return type(self)(**self.get_params())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "explainers_")

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, judge_rows: Any = None) -> Self:
        """Choose explainers for the black box on these rows.

        Use rows that are new to the black box: what it memorised of its training rows is harder to mimic than what it
        does on new ones, and not what it will do.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_features), path, pyarrow Dataset or Dask DataFrame
            Of a Parquet file or a folder of them, or a Dask DataFrame, a sample is drawn and learned from; then every
            row is counted in one pass, block by block. See ``exact_`` and docs/scale.md.
        y : array of shape (n_rows,), optional
            True labels. Nothing is learned from them; they show whether the black box has seen these rows before.
            In a source that is read block by block the name of a column, which then is no feature.
        groups : array of shape (n_rows,), optional
            Which rows belong together (one patient, one trial): no group is both learned from and judged or held out.
            In a source the name of a column too.
        judge_rows : DataFrame or array, optional
            More rows, without labels, on which forms of answer are judged but from which nothing is learned. The more
            there are, the less has to be left unsaid for want of evidence.
        """
        floor = self._check_options()
        source = open_source(X)
        if source is not None:
            return self._fit_source(source, y, groups, judge_rows)
        box = BlackBox(self.black_box, FeatureSchema.infer(X, scale=self.scale) if self.schema is None else self.schema)
        # All rows are read and checked before the black box is asked about any.
        encoded = [box.schema.encode(table) for table in (X, judge_rows) if table is not None]
        belongs = None if groups is None else one_per_row(groups, len(encoded[0]), "groups")
        truth = None if y is None else one_per_row(y, len(encoded[0]), "y")
        seed = seed_of(self.random_state)
        if self.checkpoint is not None:
            options = {name: value for name, value in self.get_params().items() if name not in FREE_TO_CHANGE}
            box, seed = resume(Checkpoint(self.checkpoint), box, [*encoded, belongs], options, seed)
        n_others = self.neighbour_draws + sum(len(table) for table in encoded[1:])
        learn, held = self._split(len(encoded[0]), n_others, belongs, seed)
        own = None if belongs is None else belongs[learn]
        rows = Rows.ask(take_rows(X, learn), box, groups=own)
        if truth is not None:
            _warn_of_training_rows(rows, truth[learn])
        extra = None if judge_rows is None else Rows.ask(judge_rows, box, known=rows).unmerged()
        each = rows.unmerged(own)
        # A union learns where its generators say; only trees of the whole learn from draws between neighbours.
        if self.neighbour_draws and self._combine != "union":
            each = each.with_draws(box, self.neighbour_draws, seed)
        # What the held-out rows and those that are only judged take of it is not there for training.
        left = None if self.max_queries is None else self.max_queries - len(held) - (extra.n_queries if extra else 0)
        fitted = self._find(rows, each, extra, box, seed, floor, left)
        if fitted.result.message:
            _warn(fitted.result.message)
        chosen, certificate = fitted.chosen, None
        n_queries = fitted.n_queries + (0 if extra is None else extra.n_queries)
        if len(held):
            judged = Rows.ask(take_rows(X, held), box, known=rows)
            n_queries += judged.n_queries
            chosen, certificate = chosen.certified(
                judged.values[judged.point_of_row],
                judged.labels[judged.point_of_row],
                self.confidence,
                None if belongs is None else belongs[held],
                np.random.default_rng(seed),
            )
        # Only now: an error or an interrupt before this line leaves the object as it was.
        self._set_fitted(
            Outcome(
                chosen,
                fitted.kind,
                fitted.result,
                fitted.coverage,
                fitted.fidelity,
                fitted.evaluation,
                fitted.verdict.table,
                certificate,
                n_queries,
            )
        )
        self._verdict, self._selection, self._rows, self._seed = fitted.verdict, fitted.selection, each, seed
        self._learned, self._held = learn, held
        if fitted.selection is not None:
            self.pool_ = fitted.selection.pool
        elif hasattr(self, "pool_"):
            del self.pool_
        return self

    def _fit_source(self, source: Source, y: str | None, groups: str | None, judge_rows: Any) -> Self:
        """Fit on a sample of the rows, then count on all of them."""
        plan = SourceFit.plan(source, self.get_params(), y, groups)
        fitted = type(self)(**plan.options)
        fitted.fit(plan.sample.table, plan.truth, groups=plan.groups, judge_rows=judge_rows)
        if plan.is_paid:
            n_candidates = len(fitted.pool_.candidates) if hasattr(fitted, "pool_") else 0
            fitted._set_fitted(plan.count(fitted._outcome(), fitted._learned, fitted._held, n_candidates))
        else:
            _warn(
                f"max_queries={self.max_queries:,} does not pay for all {source.n_rows:,} rows after the sample: "
                "none but the sample's figures are known."
            )
        # Only now: an error or an interrupt before this line leaves the object as it was.
        if hasattr(self, "pool_"):
            del self.pool_
        for name in set(vars(fitted)) - set(plan.options):
            setattr(self, name, getattr(fitted, name))
        return self

    def _split(self, n_rows: int, n_others: int, belongs: Labels | None, seed: int) -> tuple[Ints, Ints]:
        """Return which rows are learned from and which are held out: as many as may be asked about."""
        learn, held = split_rows(n_rows, self.holdout, belongs, seed)
        n_again = min(N_ASKED_TWICE, len(learn))
        if self.max_queries is None or n_rows + n_others + n_again <= self.max_queries:
            return learn, held
        left = self.max_queries - n_others - n_again
        if left < 2:
            raise ValueError(
                f"max_queries={self.max_queries} leaves nothing for the rows: {n_others:,} draws and judged rows and "
                f"{n_again} asked twice come first."
            )
        _warn(f"max_queries={self.max_queries:,} pays for {left:,} of {n_rows:,} rows: the others are not used.")

        def part(rows: Ints) -> Ints:
            own = None if belongs is None else belongs[rows]
            return rows[draw_rows(own, len(rows), left * len(rows) // n_rows, seed)]

        return part(learn), part(held)

    def _find(
        self,
        rows: Rows,
        each: Rows,
        extra: Rows | None,
        box: BlackBox,
        seed: int,
        floor: Floor,
        max_queries: int | None,
    ) -> Fitted:
        """Judge the forms that may be taken on each row, and take one."""
        combine = self._combine
        number = 1 if combine in ("tree", "union") else self.max_explainers
        n_leaves = self.max_leaves_total or DEFAULT_LEAVES
        forms: list[Form] = list(make_consensus_forms(number, n_leaves))
        if combine == "auto":
            mix = [GENERATORS[name] for name in MIX]
            forms.append(Union(mix, box, self.max_explainers, n_leaves, self.min_fidelity, self.min_support))
        importance = None if self.balance is None else balance_classes(each.labels, each.weights)
        verdict = judge(
            forms,
            each,
            seed,
            min_fidelity=self.min_fidelity,
            importance=importance,
            extra=extra,
            n_jobs=self.n_jobs,
        )
        if combine != "union":
            return fit_judged(
                verdict,
                each,
                seed,
                kinds=self._kinds(),
                max_explainers=self.max_explainers,
                time_limit=self.time_limit,
            )
        pool = CandidatePool.propose(
            make_generators(
                self.candidates,
                radius=self.radius,
                max_flips=self.max_flips,
                max_candidates=self.max_candidates,
                n_draws=self.n_draws,
                local=self.local,
                max_leaves=self.max_leaves,
            ),
            rows,
            box,
            seed,
            n_jobs=self.n_jobs,
            max_queries=max_queries,
            checkpoint=box.checkpoint if isinstance(box, KeptBlackBox) else None,
        )
        if len(pool.candidates) < self.max_explainers:
            _warn(f"max_explainers={self.max_explainers}, but there are only {len(pool.candidates)} candidates.")
        selection = PoolSelection(
            pool,
            floor,
            floor_over=self.floor_over,
            max_leaves_total=self.max_leaves_total,
            formulation=self.formulation,
            training=self.training,
            solver=self.solver,
            time_limit=self.time_limit,
            verbose=self.verbose,
        )
        return fit_union(selection, verdict, self.max_explainers, self.min_fidelity)

    @property
    def _combine(self) -> str:
        return "union" if self.combine == "auto" and self._given() else self.combine

    def _given(self) -> bool:
        """Whether candidates, or a radius for balls, are given."""
        named = isinstance(self.candidates, str) and self.candidates == "auto"
        return not named or not (isinstance(self.radius, str) and self.radius == "auto")

    def _kinds(self) -> list[str] | None:
        return None if self._combine == "auto" else [self._combine]

    def _set_fitted(self, outcome: Outcome) -> None:
        chosen = outcome.chosen
        self._set, self.explainers_, self.combine_ = chosen, list(chosen.members), outcome.kind
        self.schema_, self.result_, self.certificate_ = chosen.schema, outcome.result, outcome.certificate
        self.coverage_, self.fidelity_, self.n_queries_ = outcome.coverage, outcome.fidelity, outcome.n_queries
        self.evaluation_, self.verdict_ = outcome.evaluation, outcome.verdict
        self.exact_, self.accuracy_ = outcome.exact, outcome.accuracy
        self._tradeoff: TradeOff | None = None
        self.n_features_in_ = len(chosen.schema)
        columns = chosen.schema.columns
        if columns is not None and all(isinstance(column, str) for column in columns):
            self.feature_names_in_ = np.array(columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _check_options(self) -> Floor:
        """Check what nobody further down checks, and return the floor."""
        number = self.max_explainers
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
            raise ValueError(f"max_explainers={number!r} is not allowed: it counts explainers, 1 or more.")
        if not 0 < self.min_fidelity <= 1:
            raise ValueError(f"min_fidelity={self.min_fidelity!r} is not allowed: it is a share over 0 and up to 1.")
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence={self.confidence!r} is not allowed: it is a share over 0 and under 1.")
        if self.holdout is not None and not 0 <= self.holdout < 1:
            raise ValueError(f"holdout={self.holdout!r} is not allowed: it is a share of the rows under 1, or None.")
        if self.max_leaves_total is not None and self.max_leaves_total < 2:
            raise ValueError(f"max_leaves_total={self.max_leaves_total!r} is not allowed: a tree has 2 leaves or more.")
        if self.max_queries is not None and (isinstance(self.max_queries, bool) or self.max_queries < 2):
            raise ValueError(f"max_queries={self.max_queries!r} is not allowed: it counts rows, 2 or more, or None.")
        if isinstance(self.block_size, bool) or not self.block_size >= 1:
            raise ValueError(f"block_size={self.block_size!r} is not allowed: it counts rows, 1 or more.")
        if not isinstance(self.neighbour_draws, (int, np.integer)) or self.neighbour_draws < 0:
            raise ValueError(f"neighbour_draws={self.neighbour_draws!r} is not allowed: it counts draws, 0 or more.")
        check_choice("combine", self.combine, ("auto", "tree", "consensus", "union"))
        if self.balance is not None:
            check_choice("balance", self.balance, ("class",))
        check_choice("floor_on", self.floor_on, ("bound", "share"))
        check_choice("training", self.training, ("lazy", "eager"))
        check_choice("formulation", self.formulation, ("strict", "selective"))
        check_choice("floor_over", self.floor_over, ("each", "union", "both"))
        if self.formulation == "selective" and (self.floor_on == "bound" or self.floor_over != "each"):
            raise ValueError(
                "formulation='selective' counts rows itself and knows no bound and no floor over the union: "
                "use floor_on='share' and floor_over='each'."
            )
        return Floor(self.floor_on, self.min_support)

    @property
    def explainers(self) -> list[ChosenExplainer]:
        """The chosen explainers, by the name under which the rivals have theirs."""
        return list(self._fitted().members)

    @property
    def complexity(self) -> int:
        """How much there is to read, in leaves and weights."""
        return sum(member.explainer.complexity for member in self._fitted().members)

    def predict(self, X: Any) -> np.ma.MaskedArray[Any, Any]:
        """Return the explainers' labels, masked where no answer is given: they abstain, they do not guess."""
        chosen = self._fitted()
        return chosen.answer(chosen.schema.encode(X))

    def covers(self, X: Any) -> NDArray[np.bool_]:
        """Return which of the chosen explainers cover which rows, of shape (n_explainers, n_rows)."""
        chosen = self._fitted()
        return chosen.covers(chosen.schema.encode(X))

    def responsible(self, X: Any) -> NDArray[np.intp]:
        """Return which of the chosen explainers answers for each row; -1 where no answer is given."""
        chosen = self._fitted()
        return chosen.who_answers(chosen.schema.encode(X))

    def explain(self, x: Any) -> Explanation:
        """Return what is said of one row: a one-row DataFrame, a Series, a mapping or a one-dimensional array."""
        chosen = self._fitted()
        rows = chosen.schema.encode(as_one_row(x))
        if len(rows) != 1:
            raise ValueError(f"explain takes one row, and {len(rows)} were given; use predict or covers for many.")
        return chosen.explain(rows[0])

    def evaluate(self, X: Any, labels: Any = None) -> Evaluation:
        """Compare the explainers with the black box on other rows.

        Parameters
        ----------
        X : DataFrame or array
        labels : array, optional
            The black box's labels, if they are known; it is asked otherwise.
        """
        chosen = self._fitted()
        rows = chosen.schema.encode(X)
        return chosen.evaluate(rows, self._labels_of(rows, labels))

    def uncovered(self, X: Any, labels: Any = None) -> Uncovered:
        """Say who is left out: how many, of which classes, and a small tree that tells them from the others."""
        chosen = self._fitted()
        rows = chosen.schema.encode(X)
        return chosen.uncovered(rows, self._labels_of(rows, labels))

    def frontier(self, *, max_explainers: Sequence[int], min_fidelity: Sequence[float]) -> Frontier:
        """Return what can be covered for each number of explainers and each floor, training whoever is needed."""
        self._fitted()
        if not hasattr(self, "_verdict"):
            raise NotFittedError("a loaded explainer has no candidates to choose from: fit one to get a frontier.")
        selection: PoolSelection | None = self._selection
        if selection is None:
            return judged_frontier(self._verdict, self._kinds(), max_explainers, min_fidelity)
        before = self.pool_.n_queries
        frontier = selection.frontier(list(max_explainers), list(min_fidelity))
        self.n_queries_ += self.pool_.n_queries - before
        return frontier

    def tradeoff(
        self, *, max_explainers: Sequence[int] | None = None, min_fidelity: Sequence[float] | None = None
    ) -> TradeOff:
        """Return the frontier with the explainers of each cell; it is kept, and saved with the explainer.

        Parameters
        ----------
        max_explainers : sequence of int or None
            None takes numbers up to the explainer's own.
        min_fidelity : sequence of float or None
            None takes floors around the explainer's own.

        Notes
        -----
        A loaded explainer has the trade-off that was saved with it, if one was computed before.
        """
        outcome = self._outcome()
        kept: TradeOff | None = getattr(self, "_tradeoff", None)
        if max_explainers is None and min_fidelity is None and kept is not None:
            return kept
        if not hasattr(self, "_verdict"):
            raise NotFittedError(
                "this explainer was loaded from a file that holds no trade-off: fit one, call its tradeoff(), and save."
            )
        selection: PoolSelection | None = self._selection
        numbers, floors = default_grid(self.max_explainers, self.min_fidelity, near=selection is not None)
        # The explainer's own cell is always there: it is the one that is certified.
        numbers = numbers if max_explainers is None else sorted({*max_explainers, self.max_explainers})
        floors = floors if min_fidelity is None else sorted({*min_fidelity, self.min_fidelity})
        if selection is None:
            grid = [(number, floor) for floor in floors for number in numbers]
            found = judged_tradeoff(self._verdict, self._rows, self._seed, self._kinds(), grid)
        else:
            found = union_tradeoff(selection, self.frontier(max_explainers=numbers, min_fidelity=floors))
        self._tradeoff = found.with_fitted(outcome, self.max_explainers, self.min_fidelity)
        return self._tradeoff

    def report(self, path: str | os.PathLike[str], X: Any = None, **options: Any) -> None:
        """Write the explainers as one page of HTML that opens anywhere; see ``oleander.report.write_report``."""
        # What people see is a layer above this one, so it is looked up by name when it is asked for.
        import_module("oleander.report").write_report(self, path, X, **options)

    def summary(self) -> str:
        """Return the whole in a few lines."""
        return describe_fit(self._outcome(), self.min_fidelity)

    def save(self, path: str | os.PathLike[str], *, include_rows: bool = False) -> None:
        """Write the explainers to a file of JSON and arrays: data, never code.

        No row of X is written unless ``include_rows`` is set. A ball around a row of X holds that row, so saving one
        needs it too; balls around rounded rows, the default, do not.
        """
        chosen = self._fitted()
        rows = self._rows.values if hasattr(self, "_rows") else np.empty((0, len(chosen.schema)))
        record = chosen.find_record(rows)
        if record is not None and not include_rows:
            raise ValueError(
                f"explainer {record} is a ball around a row of the data, which the file would hold. "
                "Allow it with include_rows=True."
            )
        options = {name: getattr(self, name) for name in SAVED_OPTIONS}
        content = {**self._outcome().to_dict(), "options": options}
        if self._tradeoff is not None:
            kept = self._tradeoff if include_rows else self._tradeoff.without_records(rows)
            content["tradeoff"] = kept.to_dict()
        write_file(path, content, {"rows": rows} if include_rows else {})

    @classmethod
    def load(cls, path: str | os.PathLike[str], black_box: Any = None) -> Self:
        """Read a saved explainer. It predicts and explains; with the black box given, it evaluates too."""
        content, _ = read_file(path, with_arrays=False)
        try:
            atlas = cls(black_box, **{name: kind(content["options"][name]) for name, kind in SAVED_OPTIONS.items()})
            atlas._set_fitted(Outcome.from_dict(content))
            kept = content.get("tradeoff")
            atlas._tradeoff = None if kept is None else TradeOff.from_dict(kept, atlas.schema_)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise FileError(f"{path} is not a saved explainer that can be read: {one_line(error)}.") from error
        return atlas

    def _labels_of(self, rows: NDArray[np.float64], labels: Any) -> Labels:
        if labels is not None:
            return one_per_row(labels, len(rows), "labels")
        if self.black_box is None:
            raise ValueError("the black box is not here to be asked: pass its labels.")
        self.n_queries_ += len(rows)
        return BlackBox(self.black_box, self.schema_).ask(rows)

    def _outcome(self) -> Outcome:
        return Outcome(
            self._fitted(),
            self.combine_,
            self.result_,
            self.coverage_,
            self.fidelity_,
            self.evaluation_,
            self.verdict_,
            self.certificate_,
            self.n_queries_,
            self.exact_,
            self.accuracy_,
        )

    def _fitted(self) -> ExplainerSet:
        if not hasattr(self, "explainers_"):
            raise NotFittedError("this AggregateExplainer is not fitted: call fit with the rows to be explained first.")
        return self._set


SAVED_OPTIONS: dict[str, Any] = {"max_explainers": int, "min_fidelity": float, "confidence": float}


def _warn_of_training_rows(rows: Rows, truth: Labels) -> None:
    accuracy = float((rows.labels[rows.point_of_row] == truth).mean())
    if accuracy >= SUSPICIOUS_ACCURACY:
        _warn(
            f"the black box is right on {accuracy:.1%} of these rows, so they look like the rows it was trained on. "
            "What it memorised there is harder to mimic than what it does on new rows, and not what it will do: "
            "explain it on rows that are new to it."
        )


def _warn(message: str) -> None:
    """Warn at the user's line that called fit: the nearest that is not of this package."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith("oleander."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level)
