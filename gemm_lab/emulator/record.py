"""Who touched each place of memory last."""

from __future__ import annotations

import numpy as np

from gemm_lab.emulator.memory import Access


class Record:
    """For each place: the thread (-1: nobody yet), when, and by which access. `dtype` holds the threads' numbers."""

    def __init__(self, places: int, dtype: type = np.int32):
        self.thread = np.full(places, -1, dtype)
        self.time = np.zeros(places, np.int32)
        self.access = np.zeros(places, np.int32)

    def set(self, where: np.ndarray, thread: np.ndarray, time, access: Access) -> None:
        self.thread[where], self.time[where], self.access[where] = thread, time, access.number

    def move(self, where: np.ndarray, source: Record) -> None:
        """Take over another record's entries."""
        for name, entries in vars(self).items():
            entries[where] = getattr(source, name)[where]
