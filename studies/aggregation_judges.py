"""From the facts of the aggregation steps to an answer: whether a claim of the paper comes out on rows held out.

Fidelity is that of the answers: of the covered rows, the share on which the responsible explainer says what the forest
says. It is the one measure that aggregates and trees have in common. What is said of the method is asked of both of its
programs, and comes out only if it does for both.
"""

from collections.abc import Sequence

from studies.explaining import HELD_OUT, PROGRAMS
from studies.judges import Judge, Judgement
from studies.steps import Facts

AGGREGATES = ("submodular pick", "anchors")
TREES = ("active tree", "naive tree")
ALL_RIVALS = (*AGGREGATES, "decision set", *TREES)
# Fidelities within this of each other are called alike.
ALIKE = 0.05
# So long may a program take, for one budget and floor.
MOST_SECONDS = 60.0
HIGH = 0.9
PAPER_COVERAGE = (0.4, 0.5)


def solvable(facts: Facts) -> Judgement:
    """See whether every cell was proven optimal, and how long the slowest took."""
    words, comes_out = [], True
    for task, found in facts["tasks"].items():
        for program, solved in found["programs"].items():
            comes_out &= solved["n_proven"] == solved["n_cells"] and solved["most_seconds"] <= MOST_SECONDS
            words.append(
                f"{_plain(task)}, {program}: {solved['n_proven']} of {solved['n_cells']} proven optimal in "
                f"{solved['seconds']:.0f} s, worst gap {solved['worst_gap']:.1%}"
            )
    why = "some budgets and floors keep a gap within the time given, nearly all of them in the selective program"
    return comes_out, "; ".join(words), why


def more_explainers(facts: Facts) -> Judgement:
    """Compare the smallest with the largest budget, for every program and floor."""
    words, n_wider, n_better = [], 0, 0
    cells = _cells(facts)
    for task, method in cells:
        cover, right = (_known(_curve(facts, task, method, measure)) for measure in ("coverage", "agreement"))
        n_wider += cover[-1] >= cover[0]
        n_better += right[-1] > right[0]
        if method == f"strict {HIGH:g}":
            words.append(
                f"{_plain(task)}, {method}: coverage {cover[0]:.0%} → {cover[-1]:.0%}, fidelity {right[0]:.1%} → "
                f"{right[-1]:.1%}"
            )
    counts = f"coverage rises in {n_wider} and fidelity in {n_better} of {len(cells)} cases"
    why = (
        "the program maximises coverage alone, and explainers added for it are not always more faithful "
        f"(figure {_first(facts)}_held_out)"
    )
    return n_wider == n_better == len(cells), f"{counts}; {'; '.join(words)}", why


def floor_is_a_knob(facts: Facts) -> Judgement:
    """Compare means over the budgets from floor to floor."""
    words, comes_out = [], dict.fromkeys(PROGRAMS, True)
    for task in facts["tasks"]:
        for program in PROGRAMS:
            pairs = [_means(facts, task, f"{program} {floor:g}") for floor in facts["floors"]]
            covers, rights = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            comes_out[program] &= covers[0] > covers[-1] and rights[-1] > rights[0]
            words.append(
                f"{_plain(task)}, {program}: coverage {_list(covers)}, fidelity {_list(rights)} at φ = "
                f"{', '.join(f'{floor:g}' for floor in facts['floors'])}"
            )
    failing = [program for program, holds in comes_out.items() if not holds]
    reasons = {
        "strict": "under the strict program the floor asks little where most explainers keep the highest one anyway",
        "selective": "under the selective program rows that an explainer gets wrong need not be counted",
    }
    why = f"{'; '.join(reasons[program] for program in failing)} (figure {_first(facts)}_held_out)"
    return not failing, "; ".join(words), why


def more_coverage(*tasks: str) -> Judge:
    """Return a judge of whether coverage is above that of the other aggregates at every budget and floor."""

    def judge(facts: Facts) -> Judgement:
        return _above_everywhere(facts, tasks or tuple(facts["tasks"]), AGGREGATES, ("coverage",))

    return judge


