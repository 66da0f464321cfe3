"""The chosen explainers together: the rows they cover, the answer they give, and what rows say of each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.checks import Count, Share
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance, agrees
from oleander.files.codec import read_fields, write_fields
from oleander.judging.certificate import Claim, JointCertificate
from oleander.judging.fixed_sequence import Judged
from oleander.messages import Shown
from oleander.results.evaluation import ClassCount, Evaluation, ExplainerCount, Ranges, group_answers
from oleander.rules import Ball, Region
from oleander.rules.base import Explainer, Rule, check_size
from oleander.rules.conditions import Condition

SILENT = -1


@dataclass(frozen=True, eq=False)
class ChosenExplainer(Shown):
    """A chosen explainer and its figures."""

    region: Region
    explainer: Explainer
    # The generator that proposed it.
    origin: str
    # The rows that it was chosen or judged on and covers.
    support: Count = 0
    # The share of them on which it says what the black box says; NaN where there are none.
    fidelity: Share = float("nan")
    # Its agreement on the draws that trained it; NaN where there were none.
    draw_fidelity: Share = float("nan")
    # What held-out rows allow to be claimed of its fidelity.
    claim: Claim | None = None
    # What rows that it was not learned from say of each of its rules, one rule at a time; empty where there were none,
    # as where folds judged.
    judged: tuple[Claim, ...] = ()
    # How near its answers must be to the black box's to agree; None for labels.
    tolerance: Tolerance | None = None
    # Whether a person wrote or changed it after the fit, also although it is under the floor on draws ("forced").
    by_hand: Literal["", "written", "forced"] = ""

    @property
    def ball(self) -> Ball | None:
        """The ball, where the region is one or a part of one."""
        return self.region.ball

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions of the box, where the region is one or a part of one."""
        return () if self.region.box is None else self.region.box.conditions

    @property
    def features(self) -> list[int]:
        """The columns that its conditions and its answers use."""
        return sorted({*self.explainer.features, *(one.column for one in self.conditions)})

    @property
    def certified(self) -> Claim | None:
        """The claim, where a held-out row lies in its region."""
        return self.claim if self.claim is not None and self.claim.n_rows else None

    @property
    def chosen_fidelity(self) -> float:
        """The share of what it was chosen on, draws or rows, on which it says what the black box says."""
        return self.draw_fidelity if self.origin == "asking" else self.fidelity

    @property
    def is_one_rule(self) -> bool:
        """Whether it says one thing in a box, whose conditions then belong to its rule."""
        return self.explainer.is_one_rule and self.region.box is self.region

    def rules(self) -> list[Rule]:
        """Return all that the explainer says."""
        return [self._complete(rule) for rule in self.explainer.rules()]

    def path(self, row: Floats) -> Rule:
        """Return what the explainer says of one row, and why."""
        return self._complete(self.explainer.path(row))

    def _complete(self, rule: Rule) -> Rule:
        terms = self.conditions if self.is_one_rule else rule.terms
        return replace(rule, terms=terms, tolerance=self.tolerance or rule.tolerance)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return write_fields(self, region=self.region.write(), explainer=self.explainer.write())

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Read what ``to_dict`` wrote."""
        explainer = Explainer.read(data["explainer"], schema)
        member = read_fields(cls, data, explainer=explainer, region=Region.read(data["region"], schema))
        if len(member.judged) not in (0, explainer.n_rules):
            raise ValueError(f"{len(member.judged)} claims are made of {explainer.n_rules} rules")
        return member


@dataclass(frozen=True, eq=False)
class Answers:
    """What a set of explainers says of some rows."""

    covers: Bools
    # What each explainer says of the rows that it covers; other entries mean nothing.
    said: Labels
    # The number of the explainer that answers each row; -1 for none.
    speaker: Ints
    tolerance: Tolerance | None

    @property
    def answered(self) -> Bools:
        """A mask of the rows with an answer."""
        return np.asarray(self.speaker != SILENT)

    @cached_property
    def given(self) -> Labels:
        """The answer for each row, which means nothing where there is none."""
        if not len(self.covers):
            return np.zeros(len(self.speaker), dtype=object)
        given: Labels = self.said[np.maximum(self.speaker, 0), np.arange(len(self.speaker))]
        return given

    def agree(self, labels: Labels) -> Bools:
        """Return a mask of the rows on which each explainer covers the row and says what the black box says."""
        return self.covers & agrees(self.said, labels, self.tolerance)

    def right(self, labels: Labels) -> Bools:
        """Return a mask of the rows that are answered as the black box does."""
        return self.answered & agrees(self.given, labels, self.tolerance)

    def evaluate(self, labels: Labels, weights: Ints | None = None, ranges: Ranges | None = None) -> Evaluation:
        """Compare the answers with the black box's.

        A row stands for as many equal ones as its weight. Numbers are counted in ``ranges``, or else in a few of their
        own.
        """
        counts = np.ones(len(labels), dtype=np.intp) if weights is None else weights
        masks = np.ones(len(labels), dtype=bool), self.answered, self.right(labels)
        codes, names = group_answers(labels, self.tolerance) if ranges is None else (ranges.find(labels), ranges.names)
        of_class = [np.bincount(codes, weights=counts * mask, minlength=len(names)).astype(int) for mask in masks]
        # One by one, since NumPy makes whole numbers of all masks that it multiplies at once: eight bytes each.
        of_explainer = ([int(mask @ counts) for mask in part] for part in (self.covers, self.agree(labels)))
        explainer_counts = tuple(map(ExplainerCount, *of_explainer))
        class_counts = tuple(map(ClassCount, names.tolist(), *(part.tolist() for part in of_class)))
        n_rows, n_answered, n_right = (int(mask @ counts) for mask in masks)
        return Evaluation(n_rows, n_answered, n_right, explainer_counts, class_counts)

    def certify(
        self, labels: Labels, confidence: float, weights: Ints | None = None, groups: Labels | None = None
    ) -> JointCertificate:
        """Return what new rows allow to be claimed; a row may stand for several equal ones."""
        every = np.ones(len(labels), dtype=np.intp)
        inside = np.vstack([self.covers, every > 0, self.answered])
        agreed = np.vstack([self.agree(labels), self.answered, self.right(labels)])
        return JointCertificate.count(Judged(inside, agreed, every if weights is None else weights, groups), confidence)


@dataclass(frozen=True, eq=False)
class ExplainerSet:
    """The chosen explainers over one schema, the widest first.

    Where several cover a row, the most faithful one answers. How faithful an explainer is was counted on what it was
    chosen on, before any row judged it, so that a certificate is about the answers that are given.
    """

    schema: FeatureSchema
    members: tuple[ChosenExplainer, ...]

    @property
    def n_rules(self) -> int:
        """The number of rules (leaves, weights) of all explainers together."""
        return sum(member.explainer.complexity for member in self.members)

    @property
    def tolerance(self) -> Tolerance | None:
        """How near an answer must be to the black box's to agree; None for labels."""
        return self.members[0].tolerance if self.members else None

    @cached_property
    def ranked(self) -> Ints:
        """The numbers of the explainers, the most faithful first: the first of them that covers a row answers."""
        return np.argsort([-member.chosen_fidelity for member in self.members], kind="stable")

    @cached_property
    def columns(self) -> frozenset[int] | None:
        """The columns that answers depend on; None for all."""
        parts = [part.columns for member in self.members for part in (member.region, member.explainer)]
        return None if None in parts else frozenset[int]().union(*filter(None, parts))

    def can_read(self, rows: Floats, readable: Bools | None) -> Bools | None:
        """Return a mask of the rows without a value that the schema does not allow in a column of the rules.

        Such a value is infinite in ``rows``, and ``readable`` is a mask of the rows without one in any column. None
        stands for all rows.
        """
        if readable is None or self.columns is None:
            return readable
        return readable | ~np.isinf(rows[:, sorted(self.columns)]).any(axis=1)

    def covers(self, rows: Floats, readable: Bools | None = None) -> Bools:
        """Return a mask of the rows that each explainer covers, of shape (n_explainers, n_rows).

        None covers a row that is not ``readable``: one that holds a value which the schema does not allow.
        """
        if not self.members:
            return np.zeros((0, len(rows)), dtype=bool)
        covers = np.array([member.region.contains(rows) for member in self.members])
        return covers if readable is None else covers & readable

    def responsible(self, rows: Floats, readable: Bools | None = None) -> Ints:
        """Return the number of the explainer that answers each row; -1 where the explainers are silent."""
        return self._find_speaker(self.covers(rows, readable))

    def _find_speaker(self, covers: Bools) -> Ints:
        # The more faithful, the higher. Small numbers are compared many at a time, which no assignment by a mask is.
        highest = np.zeros(covers.shape[1], dtype=np.int16)
        for height, number in enumerate(self.ranked[::-1].tolist(), start=1):
            np.maximum(highest, np.multiply(covers[number], height, dtype=np.int16), out=highest)
        return np.asarray(np.append(self.ranked, SILENT)[::-1][highest.astype(np.intp)])

    def answer(self, rows: Floats, readable: Bools | None = None) -> np.ma.MaskedArray[Any, Any]:
        """Return the answer for each row, masked where the explainers are silent; only ``columns`` are read."""
        speaker = self.responsible(rows, readable)
        # A constant reads no row, and one answer stands for all rows.
        words = [
            member.explainer.predict(rows[:1] if member.explainer.is_constant else rows[speaker == number])
            for number, member in enumerate(self.members)
        ]
        # The last entry is for silent rows.
        said = np.zeros(len(words) + 1, dtype=_join_dtypes(words))
        for number, member in enumerate(self.members):
            if member.explainer.is_constant:
                said[number : number + len(words[number])] = words[number]
        given = said[speaker]
        for number, member in enumerate(self.members):
            if not member.explainer.is_constant:
                given[speaker == number] = words[number]
        return np.ma.masked_array(given, mask=speaker == SILENT)

    def answer_blocks(self, blocks: Iterable[tuple[Floats, Bools | None]]) -> np.ma.MaskedArray[Any, Any]:
        """Return the answers for blocks of rows, which stay in the processor's cache, one after the other."""
        parts = [self.answer(*block) for block in blocks]
        given = np.concatenate([part.data for part in parts])
        return np.ma.masked_array(given, mask=np.concatenate([np.ma.getmaskarray(part) for part in parts]))

    def read(self, rows: Floats, readable: Bools | None = None) -> Answers:
        """Return what the explainers say of some rows."""
        return self.speak(self.covers(rows, readable), rows)

    def speak(self, covers: Bools, rows: Floats) -> Answers:
        """Return what the explainers say of some rows, given where each explainer holds."""
        explainers = [member.explainer for member in self.members]
        # A constant reads no row, and a copy of many rows takes longer than all else.
        words = [
            explainer.predict(rows[:1] if explainer.is_constant else rows[inside])
            for explainer, inside in zip(explainers, covers, strict=True)
        ]
        said = np.zeros(covers.shape, dtype=_join_dtypes(words))
        for explainer, line, inside, word in zip(explainers, said, covers, words, strict=True):
            line[... if explainer.is_constant else inside] = word
        return self.tell(covers, said)

    def tell(self, covers: Bools, said: Labels) -> Answers:
        """Return the answers, given where each explainer holds and what it says there."""
        return Answers(covers, said, self._find_speaker(covers), self.tolerance)

    def evaluate(self, rows: Floats, labels: Labels, weights: Ints | None = None) -> Evaluation:
        """Compare the answers with the black box's; a row may stand for several equal ones."""
        return self.read(rows).evaluate(labels, weights)

    def counted(self, evaluation: Evaluation) -> Self:
        """Return the explainers with their figures in an evaluation."""
        pairs = zip(self.members, evaluation.explainer_counts, strict=True)
        return replace(
            self, members=tuple(replace(one, support=own.n_rows, fidelity=own.fidelity) for one, own in pairs)
        )

    def with_claims(self, certificate: JointCertificate) -> Self:
        """Return the explainers with what is claimed of each."""
        pairs = zip(self.members, certificate.fidelity, strict=True)
        return replace(self, members=tuple(replace(member, claim=claim) for member, claim in pairs))

    def judged_on(self, rows: Rows, answers: Answers, level: float) -> Self:
        """Return the explainers with what rows that nothing was learned from say of each rule.

        ``level`` is the error of each bound.
        """
        members = []
        for member, inside, right in zip(self.members, answers.covers, answers.agree(rows.labels), strict=True):
            position = member.explainer.find_rules(rows.values)
            # Where rules cannot be distinguished, no row is counted for one of them.
            if position is not None:
                of_rule = inside & (position == np.arange(member.explainer.n_rules)[:, None])
                judged = Judged(of_rule, of_rule & right, rows.weights, rows.groups)
                figures = zip(judged.n_right.tolist(), judged.n_answered.tolist(), judged.bounds(level), strict=True)
                claims = (Claim(n_right, n_rows, float(bound), rows.unit) for n_right, n_rows, bound in figures)
                member = replace(member, judged=tuple(claims))
            members.append(member)
        return replace(self, members=tuple(members))

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
        return {"members": [member.to_dict() for member in self.members]}

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Read what ``to_dict`` wrote."""
        members = tuple(ChosenExplainer.from_dict(member, schema) for member in data["members"])
        check_size(member.explainer for member in members)
        return cls(schema, members)


def _join_dtypes(words: Sequence[Labels]) -> Any:
    return np.result_type(*(word.dtype for word in words)) if words else np.dtype(object)


def name_rule(members: Sequence[ChosenExplainer], number: int, position: int | None) -> str:
    """Return the name of a rule in the summary: its explainer is named only where explainers have several rules."""
    if all(member.explainer.n_rules == 1 for member in members):
        return f"rule {number + 1}"
    if position is None or members[number].explainer.n_rules == 1:
        return f"explainer {number + 1}"
    return f"rule {position + 1}" if len(members) == 1 else f"explainer {number + 1}, rule {position + 1}"


def fill_silence(answers: np.ma.MaskedArray[Any, Any], value: Any) -> Any:
    """Return answers as a plain array, with a value where the explainers are silent; ``np.ma.masked`` keeps the mask.

    Numbers and a number, and text and text, share a dtype. Any other pair is an array of objects.

    >>> answers = np.ma.masked_array(["no", "yes"], mask=[False, True])
    >>> fill_silence(answers, "unknown").tolist(), fill_silence(answers, None).tolist()
    (['no', 'unknown'], ['no', None])
    """
    if value is np.ma.masked:
        return answers
    labels, filler = np.ma.getdata(answers), np.asarray(value)
    if filler.ndim:
        raise ValueError(f"abstain={value!r} is not allowed: give one value.")
    alike = any(labels.dtype.kind in kinds and filler.dtype.kind in kinds for kinds in ("biuf", "U"))
    filled = labels.astype(np.result_type(labels.dtype, filler.dtype) if alike else object)
    filled[np.ma.getmaskarray(answers)] = value
    return filled
