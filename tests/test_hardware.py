"""The GPU catalogue: consistent, sourced, found by the names that people type."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

from gemm_lab import hardware
from gemm_lab.gpu_facts import LABELS
from gemm_lab.hardware import compute_capabilities, find_gpu, gpus
from tests.helpers import table_cells

JSON = Path(hardware.__file__).parent / "data" / "gpus.json"
every_gpu = pytest.mark.parametrize("gpu", gpus.values(), ids=list(gpus))

# FP32 TFLOPS as their makers state them, each from another page than the clocks in the catalogue.
VENDOR_TFLOPS = {"T4": 8.1, "A100 SXM 40 GB": 19.5, "A10": 31.2, "RTX 3090": 35.6, "RTX 4090": 82.6, "H100 SXM": 67}

# CUDA C++ Programming Guide, technical specifications: warps, blocks and shared KB of an SM, shared KB of a block.
GUIDE = {"7.5": (32, 16, 64, 64), "8.0": (64, 32, 164, 163), "8.6": (48, 16, 100, 99), "8.7": (48, 16, 164, 163),
         "8.9": (48, 24, 100, 99), "9.0": (64, 32, 228, 227), "10.0": (64, 32, 228, 227), "11.0": (48, 24, 228, 227),
         "12.0": (48, 24, 100, 99)}


@every_gpu
def test_peak_agrees_with_the_listed_one(gpu):
    assert gpu.peak_fp32_tflops == pytest.approx(2 * gpu.fp32_lanes_per_sm * gpu.sms * gpu.boost_mhz * 1e6 / 1e12)
    if gpu.name == "Jetson AGX Thor":
        assert gpu.listed_fp32_tflops is None and "12.9" in gpu.note      # the list has another clock
    else:
        assert gpu.peak_fp32_tflops == pytest.approx(gpu.listed_fp32_tflops, rel=0.01)


@pytest.mark.parametrize("name, tflops", VENDOR_TFLOPS.items())
def test_peak_agrees_with_the_vendor(name, tflops):
    assert gpus[name].peak_fp32_tflops == pytest.approx(tflops, rel=0.01)


@pytest.mark.parametrize("capability, limits", GUIDE.items())
def test_limits_are_those_of_the_programming_guide(capability, limits):
    sm = compute_capabilities[capability]
    found = (sm.max_warps_per_sm, sm.max_blocks_per_sm, sm.shared_bytes_per_sm / 1024, sm.shared_bytes_per_block / 1024)
    assert found == limits
    assert sm.registers_per_sm == 65536 and sm.carveouts_kb[-1] == limits[2]


@every_gpu
def test_a_gpu_has_the_limits_of_its_compute_capability(gpu):
    sm = compute_capabilities[gpu.compute_capability]
    extra = {"sources", "unverified", "note"}
    assert all(getattr(gpu, f.name) == getattr(sm, f.name) for f in fields(sm) if f.name not in extra)
    assert set(sm.unverified) <= set(gpu.unverified)


@every_gpu
def test_every_value_has_a_public_source_or_is_marked(gpu):
    facts = {f.name for f in fields(gpu)} - {*LABELS, "sources", "unverified"}
    known = {name for name in facts if getattr(gpu, name) is not None}
    assert set(gpu.unverified) <= known
    assert set(gpu.sources) == known - set(gpu.unverified)
    assert all(re.search(r", https?://\S+$", source) for source in gpu.sources.values())


def test_the_file_holds_public_facts_only():
    text = JSON.read_text(encoding="utf-8")
    data = json.loads(text)
    assert set(data) == {"description", "sources", "compute_capabilities", "gpus"}
    assert all(set(source) == {"title", "url"} for source in data["sources"].values())
    rows = [*data["compute_capabilities"].values(), *data["gpus"].values()]
    used = {key for row in rows for key in row["sources"].values()}
    assert used == set(data["sources"])          # nothing dangling, nothing unused
    assert not re.search(r'from memory|read in|file:|"/|"~', text)      # no private remarks, no paths


def test_values_that_the_lessons_use():
    h200 = gpus["H200"]
    assert (h200.sms, h200.boost_mhz, h200.dram_gbs, h200.l2_bytes) == (132, 1980, 4800, 62_914_560)
    assert h200.peak_fp32_tflops == pytest.approx(66.908, abs=0.001)
    assert h200.ridge == pytest.approx(13.94, abs=0.01)       # 66.9 TFLOPS / 4.8 TB/s
    assert h200.l2_gbs == 9914 and not h200.unverified
    assert h200.arch == "sm_90" and gpus["RTX 5090"].arch == "sm_120"


def test_the_one_law():
    """By hand: 64 FLOP x 132 SMs x 1.98 GHz = 16.727 TFLOPS."""
    cap = gpus["H200"].lsu_tflops_cap
    assert cap(1) == pytest.approx(16.727, abs=0.001)
    assert [round(cap(w), 1) for w in (33, 2, 3, 5, 0.74)] == [0.5, 8.4, 5.6, 3.3, 22.6]
    # T4: 64 FLOP x 40 SMs x 1.59 GHz at half a wavefront per clock. Four FMAs to a wavefront, as on the H200.
    t4 = gpus["T4"]
    assert t4.lsu_tflops_cap(1) == pytest.approx(2.035, abs=0.001)
    assert t4.peak_fp32_tflops / t4.lsu_tflops_cap(1) == pytest.approx(gpus["H200"].peak_fp32_tflops / cap(1))
    a100 = gpus["A100 SXM 40 GB"]
    assert a100.peak_fp32_tflops / a100.lsu_tflops_cap(1) == pytest.approx(2)
    assert gpus["H200"].pipe_gbs == pytest.approx(128 * 132 * 1.98)


@pytest.mark.parametrize("w", (0, -1, float("nan")))
def test_the_law_needs_wavefronts(w):
    with pytest.raises(ValueError, match="more than 0"):
        gpus["H200"].lsu_tflops_cap(w)


@every_gpu
def test_where_the_law_is_measured_is_said(gpu):
    measured = gpu.pipe_evidence.startswith("measured on an H200")
    assert measured == (gpu.compute_capability == "9.0")
    assert measured or "not measured" in gpu.pipe_evidence


@pytest.mark.parametrize("typed, name", [
    ("h200", "H200"), ("NVIDIA H200", "H200"), ("tesla t4", "T4"), ("rtx4090", "RTX 4090"),
    ("NVIDIA GeForce RTX 4090", "RTX 4090"),
    ("NVIDIA A100-SXM4-80GB", "A100 SXM 80 GB"), ("NVIDIA A100 80GB PCIe", "A100 PCIe 80 GB"),
    ("NVIDIA H100 80GB HBM3", "H100 SXM"), ("NVIDIA GeForce RTX 3060 Laptop GPU", "RTX 3060 Laptop"),
    ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"), ("A6000", "RTX A6000"),
    ("GeForce RTX 3050 8 GB (desktop)", "RTX 3050"),
])
def test_names_as_people_and_drivers_write_them(typed, name):
    assert gpus[typed].name == name
    assert find_gpu(typed) is find_gpu(gpus[name]) is gpus[name]


@every_gpu
def test_each_gpu_is_found_by_its_own_names(gpu):
    assert gpus[gpu.name] is gpus[gpu.name.lower()] is gpus["NVIDIA " + gpu.product] is gpu


@pytest.mark.parametrize("typed, suggested", [
    ("H100", ("H100 SXM", "H100 PCIe", "H100 NVL")), ("A100", ("A100 SXM 40 GB", "A100 PCIe 80 GB")),
    ("RTX 4091", ("RTX 4090",)), ("H20O", ("H200",)), ("Radeon", ("list(gl.gpus)",)),
])
def test_an_unknown_name_is_answered_with_suggestions(typed, suggested):
    with pytest.raises(ValueError) as caught:
        gpus[typed]
    assert str(caught.value).startswith(f"no GPU named {typed!r}")
    assert all(name in str(caught.value) for name in suggested)


@pytest.mark.parametrize("typed", ("", "  ", None, 9))
def test_nonsense_is_an_unknown_name_too(typed):
    with pytest.raises(ValueError, match="no GPU named"):
        gpus[typed]


def test_it_is_a_mapping():
    assert len(gpus) == len(list(gpus)) >= 60 and "T4" in gpus and "H100" not in gpus
    assert gpus.get("no such GPU") is None
    assert all(gpus[name].name == name for name in gpus)


def test_gpus_are_values():
    gpu = gpus["T4"]
    assert hash(gpu) == hash(replace(gpu)) and replace(gpu) == gpu != gpus["L4"]
    assert pickle.loads(pickle.dumps(gpu)) == gpu


def test_what_a_reader_sees():
    assert repr(gpus["H200"]) == ("H200: 132 SMs x 128 FP32 lanes at 1980 MHz = 66.9 TFLOPS; DRAM 141 GB, 4800 GB/s; "
                                  "L2 60 MiB; compute capability 9.0")
    table = gpus._repr_html_()
    assert table.count("<tr>") == len(gpus) + 1 and "4023*" in table      # the GH200's bandwidth has no source
    assert ["dram_gbs", "4023", "unverified"] in table_cells(gpus["GH200"]._repr_html_())
