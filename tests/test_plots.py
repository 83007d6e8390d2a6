"""The figures, by the data they draw: heights, points, labels, and the sentence that says what they show."""

from __future__ import annotations

import io
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gemm_lab as gl
from gemm_lab import palette
from gemm_lab.guesses import forget_guesses
from gemm_lab.plots import Picture, plot_guesses
from gemm_lab.plots.picture import spread
from gemm_lab.plots.places import place, roof
from gemm_lab.records import Measurements, Row, recorded_law
from gemm_lab.roofline import DRAM, L2, PIPE

SLOW, NAIVE, TILED = gl.Naive(coalesced=False), gl.Naive(), gl.SharedTiling(TILE=32)
TFLOPS = {"cuBLAS": (25.5, 44.5, 50.0), NAIVE.label: (5.8, 6.1, 6.0), SLOW.label: (0.48, 0.48, 0.5),
          TILED.label: (8.4, 9.2, 9.0)}


def measurements(device="NVIDIA H200"):
    rows = [Row(label, n, n, n, 1.0, 0.01, tflops, None)
            for label, values in TFLOPS.items() for n, tflops in zip((1024, 2048, 4096), values)]
    return Measurements((*rows, Row(NAIVE.label, 64, 65, 66, 1.0, 0.01, 3.3, None)), device, "580.1", "2026-11-29")


def lines_by_label(ax):
    return {line.get_label(): line for line in ax.get_lines()}


def texts(figure):
    return [t.get_text() for t in figure.findobj(lambda artist: hasattr(artist, "get_text")) if t.get_text()]


# ---- the picture itself


def test_a_picture_is_its_sentence_as_text_and_a_png_beside_it():
    from PIL import Image
    picture = gl.plot_reads(NAIVE, 64, 64, 64)
    assert isinstance(picture, Picture) and repr(picture) == picture.alt_text == picture.figure.alt_text
    image = Image.open(io.BytesIO(picture.png))
    assert image.format == "PNG" and image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)   # a white card


def test_the_image_keeps_the_palettes_colours():
    from PIL import Image
    image = Image.open(io.BytesIO(gl.plot_roofline([NAIVE, TILED], 64, 64, 64, "T4").png)).convert("RGB")
    colors = np.asarray(image).reshape(-1, 3).astype(int)
    for ink in (palette.GLOBAL, palette.SHARED):
        wanted = [int(ink[i : i + 2], 16) for i in (1, 3, 5)]
        assert np.abs(colors - wanted).max(axis=1).min() <= 8


def test_a_picture_shows_its_sentence_below_itself(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw, metadata=None: shown.append(data))
    picture = gl.plot_reads(NAIVE, 64, 64, 64)
    picture._ipython_display_()
    assert [set(data) for data in shown] == [{"image/png", "text/plain"}, {"text/html", "text/plain"}]
    assert {data["text/plain"] for data in shown} == {picture.alt_text}
    assert shown[1]["text/html"] == f"<p>{picture.alt_text}</p>"


def test_figures_do_not_touch_pyplot():
    from matplotlib import pyplot
    gl.plot_reads(NAIVE, 64, 64, 64)
    assert not pyplot.get_fignums() and pyplot.rcParams["axes.grid"] is False


def test_a_picture_can_be_saved(tmp_path):
    gl.plot_reads(NAIVE, 64, 64, 64).save(tmp_path / "reads.svg")
    assert (tmp_path / "reads.svg").read_text().startswith("<?xml")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.01, 0.2))
def test_labels_keep_their_order_and_their_distance(values, gap):
    places = spread(values, gap)
    order = sorted(range(len(values)), key=values.__getitem__)
    steps = np.diff([places[n] for n in order])
    assert (steps >= gap - 1e-9).all()
    assert sum(places) == pytest.approx(sum(values))
    if all(b - a >= gap for a, b in zip(sorted(values), sorted(values)[1:])):
        assert places == pytest.approx(values)


