"""The chosen explainers together: the rows they cover, the answer they give, and how good it is."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.candidates.choosing import PoolProgram
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance, agrees
from oleander.explainers.abstaining import Spoken
from oleander.explainers.base import Explainer, Rule
from oleander.explainers.constant import Constant
from oleander.explainers.line import Line
from oleander.explainers.saving import check_size, read_explainer, read_region_of, write_explainer
from oleander.judging.certificate import Certificate, Claim
from oleander.judging.spread import Spread
from oleander.learning.family import OVERLAPS, Overlap
from oleander.regions import Ball, Box, Region
from oleander.results.evaluation import Evaluation, Uncovered, describe_uncovered, disagree, evaluate
from oleander.results.explaining import explain_row
from oleander.results.explanation import Explanation
from oleander.results.rules import count_rules, describe_all, draw_rules, judge_rules
from oleander.running.fragments import Fragment
from oleander.running.wording import shorten
from oleander.selection import SelectionResult

ABSTAINS = -1


@dataclass(frozen=True, eq=False)
class ChosenExplainer:
    """A chosen explainer and its figures.

    Parameters
    ----------
    region : Region
    explainer : Explainer
    origin : str
        The generator that proposed it.
    support : int
        The rows that it was chosen on and covers.
    fidelity : float
        The share of them on which it says what the black box says; NaN where there are none.
    floor_value : float
        The measure that was compared with ``min_fidelity``: the lower bound on that share, or the share itself.
    draw_fidelity : float
        Its agreement on the draws that trained it; NaN where there were none.
    claim : Claim or None
        What held-out rows allow to be claimed of its fidelity.
    judged : tuple of Claim
        What rows that it was not learned from say of each of its rules, one rule at a time; empty where there were
        none. Where folds judged, the answers are those of rules that were learned without the row.
    tolerance : Tolerance or None
        How near its answers must be to the black box's to agree; None for labels.
    spreads : tuple of Spread or None
        For each of its rules for numbers, how far its answers lie from the black box's; empty where that is not known.
    """

    region: Region
    explainer: Explainer
    origin: str
    support: int
    fidelity: float
    floor_value: float
    draw_fidelity: float
    claim: Claim | None = None
    judged: tuple[Claim, ...] = ()
    tolerance: Tolerance | None = None
    spreads: tuple[Spread | None, ...] = ()

    @property
    def radius(self) -> float | None:
        """The radius, where the region is a ball."""
        return None if self.ball is None else self.ball.radius

    @property
    def ball(self) -> Ball | None:
        """The ball, where the region is one or a part of one."""
        outer = self.region.outer if isinstance(self.region, Spoken) else self.region
        return outer if isinstance(outer, Ball) else None

    @property
    def is_one_rule(self) -> bool:
        """Whether it says one thing in a box, whose conditions then belong to its rule."""
        return isinstance(self.explainer, (Constant, Line)) and isinstance(self.region, Box)

    def rules(self) -> list[Rule]:
        """Return all that the explainer says."""
        return [self._complete(rule) for rule in self.explainer.rules()]

    def path(self, row: Floats) -> Rule:
        """Return what the explainer says of one row, and why."""
        return self._complete(self.explainer.path(row))

    def _complete(self, rule: Rule) -> Rule:
        if self.is_one_rule:
            assert isinstance(self.region, Box)
            rule = replace(rule, terms=self.region.conditions)
        return rule if self.tolerance is None else replace(rule, tolerance=self.tolerance)

    def _repr_html_(self) -> str:
        return Fragment().heading(describe_all(self)).line(self.region.describe()).add(draw_rules((self,))).html

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "region": self.region.to_dict(),
            "explainer": write_explainer(self.explainer),
            "origin": self.origin,
            "support": self.support,
            "fidelity": None if np.isnan(self.fidelity) else self.fidelity,
            "floor_value": self.floor_value,
            "draw_fidelity": None if np.isnan(self.draw_fidelity) else self.draw_fidelity,
            "claim": None if self.claim is None else vars(self.claim),
            "judged": [vars(claim) for claim in self.judged],
            "tolerance": None if self.tolerance is None else self.tolerance.to_dict(),
            "spreads": [None if spread is None else vars(spread) for spread in self.spreads],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Read what ``to_dict`` wrote."""
        explainer = read_explainer(data["explainer"], schema)
        judged = tuple(Claim.from_dict(claim) for claim in data.get("judged", ()))
        spreads = tuple(None if one is None else Spread.from_dict(one) for one in data.get("spreads", ()))
        for of_rules in (judged, spreads):
            if len(of_rules) not in (0, count_rules(explainer)):
                raise ValueError(f"{len(of_rules)} claims are made of {count_rules(explainer)} rules")
        return cls(
            read_region_of(data["region"], schema, explainer),
            explainer,
            str(data["origin"]),
            int(data["support"]),
            _read_share(data["fidelity"]),
            float(data["floor_value"]),
            _read_share(data["draw_fidelity"]),
            None if data["claim"] is None else Claim.from_dict(data["claim"]),
            judged,
            None if data.get("tolerance") is None else Tolerance.from_dict(data["tolerance"]),
            spreads,
        )


