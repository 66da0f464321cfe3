"""Two whole runs side by side: whether they come to the same verdicts, and to the same figures."""

from collections.abc import Mapping

from studies.report import NAMES, Finished
from studies.settings import StudyName
from studies.timing import Duration, show_duration

Runs = Mapping[StudyName, Finished]


def compare_runs(one: Runs, other: Runs) -> tuple[str, bool]:
    """Return a comparison in words, and whether all verdicts are equal.

    Parameters
    ----------
    one, other : mapping of study to Finished
        Two runs of all studies, on machines of any speed and load.
    """
    lines, n_claims, n_verdicts, n_figures = [], 0, 0, 0
    for study, run in one.items():
        theirs = {item.claim.name: item for item in other[study].claims}
        for item in run.claims:
            again = theirs[item.claim.name]
            n_claims += 1
            n_verdicts += item.words == again.words
            n_figures += item.ours == again.ours
            if item.words != again.words:
                lines.append(f"- {NAMES[study]}, {item.claim.name}: {item.words} | {again.words}")
            elif item.ours != again.ours:
                lines.append(f"- {NAMES[study]}, {item.claim.name}, figures: {item.ours} | {again.ours}")
    totals = [
        sum((each for run in runs.values() for each in run.durations.values()), Duration()) for runs in (one, other)
    ]
    times = " and ".join(
        f"{show_duration(total.seconds)} ({show_duration(total.processor_seconds)} of processor time)"
        for total in totals
    )
    head = (
        f"Verdicts are equal on {n_verdicts} of {n_claims} claims, all figures of the claim on {n_figures}. The steps "
        f"took {times}."
    )
    return "\n".join([head, *(["", *lines] if lines else [])]), n_verdicts == n_claims
