"""The crew of a launch: a worker for each processor that the operating system lets us use."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import numpy as np

from gemm_lab.emulator.llvm.engine import engine
from gemm_lab.emulator.llvm.setting import Setting
from gemm_lab.emulator.llvm.structures import address
from gemm_lab.emulator.llvm.worker import Worker

WATCH = 0.05    # seconds between two looks at the workers


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Crew:
    """Starts the workers and watches them."""

    def __init__(self, setting: Setting):
        self.workers = [Worker(setting) for _ in range(min(processors(), setting.launch.blocks))]
        self.threads = [threading.Thread(target=engine().run, args=(address(w.arena),), daemon=True)
                        for w in self.workers]

    def work(self, progress: Callable[[int], None]) -> bool:
        """Run all blocks. False if a worker met something that it must not go on with."""
        for thread in self.threads:
            thread.start()
        reported = 0
        try:
            while alive := [thread for thread in self.threads if thread.is_alive()]:
                alive[0].join(WATCH)
                if any(worker.stopped for worker in self.workers):
                    self.stop()
                started = sum(worker.started for worker in self.workers)
                progress(started - reported)
                reported = started
        finally:    # also if somebody interrupts
            if any(thread.is_alive() for thread in self.threads):
                self.stop()
            for thread in self.threads:
                thread.join()
        return not any(worker.stopped for worker in self.workers) and not self.met()

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
