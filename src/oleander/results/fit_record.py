"""The one record of a fit: the explainers and every figure that is shown of them, to and from JSON."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import pandas as pd

from oleander.arrays import Floats
from oleander.candidates.choosing import PoolProgram
from oleander.data.checks import check_count, check_share
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.judging.certificate import Certificate
from oleander.judging.verdict import read_verdict, write_verdict
from oleander.results.accuracy import Accuracy
from oleander.results.evaluation import Evaluation
from oleander.results.explainer_set import ExplainerSet
from oleander.results.tradeoff import Cell, TradeOff
from oleander.selection import SelectionResult
from oleander.selection.result import Proof


@dataclass(frozen=True, eq=False)
class Workings:
    """What a fit keeps beside its record to answer further questions. It is never saved.

    Parameters
    ----------
    program : PoolProgram
        The pool and the program over it.
    rows : Rows
        The rows that the explainers were chosen on.
    held : Rows
        The rows that were held out for the certificate; none where there is no certificate.
    result : SelectionResult
    seed : int
    """

    program: PoolProgram
    rows: Rows
    held: Rows
    result: SelectionResult
    seed: int

    @cached_property
    def known(self) -> Rows:
        """All rows whose answers are known."""
        return self.rows.join(self.held)


@dataclass(frozen=True, eq=False)
class FitRecord:
    """The explainers of a fit and their figures.

    Parameters
    ----------
    max_explainers : int
    min_fidelity : float
        The number and the floor that the explainers were chosen for.
    explainers : ExplainerSet
    proof : Proof
    evaluation : Evaluation
        On the rows that the explainers were chosen on.
    certificate : Certificate or None
        What held-out rows allow to be claimed.
    n_queries : int
        Rows sent to the black box.
    exact : Evaluation or None
        Counted on every row of a source.
    accuracy : Accuracy or None
        How near the sample of the source came to that.
    verdict : DataFrame or None
        What one tree would have done; None until it is asked for.
    tradeoff : TradeOff or None
        None until it is asked for.
    """

    max_explainers: int
    min_fidelity: float
    explainers: ExplainerSet
    proof: Proof
    evaluation: Evaluation
    certificate: Certificate | None
    n_queries: int
    exact: Evaluation | None = None
    accuracy: Accuracy | None = None
    verdict: pd.DataFrame | None = None
    tradeoff: TradeOff | None = None

    @property
    def schema(self) -> FeatureSchema:
        """The schema of the rows."""
        return self.explainers.schema

    @property
    def cell(self) -> Cell:
        """The cell of a trade-off that holds these explainers."""
        return Cell.fill(
            self.max_explainers,
            self.min_fidelity,
            self.explainers,
            self.evaluation,
            self.proof.gap,
            self.proof.status,
        )

    def without_records(self, rows: Floats) -> Self:
        """Return the record as it may be saved, without explainers of the trade-off that are balls around these rows.

        ``ValueError`` where one of the chosen explainers is such a ball.
        """
        number = self.explainers.find_record(rows)
        if number is not None:
            raise ValueError(
                f"explainer {number} is a ball around a row of the data, which the file would hold. "
                "Allow it with include_rows=True."
            )
        return self if self.tradeoff is None else replace(self, tradeoff=self.tradeoff.without_records(rows))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        parts = {
            "certificate": self.certificate,
            "exact": self.exact,
            "accuracy": self.accuracy,
            "tradeoff": self.tradeoff,
        }
        return {
            "max_explainers": self.max_explainers,
            "min_fidelity": self.min_fidelity,
            "schema": self.schema.to_dict(),
            "explainers": self.explainers.to_dict(),
            "proof": self.proof.to_dict(),
            "evaluation": self.evaluation.to_dict(),
            "n_queries": self.n_queries,
            "verdict": None if self.verdict is None else write_verdict(self.verdict),
            **{name: None if part is None else part.to_dict() for name, part in parts.items()},
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote; ``ValueError`` for a record that no fit makes."""
        check_count("max_explainers", data["max_explainers"])
        check_share("min_fidelity", data["min_fidelity"], with_one=True)
        schema = FeatureSchema.from_dict(data["schema"])
        explainers = ExplainerSet.from_dict(data["explainers"], schema)
        if not explainers.members:
            raise ValueError("it holds no explainer")

        def part(name: str, read: Any) -> Any:
            return None if data[name] is None else read(data[name])

        return cls(
            data["max_explainers"],
            float(data["min_fidelity"]),
            explainers,
            Proof.from_dict(data["proof"]),
            Evaluation.from_dict(data["evaluation"]),
            part("certificate", Certificate.from_dict),
            int(data["n_queries"]),
            part("exact", Evaluation.from_dict),
            part("accuracy", Accuracy.from_dict),
            part("verdict", read_verdict),
            part("tradeoff", lambda tradeoff: TradeOff.from_dict(tradeoff, schema)),
        )
