"""Every option acts or is refused in one sentence: none is accepted and ignored.

Each option is changed alone, against a fit that is the same but for it. The tables below list every parameter of the
estimator, of ``paper``, and of the parts; a parameter that is added and not listed makes a test fail.
"""

import inspect
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks.rivals.lime_linear import LimeLinear
from oleander import (
    AggregateExplainer,
    Balls,
    Boxes,
    FeatureSchema,
    Floor,
    NothingFoundError,
    Output,
    Program,
)
from oleander.black_box.answers import BlackBoxError
from oleander.draws import Draws
from oleander.running import parallel
from tests.making import QUICK, OwnTrees, Recording, halves


def make_rows(n_rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=n_rows),
            "b": 10 * rng.normal(size=n_rows).round(1),
            "visits": rng.integers(0, 7, n_rows),
            "ward": rng.choice(["east", "north", "west"], n_rows),
            "sex": rng.choice(["f", "m"], n_rows),
        }
    )


def law(table: pd.DataFrame) -> np.ndarray:
    wavy = table["a"] + 0.05 * table["b"] + 0.3 * np.sin(3 * table["a"]) > 0.4
    return np.where(wavy & (table["ward"] != "west"), "high", "low")


def other_law(table: pd.DataFrame) -> np.ndarray:
    return np.where(table["visits"] > 2, "high", "low")


X, BACKGROUND = make_rows(250, 0), make_rows(300, 1)
KINDS = FeatureSchema.infer(X, kinds={"visits": "categorical"})
SHARE = Floor(on="share")
BALLS = Balls([0.7, 2.0], n_draws=150, max_candidates=30)

# Each base is a way to fit. What acts in one of them may do nothing in another, and is refused there.
ASKING = {"draws": Draws(800), "min_fidelity": 0.9, "random_state": 0}
BASES: dict[str, dict[str, Any]] = {
    "folds": ASKING,
    "background": ASKING,
    "held out": {**ASKING, "holdout": 0.5, "min_fidelity": 0.7},
    "program": {"candidates": BALLS, "floor": SHARE, "holdout": 0.3, "min_fidelity": 0.8, "random_state": 0},
}


@dataclass(frozen=True)
class Refused:
    """The words with which a change is refused."""

    words: str


@dataclass(frozen=True)
class Seen:
    """A change that leaves the fit as it is, and how it is seen to act."""

    value: Any
    check: Callable[..., None]


def facts(atlas: AggregateExplainer) -> str:
    """Return everything that a fit finds out but for the schema that it was given."""
    content = atlas.record_.to_dict()
    content.pop("schema")
    return json.dumps(content, sort_keys=True)


def fit(base: str, explainer: AggregateExplainer) -> AggregateExplainer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return explainer.fit(X, background=BACKGROUND if base == "background" else None)


def outcome(base: str, explainer: AggregateExplainer) -> str:
    """Return the facts of a fit, or the sentence that says why it finds nothing."""
    try:
        return facts(fit(base, explainer))
    except NothingFoundError as error:
        return str(error)


@cache
def base_facts(base: str) -> str:
    return facts(fit(base, AggregateExplainer(law, **BASES[base])))


def prints(explainer: AggregateExplainer, base: str, capsys: Any, monkeypatch: Any, **_: Any) -> None:
    monkeypatch.setattr("oleander.running.progress.SECONDS_BEFORE", 0.0)
    monkeypatch.setattr("oleander.running.progress.SECONDS_BETWEEN", 0.001)
    capsys.readouterr()
    fit(base, explainer)
    assert capsys.readouterr().err


def runs_in_parallel(explainer: AggregateExplainer, base: str, monkeypatch: Any, **_: Any) -> None:
    """Blocks, balls and folds are spread over as many jobs as were asked for."""
    seen = []

    class Spy(parallel.Parallel):  # type: ignore[misc, name-defined]
        def __init__(self, n_jobs: Any = None, **options: Any) -> None:
            seen.append(n_jobs)
            super().__init__(n_jobs=1, **options)

    monkeypatch.setattr(parallel, "Parallel", Spy)
    assert facts(fit(base, explainer)) == base_facts(base)
    assert 2 in seen