@given(st.lists(st.floats(-1, 2), min_size=1, max_size=10))
def test_labels_stay_within_their_bounds_where_they_fit(values):
    places = spread(values, 0.1, 0, 1)
    assert min(places) >= -1e-9 and max(places) <= 1 + 1e-9
    assert (np.diff(sorted(places)) >= 0.1 - 1e-9).all()


# ---- palette


def test_no_two_kernels_of_a_figure_look_alike():
    labels = [SLOW.label, NAIVE.label, *(f"SharedTiling(TILE={n})" for n in (8, 16, 32)), "RegisterTiling1D(BM=64)",
              "RegisterTiling1D(BM=32)", "mine", "yours", "cuBLAS"]
    looks = palette.styles(labels)
    assert len({(s.color, s.marker) for s in looks.values()}) == len(labels)
    assert len({(s.color, s.line) for s in looks.values()}) == len(labels)
    assert len({s.marker for s in looks.values()}) == len(labels)      # told apart without any colour
    assert (looks[NAIVE.label].color, looks["cuBLAS"].color) == (palette.GLOBAL, palette.CUBLAS)
    ladder = palette.styles(gl.recorded("H200", "ladder").kernels)
    assert len({s.marker for s in ladder.values()}) == len(ladder)


# ---- stalls

def test_a_bar_of_stalls_ends_at_the_sum_of_its_reasons():
    """By hand from the record: 1.39 + 2.33 + 0.19 + 0.54 + 0.20 + 0.74 for the 2D kernel."""
    figure = gl.plot_stalls([gl.RegisterTiling2D(), "WarpTiling(BM=128, BN=128, BK=8, TM=8, TN=8)"]).figure
    first = [bars[0] for bars in figure.axes[0].containers]
    assert len(first) == 6 and first[-1].get_x() + first[-1].get_width() == pytest.approx(5.39)
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()][1].startswith("WarpTiling")
    assert len({(bars[0].get_facecolor(), bars[0].get_hatch()) for bars in figure.axes[0].containers}) == 6


def test_stalls_of_a_kernel_that_was_not_recorded():
    with pytest.raises(ValueError, match="Naive.* is not in this record; it has RegisterTiling1D"):
        gl.plot_stalls([gl.Naive()])
    with pytest.raises(ValueError, match="kernel is an int; it must be a kernel"):
        gl.plot_stalls(7)


# ---- reads


def test_bars_of_reads_end_at_the_closed_forms():
    picture = gl.plot_reads([NAIVE, TILED, gl.RegisterTiling1D()], 1024, 1024, 1024)
    panels = picture.figure.axes
    ends = [[round(bar.get_x() + bar.get_width(), 6) for bar in ax.patches] for ax in panels]
    assert ends == [[2048, 64, 32], [2, 0.0625, 0.03125], [0, 2, 1.125]]
    assert [bar.get_x() for bar in panels[0].patches] == [2, 2, 2]         # each element once: (MK + KN) / MN
    assert [t.get_text() for t in panels[2].texts] == ["none", "2", "1.125"]
    assert panels[0].get_xscale() == "log" and "per output" in panels[0].get_xlabel()
    assert "Naive(coalesced=True) reads 2,048 global words per output (1,024 times the minimum)" in picture.alt_text
    assert "SharedTiling(TILE=32) reads 64 global words per output (32 times the minimum)" in picture.alt_text


def test_reads_of_a_kernel_without_closed_forms_are_counted():
    edited = NAIVE.with_source(NAIVE.source, label="mine")
    picture = gl.plot_reads([edited, NAIVE], 20, 30, 40)
    for ax in picture.figure.axes[:2]:
        mine, known = (bar.get_x() + bar.get_width() for bar in ax.patches)
        assert mine == pytest.approx(known)
    with pytest.raises(ValueError, match="at most 512 x 512 x 512"):
        gl.plot_reads(edited, 4096, 4096, 4096)


# ---- TFLOPS over size


