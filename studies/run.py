"""Run a study from its data to its page. Finished parts stay on disk, so a run can be stopped and continued."""

from collections.abc import Callable, Container
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

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
    load_telemonitoring,
    make_ppmi_like,
)
from studies.drawing import Pen, to_png
from studies.page import make_page
from studies.settings import Settings, StudyName
from studies.step import Facts, Part, Step, Work
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
from studies.tasks import make_tasks
from studies.timing import Duration, show_duration


@dataclass(frozen=True)
class PlannedStep:
    """A step, the seconds it takes on two cores, in full and in the small version, and the size they grow with."""

    step: Step
    seconds: float
    quick_seconds: float
    grows_with: Literal["n_centers", "n_candidates"] | None = None


STUDIES: dict[StudyName, tuple[PlannedStep, ...]] = {
    "geriatric": (
        PlannedStep(DATA_FACTS, 1, 1),
        PlannedStep(BLACK_BOXES, 125, 8),
        PlannedStep(AGGREGATION, 42, 8, "n_candidates"),
        PlannedStep(FLOORS_BY_RADIUS, 9, 1, "n_candidates"),
        PlannedStep(FILTER_IN_PROGRAM, 4, 2, "n_candidates"),
        PlannedStep(LOCAL_EXPLAINERS, 7, 1, "n_centers"),
        PlannedStep(REGULARIZATION, 20, 2),
        PlannedStep(SMALLEST_SETS, 4, 1),
        PlannedStep(FILTER_BINS, 2, 1, "n_centers"),
        PlannedStep(FILTER_COST, 1, 1),
        PlannedStep(VARIANTS, 14, 1, "n_candidates"),
        PlannedStep(OLEANDER_DEFAULTS, 5, 1),
    ),
    "ppmi": (
        PlannedStep(TRAJECTORIES, 8, 3),
        PlannedStep(BASELINE_TABLE, 1, 1),
        PlannedStep(BLACK_BOXES, 12, 8),
        PlannedStep(AGGREGATION, 35, 11, "n_candidates"),
        PlannedStep(FLOORS_BY_RADIUS, 17, 1, "n_candidates"),
        PlannedStep(FILTER_IN_PROGRAM, 11, 2, "n_candidates"),
        PlannedStep(LOCAL_EXPLAINERS, 13, 1, "n_centers"),
        PlannedStep(REGULARIZATION, 36, 1),
        PlannedStep(SMALLEST_SETS, 4, 1),
        PlannedStep(FILTER_BINS, 3, 1, "n_centers"),
        PlannedStep(FILTER_COST, 1, 1),
        PlannedStep(VARIANTS, 16, 2, "n_candidates"),
        PlannedStep(OLEANDER_DEFAULTS, 4, 2),
    ),
    "clinical": (
        PlannedStep(BLACK_BOXES, 20, 10),
        PlannedStep(AGGREGATION, 58, 14, "n_candidates"),
        PlannedStep(FLOORS_BY_RADIUS, 23, 1, "n_candidates"),
        PlannedStep(FILTER_IN_PROGRAM, 10, 3, "n_candidates"),
        PlannedStep(LOCAL_EXPLAINERS, 11, 1, "n_centers"),
        PlannedStep(REGULARIZATION, 33, 1),
        PlannedStep(SMALLEST_SETS, 4, 1),
        PlannedStep(GENERAL_SOLVER, 49, 4),
        PlannedStep(VARIANTS, 27, 3, "n_candidates"),
        PlannedStep(OLEANDER_DEFAULTS, 8, 2),
    ),
}


def estimate_seconds(plan: PlannedStep, study: StudyName, settings: Settings, n_rows: int, *, quick: bool) -> float:
    """Return the seconds that a step takes on two free cores: as planned, or longer with more centers or more draws."""
    usual = Settings.plan(study, quick=quick)
    seconds = plan.quick_seconds if quick else plan.seconds
    if plan.grows_with is None:
        return seconds
    given, planned = getattr(settings, plan.grows_with), getattr(usual, plan.grows_with)
    growth = (n_rows if given is None else min(given, n_rows)) / min(planned or n_rows, n_rows)
    return seconds * growth * settings.n_draws / usual.n_draws


@dataclass(frozen=True)
class StudyResult:
    """The result of a study."""

    # The folder with its page, figures and tables.
    out: Path
    facts: dict[str, Facts]
    claims: list[JudgedClaim]
    durations: dict[str, Duration]


def print_line(line: str) -> None:
    """Print a line at once, also into a file."""
    print(line, flush=True)