# One change for each parameter, by the way of the fit; "any" for all ways that are not named.
ESTIMATOR: dict[str, dict[str, Any]] = {
    "black_box": {"any": other_law},
    "max_explainers": {"any": 1},
    "min_fidelity": {"any": 0.6},
    "candidates": {
        "any": Refused(r"draws is for candidates=Boxes\(\)"),
        "background": Refused("background shows where draws are made"),
        "program": OwnTrees(),
    },
    "draws": {"any": Draws(600), "program": Refused(r"draws is for candidates=Boxes\(\)")},
    "program": {"any": Refused("Program.* does nothing where rules"), "program": Program(solver="greedy")},
    "floor": {"any": Floor(on="share", min_support=100), "program": Floor(on="share", min_support=100)},
    # The law's answers are labels.
    "tolerance": {"any": Refused("the black box answered '.*' for row 0, a label, and tolerance= is for numbers")},
    "output": {"any": Refused("the black box answered '.*' for row 0, a label, and threshold= is for numbers")},
    "holdout": {"any": 0.4, "background": Refused("with a background every row of X judges")},
    "schema": {"any": KINDS},
    "max_queries": {"any": 1_000},
    # Tests of `resuming` show that answers are kept.
    "checkpoint": {"any": Seen(None, lambda explainer, base, **_: fit(base, explainer))},
    "random_state": {"any": 1},
    "n_jobs": {
        "any": Seen(2, runs_in_parallel),
        # Where nothing is learned fold by fold, there is one sequence to learn.
        "background": Seen(2, lambda explainer, base, **_: fit(base, explainer)),
        "held out": Seen(2, lambda explainer, base, **_: fit(base, explainer)),
    },
    "verbose": {"any": Seen(1, prints)},
}
VALUES = {"program": Program(solver="greedy"), "holdout": 0.4, "tolerance": 0.5, "output": Output(threshold=1.0)}
VALUES |= {"candidates": OwnTrees(), "draws": Draws(600)}


def parameters(function: Callable[..., Any]) -> set[str]:
    return {name for name in inspect.signature(function).parameters if name not in ("self", "cls")}


def cases(table: dict[str, dict[str, Any]], bases: Any) -> list[Any]:
    return [pytest.param(base, name, id=f"{base}-{name}") for base in bases for name in table]


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"max_explainers": 0}, "max_explainers=0 is not allowed"),
            ({"min_fidelity": 1.5}, "min_fidelity=1.5 is not allowed"),
            ({"candidates": Boxes(0)}, "max_conditions=0 is not allowed"),
            ({"candidates": []}, "candidates is empty"),
            ({"candidates": Boxes(), "draws": Draws(-1)}, "draws.n=-1 is not allowed: give a whole number"),
            ({"candidates": Boxes(), "draws": Draws(batch_size=0)}, "draws.batch_size=0 is not allowed"),
            ({"holdout": 1.0}, "holdout=1.0 is not allowed"),
            ({"holdout": 0.999}, "holdout=0.999 of 300 rows leaves none to learn from"),
            ({"floor": Floor(on="median")}, "floor.on='median' is not known; use 'bound' or 'share'"),
            ({"floor": Floor(min_support=0)}, "floor.min_support=0 is not allowed"),
            ({"floor": Floor(confidence=1.5)}, "floor.confidence=1.5 is not allowed"),
            ({"tolerance": 0}, "tolerance=0 is not allowed: give a number over 0 in the units of the answers"),
            (
                {"tolerance": 0.5, "candidates": OwnTrees()},
                "tolerance=0.5 explains numbers, which are learned from draws",
            ),
            ({"tolerance": 1, "output": Output(threshold=2)}, "tolerance=1 is for numbers, and output.threshold=2"),
            ({"output": Output("proba")}, "output='proba' explains a number: give tolerance=, such as 0.05"),
            ({"program": Program("loose")}, "formulation='loose' is not known"),
            ({"program": Program("selective")}, "formulation='selective' counts rows itself"),
            ({"program": Program(solver="simplex")}, "solver='simplex' is not known"),
            ({"program": Program(proof="half")}, "proof='half' is not known"),
            ({"program": Program(solver="quick", proof="full")}, "solver='quick' proves nothing"),
            ({"program": Program(time_limit=0)}, "time_limit=0 is not allowed: give a number over 0, or None"),
            ({"verbose": "x"}, "verbose='x' is not allowed"),
            ({"n_jobs": 0}, "n_jobs=0 is not allowed"),
            ({"random_state": -1}, "random_state=-1 is not allowed"),
            ({"max_queries": 1}, "max_queries=1 is not allowed"),
        ],
    )
    def test_bad_options_are_refused_before_the_black_box_is_asked(self, square, options, message):
        box = Recording()
        with pytest.raises(ValueError, match=message):
            AggregateExplainer(box, **{**QUICK, **options}).fit(square)
        assert box.n_rows == 0

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"floor": "share"}, r"floor is a str; give Floor\(...\)"),
            ({"output": "proba"}, r"output is a str; give Output\(...\)"),
            ({"schema": {"a": 1}}, "schema is a dict; give a FeatureSchema"),
            ({"candidates": "balls"}, r"candidates holds a str; give Boxes\(\) alone, or Balls\(\)"),
            ({"checkpoint": 3}, "checkpoint is a int; give the path of a folder, or None"),
        ],
    )
    def test_options_of_another_type(self, square, options, message):
        with pytest.raises(TypeError, match=message):
            AggregateExplainer(halves, **{**QUICK, **options}).fit(square)

    def test_empty_paths_are_refused(self, square):
        with pytest.raises(ValueError, match="X is an empty path"):
            AggregateExplainer(halves).fit("")
        with pytest.raises(ValueError, match="the checkpoint is an empty path"):
            AggregateExplainer(halves, checkpoint="").fit(square)

    def test_logged_answers_beside_an_output_are_refused(self, square):
        explainer = AggregateExplainer(halves, output=Output(threshold=0.5))
        with pytest.raises(ValueError, match=r"labels holds what is explained, and .* makes something else of it"):
            explainer.fit(square, labels=halves(square))

    def test_masks_are_refused(self, square):
        masked = np.ma.array(square, mask=square > 0.9)
        with pytest.raises(ValueError, match="the data are a masked array"):
            AggregateExplainer(halves).fit(masked)
        with pytest.raises(ValueError, match="groups is a masked array"):
            AggregateExplainer(halves).fit(square, groups=np.ma.array(np.arange(len(square)), mask=False))


