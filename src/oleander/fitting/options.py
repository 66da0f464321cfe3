"""The estimator's parameters with those of its parts, and the checks that run before a fit."""

import os
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator

from oleander.arrays import Labels
from oleander.black_box.output import PLAIN_OUTPUT, Output
from oleander.candidates.balls import Balls, find_generators
from oleander.candidates.base import Boxes, Generator
from oleander.data.checks import check_choice, check_count, check_positive, check_share
from oleander.data.schema import FeatureSchema
from oleander.data.sources import Source
from oleander.data.tolerance import Tolerance
from oleander.draws import Draws
from oleander.judging.floor import Floor
from oleander.rules import FilteredTree
from oleander.selection.solvers import get_solver

# Parameters that may differ when a fit resumes from a checkpoint.
FREE_TO_CHANGE = ("black_box", "checkpoint", "n_jobs", "verbose", "schema")


class Given(NamedTuple):
    """The arguments of ``AggregateExplainer.fit``, which describes them."""

    X: Any
    y: Any = None
    groups: Any = None
    background: Any = None
    columns: Any = None
    floor_by: Any = None
    labels: Any = None
    key: str | None = None


class NothingFoundError(ValueError):
    """No explainer reaches the floor on these rows; the message says how near the best one comes and what to do."""


@dataclass(frozen=True)
class Program:
    """The integer program that chooses among the candidates of generators, and how it is solved.

    Parameters
    ----------
    formulation : {"strict", "selective"}
        The paper's definition of fidelity, or its integer program to the letter.
    solver : {"auto", "highs", "quick", "greedy"}
    time_limit : float or None
        Seconds for solving.
    proof : {"enough", "full"}
        The end of the proof: where no other choice can cover over 0.1% more, or where 3,000 further nodes of a search
        bring nothing, or only with a proof. What is not proven is not called optimal.
    """

    formulation: Literal["strict", "selective"] = "strict"
    solver: str = "auto"
    time_limit: float | None = 60.0
    proof: Literal["enough", "full"] = "enough"

    def check(self) -> None:
        """Raise ``ValueError`` for an option that is not allowed."""
        check_choice("formulation", self.formulation, ("strict", "selective"))
        check_choice("proof", self.proof, ("enough", "full"))
        get_solver(self.solver)
        check_positive("time_limit", self.time_limit, or_none=True)
        if self.proof == "full" and self.solver in ("quick", "greedy"):
            raise ValueError(
                f"solver={self.solver!r} proves nothing, and proof='full' asks for a proof: leave out one."
            )


@dataclass(repr=False, eq=False)
class Parameters(BaseEstimator):  # type: ignore[misc]
    """The parameters of ``AggregateExplainer``, some of which, its parts, are frozen dataclasses.

    The options of a part are read and set under its name: ``floor__on``. Copies of the estimator share its parts, which
    never change: setting an option replaces the part.
    """

    # The parameters that may be parts, each with its type.
    PARTS: ClassVar[dict[str, type]] = {
        "candidates": object,
        "draws": Draws,
        "program": Program,
        "floor": Floor,
        "output": Output,
    }

    black_box: Any
    _: KW_ONLY
    max_explainers: int | None = None
    min_fidelity: float = 0.9
    candidates: Boxes | Generator | Iterable[Generator] = Boxes()  # noqa: RUF009 (frozen, like all parts)
    draws: Draws = Draws()  # noqa: RUF009
    program: Program = Program()
    floor: Floor = Floor()  # noqa: RUF009
    tolerance: float | str | None = None
    output: Output = PLAIN_OUTPUT
    holdout: float | None = None
    schema: FeatureSchema | None = None
    max_queries: int | None = None
    checkpoint: str | os.PathLike[str] | None = None
    random_state: int | None = None
    n_jobs: int | None = None
    verbose: int | None = None

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = False
        return tags

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

    @property
    def asks(self) -> bool:
        """Whether rules are learned by asking the black box about draws, or about rows in their place."""
        return isinstance(self.candidates, Boxes)