def test_every_kernel_has_its_curve_and_the_peak_its_line():
    ax = gl.plot_tflops(measurements()).figure.axes[0]
    drawn = lines_by_label(ax)
    for label, values in TFLOPS.items():
        assert list(drawn[label].get_xdata()) == [1024, 2048, 4096] and list(drawn[label].get_ydata()) == list(values)
    assert drawn["cuBLAS"].get_color() == palette.CUBLAS
    peaks = [line for line in drawn.values() if line.get_color() == palette.ARITHMETIC]
    assert peaks[0].get_ydata()[0] == pytest.approx(66.9, abs=0.05)
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_xlabel(), ax.get_ylabel()) == ("log", "log", "M = N = K", "TFLOPS")
    assert {NAIVE.label, SLOW.label, TILED.label, "cuBLAS", "FP32 peak, 66.9"} == {t.get_text() for t in ax.texts}


def test_the_sentence_of_tflops():
    sentence = gl.plot_tflops(measurements()).alt_text
    assert "NVIDIA H200 (2026-11-29) for M = N = K = 4096, of 66.9 at the FP32 peak" in sentence
    assert "cuBLAS 50, SharedTiling(TILE=32) 9 (18.0 % of cuBLAS), Naive(coalesced=True) 6 (12.0 % of" in sentence


def test_a_choice_of_kernels_keeps_cublas():
    drawn = lines_by_label(gl.plot_tflops(measurements(), [NAIVE]).figure.axes[0])
    assert {NAIVE.label, "cuBLAS"} <= set(drawn) and SLOW.label not in drawn
    with pytest.raises(ValueError, match="was not measured"):
        gl.plot_tflops(measurements(), [gl.SharedTiling(TILE=8)])


def test_a_gpu_outside_the_catalogue_has_no_peak():
    assert "peak" not in gl.plot_tflops(measurements("Some New GPU")).alt_text


@pytest.mark.parametrize("other", [None, "H200", 5, [], gl.recorded_law()])
def test_what_is_no_measurement_is_refused(other):
    with pytest.raises(ValueError, match="measurements is a .*; it must be what gl.recorded"):
        gl.plot_tflops(other)


def test_nothing_square_is_nothing_to_draw():
    with pytest.raises(ValueError, match="no square problems"):
        gl.plot_tflops(replace(measurements(), rows=measurements().rows[-1:]))


# ---- the law


def test_points_and_the_cap_of_the_law():
    picture = gl.plot_law([("a", 33.0, 0.5), ("b", 2.0, 6.2)])
    drawn = lines_by_label(picture.figure.axes[0])
    assert (drawn["a"].get_xdata()[0], drawn["a"].get_ydata()[0]) == (33, 0.5)
    xs, ys = drawn["cap"].get_data()
    assert np.allclose(xs * ys, 64 * 132 * 1.98e-3)                 # 64 FLOP x SMs x GHz: 16.73 TFLOPS at w = 1
    assert "from a (w = 33, 0.5 TFLOPS) to b (w = 2, 6.2 TFLOPS); they reach 74 % (b) to 99 % (a)" in picture.alt_text
    assert {"99 %", "74 %", "33.00", "2.00"} <= set(texts(picture.figure))
    assert (picture.figure.axes[0].get_xscale(), picture.figure.axes[0].get_yscale()) == ("log", "log")


def test_the_law_takes_the_rows_of_the_record():
    from gemm_lab.records import LawRow
    row = LawRow("a", 4096, 4096, 4096, 2.0, 8.36, 6.2)
    assert lines_by_label(gl.plot_law([row]).figure.axes[0])["a"].get_ydata()[0] == 6.2
    drawn = lines_by_label(gl.plot_law([row, replace(row, K=4104, w=1.0, tflops=9.0)]).figure.axes[0])
    assert drawn["a, 4096"].get_xdata()[0] == 2 and drawn["a, 4096x4096x4104"].get_ydata()[0] == 9


@pytest.mark.parametrize("rows", [[("a", 0, 1.0)], [("a", 1.0, -1.0)], []])
def test_rows_that_no_law_fits(rows):
    with pytest.raises(ValueError, match=r"more than 0|no rows"):
        gl.plot_law(rows)


# ---- the roofline


