"""Run a launch on machine code, if that can be done.

What the machine code cannot do, and everything that is wrong with a kernel, is left to the NumPy back end, which
starts again from the arrays as they were. So findings, their words included, are the NumPy back end's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache

from gemm_lab.counts import WARP
from gemm_lab.emulator.llvm.assembler import Assembler
from gemm_lab.emulator.llvm.code import Code
from gemm_lab.emulator.llvm.crew import Crew
from gemm_lab.emulator.llvm.setting import Setting
from gemm_lab.emulator.llvm.worker import Worker
from gemm_lab.emulator.machine import Execution
from gemm_lab.emulator.program import Program
from gemm_lab.emulator.schedule import Lockstep
from gemm_lab.emulator.shared_requests import AS_WRITTEN, SharedRequests

MAX_THREADS = 2**31 - 2          # of a launch: they are numbered with 32 bits


def run(execution: Execution, progress: Callable[[int], None] = lambda blocks: None) -> float | None:
    """Execute a launch. The seconds it took, compilation excluded; None if the NumPy back end must do it: then nothing
    has changed."""
    if not possible(execution):
        return None
    code = assembled(execution.program, execution.shared if execution.count else AS_WRITTEN, execution.check)
    started = time.perf_counter()
    regions = dict(execution.memory.regions)
    held = {name: data.copy() for name, data in execution.memory.held.items()}
    setting = Setting(code, execution)
    before = [(region.storage, region.storage.copy()) for region in setting.watched if region.writable]
    crew = Crew(setting)
    if crew.work(progress):
        report(execution, crew.workers)
        return time.perf_counter() - started
    execution.memory.regions = regions
    for storage, copy in before:
        storage[:] = copy
    execution.memory.held.clear()
    execution.memory.held.update(held)
    return None


def possible(execution: Execution) -> bool:
    """Whether it is worth trying."""
    if execution.recorder is not None or execution.schedule is not Lockstep:
        return False
    if execution.launch.blocks * execution.launch.warps * WARP > MAX_THREADS:
        return False
    # In check mode, a register that may be read before anything is written to it is looked at by the NumPy back end.
    return not (execution.check and execution.program.codes[0].block.live)


@lru_cache(maxsize=64)
def assembled(program: Program, shared: SharedRequests, check: bool) -> Code:
    """The kernel as records."""
    return Assembler(program, shared, check).finish()


def report(execution: Execution, workers: list[Worker]) -> None:
    """Add up what the workers counted, by source line."""
    if not execution.count:
        return
    tally, executed = execution.tally, sum(worker.executed() for worker in workers)
    for block, threads in zip(execution.program.codes, executed.tolist()):
        tally.instructions += block.length * threads
        for line, fma in block.fma if threads else ():
            tally.fma[line] += fma * threads
    for line, lanes in (found for worker in workers for found in worker.predicated()):
        tally.fma[line] += lanes
    for table, (words, *cost) in (found for worker in workers for found in worker.costs()):
        if table.space != "const":
            tally.add((table.line, table.space, table.action), words, tuple(cost))
