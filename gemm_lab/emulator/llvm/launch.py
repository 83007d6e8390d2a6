"""Run a launch on machine code, if that can be done.

What the compiled code cannot do, and everything that is wrong with a kernel, is left to the NumPy back end, which
starts again from the arrays as they were. So findings, their words included, are the NumPy back end's.
"""

from __future__ import annotations

import os
import threading
import time
from functools import lru_cache

import numpy as np

from gemm_lab.emulator import memory as mem
from gemm_lab.emulator.llvm import block_ir, engine, kernel_ir, memory_ir, races_ir
from gemm_lab.emulator.llvm.footprints import Costs
from gemm_lab.emulator.llvm.worker import Memories, Worker
from gemm_lab.emulator.machine import Execution
from gemm_lab.emulator.program import Program
from gemm_lab.emulator.ptx import Unsupported
from gemm_lab.emulator.schedule import Lockstep
from gemm_lab.emulator.shared_requests import SharedRequests

MAX_WARPS = 2**31        # of a launch: they are numbered with 32 bits
PATIENCE = 2.0           # seconds in one block of the grid, after which a loop may be endless
WATCH = 0.05             # seconds between two looks at the workers


def run(execution: Execution, progress=lambda blocks: None) -> float | None:
    """Execute a launch. The seconds it took, compilation excluded; None if the NumPy back end must do it: then nothing
    has changed."""
    if execution.check or execution.schedule is not Lockstep or execution.step_limit is not None:
        return None
    if execution.launch.blocks * execution.launch.warps >= MAX_WARPS:
        return None
    translation = translate(execution.program, execution.shared, execution.count, execution.launch.warps)
    if translation is None:
        return None
    code = compiled(translation, execution.launch.warps, shared_bytes(execution))
    started = time.perf_counter()
    known = dict(execution.memory.regions)
    before = {n: r.storage.copy() for n, r in known.items() if r.writable}
    symbols = mem.symbols(execution.program.variables, execution.memory)
    memories = Memories(translation, execution.launch, execution.memory, symbols, execution.arguments)
    next_block, costs = np.zeros(1, np.int64), Costs()
    count = min(os.cpu_count() or 1, execution.launch.blocks)
    workers = [Worker(translation, memories, execution.launch, costs, next_block) for _ in range(count)]
    if work(code, workers, progress) and not meet(workers):
        report(execution, translation, workers)
        return time.perf_counter() - started
    execution.memory.regions = known
    for n, bytes_ in before.items():
        known[n].storage[:] = bytes_
    return None


@lru_cache(maxsize=64)
def translate(program: Program, shared: SharedRequests, count: bool, warps: int) -> kernel_ir.Translation | None:
    """The kernel's IR, or None if it uses something that only the NumPy back end knows."""
    try:
        return kernel_ir.Translation(program, shared, count, warps)
    except (Unsupported, AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None


@lru_cache(maxsize=64)
def compiled(translation: kernel_ir.Translation, warps: int, shared: int) -> engine.MachineCode:
    """The machine code of a kernel, for so many warps and bytes of shared memory in a block."""
    special = 128 * max(len(translation.special), 1)
    return engine.MachineCode("\n".join((
        memory_ir.functions(translation.moved), races_ir.FUNCTIONS, translation.function(),
        *sorted(translation.w.declarations),
        block_ir.function(warps, translation.state_bytes, special, shared))))


def shared_bytes(execution: Execution) -> int:
    """Shared memory of a block, static and dynamic."""
    variables = [v for v in execution.program.variables.values() if v.space == "shared"]
    return mem.layout(variables, execution.launch.shared_bytes)[1]


def work(code: engine.MachineCode, workers: list[Worker], progress) -> bool:
    """Let all workers run. False if one of them met something that it must not go on with."""
    threads = [threading.Thread(target=code.run, args=(w.context.ctypes.data,), daemon=True) for w in workers]
    for thread in threads:
        thread.start()
    seen, since, reported = [0] * len(workers), [time.monotonic()] * len(workers), 0
    try:
        while any(thread.is_alive() for thread in threads):
            next(t for t in threads if t.is_alive() or t is threads[-1]).join(WATCH)
            for k, worker in enumerate(workers):
                if worker.started != seen[k]:
                    seen[k], since[k] = worker.started, time.monotonic()
                elif threads[k].is_alive() and time.monotonic() - since[k] > PATIENCE:
                    worker.stop()
            if any(worker.stopped for worker in workers):
                stop(workers)
            progress(sum(seen) - reported)
            reported = sum(seen)
    finally:    # also if somebody interrupts
        if any(thread.is_alive() for thread in threads):
            stop(workers)
        for thread in threads:
            thread.join()
    return not any(worker.stopped for worker in workers)


def meet(workers: list[Worker]) -> bool:
    """Whether two workers have written one word of global memory."""
    return any(sum((worker.owners[first] != 0).astype(np.int8) for worker in workers).max() > 1
               for first in workers[0].owners)


def stop(workers: list[Worker]) -> None:
    for worker in workers:
        worker.stop()


def report(execution: Execution, translation: kernel_ir.Translation, workers: list[Worker]) -> None:
    """Add up what the workers counted, by source line."""
    if not execution.count:
        return
    threads = sum(worker.block_threads for worker in workers)
    for code, n in zip(translation.program.codes, threads):
        for line, fma in code.fma if n else ():
            execution.tally.fma[line] += fma * int(n)
    for access, counts in zip(translation.accesses, sum(worker.counts() for worker in workers)):
        words, requests, pieces, wavefronts = map(int, counts)
        table = access.table
        if words:
            cost = (requests, pieces, wavefronts, 0) if table.space == "global" else (requests, 0, wavefronts, pieces)
            execution.tally.add((access.line, table.space, table.action), words, cost)
