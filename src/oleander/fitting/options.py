"""The estimator's parameters, with those of its parts, and the options of a fit, checked before it starts."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator

from oleander.arrays import Labels
from oleander.black_box.output import Output
from oleander.candidates.balls import Balls, find_generators
from oleander.candidates.base import Generator
from oleander.data.checks import check_choice, check_count, check_positive, check_share
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance
from oleander.draws import Draws
from oleander.judging.floor import Floor
from oleander.rules import FilteredTree
from oleander.selection.solvers import get_solver

DEFAULT_CONFIDENCE = 0.95
DEFAULT_NUMBER = 10
DEFAULT_TIME_LIMIT = 60.0
# Options that may differ when a fit resumes from a checkpoint.
FREE_TO_CHANGE = ("black_box", "checkpoint", "n_jobs", "verbose", "time_limit", "schema")


class NestedEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator some of whose parameters, its parts, are frozen dataclasses.

    The options of a part are read and set under its name: ``floor__on``. Copies of the estimator share its parts, which
    never change: setting an option puts a changed part in the place of the old one.

    Attributes
    ----------
    PARTS : tuple of str
        The parameters that may be parts.
    """

    PARTS: ClassVar[tuple[str, ...]] = ()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also the options of each part, such as ``floor__on``."""
        params = dict(super().get_params(deep=False))
        return params | self._options(params) if deep else params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, and options of parts: ``candidates__radius=2.0``.

        A part that is given in the same call is set before its options. An unknown name changes nothing.
        """
        changed = self.get_params(deep=False)
        changed |= {name: value for name, value in params.items() if name in changed}
        known = changed | self._options(changed)
        unknown = [name for name in params if name not in known]
        if unknown:
            raise ValueError(f"there is no parameter {unknown[0]!r}; there are {', '.join(sorted(known))}.")
        for name, value in params.items():
            part, _, option = name.partition("__")
            if option:
                changed[part] = replace(changed[part], **{option: value})
        for name, value in changed.items():
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Self:
        # Parameters are passed on as they are: a fitted model among them, such as a black box, must stay fitted.
        return type(self)(**self.get_params(deep=False))

    def _options(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the options of all parts by their nested names."""
        return {
            f"{name}__{field.name}": getattr(params[name], field.name)
            for name in self.PARTS
            if is_dataclass(params[name])
            for field in fields(params[name])
        }


@dataclass(frozen=True, eq=False)
class Options:
    """The parameters of an ``AggregateExplainer``, as they are when ``fit`` is called."""

    black_box: Any
    max_explainers: int | None
    min_fidelity: float
    max_conditions: int | None
    candidates: str | Generator | Iterable[str | Generator]
    draws: Draws
    floor: Floor
    formulation: Literal["strict", "selective"]
    tolerance: float | str | None
    output: Output
    holdout: float | None
    confidence: float
    schema: FeatureSchema | None
    max_queries: int | None
    checkpoint: str | os.PathLike[str] | None
    solver: str
    time_limit: float | None
    random_state: int | None
    n_jobs: int | None
    verbose: int | None

    @property
    def asks(self) -> bool:
        """Whether rules are learned by asking the black box about draws, or about rows in their place."""
        return isinstance(self.candidates, str) and self.candidates == "auto"

    @property
    def agrees_within(self) -> Tolerance | Literal["auto"] | None:
        """The tolerance of the answers; None for labels."""
        if self.tolerance is None:
            return None
        return "auto" if self.tolerance == "auto" else Tolerance.read(self.tolerance)

    def read_truth(self, truth: Labels) -> Labels:
        """Return true answers as the black box answers."""
        return self.output.of_truth(truth, is_number=self.tolerance is not None)

    @property
    def limits(self) -> tuple[int, float]:
        """The largest number of explainers where a program chooses among candidates, and the floor."""
        return int(self.max_explainers or DEFAULT_NUMBER), float(self.min_fidelity)

    @property
    def remembered(self) -> dict[str, Any]:
        """The options that must be the same when a fit resumes from a checkpoint."""
        return {name: value for name, value in vars(self).items() if name not in FREE_TO_CHANGE}

    def check(self) -> None:
        """Raise an error for a value that is not allowed."""
        check_count("max_explainers", self.max_explainers, or_none=True)
        check_share("min_fidelity", self.min_fidelity, with_one=True)
        check_count("max_conditions", self.max_conditions, or_none=True)
        check_share("confidence", self.confidence)
        if self.holdout is not None:
            check_share("holdout", self.holdout, with_zero=True)
        check_count("max_queries", self.max_queries, 2, or_none=True)
        check_count("random_state", self.random_state, 0, or_none=True)
        check_positive("time_limit", self.time_limit, or_none=True)
        if not isinstance(self.verbose, bool):
            check_count("verbose", self.verbose, 0, or_none=True)
        self._check_running()
        get_solver(self.solver)
        self._check_answers()
        check_choice("formulation", self.formulation, ("strict", "selective"))
        if self.schema is not None and not isinstance(self.schema, FeatureSchema):
            raise TypeError(f"schema is a {type(self.schema).__name__}; give a FeatureSchema, or None to infer it.")
        if not isinstance(self.floor, Floor):
            raise TypeError(f"floor is a {type(self.floor).__name__}; give a Floor, such as Floor(on='share').")
        self.floor.check()
        if not isinstance(self.draws, Draws):
            raise TypeError(f"draws is a {type(self.draws).__name__}; give Draws, such as Draws(5_000).")
        self.draws.check()
        if self.formulation == "selective" and self.floor.on == "bound" and not self.asks:
            raise ValueError("formulation='selective' counts rows itself and knows no bound: use floor=Floor('share').")

    @staticmethod
    def check_arguments(others: Iterable[str]) -> None:
        """Raise ``TypeError`` for arguments that ``fit`` does not have."""
        if "sample_weight" in others:
            raise TypeError(
                "fit takes no sample_weight: coverage and the certificate count the rows of X, each of them once, and "
                "a row that counts for two is not the evidence of two. Leave it out, and give rows in the shares that "
                "you care about, such as a random part of those that weigh less."
            )
        for name in others:
            raise TypeError(f"fit has no argument {name!r}; it takes X, y, groups and background.")

    def _check_running(self) -> None:
        is_whole = isinstance(self.n_jobs, (int, np.integer)) and not isinstance(self.n_jobs, bool)
        if self.n_jobs is not None and not (is_whole and self.n_jobs != 0):
            raise ValueError(
                f"n_jobs={self.n_jobs!r} is not allowed: give a number of processes, -1 for one on each core, or None."
            )
        if self.checkpoint is not None and not isinstance(self.checkpoint, (str, os.PathLike)):
            raise TypeError(f"checkpoint is a {type(self.checkpoint).__name__}; give the path of a folder, or None.")

    def _check_answers(self) -> None:
        if not isinstance(self.output, Output):
            raise TypeError(f"output is a {type(self.output).__name__}; give an Output, such as Output('proba').")
        self.output.check()
        if self.agrees_within is None:
            if self.output.is_number:
                raise ValueError(
                    "output='proba' explains a number: give tolerance=, such as 0.05, or a threshold, such as "
                    "Output('proba', threshold=0.5)."
                )
            return
        if self.output.threshold is not None:
            raise ValueError(
                f"tolerance={self.tolerance!r} is for numbers, and output.threshold={self.output.threshold:g} makes "
                "labels of them: leave out one."
            )

    def check_use(self, *, has_background: bool, is_source: bool, has_truth: bool = False) -> None:
        """Raise ``ValueError`` for an option that would do nothing in this fit.

        Parameters
        ----------
        has_background : bool
        is_source : bool
            Whether X is a source, of which a sample is explained.
        has_truth : bool
            Whether true labels are given.
        """
        if has_truth and self.output.of == "proba":
            raise ValueError("y holds true labels, which cannot be compared with a probability: leave out y.")
        if self.tolerance is not None and not self.asks:
            self._check_numbers_in_balls()
        is_judged_apart = has_background or bool(self.holdout)
        lack = "" if is_judged_apart else "without a background or a holdout"
        if self.asks and self.floor.on == "share":
            lack = lack or "with floor.on='share'"
        if self.confidence != DEFAULT_CONFIDENCE and lack and not is_source:
            raise ValueError(
                f"confidence={self.confidence:g} is that of a certificate, and there is none {lack}: leave it out."
            )
        if self.asks:
            self._check_asking(has_background, is_judged_apart)
        elif self.max_conditions is not None:
            raise ValueError(
                f"max_conditions={self.max_conditions} is for candidates='auto': leave it out; small trees have "
                "max_leaves."
            )
        elif has_background:
            raise ValueError(
                "background shows where draws are made, and these candidates make none: leave it out, or use "
                "candidates='auto'."
            )
        elif self.draws != Draws():
            raise ValueError("draws is for candidates='auto': balls have n_draws of their own.")

    def _check_numbers_in_balls(self) -> None:
        generators = find_generators(self.candidates)
        balls = [generator for generator in generators if isinstance(generator, Balls)]
        if len(balls) < len(generators):
            raise ValueError(
                f"tolerance={self.tolerance!r} explains numbers, which are learned from draws: use candidates='auto' "
                "or Balls(). Output(threshold=...) makes labels of numbers."
            )
        if self.tolerance == "auto":
            raise ValueError(
                "tolerance='auto' is found on draws from the whole data, and balls make theirs one by one: give a "
                "number, or a share such as '10%'."
            )
        for one in balls:
            one.check_numbers()

    def _check_asking(self, has_background: bool, is_judged_apart: bool) -> None:
        defaults = {"solver": "auto", "time_limit": DEFAULT_TIME_LIMIT, "formulation": "strict"}
        changed = [name for name, value in defaults.items() if getattr(self, name) != value]
        if changed:
            raise ValueError(
                f"{changed[0]}={getattr(self, changed[0])!r} does nothing where rules are learned by asking: name "
                "candidates that a program chooses from, such as Balls()."
            )
        if has_background and self.holdout:
            raise ValueError("with a background every row of X judges: leave out holdout.")
        if is_judged_apart and self.floor.level != Floor().level:
            raise ValueError(
                f"floor.level={self.floor.level:g} is for fits that judge by folds; with a background or a holdout the "
                "bound is certified, and confidence is its level: leave floor.level out."
            )


def refuse_beside_letter(*, local: Any, bounds: str | None, centers: str) -> None:
    """Raise ``ValueError`` for an option of ``AggregateExplainer.paper`` that contradicts ``letter=True``."""
    what, wanted = "", ""
    if isinstance(local, FilteredTree) and local.alpha is not None:
        what, wanted = f"a filter with alpha={local.alpha:g}", "a filter with alpha=None"
    elif bounds not in (None, "uncut"):
        what, wanted = f"bounds={bounds!r}", "draws in the whole ball, bounds='uncut'"
    elif centers == "rounded":
        what, wanted = "centers='rounded'", "rows as centers"
    if what:
        raise ValueError(f"letter=True stands for {wanted}, and {what} is given too: leave out one.")
