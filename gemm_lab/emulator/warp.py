"""What passes between the threads of a warp without memory: shuffles, votes, matches, reductions.

`values` are one number for each member of the group, or a scalar; threads of a warp that are not in the group take no
part. Sets of lanes are 32-bit integers, bit n for lane n.
"""

from __future__ import annotations

import numpy as np

from gemm_lab.counts import WARP
from gemm_lab.emulator.threads import Group


def spread(group: Group, values) -> np.ndarray:
    """One number for each member, also where all members share a scalar."""
    return np.broadcast_to(values, (group.n,))


def shuffle(group: Group, mode: str, values, b, c, missing=None):
    """shfl: each lane takes the value of another. Returns the values, and whether the lane lay inside the segment.

    The rule for the source lane is the PTX manual's (shfl.sync). A lane that is not in the group has nothing to give:
    the result is then undefined on a GPU, and here `missing`, or the thread's own value.
    """
    values = spread(group, values)
    source, inside = source_lane(group, mode, b, c)
    taken = group.by_warp(values, 0)[group.row, source]
    return np.where(present(group, source), taken, values if missing is None else values.dtype.type(missing)), inside


def source_lane(group: Group, mode: str, b, c):
    """The lane whose value each member of a shuffle takes, and whether that lay inside the segment."""
    b, c, lane = spread(group, b), spread(group, c), group.lane
    step, clamp, segment = b & 31, c & 31, (c >> 8) & 31
    low = lane & segment
    high = low | (clamp & ~segment)
    source = {"up": lane - step, "down": lane + step, "bfly": lane ^ step, "idx": low | (step & ~segment)}[mode]
    inside = source >= high if mode == "up" else source <= high
    return np.where(inside, source, lane), inside


def present(group: Group, lane: np.ndarray) -> np.ndarray:
    """Whether this lane of the same warp is in the group, for each member."""
    return group.by_warp(np.ones(group.n, bool), False)[group.row, lane]


def named(group: Group, mask, lane: np.ndarray) -> np.ndarray:
    """Whether a mask names this lane, for each member."""
    return (spread(group, mask).astype(np.int64) >> lane & 1).astype(bool)


def lanes_of(rows: np.ndarray) -> np.ndarray:
    """Rows of 32 booleans as sets of lanes."""
    return (rows.astype(np.int64) << np.arange(WARP)).sum(axis=1).astype(np.uint32).view(np.int32)


def ballot(group: Group, predicate) -> np.ndarray:
    """For each member, the lanes of its warp whose predicate holds."""
    return lanes_of(group.by_warp(spread(group, predicate), False))[group.row]


def active(group: Group) -> np.ndarray:
    """For each member, the lanes of its warp that are in the group."""
    return ballot(group, np.bool_(True))


def vote(group: Group, mode: str, predicate, mask):
    """vote.sync all, any, uni or ballot, among the lanes in the mask."""
    yes, everyone = ballot(group, predicate) & mask, active(group) & mask
    return {"ballot": yes, "any": yes != 0, "all": yes == everyone, "uni": (yes == 0) | (yes == everyone)}[mode]


def match_any(group: Group, values, mask) -> np.ndarray:
    """The lanes in the mask that hold the same value."""
    values = spread(group, values)
    return lanes_of(group.by_warp(values, 0)[group.row] == values[:, None]) & active(group) & mask


def match_all(group: Group, values, mask):
    """(the lanes in the mask, True) where all of them hold the same value, else (0, False)."""
    everyone = active(group) & mask
    same = match_any(group, values, mask) == everyone
    return np.where(same, everyone, np.int32(0)), same


REDUCE = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
          "xor": np.bitwise_xor}


def reduce(group: Group, operation: str, values, mask):
    """redux.sync: combine the values of a warp's lanes."""
    values = spread(group, values)
    starts = np.flatnonzero(np.concatenate(([True], np.diff(group.row) > 0)))
    return REDUCE[operation].reduceat(values, starts).astype(values.dtype)[group.row]