class TestEstimator:
    def test_every_parameter_is_listed(self) -> None:
        assert parameters(AggregateExplainer.__init__) == set(ESTIMATOR)

    @pytest.mark.slow
    @pytest.mark.parametrize(("base", "name"), cases(ESTIMATOR, BASES))
    def test_it_acts_or_is_refused(
        self, base: str, name: str, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        change = ESTIMATOR[name].get(base, ESTIMATOR[name]["any"])
        explainer = AggregateExplainer(law, **BASES[base])
        if isinstance(change, Refused):
            explainer.set_params(**{name: VALUES.get(name)})
            with pytest.raises((ValueError, BlackBoxError), match=change.words) as caught:
                fit(base, explainer)
            assert "\n" not in str(caught.value)
        elif isinstance(change, Seen):
            explainer.set_params(**{name: change.value})
            change.check(explainer, base=base, tmp_path=tmp_path, capsys=capsys, monkeypatch=monkeypatch)
        else:
            assert outcome(base, explainer.set_params(**{name: change})) != base_facts(base)


# An option of ``paper``, and the part that it is set in.
PAPER: dict[str, tuple[str, Any]] = {
    "radius": ("candidates", 2.0),
    "n_draws": ("candidates", 100),
    "local": ("candidates", LimeLinear()),
    "max_flips": ("candidates", 0),
    "scale": ("candidates", "schema"),
    "centers": ("candidates", "rounded"),
    "max_candidates": ("candidates", 20),
    "bounds": ("candidates", "cut"),
    "formulation": ("program", "selective"),
    "solver": ("program", "greedy"),
    "time_limit": ("program", 1e-9),
    "proof": ("program", "full"),
}


class TestPaper:
    def test_every_parameter_reaches_its_part(self) -> None:
        assert parameters(AggregateExplainer.paper) == {*PAPER, "black_box", "letter", "max_explainers", "others"}
        for name, (part, value) in PAPER.items():
            explainer = AggregateExplainer.paper(law, **{"radius": 1.0, name: value}, min_fidelity=0.8)
            assert getattr(getattr(explainer, part), name) == value
            assert (explainer.floor, explainer.min_fidelity) == (Floor("share", min_support=1), 0.8)

    @pytest.mark.parametrize("name", ["candidates", "program", "floor", "rows"])
    def test_other_names_are_refused(self, name: str) -> None:
        with pytest.raises(TypeError, match=name):
            AggregateExplainer.paper(law, radius=1.0, **{name: None})


BALLS_OPTIONS: dict[str, Any] = {
    "radius": 1.2,
    "scale": "none",
    "max_flips": 0,
    "max_candidates": 10,
    "n_draws": 100,
    "local": LimeLinear(),
    "centers": "rows",
    "bounds": "cut",
}
FLOOR_OPTIONS: dict[str, dict[str, Any]] = {
    "on": {"any": "bound"},
    "min_support": {"any": 60, "held out": 500, "program": 150},
    "confidence": {"any": 0.7},
}
PROGRAM_OPTIONS: dict[str, Any] = {"formulation": "selective", "solver": "greedy", "time_limit": 1e-9}
DRAWS_OPTIONS: dict[str, Any] = {"n": 600, "batch_size": 150}


class TestParts:
    """Options of the parts, each changed alone in the same fit."""

    def test_every_option_is_listed(self) -> None:
        assert {field.name for field in fields(Balls)} == set(BALLS_OPTIONS)
        assert {field.name for field in fields(Floor)} == set(FLOOR_OPTIONS)
        assert {field.name for field in fields(Draws)} == set(DRAWS_OPTIONS)
        # Small programs are proven at once: tests of `PoolProgram` show what an early end changes.
        assert {field.name for field in fields(Program)} == {*PROGRAM_OPTIONS, "proof"}
        assert {field.name for field in fields(Boxes)} == {"max_conditions", "forbid", "monotone", "order"}

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("base", "name", "value"),
        [
            *(("program", f"candidates__{name}", value) for name, value in BALLS_OPTIONS.items()),
            *(("program", f"program__{name}", value) for name, value in PROGRAM_OPTIONS.items()),
            *((base, "candidates__max_conditions", 1) for base in BASES if base != "program"),
            *((base, "draws__n", DRAWS_OPTIONS["n"]) for base in BASES if base != "program"),
        ],
    )
    def test_options_of_parts_act(self, base: str, name: str, value: Any) -> None:
        part, option = name.split("__")
        explainer = AggregateExplainer(law, **BASES[base])
        explainer.set_params(**{part: replace(getattr(explainer, part), **{option: value})})
        assert outcome(base, explainer) != base_facts(base)

    @pytest.mark.slow
    @pytest.mark.parametrize(("base", "name"), cases(FLOOR_OPTIONS, BASES))
    def test_options_of_the_floor_act(self, base: str, name: str) -> None:
        change = FLOOR_OPTIONS[name].get(base, FLOOR_OPTIONS[name]["any"])
        start = Floor(on="share", min_support=5)
        if name == "confidence" and base != "program":
            start = replace(start, on="bound")
        options = {**BASES[base], "floor": start}
        if name == "on":
            # A floor that nearly all choices reach makes no difference, however it is measured.
            options["min_fidelity"] = 0.85 if base == "program" else 0.995
        before = AggregateExplainer(law, **options)
        explainer = AggregateExplainer(law, **{**options, "floor": replace(start, **{name: change})})
        assert outcome(base, explainer) != outcome(base, before)

    def test_confidence_without_a_bound_is_refused(self) -> None:
        explainer = AggregateExplainer(
            law, **{**BASES["program"], "holdout": None, "floor": replace(SHARE, confidence=0.7)}
        )
        with pytest.raises(
            ValueError, match=r"floor\.confidence=0.7 is that of a bound, and floor\.on='share' without"
        ):
            fit("program", explainer)

    @pytest.mark.parametrize("is_kept", [False, True], ids=["", "with a checkpoint"])
    def test_the_black_box_gets_no_more_rows_in_a_call_than_a_batch(self, is_kept: bool, tmp_path: Path) -> None:
        sizes: list[int] = []

        def watched(rows: Any) -> Any:
            sizes.append(len(rows))
            return law(rows)

        given = {**ASKING, "checkpoint": tmp_path / "kept" if is_kept else None}
        found = []
        for draws in (Draws(800), Draws(800, DRAWS_OPTIONS["batch_size"])):
            explainer = AggregateExplainer(watched, **{**given, "draws": draws})
            found.append(explainer.fit(X, background=BACKGROUND).summary())
            if draws.batch_size is None:
                assert max(sizes) == len(X) + 800
                sizes.clear()
                given["checkpoint"] = tmp_path / "other" if is_kept else None
        assert max(sizes) == DRAWS_OPTIONS["batch_size"]
        assert found[0] == found[1]
