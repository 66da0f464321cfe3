"""Every claim that the paper makes about its results, in our words, with its figure and its judge."""

from studies.claims import judge_black_boxes, judge_data, judge_filter, judge_program, judge_rivals
from studies.claims.claim import Claim
from studies.settings import StudyName

PPMI: tuple[StudyName, ...] = ("ppmi",)
GERIATRIC: tuple[StudyName, ...] = ("geriatric",)
BOTH: tuple[StudyName, ...] = ("ppmi", "geriatric")
# A claim that makes sense for other data is judged on other patients too.
ALL: tuple[StudyName, ...] = ("ppmi", "geriatric", "clinical")
REAL: tuple[StudyName, ...] = ("geriatric", "clinical")
SEVERAL: tuple[StudyName, ...] = ("ppmi", "geriatric", "clinical")

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "cohort", "experiments; appendix on clustering", "The cohort has 779 people.", "548 patients, 231 healthy",
        "trajectories", PPMI, judge_data.cohort_size, is_built_in=True,
    ),
    Claim(
        "four groups", "appendix on clustering; elbow plot", "Trajectories fall into four groups.", "bend at 4",
        "trajectories", PPMI, judge_data.four_groups,
    ),
    Claim(
        "group names", "appendix on clustering; mean trajectories",
        "One group declines in cognition, one in autonomy with motor symptoms standing still, one is dominated by "
        "motor symptoms, one is moderate.",
        "curves without figures", "trajectories", PPMI, judge_data.group_names, is_built_in=True,
    ),
    Claim(
        "distinct groups", "appendix on clustering; projections", "The groups do not overlap much in PCA and t-SNE.",
        "plots without figures", "trajectories", PPMI, judge_data.distinct_groups, is_built_in=True,
    ),
    Claim(
        "groups differ at screening", "appendix on clustering; table",
        "Many screening measures differ between the groups.", "7 of 10 rows with p ≤ 0.02", "baseline_table", PPMI,
        judge_data.table_differs, is_built_in=True,
    ),
    Claim(
        "significant pairs", "appendix on clustering; table", "Fourteen pairs of groups differ in a t test.",
        "14 pairs, p from below 0.001 to 0.04", "baseline_table", PPMI, judge_data.table_pairs, is_built_in=True,
    ),
    Claim(
        "no difference", "appendix on clustering; table", "Race, sex and depression do not differ.",
        "p = 0.99, 0.63, 0.68", "baseline_table", PPMI, judge_data.no_difference, is_built_in=True,
    ),
    Claim(
        "sleep and smell", "appendix on clustering", "Groups vary much in sleep score and smell.", "p < 0.001 each",
        "baseline_table", PPMI, judge_data.sleep_and_smell, is_built_in=True,
    ),
    Claim(
        "group 0 is youngest", "appendix on clustering", "Group 0 is younger than the others.", "58.925 years",
        "baseline_table", PPMI, judge_data.youngest_group, needs_real_data=False,
    ),
    Claim(
        "split", "appendix on validation", "Data are split 70/15/15.", "545 / 117 / 117", "black_boxes", PPMI,
        judge_black_boxes.split_sizes, needs_real_data=False,
    ),
    Claim(
        "logistic regression is worst", "appendix on validation; confusion matrices, ROC curves",
        "Logistic regression does worse than network and forest.", "figures without numbers", "black_boxes", ALL,
        judge_black_boxes.logistic_worst,
    ),
    Claim(
        "forest by class", "appendix on validation; confusion matrices",
        "The forest is right less often than the network in group 0, and as often or more in the others.",
        "figures without numbers", "black_boxes", PPMI, judge_black_boxes.forest_by_class,
    ),
    Claim(
        "forest is best", "appendix on validation", "The bagged forest does best consistently.",
        "figures without numbers", "black_boxes", ALL, judge_black_boxes.forest_best,
    ),
    Claim(
        "hundred units", "appendix on validation", "One hidden layer of 100 ReLU units is the best network.", "100",
        "black_boxes", BOTH, judge_black_boxes.hundred_units,
    ),
    Claim(
        "fifty trees", "appendix on validation", "50 bagged trees do better than other sizes.", "50", "black_boxes",
        BOTH, judge_black_boxes.fifty_trees,
    ),
    Claim(
        "few features", "local explainer; appendix on validation", "The filter typically keeps at most five features.",
        "5 of 31", "local_explainers", ALL, judge_filter.few_features,
    ),
    Claim(
        "filter at r = 3", "appendix on validation; leaves by fidelity",
        "At a small radius the filter makes no great difference to the size of trees.", "r = 3", "local_explainers",
        BOTH, judge_filter.equal_trees("3"),
    ),
    Claim(
        "filter at r = 7 and 11", "appendix on validation; leaves by fidelity",
        "At moderate radii, trees of fidelity above 0.6 have fewer leaves with the filter.", "r = 7 and 11",
        "local_explainers", BOTH, judge_filter.smaller_trees("7", "11"),
    ),
    Claim(
        "filter at r = 15", "appendix on validation; leaves by fidelity",
        "At a large radius the filter makes no great difference (caption), or helps slightly (text).", "r = 15",
        "local_explainers", BOTH, judge_filter.equal_trees("15"),
    ),
    Claim(
        "filter below 0.6", "appendix on validation; leaves by fidelity",
        "Below fidelity 0.6, trees without the filter are smaller.", "fidelity < 0.6", "local_explainers", BOTH,
        judge_filter.low_fidelity_trees,
    ),
    Claim(
        "simpler and more faithful", "local explainer; appendix on validation",
        "The filter gives local explainers of better fidelity in their region.", "no figure", "local_explainers", ALL,
        judge_filter.better_fidelity,
    ),
    Claim(
        "less complex than regularization", "introduction; local explainer; appendix on validation",
        "Filtered explainers are less complex than regularized ones, with better fidelity.", "no experiment",
        "regularization", ALL, judge_filter.less_complex,
    ),
    Claim(
        "three bins", "appendix on validation", "Three bins for numbers are enough for the filter.", "3", "filter_bins",
        BOTH, judge_filter.three_bins,
    ),
    Claim(
        "linear filter", "appendix on FFFS", "The whole filter takes time of order N·|Φ|.", "O(N·|Φ|)",
        "filter_cost", BOTH, judge_filter.linear_filter, needs_real_data=False,
    ),
    Claim(
        "three activities", "experiments; geriatric captions",
        "The geriatric data have three activities (text) or five classes (captions).", "3, and 5", "data_facts",
        GERIATRIC, judge_data.three_activities,
    ),
    Claim(
        "fourteen people", "experiments", "Fourteen people aged 66 to 86 took part.", "14", "data_facts", GERIATRIC,
        judge_data.fourteen_people,
    ),
    Claim(
        "program models the definition", "methodology; second and third proposition",
        "The program's constraints say that every chosen explainer has the fidelity asked for.", "a proof",
        "black_boxes", BOTH, judge_program.program_is_definition, needs_real_data=False,
    ),
    Claim(
        "solvable as printed", "abstract; methodology", "The printed program is solved by a general solver.",
        "\"commercial solvers\"", "general_solver", ("clinical",), judge_program.solved_as_printed,
    ),
    Claim(
        "solvable", "abstract; methodology", "The integer program is solved efficiently.", "no figure", "aggregation",
        ALL, judge_program.solvable, needs_real_data=False,
    ),
    Claim(
        "more explainers cover more", "introduction", "More explainers bring more coverage.", "no figure",
        "aggregation", ALL, judge_program.more_explainers("coverage"),
    ),
    Claim(
        "more explainers are more faithful", "introduction", "More explainers bring more fidelity.", "no figure",
        "aggregation", ALL, judge_program.more_explainers("fidelity"),
    ),
    Claim(
        "floor is a knob", "experiments", "A higher floor φ gives higher fidelity, at a cost for coverage.",
        "φ = 0.5, 0.7, 0.9", "floors_by_radius", ALL, judge_program.floor_is_a_knob,
    ),
    Claim(
        "binary coverage", "experiments; binary coverage",
        "Coverage is above that of anchors and submodular pick at every budget, binary.", "K = 5 to 50", "aggregation",
        PPMI, judge_rivals.more_coverage("strict", "binary"),
    ),
    Claim(
        "5-class coverage", "experiments; 5-class coverage",
        "Coverage is above that of anchors and submodular pick at every budget, five classes.", "K = 5 to 50",
        "aggregation", PPMI, judge_rivals.more_coverage("strict", "five_classes"),
    ),
    Claim(
        "wider than other aggregations", "experiments; geriatric coverage",
        "Coverage is above that of anchors and submodular pick at every budget and floor.", "K = 5 to 50",
        "aggregation", REAL, judge_rivals.more_coverage("strict"),
    ),
    Claim(
        "wider, printed program", "experiments", "The same, asked of the program as it is printed.", "K = 5 to 50",
        "aggregation", ALL, judge_rivals.more_coverage("selective"),
    ),
    Claim(
        "binary fidelity, low floors", "experiments; binary fidelity",
        "At floors 0.5 and 0.7, fidelity is like that of the other aggregates and of decision sets.",
        "φ = 0.5 and 0.7", "aggregation", PPMI, judge_rivals.low_floors_alike,
    ),
    Claim(
        "binary fidelity, high floor", "experiments; binary fidelity",
        "At a floor of 0.9, fidelity is well above those.", "φ = 0.9", "aggregation", PPMI,
        judge_rivals.high_floor_above,
    ),
    Claim(
        "binary trees", "experiments; binary fidelity",
        "In the binary case, active-learning tree and naive tree are not beaten.", "figure without numbers",
        "aggregation", PPMI, judge_rivals.trees_unbeaten,
    ),
    Claim(
        "fidelity of 0.9", "abstract; experiments; 5-class fidelity",
        "With several classes, φ = 0.9 gives a fidelity of 0.9.", "0.9", "aggregation", SEVERAL,
        judge_rivals.reaches_floor,
    ),
    Claim(
        "at 40 to 50% coverage", "introduction; experiments", "At that fidelity, 40 to 50% of the rows are covered.",
        "40–50%", "aggregation", SEVERAL, judge_rivals.wide_enough,
    ),
    Claim(
        "global explainers reach 0.7", "abstract; experiments; 5-class fidelity",
        "With several classes, trees that answer every row have a fidelity of about 0.7.", "0.7", "aggregation",
        SEVERAL, judge_rivals.trees_at_seventy,
    ),
    Claim(
        "more faithful than trees", "abstract; experiments; 5-class fidelity",
        "With several classes, fidelity at φ = 0.9 is above that of the trees.", "0.9 against 0.7", "aggregation",
        SEVERAL, judge_rivals.above_trees,
    ),
    Claim(
        "outperforms aggregation", "abstract; introduction",
        "Coverage and fidelity are above those of existing aggregations at every budget.", "K = 5 to 50", "aggregation",
        ALL, judge_rivals.outperforms,
    ),
    Claim(
        "Pareto", "introduction", "The method is on the Pareto frontier of fidelity and coverage.", "no figure",
        "aggregation", ALL, judge_rivals.pareto,
    ),
    Claim(
        "geriatric not whole", "experiments; geriatric coverage", "Coverage stays below 100%.", "below 100%",
        "aggregation", GERIATRIC, judge_program.not_whole,
    ),
    Claim(
        "geriatric fidelity", "experiments; geriatric fidelity",
        "Fidelity is above that of all other global explainers, the active-learning tree being close.",
        "figure without numbers", "aggregation", GERIATRIC, judge_rivals.more_fidelity,
    ),
    Claim(
        "suited to many classes", "experiments",
        "With several classes the method is more faithful than all existing ones.", "no figure", "aggregation", ALL,
        judge_rivals.many_classes,
    ),
    Claim(
        "filter itself", "experiments; filtered and unfiltered",
        "Inside the program at a floor of 0.7, the filter adds coverage and fidelity (trees against trees).",
        "it compares with LIME", "filter_in_program", ALL, judge_filter.filter_itself,
    ),
    Claim(
        "filter inside, binary coverage", "experiments; filtered and unfiltered, binary",
        "Inside the program at a floor of 0.7, filtered explainers cover more than LIME's, binary.", "every budget",
        "filter_in_program", PPMI, judge_filter.filter_covers_more("binary", "coverage"),
    ),
    Claim(
        "filter inside, binary fidelity", "experiments; filtered and unfiltered, binary",
        "Inside the program, fidelity with the filter is about 4% higher, binary.", "+4%", "filter_in_program", PPMI,
        judge_filter.filter_adds("binary", "fidelity", 0.04),
    ),
    Claim(
        "filter inside, 5-class", "experiments; filtered and unfiltered, five classes",
        "Inside the program, filtered explainers have more coverage and fidelity at every budget, five classes.",
        "every budget", "filter_in_program", PPMI,
        judge_filter.filter_covers_more("five_classes", "coverage", "fidelity"),
    ),
    Claim(
        "filter inside, 5-class coverage", "experiments; filtered and unfiltered, five classes",
        "Coverage gains 5% on average, five classes.", "+5%", "filter_in_program", PPMI,
        judge_filter.filter_adds("five_classes", "coverage", 0.05),
    ),
    Claim(
        "filter inside, less with five", "experiments; filtered and unfiltered, five classes",
        "The gain is smaller with five classes than with two.", "no figure", "filter_in_program", PPMI,
        judge_filter.filter_adds_less,
    ),
)  # fmt: skip