def run_study(
    study: StudyName,
    *,
    data: str | Path | DataSet | Cohort | Collection | None = None,
    out: str | Path,
    quick: bool = False,
    telemonitoring: str | Path | None = None,
    n_jobs: int | None = 2,
    settings: Settings | None = None,
    only: Container[str] = (),
    log: Callable[[str], None] = print_line,
) -> StudyResult:
    """Redo one of the paper's studies, or its protocol on other patients; write figures, tables, claims and page.

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
    telemonitoring : path or None
        The public telemonitoring data, for a second check of the clustering.
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
        None if telemonitoring is None else load_telemonitoring(telemonitoring),
        n_jobs,
        lambda line: log(f"oleander:   {line}"),
    )
    plans = [plan for plan in STUDIES[study] if not only or plan.step.name in only]
    steps = [plan.step for plan in plans]
    stores = {name: Store(folder / name, made_by) for name, made_by in _fingerprints(work, steps).items()}
    unfinished = [plan for plan in plans if not stores[plan.step.name].is_done]
    # Of the readings, only those that did not train the forest are centers.
    part: Part = "validation" if study == "geriatric" else "train"
    n_rows = max(len(task.parts[part]) for task in make_tasks(work).values())
    seconds = {plan.step.name: estimate_seconds(plan, study, settings, n_rows, quick=quick) for plan in unfinished}
    kind = f"{study}{', quick' if quick else ''}{', synthetic cohort' if work.is_synthetic else ''}"
    estimate = show_duration(sum(seconds.values()))
    log(
        f"oleander: study {kind}: {len(unfinished)} of {len(plans)} steps to do, about {estimate} on two free cores. "
        f"Finished parts are kept in {folder}."
    )
    # As estimated and as it was, of the steps of this run: the ratio corrects the estimate of what is left.
    expected, taken = 0.0, 0.0
    for number, step in enumerate(steps, start=1):
        store, title = stores[step.name], f"oleander: [{number}/{len(steps)}] {step.title}"
        if store.is_done:
            log(f"{title}: kept from an earlier run")
        else:
            log(f"{title} …")
            _run_step(step, work, store)
            taken += store.duration.seconds
            expected += seconds.pop(step.name)
            left = sum(seconds.values()) * taken / expected
            log(f"{title}: {show_duration(store.duration.seconds)}; about {show_duration(left)} left")
        work.facts[step.name] = store.facts
    return _write_results(work, steps, stores, folder, log)


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
    start = Duration.until_now()
    # Sums depend in their last digits on the number of threads that share them. A thread per process gives the same
    # results with any number of jobs and cores.
    with threadpool_limits(1), parallel_config("loky", inner_max_num_threads=1):
        facts = step.compute(work, store)
    for name, figure in step.draw(store, Pen(work.is_synthetic)).items():
        store.picture(name, to_png(figure))
    store.finish(facts, Duration.until_now() - start)


def _fingerprints(work: Work, steps: list[Step]) -> dict[str, str]:
    """Return a fingerprint by step, of all its results depend on: version, data, settings and the steps it needs."""
    if isinstance(work.data, Cohort):
        data = [digest(work.data.X), digest(work.data.trajectories), digest(work.data.is_patient)]
    else:
        sets = work.data.sets if isinstance(work.data, Collection) else (work.data,)
        data = [digest(part) for each in sets for part in (each.X, each.y)]
    telemonitoring = None if work.telemonitoring is None else digest(work.telemonitoring.y)
    names: dict[str, str] = {}
    for step in steps:
        needs = [names[need] for need in step.needs]
        names[step.name] = fingerprint(
            __version__, work.study, step.name, work.settings.as_dict(), data, work.is_synthetic, telemonitoring, needs
        )
    return names


def _write_results(
    work: Work, steps: list[Step], stores: dict[str, Store], folder: Path, log: Callable[[str], None]
) -> StudyResult:
    decides = work.settings.decides
    judged = judge_claims(work.study, work.facts, is_synthetic=work.is_synthetic, decides=decides)
    name = "The paper's protocol on other patients" if work.study == "clinical" else f"The paper's {work.study} study"
    title = name if decides else f"{name} (small version)"
    write_whole(folder / "claims.md", claims_markdown(judged, f"{title}: claims").encode())
    write_whole(folder / "claims.csv", claims_table(judged).to_csv(index=False).encode())
    durations = {name: store.duration for name, store in stores.items()}
    total = sum(durations.values(), Duration())
    notes = [
        f"Li, Cummings and Mintz, Optimal Local Explainer Aggregation for Interpretable Prediction, redone by Oleander "
        f"{__version__} in {show_duration(total.seconds)} ({show_duration(total.processor_seconds)} of processor time)."
    ]
    page = make_page(title, notes, steps, work.facts, judged, folder, is_synthetic=work.is_synthetic)
    write_whole(folder / "index.html", page.encode())
    log(f"oleander: {folder / 'index.html'} and claims.md are written")
    return StudyResult(folder, work.facts, judged, durations)
