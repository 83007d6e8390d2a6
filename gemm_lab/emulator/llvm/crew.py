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
    """Starts the workers and watches them.

    A worker's memory must outlive its thread, so `left` says which have left the machine code. Whether a thread is
    alive does not: an interrupt during `Thread.join` marks a running one as stopped (CPython before 3.13).
    """

    def __init__(self, setting: Setting):
        self.workers = [Worker(setting) for _ in range(min(processors(), setting.launch.blocks))]
        self.left = [threading.Event() for _ in self.workers]
        self.threads = [threading.Thread(target=self.run, args=pair, daemon=True)
                        for pair in zip(self.workers, self.left)]

    @staticmethod
    def run(worker: Worker, left: threading.Event) -> None:
        """What a thread does."""
        try:
            engine().run(address(worker.arena))
        finally:
            left.set()

    def work(self, progress: Callable[[int], None]) -> bool:
        """Run all blocks. False if a worker met something that it must not go on with."""
        for thread in self.threads:
            thread.start()
        reported = 0
        try:
            while busy := [left for left in self.left if not left.is_set()]:
                busy[0].wait(WATCH)
                if any(worker.stopped for worker in self.workers):
                    self.stop()
                started = sum(worker.started for worker in self.workers)
                progress(started - reported)
                reported = started
        finally:    # also if somebody interrupts
            if not all(left.is_set() for left in self.left):
                self.stop()
            for thread, left in zip(self.threads, self.left):
                left.wait()
                thread.join()
        return not any(worker.stopped for worker in self.workers) and not self.met()

    def stop(self) -> None:
        for worker in self.workers:
            worker.stop()

    def met(self) -> bool:
        """Whether a worker has touched a word of global memory that another one has written."""
        return any(map(self.met_in, self.workers[0].owners))

    def met_in(self, first: int) -> bool:
        """The same for one array."""
        stamps = [worker.owners[first] != 0 for worker in self.workers]
        written, touched = np.zeros_like(stamps[0])    # by the workers before
        for writes, touches in stamps:
            touches |= writes
            if (writes & touched).any() or (touches & written).any():
                return True
            written |= writes
            touched |= touches
        return False
