"""The memories of a GPU: numbers worked out by hand, and the picture drawn from them."""

from __future__ import annotations

import re

import pytest
from matplotlib.patches import FancyBboxPatch, Rectangle

import gemm_lab as gl
from gemm_lab.hierarchy import hierarchy
from gemm_lab.plots.hierarchy import WIDE, band_width, plot_hierarchy


def by_name(gpu):
    found = hierarchy(gpu)
    return found, {level.name: level for level in found.levels}


def test_an_h200_by_hand():
    """132 SMs at 1.98 GHz with 128 lanes, 65,536 registers, 256 KiB of L1 and shared memory, 128 bytes per clock."""
    found, level = by_name("H200")
    assert level["registers"].holds == level["L1 and shared memory"].holds == 132 * 256 * 1024
    assert level["registers"].gbs == pytest.approx(132 * 1.98 * 128 * 3 * 4)
    assert level["L1 and shared memory"].gbs == pytest.approx(132 * 1.98 * 128)
    assert level["L2"].holds == 62_914_560          # cudaDeviceProp.l2CacheSize of an H200
    assert (level["DRAM"].holds, level["DRAM"].gbs) == (141_000_000_000, 4800)
    assert found.flop_per_byte(level["DRAM"]) == pytest.approx(13.9, abs=0.05)
    assert found.flop_per_byte(level["L1 and shared memory"]) == pytest.approx(2)     # 256 FLOP and 128 bytes per clock
    assert found.flop_per_byte(level["registers"]) == pytest.approx(1 / 6)            # 2 FLOP, 12 bytes


def test_what_nobody_published_is_said_to_be_unknown():
    found, level = by_name("T4")
    assert level["L2"].gbs is None and level["L2"].speed == "not published"
    assert found.flop_per_byte(level["L2"]) is None and band_width(found, level["L2"]) is None
    assert "L2 4 MiB, not published" in found.caption


def test_an_unknown_gpu_is_refused_with_a_suggestion():
    with pytest.raises(ValueError, match="H200"):
        hierarchy("H20")


@pytest.mark.parametrize("name", list(gl.gpus))
def test_nearer_memories_are_faster(name):
    speeds = [level.gbs for level in hierarchy(name).levels if level.gbs]
    assert speeds == sorted(speeds, reverse=True)


def test_the_table_says_the_same_in_text_and_html():
    found = hierarchy("H200")
    plain = re.sub(r"<[^>]+>", "\n", found.html())
    assert all(word in plain and word in found.text for row in found.rows() for word in row)
    assert found.text.endswith(found.note) and found.note in plain.replace("&quot;", '"') and repr(found) == found.text


@pytest.mark.parametrize("name", ["H200", "T4", "RTX 4090", "GB10"])
def test_the_bands_are_to_scale_and_nothing_leaves_the_figure(name):
    found, picture = hierarchy(name), plot_hierarchy(name)
    ax, = picture.figure.axes
    bands = [p.get_width() for p in ax.patches if isinstance(p, Rectangle) and p.get_facecolor()[3] > 0]
    speeds = [level.gbs for level in found.levels if level.gbs]
    assert bands == pytest.approx([WIDE * s / speeds[0] for s in speeds], abs=0.0035)
    assert len([p for p in ax.patches if isinstance(p, FancyBboxPatch)]) == 1 + len(found.levels)
    figure = picture.figure
    figure.draw_without_rendering()
    assert all(figure.bbox.containsx(t.get_window_extent().x1) for t in ax.texts)
    assert {t.get_text() for t in ax.texts} >= {level.speed for level in found.levels} | {"FMA units", "DRAM"}


def test_the_picture_has_a_sentence():
    picture = gl.plot_hierarchy("H200")
    assert picture.alt_text == gl.hierarchy("H200").caption == picture.figure.alt_text
    assert "401 TB/s" in picture.alt_text and "4.8 TB/s" in picture.alt_text
