"""Results in words: facts become sentences here, and sentences become text, HTML and Markdown.

Every sentence about a result is written once, in this folder. ``describe`` and ``draw`` show any result as text and as
HTML, and are what ``print`` and a notebook call.
"""

from collections.abc import Callable
from html import escape
from typing import Any

from oleander.judging.certificate import Certificate, Claim, Cost, SystemCertificate, Tested
from oleander.judging.evidence import Watched
from oleander.judging.floor import FloorCheck
from oleander.results.changing import Change
from oleander.results.difference import Difference
from oleander.results.evaluation import Evaluation, Uncovered
from oleander.results.explainer_set import ChosenExplainer
from oleander.results.explanation import Explanation, FarValue, Statement
from oleander.results.fit_record import BallSize, Stability
from oleander.results.tradeoff import TradeOff
from oleander.words.claims import (
    describe_certificate,
    describe_claim,
    describe_cost,
    describe_difference,
    describe_floor_check,
    describe_system,
    describe_tested,
    describe_watched,
)
from oleander.words.html import (
    draw_certificate,
    draw_evaluation,
    draw_explanation,
    draw_member,
    draw_tradeoff,
    draw_uncovered,
)
from oleander.words.rules import (
    describe_all,
    describe_change,
    describe_explanation,
    describe_far,
    describe_statement,
)
from oleander.words.sentences import describe_evaluation, describe_size, describe_stability, describe_uncovered

# What a result says, as one sentence or as lines.
TEXTS: dict[type, Callable[[Any], str | list[str]]] = {
    BallSize: describe_size,
    Certificate: describe_certificate,
    Change: describe_change,
    Cost: describe_cost,
    ChosenExplainer: lambda one: [describe_all(one), *(f"  {rule}" for rule in one.rules())],
    Claim: describe_claim,
    Difference: describe_difference,
    Evaluation: lambda one: " ".join(describe_evaluation(one)),
    Explanation: describe_explanation,
    FarValue: describe_far,
    FloorCheck: describe_floor_check,
    Stability: describe_stability,
    Statement: describe_statement,
    SystemCertificate: describe_system,
    TradeOff: lambda one: str(one.table.to_string(index=False)),
    Tested: describe_tested,
    Uncovered: describe_uncovered,
    Watched: describe_watched,
}
PAGES: dict[type, Callable[[Any], str]] = {
    Certificate: draw_certificate,
    ChosenExplainer: draw_member,
    Evaluation: draw_evaluation,
    Explanation: draw_explanation,
    TradeOff: draw_tradeoff,
    Uncovered: draw_uncovered,
}


def describe(result: Any) -> str:
    """Return a result as text."""
    text = TEXTS[type(result)](result)
    return text if isinstance(text, str) else "\n".join(text)


def draw(result: Any) -> str:
    """Return a result as HTML; its text where it has no page of its own."""
    kind = type(result)
    return PAGES[kind](result) if kind in PAGES else f"<pre>{escape(describe(result))}</pre>"