def test_each_byte_count_stands_under_the_memory_that_serves_it():
    n = 64
    naive = place(NAIVE, n, n, n, gl.gpus["T4"])
    assert naive.intensity[DRAM] == 2 * n**3 / (4 * 3 * n**2)
    loads = 5 * n**3 / 32                                              # 1 + 4 sectors for each k and warp
    assert naive.intensity[L2] == pytest.approx(2 * n**3 / (32 * (loads + n * n / 8)))
    w = 2 + 1 / n                                                      # two lines for each k, one store at the end
    assert naive.intensity[PIPE] == pytest.approx(64 / (128 * w)) and naive.roof.w == pytest.approx(w)
    assert naive.mistake == pytest.approx(2 * n**3 / (4 * (2 * n**3 + n * n)))


def test_the_pipes_roof_is_the_one_law():
    h200 = gl.gpus["H200"]
    for w in (0.63, 2.0, 33.0):
        assert float(roof(PIPE, h200, 64 / (128 * w))) == pytest.approx(h200.lsu_tflops_cap(w))
    assert float(roof(DRAM, h200, 1.0)) == pytest.approx(4.8) and float(roof(DRAM, h200, 1e6)) == h200.peak_fp32_tflops


def test_measured_points_are_filled_and_bounds_are_hollow():
    picture = gl.plot_roofline([NAIVE, SLOW], 1024, 1024, 1024, "H200", measurements())
    for ax, memory in zip(picture.figure.axes, (DRAM, L2, PIPE)):
        point = lines_by_label(ax)[NAIVE.label]
        assert point.get_ydata()[0] == 5.8 and point.get_markerfacecolor() == palette.GLOBAL
        assert ax.get_title().startswith(memory) and ax.get_xlabel().startswith(f"FLOP per byte, {memory}")
    assert lines_by_label(picture.figure.axes[0])[NAIVE.label].get_xdata()[0] == pytest.approx(1024 / 6)
    unmeasured = gl.plot_roofline(NAIVE, 512, 512, 512, "H200", measurements())
    point = lines_by_label(unmeasured.figure.axes[0])[NAIVE.label]
    assert point.get_markerfacecolor() == "white" and point.get_ydata()[0] == pytest.approx(66.9, abs=0.05)
    assert "not measured" in unmeasured.alt_text


def test_the_sentence_of_the_roofline_names_the_binding_ceiling():
    sentence = gl.plot_roofline(NAIVE, 1024, 1024, 1024, "H200", measurements(), show_mistake=True).alt_text
    assert "FP32 peak 66.9 TFLOPS, DRAM 4.8 TB/s" in sentence
    assert re.search(r"at most 8\.\d+ TFLOPS by the load/store pipe \(w = 2, counted\), measured 5\.8", sentence)
    assert "would give Naive(coalesced=True) 1.2 TFLOPS under DRAM's roof" in sentence


def test_the_mistake_stands_above_the_roof():
    picture = gl.plot_roofline(NAIVE, 1024, 1024, 1024, "H200", measurements(), show_mistake=True)
    x, y = (v[0] for v in lines_by_label(picture.figure.axes[0])[f"mistake {NAIVE.label}"].get_data())
    assert x == pytest.approx(0.25, rel=0.01) and y == 5.8 > float(roof(DRAM, gl.gpus["H200"], x))
    plain = gl.plot_roofline(NAIVE, 64, 64, 64).figure.axes[0]
    assert not [label for label in lines_by_label(plain) if "mistake" in label]


def test_an_unknown_w_is_said_and_a_given_one_used():
    mine = TILED.with_source(TILED.source + "\n// mine", label="mine")
    unknown = gl.plot_roofline(mine, 64, 64, 64, "T4")
    assert "w is not known" in unknown.alt_text and "mine" not in lines_by_label(unknown.figure.axes[2])
    given_w = gl.plot_roofline(mine, 1024, 1024, 1024, "H200", w={"mine": 1.63})
    assert "(w = 1.63, given)" in given_w.alt_text
    assert lines_by_label(given_w.figure.axes[2])["mine"].get_xdata()[0] == pytest.approx(0.5 / 1.63)


