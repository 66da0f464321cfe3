"""The estimator's parameters with those of its parts, and the checks that run before a fit."""

import os
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator

from oleander.arrays import Labels
from oleander.black_box.output import PLAIN_OUTPUT, Output
from oleander.candidates.balls import Balls, find_generators
from oleander.candidates.base import Boxes, Generator
from oleander.data.checks import check_choice, check_count, check_positive, check_share
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance
from oleander.draws import Draws
from oleander.judging.floor import Floor
from oleander.rules import FilteredTree
from oleander.selection.solvers import get_solver

# Parameters that may differ when a fit resumes from a checkpoint.
FREE_TO_CHANGE = ("black_box", "checkpoint", "n_jobs", "verbose", "schema")


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


def list_generators(given: Parameters) -> list[Generator]:
    """Return the generators of candidates; none where rules are learned by asking."""
    return [] if isinstance(given.candidates, Boxes) else find_generators(given.candidates)


def find_tolerance(given: Parameters) -> Tolerance | Literal["auto"] | None:
    """Return the tolerance of the answers; None for labels."""
    if given.tolerance is None:
        return None
    return "auto" if given.tolerance == "auto" else Tolerance.read(given.tolerance)


def read_truth(given: Parameters, truth: Labels | None) -> Labels | None:
    """Return true answers as the black box answers; None where they are not known."""
    return None if truth is None else given.output.of_truth(truth, is_number=given.tolerance is not None)


def list_remembered(given: Parameters) -> dict[str, Any]:
    """Return the parameters that must be the same when a fit resumes from a checkpoint."""
    params = given.get_params(deep=False) | {"program": replace(given.program, time_limit=None, proof="enough")}
    return {name: value for name, value in params.items() if name not in FREE_TO_CHANGE}


def check(given: Parameters) -> None:
    """Raise an error for a value that is not allowed."""
    check_count("max_explainers", given.max_explainers, or_none=True)
    check_share("min_fidelity", given.min_fidelity, with_one=True)
    if given.holdout is not None:
        check_share("holdout", given.holdout, with_zero=True)
    check_count("max_queries", given.max_queries, 2, or_none=True)
    check_count("random_state", given.random_state, 0, or_none=True)
    if not isinstance(given.verbose, bool):
        check_count("verbose", given.verbose, 0, or_none=True)
    is_whole = isinstance(given.n_jobs, (int, np.integer)) and not isinstance(given.n_jobs, bool)
    if given.n_jobs is not None and not (is_whole and given.n_jobs != 0):
        raise ValueError(
            f"n_jobs={given.n_jobs!r} is not allowed: give a number of processes, -1 for one on each core, or None."
        )
    if given.checkpoint is not None and not isinstance(given.checkpoint, (str, os.PathLike)):
        raise TypeError(f"checkpoint is a {type(given.checkpoint).__name__}; give the path of a folder, or None.")
    if given.schema is not None and not isinstance(given.schema, FeatureSchema):
        raise TypeError(f"schema is a {type(given.schema).__name__}; give a FeatureSchema, or None to infer it.")
    for name, kind in given.PARTS.items():
        if not isinstance(getattr(given, name), kind):
            raise TypeError(f"{name} is a {type(getattr(given, name)).__name__}; give {kind.__name__}(...).")
    for part in (given.candidates, *list_generators(given), given.draws, given.program, given.floor, given.output):
        # Generators of the user need no check.
        if isinstance(part, (Boxes, Balls, Draws, Program, Floor, Output)):
            part.check()
    if find_tolerance(given) is None and given.output.is_number:
        raise ValueError(
            "output='proba' explains a number: give tolerance=, such as 0.05, or a threshold, such as "
            "Output('proba', threshold=0.5)."
        )
    if given.tolerance is not None and given.output.threshold is not None:
        raise ValueError(
            f"tolerance={given.tolerance!r} is for numbers, and output.threshold={given.output.threshold:g} makes "
            "labels of them: leave out one."
        )
    if given.program.formulation == "selective" and given.floor.on == "bound" and not given.asks:
        raise ValueError("formulation='selective' counts rows itself and knows no bound: use floor=Floor('share').")


def check_use(
    given: Parameters, *, has_background: bool, is_source: bool, has_truth: bool, has_labels: bool = False
) -> None:
    """Raise ``ValueError`` for an option that would do nothing in a fit."""
    if has_labels and not given.asks:
        raise ValueError("labels is for rules on draws or rows, and these candidates ask the model: leave it out.")
    if has_labels and given.output != PLAIN_OUTPUT:
        raise ValueError(
            f"labels holds what is explained, and {given.output} makes something else of it: leave it out."
        )
    if has_labels and given.black_box is None and (given.draws.n or has_background):
        raise ValueError(
            f"there is no model to label {'the background' if not given.draws.n else 'draws'}: give it, or learn from "
            "rows with logged answers, draws=Draws(0) and no background."
        )
    if has_truth and given.output.of == "proba":
        raise ValueError("y holds true labels, which cannot be compared with a probability: leave out y.")
    if isinstance(given.candidates, Boxes):
        if given.program != Program():
            raise ValueError(
                f"{given.program} does nothing where rules are learned by asking: leave it out, or give candidates "
                "that it chooses from, such as Balls()."
            )
        if has_background and given.holdout:
            raise ValueError("with a background every row of X judges: leave out holdout.")
        return
    if has_background:
        raise ValueError(
            "background shows where draws are made, and these candidates make none: leave it out, or use "
            "candidates=Boxes()."
        )
    if given.draws != Draws():
        raise ValueError("draws is for candidates=Boxes(): balls have n_draws of their own.")
    states_bound = given.floor.on == "bound" or bool(given.holdout) or is_source
    if given.floor.confidence != Floor().confidence and not states_bound:
        raise ValueError(
            f"floor.confidence={given.floor.confidence:g} is that of a bound, and floor.on='share' without a holdout "
            "states none: leave it out."
        )
    if given.tolerance is not None:
        balls = [generator for generator in list_generators(given) if isinstance(generator, Balls)]
        if len(balls) < len(list_generators(given)):
            raise ValueError(
                f"tolerance={given.tolerance!r} explains numbers, which are learned from draws: use candidates=Boxes() "
                "or Balls(). Output(threshold=...) makes labels of numbers."
            )
        if given.tolerance == "auto":
            raise ValueError(
                "tolerance='auto' is found on draws from the whole data, and balls make theirs one by one: give a "
                "number, or a share such as '10%'."
            )
        for one in balls:
            one.check_numbers()


def check_floor_by(given: Parameters, *, is_source: bool) -> None:
    """Raise ``ValueError`` where a fit cannot have a floor in each subgroup."""
    if not given.asks:
        raise ValueError("floor_by is for rules that are learned by asking: leave it out, or use candidates=Boxes().")
    if is_source:
        raise ValueError("floor_by is for rows in memory, and of X only a sample is: give a sample of it.")


def check_radii(given: Parameters, n_rows: int) -> None:
    """Raise ``ValueError`` for radii of balls that do not fit the number of rows of X."""
    for one in list_generators(given):
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
