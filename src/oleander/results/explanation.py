"""The chosen explainers together: where they speak, who is responsible for a row, and what is said of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Labels
from oleander.data.schema import FeatureSchema
from oleander.explainers.abstaining import Spoken
from oleander.explainers.base import Explainer, Rule
from oleander.explainers.saving import read_explainer, read_region_of, write_explainer
from oleander.judging.certificate import Certificate, Claim
from oleander.regions import Ball, Region
from oleander.results.evaluation import Evaluation, Uncovered, describe_uncovered, disagree, evaluate

NOBODY = -1


@dataclass(frozen=True, eq=False)
class ChosenExplainer:
    """A chosen explainer and what is known of it.

    Parameters
    ----------
    region : Region
    explainer : Explainer
    origin : str
        Which generator proposed it.
    support : int
        Rows that it was chosen on and covers.
    fidelity : float
        The share of them on which it says what the black box says.
    floor_value : float
        What was compared with ``min_fidelity``: the lower bound on that share, or the share itself.
    draw_fidelity : float
        Agreement on the draws that trained it; NaN where there were none.
    claim : Claim or None
        What held-out rows allow to be claimed of its fidelity.
    """

    region: Region
    explainer: Explainer
    origin: str
    support: int
    fidelity: float
    floor_value: float
    draw_fidelity: float
    claim: Claim | None = None

    @property
    def radius(self) -> float | None:
        """The radius, where the region is a ball."""
        return None if self.ball is None else self.ball.radius

    @property
    def ball(self) -> Ball | None:
        """The ball, where the region is one or a part of one."""
        outer = self.region.outer if isinstance(self.region, Spoken) else self.region
        return outer if isinstance(outer, Ball) else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "region": self.region.to_dict(),
            "explainer": write_explainer(self.explainer),
            "origin": self.origin,
            "support": self.support,
            "fidelity": self.fidelity,
            "floor_value": self.floor_value,
            "draw_fidelity": None if np.isnan(self.draw_fidelity) else self.draw_fidelity,
            "claim": None if self.claim is None else vars(self.claim),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Read what ``to_dict`` wrote."""
        explainer = read_explainer(data["explainer"], schema)
        return cls(
            read_region_of(data["region"], schema, explainer),
            explainer,
            str(data["origin"]),
            int(data["support"]),
            float(data["fidelity"]),
            float(data["floor_value"]),
            float("nan") if data["draw_fidelity"] is None else float(data["draw_fidelity"]),
            None if data["claim"] is None else Claim.from_dict(data["claim"]),
        )


@dataclass(frozen=True)
class Statement:
    """What one explainer says of a row.

    Parameters
    ----------
    explainer : int
        Its number among the chosen.
    rule : Rule
        What it says and why, in the user's words.
    fidelity : float
    claim : Claim or None
    """

    explainer: int
    rule: Rule
    fidelity: float
    claim: Claim | None

    def __str__(self) -> str:
        known = f"fidelity {self.fidelity:.2f}"
        if self.claim is not None and self.claim.n_rows:
            known += f", certified at least {self.claim.bound:.2f}"
        return f"explainer {self.explainer} ({known}): {self.rule}"


