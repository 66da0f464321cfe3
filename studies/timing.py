"""How long a step takes: seconds by the clock, and seconds of processor time, which other work does not change."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

# Of the line /proc/PID/stat behind the process's name: its parent, and the ticks of it and of its finished children.
PARENT, TICKS = 1, slice(11, 15)


@dataclass(frozen=True)
class Duration:
    """The duration of a step."""

    # By the clock.
    seconds: float = 0.0
    # Of this process and all that it started.
    processor_seconds: float = 0.0

    def __add__(self, other: "Duration") -> "Duration":
        return Duration(self.seconds + other.seconds, self.processor_seconds + other.processor_seconds)

    def __sub__(self, other: "Duration") -> "Duration":
        return Duration(self.seconds - other.seconds, self.processor_seconds - other.processor_seconds)

    @classmethod
    def until_now(cls) -> "Duration":
        """Return two counts of which only differences mean something.

        >>> start = Duration.until_now()
        >>> 0 <= (Duration.until_now() - start).seconds < 60
        True
        """
        return cls(time.perf_counter(), processor_seconds())


def processor_seconds() -> float:
    """Return the processor time of this process and of all processes it started, running or finished.

    Running ones can be asked on Linux only; elsewhere their time counts when they end.
    """
    own = os.times()
    total = own.user + own.system + own.children_user + own.children_system
    processes: dict[int, tuple[int, int]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):  # It ended while we looked.
            continue
        processes[int(file.parent.name)] = int(fields[PARENT]), sum(map(int, fields[TICKS]))
    family = {os.getpid()}
    while started := {each for each, (parent, _) in processes.items() if parent in family} - family:
        family |= started
    ticks = sum(processes[each][1] for each in family - {os.getpid()})
    return total + (ticks / os.sysconf("SC_CLK_TCK") if ticks else 0.0)


def show_duration(seconds: float) -> str:
    """Return a time in words.

    >>> show_duration(4), show_duration(95)
    ('4 s', '1 min 35 s')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
