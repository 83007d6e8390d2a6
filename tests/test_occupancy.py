"""Occupancy against NVIDIA's own calculator.

`data/occupancy_cases.json`: 603 cases whose expected values were computed by NVIDIA's `cuda_occupancy.h` (CUDA Toolkit
13.0) compiled on a host: 20 with the arithmetic in words, 440 random ones, 143 at the edges of the rules.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gemm_lab as gl
from gemm_lab.hardware import compute_capabilities
from gemm_lab.kernels import GemmKernel
from gemm_lab.occupancy import occupancy_of
from tests.helpers import table_cells

FIXTURE = json.loads((Path(__file__).parent / "data" / "occupancy_cases.json").read_text(encoding="utf-8"))
CASES = FIXTURE["worked_examples"] + FIXTURE["cases"]


def ask(case: dict):
    """Our answer to a case of the fixture."""
    carveout = case["carveout_percent"]
    return occupancy_of(case["threads_per_block"], case["registers_per_thread"], case["static_shared_bytes"],
                        case["dynamic_shared_bytes"], case["cc"], opt_in=case["opt_in"],
                        carveout_percent=None if carveout < 0 else carveout)


def test_the_fixture_is_whole():
    assert len(CASES) == 603
    assert {case["cc"] for case in CASES} == set(compute_capabilities)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_same_answer_as_nvidias_calculator(case):
    expected, got = case["expected"], ask(case)
    ours = {"warps": "warps", "registers": "registers", "shared_memory": "shared memory", "blocks": "blocks"}
    assert got.blocks == expected["active_blocks"]
    assert (got.warps, got.max_warps) == (expected["active_warps"], expected["max_warps"])
    assert got.fraction == pytest.approx(expected["occupancy"], abs=1e-6)
    assert got.limits == {ours[name]: blocks for name, blocks in expected["block_limits"].items()}
    assert got.limited_by == tuple(ours[name] for name in expected["limiting"])
    assert got.registers_per_block == expected["allocated_registers_per_block"]
    assert got.shared_bytes_per_block == expected["allocated_shared_bytes_per_block"]


@pytest.mark.parametrize("capability, limits", FIXTURE["compute_capability_limits"].items())
def test_the_calculators_limits_are_the_catalogues(capability, limits):
    sm = compute_capabilities[capability]
    assert sm.max_warps_per_sm == limits["max_warps_per_sm"]
    assert sm.max_blocks_per_sm == limits["max_blocks_per_sm"]
    assert sm.registers_per_sm == limits["registers_per_sm"]
    assert sm.shared_bytes_per_sm == limits["shared_bytes_per_sm"]
    assert sm.shared_bytes_per_block == limits["shared_bytes_per_block_optin"]
    assert sm.reserved_shared_bytes_per_block == limits["reserved_shared_bytes_per_block"]
    assert sm.shared_allocation_bytes == limits["shared_allocation_unit_bytes"]
    assert list(sm.carveouts_kb) == limits["carveout_sizes_kb"]


def test_worked_by_hand():
    """512 threads are 16 warps. 52 x 32 = 1664 registers of a warp round up to 1792; 16384 // 1792 = 9 warps fit each
    of 4 partitions; 36 // 16 = 2 blocks. Shared memory: 233472 // (4096 + 1024) = 45. Warps: 64 // 16 = 4."""
    got = occupancy_of(512, 52, 4096)
    assert got.limits == {"warps": 4, "registers": 2, "shared memory": 45, "blocks": 32}
    assert (got.blocks, got.warps, got.fraction, got.limited_by) == (2, 32, 0.5, ("registers",))
    assert repr(got) == "2 blocks = 32 of 64 warps (50 %); limited by registers"


def test_rules_worth_teaching():
    assert occupancy_of(1024, 64).blocks == 1                     # 64 registers are the most for 1024 threads ...
    assert repr(occupancy_of(1024, 65)) == "0 blocks: cannot launch; limited by registers"      # ... 65 become 72
    assert {occupancy_of(256, 255, 0, 0, cc).warps for cc in compute_capabilities} == {8}
    assert [occupancy_of(1024, 32, 0, 0, cc).fraction for cc in ("9.0", "7.5")] == [1, 1]
    assert all(occupancy_of(1024, 32, 0, 0, cc).fraction == 2 / 3 for cc in ("8.6", "8.9", "12.0"))
    assert [occupancy_of(256, 32, 49152, 0, cc).blocks for cc in ("8.0", "8.6", "7.5")] == [3, 2, 1]