@dataclass(frozen=True, eq=False)
class ExplainerSet:
    """The chosen explainers over one schema, in the order in which they answer.

    The order is fixed when the set is made, before any row judges it, so that a certificate is about the answers that
    are given.

    Parameters
    ----------
    schema : FeatureSchema
    members : tuple of ChosenExplainer
    overlap : {"first", "silent"}
        Where several explainers cover a row, the first one answers, or they abstain if they disagree.
    in_turn : bool
        Whether an explainer speaks only of rows that no earlier one covers. Explainers that are learned by asking are
        chosen given those before them, so their rows, fidelity and shares are of the rows that they answer.
    """

    schema: FeatureSchema
    members: tuple[ChosenExplainer, ...]
    overlap: Overlap = "first"
    in_turn: bool = False

    @classmethod
    def choose(cls, program: PoolProgram, result: SelectionResult) -> Self:
        """Return the candidates that a result chooses, the most faithful first."""
        pool, measured, fidelity = program.pool, program.measured, program.pool.fidelity
        members = []
        for index in sorted(result.chosen.tolist(), key=lambda index: -measured[index]):
            candidate, explainer = pool.candidates[index], pool.explainers[index]
            assert explainer is not None
            members.append(
                ChosenExplainer(
                    candidate.region,
                    explainer,
                    candidate.origin,
                    support=int(pool.support[index]),
                    fidelity=float(fidelity[index]),
                    floor_value=float(measured[index]),
                    draw_fidelity=float(pool.draw_fidelity[index]),
                    tolerance=pool.tolerance,
                )
            )
        return cls(pool.rows.schema, tuple(members))

    @property
    def n_rules(self) -> int:
        """The number of rules (leaves, weights) of all explainers together."""
        return sum(member.explainer.complexity for member in self.members)

    @property
    def tolerance(self) -> Tolerance | None:
        """How near an answer must be to the black box's to agree; None for labels."""
        return self.members[0].tolerance if self.members else None

    def covers(self, rows: Floats, readable: Bools | None = None) -> Bools:
        """Return a mask of the rows that each explainer covers, of shape (n_explainers, n_rows).

        Parameters
        ----------
        rows : array of shape (n_rows, n_features)
        readable : bool array of shape (n_rows,), optional
            Rows that hold only values that the schema allows. No explainer covers the others.
        """
        if not self.members:
            return np.zeros((0, len(rows)), dtype=bool)
        covers = np.array([member.region.contains(rows) for member in self.members])
        return covers if readable is None else covers & readable

    def say(self, rows: Floats, covers: Bools) -> Labels:
        """Return what each explainer says of each row that it covers; other entries mean nothing."""
        words = [member.explainer.predict(rows[inside]) for member, inside in zip(self.members, covers, strict=True)]
        dtype = np.result_type(*(word.dtype for word in words)) if words else np.dtype(object)
        said = np.zeros(covers.shape, dtype=dtype)
        for line, inside, word in zip(said, covers, words, strict=True):
            line[inside] = word
        return said

    def responsible(self, rows: Floats, readable: Bools | None = None) -> Ints:
        """Return the number of the explainer that answers each row; -1 where the explainers abstain."""
        covers = self.covers(rows, readable)
        return self._first(covers, self.say(rows, covers)) if self.overlap == "silent" else _first(covers)

    def _first(self, covers: Bools, said: Labels) -> Ints:
        first = _first(covers)
        return np.where(disagree(covers, said), ABSTAINS, first) if self.overlap == "silent" else first

    def answer(self, rows: Floats, readable: Bools | None = None) -> np.ma.MaskedArray[Any, Any]:
        """Return the answer for each row, masked where the explainers abstain."""
        return self.read(rows, readable)[2]

    def read(self, rows: Floats, readable: Bools | None = None) -> tuple[Bools, Labels, np.ma.MaskedArray[Any, Any]]:
        """Return the answered rows that each explainer covers, what each says, and the answers."""
        covers = self.covers(rows, readable)
        said = self.say(rows, covers)
        if not self.members:
            return covers, said, np.ma.masked_array(np.zeros(len(rows), dtype=object), mask=True)
        first = self._first(covers, said)
        labels = said[np.maximum(first, 0), np.arange(len(rows))]
        answers = np.ma.masked_array(labels, mask=first == ABSTAINS)
        if self.in_turn:
            return first == np.arange(len(covers))[:, None], said, answers
        return covers & (first != ABSTAINS), said, answers

    def explain(self, row: Floats, *, with_change: bool = True) -> Explanation:
        """Return what is said of one row, and what would change the answer. The black box is not asked."""
        return explain_row(self, row, with_change=with_change)

    def evaluate(
        self, rows: Floats, labels: Labels, weights: Ints | None = None, readable: Bools | None = None
    ) -> Evaluation:
        """Compare the answers with the black box's; a row may stand for several equal ones."""
        covers, said, answers = self.read(rows, readable)
        rules = [member.explainer.complexity for member in self.members]
        return evaluate(covers, said, np.ma.getdata(answers), labels, rules, weights, self.tolerance)

    def certify(self, held: Rows, confidence: float, seed: int) -> Certificate:
        """Return what rows that were held out from everything else allow to be claimed.

        One random row of each group counts, where the rows have groups.
        """
        labels = held.labels_of_rows
        covers, said, answers = self.read(held.values[held.point_of_row])
        answered = ~np.ma.getmaskarray(answers)
        return Certificate.count(
            covers,
            covers & agrees(said, labels, self.tolerance),
            confidence,
            answered=answered,
            right=answered & agrees(np.ma.getdata(answers), labels, self.tolerance),
            groups=None if held.groups is None else held.groups[held.point_of_row],
            unit=held.unit,
            rng=np.random.default_rng(seed),
        )

    def with_claims(self, certificate: Certificate) -> Self:
        """Return the explainers with what is claimed of each."""
        pairs = zip(self.members, certificate.fidelity, strict=True)
        return replace(self, members=tuple(replace(member, claim=claim) for member, claim in pairs))

    def with_judged(self, rows: Rows, answered: Bools, right: Bools, level: float) -> Self:
        """Return the explainers with what judging rows say of each rule, given the points that are answered rightly."""
        own = self.read(rows.values)[0] & answered
        return self._with_rules(rows, own, own & right, level)

    def with_held(self, held: Rows, level: float) -> Self:
        """Return the explainers with what held-out rows say of each rule."""
        covers, said, _ = self.read(held.values)
        return self._with_rules(held, covers, covers & agrees(said, held.labels, self.tolerance), level)

    def _with_rules(self, rows: Rows, answered: Bools, right: Bools, level: float) -> Self:
        of_rows: dict[str, Any] = {"weights": rows.weights, "groups": rows.groups, "unit": rows.unit}
        return replace(self, members=judge_rules(self.members, rows.values, answered, right, level, **of_rows))

    def uncovered(self, rows: Floats, labels: Labels, readable: Bools | None = None) -> Uncovered:
        """Describe the rows that the explainers do not answer."""
        covered = self.responsible(rows, readable) != ABSTAINS
        return describe_uncovered(rows, labels, covered, self.schema, tolerance=self.tolerance)

    def find_record(self, rows: Floats) -> int | None:
        """Return the number of an explainer whose region holds one of these rows to the digit, or None."""
        for number, member in enumerate(self.members):
            if member.ball is not None:
                center = member.ball.center
                if ((rows == center) | (np.isnan(rows) & np.isnan(center))).all(axis=1).any():
                    return number
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; the schema is kept beside it."""
        check_size(member.explainer for member in self.members)
        return {
            "overlap": self.overlap,
            "in_turn": self.in_turn,
            "members": [member.to_dict() for member in self.members],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Read what ``to_dict`` wrote."""
        members = tuple(ChosenExplainer.from_dict(member, schema) for member in data["members"])
        check_size(member.explainer for member in members)
        return cls(schema, members, read_overlap(data["overlap"]), bool(data["in_turn"]))


def read_overlap(word: Any) -> Overlap:
    """Return how overlaps are read, or raise ``ValueError`` for an unknown word."""
    if word not in OVERLAPS:
        raise ValueError(f"overlaps are read as {shorten(repr(word))}, which is not known")
    overlap: Overlap = word
    return overlap


def _first(covers: Bools) -> Ints:
    if not len(covers):
        return np.full(covers.shape[1], ABSTAINS, dtype=np.intp)
    return np.where(covers.any(axis=0), covers.argmax(axis=0), ABSTAINS)


def _read_share(share: Any) -> float:
    return float("nan" if share is None else share)
