"""The sliders over tile sizes: what they show, how fast, and what an impossible choice says."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass
from statistics import median
from xml.etree import ElementTree

import pytest

import gemm_lab as gl
from gemm_lab import kernels
from gemm_lab.kernels import Naive
from gemm_lab.tuning import SPACES
from gemm_lab.widgets import tile_facts
from gemm_lab.widgets.explorer import CHOICES, TileExplorer
from gemm_lab.widgets.tile_facts import PENDING, TileTable, quick_facts
from tests.helpers import hide_package


def rows(explorer):
    """The shown table as name -> (value, remark); well-formed HTML is part of the test."""
    tree = ElementTree.fromstring(explorer.html)
    return {"".join(row[0].itertext()): tuple("".join(cell.itertext()) for cell in row[1:])
            for row in tree.find(".//tbody")}


@pytest.fixture(scope="module")
def explorer():
    return gl.explore_tiles(gl.RegisterTiling1D, 1024, 1024, 1024)


def choose(explorer, **values):
    for name, value in values.items():
        explorer.controls[name].value = value
    return rows(explorer)


DEFAULT = {"BM": 64, "BN": 64, "BK": 8, "TM": 8, "strided_loader": False}


def test_numbers_of_the_default_choice_by_hand(explorer):
    shown = choose(explorer, **DEFAULT)
    assert shown["global words read per output"] == ("32", "16 times the minimum")     # K/64 + K/64, against 2
    assert shown["global words read per FMA"][0] == "0.03125"
    assert shown["shared words read per FMA"][0] == "1.125"                            # (TM + 1) / TM
    assert shown["FLOP per byte of global words"][0] == "15.52"                        # 2 * 1024 / (4 * (32 + 1))
    assert shown["shared memory per block"][0] == "4,096 bytes"                        # (64*8 + 8*64) * 4
    assert shown["threads per block"] == ("512", "16 warps")
    assert shown["blocks in the grid"] == ("256", "16 x 16, no FMA wasted")


def test_a_change_shows_at_once_and_the_compilers_part_follows(explorer):
    choose(explorer, **DEFAULT)
    shown = choose(explorer, BK=16)
    assert shown["shared memory per block"][0] == "8,192 bytes" and shown["registers per thread"][0] == PENDING
    complete = rows(explorer.settle())
    compiled = gl.RegisterTiling1D(BK=16).compile("sm_90")
    occupied = gl.occupancy(gl.RegisterTiling1D(BK=16), "H200")
    assert complete["registers per thread"][0] == str(compiled.registers)
    assert complete["blocks per SM"][0] == str(occupied.blocks)
    assert complete["occupancy"][0] == f"{100 * occupied.fraction:.0f} %"
    assert "registers per thread" in explorer.text and PENDING not in explorer.text


def test_the_shared_memory_is_the_compilers():
    for kernel in (gl.Naive(), gl.SharedTiling(TILE=16, PAD=1), gl.RegisterTiling1D(BM=32, BN=16, BK=4, TM=2)):
        shared = next(f for f in quick_facts(kernel, 64, 64, 64) if f.name == "shared memory per block").value
        assert shared == f"{kernel.compile('sm_90').shared_bytes:,} bytes"


def test_an_impossible_choice_says_why_and_strikes_the_old_values(explorer):
    choose(explorer, **DEFAULT)
    with pytest.raises(ValueError) as refused:
        gl.RegisterTiling1D(BM=48, TM=32)
    choose(explorer, TM=32, BM=48)
    tree = ElementTree.fromstring(explorer.html)
    alert = "".join(tree.find(".//div[@role='alert']").itertext())
    assert str(refused.value) in alert and "BM = 48" in alert and "TM = 32" in alert
    assert all(row.get("class") == "gl-old" and row[1].find("s") is not None for row in tree.find(".//tbody"))
    assert "no longer selected" in "".join(tree.find(".//caption").itertext())
    assert str(refused.value) in explorer.text
    choose(explorer, **DEFAULT)
    assert "gl-old\"" not in explorer.html and "alert\"" not in explorer.html


@pytest.mark.parametrize("kernel_class", [*SPACES, gl.Naive], ids=lambda kernel_class: kernel_class.__name__)
def test_every_class_of_kernels_can_be_explored(kernel_class):
    explorer = gl.explore_tiles(kernel_class, 1536, 1536, 1536)
    assert kernel_class.__name__ in repr(explorer)
    assert "shared words read per FMA" in explorer.text or kernel_class is gl.SplitK


def test_a_default_that_is_impossible_at_this_size_says_why():
    explorer = gl.explore_tiles(gl.SplitK, 1536, 1536, 1536)
    assert "is not possible: M=1536, N=1536: 288 tiles are shared by 4 blocks" in explorer.text
    assert explorer.text in explorer._repr_mimebundle_()["text/plain"] and "choose fewer SPLITS" in explorer.html
    explorer.controls["SPLITS"].value = 1
    assert "blocks in the grid" in explorer.text


def test_an_answer_that_comes_too_late_is_dropped(explorer, monkeypatch):
    released, started = threading.Event(), threading.Event()

    def slow(kernel, gpu):
        started.set()
        released.wait(5)
        return [tile_facts.Fact("registers per thread", "late")]
    choose(explorer, **DEFAULT)
    explorer.settle()
    monkeypatch.setattr("gemm_lab.widgets.explorer.later_facts", slow)
    choose(explorer, BK=32)
    assert started.wait(5)
    late = explorer._timer
    choose(explorer, BM=48, TM=32)              # impossible: nothing is asked any more
    released.set()
    late.join(5)
    assert "late" not in explorer.html
    choose(explorer, **DEFAULT)


def test_every_possible_choice_has_numbers_and_every_other_a_reason():
    for tile in CHOICES["TILE"]:
        for pad in CHOICES["PAD"]:
            try:
                kernel = gl.SharedTiling(TILE=tile, PAD=pad)
            except ValueError as problem:
                assert "at most" in str(problem)
            else:
                assert len(quick_facts(kernel, 1000, 999, 998)) == 7


def test_100_ms_from_a_change_to_the_new_numbers(explorer):
    choose(explorer, **DEFAULT)
    times = []
    for _ in range(3):
        for name, value in (("BM", 128), ("BN", 32), ("BK", 16), ("TM", 4), ("TM", 32), ("BM", 48), ("BM", 64)):
            start = time.perf_counter()
            explorer.controls[name].value = value
            times.append(time.perf_counter() - start)
    assert median(times) < 0.1


def test_registers_within_a_second():
    explorer = gl.explore_tiles(gl.SharedTiling, 512, 512, 512).settle()
    times = []
    for tile in (8, 12, 16):
        start = time.perf_counter()
        explorer.controls["TILE"].value = tile
        explorer.settle()
        times.append(time.perf_counter() - start)
        assert rows(explorer)["registers per thread"][0].isdigit()
    assert min(times) < 1                       # a busy machine may delay the others


def test_the_block_of_the_naive_kernel():
    explorer = gl.explore_tiles(gl.Naive, 100, 100, 100, gpu="T4")
    explorer.controls["block"].value = (16, 16, 1)
    assert rows(explorer)["threads per block"] == ("256", "8 warps")
    assert rows(explorer)["blocks in the grid"][0] == "49"
    explorer.controls["block"].value = (64, 32, 1)
    assert "2048 threads; a block has at most 1024" in explorer.text
    explorer.controls["coalesced"].value = False
    assert "Naive(coalesced=False" in repr(explorer)


def test_wasted_work_at_the_edges_is_said():
    facts = {f.name: f for f in quick_facts(gl.SharedTiling(TILE=32), 33, 32, 32)}
    assert "93.9 % of FMAs wasted" in facts["blocks in the grid"].remark           # 2 blocks for 33 rows: 64 / 33 - 1


def test_text_output_is_the_same_on_every_run():
    first, second = (gl.explore_tiles(gl.SharedTiling, 64, 64, 64) for _ in range(2))
    before = first._repr_mimebundle_()["text/plain"]
    first.settle()
    assert first._repr_mimebundle_()["text/plain"] == second._repr_mimebundle_()["text/plain"] == before
    assert repr(first) == "TileExplorer(SharedTiling(TILE=32, PAD=0), M=64, N=64, K=64, gpu=H200)"
    assert "0x" not in before and "4  2 times the minimum" in before and PENDING in before
    assert "application/vnd.jupyter.widget-view+json" in first._repr_mimebundle_()


def test_controls_are_labelled_for_keyboard_and_screen_reader(explorer):
    assert {name: widget.description for name, widget in explorer.controls.items()} == {name: name for name in DEFAULT}


def test_a_compiler_that_is_missing_is_said_in_the_table(monkeypatch):
    from gemm_lab.compiler import NoCompiler

    def missing(kernel, gpu):
        raise NoCompiler("NVRTC is not installed")
    monkeypatch.setattr(sys.modules["gemm_lab.occupancy"], "occupancy", missing)
    registers = tile_facts.later_facts(gl.Naive(), "H200")[0]
    assert (registers.value, registers.remark) == ("not known", "NVRTC is not installed")


def test_an_unknown_gpu_is_refused_at_once():
    with pytest.raises(ValueError, match="no GPU named"):
        gl.explore_tiles(gl.Naive, 64, 64, 64, gpu="H999")


def test_a_parameter_without_a_default_is_refused():
    @dataclass(frozen=True)
    class Odd(Naive):
        name: str = "x"
    with pytest.raises(ValueError, match="whole numbers, booleans or shapes"):
        TileExplorer(Odd, 64, 64, 64)


def test_without_ipywidgets_a_table_says_what_still_works(monkeypatch):
    hide_package(monkeypatch, "ipywidgets", "gemm_lab.widgets.explorer")
    table = gl.explore_tiles(gl.SharedTiling, 1024, 1024, 1024)
    assert isinstance(table, TileTable)
    assert "pip install ipywidgets" in repr(table) and "gl.occupancy(kernel, gpu) still work" in table._repr_html_()
    assert "64  32 times the minimum" in repr(table)


@pytest.mark.parametrize("error", [FileNotFoundError("the kernel is not there: restore the file"),
                                   RuntimeError("NVRTC failed"), ValueError("no such kernel"), OSError()])
def test_whatever_goes_wrong_in_the_background_is_a_row(monkeypatch, error):
    def fail(self, arch="sm_90"):
        raise error
    monkeypatch.setattr(gl.SharedTiling, "compile", fail)
    shown = rows(gl.explore_tiles(gl.SharedTiling, 64, 64, 64).settle())
    assert shown["registers per thread"] == ("not known", str(error) or type(error).__name__)
    assert PENDING not in shown["occupancy"] + shown["blocks per SM"]


def test_a_folder_of_kernels_that_comes_back_is_read_again(monkeypatch, tmp_path):
    real = kernels.kernel_file
    explorer = gl.explore_tiles(gl.Naive, 64, 64, 64)
    monkeypatch.setattr(kernels, "kernel_file", lambda name: tmp_path / name)
    choose(explorer, coalesced=False)
    assert "01_naive.cu" in rows(explorer.settle())["registers per thread"][1]
    monkeypatch.setattr(kernels, "kernel_file", real)
    choose(explorer, coalesced=True)
    choose(explorer, coalesced=False)
    assert rows(explorer.settle())["registers per thread"][0].isdigit()
