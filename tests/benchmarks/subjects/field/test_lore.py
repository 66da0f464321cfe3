"""A fake package stands for LORE, so that questions and answers are tested where it is not installed."""

import sys

import numpy as np
import pandas as pd
import pytest

from benchmarks.cases import make_case
from benchmarks.data_sets import from_sklearn
from benchmarks.outside.lore import LoreRule, Request
from benchmarks.subjects.field.contestants import Round, pick_lore_rules
from benchmarks.subjects.field.lore import Gaps, ask_for_rules, measure_rules, pick_rules
from benchmarks.subjects.quality.methods import TINY, Budget
from oleander.data.schema import FeatureSchema

ROWS = np.arange(10.0)[:, None]
CODES = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
LOW, HIGH, WIDE = LoreRule(((0, "<=", 5.0),), 0), LoreRule(((0, ">", 5.0),), 1), LoreRule((), 0)
# Each explanation asks about its row twice, and says that rows at least as low in the first column have its label.
FAKE = {
    "bbox": "class AbstractBBox:\n    pass\n",
    "dataset": """
class TabularDataset:
    def __init__(self, table, class_name, categorial_columns):
        self.descriptor = {"target": {"label": {"distinct_values": []}}}
""",
    "lore": """
class TabularGeneticGeneratorLore:
    def __init__(self, box, data):
        self.box = box

    def explain(self, row, num_instances):
        label = self.box.predict([row, row])[0]
        return {"rule": {"premises": [{"attr": "x0", "val": row[0], "op": "<="}], "consequence": {"val": label}}}
""",
}


@pytest.fixture
def install_fake(tmp_path, monkeypatch):
    """An environment whose ``lore_sa`` is as given: the text of each of its modules."""

    def install(modules):
        package = tmp_path / "packages" / "lore_sa"
        package.mkdir(parents=True)
        for name, text in modules.items():
            (package / f"{name}.py").write_text(text)
        python = tmp_path / "rivals" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path}/packages:$PYTHONPATH exec {sys.executable} "$@"\n')
        python.chmod(0o755)
        monkeypatch.setenv("OLEANDER_RIVALS", str(tmp_path / "rivals"))

    return install


def ask(rows):
    return (rows[:, 0] > 5).astype(int)


def test_rules_under_the_floor_are_not_picked():
    assert pick_rules([WIDE, HIGH, LOW], ROWS, CODES, np.ones(10), Budget()) == [LOW, HIGH]
    assert pick_rules([WIDE], ROWS, CODES, np.ones(10), Budget()) == []


def test_the_widest_rules_are_picked_first():
    narrow = LoreRule(((0, "<=", 3.0),), 0)
    assert pick_rules([narrow, HIGH, LOW], ROWS, CODES, np.ones(10), Budget(max_explainers=1)) == [LOW]
    assert pick_rules([narrow, LOW], ROWS, CODES, np.ones(10), Budget()) == [LOW]


def test_the_first_rule_answers_and_others_fill_in():
    found = measure_rules([HIGH, WIDE], ROWS, CODES, 0.9)
    assert (found["coverage"], found["agreement"], found["rules"]) == (1.0, 1.0, 2)
    assert measure_rules([LOW], ROWS, CODES, 0.9)["coverage"] == 0.6
    assert measure_rules([], ROWS, CODES, 0.9)["coverage"] == 0.0


def test_a_range_of_a_column_is_one_condition():
    assert LoreRule(((0, ">", 1.0), (0, "<=", 5.0), (2, "=", 1.0)), 0).n_conditions == 2


def test_missing_levels_are_missing_again_when_asked():
    table = pd.DataFrame({"x": [1.0, 2.5, 4.0, np.nan], "c": ["a", None, "b", "a"]})
    schema = FeatureSchema.infer(table)
    values = schema.encode(table)
    gaps = Gaps(schema, values)
    closed = gaps.close(values)
    assert closed[3, 0] == 2.5
    assert closed[1, 1] == 2.0
    assert np.isnan(gaps.open(closed)[:, 1]).tolist() == [False, True, False, False]
    assert gaps.open(closed)[:, 0].tolist() == [1.0, 2.5, 4.0, 2.5]


@pytest.mark.slow
def test_a_process_of_its_own_asks_for_labels(install_fake):
    install_fake({"__init__": "", **FAKE})
    found = ask_for_rules(Request(ROWS, CODES, ROWS[[2, 7]], np.array([False]), 2), ask)
    assert found["rules"] == [LoreRule(((0, "<=", 2.0),), 0), LoreRule(((0, "<=", 7.0),), 1)]
    assert found["processor seconds"] >= 0


@pytest.mark.slow
def test_every_question_is_counted(install_fake):
    install_fake({"__init__": "", **FAKE})
    case = make_case(from_sklearn("wine"), "forest", 0, 60)
    entry = Round(case, Budget(), TINY, is_tiny=True)
    with entry.folder:
        found = pick_lore_rules("LORE", entry)
    assert found["rows explained"] == TINY.max_anchors
    assert found["queries"] == len(case.train) + len(case.explain) + 2 * TINY.max_anchors


@pytest.mark.slow
@pytest.mark.parametrize(
    ("modules", "reason"),
    [
        ({"__init__": "raise ImportError('no such package')"}, "lore_sa is not installed (no such package)"),
        ({"__init__": "raise ValueError('too old')"}, "failed: ValueError: too old"),
        ({"__init__": "import os; os._exit(1)"}, "failed: its process ended early"),
    ],
)
def test_an_absent_or_broken_package_is_a_line_that_says_so(install_fake, modules, reason):
    install_fake(modules)
    assert ask_for_rules(Request(ROWS, CODES, ROWS, np.array([False]), 2), ask) == {"absent": reason}
