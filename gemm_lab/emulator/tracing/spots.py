"""Where the findings of a run happened in the recorded block: which steps, threads and element."""

from __future__ import annotations

import numpy as np

from gemm_lab.emulator.memory import SHARED_FILL
from gemm_lab.emulator.tracing.trace import LOADS, STORES, Spot, Trace

ALL = (*LOADS, *STORES)


def find(trace: Trace) -> tuple[Spot, ...]:
    """One spot for each finding that happened at an element of an array and in this block."""
    found = []
    for number, finding in enumerate(trace.findings):
        search = {"race": race, "uninitialized": uninitialized}.get(finding.kind)
        spot = search(trace, number, finding) if search else None
        if spot is not None:
            found.append(spot)
    return tuple(found)


def touches(trace: Trace, line: int | None) -> np.ndarray:
    """What the accesses of a line touch: rows of (step, thread, array, element, epoch, is a store)."""
    rows = []
    kinds, lines = trace.steps["kind"], trace.steps["line"]
    for step in np.flatnonzero(np.isin(kinds, ALL) & (lines == (line or 0))):
        members, width = trace.members(step), int(trace.steps["width"][step])
        shared = trace.arrays[trace.steps["array"][step]].space == "shared"
        epoch = trace.steps["epoch"][step] if shared else 0    # a barrier orders the block's shared memory
        for k in range(width):
            columns = (np.full(len(members), n) for n in (step, trace.steps["array"][step], epoch,
                                                          kinds[step] in STORES))
            at, array, epochs, stores = columns
            rows.append(np.stack([at, members, array, trace.reached(step).astype(np.int64) + k, epochs, stores], 1))
    return np.concatenate(rows) if rows else np.zeros((0, 6), np.int64)


def race(trace: Trace, number: int, finding) -> Spot | None:
    """The first two accesses of the finding's lines by two threads to one element in one epoch, one of them a store."""
    ours, theirs = touches(trace, finding.line), touches(trace, finding.other_line or finding.line)
    where: dict[tuple, list] = {}
    for step, thread, *place, store in theirs.tolist():
        where.setdefault(tuple(place), []).append((step, thread, store))
    pairs = []
    for step, thread, *place, store in ours.tolist():
        for other, their, stores in where.get(tuple(place), ()):
            if their != thread and (store or stores):
                pairs.append((max(step, other), min(step, other), place, (thread, their) if step < other
                              else (their, thread)))
                break
    if not pairs:
        return None
    last, first, (array, index, _), threads = min(pairs)
    return Spot(number, array, index, (first, last), threads)


def uninitialized(trace: Trace, number: int, finding) -> Spot | None:
    """The first read of the line that finds what uninitialised shared memory holds."""
    for step in np.flatnonzero(np.isin(trace.steps["kind"], LOADS) & (trace.steps["line"] == (finding.line or 0))):
        bits = np.ascontiguousarray(trace.values(step)).view(np.uint32)
        where = np.argwhere(bits == SHARED_FILL)
        if len(where):
            member, element = where[0]
            return Spot(number, int(trace.steps["array"][step]), int(trace.reached(step)[member]) + int(element),
                        (int(step),), (int(trace.members(step)[member]),))
    return None