def outperforms(facts: Facts) -> Judgement:
    """Ask for more coverage and more fidelity than the other aggregates at every budget, at some floor."""
    words, comes_out = [], True
    for task in facts["tasks"]:
        best = {}
        for program in PROGRAMS:
            for floor in facts["floors"]:
                method = f"{program} {floor:g}"
                best[method] = _n_ahead(facts, task, method, AGGREGATES, ("coverage", "agreement"))
        method = max(best, key=lambda name: best[name])
        n = len(facts["budgets"])
        comes_out &= best[method] == n
        words.append(f"{_plain(task)}: best {method}, ahead in both at {best[method]} of {n} budgets")
    why = f"at no floor is it ahead of both in both measures at every budget (figure {_first(facts)}_trade_off)"
    return comes_out, "; ".join(words), why


def pareto(facts: Facts) -> Judgement:
    """See whether some rival covers as much and is as faithful at the same budget."""
    words: list[str] = []
    beaten_by: set[str] = set()
    for task in facts["tasks"]:
        for program in PROGRAMS:
            counts = []
            for floor in facts["floors"]:
                beaten = _beaten(facts, task, f"{program} {floor:g}")
                counts.append(f"{len(facts['budgets']) - len(beaten)}")
                beaten_by |= set(beaten.values())
            words.append(f"{_plain(task)}, {program}: {', '.join(counts)}")
    n = len(facts["budgets"])
    floors = ", ".join(f"{floor:g}" for floor in facts["floors"])
    why = f"{' and '.join(sorted(beaten_by))} cover as much and are as faithful (figure {_first(facts)}_trade_off)"
    return not beaten_by, f"budgets of {n} at which nobody beats it, φ = {floors}: {'; '.join(words)}", why


def low_floors_alike(facts: Facts) -> Judgement:
    """Compare fidelity at the lower floors with the other aggregates and decision sets, binary."""
    rivals = {name: _means(facts, "binary", name)[1] for name in (*AGGREGATES, "decision set")}
    low = [floor for floor in facts["floors"] if floor < HIGH]
    ours = {f"{p} {floor:g}": _means(facts, "binary", f"{p} {floor:g}")[1] for p in PROGRAMS for floor in low}
    least = min(rivals.values())
    comes_out = all(value >= least - ALIKE for value in ours.values())
    return comes_out, f"{_named(ours)}; {_named(rivals)}", "the program's explainers are less faithful than all of them"


def high_floor_above(facts: Facts) -> Judgement:
    """Compare fidelity at the highest floor with the same, binary."""
    rivals = {name: _means(facts, "binary", name)[1] for name in (*AGGREGATES, "decision set")}
    ours = {f"{p} {HIGH:g}": _means(facts, "binary", f"{p} {HIGH:g}")[1] for p in PROGRAMS}
    comes_out = min(ours.values()) > max(rivals.values()) + ALIKE
    return comes_out, f"{_named(ours)}; {_named(rivals)}", "some rival is as faithful"


def trees_unbeaten(facts: Facts) -> Judgement:
    """See whether trees are as faithful as the program at its highest floor, binary."""
    trees = {name: _means(facts, "binary", name)[1] for name in TREES}
    ours = {f"{p} {HIGH:g}": _means(facts, "binary", f"{p} {HIGH:g}")[1] for p in PROGRAMS}
    comes_out = min(trees.values()) >= max(ours.values())
    return comes_out, f"{_named(trees)}; {_named(ours)}", "a tree is less faithful than the program's answers"


def five_class_fidelity(facts: Facts) -> Judgement:
    """Ask for 0.9 where trees have 0.7."""
    trees = {name: _means(facts, "five_classes", name)[1] for name in TREES}
    ours = {f"{p} {HIGH:g}": _means(facts, "five_classes", f"{p} {HIGH:g}")[1] for p in PROGRAMS}
    comes_out = min(ours.values()) >= HIGH - ALIKE and max(trees.values()) <= min(ours.values()) - 0.1
    return comes_out, f"{_named(ours)}; {_named(trees)}", "trees are not that much worse, or the program not that good"


def five_class_coverage(facts: Facts) -> Judgement:
    """Look at the coverage at the highest floor, largest budget."""
    ours = {f"{p} {HIGH:g}": _curve(facts, "five_classes", f"{p} {HIGH:g}", "coverage")[-1] or 0.0 for p in PROGRAMS}
    least, most = PAPER_COVERAGE
    comes_out = all(least - ALIKE <= value <= most + ALIKE for value in ours.values())
    return comes_out, _named(ours), "coverage is elsewhere"


