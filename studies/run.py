"""Run a study from its data to its page. Finished parts stay on disk, so a run can be stopped and continued."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from oleander import __version__
from oleander.storage.files import write_whole
from studies.claims import JudgedClaim, claims_markdown, claims_table, judge_claims
from studies.data import Cohort, DataSet, load_geriatric, load_ppmi, load_telemonitoring, make_ppmi_like
from studies.drawing import Pen, to_png
from studies.page import make_page
from studies.settings import Settings, StudyName
from studies.step import Facts, Step, Work
from studies.steps.aggregation import AGGREGATION
from studies.steps.baseline_table import BASELINE_TABLE
from studies.steps.black_boxes import BLACK_BOXES
from studies.steps.data_facts import DATA_FACTS
from studies.steps.filter_bins import FILTER_BINS
from studies.steps.filter_cost import FILTER_COST
from studies.steps.filter_in_program import FILTER_IN_PROGRAM
from studies.steps.local_explainers import LOCAL_EXPLAINERS
from studies.steps.oleander_defaults import OLEANDER_DEFAULTS
from studies.steps.trajectories import TRAJECTORIES
from studies.store import Store, digest, fingerprint


@dataclass(frozen=True)
class PlannedStep:
    """A step, and the seconds it takes on two cores, in full and in the small version."""

    step: Step
    seconds: float
    quick_seconds: float


STUDIES: dict[StudyName, tuple[PlannedStep, ...]] = {
    "geriatric": (
        PlannedStep(DATA_FACTS, 1, 1),
        PlannedStep(BLACK_BOXES, 150, 20),
        PlannedStep(LOCAL_EXPLAINERS, 150, 5),
        PlannedStep(FILTER_BINS, 20, 4),
        PlannedStep(FILTER_COST, 10, 2),
        PlannedStep(AGGREGATION, 600, 30),
        PlannedStep(FILTER_IN_PROGRAM, 120, 5),
        PlannedStep(OLEANDER_DEFAULTS, 60, 10),
    ),
    "ppmi": (
        PlannedStep(TRAJECTORIES, 15, 15),
        PlannedStep(BASELINE_TABLE, 1, 1),
        PlannedStep(BLACK_BOXES, 40, 20),
        PlannedStep(LOCAL_EXPLAINERS, 200, 10),
        PlannedStep(FILTER_BINS, 20, 4),
        PlannedStep(FILTER_COST, 10, 2),
        PlannedStep(AGGREGATION, 400, 30),
        PlannedStep(FILTER_IN_PROGRAM, 60, 10),
        PlannedStep(OLEANDER_DEFAULTS, 60, 30),
    ),
}


@dataclass(frozen=True)
class StudyResult:
    """The result of a study.

    Parameters
    ----------
    out : Path
        The folder with its page, figures and tables.
    facts : dict of step to facts
    claims : list of JudgedClaim
    seconds : dict of step to seconds
    """

    out: Path
    facts: dict[str, Facts]
    claims: list[JudgedClaim]
    seconds: dict[str, float]


def print_line(line: str) -> None:
    """Print a line at once, also into a file."""
    print(line, flush=True)


def run_study(
    study: StudyName,
    *,
    data: str | Path | DataSet | Cohort | None = None,
    out: str | Path,
    quick: bool = False,
    telemonitoring: str | Path | None = None,
    n_jobs: int | None = 2,
    settings: Settings | None = None,
    log: Callable[[str], None] = print_line,
) -> StudyResult:
    """Redo one of the paper's studies and write its figures, tables, claims and page.

    Parameters
    ----------
    study : {"geriatric", "ppmi"}
    data : path, DataSet, Cohort or None
        The data, or where they are stored. None fetches the geriatric data from UCI and draws a synthetic cohort for
        PPMI.
    out : path
        The folder to write; steps finished there with the same settings and data are kept.
    quick : bool
        Run a small version, which takes a minute or two.
    telemonitoring : path or None
        The public telemonitoring data, for a second check of the clustering.
    n_jobs : int or None
        As in joblib.
    settings : Settings or None
        None takes the study's own.
    log : callable
        Called with each line of progress.

    Returns
    -------
    StudyResult
    """
    if study not in get_args(StudyName):
        raise ValueError(f"study={study!r} is not known; the studies are {' and '.join(get_args(StudyName))}.")
    folder = Path(out)
    settings = settings or Settings.plan(study, quick=quick)
    work = Work(
        study,
        _load(study, data, settings),
        settings,
        None if telemonitoring is None else load_telemonitoring(telemonitoring),
        n_jobs,
        lambda line: log(f"oleander:   {line}"),
    )
    plans = STUDIES[study]
    steps = [plan.step for plan in plans]
    stores = {name: Store(folder / name, made_by) for name, made_by in _fingerprints(work, steps).items()}
    unfinished = [plan for plan in plans if not stores[plan.step.name].is_done]
    estimate = sum(plan.quick_seconds if quick else plan.seconds for plan in unfinished)
    kind = f"{study}{', quick' if quick else ''}{', synthetic cohort' if work.is_synthetic else ''}"
    log(
        f"oleander: study {kind}: {len(unfinished)} of {len(plans)} steps to do, about {_duration(estimate)} on two "
        f"free cores. Finished parts are kept in {folder}."
    )
    for number, step in enumerate(steps, start=1):
        store, title = stores[step.name], f"oleander: [{number}/{len(steps)}] {step.title}"
        if store.is_done:
            log(f"{title}: kept from an earlier run")
        else:
            log(f"{title} …")
            _run_step(step, work, store)
            log(f"{title}: {_duration(store.seconds)}")
        work.facts[step.name] = store.facts
    return _write_results(work, steps, stores, folder, quick=quick, log=log)


def _load(study: StudyName, data: str | Path | DataSet | Cohort | None, settings: Settings) -> DataSet | Cohort:
    if isinstance(data, (DataSet, Cohort)):
        expected = DataSet if study == "geriatric" else Cohort
        if type(data) is not expected:
            raise TypeError(f"the study {study} needs a {expected.__name__}, and got a {type(data).__name__}.")
        return data
    if study == "geriatric":
        return load_geriatric(data, rows_per_trial=settings.rows_per_trial)
    return make_ppmi_like(settings.random_state) if data is None else load_ppmi(data)


def _run_step(step: Step, work: Work, store: Store) -> None:
    start = time.perf_counter()
    facts = step.compute(work, store)
    for name, figure in step.draw(store, Pen(work.is_synthetic)).items():
        store.picture(name, to_png(figure))
    store.finish(facts, time.perf_counter() - start)


def _fingerprints(work: Work, steps: list[Step]) -> dict[str, str]:
    """Return a fingerprint by step, of all its results depend on: version, data, settings and the steps it needs."""
    if isinstance(work.data, Cohort):
        data = [digest(work.data.X), digest(work.data.trajectories), digest(work.data.is_patient)]
    else:
        data = [digest(work.data.X), digest(work.data.y)]
    telemonitoring = None if work.telemonitoring is None else digest(work.telemonitoring.y)
    names: dict[str, str] = {}
    for step in steps:
        needs = [names[need] for need in step.needs]
        names[step.name] = fingerprint(
            __version__, work.study, step.name, work.settings.as_dict(), data, work.is_synthetic, telemonitoring, needs
        )
    return names


def _write_results(
    work: Work, steps: list[Step], stores: dict[str, Store], folder: Path, *, quick: bool, log: Callable[[str], None]
) -> StudyResult:
    judged = judge_claims(work.study, work.facts, is_synthetic=work.is_synthetic)
    title = f"The paper's {work.study} study" + (" (small version)" if quick else "")
    write_whole(folder / "claims.md", claims_markdown(judged, f"{title}: claims").encode())
    write_whole(folder / "claims.csv", claims_table(judged).to_csv(index=False).encode())
    seconds = {name: store.seconds for name, store in stores.items()}
    notes = [
        f"Li, Cummings and Mintz, Optimal Local Explainer Aggregation for Interpretable Prediction, redone by Oleander "
        f"{__version__} in {_duration(sum(seconds.values()))}."
    ]
    page = make_page(title, notes, steps, work.facts, judged, folder, is_synthetic=work.is_synthetic)
    write_whole(folder / "index.html", page.encode())
    log(f"oleander: {folder / 'index.html'} and claims.md are written")
    return StudyResult(folder, work.facts, judged, seconds)


def _duration(seconds: float) -> str:
    """Return a time in words.

    >>> _duration(4), _duration(95)
    ('4 s', '1 min 35 s')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
