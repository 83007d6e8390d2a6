"""What a shared array holds: which matrix its elements are copied from, and how long its rows are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gemm_lab.emulator.tracing.trace import GLOBAL_LOAD, SHARED_STORE, Array, Trace


def explained(trace: Trace, number: int, made_from: list) -> Array:
    """The array with the matrix that fills it, and with rows if it was declared without.

    made_from   for each step, (step, operand) of where its operands come from
    """
    array, kinds, arrays = trace.arrays[number], trace.steps["kind"], trace.steps["array"]
    if array.space != "shared":
        return array
    stores = np.flatnonzero((kinds == SHARED_STORE) & (arrays == number)).tolist()
    copies = [(store, load) for store in stores for load, _ in made_from[store] if kinds[load] == GLOBAL_LOAD]
    if not copies:
        return array
    sources = [int(arrays[load]) for _, load in copies]
    array = replace(array, filled_from=max(set(sources), key=sources.count))
    width = row_length(trace, copies, trace.arrays[array.filled_from].columns) if array.rows == 1 else 0
    if width > 1 and array.columns % width == 0:
        array = replace(array, rows=array.columns // width, columns=width)
    return array


def row_length(trace: Trace, copies: list[tuple[int, int]], columns: int) -> int:
    """Elements until neighbours in shared memory are no longer neighbours in the matrix of so many `columns`."""
    place: dict[int, tuple[int, int]] = {}
    for store, load in copies:
        came = dict(zip(trace.members(load).tolist(), trace.reached(load).tolist()))
        for member, element in zip(trace.members(store).tolist(), trace.reached(store).tolist()):
            for k in range(int(trace.steps["width"][store])):
                if member in came:
                    place.setdefault(element + k, divmod(came[member] + k, columns))
    return run_length(place)


def run_length(place: dict[int, tuple[int, int]]) -> int:
    """How far elements 0, 1, 2, ... lie in a row or column of a matrix without a break; 0 if they never do."""
    if 0 not in place or 1 not in place:
        return 0
    (row, column), (down, across) = place[0], (place[1][0] - place[0][0], place[1][1] - place[0][1])
    element = 1
    while place.get(element) == (row + down * element, column + across * element):
        element += 1
    return element