def test_w_with_shared_memory_is_the_recorded_counter():
    (law,) = [row for row in recorded_law("H200") if row.kernel == TILED.label]
    tiled = place(TILED, 4096, 4096, 4096, gl.gpus["H200"], gl.recorded("H200"))
    assert (tiled.roof.w, tiled.w_from) == (law.w, "recorded by ncu")
    assert tiled.measured == gl.recorded("H200").tflops(TILED, 4096)
    edited = TILED.edited(("int k0 = 0", "int k0 = 0 * K"), label=TILED.label)     # not the source that was measured
    assert place(edited, 64, 64, 64, gl.gpus["H200"]).roof.w is None


def test_measurements_of_another_gpu_are_refused():
    with pytest.raises(ValueError, match="measurements are of NVIDIA H200, the roofline is of T4"):
        gl.plot_roofline(NAIVE, 1024, 1024, 1024, "T4", measurements())


# ---- guesses


@pytest.fixture
def session():
    forget_guesses()
    yield
    forget_guesses()


def test_without_any_guess_the_figure_says_so(session):
    assert plot_guesses().alt_text == "No guesses yet."
    gl.guess("a").compare(3)
    picture = plot_guesses()
    assert picture.alt_text == "No guesses yet: 1 asked." and texts(picture.figure) == [picture.alt_text]


def test_each_guess_is_a_lollipop_from_the_truth(session):
    gl.guess("words", 64).compare(2048)
    gl.guess("w", 3).compare(2)
    gl.guess("which", "faster").compare("slower", how="measured")
    gl.guess("negative", -1).compare(2)
    gl.guess("open", None).compare(2)
    picture = gl.plot_guesses()
    ax = picture.figure.axes[0]
    markers = [(line.get_xdata()[0], line.get_ydata()[0], line.get_marker()) for line in ax.get_lines()
               if line.get_marker() != "None"]
    assert markers == [(1 / 32, 0, "D"), (1.5, 1, "o")]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["words", "w", "which", "negative"]
    assert [t.get_text() for t in ax.texts] == ["you 64, computed 2,048", "you 3, computed 2",
                                                "you faster, measured slower", "you -1, computed 2"]
    assert picture.alt_text == ("4 of 5 guesses made; 1 of 2 numbers within a factor of 2; the furthest, words: "
                                "a factor of 32 too low; 0 of 2 others right.")
    low, high = ax.get_xlim()
    assert math.isclose(low * high, 1) and low < 1 / 32


def test_guesses_of_one_lesson_only(session):
    gl.guess("a", 1, lesson="01").compare(1)
    gl.guess("b", 1, lesson="02").compare(4)
    assert [t.get_text() for t in gl.plot_guesses("02").figure.axes[0].get_yticklabels()] == ["b"]


def test_only_words_still_make_a_figure(session):
    gl.guess("a", "up").compare("up")
    assert gl.plot_guesses().alt_text == "1 of 1 guesses made; 1 of 1 others right."


@pytest.mark.parametrize(("library", "home"), [("matplotlib", "plots"), ("ipywidgets|anywidget", "widgets")])
def test_optional_libraries_are_imported_in_one_package_only(library, home):
    package = Path(gl.__file__).parent
    importing = [path.relative_to(package) for path in package.rglob("*.py")
                 if re.search(rf"^\s*(import|from) ({library})\b", path.read_text(encoding="utf-8"), re.M)]
    assert importing and {path.parts[0] for path in importing} == {home}


@pytest.mark.parametrize("name", ["plot_reads", "plot_roofline", "plot_tflops", "plot_law", "plot_stalls",
                                  "plot_hierarchy", "plot_guesses()"])
def test_without_matplotlib_a_sentence_says_what_to_install_and_what_works(name):
    code = ("import sys; sys.modules['matplotlib'] = None; import gemm_lab as gl\n"
            "gl.occupancy, gl.annotate, gl.check, gl.roofline, gl.recorded('H200')._repr_html_()\n"
            f"gl.{name}")
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = ended.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: The figures need matplotlib (pip install matplotlib). Without it ")
    assert last.endswith("still work.") and "gl.annotate" in last