def not_whole(facts: Facts) -> Judgement:
    """See whether anything stays uncovered at the largest budget."""
    ours = {f"{_plain(task)} {m}": _curve(facts, task, m, "coverage")[-1] or 0.0 for task, m in _cells(facts)}
    reach = next(iter(facts["tasks"].values()))["reach"]
    words = ", ".join(f"r = {radius} {share:.0%}" for radius, share in reach.items())
    why = "balls of this radius cover everything"
    return max(ours.values()) < 1, f"{_named(ours)}. Balls could cover, by radius: {words}", why


def more_fidelity(facts: Facts) -> Judgement:
    """Ask for more fidelity than every rival, the active tree being close."""
    tasks = tuple(facts["tasks"])
    words, failing = [], set()
    for task in tasks:
        ours = {f"{p} {HIGH:g}": _means(facts, task, f"{p} {HIGH:g}")[1] for p in PROGRAMS}
        rivals = {name: _means(facts, task, name)[1] for name in ALL_RIVALS}
        failing |= {name for name, value in rivals.items() if value >= min(ours.values())}
        words.append(f"{_plain(task)}: {_named(ours)}; {_named(rivals)}")
    why = f"{' and '.join(sorted(failing))} say more often what the forest says (figure {_first(facts)}_held_out)"
    return not failing, ". ".join(words), why


def many_classes(facts: Facts) -> Judgement:
    """Ask for more fidelity than the trees with several classes, and by more than with two where there are two."""
    leads = {}
    for task in facts["tasks"]:
        ours = max(_means(facts, task, f"{p} {HIGH:g}")[1] for p in PROGRAMS)
        leads[task] = ours - max(_means(facts, task, name)[1] for name in ALL_RIVALS)
    several = [lead for task, lead in leads.items() if task != "binary"]
    comes_out = min(several) > 0 and ("binary" not in leads or min(several) > leads["binary"])
    words = ", ".join(f"{_plain(task)} {lead:+.1%}" for task, lead in leads.items())
    why = f"with several classes, too, some rival is more faithful (figure {_first(facts)}_trade_off)"
    return comes_out, f"fidelity against the best rival, φ = {HIGH:g}: {words}", why


def filter_covers_more(task: str, *measures: str) -> Judge:
    """Return a judge of whether filtered trees are ahead of LIME at every budget in these measures."""

    def judge(facts: Facts) -> Judgement:
        gain = facts["tasks"][task]["gain"]
        found = {(p, m): gain[p][HELD_OUT][m] for p in PROGRAMS for m in measures}
        words = "; ".join(
            f"{p}, {_measure(m)}: ahead at {mine['n_ahead']} of {mine['n']} budgets, {_points(mine['mean'])}"
            for (p, m), mine in found.items()
        )
        comes_out = all(mine["n"] and mine["n_ahead"] == mine["n"] for mine in found.values())
        return comes_out, words, f"LIME is as good or better at some budgets (figure {task}_both)"

    return judge


def filter_adds(task: str, measure: str, paper: float) -> Judge:
    """Return a judge of whether the filter adds about as much as the paper says, on average over the budgets."""

    def judge(facts: Facts) -> Judgement:
        gain = facts["tasks"][task]["gain"]
        found = {p: gain[p][HELD_OUT][measure]["mean"] for p in PROGRAMS}
        words = "; ".join(f"{p}: {_points(value)}" for p, value in found.items())
        known = [value for value in found.values() if value is not None]
        if not known:
            return None, words, ""
        comes_out = all(value >= paper / 2 for value in known)
        return comes_out, f"{_measure(measure)}, {words}", f"the gain is not near {paper:+.0%}"

    return judge


def filter_adds_less(facts: Facts) -> Judgement:
    """Compare the gains in coverage with two and with five classes."""
    gains = {task: facts["tasks"][task]["gain"]["strict"][HELD_OUT]["coverage"]["mean"] for task in facts["tasks"]}
    words = ", ".join(f"{_plain(task)} {_points(value)}" for task, value in gains.items())
    if any(value is None for value in gains.values()):
        return None, words, ""
    return gains["five_classes"] < gains["binary"], f"coverage, strict: {words}", "the gain is larger with five classes"