def list_generators(options: Parameters) -> list[Generator]:
    """Return the generators of candidates; none where rules are learned by asking."""
    return [] if isinstance(options.candidates, Boxes) else find_generators(options.candidates)


def find_tolerance(options: Parameters) -> Tolerance | Literal["auto"] | None:
    """Return the tolerance of the answers; None for labels."""
    if options.tolerance is None:
        return None
    return "auto" if options.tolerance == "auto" else Tolerance.read(options.tolerance)


def read_truth(options: Parameters, truth: Labels | None) -> Labels | None:
    """Return true answers as the black box answers; None where they are not known."""
    return None if truth is None else options.output.of_truth(truth, is_number=options.tolerance is not None)


def list_remembered(options: Parameters) -> dict[str, Any]:
    """Return the parameters that must be the same when a fit resumes from a checkpoint."""
    params = options.get_params(deep=False) | {"program": replace(options.program, time_limit=None, proof="enough")}
    return {name: value for name, value in params.items() if name not in FREE_TO_CHANGE}


def check(options: Parameters) -> None:
    """Raise an error for a value that is not allowed."""
    check_count("max_explainers", options.max_explainers, or_none=True)
    check_share("min_fidelity", options.min_fidelity, with_one=True)
    if options.holdout is not None:
        check_share("holdout", options.holdout, with_zero=True)
    check_count("max_queries", options.max_queries, 2, or_none=True)
    check_count("random_state", options.random_state, 0, or_none=True)
    if not isinstance(options.verbose, bool):
        check_count("verbose", options.verbose, 0, or_none=True)
    is_whole = isinstance(options.n_jobs, (int, np.integer)) and not isinstance(options.n_jobs, bool)
    if options.n_jobs is not None and not (is_whole and options.n_jobs != 0):
        raise ValueError(
            f"n_jobs={options.n_jobs!r} is not allowed: give a number of processes, -1 for one on each core, or None."
        )
    if options.checkpoint is not None and not isinstance(options.checkpoint, (str, os.PathLike)):
        raise TypeError(f"checkpoint is a {type(options.checkpoint).__name__}; give the path of a folder, or None.")
    if options.schema is not None and not isinstance(options.schema, FeatureSchema):
        raise TypeError(f"schema is a {type(options.schema).__name__}; give a FeatureSchema, or None to infer it.")
    parts = {name: getattr(options, name) for name in options.PARTS}
    for name, kind in options.PARTS.items():
        if not isinstance(parts[name], kind):
            raise TypeError(f"{name} is a {type(parts[name]).__name__}; give {kind.__name__}(...).")
    for part in (*list_generators(options), *parts.values()):
        # Generators of the user need no check.
        if isinstance(part, (Boxes, Balls, Draws, Program, Floor, Output)):
            part.check()
    if find_tolerance(options) is None and options.output.is_number:
        raise ValueError(
            "output='proba' explains a number: give tolerance=, such as 0.05, or a threshold, such as "
            "Output('proba', threshold=0.5)."
        )
    if options.tolerance is not None and options.output.threshold is not None:
        raise ValueError(
            f"tolerance={options.tolerance!r} is for numbers, and output.threshold={options.output.threshold:g} makes "
            "labels of them: leave out one."
        )
    if options.program.formulation == "selective" and options.floor.on == "bound" and not options.asks:
        raise ValueError("formulation='selective' counts rows itself and knows no bound: use floor=Floor('share').")


