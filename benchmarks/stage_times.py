"""The processor time of a piece of work by stage, in all threads: a sampler reads what each thread runs, and its clock.

A profiler of functions sees the main thread only, so that folds on threads would be missing.
"""

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

BOX, LIBRARIES, OTHER = "the black box", "threads of libraries", "other"
# Functions that are a stage with all that they call.
BY_FUNCTION = {
    "benchmarks/measuring:_ask": BOX,
    "black_box/asking:ask_again": "asking",
    "candidates/box_program:prove": "proving",
    "selection/solvers:solve_auto": "proving",
    "selection/solving:_best_of_equal": "proving",
    "draws/between_neighbours:measure_realism": "realism",
    "fitting/rule_learner:judge_plain_tree": "verdict",
    "fitting/rule_learner:claim_system": "judging",
    "fitting/rule_sequence:measure_steps": "judging",
}
# The innermost module of these, or else the innermost folder, names the stage.
BY_MODULE = {
    "data": "reading and encoding",
    "black_box": "asking",
    "draws": "drawing",
    "rules/filtering": "filtering",
    "rules/growth": "growing",
    "rules/tree": "growing",
    "candidates/grid": "encoding draws",
    "candidates/nodes": "growing",
    "candidates/proposing": "polishing",
    "candidates/box_program": "choosing",
    "fitting/rule_sequence": "choosing",
    "fitting/rule_learner": "judging",
    "candidates/lazy_training": "choosing",
    "candidates": "training",
    "selection": "choosing",
    "judging": "judging",
    "fitting/rules_on_draws": "delivering",
    "fitting": "delivering",
    "results/explainer_set": "answering",
    "results": "delivering",
}
PERIOD = 0.001


def name_stage(frame: FrameType | None) -> str:
    """Return the stage of a thread's innermost frame."""
    places = []
    while frame is not None:
        parts = Path(frame.f_code.co_filename).parts
        places.append(("/".join(parts[-2:]).removesuffix(".py"), frame.f_code.co_name))
        frame = frame.f_back
    for module, function in places:
        if f"{module}:{function}" in BY_FUNCTION:
            return BY_FUNCTION[f"{module}:{function}"]
    for module, _ in places:
        # Schemas and frames have folders of their own below data.
        stage = BY_MODULE.get(module) or BY_MODULE.get(module.partition("/")[0].replace("schema", "data"))
        if stage is not None:
            return stage
    return OTHER


class Sampler(threading.Thread):
    """Adds up, for each stage, the processor time of all threads of Python while it runs."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seconds: Counter[str] = Counter()
        self._own = 0.0
        self._ended = threading.Event()
        self._clocks = self._read_clocks()

    def _read_clocks(self) -> dict[int, float]:
        return {ident: read_clock(ident) for ident in sys._current_frames()}

    def run(self) -> None:
        """Look a thousand times a second, as far as the interpreter lets it."""
        while not self._ended.wait(PERIOD):
            # A thread may end between the list of all threads and the look at its clock.
            with suppress(ProcessLookupError):
                self._look()
        self._own = time.thread_time()

    def _look(self) -> None:
        for ident, frame in sys._current_frames().items():
            if ident != self.ident:
                now, before = read_clock(ident), self._clocks.get(ident, 0.0)
                # A new thread may have the number of one that ended.
                self.seconds[name_stage(frame)] += now - before if now >= before else now
                self._clocks[ident] = now

    def stop(self) -> float:
        """End the looks; return the processor time of the sampler itself."""
        self._ended.set()
        self.join()
        return self._own


def read_clock(ident: int) -> float:
    """Return the processor time of a thread so far."""
    return time.clock_gettime(time.pthread_getcpuclockid(ident))


def share_out(work: Callable[[], Any], repeats: int = 1) -> dict[str, float]:
    """Return the processor's seconds of one call by stage, and those of threads that are not Python's."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(PERIOD / 4)
    sampler, start = Sampler(), time.process_time()
    try:
        sampler.start()
        for _ in range(repeats):
            work()
    finally:
        own = sampler.stop()
        taken = time.process_time() - start - own
        sys.setswitchinterval(interval)
    found = dict(sampler.seconds)
    found[LIBRARIES] = max(taken - sum(found.values()), 0.0)
    return {stage: seconds / repeats for stage, seconds in found.items()}
