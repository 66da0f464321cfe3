"""Recompute every figure of this folder from rows and the model's answers. Only the standard library is needed.

    python recompute.py rows.csv --answers model_answer [--groups patient]

The file has a header, a column for each column of the model, and one with the model's answers. Empty cells are missing
values. ``rules.py`` says what the rules answer, and ``figures.json`` what the folder claims. The exit code is 0 if all
figures agree, and 1 otherwise.
"""

import argparse
import csv
import hashlib
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

# As in Oleander: parts of the capital that are staked on each group, and the first capital behind each stake.
STAKES, CAPITAL = (0.35, 0.65, 0.9, 1.0), (0.1, 0.15, 0.2, 0.55)
# Bounds are computed in another way than in Oleander, and agree to more digits than are shown.
CLOSE = 1e-6
Counts = list[int]
# A whole number that is written as another.
WHOLE = re.compile(r"^(-?\d+)\.0+$")


def chance(n_right: int, n_rows: int, share: float) -> float:
    """Return the probability that at least ``n_right`` of ``n_rows`` rows are correct, where each is with ``share``."""
    right, wrong = math.log(share), math.log1p(-share)
    ways = math.lgamma(n_rows + 1)
    logs = (
        ways - math.lgamma(k + 1) - math.lgamma(n_rows - k + 1) + k * right + (n_rows - k) * wrong
        for k in range(n_right, n_rows + 1)
    )
    return math.fsum(map(math.exp, logs))


def lower_bound(n_right: int, n_rows: int, level: float) -> float:
    """Return the exact (Clopper-Pearson) lower confidence bound on a share, at one-sided error ``level``.

    >>> round(lower_bound(29, 29, 0.05), 4), lower_bound(0, 5, 0.05)
    (0.9019, 0.0)
    """
    if n_right <= 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if chance(n_right, n_rows, middle) < level:
            low = middle
        else:
            high = middle
    return low


def bets_reach(shares: Sequence[float], floor: float, level: float) -> bool:
    """Return whether bets on groups, each with its share of correct rows, show the floor."""
    total = 0.0
    for stake, capital in zip(STAKES, CAPITAL, strict=True):
        for share in shares:
            capital *= max(1 + stake * (share / floor - 1), 0.0)
        total += capital
    return total >= 1 / level


def canonical(value: Any, is_number: bool) -> str:
    """Return a cell as text that does not depend on how numbers are written."""
    return "" if value is None else repr(float(value)) if is_number else str(value)


def fingerprint(lines: Iterable[Sequence[str]]) -> str:
    """Return a hash of rows, whatever their order is."""
    hashes = sorted(hashlib.sha256("\x1f".join(line).encode()).hexdigest() for line in lines)
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest()


def read_cell(cell: str, levels: Sequence[Any] | None) -> Any:
    """Return the value of a cell: a number, a level, or None where it is missing."""
    if cell == "":
        return None
    if levels is None:
        return float(cell)
    for level in levels:
        if same(level, cell):
            return level
    return cell


def same(value: Any, cell: str) -> bool:
    """Return whether a cell holds a level or a label."""
    if isinstance(value, (bool, str)):
        return str(value) == cell
    try:
        return bool(float(cell) == value)
    except ValueError:
        return False


def agrees(answer: Any, cell: str, tolerance: dict[str, Any] | None) -> bool:
    """Return whether an answer is the model's, or near enough where it is a number."""
    if tolerance is None:
        return same(answer, cell)
    truth = float(cell)
    width = tolerance["value"] * (abs(truth) if tolerance["is_relative"] else 1.0)
    return bool(abs(answer - truth) <= width * (1 + 1e-9))