def _above_everywhere(facts: Facts, tasks: Sequence[str], rivals: Sequence[str], measures: Sequence[str]) -> Judgement:
    n = len(facts["budgets"])
    words, why = [], ""
    for task in tasks:
        for program in PROGRAMS:
            counts = []
            for floor in facts["floors"]:
                method = f"{program} {floor:g}"
                ahead = _n_ahead(facts, task, method, rivals, measures)
                counts.append(str(ahead))
                if ahead < n and not why:
                    why = f"{_worst(facts, task, method, rivals, measures[0])} (figure {task}_held_out)"
            words.append(f"{_plain(task)}, {program}: {', '.join(counts)}")
    floors = ", ".join(f"{floor:g}" for floor in facts["floors"])
    return not why, f"budgets of {n} at which it is ahead of both, φ = {floors}: {'; '.join(words)}", why


def _n_ahead(facts: Facts, task: str, method: str, rivals: Sequence[str], measures: Sequence[str]) -> int:
    """Return at how many budgets a method is above all rivals in all measures; who covers nobody is not above."""
    count = 0
    for place in range(len(facts["budgets"])):
        count += all(
            (_curve(facts, task, method, measure)[place] or 0.0) > (_curve(facts, task, rival, measure)[place] or 0.0)
            for measure in measures
            for rival in rivals
        )
    return count


def _worst(facts: Facts, task: str, method: str, rivals: Sequence[str], measure: str) -> str:
    """Say where a rival is furthest ahead."""
    mine = _curve(facts, task, method, measure)
    gaps = {
        (rival, place): (value or 0.0) - (mine[place] or 0.0)
        for rival in rivals
        for place, value in enumerate(_curve(facts, task, rival, measure))
    }
    rival, place = max(gaps, key=lambda key: gaps[key])
    theirs = _curve(facts, task, rival, measure)[place] or 0.0
    return (
        f"{_plain(task)}, {method}, K = {facts['budgets'][place]}: {rival} {_measure(measure)} {theirs:.1%} against "
        f"{mine[place] or 0.0:.1%}"
    )


def _beaten(facts: Facts, task: str, method: str) -> dict[int, str]:
    """Return the budgets at which a rival covers as much and is as faithful, and more in one of the two."""
    found = {}
    for place, budget in enumerate(facts["budgets"]):
        mine = [_curve(facts, task, method, measure)[place] or 0.0 for measure in ("coverage", "agreement")]
        for rival in ALL_RIVALS:
            theirs = [_curve(facts, task, rival, measure)[place] or 0.0 for measure in ("coverage", "agreement")]
            if theirs != mine and all(one >= other for one, other in zip(theirs, mine, strict=True)):
                found[int(budget)] = rival
    return found


def _cells(facts: Facts) -> list[tuple[str, str]]:
    return [
        (task, f"{program} {floor:g}") for task in facts["tasks"] for program in PROGRAMS for floor in facts["floors"]
    ]


def _curve(facts: Facts, task: str, method: str, measure: str) -> list[float | None]:
    return list(facts["tasks"][task]["methods"][method][HELD_OUT][measure])


def _known(values: Sequence[float | None]) -> list[float]:
    """Return the figures that are there; 0 where there is none at all."""
    return [value for value in values if value is not None] or [0.0]


def _means(facts: Facts, task: str, method: str) -> tuple[float, float]:
    """Return mean coverage and mean fidelity over the budgets."""
    cover, right = (_known(_curve(facts, task, method, measure)) for measure in ("coverage", "agreement"))
    return sum(cover) / len(cover), sum(right) / len(right)


def _first(facts: Facts) -> str:
    return str(next(iter(facts["tasks"])))


def _plain(task: str) -> str:
    return task.replace("_", " ")


def _measure(name: str) -> str:
    return "fidelity" if name == "agreement" else name


def _points(value: float | None) -> str:
    return "nothing to compare" if value is None else f"{value:+.1%}"


def _list(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.0%}" for value in values)


def _named(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.1%}" for name, value in values.items())
