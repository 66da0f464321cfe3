"""Every claim that the paper makes of its results, in our words, with its figure and how it is judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import pandas as pd

from studies import aggregation_judges, judges
from studies.steps import Facts, StudyName

PPMI: tuple[StudyName, ...] = ("ppmi",)
GERIATRIC: tuple[StudyName, ...] = ("geriatric",)
BOTH: tuple[StudyName, ...] = ("ppmi", "geriatric")


class Verdict(StrEnum):
    """What came out."""

    HOLDS = "holds"
    FAILS = "does not hold"
    CANNOT_TELL = "cannot be told here (synthetic data)"
    OPEN = "cannot be told here (too close, or not in the data)"
    NOT_YET = "not yet measured"


@dataclass(frozen=True)
class Claim:
    """A claim of the paper.

    Parameters
    ----------
    name : str
    where : str
        The place in the paper.
    says : str
        The claim in our words.
    figure : str
        The paper's figure for it.
    step : str
        The step whose facts decide.
    studies : tuple of str
        Where it is looked at. Claims about PPMI that can be asked of other data are asked of the geriatric data too.
    judge : Judge or None
        None where nothing measures it yet.
    needs_real_data : bool
        Whether a synthetic cohort cannot decide it.
    """

    name: str
    where: str
    says: str
    figure: str
    step: str
    studies: tuple[StudyName, ...]
    judge: judges.Judge | None = None
    needs_real_data: bool = True


@dataclass(frozen=True)
class Judged:
    """A claim with what came out."""

    claim: Claim
    verdict: Verdict
    ours: str
    why: str


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "cohort", "experiments; appendix on clustering", "The cohort has 779 people.", "548 patients, 231 healthy",
        "trajectories", PPMI, judges.cohort_size,
    ),
    Claim(
        "four groups", "appendix on clustering; elbow plot", "Trajectories fall into four groups.", "bend at 4",
        "trajectories", PPMI, judges.four_groups,
    ),
    Claim(
        "group names", "appendix on clustering; mean trajectories",
        "One group declines in cognition, one in autonomy with motor symptoms standing still, one is dominated by "
        "motor symptoms, one is moderate.",
        "curves without figures", "trajectories", PPMI, judges.group_names,
    ),
    Claim(
        "distinct groups", "appendix on clustering; projections", "The groups do not overlap much in PCA and t-SNE.",
        "plots without figures", "trajectories", PPMI, judges.distinct_groups,
    ),
    Claim(
        "groups differ at screening", "appendix on clustering; table",
        "Many screening measures differ between the groups.", "7 of 10 rows with p ≤ 0.02", "baseline_table", PPMI,
        judges.table_differs,
    ),
    Claim(
        "significant pairs", "appendix on clustering; table", "Fourteen pairs of groups differ in a t test.",
        "14 pairs, p from below 0.001 to 0.04", "baseline_table", PPMI, judges.table_pairs,
    ),
    Claim(
        "no difference", "appendix on clustering; table", "Race, sex and depression do not differ.",
        "p = 0.99, 0.63, 0.68", "baseline_table", PPMI, judges.no_difference,
    ),
    Claim(
        "sleep and smell", "appendix on clustering", "Groups vary much in sleep score and smell.", "p < 0.001 each",
        "baseline_table", PPMI, judges.sleep_and_smell,
    ),
    Claim(
        "group 0 is youngest", "appendix on clustering", "Group 0 is younger than the others.", "58.925 years",
        "baseline_table", PPMI, judges.youngest_group, needs_real_data=False,
    ),
    Claim(
        "split", "appendix on validation", "Data are split 70/15/15.", "545 / 117 / 117", "black_boxes", PPMI,
        judges.split_sizes, needs_real_data=False,
    ),
    Claim(
        "logistic regression is worst", "appendix on validation; confusion matrices, ROC curves",
        "Logistic regression does worse than network and forest.", "figures without numbers", "black_boxes", BOTH,
        judges.logistic_worst,
    ),
    Claim(
        "forest by class", "appendix on validation; confusion matrices",
        "The forest is right less often than the network in group 0, and as often or more in the others.",
        "figures without numbers", "black_boxes", PPMI, judges.forest_by_class,
    ),
    Claim(
        "forest is best", "appendix on validation", "The bagged forest does best consistently.",
        "figures without numbers", "black_boxes", BOTH, judges.forest_best,
    ),
    Claim(
        "hundred units", "appendix on validation", "One hidden layer of 100 ReLU units is the best network.", "100",
        "black_boxes", BOTH, judges.hundred_units,
    ),
    Claim(
        "fifty trees", "appendix on validation", "50 bagged trees do better than other sizes.", "50", "black_boxes",
        BOTH, judges.fifty_trees,
    ),
    Claim(
        "few features", "local explainer; appendix on validation", "The filter typically keeps at most five features.",
        "5 of 31", "local_explainers", BOTH, judges.few_features,
    ),
    Claim(
        "filter at r = 3", "appendix on validation; leaves by fidelity",
        "At a small radius the filter makes no great difference to the size of trees.", "r = 3", "local_explainers",
        BOTH, judges.equal_trees("3"),
    ),
    Claim(
        "filter at r = 7 and 11", "appendix on validation; leaves by fidelity",
        "At moderate radii, trees of fidelity above 0.6 have fewer leaves with the filter.", "r = 7 and 11",
        "local_explainers", BOTH, judges.smaller_trees("7", "11"),
    ),
    Claim(
        "filter at r = 15", "appendix on validation; leaves by fidelity",
        "At a large radius the filter makes no great difference (caption), or helps slightly (text).", "r = 15",
        "local_explainers", BOTH,
        judges.equal_trees("15"),
    ),
    Claim(
        "filter below 0.6", "appendix on validation; leaves by fidelity",
        "Below fidelity 0.6, trees without the filter are smaller.", "fidelity < 0.6", "local_explainers", BOTH,
        judges.low_fidelity_trees,
    ),
    Claim(
        "simpler and more faithful", "local explainer; appendix on validation",
        "The filter gives local explainers of better fidelity.", "no figure", "local_explainers", BOTH,
        judges.better_fidelity,
    ),
    Claim(
        "three bins", "appendix on validation", "Three bins for numbers are enough for the filter.", "3", "filter_bins",
        BOTH,
        judges.three_bins,
    ),
    Claim(
        "linear filter", "appendix on FFFS", "The filter's time is linear in draws and in features.", "O(N·|Φ|)",
        "filter_cost", BOTH, judges.linear_filter, needs_real_data=False,
    ),
    Claim(
        "three activities", "experiments; geriatric captions",
        "The geriatric data have three activities (text) or five classes (captions).", "3, and 5", "data_facts",
        GERIATRIC, judges.three_activities,
    ),
    Claim(
        "fourteen people", "experiments", "Fourteen people aged 66 to 86 took part.", "14", "data_facts", GERIATRIC,
        judges.fourteen_people,
    ),
    Claim(
        "program models the definition", "methodology; second and third proposition",
        "The program's constraints say that every chosen explainer has the fidelity asked for.", "a proof",
        "black_boxes", BOTH, judges.program_is_definition, needs_real_data=False,
    ),
    Claim(
        "solvable", "abstract; methodology", "The integer program is solved efficiently.", "no figure", "aggregation",
        BOTH,
        aggregation_judges.solvable, needs_real_data=False,
    ),
    Claim(
        "more explainers", "introduction", "More explainers bring more coverage and more fidelity.", "no figure",
        "aggregation", BOTH,
        aggregation_judges.more_explainers,
    ),
    Claim(
        "floor is a knob", "experiments", "A higher floor gives higher fidelity at less coverage.", "φ = 0.5, 0.7, 0.9",
        "aggregation", BOTH,
        aggregation_judges.floor_is_a_knob,
    ),
    Claim(
        "binary coverage", "experiments; binary coverage",
        "Coverage is above that of anchors and submodular pick at every budget, binary.", "K = 5 to 50", "aggregation",
        PPMI,
        aggregation_judges.more_coverage("binary"),
    ),
    Claim(
        "5-class coverage", "experiments; 5-class coverage",
        "Coverage is above that of anchors and submodular pick at every budget, five classes.", "K = 5 to 50",
        "aggregation", PPMI,
        aggregation_judges.more_coverage("five_classes"),
    ),
    Claim(
        "binary fidelity, low floors", "experiments; binary fidelity",
        "At floors 0.5 and 0.7, fidelity is like that of the other aggregates and of decision sets.",
        "φ = 0.5 and 0.7", "aggregation", PPMI,
        aggregation_judges.low_floors_alike,
    ),
    Claim(
        "binary fidelity, high floor", "experiments; binary fidelity",
        "At a floor of 0.9, fidelity is well above those.", "φ = 0.9", "aggregation", PPMI,
        aggregation_judges.high_floor_above,
    ),
    Claim(
        "binary trees", "experiments; binary fidelity",
        "In the binary case, active-learning tree and naive tree are not beaten.", "figure without numbers",
        "aggregation", PPMI,
        aggregation_judges.trees_unbeaten,
    ),
    Claim(
        "5-class fidelity", "abstract; experiments; 5-class fidelity",
        "With five classes, a fidelity of 0.9 is reached where trees reach 0.7.", "0.9 against 0.7", "aggregation",
        PPMI,
        aggregation_judges.five_class_fidelity,
    ),
    Claim(
        "5-class coverage at 0.9", "introduction; experiments", "At that fidelity, 40 to 50% of the rows are covered.",
        "40–50%", "aggregation", PPMI,
        aggregation_judges.five_class_coverage,
    ),
    Claim(
        "outperforms aggregation", "abstract; introduction",
        "Coverage and fidelity are above those of existing aggregations at every budget.", "K = 5 to 50", "aggregation",
        BOTH,
        aggregation_judges.outperforms,
    ),
    Claim(
        "Pareto", "introduction", "The method is on the Pareto frontier of fidelity and coverage.", "no figure",
        "aggregation", BOTH,
        aggregation_judges.pareto,
    ),
    Claim(
        "geriatric coverage", "experiments; geriatric coverage",
        "Coverage is above that of the other aggregations at every budget and floor.", "K = 5 to 50", "aggregation",
        GERIATRIC,
        aggregation_judges.more_coverage(),
    ),
    Claim(
        "geriatric not whole", "experiments; geriatric coverage", "Coverage stays below 100%.", "below 100%",
        "aggregation", GERIATRIC,
        aggregation_judges.not_whole,
    ),
    Claim(
        "geriatric fidelity", "experiments; geriatric fidelity",
        "Fidelity is above that of all other global explainers, the active-learning tree being close.",
        "figure without numbers", "aggregation", GERIATRIC,
        aggregation_judges.more_fidelity,
    ),
    Claim(
        "suited to many classes", "experiments", "The method suits several classes better than existing ones.",
        "no figure", "aggregation", BOTH,
        aggregation_judges.many_classes,
    ),
    Claim(
        "filter inside, binary coverage", "experiments; filtered and unfiltered, binary",
        "Inside the program at a floor of 0.7, filtered explainers cover more than LIME's, binary.", "every budget",
        "filtered_aggregation", PPMI,
        aggregation_judges.filter_covers_more("binary", "coverage"),
    ),
    Claim(
        "filter inside, binary fidelity", "experiments; filtered and unfiltered, binary",
        "Inside the program, fidelity with the filter is about 4% higher, binary.", "+4%", "filtered_aggregation", PPMI,
        aggregation_judges.filter_adds("binary", "agreement", 0.04),
    ),
    Claim(
        "filter inside, 5-class", "experiments; filtered and unfiltered, five classes",
        "Inside the program, filtered explainers have more coverage and fidelity at every budget, five classes.",
        "every budget", "filtered_aggregation", PPMI,
        aggregation_judges.filter_covers_more("five_classes", "coverage", "agreement"),
    ),
    Claim(
        "filter inside, 5-class coverage", "experiments; filtered and unfiltered, five classes",
        "Coverage gains 5% on average, five classes.", "+5%", "filtered_aggregation", PPMI,
        aggregation_judges.filter_adds("five_classes", "coverage", 0.05),
    ),
    Claim(
        "filter inside, less with five", "experiments; filtered and unfiltered, five classes",
        "The gain is smaller with five classes than with two.", "no figure", "filtered_aggregation", PPMI,
        aggregation_judges.filter_adds_less,
    ),
)  # fmt: skip


def judge_claims(study: StudyName, facts: Mapping[str, Facts], *, is_synthetic: bool) -> list[Judged]:
    """Return every claim that concerns a study, with what its facts say.

    Parameters
    ----------
    study : {"geriatric", "ppmi"}
    facts : mapping of step to its facts
        Claims of steps that are not there are not yet measured.
    is_synthetic : bool
    """
    judged = []
    for claim in CLAIMS:
        if study not in claim.studies:
            continue
        if claim.judge is None or claim.step not in facts:
            judged.append(Judged(claim, Verdict.NOT_YET, "", ""))
            continue
        comes_out, ours, why = claim.judge(facts[claim.step])
        if comes_out is None:
            verdict = Verdict.OPEN if ours else Verdict.NOT_YET
        elif is_synthetic and claim.needs_real_data:
            verdict = Verdict.CANNOT_TELL
        else:
            verdict = Verdict.HOLDS if comes_out else Verdict.FAILS
        judged.append(Judged(claim, verdict, ours, why if verdict is Verdict.FAILS else ""))
    return judged


def claims_table(judged: Sequence[Judged]) -> pd.DataFrame:
    """Return the claims as a table."""
    return pd.DataFrame(
        [
            {
                "claim": item.claim.name,
                "the paper says": item.claim.says,
                "where": item.claim.where,
                "paper's figure": item.claim.figure,
                "ours": item.ours,
                "verdict": str(item.verdict),
                "why": item.why,
            }
            for item in judged
        ]
    )


def claims_markdown(judged: Sequence[Judged], title: str) -> str:
    """Return the claims as a page in Markdown."""
    counts = {verdict: sum(item.verdict is verdict for item in judged) for verdict in Verdict}
    words = ", ".join(f"{verdict}: {n}" for verdict, n in counts.items() if n)
    lines = [f"# {title}", "", f"{len(judged)} claims. {words[0].upper()}{words[1:]}.", ""]
    lines += ["| the paper says | its figure | ours | verdict |", "|---|---|---|---|"]
    for item in judged:
        verdict = f"**{item.verdict}**" + (f": {item.why}" if item.why else "")
        cells = (f"{item.claim.says} ({item.claim.where})", item.claim.figure, item.ours or "–", verdict)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
