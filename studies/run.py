"""Run a study from its data to its claims. Finished parts stay on disk, so a run can be stopped and continued."""

import time
from collections.abc import Callable, Container
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from joblib import parallel_config
from threadpoolctl import threadpool_limits

from oleander import __version__
from oleander.files.saved import write_whole
from studies.claims import JudgedClaim, claims_markdown, claims_table, judge_claims
from studies.data import (
    Cohort,
    Collection,
    DataSet,
    load_clinical,
    load_geriatric,
    load_ppmi,
    make_ppmi_like,
)
from studies.drawing import Pen, to_png
from studies.settings import Settings, StudyName
from studies.step import Facts, Step, Work
from studies.steps.aggregation import AGGREGATION
from studies.steps.baseline_table import BASELINE_TABLE
from studies.steps.black_boxes import BLACK_BOXES
from studies.steps.data_facts import DATA_FACTS
from studies.steps.filter_bins import FILTER_BINS
from studies.steps.filter_cost import FILTER_COST
from studies.steps.filter_in_program import FILTER_IN_PROGRAM
from studies.steps.floors_by_radius import FLOORS_BY_RADIUS
from studies.steps.general_solver import GENERAL_SOLVER
from studies.steps.local_explainers import LOCAL_EXPLAINERS
from studies.steps.oleander_defaults import OLEANDER_DEFAULTS
from studies.steps.regularization import REGULARIZATION
from studies.steps.smallest_sets import SMALLEST_SETS
from studies.steps.trajectories import TRAJECTORIES
from studies.steps.variants import VARIANTS
from studies.store import Store, digest, fingerprint

STUDIES: dict[StudyName, tuple[Step, ...]] = {
    "geriatric": (
        DATA_FACTS,
        BLACK_BOXES,
        AGGREGATION,
        FLOORS_BY_RADIUS,
        FILTER_IN_PROGRAM,
        LOCAL_EXPLAINERS,
        REGULARIZATION,
        SMALLEST_SETS,
        FILTER_BINS,
        FILTER_COST,
        VARIANTS,
        OLEANDER_DEFAULTS,
    ),
    "ppmi": (
        TRAJECTORIES,
        BASELINE_TABLE,
        BLACK_BOXES,
        AGGREGATION,
        FLOORS_BY_RADIUS,
        FILTER_IN_PROGRAM,
        LOCAL_EXPLAINERS,
        REGULARIZATION,
        SMALLEST_SETS,
        FILTER_BINS,
        FILTER_COST,
        VARIANTS,
        OLEANDER_DEFAULTS,
    ),
    "clinical": (
        BLACK_BOXES,
        AGGREGATION,
        FLOORS_BY_RADIUS,
        FILTER_IN_PROGRAM,
        LOCAL_EXPLAINERS,
        REGULARIZATION,
        SMALLEST_SETS,
        GENERAL_SOLVER,
        VARIANTS,
        OLEANDER_DEFAULTS,
    ),
}


@dataclass(frozen=True)
class StudyResult:
    """The result of a study."""

    # The folder with its figures and tables.
    out: Path
    facts: dict[str, Facts]
    claims: list[JudgedClaim]


def print_line(line: str) -> None:
    """Print a line at once, also into a file."""
    print(line, flush=True)


