"""Figures that the paper prints about its cohort: its table of baseline comparisons, and counts from its text.

Source: Li, Cummings and Mintz, Optimal Local Explainer Aggregation for Interpretable Prediction, appendix on clustering
(table of baseline and screening measurements) and appendix on the local explainer's validation.
"""

GROUPS = ("Group 0", "Group 1", "Group 2", "Group 3", "Healthy")
# Not printed: these are the only sizes that fit the percentages of the table and the total of 548 patients.
SIZES = dict(zip(GROUPS, (133, 83, 159, 173, 231), strict=True))
N_PEOPLE, N_PATIENTS, N_HEALTHY = 779, 548, 231
SPLIT_SIZES = (545, 117, 117)
# Months of the seven visits: five times three, then six more.
MONTHS = (0, 3, 6, 9, 12, 15, 21)

# None where the table has no figure.
MEANS: dict[str, tuple[float | None, ...]] = {
    "Lymphocytes": (1.643, 1.749, 1.642, 1.704, 1.850),
    "Sleep Score": (5.549, 1.892, 5.969, 5.087, 3.247),
    "BL/SC UPDRSII": (6.594, 6.482, 7.981, 3.272, None),
    "BL/SC UPDRSIII": (23.654, 21.277, 26.503, 15.382, None),
    "BL/SC MSES": (92.256, 91.506, 91.321, 96.214, None),
    "BL/SC Age": (58.925, 60.446, 62.912, 58.387, 59.571),
    "Geriatric Depression Score": (5.391, 5.069, 5.270, 5.231, 5.168),
}
# People with each result of the smell test. In group 1 and among the healthy, 57 and 35 people have none.
SMELL_COUNTS: dict[str, tuple[int, ...]] = {
    "Anosmia": (46, 10, 57, 41, 6),
    "Hyposmia": (68, 11, 91, 98, 68),
    "Normosmia": (19, 5, 11, 34, 122),
}
SHARES: dict[str, tuple[float, ...]] = {
    "Race White": (0.9549, 0.9398, 0.9434, 0.9422, 0.9437),
    "Gender Male": (0.6767, 0.5783, 0.6541, 0.6301, 0.6580),
}
# Across all groups; 0.001 where the paper prints "< 0.001".
P_VALUES: dict[str, float] = {
    "Lymphocytes": 0.01,
    "Sleep Score": 0.001,
    "BL/SC UPDRSII": 0.001,
    "BL/SC UPDRSIII": 0.001,
    "BL/SC MSES": 0.001,
    "BL/SC Age": 0.02,
    "Olfactory": 0.001,
    "Race White": 0.99,
    "Gender Male": 0.63,
    "Geriatric Depression Score": 0.68,
}
# Significant pairs with their p values.
PAIR_P_VALUES: dict[str, dict[tuple[str, str], float]] = {
    "Lymphocytes": {
        ("Group 0", "Healthy"): 0.003,
        ("Group 2", "Healthy"): 0.004,
        ("Group 3", "Healthy"): 0.04,
    },
    "Sleep Score": {
        ("Group 0", "Group 1"): 0.001,
        ("Group 0", "Healthy"): 0.001,
        ("Group 1", "Group 2"): 0.001,
        ("Group 1", "Group 3"): 0.001,
        ("Group 1", "Healthy"): 0.001,
        ("Group 2", "Group 3"): 0.001,
        ("Group 2", "Healthy"): 0.001,
        ("Group 3", "Healthy"): 0.001,
    },
    "BL/SC Age": {
        ("Group 0", "Group 2"): 0.008,
        ("Group 2", "Group 3"): 0.001,
        ("Group 2", "Healthy"): 0.02,
    },
}
