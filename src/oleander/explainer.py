"""AggregateExplainer: a few rules or local explainers of a black box, each faithful by itself, with wide coverage."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr

from oleander.arrays import Bools, Ints
from oleander.black_box.asking import predict_of
from oleander.candidates.balls import Balls
from oleander.data.checks import check_choice
from oleander.data.rows import Rows
from oleander.draws.between_neighbours import measure_realism
from oleander.draws.in_ball import Bounds
from oleander.export.dossier import write_folder
from oleander.export.python import write_python
from oleander.export.sql import write_sql
from oleander.files.saved import FileError, read_file, write_file
from oleander.fitting.editing import Editor
from oleander.fitting.engine import Engine
from oleander.fitting.fit import fit_explainers
from oleander.fitting.new_rows import NewRows
from oleander.fitting.options import Given, Parameters, Program
from oleander.fitting.rule_learner import judge_plain_tree
from oleander.fitting.rules_on_draws import route
from oleander.judging.certificate import JointCertificate
from oleander.judging.floor import Floor
from oleander.messages import one_line, visible
from oleander.reserve import Reserve
from oleander.results.evaluation import Evaluation, Uncovered
from oleander.results.explainer_set import fill_silence
from oleander.results.explanation import Explanation
from oleander.results.fit_record import FitRecord, tabulate_rules
from oleander.results.tradeoff import TradeOff, read_grid
from oleander.router import Router
from oleander.rules import FilteredTree, LocalExplainer
from oleander.running.progress import showing_progress, tell_progress
from oleander.watch import COVERAGE_KEPT, Watch
from oleander.words.dossier import Headings
from oleander.words.html import draw_fit
from oleander.words.summary import summarize

# The largest number of leaves of the tree in ``verdict_``.
MOST_LEAVES = 20


class AggregateExplainer(Parameters):
    """Explain a black box with at most K local explainers, faithful where they speak and silent elsewhere.

    By default an explainer is a rule: conditions and an answer. Rules are learned from draws that the black box labels.
    At most ``max_explainers`` of them are chosen that cover the most draws, and each says what the black box says on at
    least ``min_fidelity`` of all draws where it holds. ``proof_`` bounds what other candidate rules could cover. Then
    the rows judge the answers: with a background or held-out rows, it is certified that at least ``min_fidelity`` of
    them are the black box's. Where several rules hold, the most faithful one answers.

    ``candidates=Balls(...)`` and ``AggregateExplainer.paper`` choose small models in balls around rows instead, with an
    integer program over the rows.

    Parameters
    ----------
    black_box : object with ``predict``, or callable
        Rows in, labels or numbers out. It is asked, never fitted or copied.
    max_explainers : int or None
        The largest number of explainers (K in the paper), each of which is one rule unless ``candidates`` are given.
        None is 10, and for rules about more than five classes twice the number of classes.
    min_fidelity : float
        The floor (φ in the paper).
    candidates : Boxes, Generator or several
        ``Boxes()`` learns rules by asking: the black box labels draws, boxes are learned and chosen on the draws, and
        the rows judge. Otherwise a program chooses among the candidates of generators: ``Balls()`` (the paper's), or
        generators that you write.
    draws : Draws
        The number of draws, and how many rows the black box gets in one call. ``Draws(0)`` makes none: rules learn from
        labelled rows, those of the background or those that are not held out, or else from X, judged by folds.
    program : Program
        The integer program that chooses among the candidates of generators.
    floor : Floor
        The measure that is compared with ``min_fidelity``, and the confidence of its bounds.
    tolerance : float, str or None
        Explains numbers: an answer agrees if it is within the tolerance of the black box's, in its units. "10%" is a
        share of its answer, and "auto" follows the answers; see docs/how-to/regression.md. None explains labels.
    output : Output
        What is explained of the model: its answer, the probability of a class, or whether a number is over a threshold.
    holdout : float or None
        The share of rows that is kept for the certificate alone. With a background every row of X certifies, and no
        hold-out is needed. None keeps all but 2,000 rows (or groups) of 5,000 and more, where explainers are learned by
        asking and there is no background, and none elsewhere: then nothing is certified. 0 always keeps none.
    schema : FeatureSchema or None
        None infers it from the rows.
    max_queries : int or None
        The maximum number of rows ever sent to the black box. Fewer draws are made if it does not pay for all; if
        training would take more, the answer is the best of what could be trained, with its gap.
    checkpoint : path or None
        A folder that keeps the black box's answers and each trained explainer as it is done. A fit of the same data and
        options resumes from there and asks none of the rows again. It holds no row, only hashes.
    random_state : int or None
    n_jobs : int or None
        As in joblib: the black box is asked on as many processes, or on the workers of joblib's backend (threads,
        Dask). Where it is None, folds run on a thread for each core.
    verbose : int or None
        None shows progress bars in a terminal and in a notebook once work takes over two seconds, 0 shows none, and 1
        shows them everywhere.

    Attributes
    ----------
    explainers_ : list of ChosenExplainer
        The chosen explainers, the widest first. Where several cover a row, the most faithful one answers.
    coverage_, fidelity_ : float
        The share of rows that the explainers cover, of the rows that judged or chose them; and the lowest fidelity of
        an explainer on the same rows, each counted on all of them in its region.
    evaluation_ : Evaluation
        Coverage, fidelity and more, class by class, on the same rows.
    proof_ : Proof or None
        Objective, bound, gap and status of the choice, on draws for rules and on rows for balls.
    certificate_ : Certificate or None
        What rows that nothing was learned from allow to be claimed. Choosing among several fits on the same rows (other
        seeds, numbers of explainers, floors or backgrounds) voids it.
    n_fits_ : int
        How often this object was fitted on these rows, this fit included.
    model_score_ : ModelScore or None
        How often the black box itself is correct, where explainers answer and where not; None without ``y``.
    tolerance_ : float, str or None
        The tolerance of the answers, also where it was found ("auto"); None for labels.
    exact_, accuracy_ : Evaluation, Accuracy or None
        The evaluation on every row of a source, without any error of sampling; and how far the shares of the sample are
        from the exact ones, and what was promised.
    schema_ : FeatureSchema
        The schema of the rows.
    pool_, result_ : CandidatePool, SelectionResult
        Where a program chose: all candidates, and the solver's answer, point by point (equal rows are one point). They
        are not saved.
    record_ : FitRecord
        The record of the fit, which the other attributes are read from.
    engine_, new_rows_ : Engine or None, NewRows
        For other parts of this package: what the fit keeps beside its record, None for an explainer from a file; and
        what reads other rows.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> atlas = AggregateExplainer(lambda X: X[:, 0] > 0.5, max_explainers=3, random_state=0).fit(X)
    >>> atlas.coverage_ > 0.9
    True
    """

    @classmethod
    def paper(
        cls,
        black_box: Any,
        *,
        radius: float | Sequence[float] | str,
        n_draws: int = 10_000,
        local: LocalExplainer | None = None,
        max_flips: int | None = None,
        scale: Literal["schema", "none"] = "none",
        centers: Literal["rounded", "rows"] = "rows",
        max_candidates: int | None = None,
        bounds: Bounds | None = None,
        formulation: Literal["strict", "selective"] | None = None,
        solver: str = "auto",
        time_limit: float | None = 60.0,
        proof: Literal["enough", "full"] = "enough",
        letter: bool = False,
        max_explainers: int = 10,
        **others: Any,
    ) -> Self:
        """Return the system of the paper: balls around rows, a tree in each, and the integer program.

        Every row is a center, whole trees grow on the filtered features, the floor is on the share of the rows in a
        ball, and there is no minimum support, no limit on rules and no hold-out. Three things differ from the print
        unless ``letter`` is set: the filter stops at information that is not significant, draws beyond the bounds of
        the columns are moved to the bounds, and the program is that of the definition of fidelity. With ``letter`` too,
        trees split at readable numbers and merge sibling leaves that say the same, two misprints of the filter are
        corrected, whole numbers, levels and missing values are drawn as such, equal rows are one point, and the program
        stops at a time limit; docs/the-paper.md has the details.

        Parameters
        ----------
        black_box : object with ``predict``, or callable
        radius : float, sequence of float or "auto"
            r in the paper, in raw units (``scale="none"``, also with a schema).
        n_draws, local, max_flips, scale, centers, max_candidates, bounds
            As in ``oleander.Balls``. ``n_draws`` is N in the paper.
            ``local=None`` is a whole tree behind the information filter, and ``bounds=None`` is "clipped", or "uncut"
            with ``letter``.
        formulation, solver, time_limit
            As in ``oleander.Program``: "strict" is the paper's definition of fidelity (its problem 3), and "selective"
            its printed program (Proposition 3). None is "strict", and "selective" with ``letter``.
        letter : bool
            The letter of the paper, as far as nothing else is given: the filter stops where no information is positive
            (``alpha=None``), draws fill the whole ball, and the printed program chooses.
        max_explainers : int
            K in the paper.
        **others
            Other parameters of ``AggregateExplainer``, such as ``min_fidelity`` (φ in the paper).

        Examples
        --------
        >>> AggregateExplainer.paper(print, radius=7.0, letter=True).program.formulation
        'selective'
        """
        tree = FilteredTree(max_leaves=None, alpha=None) if letter else FilteredTree(max_leaves=None)
        balls = Balls(
            radius,
            scale=scale,
            max_flips=max_flips,
            max_candidates=max_candidates,
            n_draws=n_draws,
            local=tree if local is None else local,
            centers=centers,
            bounds=bounds or ("uncut" if letter else "clipped"),
        )
        program = Program(formulation or ("selective" if letter else "strict"), solver, time_limit, proof)
        floor = Floor(on="share", min_support=1)
        return cls(black_box, max_explainers=max_explainers, candidates=balls, program=program, floor=floor, **others)

    @showing_progress
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
        background: Any = None,
        columns: Any = None,
        floor_by: Any = None,
        labels: Any = None,
        key: str | None = None,
    ) -> Self:
        """Choose explainers for the black box on these rows.

        Use rows that are new to the black box, which has memorised its training rows. Those are the best background.

        Parameters
        ----------
        X : pandas, polars or other frame, array of shape (n_rows, n_features), or source of many rows
            Columns of a frame are taken by name, here and in every other method; those that the black box was not
            fitted on (``feature_names_in_``) are left out. Of a source (Parquet, Dask, Source) a sample is
            explained, and every row is then counted block by block. See ``exact_``, ``oleander.open_source`` and
            docs/scale.md. With ``key``, a table that stays in its engine.
        y : array of shape (n_rows,), optional
            True labels. Nothing is learned from them; they show how often the black box itself is correct, and whether
            it has seen these rows before. In a source the name of a column, which then is no feature.
        groups : array of shape (n_rows,), optional
            The group of each row (one patient, one trial): no group is both learned from and judged on. In a source the
            name of a column.
        background : DataFrame, array or source, optional
            Rows that show where data lie, such as the black box's training rows. Draws are made from them, and every
            row of X judges. Without a background, draws are made from the rows that ``holdout`` leaves, or else from
            X itself: fold by fold, or of 5,000 rows (or groups) and more from 2,000, while the others judge.
        columns : mapping or frame, optional
            A data dictionary: the description of a column by its name, or a pair of description and unit; or a frame
            with the columns name, description and unit. Rules, page and exports use these words.
        floor_by : name of a column, several, or array of shape (n_rows,), optional
            Subgroups of the rows: a column of X, the combinations of several, or values. ``min_fidelity`` must then be
            shown within every subgroup, or the rules are silent there. The model need not read the columns. See
            docs/how-to/floors-by-group.md.
        labels : array of shape (n_rows,) or name of a column, optional
            The black box's logged answers for the rows, about which it is then not asked. Draws still need it: without
            a model (``black_box=None``) rules learn from rows, ``draws=Draws(0)``.
        key : name of a column, optional
            X is a table that stays in its engine (DuckDB relation, polars LazyFrame, PySpark or Dask DataFrame, ibis
            table, path of Parquet files), and this column has a different whole number in each row. A sample is drawn
            by its hash, the same in every engine, and explained. If ``labels`` names a column, one query counts all
            other rows, which certify. ``y`` and ``groups`` name columns too; of groups, which are whole numbers, whole
            ones are drawn. See docs/how-to/engines.md.
        """
        record, engine = fit_explainers(self, Given(X, y, groups, background, columns, floor_by, labels, key))
        # Nothing is set before this line: an error or an interrupt leaves the object as it was.
        new, content = NewRows(self, record, engine.known, engine.black_box, engine.seen), engine.reading.content
        if "record_" in vars(self):
            new.fits, new.reserves = self.new_rows_.fits, self.new_rows_.reserves
        new.fits[content] = new.fits.get(content, 0) + 1
        self._set_record(replace(record, n_fits=new.fits[content]), engine, new)
        return self

    def _set_record(self, record: FitRecord, engine: Engine | None, new: NewRows) -> None:
        """Set everything that a fit or a file brings, and nothing else."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self.record_, self.engine_, self.new_rows_ = record, engine, new
        self.explainers_, self.evaluation_ = list(record.explainers.members), record.evaluation
        self.coverage_, self.fidelity_ = record.evaluation.coverage, record.evaluation.fidelity
        self.proof_, self.certificate_ = record.proof, record.certificate
        self.n_fits_, self.model_score_ = record.n_fits, record.model_score
        self.tolerance_ = record.parameters["tolerance"]
        self.exact_, self.accuracy_ = record.exact, record.accuracy
        self.schema_, self.n_features_in_ = record.schema, len(record.schema)
        columns = record.schema.columns
        if columns is not None and all(isinstance(column, str) for column in columns):
            self.feature_names_in_ = np.array(columns, dtype=object)
        self.__dict__.update({} if engine is None else engine.attributes)

    def __getattr__(self, name: str) -> Any:
        # This is called for what is not set. Names of what a fit sets end with "_".
        if name.endswith("_") and not name.startswith("_") and "record_" not in vars(self):
            raise NotFittedError("this AggregateExplainer is not fitted: call fit with the rows to be explained first.")
        return object.__getattribute__(self, name)

    def _need_engine(self, lack: str, cure: str = "fit one to get it") -> Engine:
        """Return what the fit has kept; ``NotFittedError`` where the explainer was loaded from a file."""
        if self.engine_ is None:
            raise NotFittedError(f"this explainer was loaded from a file, which holds {lack}: {cure}.")
        return self.engine_

    @property
    def n_queries_(self) -> int:
        """Rows sent to the black box, by the fit and by every later method."""
        return self.new_rows_.n_queries

    @property
    def realism_(self) -> float | None:
        """The accuracy with which a classifier tells draws from rows; 0.5 is ideal. None without draws."""
        if self.record_.realism is None and self.record_.from_draws and self.engine_ is not None:
            learner = self.engine_.learner
            with tell_progress("comparing draws with rows"):
                realism = measure_realism(learner.draws.values, learner.rows.values, self.schema_, learner.seed)
            self.record_ = replace(self.record_, realism=realism)
        return self.record_.realism

    @property
    def verdict_(self) -> pd.DataFrame:
        """What one tree that answers every row would do, judged on rows that it was not grown on.

        ``leaves_alone`` is the share of leaves that reach the floor alone.
        """
        if self.record_.verdict is None:
            learner = self._need_engine("no verdict").learner
            with tell_progress("judging what one tree would do"):
                tree = judge_plain_tree(learner, self.record_.min_fidelity, MOST_LEAVES)
            self.record_ = replace(self.record_, verdict=tree)
        return pd.DataFrame([self.record_.verdict])

    # Answers for other rows.

    def predict(self, X: Any, *, abstain: Any = np.ma.masked, floor_by: Any = None) -> Any:
        """Return the explainers' labels, masked where they are silent; with ``abstain``, a plain array with that value.

        A row with a value that a column of the rules never had, such as a new level, is left unanswered.
        ``floor_by`` is for a fit with an array of that name: the values of these rows.
        """
        explainers = self.record_.explainers
        return fill_silence(explainers.answer_blocks(self.new_rows_.encode_blocks(X, floor_by)), abstain)

    def covers(self, X: Any) -> Bools:
        """Return a mask of the rows that each chosen explainer covers, of shape (n_explainers, n_rows)."""
        explainers = self.record_.explainers
        return np.concatenate([explainers.covers(*block) for block in self.new_rows_.encode_blocks(X)], axis=1)

    def responsible(self, X: Any) -> Ints:
        """Return the number of the explainer that answers each row; -1 where they are silent."""
        explainers = self.record_.explainers
        return np.concatenate([explainers.responsible(*block) for block in self.new_rows_.encode_blocks(X)])

    @showing_progress
    def evaluate(self, X: Any, labels: Any = None, *, floor_by: Any = None, key: str | None = None) -> Evaluation:
        """Compare the explainers with the black box on other rows.

        Parameters
        ----------
        X : frame, array, path of Parquet files, or table in an engine
            A DuckDB relation, polars LazyFrame, PySpark DataFrame, ibis table or Dask DataFrame stays where it is if
            ``labels`` names a column. One query counts its rows, and reads only the columns that the rules use; see
            docs/how-to/engines.md.
        labels : array or name of a column, optional
            The black box's labels, if they are known. Otherwise it is asked, and the rows are counted.
        floor_by : array of shape (n_rows,), optional
            As in ``predict``.
        key : name of a column, optional
            Of a large table in an engine without ``labels``, a sample is drawn by a hash of this column, another than
            that of ``fit``, and the black box is asked about the sample alone.

        Examples
        --------
        >>> import polars
        >>> X = pd.DataFrame(np.random.default_rng(0).uniform(size=(400, 2)), columns=["age", "dose"])
        >>> atlas = AggregateExplainer(lambda X: X["age"] > 0.5, random_state=0).fit(X)
        >>> visits = polars.LazyFrame({"age": [0.1, 0.9, None], "dose": 0.3, "model_said": [False, True, True]})
        >>> atlas.evaluate(visits, labels="model_said").n_right
        2
        """
        return self.new_rows_.judge(X, labels, floor_by=floor_by, key=key).evaluate()

    @showing_progress
    def certify(self, X: Any, labels: Any = None, *, groups: Any = None, key: str | None = None) -> JointCertificate:
        """Return what other rows allow to be claimed with the confidence of ``floor``.

        They must be an independent sample of the rows that the claim is about, and new: rows that helped to choose one
        of several fits certify nothing. Rows in memory that this fit has seen are refused.

        Parameters
        ----------
        X, labels, key
            As in ``evaluate``.
        groups : array or name of a column, optional
            The group of each row (one patient, one trial).
        """
        judged = self.new_rows_.judge(X, labels, groups, key=key, new=True)
        return judged.answers.certify(judged.labels, self.floor.confidence, judged.weights, judged.groups)

    def watch(self, path: str | os.PathLike[str], *, min_coverage: float | None = None, level: float = 0.05) -> Watch:
        """Return a watch over new rows, kept in a file: add batches of rows, and look as often as you like.

        Parameters
        ----------
        path : path
            The file, which is created if needed.
        min_coverage : float or None
            The share of rows that is answered while all is well. None is nine tenths of the fit's coverage.
        level : float
            The probability of a false alarm, ever.

        Examples
        --------
        >>> X = np.random.default_rng(0).uniform(size=(400, 3))
        >>> atlas = AggregateExplainer(lambda X: X[:, 0] > 0.5, random_state=0).fit(X)
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     print(atlas.watch(f"{folder}/watch.sqlite").add(X, name="Monday"))
        All is well (1 batch, 400 rows).
        """
        wanted = COVERAGE_KEPT * self.coverage_ if min_coverage is None else min_coverage
        return Watch(path, self.record_, self.evaluate, min_coverage=wanted, level=level)

    def without(self, *rules: int) -> Self:
        """Return a new explainer without some rules, by their numbers from 1; this one stays as it is.

        Here as in ``with_rule`` and ``with_threshold``, what the rules answer is counted again on draws and rows, and
        nothing is certified: see ``reserve``. Both explainers count the rows sent to the black box together.
        """
        return self._with_record(self._make_editor().without(*rules))

    def with_rule(self, conditions: str, answer: Any, *, force: bool = False) -> Self:
        """Return a new explainer with one more rule, which stands last.

        Parameters
        ----------
        conditions : str
            As rules are printed: "age > 60 and gait ≤ 12"; see ``oleander.rules.parsing.parse_conditions``.
        answer : label or number
        force : bool
            Whether the rule is added although it is under ``min_fidelity`` on draws. It is then marked wherever it is
            shown.

        Examples
        --------
        >>> X = np.random.default_rng(0).uniform(size=(400, 3))
        >>> atlas = AggregateExplainer(lambda X: X[:, 0] > 0.5, random_state=0).fit(X)
        >>> edited = atlas.without(1).with_rule("x0 > 0.6 and x1 <= 0.9", True)
        >>> len(edited.explainers_) == len(atlas.explainers_), edited.certificate_ is None
        (True, True)
        """
        return self._with_record(self._make_editor().with_rule(conditions, answer, force=force))

    def with_threshold(self, rule: int, column: str, value: Any, *, force: bool = False) -> Self:
        """Return a new explainer with another bound in one condition of a rule.

        ``value`` is a number or a date, or a pair where the rule bounds the column on both sides.
        """
        return self._with_record(self._make_editor().with_threshold(rule, column, value, force=force))

    def edit(self, edits: Sequence[Mapping[str, Any]], X: Any = None, labels: Any = None) -> Self:
        """Return a new explainer after several edits, as the page and ``oleander edit`` exchange them.

        Parameters
        ----------
        edits : sequence of mappings
            Each has ``do``, one of "without" (``rule``), "with_rule" (``conditions``, ``answer``, ``force``),
            "with_threshold" (``rule``, ``column``, ``value``, ``force``) and "note" (``rule``, ``text``). Numbers of
            rules are those of this explainer, before all edits.
        X, labels : DataFrame or array, and the black box's answers
            Rows to count on, in place of the draws and rows of the fit, which a file does not hold.
        """
        return self._with_record(self._make_editor(X, labels).apply(edits))

    @showing_progress
    def reserve(
        self,
        X: Any,
        labels: Any = None,
        *,
        groups: Any = None,
        path: str | os.PathLike[str] | None = None,
    ) -> Reserve:
        """Return a reserve of new rows that certifies edited explainers, as often as you like.

        It shows whether a test passed, and nothing else of its rows. So edits may be made by looking at the draws and
        rows of the fit, and everything that it ever certifies is true together with the confidence of ``floor``.

        Parameters
        ----------
        X : DataFrame or array
            New rows, which the editor does not look at. More rows of the fit, of ``edit`` and of another reserve than
            chance explains are refused.
        labels, groups
            As in ``certify``.
        path : path or None
            A file that remembers the tests. Without one, they are forgotten at the end of the process.
        """
        return Reserve.open(self.new_rows_, X, labels, groups, path)

    def _make_editor(self, X: Any = None, labels: Any = None) -> Editor:
        """Return what edits the rules, on the draws and rows of the fit or on given rows."""
        self.new_rows_.refuse_floor_by("edited rules")
        if X is not None:
            return self.new_rows_.make_editor(X, labels)
        engine = self._need_engine("no draws and rows to count on", "give some, as in edit(edits, X, labels)")
        return engine.make_editor(self.record_)

    def _with_record(self, record: FitRecord) -> Self:
        """Return an explainer like this one with another record; rows that were asked about are counted in both."""
        other = type(self)(**(self.get_params(deep=False) | {"min_fidelity": record.min_fidelity}))
        other._set_record(record, self.engine_, replace(self.new_rows_, options=other, record=record))
        return other

    @showing_progress
    def router(self, model: Any = None, *, target: float | None = None) -> Router:
        """Return a scikit-learn estimator that answers by these rules, and asks the model where they are silent.

        It has ``predict``, ``certificate_``, ``cost`` and its rules in ``atlas``.

        Parameters
        ----------
        model : object with ``predict``, callable or None
            The model that the rules explain. None is the black box of the fit.
        target : float or None
            The share of all rows on which the router is to say what the model says. It chooses the widest rules for
            which the judging rows show that, learned from the same draws: nothing is asked. None takes the rules as
            they are.
        """
        asked = self.black_box if model is None else model
        if asked is None:
            raise ValueError("there is no black box to ask: give one, as in atlas.router(model).")
        predict_of(asked)
        record = self.record_
        if target is None:
            return Router(self, asked)
        learner = self._need_engine("no rule sets that target= could choose from").learner
        return Router(self._with_record(route(record, learner, target)), asked)

    @showing_progress
    def uncovered(self, X: Any) -> Uncovered:
        """Describe the silent rows: their number, and where they are frequent. The black box is not asked."""
        return self.new_rows_.find_uncovered(X)

    # What is said of a row, of each rule, and of the fit.

    def explain(self, x: Any, *, ask: bool = True, change: bool = True) -> Explanation:
        """Return what is said of one row, how sure that is, and what would change it.

        Parameters
        ----------
        x : one-row DataFrame, Series, mapping or one-dimensional array
        ask : bool
            Whether the black box is asked about the row, unless its answer is known. The row is counted. Where it is
            not asked, the row needs the columns of the rules only.
        change : bool
            Whether the smallest change that gives another answer is sought, which takes most of the time.
        """
        return self.new_rows_.explain(x, ask=ask, change=change)

    @showing_progress
    def explain_many(self, X: Any, *, ask: bool = True) -> pd.DataFrame:
        """Return a line for each row: its answer, whether the black box agrees, the rule, how sure it is, or why not.

        Parameters
        ----------
        X : DataFrame or array
        ask : bool
            Whether the black box is asked, where it is here, about rows whose answer is not known. They are counted.

        Returns
        -------
        DataFrame
            With the index of X and the columns ``answer`` and ``black_box`` (None where there is none), ``agrees``,
            ``explainer`` (from 1), ``rule`` (its name in the summary), ``at_least`` (the lower bound on the rule's
            fidelity on rows that it was not learned from), ``why_silent`` and ``far_outside`` (empty where there is
            nothing to say).
        """
        return self.new_rows_.explain_many(X, ask=ask)

    def rules_frame(self) -> pd.DataFrame:
        """Return a line for each rule.

        Returns
        -------
        DataFrame
            With the columns ``explainer`` and ``rule`` (numbers from 1), ``name`` (as in the summary), ``where`` (the
            region), ``conditions``, ``answer``; ``rows``, ``right``, ``share`` and the exact lower bound ``at_least``,
            counted on rows that the rule was not learned from; ``certified``, the bound on its explainer where held-out
            rows certify it; ``learned_from`` and ``learned_share``, the draws or rows that the rule was learned from
            and the share of them on which it is correct.
        """
        return tabulate_rules(self.record_.explainers.members)

    @showing_progress
    def tradeoff(
        self, *, max_explainers: Sequence[int] | None = None, min_fidelity: Sequence[float] | None = None
    ) -> TradeOff:
        """Return the best choice for each number of explainers and floor, with its explainers.

        None takes numbers up to the explainer's own, and floors around its own. Candidates are trained as needed. The
        trade-off is kept, and saved with the explainer.
        """
        record = self.record_
        if max_explainers is None and min_fidelity is None and record.tradeoff is not None:
            return record.tradeoff
        if record.n_edits:
            raise ValueError("edited rules have no trade-off: trace that of the explainer before its edits.")
        grid = read_grid(record.cell, max_explainers, min_fidelity)
        found = self._need_engine("no trade-off").tradeoff(record.cell, *grid)
        self.record_ = replace(self.record_, tradeoff=found)
        return found

    @showing_progress
    def summary(self) -> str:
        """Return the fit in a few lines of text."""
        if self.record_.verdict is None and self.engine_ is not None:
            self.verdict_  # noqa: B018 (made when it is first read)
        self.realism_  # noqa: B018 (likewise)
        return summarize(self.record_)

    def _repr_html_(self) -> str:
        # Before a fit, scikit-learn shows the parameters.
        return draw_fit(self.record_) if "record_" in vars(self) else str(estimator_html_repr(self))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    @showing_progress
    def report(self, path: str | os.PathLike[str] | None = None, X: Any = None, **options: Any) -> Any:
        """Write the explainers as one page of HTML that opens anywhere; see ``oleander.report.make_page``.

        Without a path the page is returned, and a notebook shows it in the cell.
        """
        # The report is a layer above this one, so it is imported when it is asked for.
        from oleander.report import make_page

        page = make_page(self, X, **options)
        return page if path is None else page.save(path)

    # For other programs.

    def _shareable(self, include_rows: bool) -> FitRecord:
        """Return the record as it may leave the program; ``ValueError`` where it would hold rows of the data."""
        record = replace(self.record_, n_queries=self.n_queries_, realism=self.realism_)
        if not include_rows and self.engine_ is not None:
            record = record.without_records(self.engine_.known.values)
        return record

    def to_sql(
        self,
        dialect: str = "duckdb",
        *,
        table: str = "data",
        flags: bool = False,
        include_rows: bool = False,
    ) -> str:
        """Return a SELECT that adds the column ``answer`` to a table: as ``predict`` gives it, NULL where it is silent.

        ``table`` is the name of a table or view with every column of X: numbers as numbers, levels as they were. With
        ``flags`` the column ``ask_model`` is true where the answer is NULL. ``ExportError`` says what cannot be written
        exactly.
        """
        self.new_rows_.refuse_floor_by("SQL")
        return write_sql(self._shareable(include_rows).explainers, dialect, table, flags=flags)

    def to_python(self, *, include_rows: bool = False) -> str:
        """Return a module with ``predict(row)`` and ``predict_many(rows)`` that needs the standard library only.

        A row is a mapping from names of columns to values. The answer is None where ``predict`` is silent.
        """
        return write_python(self._shareable(include_rows).explainers, self.record_.floor_by)

    def to_dict(self, *, include_rows: bool = False) -> dict[str, Any]:
        """Return everything that ``save`` writes, as plain data for JSON."""
        return self._shareable(include_rows).to_dict()

    def dossier(
        self,
        folder: str | os.PathLike[str],
        *,
        title: str = "How the model decides",
        intended_use: str = "",
        headings: Headings = "plain",
        model_file: str | os.PathLike[str] | None = None,
    ) -> None:
        """Write a folder of evidence that a third party can check without Oleander.

        It holds a README with what reviewers ask for, the rules as JSON and as Python, every figure with
        hashes of the rows and of the model's answers, and ``recompute.py``, which needs the standard library only and
        recomputes the figures from a CSV file of the rows and the model's answers.

        Parameters
        ----------
        folder : path
        title, intended_use : str
            What the model is, and what it is for, which only you know.
        headings : {"plain", "annex-iv"}
            Intended use, data, performance and so on; or those of Annex IV of the EU AI Act.
        model_file : path or None
            The model's file, of which the hash is written.
        """
        check_choice("headings", headings, get_args(Headings))
        write_folder(
            self._shareable(False),
            None if self.engine_ is None else self.engine_.rows,
            Path(folder),
            title=title,
            intended_use=intended_use,
            headings=headings,
            confidence=self.floor.confidence,
            model_file=None if model_file is None else Path(model_file),
        )

    def save(self, path: str | os.PathLike[str], *, include_rows: bool = False) -> None:
        """Write the explainers to a file of JSON: data, never code.

        No row of X is written unless ``include_rows`` is set: a ball around a row of X holds that row. Balls around
        rounded rows, the default, do not. Bounds of columns are rounded, and levels that few rows hold have no name.
        """
        write_file(path, self.to_dict(include_rows=include_rows))

    @classmethod
    def load(cls, path: str | os.PathLike[str], black_box: Any = None) -> Self:
        """Read a saved explainer. It predicts and explains; with the black box given, it evaluates too."""
        content = read_file(path)
        try:
            record = FitRecord.from_dict(content)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise FileError(f"{visible(path)} is not a saved explainer that can be read: {one_line(error)}.") from error
        atlas = cls(black_box, **record.parameters)
        atlas._set_record(record, None, NewRows(atlas, record, Rows.empty(record.schema)))
        return atlas
