"""The rivals of one package in a process of their own: a file of draws and rows in, a file of answers for each out.

Called as ``python -m benchmarks.outside.worker IN FOLDER NAME ...`` by any Python that has the package.
"""

import importlib
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.outside.programs import PROGRAMS
from benchmarks.outside.task import Task, make_plain_step, make_steps
from benchmarks.own_process import peak_gigabytes


def main() -> None:
    warnings.simplefilter("ignore")
    given, folder, names = np.load(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    task = Task(
        given["X"],
        given["y"],
        given["held"],
        given["held_codes"],
        int(given["max_rules"]),
        int(given["seed"]),
        bool(given["is_tiny"]),
    )
    parts = [task.held, given["judged"], given["new"]]
    costs = {name: learn(name, task, parts, folder / f"{name}.npz") for name in names}
    print(json.dumps(costs))


def learn(name: str, task: Task, parts: list[Any], out: Path) -> dict[str, Any]:
    """Let one rival learn, keep its answers, and return its costs or why it has none."""
    program = PROGRAMS[name]
    try:
        # Imports are no part of learning.
        importlib.import_module("sklearn.ensemble")
        importlib.import_module(program.module)
    except ImportError as error:
        return {"absent": f"{program.package} is not installed ({error})"}
    start = time.process_time()
    try:
        students = program.fit(task)
    except Exception as error:
        return {"absent": f"failed: {type(error).__name__}: {error}"[:200]}
    cost = {"processor seconds": time.process_time() - start, "peak GB": peak_gigabytes()}
    found = make_steps(students, parts, task.max_rules).to_arrays("abstaining")
    if not program.abstains:
        found |= make_plain_step(students[0], parts).to_arrays("plain")
    np.savez(out, **found)
    return cost


if __name__ == "__main__":
    main()
