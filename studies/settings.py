"""The settings of a study: what its results depend on besides its data."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

StudyName = Literal["geriatric", "ppmi", "clinical"]
# Of the paper's radii, in raw units, the one at which balls can cover the data but a few of them cannot. None takes the
# radius at which a typical ball holds a tenth of the rows: the other clinical data have units of their own.
RADIUS: dict[StudyName, float | None] = {"geriatric": 3.0, "ppmi": 7.0, "clinical": None}
PAPERS_DRAWS = 10_000


@dataclass(frozen=True)
class Settings:
    """The settings of a study; the defaults are the paper's."""

    random_state: int = 0
    # Draws in a ball that train a local explainer.
    n_draws: int = PAPERS_DRAWS
    # Further draws that measure its fidelity.
    n_fresh: int = 2_000
    # In raw units, as in the paper. Not used where ``radius`` is None.
    radii: tuple[float, ...] = (3.0, 7.0, 11.0, 15.0)
    # Rows around which local explainers are trained; None takes every row.
    n_centers: int | None = None
    # Splits on which black boxes are compared.
    n_repeats: int = 10
    # Readings kept of each trial, evenly spread; None keeps all.
    rows_per_trial: int | None = None
    # Rows on which hyper-parameters are chosen.
    max_tuning_rows: int = 1_500
    # Of all balls that are aggregated; the paper does not say which of its four it took. None takes radii from the data
    # of each task, see ``studies.steps.explained_rows.radii_of``.
    radius: float | None = 7.0
    # Rows around which candidates for the aggregation are trained; None takes every row.
    n_candidates: int | None = None
    # K in the paper.
    budgets: tuple[int, ...] = (5, 10, 20, 30, 40, 50)
    # φ in the paper.
    floors: tuple[float, ...] = (0.5, 0.7, 0.9)
    # Rows for which an anchor is searched.
    n_anchors: int = 200
    # Centers around which filter and regularization are compared.
    n_compared: int = 12
    # Nodes for each search in the few solves from which it is judged whether the program can be solved: many times what
    # they take. Nodes and not seconds, so that a busy machine changes no verdict.
    proof_nodes: int = 20_000
    # Nodes that a general solver has for the printed program.
    solver_nodes: int = 100

    @classmethod
    def plan(cls, study: StudyName, *, quick: bool) -> "Settings":
        """Return the settings of a study, full or small.

        >>> Settings.plan("ppmi", quick=False).n_draws
        10000
        """
        if quick:
            return cls(
                n_draws=1_000,
                n_fresh=500,
                radii=(3.0, 11.0),
                n_centers=10,
                n_repeats=2,
                rows_per_trial=15 if study == "geriatric" else None,
                max_tuning_rows=200,
                radius=RADIUS[study],
                n_candidates=20,
                budgets=(5, 10, 20),
                floors=(0.5, 0.9),
                n_anchors=2,
                n_compared=2,
            )
        if study == "geriatric":
            return cls(n_centers=24, n_repeats=5, radius=RADIUS[study], n_candidates=60, n_anchors=24)
        if study == "clinical":
            return cls(n_centers=24, n_repeats=5, radius=RADIUS[study], n_candidates=150, n_anchors=24)
        return cls(n_centers=40, n_repeats=5, radius=RADIUS[study], n_candidates=80, n_anchors=24)

    @property
    def decides(self) -> bool:
        """Whether a run with these settings may judge the paper's claims: it needs as many draws as the paper's."""
        return self.n_draws >= PAPERS_DRAWS

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for a fingerprint."""
        return asdict(self)
