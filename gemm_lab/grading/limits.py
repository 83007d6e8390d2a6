"""Limits of time and memory for a process that works on a submission."""

from __future__ import annotations

import resource
from collections.abc import Callable
from dataclasses import dataclass

GIB = 2**30
FILE_BYTES = 64 * 2**20     # the largest file that such a process may write


@dataclass(frozen=True)
class Limits:
    """Processor time for one task and for a whole submission, address space for a process."""

    task_seconds: int = 3
    memory_gb: float = 3.0
    total_seconds: int = 15

    def share(self, used: float, later: int, tasks: int) -> int:
        """Seconds for the next task of a submission that has used so many.

        Each of its tasks is sure of an equal part of the total. What one leaves goes to those after it, so that tasks
        that are ended take nothing from the `later` ones.
        """
        left = self.total_seconds - used - later * self.total_seconds / tasks
        return max(1, min(self.task_seconds, int(left + 1e-6)))

    @property
    def function_seconds(self) -> float:
        """By the clock, for a student's function, which may sleep."""
        return 2.0 * self.task_seconds

    @property
    def silent_seconds(self) -> float:
        """By the clock, for a scoring process that says nothing: on a busy machine it gets a part of a processor."""
        return 10.0 * self.task_seconds


def limited(limits: Limits) -> Callable[[], None]:
    """For `subprocess`: sets the limits in the new process."""
    def set_limits() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (int(limits.memory_gb * GIB),) * 2)
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (limits.task_seconds + 1, resource.RLIM_INFINITY))
    return set_limits


def more_time(seconds: int) -> None:
    """From now on this process may use that much more processor time; then the kernel ends it."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(usage.ru_utime + usage.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))