@dataclass(frozen=True)
class Explanation:
    """What is said of a row: by the responsible explainer first, then by the others that cover it.

    Parameters
    ----------
    statements : tuple of Statement
        Empty where nobody covers the row.
    silence : str
        Why no answer is given all the same; empty where one is.
    """

    statements: tuple[Statement, ...]
    silence: str = ""

    @property
    def label(self) -> Any:
        """The answer, or None where none is given."""
        return self.statements[0].rule.label if self.statements and not self.silence else None

    @property
    def disagree(self) -> bool:
        """Whether explainers that cover the row say different things."""
        return len({statement.rule.label for statement in self.statements}) > 1

    def __str__(self) -> str:
        if not self.statements:
            return "no explainer covers this row: no answer is given"
        lines = [str(statement) for statement in self.statements]
        if self.silence:
            lines.append(f"no answer is given: {self.silence}")
        elif self.disagree:
            lines.append("the explainers disagree; the first one answers")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class ExplainerSet:
    """The chosen explainers over one schema, and how they are read together.

    Parameters
    ----------
    schema : FeatureSchema
    members : tuple of ChosenExplainer
    min_votes : int or None
        None is the paper's reading: any explainer that covers a row may answer, and the responsible one does. A number
        makes it a consensus, of one tree or more: a row is answered where at least so many cover it and all that cover
        it agree.
    ranks : tuple of int or None
        Who answers where several cover a row: the lowest. None goes by certified fidelity. Given where the order had to
        be settled before anything was certified.
    """

    schema: FeatureSchema
    members: tuple[ChosenExplainer, ...]
    min_votes: int | None = None
    ranks: tuple[int, ...] | None = None

    def covers(self, rows: Floats) -> Bools:
        """Return which explainers cover which rows, of shape (n_explainers, n_rows)."""
        if not self.members:
            return np.zeros((0, len(rows)), dtype=bool)
        return np.array([member.region.contains(rows) for member in self.members])

    def say(self, rows: Floats, covers: Bools) -> Labels:
        """Return what each explainer says of each row that it covers; elsewhere the entry means nothing."""
        words = [member.explainer.predict(rows[inside]) for member, inside in zip(self.members, covers, strict=True)]
        dtype = np.result_type(*(word.dtype for word in words)) if words else np.dtype(object)
        said = np.zeros(covers.shape, dtype=dtype)
        for line, inside, word in zip(said, covers, words, strict=True):
            line[inside] = word
        return said

    def responsible(self, rows: Floats, covers: Bools) -> NDArray[np.intp]:
        """Return who answers for each row: the highest certified fidelity, then the nearest center; -1 for nobody."""
        if not self.members:
            return np.full(len(rows), NOBODY, dtype=np.intp)
        certified = [member.claim.bound if member.claim is not None else 0.0 for member in self.members]
        rank = rank_highest(certified) if self.ranks is None else self.ranks
        keys = np.full(covers.shape, np.inf)
        for key, member, inside, place in zip(keys, self.members, covers, rank, strict=True):
            key[inside] = place
            if member.ball is not None:
                distances, flips = member.ball.distances(rows[inside])
                nearness = np.maximum(distances, flips)
                key[inside] += nearness / (1 + nearness)
        return np.where(covers.any(axis=0), keys.argmin(axis=0), NOBODY)

    def answer(self, rows: Floats) -> np.ma.MaskedArray[Any, Any]:
        """Return the answer for each row, masked where none is given."""
        covers = self.covers(rows)
        said = self.say(rows, covers)
        return self._answers(said, self._who_answers(rows, covers, said))

    def who_answers(self, rows: Floats) -> NDArray[np.intp]:
        """Return who answers for each row; -1 where no answer is given."""
        covers = self.covers(rows)
        return self._who_answers(rows, covers, self.say(rows, covers))

    def _who_answers(self, rows: Floats, covers: Bools, said: Labels) -> NDArray[np.intp]:
        """Return who is responsible for each row that is answered; -1 for the others."""
        if self.min_votes is None:
            return self.responsible(rows, covers)
        agreed = (covers.sum(axis=0) >= max(self.min_votes, 1)) & ~disagree(covers, said)
        return np.where(agreed, self.responsible(rows, covers), NOBODY)

    def _answers(self, said: Labels, responsible: NDArray[np.intp]) -> np.ma.MaskedArray[Any, Any]:
        if not self.members:
            return np.ma.masked_array(np.zeros(len(responsible), dtype=object), mask=True)
        labels = said[np.maximum(responsible, 0), np.arange(len(responsible))]
        return np.ma.masked_array(labels, mask=responsible == NOBODY)

    def explain(self, row: Floats) -> Explanation:
        """Return what is said of one row."""
        rows = row[None, :]
        covers = self.covers(rows)
        first = int(self.responsible(rows, covers)[0])
        others = [int(number) for number in np.flatnonzero(covers[:, 0]) if number != first]
        numbers = [] if first == NOBODY else [first, *others]
        statements = tuple(
            Statement(n, self.members[n].explainer.path(row), self.members[n].fidelity, self.members[n].claim)
            for n in numbers
        )
        return Explanation(statements, self._silence(statements))

    def _silence(self, statements: tuple[Statement, ...]) -> str:
        """Say why a row that somebody covers is not answered."""
        if self.min_votes is None or not statements:
            return ""
        if Explanation(statements).disagree:
            return "the explainers that are sure of this row disagree"
        if len(statements) < self.min_votes:
            return f"{len(statements)} of {len(self.members)} explainers are sure of this row; {self.min_votes} must be"
        return ""

    def evaluate(self, rows: Floats, labels: Labels) -> Evaluation:
        """Compare what is said with what the black box says."""
        covers, said, answers = self.read(rows)
        return evaluate(
            covers, said, np.ma.getdata(answers), labels, [member.explainer.complexity for member in self.members]
        )

    def read(self, rows: Floats) -> tuple[Bools, Labels, np.ma.MaskedArray[Any, Any]]:
        """Return who covers which answered rows, what each says, and the answers.

        In a consensus an explainer counts only where an answer is given: nobody hears it elsewhere.
        """
        covers = self.covers(rows)
        said = self.say(rows, covers)
        who = self._who_answers(rows, covers, said)
        return covers & (who != NOBODY), said, self._answers(said, who)

    def certified(
        self, rows: Floats, labels: Labels, confidence: float, groups: Labels | None, rng: np.random.Generator
    ) -> tuple[Self, Certificate]:
        """Return the explainers with what these rows, held out from everything else, allow to be claimed of each."""
        covers, said, answers = self.read(rows)
        right = ~np.ma.getmaskarray(answers) & (np.ma.getdata(answers) == labels)
        # In a consensus nobody is heard alone, so nothing is claimed of one alone.
        alone = covers if self.min_votes is None else covers[:0]
        agrees = alone & (said[: len(alone)] == labels)
        certificate = Certificate.count(
            alone, agrees, confidence, answered=~np.ma.getmaskarray(answers), right=right, groups=groups, rng=rng
        )
        return self.with_claims(certificate), certificate

    def with_claims(self, certificate: Certificate) -> Self:
        """Return the explainers with what is claimed of each; in a consensus nothing is claimed of one alone."""
        if self.min_votes is not None:
            return self
        pairs = zip(self.members, certificate.fidelity, strict=True)
        return replace(self, members=tuple(replace(member, claim=claim) for member, claim in pairs))

    def uncovered(self, rows: Floats, labels: Labels) -> Uncovered:
        """Say whom nobody speaks for."""
        return describe_uncovered(rows, labels, ~np.ma.getmaskarray(self.answer(rows)), self.schema)

    def find_record(self, rows: Floats) -> int | None:
        """Return the number of an explainer whose region holds one of these rows to the digit, or None."""
        for number, member in enumerate(self.members):
            if member.ball is not None:
                center = member.ball.center
                if ((rows == center) | (np.isnan(rows) & np.isnan(center))).all(axis=1).any():
                    return number
        return None


def rank_highest(values: Sequence[float]) -> tuple[int, ...]:
    """Return the place of each value, the highest first; equal ones share a place.

    >>> rank_highest([0.9, 0.95, 0.9])
    (1, 0, 1)
    """
    return tuple(np.unique(-np.asarray(values), return_inverse=True)[1].tolist())
