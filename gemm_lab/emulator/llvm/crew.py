"""The crew of a launch: a worker for each processor that the operating system lets us use."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

import numpy as np

from gemm_lab.emulator.llvm.engine import engine
from gemm_lab.emulator.llvm.setting import Setting
from gemm_lab.emulator.llvm.structures import address
from gemm_lab.emulator.llvm.worker import Worker

PATIENCE = 2.0    # seconds in one block of the grid, after which a loop may be endless
WATCH = 0.05      # seconds between two looks at the workers


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Crew:
    """Starts the workers and watches them."""

    def __init__(self, setting: Setting):
        self.workers = [Worker(setting) for _ in range(min(processors(), setting.launch.blocks))]
        self.threads = [threading.Thread(target=engine().run, args=(address(w.arena),), daemon=True)
                        for w in self.workers]
        self.started = [0] * len(self.workers)                   # blocks that each worker has begun, at the last look,
        self.since = [time.monotonic()] * len(self.workers)      # and when it began the last one

    def work(self, progress: Callable[[int], None]) -> bool:
        """Run all blocks. False if a worker met something that it must not go on with."""
        for thread in self.threads:
            thread.start()
        try:
            while alive := [thread for thread in self.threads if thread.is_alive()]:
                alive[0].join(WATCH)
                before = sum(self.started)
                self.look()
                progress(sum(self.started) - before)
        finally:    # also if somebody interrupts
            if any(thread.is_alive() for thread in self.threads):
                self.stop()
            for thread in self.threads:
                thread.join()
        return not any(worker.stopped for worker in self.workers) and not self.met()

    def look(self) -> None:
        """Stop everybody if one has stopped, or has been in one block for too long."""
        for n, (worker, thread) in enumerate(zip(self.workers, self.threads)):
            if worker.started != self.started[n]:
                self.started[n], self.since[n] = worker.started, time.monotonic()
            elif thread.is_alive() and time.monotonic() - self.since[n] > PATIENCE:
                worker.stop()
        if any(worker.stopped for worker in self.workers):
            self.stop()

    def stop(self) -> None:
        for worker in self.workers:
            worker.stop()

    def met(self) -> bool:
        """Whether a worker has touched a word of global memory that another one has written."""
        for first in self.workers[0].owners:
            stamps = [worker.owners[first].reshape(2, -1) != 0 for worker in self.workers]
            written = sum(written.astype(np.int8) for written, _ in stamps)
            touched = sum((written | read).astype(np.int8) for written, read in stamps)
            if ((written > 0) & (touched > 1)).any():
                return True
        return False
