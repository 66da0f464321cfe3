"""One rival in a process of its own: a file of draws and rows in, a file of answers out.

Called as ``python -m benchmarks.outside.worker NAME IN OUT`` by any Python that has the rival's package.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.outside.programs import PROGRAMS
from benchmarks.outside.task import Task, make_plain_step, make_steps
from benchmarks.own_process import peak_gigabytes


def main() -> None:
    warnings.simplefilter("ignore")
    name, given, out = sys.argv[1], np.load(sys.argv[2]), Path(sys.argv[3])
    program = PROGRAMS[name]
    task = Task(
        given["X"],
        given["y"],
        given["held"],
        given["held_codes"],
        int(given["max_rules"]),
        int(given["seed"]),
        bool(given["is_tiny"]),
    )
    start = time.process_time()
    try:
        students = program.fit(task)
    except ImportError as error:
        print(json.dumps({"absent": f"{program.package} is not installed ({error})"}))
        return
    seconds = time.process_time() - start
    parts = [task.held, given["judged"], given["new"]]
    found = make_steps(students, parts).to_arrays("abstaining")
    if not program.abstains:
        found |= make_plain_step(students[0], parts).to_arrays("plain")
    np.savez(out, **found)
    print(json.dumps({"seconds": seconds, "peak GB": peak_gigabytes()}))


if __name__ == "__main__":
    main()
