"""What a fitted explainer says in words, tables and HTML."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.utils import estimator_html_repr

from oleander.arrays import Bools, Floats, Labels
from oleander.black_box.counting import SpentError
from oleander.data.checks import check_count
from oleander.data.frames import as_one_row, take_rows, to_table
from oleander.data.tolerance import agrees
from oleander.learning.union import UnionLearner
from oleander.results.attributes import FittedAttributes
from oleander.results.explaining import describe_far, describe_silence
from oleander.results.explanation import Explanation
from oleander.results.rules import find_rules, name_rule, tabulate_rules
from oleander.results.stability import Stability, measure_stability
from oleander.results.summary import describe_fit, draw_fit
from oleander.results.tolerances import trace_tolerances
from oleander.running.progress import showing_progress
from oleander.running.wording import printable


class ShownExplainer(FittedAttributes):
    """The methods of a fitted explainer that show it: explanations, tables, the summary, HTML in a notebook."""

    black_box: Any

    if TYPE_CHECKING:

        def _label_table(self, X: Any, rows: Floats, readable: Bools | None, labels: Any) -> Labels:
            """Return the black box's labels for the rows of a table, of which some may not be readable."""

    def explain(self, x: Any, *, ask: bool = True) -> Explanation:
        """Return what is said of one row, how sure that is, and what would change it.

        Parameters
        ----------
        x : one-row DataFrame, Series, mapping or one-dimensional array
        ask : bool
            Whether the black box is asked about the row, unless its answer is known. The row is counted.
        """
        table = as_one_row(x)
        if len(table) != 1:
            raise ValueError(f"explain takes one row, and {len(table)} were given; use explain_many for several.")
        rows, readable = self.schema_.encode_readable(table)
        known, why = self._ask(table, rows, readable, ask)
        if readable is not None:
            explanation = Explanation((), unreadable=self.schema_.describe_unreadable(table))
        else:
            explanation = self.record_.explainers.explain(rows[0])
        return replace(explanation, black_box=None if known is None else known[0], not_asked=why)

    @showing_progress
    def explain_many(self, X: Any, *, ask: bool = True) -> pd.DataFrame:
        """Return a line for each row: its answer, whether the black box agrees, the rule, how sure it is, or why not.

        Parameters
        ----------
        X : DataFrame or array
        ask : bool
            Whether the black box is asked about rows whose answer is not known. They are counted. Where it is not here,
            or ``max_queries`` does not allow the rows, it is not asked.

        Returns
        -------
        DataFrame
            With the index of X and the columns ``answer`` and ``black_box`` (None where there is none), ``agrees``,
            ``explainer``, ``rule`` (its name in the summary), ``at_least`` (the lower bound on the rule's fidelity on
            rows that it was not learned from), ``certified`` (that of its explainer, where held-out rows certify it),
            ``why_silent`` and ``far_outside`` (empty where there is nothing to say).
        """
        explainers, members = self.record_.explainers, self.record_.explainers.members
        X = to_table(X)
        rows, readable = self.schema_.encode_readable(X)
        known, _ = self._ask(X, rows, readable, ask)
        answers = explainers.answer(rows, readable)
        given = ~np.ma.getmaskarray(answers)
        responsible = explainers.responsible(rows, readable)
        at_least, certified = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
        names = np.full(len(rows), None, dtype=object)
        for number, member in enumerate(members):
            own = np.flatnonzero(responsible == number)
            found = find_rules(member.explainer, rows[own])
            if found is None:
                names[own] = name_rule(members, number, None)
            else:
                for position in np.unique(found).tolist():
                    names[own[found == position]] = name_rule(members, number, position)
                if member.judged:
                    at_least[own] = np.array([claim.bound for claim in member.judged])[found]
            if member.claim is not None and member.claim.n_rows:
                certified[own] = member.claim.bound
        table = pd.DataFrame(
            {
                "answer": _mask(np.ma.getdata(answers), given),
                "black_box": None if known is None else _mask(known),
                "agrees": None
                if known is None
                else _mask(agrees(np.ma.getdata(answers), known, explainers.tolerance), given),
                "explainer": _mask(responsible, given),
                "rule": _mask(names),
                "at_least": at_least,
                "certified": certified,
                "why_silent": self._list_silence(X, rows, readable, given),
                "far_outside": ["; ".join(words) for words in describe_far(self.schema_, rows)],
            }
        )
        return table.set_index(X.index) if isinstance(X, pd.DataFrame) else table

    def rules_frame(self) -> pd.DataFrame:
        """Return a line for each rule.

        Returns
        -------
        DataFrame
            With the columns ``explainer``, ``rule`` (its position in ``explainers_[explainer].rules()``), ``name`` (as
            in the summary), ``where`` (the region), ``conditions``, ``answer``; ``rows``, ``right``, ``share`` and
            ``at_least``, which are counted on rows that the rule was not learned from, and the exact lower bound, of
            one rule at a time; ``certified``, the bound on its explainer where held-out rows certify it; and
            ``learned_from`` and ``learned_share``, the draws or rows that the rule was learned from and the share of
            them on which it is right. After ``stability``, also ``found``, the refits in which the rule comes back,
            and ``refits``, their number.
        """
        return tabulate_rules(self.record_.explainers.members, self.record_.stability)

    @showing_progress
    def stability(self, n: int = 20) -> Stability:
        """Refit on parts of the draws and say how often each rule comes back; no row is asked about.

        Each refit leaves out a fifth of the rows that draws were made from, with all draws made from them. A rule comes
        back if one rule of the refit with the same answer holds 90% of the rows that it answers. The summary, the page,
        the saved file and ``rules_frame`` then show the figures beside each rule.

        Parameters
        ----------
        n : int
            The number of refits, each of which takes as long as learning did in the fit.
        """
        check_count("n", n)
        record = self.record_
        if record.stability is None or record.stability.n_refits != n:
            program = self._need_workings("no draws to refit on").program
            if not isinstance(program, UnionLearner):
                raise ValueError("stability is for explainers that are learned by asking: a program chose these.")
            limits = record.max_explainers, record.min_fidelity
            found = measure_stability(record.explainers, program, limits, n)
            self._record = replace(self._record, stability=found)
        stability: Stability | None = self._record.stability
        assert stability is not None
        return stability

    @showing_progress
    def tolerances(self, values: Iterable[float | str] | None = None) -> pd.DataFrame:
        """Return what explainers of numbers would do under other tolerances. The black box is not asked.

        Parameters
        ----------
        values : iterable of float or str, or None
            Tolerances as in ``tolerance``. None takes multiples of the explainer's own.

        Returns
        -------
        DataFrame
            A line for each tolerance with the columns ``tolerance``, ``n_rules``, ``coverage``, ``agreement``,
            ``at_least`` and ``status``: "certified" for the tolerance of the fit alone, because a tolerance that is
            picked after looking at several is judged.
        """
        program = self._need_workings("no draws").program
        if not isinstance(program, UnionLearner):
            if self._record.explainers.tolerance is not None:
                raise ValueError("other tolerances can be traced where explainers were learned by asking: fit again.")
            raise ValueError("these explainers explain labels, which have no tolerance: fit with tolerance= first.")
        return trace_tolerances(program, self._record.max_explainers, self._record.min_fidelity, values)

    @showing_progress
    def summary(self) -> str:
        """Return the fit in a few lines of text."""
        record = self.record_
        if record.verdict is None and self._workings is not None:
            record = replace(record, verdict=self.verdict_)
        return printable(describe_fit(record))

    def _repr_html_(self) -> str:
        # Before a fit, scikit-learn shows the parameters.
        return draw_fit(self.record_) if self.__sklearn_is_fitted__() else str(estimator_html_repr(self))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _ask(self, X: Any, rows: Floats, readable: Bools | None, ask: bool) -> tuple[Labels | None, str]:
        """Return the black box's labels, or None and why it was not asked."""
        if not ask:
            return None, ""
        if self._counter is None and self.black_box is None:
            return None, "it is not here"
        try:
            return self._label_table(X, rows, readable, None), ""
        except SpentError as error:
            return None, str(error).rstrip(".")

    def _list_silence(self, X: Any, rows: Floats, readable: Bools | None, given: Bools) -> list[str]:
        explainers = self.record_.explainers
        covered: Bools = np.asarray(explainers.covers(rows, readable).any(axis=0))
        words = [""] * len(rows)
        for place in np.flatnonzero(~given).tolist():
            if readable is not None and not readable[place]:
                words[place] = self.schema_.describe_unreadable(take_rows(X, np.array([place])))
            elif covered[place]:
                words[place] = "the explainers disagree"
            else:
                words[place] = "; ".join(describe_silence(explainers, rows[place]))
        return words


def _mask(values: Any, given: Bools | None = None) -> pd.Series:
    """Return values as objects, None where there is none."""
    found = pd.Series(np.asarray(values).tolist(), dtype=object)
    return found if given is None else found.where(given, None)
