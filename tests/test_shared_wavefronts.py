"""The wavefront rule against an H200's counters: every recorded pattern, loads and stores, wavefronts and conflicts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.shared_wavefronts import plan
from gemm_lab.records import files
from gemm_lab.shared_wavefronts import BANKS, WARP, WIDTHS, WORD_BYTES, bank_conflicts, shared_wavefronts

RECORD = files.read(files.shipped("shared_patterns", "H200"), "shared-patterns")
LANES = np.arange(32)


def recorded(width: int) -> tuple[np.ndarray, list[dict]]:
    """The byte addresses (n, 32) of the recorded patterns of a width, and their rows."""
    rows = [row for row in RECORD["rows"] if row["bytes"] == width]
    lanes = [[-1 if lane == "-" else int(lane) * width for lane in row["lanes"].split()] for row in rows]
    return np.array(lanes), rows


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("action", ["load", "store"])
def test_every_recorded_pattern(width, action):
    addresses, rows = recorded(width)
    waves, conflicts = (f(addresses, width, store=action == "store") for f in (shared_wavefronts, bank_conflicts))
    wrong = [(row, wave, conflict) for row, wave, conflict in zip(rows, waves, conflicts, strict=True)
             if (row[action], row[f"{action}_conflicts"]) != (wave, conflict)]
    assert not wrong


def test_the_record_is_large_and_varied():
    assert {(row["bytes"], row["lanes"]) for row in RECORD["rows"]} == {(p.width, p.lanes) for p in plan()}
    for width in (4, 8, 16):
        addresses, rows = recorded(width)
        assert len(rows) >= 500
        assert ((addresses < 0).any(axis=1)).sum() >= 100, "patterns with lanes that take no part"
        assert len({row["load"] for row in rows}) >= 8, "different results"


# Rules that one could believe in. Each is refuted by recorded loads, so the record can tell.

def all_lanes_at_once(addresses, width):
    return busiest(addresses, width, 1)


def always_in_parts(addresses, width):
    return busiest(addresses, width, max(width // 4, 1))


def always_in_double_parts(addresses, width):
    return busiest(addresses, width, max(width // 8, 1))


def pairs(*distances, parts=1):
    """Pairs at these distances join, judged for each of so many parts of the warp alone."""
    def rule(addresses, width):
        found = []
        for row in addresses:
            pieces = []
            for piece in np.split(row, parts):
                joined = any(agree(piece, distance) for distance in distances)
                pieces.append(busiest(piece[None], width, max(width // (8 if joined else 4) // parts, 1))[0])
            found.append(sum(pieces))
        return np.array(found)
    return rule


def agree(row, distance):
    partner = row[np.arange(len(row)) ^ distance]
    return ((row == partner) | (row < 0) | (partner < 0)).all()


def busiest(addresses, width, parts):
    """The rule's core written again, plainly: for each part, the most distinct words that lie in one bank; summed."""
    found = []
    for row in addresses:
        total = 0
        for part in np.split(row, parts):
            words = {a // WORD_BYTES + k for a in part if a >= 0 for k in range(max(width // WORD_BYTES, 1))}
            total += max((sum(w % BANKS == bank for w in words) for bank in range(BANKS)), default=0)
        found.append(total)
    return np.array(found)


@pytest.mark.parametrize("width", [8, 16])
@pytest.mark.parametrize("rule", [all_lanes_at_once, always_in_parts, always_in_double_parts, pairs(1), pairs(2),
                                  pairs(1, 2, 3), pairs(1, 2, 4), pairs(1, 2, 8), pairs(1, 2, 16)])
def test_rival_rules_are_refuted(width, rule):
    addresses, rows = recorded(width)
    assert (rule(addresses, width) != [row["load"] for row in rows]).any()


def test_pairs_are_judged_for_the_whole_warp():
    """Half-warps judged apart is a rule of its own for 128 bits (for 64 bits a half has nothing to join)."""
    addresses, rows = recorded(16)
    assert (pairs(1, 2, parts=2)(addresses, 16) != [row["load"] for row in rows]).any()
    assert (pairs(1, 2)(addresses, 16) == [row["load"] for row in rows]).all()


# --- by hand

@pytest.mark.parametrize(("elements", "width", "load", "store"), [
    (LANES * 0, 4, 1, 1),            # broadcast: one word
    (LANES, 4, 1, 1),                # a row
    (LANES * 2, 4, 2, 2),            # even words only: 16 banks, two words in each
    (LANES * 32, 4, 32, 32),         # a column of a tile 32 wide
    (LANES * 33, 4, 1, 1),           # the same, padded
    (LANES * 0, 8, 1, 2),            # 64-bit broadcast
    (LANES, 8, 2, 2),                # 256 bytes
    (LANES * 0, 16, 2, 4),           # 128-bit broadcast
    (LANES, 16, 4, 4),               # a row of float4: 512 bytes
    (LANES // 2, 16, 2, 4),          # 16 float4, neighbours share one
    (LANES % 16, 16, 4, 4),          # 16 float4, lanes 16 apart share one: no help
    (LANES // 16, 16, 2, 4),         # two float4
    (LANES, 1, 1, 1),                # 32 bytes in 8 words
])
def test_by_hand(elements, width, load, store):
    assert shared_wavefronts(elements * width, width) == load
    assert shared_wavefronts(elements * width, width, store=True) == store


def test_parts_without_lanes_cost_nothing():
    first_quarter = np.where(LANES < 8, LANES * 16, -1)
    assert shared_wavefronts(first_quarter, 16) == 1
    assert shared_wavefronts(np.full(32, -1), 16) == 0 == bank_conflicts(np.full(32, -1), 16)


def test_conflicts_are_the_excess_over_the_parts():
    assert bank_conflicts(LANES * 16, 16) == 0      # 4 wavefronts, 4 parts
    assert bank_conflicts(LANES * 128, 4) == 31
    assert bank_conflicts(LANES * 128, 16) == 28    # 32 wavefronts, 4 parts


def test_shapes_and_errors():
    several = shared_wavefronts(np.stack([LANES * 4, LANES * 128]), 4)
    assert several.tolist() == [1, 32] and isinstance(shared_wavefronts(LANES * 4, 4), int)
    assert shared_wavefronts(np.empty((0, 32), int), 16).shape == (0,)
    with pytest.raises(ValueError, match="width_bytes is 12; it must be one of 1, 2, 4, 8, 16"):
        shared_wavefronts(LANES, 12)
    with pytest.raises(ValueError, match=r"shape \(31,\); it must be \(32,\) or \(n, 32\)"):
        shared_wavefronts(LANES[:31], 4)


@given(st.lists(st.integers(-1, 255), min_size=32, max_size=32), st.sampled_from(WIDTHS), st.integers(0, 7),
       st.booleans())
def test_what_must_hold_for_any_pattern(elements, width, rows, store):
    addresses = np.where(np.array(elements) < 0, -1, np.array(elements) * width)
    waves = shared_wavefronts(addresses, width, store)
    moved = np.where(addresses < 0, -1, addresses + 128 * rows)
    assert waves == shared_wavefronts(moved, width, store), "all banks are alike a row further down"
    assert shared_wavefronts(addresses, width) <= shared_wavefronts(addresses, width, store=True)
    words = {a // 4 + k for a in addresses if a >= 0 for k in range(max(width // 4, 1))}
    assert len(words) <= BANKS * waves <= BANKS * WARP * max(width // 4, 1)
