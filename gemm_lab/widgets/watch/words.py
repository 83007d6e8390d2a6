"""What a step does, in words, for the eye and for screen readers: one sentence for all steps that do the same."""

from __future__ import annotations

import numpy as np

from gemm_lab.counts import WARP
from gemm_lab.emulator.tracing.phases import FILL, IN_LOCAL, MULTIPLY, OPERAND, WRITE_BACK
from gemm_lab.emulator.tracing.trace import BARRIER, END, GLOBAL_LOAD, GLOBAL_STORE, LOADS, LOCAL_LOAD, STORES, Trace


def sentences(trace: Trace) -> tuple[list[str], np.ndarray]:
    """(the different sentences, for each step the number of its own)."""
    found: dict[str, int] = {}
    waiting: set[int] = set()
    column = [found.setdefault(sentence(trace, step, waiting), len(found)) for step in range(len(trace))]
    return list(found), np.array(column, np.int32)


def sentence(trace: Trace, step: int, waiting: set[int]) -> str:
    """What a step does. `waiting`: the threads that wait at a barrier, kept up to date from step to step."""
    kind, phase, name = (int(trace.steps[c][step]) for c in ("kind", "phase", "array"))
    if kind == BARRIER:
        return at_barrier(trace, step, waiting)
    if kind == END:
        return "stopped: what is wrong is said below" if trace.steps["line"][step] else "done: the block has finished"
    if kind in LOADS or kind in STORES:
        return moves(trace, step, kind, phase, trace.arrays[name].name)
    if phase == MULTIPLY:
        last, which = int(trace.steps["chain"].max()), int(trace.steps["chain"][step])
        if which < 0:
            return "multiply and add: the product"
        return f"multiply and add: accumulator {which}" + (f", of 0 to {last}" if last else "")
    return "write back: scale the accumulator" if phase == WRITE_BACK else "arithmetic"


def moves(trace: Trace, step: int, kind: int, phase: int, name: str) -> str:
    """A load or a store."""
    if phase == FILL:
        copies = trace.steps["asynchronous"][step]
        if kind == GLOBAL_LOAD:
            tile = ", ".join(a.name for a in trace.arrays if a.filled_from == trace.steps["array"][step])
            if copies:
                return f"cooperative load: a copy of {name} to {tile or 'shared memory'} begins"
            return f"cooperative load: {name} → registers" + (f", for {tile}" if tile else "")
        return f"cooperative load: a copy arrives in {name}" if copies else f"cooperative load: registers → {name}"
    if phase == OPERAND:
        uses, words = (int(trace.steps[c][step]) for c in ("uses", "width"))
        where = " in global memory" if kind == GLOBAL_LOAD else ""
        if words > 1:
            return f"load operands: {words} words of {name}{where} → registers, for {uses} multiplications"
        return f"load operand: {name}{where} → register" + (f", to be used {uses} times" if uses > 1 else "")
    if phase == WRITE_BACK:
        return f"write back: registers → {name}" if kind in STORES else f"write back: read {name}"
    if phase == IN_LOCAL:
        return f"local memory: {'read' if kind == LOCAL_LOAD else 'write'} {name}"
    return f"{'read' if kind in LOADS else 'write' if kind in (*STORES, GLOBAL_STORE) else 'update'} {name}"


def at_barrier(trace: Trace, step: int, waiting: set[int]) -> str:
    """Who arrives, and whether that opens the barrier."""
    waiting |= set(trace.members(step).tolist())
    arrived = len(waiting)
    if trace.steps["opens"][step]:
        waiting.clear()
        return f"barrier: all {arrived} threads are here, it opens"
    warps = sorted({thread // WARP for thread in waiting})
    return f"barrier: warp{'s' * (len(warps) > 1)} {', '.join(map(str, warps))} wait{'s' * (len(warps) == 1)}"
