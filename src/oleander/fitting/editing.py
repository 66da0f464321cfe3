"""Edits of chosen rules by hand: each gives a new record, counted again on draws and rows, and never certified."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from oleander.arrays import Floats, Labels
from oleander.data.checks import check_count
from oleander.data.rows import Rows
from oleander.data.tolerance import agrees
from oleander.messages import list_some, name_nearest, show_percent, show_share, visible
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.results.fit_record import Edit, FitRecord
from oleander.results.tradeoff import TradeOff
from oleander.rules import Box
from oleander.rules.base import Explainer
from oleander.rules.conditions import Condition, Range, clauses
from oleander.rules.constant import Constant
from oleander.rules.parsing import parse_conditions

# What an edit in a file may hold, and must.
FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "without": ({"rule"}, set()),
    "with_rule": ({"conditions", "answer"}, {"force"}),
    "with_threshold": ({"rule", "column", "value"}, {"force"}),
    "note": ({"rule", "text"}, set()),
}


class EditError(ValueError):
    """An edit cannot be made; the message says why. The explainer stays as it is."""


@dataclass(frozen=True, eq=False)
class Editor:
    """The rules of a fit, and what an edited rule is counted on."""

    record: FitRecord
    # A rule that is under the floor on these encoded draws, with the black box's answers, is refused.
    draws: Floats
    answers: Labels
    # What the rules answer together is counted on them.
    rows: Rows

    def __post_init__(self) -> None:
        if not self.record.is_asked or not all(member.is_one_rule for member in self.record.explainers.members):
            raise EditError("only rules can be edited, and these explainers are small models in regions.")

    def apply(self, edits: Sequence[Mapping[str, Any]]) -> FitRecord:
        """Return the record after some edits, in which numbers of rules are those before all of them."""
        if not isinstance(edits, Sequence) or isinstance(edits, str):
            raise EditError(f"{visible(edits)} is no list of edits: give a list, also of one edit.")
        for edit in edits:
            if not isinstance(edit, Mapping) or not isinstance(edit.get("do"), str) or edit["do"] not in FIELDS:
                raise EditError(
                    f"{visible(edit)} is no edit: an edit is a mapping whose 'do' is {' or '.join(FIELDS)}."
                )
            (needed, allowed), names = FIELDS[edit["do"]], {*edit} - {"do"}
            if not needed <= names <= needed | allowed:
                found, wanted = (", ".join(sorted(map(str, some))) for some in (names, needed | allowed))
                raise EditError(f"the edit {edit['do']!r} has {found or 'no field'}; it takes {wanted}.")
        editor, removed = self, []
        for edit in edits:
            given = {name: value for name, value in edit.items() if name != "do"}
            if edit["do"] == "without":
                removed.append(given["rule"])
            else:
                editor = replace(editor, record=getattr(editor, edit["do"])(**given))
        return editor.without(*removed) if removed else editor.record

    def without(self, *rules: int) -> FitRecord:
        """Return the record without some rules, by their numbers from 1."""
        places = {self._find(number) for number in rules}
        members = self.record.explainers.members
        if len(places) == len(members):
            raise EditError(f"no rule would be left of {len(members)}: keep one, or fit again.")
        words = [f"Rule {place + 1} was removed: {_show(members[place])}." for place in sorted(places)]
        kept = [member for place, member in enumerate(members) if place not in places]
        return self._finish(kept, [Edit("without", one) for one in words])

    def with_rule(self, conditions: str, answer: Any, *, force: bool = False) -> FitRecord:
        """Return the record with one more rule, which stands last."""
        box, label = Box(parse_conditions(conditions, self.record.schema)), self._read_answer(answer)
        dtype = None if self.record.is_number else np.result_type(self.answers.dtype, np.asarray(label).dtype)
        member = self._make(box, Constant(label, dtype=dtype), force)
        words = f"A rule was {'forced in' if member.by_hand == 'forced' else 'written'} by hand: {_show(member)}."
        return self._finish([*self.record.explainers.members, member], [Edit("with_rule", words)])

    def with_threshold(self, rule: int, column: str, value: Any, *, force: bool = False) -> FitRecord:
        """Return the record with another bound in one condition of a rule."""
        place, members = self._find(rule), list(self.record.explainers.members)
        old, schema = members[place], self.record.schema
        position = schema.position(column)
        if position not in {condition.column for condition in old.conditions}:
            used = list_some([condition.feature.name for condition in old.conditions])
            raise EditError(f"rule {rule} has no condition on column {column!r}; it has conditions on {used}.")
        moved = tuple(_move(one, value, rule) if one.column == position else one for one in old.conditions)
        members[place] = self._make(Box(moved), old.explainer, force)
        words = f"Rule {rule} was changed from {_show(old)} to {_show(members[place])}."
        return self._finish(members, [Edit("with_threshold", words)])

    def note(self, rule: int, text: str) -> FitRecord:
        """Return the record with a remark about a rule, which changes no answer."""
        if not isinstance(text, str):
            raise EditError(f"the note {visible(text)} is no text: give it in quotation marks.")
        words = f"Note on {_show(self.record.explainers.members[self._find(rule)])}: {visible(text)}"
        return replace(self.record, edits=(*self.record.edits, Edit("note", words)))

    def _find(self, number: Any) -> int:
        """Return the place of a rule by its number."""
        n_rules = len(self.record.explainers.members)
        check_count("rule", number)
        if number > n_rules:
            raise EditError(f"there is no rule {number}; there are rules 1 to {n_rules}.")
        return int(number) - 1

    def _read_answer(self, answer: Any) -> Any:
        """Return an answer as the black box gives it, so that text from a file may stand for a number."""
        if self.record.is_number:
            try:
                return float(answer)
            except (TypeError, ValueError):
                raise EditError(f"the answer {answer!r} is no number, and these rules answer numbers.") from None
        members = self.record.explainers.members
        known = {str(label): label for labels in (self.answers, self.rows.labels) for label in np.unique(labels)}
        known |= {str(member.rules()[0].label): member.rules()[0].label for member in members}
        if str(answer) not in known:
            near = name_nearest(answer, known)
            raise EditError(f"the model never answers {visible(answer)!r}; it answers {list_some(list(known))}.{near}")
        label = known[str(answer)]
        return label.item() if isinstance(label, np.generic) else label

    def _make(self, box: Box, explainer: Explainer, force: bool) -> ChosenExplainer:
        """Return a rule that is counted on draws; under the floor only by force."""
        floor, within = self.record.min_fidelity, self.record.explainers.tolerance
        inside = box.contains(self.draws)
        right = agrees(explainer.predict(self.draws[inside]), self.answers[inside], within)
        n_draws, share = len(right), float(right.mean()) if len(right) else float("nan")
        is_under = not share >= floor - 1e-9
        # Constants and lines, which all rules say, know how they did on draws.
        said = replace(explainer, n_draws=n_draws, share=share if n_draws else 0.0)  # type: ignore[type-var]
        by_hand: Literal["written", "forced"] = "forced" if is_under else "written"
        member = ChosenExplainer(box, said, "asking", draw_fidelity=share, tolerance=within, by_hand=by_hand)
        if is_under and not force:
            found = f"matches the model on {show_share(share)} of {n_draws:,}" if n_draws else "holds on none of the"
            raise EditError(
                f"the rule {_show(member)} {found} draws, under the floor of {show_percent(floor)}: change it, or take "
                "it all the same with force=True, and it is marked wherever it is shown."
            )
        return member

    def _finish(self, members: Sequence[ChosenExplainer], edits: Sequence[Edit]) -> FitRecord:
        """Return the record of edited rules, without everything that was said of other rules."""
        explainers = ExplainerSet(self.record.schema, tuple(replace(one, claim=None) for one in members))
        evaluation = explainers.evaluate(self.rows.values, self.rows.labels, self.rows.weights)
        most, every = max(self.record.max_explainers, len(members)), (*self.record.edits, *edits)
        kept = {"max_explainers": most, "edits": every, "verdict": self.record.verdict}
        record = self.record.with_others(explainers.counted(evaluation), evaluation, **kept)
        # The trade-off is that of the fit, and an edit has no part in it.
        return replace(record, tradeoff=TradeOff((record.cell,)))


def _move(condition: Condition, value: Any, rule: int) -> Condition:
    """Return a condition with another bound: that of its one finite end, or both of a pair."""
    name = condition.feature.name
    if not isinstance(condition, Range):
        raise EditError(f"column {name!r} has levels and no threshold: write the rule again by with_rule.")
    ends = [end for end in ("lower", "upper") if np.isfinite(getattr(condition, end))]
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(values) != len(ends):
        have = "two bounds, so give a pair" if len(ends) == 2 else "one bound" if ends else "no bound"
        raise EditError(f"rule {rule} has {have} on column {name!r}, and {value!r} was given.")
    codes, allowed = condition.feature.read(values)
    is_text = not condition.feature.is_date and any(isinstance(one, str) for one in values)
    if is_text or not allowed.all() or np.isnan(codes).any():
        raise EditError(f"column {name!r} cannot be compared with {value!r}.")
    moved = replace(condition, **dict(zip(ends, codes.tolist(), strict=True)))
    if moved.lower >= moved.upper:
        raise EditError(f"no value of column {name!r} lies between {value!r}.")
    return moved


def _show(member: ChosenExplainer) -> str:
    rule = member.rules()[0]
    return f"{' and '.join(clauses(rule.terms)) or 'always'} → {rule.answer}"
