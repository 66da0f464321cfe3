"""The estimator's parameters with those of its parts, and the checks that run before a fit."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from types import NoneType
from typing import Any, Literal, NamedTuple, Self

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
    """The parameters of ``AggregateExplainer``, some of which, its parts, are frozen dataclasses that copies share."""

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

    @property
    def asks(self) -> bool:
        """Whether rules are learned by asking the black box about draws, or about rows in their place."""
        return isinstance(self.candidates, Boxes)


# What some parameters may be, in words and as types.
KINDS: dict[str, tuple[Any, ...]] = {
    "draws": ("Draws(...)", Draws),
    "program": ("Program(...)", Program),
    "floor": ("Floor(...)", Floor),
    "output": ("Output(...)", Output),
    "schema": ("a FeatureSchema, or None to infer it", FeatureSchema, NoneType),
    "checkpoint": ("the path of a folder, or None", str, os.PathLike, NoneType),
}


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
    for name, (wanted, *kinds) in KINDS.items():
        value = getattr(options, name)
        if not isinstance(value, tuple(kinds)):
            raise TypeError(f"{name} is a {type(value).__name__}; give {wanted}.")
    for part in (*list_generators(options), options.candidates, *(getattr(options, name) for name in KINDS)):
        # Generators of the user need no check.
        if isinstance(part, (Boxes, Balls, Draws, Program, Floor, Output)):
            part.check()
    output, tolerance = options.output, find_tolerance(options)
    refuse(
        {
            "output='proba' explains a number: give tolerance=, such as 0.05, or a threshold, such as "
            "Output('proba', threshold=0.5).": tolerance is None and output.is_number,
            f"tolerance={options.tolerance!r} is for numbers, and output.threshold={output.threshold} makes labels of "
            "them: leave out one.": tolerance is not None and output.threshold is not None,
            "formulation='selective' counts rows itself and knows no bound: use floor=Floor('share').": (
                options.program.formulation == "selective" and options.floor.on == "bound" and not options.asks
            ),
        }
    )


def check_use(options: Parameters, given: Given) -> None:
    """Raise ``ValueError`` for an option that would do nothing in a fit of these rows."""
    asks, floor, draws, balls = options.asks, options.floor, options.draws, list_generators(options)
    has_background, has_labels = given.background is not None, given.labels is not None
    has_floor_by, has_tolerance = given.floor_by is not None, options.tolerance is not None
    is_source = given.key is None and isinstance(given.X, Source)
    states_bound = asks or floor.on == "bound" or bool(options.holdout) or is_source
    needs_model = has_labels and (draws.n > 0 or has_background)
    only_balls = all(isinstance(one, Balls) for one in balls)
    refuse(
        {
            "floor_by is for rules that are learned by asking: leave it out, or use candidates=Boxes().": (
                has_floor_by and not asks
            ),
            "floor_by is for rows in memory, and of X only a sample is: give a sample of it.": (
                has_floor_by and (is_source or given.key is not None)
            ),
            "labels is for rules on draws or rows, and these candidates ask the model: leave it out.": (
                has_labels and not asks
            ),
            f"labels holds what is explained, and {options.output} makes something else of it: leave it out.": (
                has_labels and options.output != PLAIN_OUTPUT
            ),
            f"there is no model to label {'draws' if draws.n else 'the background'}: give it, or learn from rows with "
            "logged answers, draws=Draws(0) and no background.": needs_model and options.black_box is None,
            "y holds true labels, which cannot be compared with a probability: leave out y.": (
                given.y is not None and options.output.of == "proba"
            ),
            f"{options.program} does nothing where rules are learned by asking: leave it out, or give candidates that "
            "it chooses from, such as Balls().": asks and options.program != Program(),
            "with a background every row of X judges: leave out holdout.": (
                asks and has_background and bool(options.holdout)
            ),
            "background shows where draws are made, and these candidates make none: leave it out, or use "
            "candidates=Boxes().": has_background and not asks,
            "draws is for candidates=Boxes(): balls have n_draws of their own.": not asks and draws != Draws(),
            f"floor.confidence={floor.confidence:g} is that of a bound, and floor.on='share' without a holdout states "
            "none: leave it out.": floor.confidence != Floor().confidence and not states_bound,
            f"tolerance={options.tolerance!r} explains numbers, which are learned from draws: use candidates=Boxes() "
            "or Balls(). Output(threshold=...) makes labels of numbers.": has_tolerance and not only_balls,
            "tolerance='auto' is found on draws from the whole data, and balls make theirs one by one: give a number, "
            "or a share such as '10%'.": options.tolerance == "auto" and not asks,
        }
    )
    for one in balls:
        if has_tolerance and isinstance(one, Balls):
            one.check_numbers()


def refuse(reasons: Mapping[str, bool]) -> None:
    """Raise ``ValueError`` with the first reason that holds."""
    for reason, holds in reasons.items():
        if holds:
            raise ValueError(reason)
