"""The one record of a fit: the explainers and every figure that is shown of them, to and from JSON."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import pandas as pd

from oleander.arrays import Floats
from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.black_box.output import PLAIN_OUTPUT, Output
from oleander.candidates.choosing import PoolProgram
from oleander.candidates.sizes import BallSize
from oleander.data.checks import check_count, check_share
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.judging.certificate import Certificate, Claim
from oleander.judging.verdict import read_verdict, write_verdict
from oleander.learning.union import UnionLearner
from oleander.results.accuracy import Accuracy
from oleander.results.evaluation import Evaluation
from oleander.results.explainer_set import ExplainerSet
from oleander.results.stability import Stability
from oleander.results.tradeoff import Cell, TradeOff
from oleander.selection import SelectionResult
from oleander.selection.result import Proof


@dataclass(frozen=True, eq=False)
class Workings:
    """What a fit keeps beside its record to answer further questions. It is never saved.

    Parameters
    ----------
    program : PoolProgram or UnionLearner
        The pool and the program over it, or the draws and how a union is learned from them.
    rows : Rows
        The rows that the explainers were chosen or judged on.
    held : Rows
        The rows that were held out for the certificate; none where there is no certificate.
    seed : int
    result : SelectionResult or None
        The solver's, where a program chose.
    n_rows : int or None
        The number of rows of X, where a program chose among candidates for a table in memory.
    """

    program: PoolProgram | UnionLearner
    rows: Rows
    held: Rows
    seed: int
    result: SelectionResult | None = None
    n_rows: int | None = None

    @cached_property
    def known(self) -> Rows:
        """All rows whose answers are known."""
        return self.rows if self.held is self.rows else self.rows.join(self.held)

    @property
    def n_candidates(self) -> int:
        """The number of candidates whose shares a sample must bring near the exact ones."""
        return 1 if isinstance(self.program, UnionLearner) else len(self.program.pool.candidates)


@dataclass(frozen=True, eq=False)
class FitRecord:
    """The explainers of a fit and their figures.

    Parameters
    ----------
    max_explainers : int
    min_fidelity : float
        The number and the floor that the explainers were chosen for.
    explainers : ExplainerSet
    evaluation : Evaluation
        On the rows that the explainers were chosen or judged on.
    n_queries : int
        Rows sent to the black box.
    proof : Proof or None
        Where a program chose the explainers.
    counted : float or None
        The share of the rows that the printed program counts; None where another program, or none, chose.
    certificate : Certificate or None
        What rows that nothing was learned from allow to be claimed.
    judged : Claim or None
        The right answers on rows that nothing was learned from, where they are not certified: folds judged, or the best
        of several choices was taken.
    realism : float or None
        The share of draws and rows that a classifier tells apart; 0.5 is perfect. None without draws.
    exact : Evaluation or None
        Counted on every row of a source.
    accuracy : Accuracy or None
        How near the sample of the source came to that.
    verdict : DataFrame or None
        What one tree would have done; None until it is asked for.
    tradeoff : TradeOff or None
        None until it is asked for.
    ball_sizes : tuple of BallSize
        The number of rows that the balls among the candidates hold.
    by_folds : bool
        Whether rules that were learned in the same way without each row judged, because the explainers learned from
        draws around the judging rows.
    output : Output
        What is explained of the model.
    stability : Stability or None
        What refits say; None until they are asked for.
    """

    max_explainers: int
    min_fidelity: float
    explainers: ExplainerSet
    evaluation: Evaluation
    n_queries: int
    proof: Proof | None = None
    counted: float | None = None
    certificate: Certificate | None = None
    judged: Claim | None = None
    realism: float | None = None
    exact: Evaluation | None = None
    accuracy: Accuracy | None = None
    verdict: pd.DataFrame | None = None
    tradeoff: TradeOff | None = None
    ball_sizes: tuple[BallSize, ...] = ()
    by_folds: bool = False
    stability: Stability | None = None
    output: Output = PLAIN_OUTPUT

    @property
    def schema(self) -> FeatureSchema:
        """The schema of the rows."""
        return self.explainers.schema

    @property
    def is_number(self) -> bool:
        """Whether the answers are numbers, which a tolerance compares."""
        return self.explainers.tolerance is not None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the fit that a file keeps."""
        within = self.explainers.tolerance
        return {
            "max_explainers": self.max_explainers,
            "min_fidelity": self.min_fidelity,
            "tolerance": None if within is None else within.given,
            "output": self.output,
        }

    def count_queries(self, model: Any, max_queries: int | None) -> CountingBlackBox:
        """Return the model as a black box that goes on counting where the fit ended."""
        box = BlackBox(self.output.of_model(model), self.schema, is_number=self.is_number)
        counting = CountingBlackBox(box, max_queries)
        counting.n_queries = self.n_queries
        return counting

    @property
    def cell(self) -> Cell:
        """The cell of a trade-off that holds these explainers."""
        return Cell.fill(
            self.max_explainers,
            self.min_fidelity,
            self.explainers,
            self.evaluation,
            float("nan") if self.proof is None else self.proof.gap,
            self.status,
        )

    @property
    def status(self) -> str:
        """The status of the proof, or "certified" or "judged" where explainers were learned by asking."""
        if self.proof is not None:
            return self.proof.status
        return "certified" if self.certificate is not None else "judged"

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
            "proof": self.proof,
            "certificate": self.certificate,
            "exact": self.exact,
            "accuracy": self.accuracy,
            "tradeoff": self.tradeoff,
            "stability": self.stability,
        }
        return {
            "max_explainers": self.max_explainers,
            "min_fidelity": self.min_fidelity,
            "schema": self.schema.to_dict(),
            "explainers": self.explainers.to_dict(),
            "judged": None if self.judged is None else vars(self.judged),
            "counted": self.counted,
            "realism": self.realism,
            "evaluation": self.evaluation.to_dict(),
            "n_queries": self.n_queries,
            "by_folds": self.by_folds,
            "output": self.output.to_dict(),
            "ball_sizes": [vars(size) for size in self.ball_sizes],
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
        if all(data[name] is None for name in ("proof", "certificate", "judged")):
            raise ValueError("it holds neither a proof nor a certificate nor a judgement")
        stability = None if data.get("stability") is None else Stability.from_dict(data["stability"])
        if stability is not None and not stability.matches(explainers):
            raise ValueError("its stability does not count each rule")

        def part(name: str, read: Any) -> Any:
            return None if data[name] is None else read(data[name])

        return cls(
            data["max_explainers"],
            float(data["min_fidelity"]),
            explainers,
            Evaluation.from_dict(data["evaluation"]),
            int(data["n_queries"]),
            part("proof", Proof.from_dict),
            part("counted", float),
            part("certificate", Certificate.from_dict),
            part("judged", Claim.from_dict),
            part("realism", float),
            part("exact", Evaluation.from_dict),
            part("accuracy", Accuracy.from_dict),
            part("verdict", read_verdict),
            part("tradeoff", lambda tradeoff: TradeOff.from_dict(tradeoff, schema)),
            tuple(BallSize.from_dict(size) for size in data.get("ball_sizes", ())),
            bool(data.get("by_folds", False)),
            stability,
            Output.from_dict(data["output"]) if "output" in data else PLAIN_OUTPUT,
        )
