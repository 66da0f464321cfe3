"""AggregateExplainer, the estimator that people meet: a few small models that explain a black box, with proof."""

import os
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from oleander.black_box import BlackBox
from oleander.certificate import Certificate
from oleander.evaluation import Evaluation, Uncovered
from oleander.explanation import ChosenExplainer, ExplainerSet, Explanation
from oleander.generators import Balls, Generator
from oleander.inputs import as_one_row, check_choice, one_per_row, seed_of, split_rows, take_rows
from oleander.lazy import Floor, PoolSelection
from oleander.local import FilteredTree, LimeLinear, LocalExplainer, UnfilteredTree
from oleander.pool import CandidatePool
from oleander.rows import Rows
from oleander.saving import FileError, read_file, write_file
from oleander.schema import FeatureSchema
from oleander.selection import SelectionResult
from oleander.selection.frontier import Frontier

Labels = NDArray[Any]
LOCALS = ("filtered_tree", "unfiltered_tree", "lime")
# A black box that is right on so many of the rows it explains has likely seen them in training.
SUSPICIOUS_ACCURACY = 0.99


class AggregateExplainer(BaseEstimator):  # type: ignore[misc]
    """Explain a black box with at most so many small local models, each faithful where it speaks.

    Of all candidates (by default balls of several radii around rows, a small tree inside) the program chooses those
    that together cover the most rows, at most ``max_explainers`` and each with fidelity of at least ``min_fidelity``,
    and proves how close to the best possible choice that is (``result_.gap``).

    Parameters
    ----------
    black_box : object with ``predict``, or callable
        Rows in, labels out. It is asked, never fitted or copied.
    max_explainers : int
        The largest number of explainers (K in the paper).
    min_fidelity : float
        The floor (φ in the paper).
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
    candidates : "auto", Generator or several
        Who proposes candidates; "auto" means balls with the options above.
    floor_on : {"bound", "share"}
        Ask the floor of the one-sided 95% lower bound on an explainer's fidelity, or of the raw share as in the paper,
        which new rows often fall short of.
    confidence : float
        With which all statements of the certificate hold together.
    holdout : float or None
        The share of rows that is kept from everything but the certificate; None for no certificate.
    training : {"lazy", "eager"}
        Train explainers only when the answer needs them, or all. The answer and its proof are the same.
    solver : {"auto", "highs", "greedy", "exhaustive"}
    time_limit : float or None
        Seconds for solving.
    schema : FeatureSchema or None
        None infers it.
    random_state : int or None
    n_jobs : int or None
        As in joblib.
    verbose : int

    Attributes
    ----------
    explainers_ : list of ChosenExplainer
    coverage_ : float
        Share of the learning rows that is covered.
    fidelity_ : float
        The lowest fidelity among the chosen, on the learning rows.
    evaluation_ : Evaluation
        More of the same, class by class, on the learning rows.
    certificate_ : Certificate or None
        What held-out rows allow to be claimed.
    result_ : SelectionResult
        The choice with its bound, gap and status.
    pool_ : CandidatePool
    schema_ : FeatureSchema
    n_queries_ : int
        Rows sent to the black box.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> atlas = AggregateExplainer(lambda X: X[:, 0] > 0.5, max_explainers=3, random_state=0).fit(X)
    >>> atlas.coverage_ > 0.9, atlas.result_.status
    (True, 'optimal')
    """

    def __init__(
        self,
        black_box: Any,
        *,
        max_explainers: int = 10,
        min_fidelity: float = 0.9,
        radius: float | Sequence[float] | Literal["auto"] = "auto",
        max_flips: int | None = None,
        scale: str = "std",
        n_draws: int = 2000,
        local: str | LocalExplainer = "filtered_tree",
        max_leaves: int | None = 16,
        formulation: Literal["strict", "selective"] = "strict",
        min_support: int = 10,
        max_candidates: int | None = 2000,
        candidates: Literal["auto"] | Generator | Iterable[Generator] = "auto",
        floor_on: Literal["bound", "share"] = "bound",
        confidence: float = 0.95,
        holdout: float | None = 0.25,
        training: Literal["lazy", "eager"] = "lazy",
        solver: str = "auto",
        time_limit: float | None = 60.0,
        schema: FeatureSchema | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.black_box = black_box
        self.max_explainers = max_explainers
        self.min_fidelity = min_fidelity
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
        self.confidence = confidence
        self.holdout = holdout
        self.training = training
        self.solver = solver
        self.time_limit = time_limit
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
        settings = {"scale": "none", "min_support": 1, "floor_on": "share", "holdout": None, "candidates": balls}
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

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Self:
        """Choose explainers for the black box on these rows.

        Use rows that are new to the black box: what it memorised of its training rows is harder to mimic than what it
        does on new ones, and not what it will do.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_features)
        y : array of shape (n_rows,), optional
            True labels. Nothing is learned from them; they show whether the black box has seen these rows before.
        groups : array of shape (n_rows,), optional
            Which rows belong together (one patient, one trial): no group is both learned from and held out.
        """
        floor = self._check_options()
        box = BlackBox(self.black_box, FeatureSchema.infer(X, scale=self.scale) if self.schema is None else self.schema)
        # All rows are read and checked before the black box is asked about any.
        n_rows = len(box.schema.encode(X))
        belongs = None if groups is None else one_per_row(groups, n_rows, "groups")
        truth = None if y is None else one_per_row(y, n_rows, "y")
        seed = seed_of(self.random_state)
        learn, held = split_rows(n_rows, self.holdout, belongs, seed)
        rows = Rows.ask(take_rows(X, learn), box, groups=None if belongs is None else belongs[learn])
        if truth is not None:
            _warn_of_training_rows(rows, truth[learn])
        pool = CandidatePool(rows, self._propose(rows, seed), box, n_jobs=self.n_jobs)
        if len(pool.candidates) < self.max_explainers:
            _warn(f"max_explainers={self.max_explainers}, but there are only {len(pool.candidates)} candidates.")
        selection = PoolSelection(
            pool,
            floor,
            formulation=self.formulation,
            training=self.training,
            solver=self.solver,
            time_limit=self.time_limit,
            verbose=self.verbose,
        )
        result = selection.select(self.max_explainers, self.min_fidelity)
        if not len(result.chosen):
            raise ValueError(result.message or "no explainer was found.")
        if result.message:
            _warn(result.message)
        chosen = ExplainerSet(box.schema, _chosen_of(selection, result))
        certificate, n_queries = None, pool.n_queries
        if len(held):
            judged = Rows.ask(take_rows(X, held), box)
            n_queries += judged.n_queries
            chosen, certificate = chosen.certified(
                judged.values[judged.point_of_row],
                judged.labels[judged.point_of_row],
                self.confidence,
                None if belongs is None else belongs[held],
                np.random.default_rng(seed),
            )
        # Only now: an error or an interrupt before this line leaves the object as it was.
        self._set_fitted(chosen, result, certificate, n_queries)
        self.pool_, self._selection = pool, selection
        self.evaluation_ = chosen.evaluate(rows.values[rows.point_of_row], rows.labels[rows.point_of_row])
        return self

    def _set_fitted(
        self, chosen: ExplainerSet, result: SelectionResult, certificate: Certificate | None, n_queries: int
    ) -> None:
        self._set, self.explainers_ = chosen, list(chosen.members)
        self.schema_, self.result_, self.certificate_, self.n_queries_ = chosen.schema, result, certificate, n_queries
        self.coverage_ = result.coverage
        self.fidelity_ = min(member.fidelity for member in chosen.members)
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
        check_choice("floor_on", self.floor_on, ("bound", "share"))
        check_choice("training", self.training, ("lazy", "eager"))
        check_choice("formulation", self.formulation, ("strict", "selective"))
        if self.formulation == "selective" and self.floor_on == "bound":
            raise ValueError("formulation='selective' counts rows itself and knows no bound: use floor_on='share'.")
        return Floor(self.floor_on, self.min_support)

    def _propose(self, rows: Rows, seed: int) -> list[Any]:
        generators: Iterable[Generator]
        if isinstance(self.candidates, str):
            check_choice("candidates", self.candidates, ("auto",))
            balls = Balls(
                self.radius,
                max_flips=self.max_flips,
                max_candidates=self.max_candidates,
                n_draws=self.n_draws,
                local=self._make_local(),
            )
            generators = [balls]
        else:
            generators = [self.candidates] if isinstance(self.candidates, Generator) else self.candidates
        return [candidate for generator in generators for candidate in generator.propose(rows, seed)]

    def _make_local(self) -> LocalExplainer:
        if not isinstance(self.local, str):
            return self.local
        check_choice("local", self.local, LOCALS)
        if self.local == "lime":
            return LimeLinear()
        return (FilteredTree if self.local == "filtered_tree" else UnfilteredTree)(max_leaves=self.max_leaves)

    @property
    def explainers(self) -> list[ChosenExplainer]:
        """The chosen explainers, by the name under which the rivals have theirs."""
        return list(self._fitted().members)

    @property
    def complexity(self) -> int:
        """How much there is to read, in leaves and weights."""
        return sum(member.explainer.complexity for member in self._fitted().members)

    def predict(self, X: Any) -> np.ma.MaskedArray[Any, Any]:
        """Return the explainers' labels, masked where nobody covers a row: they abstain, they do not guess."""
        chosen = self._fitted()
        return chosen.answer(chosen.schema.encode(X))

    def covers(self, X: Any) -> NDArray[np.bool_]:
        """Return which of the chosen explainers cover which rows, of shape (n_explainers, n_rows)."""
        chosen = self._fitted()
        return chosen.covers(chosen.schema.encode(X))

    def responsible(self, X: Any) -> NDArray[np.intp]:
        """Return which of the chosen explainers answers for each row; -1 where nobody covers it."""
        chosen = self._fitted()
        rows = chosen.schema.encode(X)
        return chosen.responsible(rows, chosen.covers(rows))

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
        selection: PoolSelection | None = getattr(self, "_selection", None)
        if selection is None:
            raise NotFittedError("a loaded explainer has no candidates to choose from: fit one to get a frontier.")
        before = self.pool_.n_queries
        frontier = selection.frontier(list(max_explainers), list(min_fidelity))
        self.n_queries_ += self.pool_.n_queries - before
        return frontier

    def summary(self) -> str:
        """Return the whole in a few lines."""
        chosen, result = self._fitted(), self.result_
        proof = "no choice covers more" if result.is_proven_optimal else f"within {result.gap:.2%} of the best choice"
        lines = [
            f"{len(self.explainers_)} explainers cover {self.coverage_:.1%} of the rows ({proof})",
            f"fidelity at least {self.fidelity_:.3f} on the rows they were chosen on",
        ]
        if self.certificate_ is not None:
            lines.append(
                f"on held-out rows, all together at {self.confidence:.0%} confidence: "
                f"coverage {self.certificate_.coverage.describe(0.0)}"
            )
        for number, member in enumerate(chosen.members):
            certified = "" if member.claim is None else f", {member.claim.describe(self.min_fidelity)}"
            lines.append(f"\nexplainer {number}: {member.support} rows, fidelity {member.fidelity:.3f}{certified}")
            lines.append(f"  {member.region.describe()}")
            lines += [f"    {rule}" for rule in member.explainer.rules()]
        return "\n".join(lines)

    def save(self, path: str | os.PathLike[str], *, include_rows: bool = False) -> None:
        """Write the explainers to a file of JSON and arrays: data, never code.

        No row of X is written unless ``include_rows`` is set. A ball around a row of X holds that row, so saving one
        needs it too; balls around rounded rows, the default, do not.
        """
        chosen = self._fitted()
        rows = self.pool_.rows.values if hasattr(self, "pool_") else np.empty((0, len(chosen.schema)))
        record = chosen.find_record(rows)
        if record is not None and not include_rows:
            raise ValueError(
                f"explainer {record} is a ball around a row of the data, which the file would hold. "
                "Allow it with include_rows=True."
            )
        content = {
            "schema": chosen.schema.to_dict(),
            "explainers": [member.to_dict() for member in chosen.members],
            "certificate": None if self.certificate_ is None else self.certificate_.to_dict(),
            "result": {name: getattr(self.result_, name) for name in SAVED_RESULT},
            "options": {name: getattr(self, name) for name in SAVED_OPTIONS},
            "n_queries": self.n_queries_,
        }
        write_file(path, content, {"rows": rows} if include_rows else {})

    @classmethod
    def load(cls, path: str | os.PathLike[str], black_box: Any = None) -> Self:
        """Read a saved explainer. It predicts and explains; with the black box given, it evaluates too."""
        content, _ = read_file(path)
        try:
            schema = FeatureSchema.from_dict(content["schema"])
            members = tuple(ChosenExplainer.from_dict(member, schema) for member in content["explainers"])
            nothing = csr_array((len(members), 0))
            result = SelectionResult(
                chosen=np.arange(len(members)),
                covered=np.zeros(0, dtype=bool),
                counted=nothing,
                **{name: kind(content["result"][name]) for name, kind in SAVED_RESULT.items()},
            )
            certificate = None if content["certificate"] is None else Certificate.from_dict(content["certificate"])
            atlas = cls(black_box, **{name: kind(content["options"][name]) for name, kind in SAVED_OPTIONS.items()})
            atlas._set_fitted(ExplainerSet(schema, members), result, certificate, int(content["n_queries"]))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise FileError(f"{path} is not a saved explainer that can be read: {error}.") from error
        return atlas

    def _labels_of(self, rows: NDArray[np.float64], labels: Any) -> Labels:
        if labels is not None:
            return one_per_row(labels, len(rows), "labels")
        if self.black_box is None:
            raise ValueError("the black box is not here to be asked: pass its labels.")
        self.n_queries_ += len(rows)
        return BlackBox(self.black_box, self.schema_).ask(rows)

    def _fitted(self) -> ExplainerSet:
        if not hasattr(self, "explainers_"):
            raise NotFittedError("this AggregateExplainer is not fitted: call fit with the rows to be explained first.")
        return self._set


SAVED_RESULT: dict[str, Any] = {"objective": float, "bound": float, "status": str, "runtime": float, "coverage": float}
SAVED_OPTIONS: dict[str, Any] = {"max_explainers": int, "min_fidelity": float, "confidence": float}


def _chosen_of(selection: PoolSelection, result: SelectionResult) -> tuple[ChosenExplainer, ...]:
    pool, measured, fidelity = selection.pool, selection.measured, selection.pool.fidelity
    chosen = []
    for index in result.chosen.tolist():
        candidate, explainer = pool.candidates[index], pool.explainers[index]
        assert explainer is not None
        chosen.append(
            ChosenExplainer(
                candidate.region,
                explainer,
                candidate.origin,
                support=int(pool.support[index]),
                fidelity=float(fidelity[index]),
                floor_value=float(measured[index]),
                draw_fidelity=float(pool.draw_fidelity[index]),
            )
        )
    return tuple(chosen)


def _warn_of_training_rows(rows: Rows, truth: Labels) -> None:
    accuracy = float((rows.labels[rows.point_of_row] == truth).mean())
    if accuracy >= SUSPICIOUS_ACCURACY:
        _warn(
            f"the black box is right on {accuracy:.1%} of these rows, so they look like the rows it was trained on. "
            "What it memorised there is harder to mimic than what it does on new rows, and not what it will do: "
            "explain it on rows that are new to it."
        )


def _warn(message: str) -> None:
    # Three levels up stands the line of the user's that called fit.
    warnings.warn(message, UserWarning, stacklevel=4)
