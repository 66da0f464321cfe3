"""What is known of explainers once they are fitted: how good they are, on which rows, and what is claimed of them."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from oleander.data.checks import check_choice
from oleander.data.schema import FeatureSchema
from oleander.forms import read_verdict, write_verdict
from oleander.judging.certificate import Certificate
from oleander.results.evaluation import Evaluation
from oleander.results.explanation import ChosenExplainer, ExplainerSet
from oleander.selection import SelectionResult
from oleander.streaming import Accuracy

SAVED_RESULT: dict[str, Any] = {"objective": float, "bound": float, "status": str, "runtime": float, "coverage": float}


@dataclass(frozen=True, eq=False)
class Outcome:
    """The explainers of a fit and every figure that is shown of them.

    Parameters
    ----------
    chosen : ExplainerSet
    kind : str
        Tree, consensus or union.
    result : SelectionResult
    coverage, fidelity : float
        On the rows that they were chosen or judged on.
    evaluation : Evaluation
        The same, class by class.
    verdict : DataFrame
        How each form of answer did on rows that it has not seen.
    certificate : Certificate or None
    n_queries : int
    exact : Evaluation or None
        Counted on every row of a source.
    accuracy : Accuracy or None
        How near the sample of the source came to that.
    """

    chosen: ExplainerSet
    kind: str
    result: SelectionResult
    coverage: float
    fidelity: float
    evaluation: Evaluation
    verdict: pd.DataFrame
    certificate: Certificate | None
    n_queries: int
    exact: Evaluation | None = None
    accuracy: Accuracy | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; of the result the figures, without the rows that it covers."""
        chosen = self.chosen
        content = {
            "schema": chosen.schema.to_dict(),
            "explainers": [member.to_dict() for member in chosen.members],
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
            "result": {name: getattr(self.result, name) for name in SAVED_RESULT},
            "min_votes": chosen.min_votes,
            "ranks": chosen.ranks,
            "fitted": {
                "combine_": self.kind,
                "coverage_": self.coverage,
                "fidelity_": self.fidelity,
                "n_queries_": self.n_queries,
            },
            "evaluation": self.evaluation.to_dict(),
            "verdict": write_verdict(self.verdict),
        }
        if self.exact is not None and self.accuracy is not None:
            content |= {"exact": self.exact.to_dict(), "accuracy": self.accuracy.to_dict()}
        return content

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote; what cannot be is refused."""
        schema = FeatureSchema.from_dict(data["schema"])
        members = tuple(ChosenExplainer.from_dict(member, schema) for member in data["explainers"])
        if not members:
            raise ValueError("it holds no explainer")
        votes, ranks = data["min_votes"], data.get("ranks")
        if ranks is not None and len(ranks) != len(members):
            raise ValueError(f"it ranks {len(ranks)} of {len(members)} explainers")
        fitted = data["fitted"]
        kind = str(fitted["combine_"])
        check_choice("combine_", kind, ("tree", "consensus", "union"))
        is_counted = "exact" in data
        return cls(
            ExplainerSet(
                schema,
                members,
                None if votes is None else int(votes),
                None if ranks is None else tuple(int(rank) for rank in ranks),
            ),
            kind,
            SelectionResult(
                chosen=np.arange(len(members)),
                covered=np.zeros(0, dtype=bool),
                counted=csr_array((len(members), 0)),
                **{name: read(data["result"][name]) for name, read in SAVED_RESULT.items()},
            ),
            float(fitted["coverage_"]),
            float(fitted["fidelity_"]),
            Evaluation.from_dict(data["evaluation"]),
            read_verdict(data["verdict"]),
            None if data["certificate"] is None else Certificate.from_dict(data["certificate"]),
            int(fitted["n_queries_"]),
            Evaluation.from_dict(data["exact"]) if is_counted else None,
            Accuracy.from_dict(data["accuracy"]) if is_counted else None,
        )