def run_study(
    study: StudyName,
    *,
    data: str | Path | DataSet | Cohort | Collection | None = None,
    out: str | Path,
    quick: bool = False,
    n_jobs: int | None = 2,
    settings: Settings | None = None,
    only: Container[str] = (),
    log: Callable[[str], None] = print_line,
) -> StudyResult:
    """Redo one of the paper's studies, or its protocol on other patients; write figures, tables and claims.

    Parameters
    ----------
    study : {"geriatric", "ppmi", "clinical"}
    data : path, DataSet, Cohort, Collection or None
        The data, or where they are stored. None fetches the geriatric data from UCI and draws a synthetic cohort for
        PPMI; the clinical data need a folder.
    out : path
        The folder to write; steps finished there with the same settings and data are kept.
    quick : bool
        Run a small version, which takes a minute or two and gives no verdicts.
    n_jobs : int or None
        As in joblib.
    settings : Settings or None
        None takes the study's own.
    only : container of str
        The steps to run; empty for all.
    log : callable
        Called with each line of progress.

    Returns
    -------
    StudyResult
    """
    if study not in get_args(StudyName):
        *names, last = get_args(StudyName)
        raise ValueError(f"study={study!r} is not known; the studies are {', '.join(names)} and {last}.")
    folder = Path(out)
    settings = settings or Settings.plan(study, quick=quick)
    work = Work(
        study,
        load_data(study, data, settings),
        settings,
        n_jobs,
        lambda line: log(f"oleander:   {line}"),
    )
    steps = [step for step in STUDIES[study] if not only or step.name in only]
    stores = {name: Store(folder / name, made_by) for name, made_by in _fingerprints(work, steps).items()}
    n_left = sum(not store.is_done for store in stores.values())
    kind = f"{study}{', quick' if quick else ''}{', synthetic cohort' if work.is_synthetic else ''}"
    log(f"oleander: study {kind}: {n_left} of {len(steps)} steps to do. Finished parts are kept in {folder}.")
    for number, step in enumerate(steps, start=1):
        store, title = stores[step.name], f"oleander: [{number}/{len(steps)}] {step.title}"
        if store.is_done:
            log(f"{title}: kept from an earlier run")
        else:
            log(f"{title} …")
            _run_step(step, work, store)
            log(f"{title}: {show_duration(store.seconds)}")
        work.facts[step.name] = store.facts
    return _write_results(work, folder, log)


def load_data(
    study: StudyName, data: str | Path | DataSet | Cohort | Collection | None, settings: Settings
) -> DataSet | Cohort | Collection:
    """Return a study's data: as given, read from where they are stored, fetched, or drawn; see ``run_study``."""
    if isinstance(data, (DataSet, Cohort, Collection)):
        expected = {"geriatric": DataSet, "ppmi": Cohort, "clinical": Collection}[study]
        if type(data) is not expected:
            raise TypeError(f"the study {study} needs a {expected.__name__}, and got a {type(data).__name__}.")
        return data
    if study == "clinical":
        if data is None:
            raise ValueError("the study clinical needs data: the folder of heart_disease and dermatology.")
        return load_clinical(data)
    if study == "geriatric":
        return load_geriatric(data, rows_per_trial=settings.rows_per_trial)
    return make_ppmi_like(settings.random_state) if data is None else load_ppmi(data)


def _run_step(step: Step, work: Work, store: Store) -> None:
    start = time.perf_counter()
    # Sums depend in their last digits on the number of threads that share them. A thread per process gives the same
    # results with any number of jobs and cores.
    with threadpool_limits(1), parallel_config("loky", inner_max_num_threads=1):
        facts = step.compute(work, store)
    for name, figure in step.draw(store, Pen(work.is_synthetic)).items():
        store.picture(name, to_png(figure))
    store.finish(facts, time.perf_counter() - start)


def _fingerprints(work: Work, steps: list[Step]) -> dict[str, str]:
    """Return a fingerprint by step, of all its results depend on: version, data, settings and the steps it needs."""
    if isinstance(work.data, Cohort):
        data = [digest(work.data.X), digest(work.data.trajectories), digest(work.data.is_patient)]
    else:
        sets = work.data.sets if isinstance(work.data, Collection) else (work.data,)
        data = [digest(part) for each in sets for part in (each.X, each.y)]
    names: dict[str, str] = {}
    for step in steps:
        needs = [names[need] for need in step.needs]
        names[step.name] = fingerprint(
            __version__, work.study, step.name, work.settings.as_dict(), data, work.is_synthetic, needs
        )
    return names


def _write_results(work: Work, folder: Path, log: Callable[[str], None]) -> StudyResult:
    decides = work.settings.decides
    judged = judge_claims(work.study, work.facts, is_synthetic=work.is_synthetic, decides=decides)
    name = "The paper's protocol on other patients" if work.study == "clinical" else f"The paper's {work.study} study"
    title = name if decides else f"{name} (small version)"
    write_whole(folder / "claims.md", claims_markdown(judged, f"{title}: claims").encode())
    write_whole(folder / "claims.csv", claims_table(judged).to_csv(index=False).encode())
    log(f"oleander: {folder / 'claims.md'} is written")
    return StudyResult(folder, work.facts, judged)


def show_duration(seconds: float) -> str:
    """Return a time in words.

    >>> show_duration(4), show_duration(95)
    ('4 s', '1 min 35 s')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
