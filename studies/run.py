"""Run a study from its data to its page. What is finished stays on disk, so a run can be stopped and continued."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from oleander import __version__
from oleander.storage.files import write_whole
from studies.aggregation import AGGREGATION
from studies.baseline_table import BASELINE_TABLE
from studies.black_boxes import BLACK_BOXES
from studies.claims import Judged, claims_markdown, claims_table, judge_claims
from studies.data import Cohort, DataSet, load_geriatric, load_ppmi, load_telemonitoring, make_ppmi_like
from studies.data_facts import DATA_FACTS
from studies.drawing import Pen, to_png
from studies.filter_bins import FILTER_BINS
from studies.filter_cost import FILTER_COST
from studies.filtered_aggregation import FILTERED_AGGREGATION
from studies.local_explainers import LOCAL_EXPLAINERS
from studies.own_defaults import OWN_DEFAULTS
from studies.page import write_page
from studies.steps import Facts, Settings, Step, StudyName, Work
from studies.store import Store, digest, fingerprint
from studies.trajectories import TRAJECTORIES


@dataclass(frozen=True)
class Planned:
    """A step, and the seconds that it takes on two cores, in full and in the small version."""

    step: Step
    seconds: float
    quick_seconds: float


STUDIES: dict[StudyName, tuple[Planned, ...]] = {
    "geriatric": (
        Planned(DATA_FACTS, 1, 1),
        Planned(BLACK_BOXES, 150, 20),
        Planned(LOCAL_EXPLAINERS, 150, 5),
        Planned(FILTER_BINS, 20, 4),
        Planned(FILTER_COST, 10, 2),
        Planned(AGGREGATION, 600, 30),
        Planned(FILTERED_AGGREGATION, 120, 5),
        Planned(OWN_DEFAULTS, 60, 10),
    ),
    "ppmi": (
        Planned(TRAJECTORIES, 15, 15),
        Planned(BASELINE_TABLE, 1, 1),
        Planned(BLACK_BOXES, 40, 20),
        Planned(LOCAL_EXPLAINERS, 200, 10),
        Planned(FILTER_BINS, 20, 4),
        Planned(FILTER_COST, 10, 2),
        Planned(AGGREGATION, 400, 30),
        Planned(FILTERED_AGGREGATION, 60, 10),
        Planned(OWN_DEFAULTS, 60, 30),
    ),
}


@dataclass(frozen=True)
class StudyResult:
    """What a study found.

    Parameters
    ----------
    out : Path
        The folder with its page, figures and tables.
    facts : dict of step to facts
    claims : list of Judged
    seconds : dict of step to seconds
    """

    out: Path
    facts: dict[str, Facts]
    claims: list[Judged]
    seconds: dict[str, float]


def say(words: str) -> None:
    """Print a line at once, also into a file."""
    print(words, flush=True)


def run_study(
    study: StudyName,
    *,
    data: str | Path | DataSet | Cohort | None = None,
    out: str | Path,
    quick: bool = False,
    telemonitoring: str | Path | None = None,
    n_jobs: int | None = 2,
    settings: Settings | None = None,
    tell: Callable[[str], None] = say,
) -> StudyResult:
    """Redo one of the paper's studies and write its figures, tables, claims and page.

    Parameters
    ----------
    study : {"geriatric", "ppmi"}
    data : path, DataSet, Cohort or None
        Where the data lie. None fetches the geriatric data from UCI, and draws a synthetic cohort for PPMI.
    out : path
        The folder to write; steps finished there under the same settings and data are not done again.
    quick : bool
        A small version that takes a minute or two.
    telemonitoring : path or None
        The public telemonitoring data, for a second check of the clustering.
    n_jobs : int or None
        As in joblib.
    settings : Settings or None
        None takes the study's own.
    tell : callable
        Told how it goes, line by line.

    Returns
    -------
    StudyResult
    """
    if study not in get_args(StudyName):
        raise ValueError(f"study={study!r} is not known; the studies are {' and '.join(get_args(StudyName))}.")
    place = Path(out)
    settings = settings or Settings.plan(study, quick=quick)
    work = Work(
        study,
        _load(study, data, settings),
        settings,
        None if telemonitoring is None else load_telemonitoring(telemonitoring),
        n_jobs,
        lambda words: tell(f"oleander:   {words}"),
    )
    plans = STUDIES[study]
    names = _fingerprints(work, [plan.step for plan in plans])
    stores = {name: Store(place / name, made_by) for name, made_by in names.items()}
    left = [plan for plan in plans if not stores[plan.step.name].is_done]
    estimate = sum(plan.quick_seconds if quick else plan.seconds for plan in left)
    kind = f"{study}{', quick' if quick else ''}{', synthetic cohort' if work.is_synthetic else ''}"
    tell(
        f"oleander: study {kind}: {len(left)} of {len(plans)} steps to do, about {_duration(estimate)} on two free "
        f"cores. Finished parts are kept in {place}."
    )
    for number, plan in enumerate(plans, start=1):
        step, store = plan.step, stores[plan.step.name]
        words = f"oleander: [{number}/{len(plans)}] {step.title}"
        if store.is_done:
            tell(f"{words}: kept from before")
        else:
            tell(f"{words} …")
            start = time.perf_counter()
            facts = step.compute(work, store)
            for name, figure in step.draw(store, Pen(work.is_synthetic)).items():
                store.picture(name, to_png(figure))
            store.finish(facts, time.perf_counter() - start)
            tell(f"{words}: {_duration(store.seconds)}")
        work.facts[step.name] = store.facts
    return _write_results(work, [plan.step for plan in plans], stores, place, quick, tell)


def _load(study: StudyName, data: str | Path | DataSet | Cohort | None, settings: Settings) -> DataSet | Cohort:
    if isinstance(data, (DataSet, Cohort)):
        wanted = DataSet if study == "geriatric" else Cohort
        if type(data) is not wanted:
            raise TypeError(f"the study {study} needs a {wanted.__name__}, and got a {type(data).__name__}.")
        return data
    if study == "geriatric":
        return load_geriatric(data, rows_per_trial=settings.rows_per_trial)
    return make_ppmi_like(settings.random_state) if data is None else load_ppmi(data)


def _fingerprints(work: Work, steps: list[Step]) -> dict[str, str]:
    """Return what each step's results depend on: version, data, settings, and the steps that it needs."""
    if isinstance(work.data, Cohort):
        data = [digest(work.data.X), digest(work.data.trajectories), digest(work.data.is_patient)]
    else:
        data = [digest(work.data.X), digest(work.data.y)]
    extra = None if work.extra is None else digest(work.extra.y)
    names: dict[str, str] = {}
    for step in steps:
        needs = [names[need] for need in step.needs]
        names[step.name] = fingerprint(
            __version__, work.study, step.name, work.settings.as_dict(), data, work.is_synthetic, extra, needs
        )
    return names


def _write_results(
    work: Work, steps: list[Step], stores: dict[str, Store], place: Path, quick: bool, tell: Callable[[str], None]
) -> StudyResult:
    judged = judge_claims(work.study, work.facts, is_synthetic=work.is_synthetic)
    title = f"The paper's {work.study} study" + (" (small version)" if quick else "")
    write_whole(place / "claims.md", claims_markdown(judged, f"{title}: claims").encode())
    write_whole(place / "claims.csv", claims_table(judged).to_csv(index=False).encode())
    seconds = {name: store.seconds for name, store in stores.items()}
    notes = [
        f"Li, Cummings and Mintz, Optimal Local Explainer Aggregation for Interpretable Prediction, redone by Oleander "
        f"{__version__} in {_duration(sum(seconds.values()))}."
    ]
    page = write_page(title, notes, steps, work.facts, judged, place, is_synthetic=work.is_synthetic)
    write_whole(place / "index.html", page.encode())
    tell(f"oleander: {place / 'index.html'} and claims.md are written")
    return StudyResult(place, work.facts, judged, seconds)


def _duration(seconds: float) -> str:
    """Return a time in words.

    >>> _duration(4), _duration(95)
    ('4 s', '1 min 35 s')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