def test_what_no_gpu_can_launch():
    assert occupancy_of(1025, 16).limits["warps"] == 0 and occupancy_of(1024, 16).limits["warps"] == 2
    assert occupancy_of(32, 257).limits["registers"] == 0 and occupancy_of(32, 256).limits["registers"] == 8
    assert occupancy_of(288, 192).blocks == 0      # 9 warps of 6144 registers: 55296 of 65536, but 2 to a partition
    assert occupancy_of(32, 16, 48 * 1024 + 1).blocks == 0


def test_all_ties_are_named():
    got = occupancy_of(64, 32)
    assert got.limited_by == ("warps", "registers", "blocks")
    assert repr(got) == "32 blocks = 64 of 64 warps (100 %); limited by warps and registers and blocks"
    assert repr(occupancy_of(1024, 64)) == "1 block = 32 of 64 warps (50 %); limited by registers"


@given(threads=st.integers(1, 1100), registers=st.integers(0, 256), shared=st.integers(0, 50_000),
       capability=st.sampled_from(sorted(compute_capabilities)))
def test_more_of_a_resource_never_fits_more_blocks(threads, registers, shared, capability):
    got = occupancy_of(threads, registers, shared, 0, capability)
    assert 0 <= got.fraction <= 1 and got.limited_by
    assert occupancy_of(threads, registers + 1, shared, 0, capability).blocks <= got.blocks
    assert occupancy_of(threads, registers, shared + 1, 0, capability).blocks <= got.blocks
    assert occupancy_of(threads + 1, registers, shared, 0, capability).blocks <= got.blocks or threads % 32 == 0


def stand_in(**resources):
    """A kernel as far as `occupancy` looks at it, which remembers for what it was compiled."""
    kernel = GemmKernel()
    kernel.block, kernel.shared_bytes, kernel.archs = (16, 32, 1), 0, []
    kernel.compile = lambda arch: kernel.archs.append(arch) or SimpleNamespace(registers=52, shared_bytes=4096)
    kernel.__dict__.update(resources)
    return kernel


@pytest.mark.parametrize("gpu, arch", [("H200", "sm_90"), ("t4", "sm_75"), (gl.gpus["RTX 4090"], "sm_89")])
def test_a_kernel_is_compiled_for_the_gpu_in_question(gpu, arch):
    kernel = stand_in()
    assert gl.occupancy(kernel, gpu) == occupancy_of(512, 52, 4096, 0, gl.gpus[getattr(gpu, "name", gpu)])
    assert kernel.archs == [arch]


def test_dynamic_shared_memory_may_reach_the_opt_in_limit():
    wide = stand_in(shared_bytes=100 * 1024)
    assert gl.occupancy(wide, "H200").limits["shared memory"] == 2      # 233472 // (4096 + 102400 + 1024)
    assert gl.occupancy(wide, "RTX 4090").blocks == 0                   # a block has at most 99 KB there


def test_course_kernels():
    """Shapes from the constructor, static shared memory from the compiler: 4 KB let 45 blocks share an H200's SM."""
    got = gl.occupancy(gl.RegisterTiling1D(BM=64, BN=64, BK=8, TM=8), "H200")
    assert (got.limits["warps"], got.limits["shared memory"]) == (4, 45)
    assert gl.occupancy(gl.SharedTiling(TILE=32), "H200").limits["warps"] == 2


def test_errors():
    with pytest.raises(ValueError, match="did you mean H100 SXM"):
        gl.occupancy(stand_in(), "H100")
    with pytest.raises(ValueError, match="sm_10'.* compiles for .*sm_90"):       # the compiler's own words
        gl.occupancy(gl.Naive(), replace(gl.gpus["H200"], compute_capability="1.0"))
    with pytest.raises(ValueError, match="unknown compute capability '6.0'; known are 7.5"):
        occupancy_of(32, 32, 0, 0, "6.0")
    with pytest.raises(ValueError, match="threads = 0"):
        occupancy_of(0, 32)
    with pytest.raises(ValueError, match="carveout_percent is 101"):
        occupancy_of(32, 32, carveout_percent=101)


def test_it_shows_itself_as_a_table():
    table = occupancy_of(256, 32, 0, 0, "7.5")._repr_html_()
    assert ["shared memory", "no limit"] in table_cells(table) and "100 %" in table
