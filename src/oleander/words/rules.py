"""A rule in words: its conditions, its answer, and how sure it is."""

from collections.abc import Sequence

from oleander.data.tolerance import show_answer
from oleander.messages import show_share
from oleander.results.changing import Change
from oleander.results.explainer_set import ChosenExplainer
from oleander.results.fit_record import FitRecord, Stability
from oleander.results.rules import name_rule
from oleander.rules.base import Rule
from oleander.rules.conditions import clauses
from oleander.words.claims import about, at_least, describe_claim, how_many

# Up to this many rules in all are shown; of more, the widest few of each explainer.
MOST_RULES, WIDEST_RULES = 20, 12
MOST_FEATURES = 10


def describe_rule(name: str, rule: Rule, evidence: str) -> str:
    """Return a rule as one line: name, conditions, answer and evidence."""
    return f"{name}: {rule.premise or 'always'} → {rule.answer} ({evidence})"


def correct_on(n_right: float, n_rows: int) -> str:
    """Return two counts in words.

    Examples
    --------
    >>> correct_on(43, 45)
    'correct on 43 of 45 rows'
    """
    return f"correct on {n_right:,.0f} of {how_many(n_rows)}"


def describe_teachers(rule: Rule) -> str:
    """Return how a rule does on what it was learned from.

    Examples
    --------
    >>> describe_teachers(Rule((), "low", 412, 0.97))
    'correct on 97% of 412 synthetic rows'
    """
    return f"correct on {show_share(rule.share)} of {rule.n_draws:,} {'synthetic ' * (rule.unit == 'draws')}rows"


def describe_all(member: ChosenExplainer) -> str:
    """Return what rows say of all rules of an explainer together.

    They are the rows that judged it, or, where there are none, those that it was chosen on.
    """
    if member.judged:
        return correct_on(sum(claim.n_right for claim in member.judged), sum(claim.n_rows for claim in member.judged))
    if not member.support:
        return "not checked on any row"
    counts = correct_on(round(member.fidelity * member.support), member.support)
    return f"{counts} it was {'learned around' if member.origin == 'asking' else 'chosen on'}"


def describe_evidence(
    member: ChosenExplainer, position: int | None, rule: Rule, *, alone: bool = False, brief: bool = False
) -> str:
    """Return how sure a rule is.

    Parameters
    ----------
    member : ChosenExplainer
    position : int or None
        The position of the rule among the rules of its explainer, where it is known.
    rule : Rule
    alone : bool
        Whether to leave out what is certified of an explainer with several rules.
    brief : bool
        Whether to leave out what the bound is about, where that is said of all rules at once.
    """
    claim, is_one = member.certified, member.explainer.n_rules == 1
    if claim is not None and is_one:
        unit = f" {claim.unit}" if claim.unit != "rows" else ""
        counts = correct_on(claim.n_right, claim.n_rows) if not unit else f"{claim.n_rows:,}{unit}"
        return f"certified {at_least(claim.bound)}, {counts}{_describe_spread(member, 0)}"
    if position is None or not member.judged:
        words = describe_all(member)
    elif member.judged[position].n_rows:
        judged = member.judged[position]
        words = f"{correct_on(judged.n_right, judged.n_rows)}, {at_least(judged.bound)}{'' if brief else about(judged)}"
    else:
        words = f"not checked on any row; {describe_teachers(rule)}"
    words += _describe_spread(member, position)
    return words if claim is None or alone else f"{words}; its explainer is certified {at_least(claim.bound)}"


def _describe_spread(member: ChosenExplainer, position: int | None) -> str:
    spread = member.spreads[position] if member.spreads and position is not None else None
    if spread is None or member.tolerance is None:
        return ""
    return f"; {at_least(spread.share)} within {member.tolerance.show_spread(spread.size)}"


def describe_refits(stability: Stability, number: int, position: int) -> str:
    """Return how often a rule of an explainer comes back in refits."""
    return f"found in {stability.found[number][position]} of {stability.n_refits} refits"


def with_refits(words: str, stability: Stability | None, number: int, position: int) -> str:
    """Return words about a rule, and in how many refits it comes back where that is known."""
    return words if stability is None else f"{words}; {describe_refits(stability, number, position)}"


def describe_member(record: FitRecord, number: int) -> list[str]:
    """Return an explainer of a fit with its rules, the widest of them where there are many."""
    members, stability = record.explainers.members, record.stability
    member, rules = members[number], members[number].rules()
    if member.is_one_rule:
        evidence = with_refits(describe_evidence(member, 0, rules[0], brief=True), stability, number, 0)
        return [describe_rule(name_rule(members, number, 0), rules[0], evidence)]
    is_long = sum(len(one.explainer.rules()) for one in members) > MOST_RULES
    most = max(1, WIDEST_RULES // len(members)) if is_long else MOST_RULES
    certified = "" if member.claim is None else f", {describe_claim(member.claim, record.min_fidelity)}"
    lines = [f"explainer {number + 1}: {describe_all(member)}{certified}", f"  {member.region.describe()}"]
    shown = list(enumerate(rules))
    if len(rules) > most:
        features = member.explainer.features
        names = [record.schema[j].shown for j in features[:MOST_FEATURES]]
        if len(features) > MOST_FEATURES:
            names.append(f"and {len(features) - MOST_FEATURES} more")
        lines.append(f"  {len(rules):,} rules on {how_many(len(features), 'features')}: {', '.join(names)}")
        shown = sorted(shown, key=lambda pair: -pair[1].n_draws)[:most]
    for position, rule in shown:
        evidence = describe_part(member, position, rule, stability, number)
        lines.append(f"    {describe_rule(f'rule {position + 1}', rule, evidence)}")
    if len(rules) > most:
        lines.append(f"    and {len(rules) - most:,} narrower rules: explainers_[{number}].rules() lists all")
    return lines


def describe_part(
    member: ChosenExplainer, position: int, rule: Rule, stability: Stability | None = None, number: int = 0
) -> str:
    """Return how sure one of several rules of an explainer is, by itself."""
    if not member.judged:
        return describe_teachers(rule)
    return with_refits(describe_evidence(member, position, rule, alone=True, brief=True), stability, number, position)


def list_rules(
    members: Sequence[ChosenExplainer], stability: Stability | None, most: int
) -> tuple[list[tuple[str, str, str, str]], int]:
    """Return name, conditions, answer and evidence of each rule, the widest where there are many; and how many more."""
    rules = [(number, *pair) for number, member in enumerate(members) for pair in enumerate(member.rules())]
    widest = rules if len(rules) <= most else sorted(rules, key=lambda one: -one[2].n_draws)[:most]
    lines = [
        (
            name_rule(members, number, position),
            rule.premise or "always",
            rule.answer,
            with_refits(describe_evidence(members[number], position, rule), stability, number, position),
        )
        for number, position, rule in widest
    ]
    return lines, len(rules) - len(widest)


def describe_change(change: Change) -> str:
    """Return what would change the answer of a row."""
    answer = show_answer(change.label, change.tolerance)
    return f"The answer would be '{answer}' ({change.name}) if {' and '.join(clauses(change.terms))}."
