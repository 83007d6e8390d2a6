"""What a picture of one step shows: for every cell its value and its marks. The browser works this out for itself, from
the same trace; here it is for places without JavaScript."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gemm_lab.emulator.tracing.phases import MULTIPLY
from gemm_lab.emulator.tracing.trace import END, GLOBAL_STORE, LOADS, STORES, Array, Trace
from gemm_lab.widgets.watch.scene import Scene


@dataclass(frozen=True)
class Panel:
    """One array at a step. Arrays have the shape (rows, columns); `values` holds NaN where there is nothing."""

    name: str
    space: str
    values: np.ndarray
    block: np.ndarray      # touched by the block in this step
    mine: np.ndarray       # touched by the followed thread
    own: np.ndarray        # elements of C that the followed thread stores in the end


def telling_step(trace: Trace) -> int:
    """The last multiplication of the first run of them that is over half through the block: a step worth a picture."""
    steps = np.flatnonzero(trace.steps["phase"] == MULTIPLY)
    return int(steps[len(steps) // 2]) if len(steps) else len(trace) - 1


def panels(scene: Scene, step: int) -> dict[str, Panel]:
    """The panels of a step by name: A, B and C by role, shared arrays by their own names."""
    trace, thread = scene.trace, scene.setup.thread
    found = {}
    for number, array in enumerate(trace.arrays):
        if array.space == "local" or array.space == "global" and scene.role(array) is None:
            continue
        values = contents(scene, number, array, step)
        block, mine = touched(trace, step, number), touched(trace, step, number, thread)
        own = np.zeros(array.rows * array.columns, bool)
        if scene.role(array) == "C":
            own[stored(trace, number, thread)] = True
        cells = (cell.reshape(array.rows, array.columns) for cell in (values, block, mine, own))
        found[scene.role(array) or array.name] = Panel(array.name, array.space, *cells)
    return found


def contents(scene: Scene, number: int, array: Array, step: int) -> np.ndarray:
    """What an array holds when a step is done; NaN where nothing was written."""
    trace, role = scene.trace, scene.role(array)
    size = array.rows * array.columns
    if role in ("A", "B"):
        return getattr(scene, role).reshape(-1).astype(float)
    if role == "C" and trace.steps["kind"][step] == END and scene.run.completed:
        return scene.run.C.reshape(-1).astype(float)
    values = np.full(size, np.nan)
    stores = (trace.steps["array"] == number) & np.isin(trace.steps["kind"], STORES)
    for s in np.flatnonzero(stores[:step + 1]):
        for k in range(int(trace.steps["width"][s])):
            values[trace.reached(s).astype(int) + k] = trace.values(s)[:, k]
    return values


def touched(trace: Trace, step: int, number: int, thread: int | None = None) -> np.ndarray:
    """Which elements of an array a step touches; a multiplication touches what it multiplies."""
    array = trace.arrays[number]
    hit = np.zeros(array.rows * array.columns, bool)
    for s, k in sources(trace, step):
        if trace.steps["array"][s] == number:
            chosen = trace.members(s) == thread if thread is not None else np.ones(len(trace.members(s)), bool)
            hit[trace.reached(s).astype(int)[chosen] + k] = True
    return hit


def sources(trace: Trace, step: int) -> list[tuple[int, int]]:
    """(step, element of its vector) of the accesses that a step is about."""
    if trace.steps["array"][step] >= 0:
        return [(step, k) for k in range(int(trace.steps["width"][step]))]
    if trace.steps["phase"][step] != MULTIPLY:
        return []
    tags = {int(tag) for operand in range(3) for tag in trace.origins(step, operand) if tag >= 0}
    return [(tag // 4, tag % 4) for tag in sorted(tags) if trace.steps["kind"][tag // 4] in LOADS]


def stored(trace: Trace, number: int, thread: int) -> list[int]:
    """The elements of C that a thread stores."""
    found = []
    for s in np.flatnonzero((trace.steps["kind"] == GLOBAL_STORE) & (trace.steps["array"] == number)):
        where = np.flatnonzero(trace.members(s) == thread)
        found += [int(trace.reached(s)[w]) + k for w in where for k in range(int(trace.steps["width"][s]))]
    return found