def count(
    rules: Any, rows: Sequence[dict[str, str]], answers: str, groups: str | None, stated: dict[str, Any]
) -> dict[str, Any]:
    """Return the figures of some rows under names that are those of ``figures.json``."""
    tolerance, floor, level = stated["tolerance"], stated["floor"], round(1 - stated["confidence"], 12)
    says: dict[int, Callable[[Any], Any]] = {int(one.__name__.rsplit("_", 1)[1]): one for one in rules.EXPLAINERS}
    # By name: rows, those with an answer, and those with the model's answer.
    per_rule: dict[int, Counts] = {number: [0, 0, 0] for number in sorted(says)}
    classes: dict[str, Counts] = {}
    subgroups: dict[str, Counts] = {}
    by_group: dict[str, Counts] = {}
    by_columns, lines = getattr(rules, "SUBGROUP_COLUMNS", ()), []

    def add(counts: Counts, answer: Any, truth: str) -> None:
        is_given = answer is not None
        for place, is_one in enumerate((True, is_given, is_given and agrees(answer, truth, tolerance))):
            counts[place] += is_one

    for row in rows:
        truth = row[answers]
        cells = [(read_cell(row[str(name)], levels), levels) for name, levels, _, _ in rules.COLUMNS]
        line = [canonical(value, has_numbers(levels)) for value, levels in cells]
        lines.append([*line, canonical(truth, tolerance is not None)])
        try:
            values = rules.read_values([value for value, _ in cells])
            said = {number: say(values) for number, say in says.items()}
        except rules.UnknownValueError:
            said = {}
        if by_columns:
            known = {str(name): value for (name, *_), (value, _) in zip(rules.COLUMNS, cells, strict=True)}
            named = {name: known.get(name, WHOLE.sub(r"\1", row[name])) for name in by_columns}
            add(subgroups.setdefault(rules.name_subgroup(named), [0, 0, 0]), first(said, stated["order"]), truth)
            said = said if rules.speaks_to(named) else {}
        for number, answer in said.items():
            add(per_rule[number], answer, truth)
        for by_name, name in ((classes, truth), (by_group, row[groups] if groups else "")):
            add(by_name.setdefault(name, [0, 0, 0]), first(said, stated["order"]), truth)
    _, n_answered, n_right = (sum(column) for column in zip(*classes.values(), strict=True))
    found: dict[str, Any] = {"rows": len(rows), "answered": n_answered, "answered as the model": n_right}
    for number, (_, n_inside, n_correct) in per_rule.items():
        found[f"rule {number}: rows"], found[f"rule {number}: as the model"] = n_inside, n_correct
        if groups is None:
            found[f"rule {number}: at least"] = lower_bound(n_correct, n_inside, level)
    for about, table, words in (
        ("model says", {} if tolerance else classes, ("rows", "answered", "answered as the model")),
        ("subgroup", subgroups, ("rows", "covered", "covered and as the model")),
    ):
        for name, counts in table.items():
            found |= {f"{about} {name}: {what}": n for what, n in zip(words, counts, strict=True)}
    for name, (_, n_covered, n_correct) in subgroups.items():
        found[f"subgroup {name}: certified"] = lower_bound(n_correct, n_covered, level) >= floor
    found["certified"] = lower_bound(n_right, n_answered, level) >= floor
    if groups is not None:
        shares = [right / answered for _, answered, right in by_group.values() if answered]
        found["groups"], found["groups: sum of shares"] = len(shares), math.fsum(shares)
        if max(n_rows for n_rows, _, _ in by_group.values()) > 1:
            found["certified"] = bets_reach(shares, floor, level)
    found["fingerprint of the rows"] = fingerprint(line[:-1] for line in lines)
    found["fingerprint of the rows with the answers"] = fingerprint(lines)
    return found


def first(said: dict[int, Any], order: Sequence[int]) -> Any:
    """Return the answer of the most faithful rule that has one."""
    return next((said[number] for number in order if said.get(number) is not None), None)


def has_numbers(levels: Sequence[Any] | None) -> bool:
    """Return whether a column holds numbers, with these levels or, for None, without."""
    return levels is None or (len(levels) > 0 and not any(isinstance(level, (bool, str)) for level in levels))


def compare(stated: dict[str, Any], found: dict[str, Any]) -> list[tuple[str, Any, Any, bool]]:
    """Return each stated figure beside the one that was found, and whether they agree."""
    lines = []
    for name, value in stated.items():
        other = found.get(name)
        is_close = isinstance(value, float) and isinstance(other, (int, float)) and abs(value - other) <= CLOSE
        lines.append((name, value, other, is_close or value == other))
    return lines


def main(words: Sequence[str] | None = None) -> int:
    """Compare the folder with a file of rows, and return the exit code."""
    parser = argparse.ArgumentParser(description="Recompute every figure of this folder.")
    parser.add_argument("rows", help="a CSV file of the rows that judged the rules")
    parser.add_argument("--answers", default="model_answer", help="the column with the model's answers")
    parser.add_argument("--groups", help="the column of groups, where rows belong together")
    given = parser.parse_args(words)
    folder = Path(__file__).parent
    # Not imported: Python could take a compiled file of other rules, which the hash of rules.py does not show.
    rules = ModuleType("rules")
    exec(compile((folder / "rules.py").read_bytes(), "rules.py", "exec"), vars(rules))
    stated = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    try:
        with open(given.rows, encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        parser.error(f"{given.rows} cannot be read: {error}.")
    needed = [*(str(name) for name, *_ in rules.COLUMNS), *getattr(rules, "SUBGROUP_COLUMNS", ()), given.answers]
    needed += [given.groups] if given.groups else []
    lacking = [name for name in needed if not rows or rows[0].get(name) is None]
    if lacking:
        parser.error(f"{given.rows} has {len(rows)} rows, and lacks the columns {', '.join(lacking)}.")
    lines = compare(stated["figures"], count(rules, rows, given.answers, given.groups, stated))
    hashes = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in stated["files"]}
    lines += [(f"SHA-256 of {name}", *rest) for name, *rest in compare(stated["files"], hashes)]
    for name, value, other, is_equal in lines:
        print(f"{'agrees ' if is_equal else 'DIFFERS'}  {name}: stated {value}, found {other}")
    n_wrong = sum(not is_equal for *_, is_equal in lines)
    print(f"{len(lines) - n_wrong} of {len(lines)} figures agree.")
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