def check_use(options: Parameters, given: Given) -> None:
    """Raise ``ValueError`` for an option that would do nothing in a fit of these rows."""
    has_background, has_labels = given.background is not None, given.labels is not None
    is_source = given.key is None and isinstance(given.X, Source)
    if given.floor_by is not None and not options.asks:
        raise ValueError("floor_by is for rules that are learned by asking: leave it out, or use candidates=Boxes().")
    if given.floor_by is not None and (is_source or given.key is not None):
        raise ValueError("floor_by is for rows in memory, and of X only a sample is: give a sample of it.")
    if has_labels and not options.asks:
        raise ValueError("labels is for rules on draws or rows, and these candidates ask the model: leave it out.")
    if has_labels and options.output != PLAIN_OUTPUT:
        raise ValueError(
            f"labels holds what is explained, and {options.output} makes something else of it: leave it out."
        )
    if has_labels and options.black_box is None and (options.draws.n or has_background):
        what = "draws" if options.draws.n else "the background"
        raise ValueError(
            f"there is no model to label {what}: give it, or learn from rows with logged answers, draws=Draws(0) and "
            "no background."
        )
    if given.y is not None and options.output.of == "proba":
        raise ValueError("y holds true labels, which cannot be compared with a probability: leave out y.")
    if isinstance(options.candidates, Boxes):
        if options.program != Program():
            raise ValueError(
                f"{options.program} does nothing where rules are learned by asking: leave it out, or give candidates "
                "that it chooses from, such as Balls()."
            )
        if has_background and options.holdout:
            raise ValueError("with a background every row of X judges: leave out holdout.")
        return
    if has_background:
        raise ValueError(
            "background shows where draws are made, and these candidates make none: leave it out, or use "
            "candidates=Boxes()."
        )
    if options.draws != Draws():
        raise ValueError("draws is for candidates=Boxes(): balls have n_draws of their own.")
    states_bound = options.floor.on == "bound" or bool(options.holdout) or is_source
    if options.floor.confidence != Floor().confidence and not states_bound:
        raise ValueError(
            f"floor.confidence={options.floor.confidence:g} is that of a bound, and floor.on='share' without a holdout "
            "states none: leave it out."
        )
    if options.tolerance is None:
        return
    for one in list_generators(options):
        if not isinstance(one, Balls):
            raise ValueError(
                f"tolerance={options.tolerance!r} explains numbers, which are learned from draws: use "
                "candidates=Boxes() or Balls(). Output(threshold=...) makes labels of numbers."
            )
        one.check_numbers()
    if options.tolerance == "auto":
        raise ValueError(
            "tolerance='auto' is found on draws from the whole data, and balls make theirs one by one: give a number, "
            "or a share such as '10%'."
        )


def check_radii(options: Parameters, n_rows: int) -> None:
    """Raise ``ValueError`` for radii of balls that do not fit the number of rows of X."""
    for one in list_generators(options):
        if isinstance(one, Balls):
            one.check_rows(n_rows)


def check_arguments(others: Iterable[str]) -> None:
    """Raise ``TypeError`` for arguments that ``fit`` does not have."""
    if "sample_weight" in others:
        raise TypeError(
            "fit takes no sample_weight: coverage and the certificate count each row of X once, and a row that counts "
            "for two is not the evidence of two. Leave it out, and give rows in the shares that you care about, such "
            "as a random part of those that weigh less."
        )
    for name in others:
        raise TypeError(
            f"fit has no argument {name!r}; it takes X, y, groups, background, columns, floor_by, labels and key."
        )


def refuse_beside_letter(*, local: Any, bounds: str | None, centers: str) -> None:
    """Raise ``ValueError`` for an option of ``AggregateExplainer.paper`` that contradicts ``letter=True``."""
    contradictions = []
    if isinstance(local, FilteredTree) and local.alpha is not None:
        contradictions.append(("a filter with alpha=None", f"a filter with alpha={local.alpha:g}"))
    if bounds not in (None, "uncut"):
        contradictions.append(("draws in the whole ball, bounds='uncut'", f"bounds={bounds!r}"))
    if centers == "rounded":
        contradictions.append(("rows as centers", "centers='rounded'"))
    for wanted, what in contradictions:
        raise ValueError(f"letter=True stands for {wanted}, and {what} is given too: leave out one.")
