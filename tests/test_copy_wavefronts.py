"""The rule for asynchronous copies against what an H200 counted."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from benchmarks import copy_wavefronts as bench
from gemm_lab.copy_wavefronts import WIDTHS, bypass_sectors, copy_wavefronts
from gemm_lab.counts import LINE_BYTES, SECTOR_BYTES, WARP
from gemm_lab.records import files
from gemm_lab.shared_wavefronts import shared_wavefronts

RECORD = files.read(files.shipped("copy_patterns", "H200"), "copy-patterns")
ROWS = RECORD["rows"]
THROUGH = [row for row in ROWS if row["way"] == "ca"]
PAST = [row for row in ROWS if row["way"] == "cg"]
NOT_THE_COPY = 4    # wavefronts in the pipe that each launch has
LANES = np.arange(WARP)


def ends(row) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(1, 32) each: bytes from where, bytes to where, which lanes bring something."""
    source = np.array([-1 if s == "-" else int(s) * row["bytes"] for s in row["source"].split()])
    target = np.where(source < 0, -1, np.array(row["target"].split(), int) * row["bytes"])
    brings = ~np.isin(LANES, np.array(row["zeros"].split(), int))
    return source[None], target[None], brings[None]


def is_a_race(row) -> bool:
    _, target, _ = ends(row)
    written = target[target >= 0]
    return len(set(written)) < len(written)


@pytest.mark.parametrize("width", WIDTHS)
def test_copies_through_l1(width):
    rows = [row for row in THROUGH if row["bytes"] == width]
    assert len(rows) > 100
    for row in rows:
        source, target, brings = ends(row)
        (wavefronts,), (conflicts,) = copy_wavefronts(source, target, width, brings)
        assert (wavefronts, conflicts) == (row["wavefronts"], row["conflicts"]), row["pattern"]


def test_sectors_through_l1_are_those_of_a_load():
    for row in THROUGH:
        source, _, brings = ends(row)
        assert len({s // SECTOR_BYTES for s in source[brings & (source >= 0)]}) == row["sectors"], row["pattern"]


def test_copies_past_l1_take_no_wavefront_but_for_zeros():
    for row in PAST:
        _, target, brings = ends(row)
        zeros = np.where(brings, -1, target)
        stored = shared_wavefronts(zeros[0], 16, store=True) if (zeros >= 0).any() else 0
        assert row["pipe"] == NOT_THE_COPY + stored, row["pattern"]


def test_sectors_past_l1():
    rows = [row for row in PAST if not is_a_race(row)]
    assert len(rows) > 150
    for row in rows:
        source, target, brings = ends(row)
        assert bypass_sectors(source, target, brings)[0] == row["sectors"], row["pattern"]


def test_the_patterns_are_varied():
    assert {(row["bytes"], row["way"]) for row in ROWS} == set(bench.WAYS)
    assert len({row["wavefronts"] for row in THROUGH}) > 20 and len({row["sectors"] for row in PAST}) > 15
    assert sum(bool(row["zeros"]) for row in ROWS) > 50 and sum("-" in row["source"] for row in ROWS) > 50
    both = sum(meets_twice(row) for row in THROUGH)
    assert both > 50, "conflicts at both ends at once"


def meets_twice(row) -> bool:
    source, target, _ = ends(row)
    busiest = [max(Counter(ends_[ends_ >= 0] // row["bytes"] % (LINE_BYTES // row["bytes"])).values())
               for ends_ in (source[0], target[0])]
    return min(busiest) > 1


def test_the_record_is_of_these_patterns():
    recorded = {(row["bytes"], row["way"], row["source"], row["target"], row["zeros"]) for row in ROWS}
    made = (bench.row(pattern, dict.fromkeys(bench.NAMES.values(), 0)) for pattern in bench.plan())
    assert {(row["bytes"], row["way"], row["source"], row["target"], row["zeros"]) for row in made} == recorded
    assert RECORD["protocol"] == bench.PROTOCOL and list(bench.NAMES.values()) == RECORD["metrics"]


def test_many_warps_are_several_ones():
    rows = [row for row in THROUGH if row["bytes"] == 4][:9]
    source, target, brings = (np.concatenate(parts) for parts in zip(*map(ends, rows)))
    together = copy_wavefronts(source, target, 4, brings)
    assert together[0].tolist() == [row["wavefronts"] for row in rows]


def test_bad_input():
    rows = np.zeros((1, WARP))
    with pytest.raises(ValueError, match="width_bytes is 2; it must be one of 4, 8, 16"):
        copy_wavefronts(rows, rows, 2)
    with pytest.raises(ValueError, match=r"source has shape \(32,\) and target \(1, 32\); both must be \(n, 32\)"):
        bypass_sectors(rows[0], rows)
