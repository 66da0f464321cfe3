"""The record of a fit: the explainers and every figure that is shown of them, to and from JSON."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self

import numpy as np
import pandas as pd

from oleander.arrays import Floats, Labels
from oleander.black_box.output import PLAIN_OUTPUT, Output
from oleander.data.checks import Count, check_count, check_share
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import agrees
from oleander.files.checkpoint import hash_text
from oleander.files.codec import Saved, read_fields, write_fields
from oleander.judging.certificate import Certificate, Claim, SystemCertificate, Tested, read_certificate
from oleander.judging.subgroups import FloorBy
from oleander.messages import visible
from oleander.results.evaluation import Evaluation
from oleander.results.explainer_set import Answers, ChosenExplainer, ExplainerSet, name_rule
from oleander.results.tradeoff import Cell, CellStatus, TradeOff
from oleander.selection.result import Proof

# Of the table of rules, which has the last one where a person wrote or changed a rule.
RULE_COLUMNS = (
    *("explainer", "rule", "name", "where", "conditions", "answer"),
    *("rows", "right", "share", "at_least", "certified", "learned_from", "learned_share", "by_hand"),
)


@dataclass(frozen=True)
class Accuracy(Saved):
    """The accuracy of a sample's shares: what was asked, what is promised, and what was found."""

    # Rows of the source.
    n_rows: Count
    # Rows that were drawn.
    n_sample: Count
    # Sampled rows that were held out; the promise is of shares counted on these.
    n_judged: Count
    # Rows with values that the schema does not allow. They count as not answered.
    n_unread: Count
    # The distance that was asked for, and the probability that it is exceeded.
    epsilon: float
    delta: float
    # The distance from the exact shares that no share exceeds, with probability 1 − delta: epsilon or less where the
    # source had enough rows. NaN where nothing can be promised: no rows were held out, or whole groups were.
    promised: float
    # The largest distance of a share of the chosen explainers or of the answer; NaN where no rows were held out.
    seen: float

    @property
    def is_inside(self) -> bool:
        """Whether every share of the sample lies as near to the exact one as was promised."""
        return self.seen <= self.promised


@dataclass(frozen=True)
class ModelScore(Saved):
    """How often the black box itself is correct by the true labels, where the explainers answer and where not."""

    # Rows with a true label that the explainers answer, and those of them on which the black box is correct.
    n_answered: Count
    n_right: Count
    # The same of the rows without an answer.
    n_silent: Count
    n_right_silent: Count
    # Whether rows belong to groups, so that they are no independent evidence.
    by_group: bool = False

    @classmethod
    def count(cls, answers: Answers, rows: Rows, truth: Labels | None) -> Self | None:
        """Compare the black box's answers with the true labels that are known; None where no label is in both.

        ``answers`` are those of the explainers for the points.
        """
        within = answers.tolerance
        if truth is None:
            return None
        known = np.flatnonzero(~pd.isna(truth))
        labels, truth = rows.labels_of_rows[known], truth[known]
        if not len(known) or (within is None and not {*labels.tolist()} & {*truth.tolist()}):
            return None
        right = agrees(labels, truth, within)
        answered = answers.answered[rows.point_of_row][known]
        n_answered, n_right = int(answered.sum()), int((right & answered).sum())
        n_silent, n_right_silent = len(right) - n_answered, int(right.sum()) - n_right
        return cls(n_answered, n_right, n_silent, n_right_silent, rows.groups is not None)

    @property
    def share(self) -> float:
        """The share of rows with a true label on which the black box is correct."""
        return (self.n_right + self.n_right_silent) / (self.n_answered + self.n_silent)

    def check_read(self) -> None:
        """Raise ``ValueError`` for counts that no rows have."""
        if self.n_right > self.n_answered or self.n_right_silent > self.n_silent:
            raise ValueError("model_score: more rows are correct than there are")


@dataclass(frozen=True)
class OneTree(Saved):
    """What one tree that answers every row would do, judged on rows that it was not grown on."""

    # The number of leaves.
    rules: Count
    # The share of rows that it answers, the share of these that match the black box, and the lower bound on that.
    coverage: float
    agreement: float
    bound: float
    # The share of leaves that reach the floor by themselves, on the draws.
    leaves_alone: float


@dataclass(frozen=True)
class Edit(Saved):
    """What a person changed, or remarked ("note"), after the fit, in a sentence."""

    kind: Literal["without", "with_rule", "with_threshold", "note"]
    words: Annotated[str, visible]


