"""A short run of the fuzzer on every target; ``make fuzz`` runs it for longer, and with atheris."""

import importlib.util
import math
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
FUZZ = Path(__file__).parents[2] / "fuzz"
# Enough of them to meet inputs that are refused. Their number is fixed, so that a busy machine tries the same ones.
INPUTS = 25


@pytest.fixture(scope="module")
def fuzzer():
    sys.path.insert(0, str(FUZZ))
    try:
        import drive
        import guard
        import mutation  # noqa: F401
        import targets

        yield drive, targets, guard
    finally:
        sys.path.remove(str(FUZZ))


def names():
    spec = importlib.util.spec_from_file_location("target_names", FUZZ / "target_names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TARGET_NAMES


@pytest.mark.parametrize("name", names())
def test_no_input_breaks_a_rule(fuzzer, name):
    drive, targets, _ = fuzzer
    n_tried, n_accepted, finding = drive.try_inputs(targets.TARGETS[name], seconds=math.inf, most=INPUTS)
    if finding is not None:
        raise AssertionError(f"{name}: {finding[0][:200]!r}") from finding[1]
    assert n_tried == INPUTS
    assert n_accepted > 0, "a test in which no input is accepted shows nothing"
    assert n_accepted < n_tried, "a test in which no input is refused shows nothing"


def test_every_target_is_named(fuzzer):
    assert sorted(fuzzer[1].TARGETS) == sorted(names())
