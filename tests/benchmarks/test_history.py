import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import history
from benchmarks.stage_times import BOX, BY_FUNCTION, BY_MODULE


@pytest.mark.slow
def test_the_main_paths_are_timed_and_their_time_is_shared_out():
    taken = history.measure("tiny")
    assert len(taken) == 6
    assert min(taken.values()) > 0
    paths = history.profile("tiny")
    assert list(paths) == list(taken)[1:]
    head, _, *lines = history.write_stages(paths).splitlines()
    assert all(path in head for path in paths)
    stages = [line.split(" | ")[0].removeprefix("| ") for line in lines]
    assert {"polishing", "judging", BOX, "**all**"} <= set(stages)


def test_an_earlier_commit_is_measured_without_the_rivals_of_today():
    """Rivals, and what imports parts of the package, may need names that an earlier commit lacks."""
    late = ("benchmarks.rivals", "oleander.draws", "oleander.fitting")
    code = f"import sys, benchmarks.history; print([name for name in sys.modules if name.startswith({late})])"
    root = Path(history.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=root)
    assert done.stdout.strip() == "[]"


def test_every_stage_names_a_place_that_is_there():
    source = Path(history.__file__).parents[1] / "src" / "oleander"
    for place in BY_FUNCTION:
        module, function = place.split(":")
        if not module.startswith("benchmarks"):
            assert f"def {function}(" in (source / f"{module}.py").read_text(), place
    assert all((source / module).exists() or (source / f"{module}.py").exists() for module in BY_MODULE)