@dataclass(frozen=True, eq=False)
class FitRecord:
    """The explainers of a fit and their figures."""

    max_explainers: int
    # The number and the floor that the explainers were chosen for.
    min_fidelity: float
    explainers: ExplainerSet
    # The figures on the rows that the explainers were chosen or judged on.
    evaluation: Evaluation
    # Rows sent to the black box.
    n_queries: Count
    # The proof of the choice, where a program made it.
    proof: Proof | None = None
    # The share of the rows that the printed program counts; None where another program, or none, chose.
    counted: float | None = None
    # What rows that nothing was learned from allow to be claimed.
    certificate: Annotated[Certificate, read_certificate] | None = None
    # The correct answers on rows that nothing was learned from, where they are not certified: folds judged, or the best
    # of several choices was taken.
    judged: Claim | None = None
    # Whether rules were learned from draws, and the accuracy with which a classifier tells these from rows: 0.5 is
    # ideal, and None stands until it is asked for.
    from_draws: bool = False
    realism: float | None = None
    # The figures counted on every row of a source.
    exact: Evaluation | None = None
    # How near the sample of the source came to that.
    accuracy: Accuracy | None = None
    # What one tree would have done; None until it is asked for.
    verdict: OneTree | None = None
    # The choices for other numbers and floors; None until it is asked for.
    tradeoff: TradeOff | None = None
    # Whether rules that were learned in the same way without each row judged, because the explainers learned from draws
    # around the judging rows.
    by_folds: bool = False
    # What is explained of the model.
    output: Output = PLAIN_OUTPUT
    # How often the object was fitted on these rows, this fit included.
    n_fits: int = 1
    # The candidate rules as faithful as each chosen one had to be, where rules were learned by asking.
    n_candidates: Count = 0
    # The draws, or rows in their place, that rules were learned from, and the largest number of conditions of a rule;
    # None where a program chose, or where there is no limit.
    n_draws: Count | None = None
    max_conditions: Count | None = None
    # How often the black box itself is correct; None where true labels are not known.
    model_score: ModelScore | None = None
    # What may be claimed of a router: these explainers, and the black box where they are silent. None where no row that
    # they were not chosen on has judged them.
    system: SystemCertificate | None = None
    # The subgroups in which the floor holds, and those in which the explainers are silent; None without ``floor_by``.
    floor_by: FloorBy | None = None
    # What was changed by hand after the fit, the first change first.
    edits: tuple[Edit, ...] = ()
    # The test on a reserve of new rows that the rules as they are now have passed.
    reserved: Tested | None = None

    @property
    def n_edits(self) -> int:
        """The number of changes by hand, without remarks."""
        return sum(edit.kind != "note" for edit in self.edits)

    @property
    def widest_evaluation(self) -> Evaluation:
        """The evaluation on every row of a source or a table where it was counted, and else that on the rows of X."""
        return self.evaluation if self.exact is None else self.exact

    @property
    def fingerprint(self) -> str:
        """A hash of the rules in words, by which a file of edits knows whose they are."""
        rules = ((member.region.describe(), *map(str, member.rules())) for member in self.explainers.members)
        return hash_text(repr(list(rules)))

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

    @property
    def cell(self) -> Cell:
        """The cell of a trade-off that holds these explainers."""
        gap = float("nan") if self.proof is None or self.is_asked else self.proof.gap
        limits = self.max_explainers, self.min_fidelity
        return Cell.fill(*limits, self.explainers, self.evaluation, gap, self.status)

    @property
    def is_asked(self) -> bool:
        """Whether rules were learned by asking the black box about draws."""
        return all(member.origin == "asking" for member in self.explainers.members)

    @property
    def status(self) -> CellStatus:
        """The status of the proof, or "certified", "judged" or "edited" where rules were learned by asking."""
        if self.n_edits:
            return "edited"
        if self.proof is not None and not self.is_asked:
            return self.proof.status
        return "certified" if self.certificate is not None else "judged"

    def with_others(self, explainers: ExplainerSet, evaluation: Evaluation, **figures: Any) -> Self:
        """Return the record of other explainers of the same fit, without everything that was said of these."""
        limits, asked = ("max_explainers", "min_fidelity", "max_conditions"), ("n_queries", "n_fits", "output")
        learned = ("from_draws", "n_draws", "realism", "by_folds")
        kept = {name: getattr(self, name) for name in (*limits, *asked, *learned)}
        return type(self)(explainers=explainers, evaluation=evaluation, **kept | figures)

    def without_records(self, rows: Floats) -> Self:
        """Return the record as it may be saved, without a trade-off that holds balls around these rows.

        ``ValueError`` where one of the chosen explainers is such a ball.
        """
        number = self.explainers.find_record(rows)
        if number is not None:
            raise ValueError(
                f"explainer {number + 1} is a ball around a row of the data, which the file would hold. "
                "Allow it with include_rows=True."
            )
        cells = () if self.tradeoff is None else self.tradeoff.cells
        is_held = any(cell.explainers is not None and cell.explainers.find_record(rows) is not None for cell in cells)
        return replace(self, tradeoff=None) if is_held else self

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"schema": self.schema.to_dict(), **write_fields(self)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote; ``ValueError`` for a record that no fit makes."""
        schema, tradeoff = FeatureSchema.from_dict(data["schema"]), data["tradeoff"]
        record = read_fields(
            cls,
            data,
            explainers=ExplainerSet.from_dict(data["explainers"], schema),
            tradeoff=None if tradeoff is None else TradeOff.from_dict(tradeoff, schema),
        )
        check_count("max_explainers", record.max_explainers)
        check_share("min_fidelity", record.min_fidelity, with_one=True)
        if not record.explainers.members:
            raise ValueError("it holds no explainer")
        known = record.proof, record.certificate, record.judged
        if all(one is None for one in known) and not record.n_edits:
            raise ValueError("it holds neither a proof nor a certificate nor a judgement")
        return record


def tabulate_rules(members: Sequence[ChosenExplainer]) -> pd.DataFrame:
    """Return a line per rule; see ``AggregateExplainer.rules_frame``."""
    lines = []
    for number, member in enumerate(members):
        certified = np.nan if member.certified is None else member.certified.bound
        for position, rule in enumerate(member.rules()):
            # A label of text is a name; numbers stay numbers.
            answer = visible(rule.label) if isinstance(rule.label, str) else rule.label
            rule_of = number + 1, position + 1, name_rule(members, number, position), member.region.describe()
            judged = member.judged[position] if member.judged else None
            counts: tuple[Any, ...] = (None, None, np.nan, np.nan)
            if judged is not None:
                counts = judged.n_rows, judged.n_right, judged.share, judged.bound
            learned = certified, rule.n_draws, rule.share, member.by_hand
            lines.append((*rule_of, rule.premise or "always", answer, *counts, *learned))
    table = pd.DataFrame(lines, columns=RULE_COLUMNS).astype({"rows": "Int64", "right": "Int64"})
    return table if table["by_hand"].any() else table.drop(columns="by_hand")
