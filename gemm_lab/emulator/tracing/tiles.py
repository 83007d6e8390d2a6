"""What a shared array holds: which matrix its elements are copied from, how long its rows are, and where one array
(a struct of tiles, or all of a block's shared memory) holds tiles of several matrices.

Everything is read off the copies themselves; declarations and names play no part.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from gemm_lab.emulator.tracing.trace import GLOBAL_LOAD, SHARED_STORE, Array, Trace

Places = dict[int, tuple[int, int, int]]    # element of the shared array -> matrix, row and column it is copied from


def explained(trace: Trace, made_from: list) -> Trace:
    """The trace with what its shared arrays hold; one with tiles of several matrices becomes several arrays.

    made_from   for each step, (step, operand) of where its operands come from
    """
    for number, array in enumerate(trace.arrays):
        if array.space != "shared" or not (rounds := copied(trace, number, made_from)):
            continue
        pieces = segments(rounds, array.columns)
        if array.rows == 1 and len(pieces) > 1:
            trace = split(trace, number, [part(trace, array, rounds, *piece) for piece in pieces])
            continue
        matrices = Counter(matrix for places in rounds for matrix, _, _ in places.values())
        array = replace(array, filled_from=matrices.most_common(1)[0][0])
        width = row_length(rounds, 0, array.columns) if array.rows == 1 else 0
        if width > 1 and array.columns % width == 0:
            array = replace(array, rows=array.columns // width, columns=width)
        trace = with_arrays(trace, {number: array})
    return trace


def copied(trace: Trace, number: int, made_from: list) -> list[Places]:
    """What is copied into an array between two barriers, for each such time in order."""
    kinds, rounds = trace.steps["kind"], {}
    for store in np.flatnonzero((kinds == SHARED_STORE) & (trace.steps["array"] == number)).tolist():
        for load, _ in made_from[store]:
            if kinds[load] == GLOBAL_LOAD:
                places = rounds.setdefault(int(trace.steps["epoch"][store]), {})
                places.update(places_of(trace, store, load))
    return list(rounds.values())


def places_of(trace: Trace, store: int, load: int) -> Places:
    """Where the elements that `store` writes were read by `load`."""
    matrix = int(trace.steps["array"][load])
    came = dict(zip(trace.members(load).tolist(), trace.reached(load).tolist()))
    return {element + k: (matrix, *divmod(came[member] + k, trace.arrays[matrix].columns))
            for member, element in zip(trace.members(store).tolist(), trace.reached(store).tolist())
            for k in range(int(trace.steps["width"][store])) if member in came}


def segments(rounds: list[Places], size: int) -> list[tuple[int, int]]:
    """(first element, element behind the last) of stretches that hold copies of one matrix each."""
    matrix = {element: place[0] for places in reversed(rounds) for element, place in places.items()}
    found = sorted(matrix)
    starts = [element for before, element in zip(found, found[1:]) if matrix[element] != matrix[before]]
    return list(zip([0, *starts], [*starts, size]))


def row_length(rounds: list[Places], first: int, end: int) -> int:
    """Elements from one row of the tile in first..end to the next, padding included; 0 if there are no rows."""
    found = Counter(length for places in rounds if (length := row_of_one(places, first, end)))
    return found.most_common(1)[0][0] if found else 0


def row_of_one(places: Places, first: int, end: int) -> int:
    """The same of one round: where the next row or column of the matrix begins; else where neighbours end."""
    if first not in places or first + 1 not in places or places[first][0] != places[first + 1][0]:
        return 0
    matrix, row, column = places[first]
    down, across = places[first + 1][1] - row, places[first + 1][2] - column
    after = matrix, row + across, column + down
    following = next((e for e in range(first + 2, end) if places.get(e) == after), None)
    if following is not None:
        return following - first
    return next((n for n in range(2, end - first)
                 if places.get(first + n) != (matrix, row + down * n, column + across * n)), end - first)


# ---- an array that holds several tiles

def part(trace: Trace, array: Array, rounds: list[Places], first: int, end: int) -> Array:
    """The tile that lies in elements first..end of an array."""
    matrix = next(places[e][0] for places in rounds for e in range(first, end) if e in places)
    length, size = row_length(rounds, first, end), end - first
    shape = (size // length, length) if length > 1 and size % length == 0 else (1, size)
    return Array(f"{array.name}:{trace.arrays[matrix].name}", "shared", *shape, array.at + first * array.item_bytes,
                 array.item_bytes, filled_from=matrix)


def split(trace: Trace, number: int, parts: list[Array]) -> Trace:
    """The trace with several arrays in place of one; unchanged if an access reaches into two of them."""
    array, steps, index = trace.arrays[number], dict(trace.steps), trace.index.copy()
    starts = np.array([(p.at - array.at) // array.item_bytes for p in parts])
    numbers = np.array([number, *range(len(trace.arrays), len(trace.arrays) + len(parts) - 1)])
    steps["array"] = steps["array"].copy()
    for step in np.flatnonzero(trace.steps["array"] == number).tolist():
        reached, width = trace.reached(step).astype(np.int64), int(steps["width"][step])
        where = np.unique(np.searchsorted(starts, np.concatenate([reached, reached + max(width, 1) - 1]), "right") - 1)
        if len(where) != 1:
            return trace
        at = int(steps["at_index"][step])
        index[at:at + len(reached)] = reached - starts[where[0]]
        steps["array"][step] = numbers[where[0]]
    return with_arrays(replace(trace, steps=steps, index=index), dict(zip(numbers.tolist(), numbered(parts))))


def numbered(parts: list[Array]) -> list[Array]:
    """Parts of the same name, told apart by a number: tiles:A0, tiles:A1."""
    often, seen = Counter(p.name for p in parts), Counter()
    named = []
    for p in parts:
        named.append(replace(p, name=f"{p.name}{seen[p.name]}") if often[p.name] > 1 else p)
        seen[p.name] += 1
    return named


def with_arrays(trace: Trace, changed: dict[int, Array]) -> Trace:
    """The trace with these arrays in place of others or after them."""
    return replace(trace, arrays=tuple((dict(enumerate(trace.arrays)) | changed).values()))
