"""A generated clinic: patients with named columns, for examples that need no file and no patient."""

import numpy as np
import pandas as pd

from oleander.arrays import Floats, Ints

# Its data dictionary: what each column is, and its unit.
CLINIC_COLUMNS = {
    "age": ("age", "years"),
    "memory": ("memory score", "points"),
    "gait": ("gait score", "points"),
    "tremor": ("tremor score", "points"),
    "sleepiness": ("sleepiness score", "points"),
    "mood": ("low-mood score", "points"),
    "pressure on standing": ("change of blood pressure on standing", "mmHg"),
    "living": ("living situation", ""),
    "drug": ("drug for the tremor", ""),
}


def make_clinic(n_rows: int = 1_200, random_state: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Return made-up patients of a movement clinic, and where each was sent.

    No row is a person. Scores are whole numbers with the ranges of common scales, so that one radius in raw units makes
    sense. Frail patients who walk badly go to the fall clinic; patients with a tremor or a poor memory go to a
    neurologist, unless a drug holds the tremor down; all others get a follow-up. Some decisions are noise.

    Returns
    -------
    X : DataFrame
        Seven columns of whole numbers and two of words.
    y : Series
        "follow-up", "neurologist" or "fall clinic".

    Examples
    --------
    >>> X, y = make_clinic(500)
    >>> X.shape, sorted(y.unique())
    ((500, 9), ['fall clinic', 'follow-up', 'neurologist'])
    """
    rng = np.random.default_rng(random_state)

    def noise(spread: float = 1.0) -> Floats:
        return spread * rng.normal(size=n_rows)

    def score(value: Floats, lowest: int, highest: int) -> Ints:
        return np.clip(np.round(value), lowest, highest).astype(np.int64)

    frailty, progress = noise(), rng.gamma(2.0, 1.0, size=n_rows)
    age = score(68 + 5 * frailty + noise(7), 40, 95)
    memory = score(26 - 1.3 * progress - 1.8 * frailty - 0.08 * (age - 68) + noise(2.5), 0, 30)
    gait = score(24 - 1.2 * progress - 2.5 * frailty + noise(2.5), 0, 28)
    tremor = score(5 + 3.5 * progress + noise(4), 0, 40)
    sleepiness = score(7 + 1.2 * progress + noise(3.5), 0, 24)
    mood = score(5 + 1.2 * frailty + noise(3), 0, 21)
    pressure = score(-4 + 0.25 * (age - 68) + noise(7), -40, 20)
    is_alone = rng.random(n_rows) < np.where(age > 75, 0.35, 0.25)
    is_in_care = rng.random(n_rows) < np.where(frailty > 1, 0.27, 0.12)
    living = np.select([is_alone, is_in_care], ["alone", "in care"], "with family")
    drug = rng.choice(["none", "levodopa", "agonist"], n_rows, p=[0.35, 0.45, 0.2])

    falling = (20 - gait) / 2 + 1.5 * is_alone - 0.12 * (pressure + 5) + np.where(drug == "none", -0.5, 0.5)
    shaking = 0.28 * (tremor - 14) + 0.25 * (22 - memory) + np.where(drug == "none", 2.0, -1.0)
    falls = (falling > 1.5 + noise(0.8)) & (falling > shaking)
    shakes = shaking > 0.8 + noise(0.8)
    columns = age, memory, gait, tremor, sleepiness, mood, pressure, living, drug
    X = pd.DataFrame(dict(zip(CLINIC_COLUMNS, columns, strict=True)))
    return X, pd.Series(np.select([falls, shakes], ["fall clinic", "neurologist"], "follow-up"), name="sent to")
