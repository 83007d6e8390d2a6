"""The visualizer in real JupyterLab, driven by keys and mouse, and as a saved page: what is shown must be so.

Expected values come from NumPy and the closed forms, never from the page.
"""

from __future__ import annotations

import re

import nbformat
import pytest

import gemm_lab as gl
from gemm_lab.widgets.watch.scene import inputs
from tools.lab_browser import lab

CELLS = {
    "strips": "import gemm_lab as gl; gl.visualize()",
    "tiled": "import gemm_lab as gl; gl.visualize(gl.SharedTiling(8), 16, 16, 16, thread=(1, 5))",
    "naive": "import gemm_lab as gl; gl.visualize(gl.Naive(block=(32, 1)), 32, 32, 4)",
    "compared": "import gemm_lab as gl; gl.visualize_compare(gl.Naive(block=(8, 8)), gl.SharedTiling(8))",
}
STRIPS = gl.RegisterTiling1D(8, 4, 4, 4)


@pytest.fixture(scope="module")
def running(chromium, tmp_path_factory):
    folder = tmp_path_factory.mktemp("visualizer")
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    nbformat.write(notebook, folder / "watch.ipynb")
    with lab(folder, chromium) as started, started.lesson("watch.ipynb") as lesson:
        lesson.run_all()
        lesson.page.locator(".gw").nth(len(CELLS) - 1).wait_for()
        yield lesson


@pytest.fixture(params=[None])
def seen(request, running):
    """One visualizer of the notebook as it was opened; whatever happens, the page must not complain."""
    found = Seen(running.page, running.page.locator(".gw").nth(list(CELLS).index(request.param)))
    yield found
    assert running.complaints == running.outside == running.broken_widgets() == running.failed() == []


def watching(name):
    return pytest.mark.parametrize("seen", [name], indirect=True)


class Seen:
    """One visualizer, and what it shows."""

    def __init__(self, page, node):
        self.page, self.node = page, node

    def focus(self):
        self.node.scroll_into_view_if_needed()
        self.node.focus()
        return self

    def keys(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
        return self

    def step(self) -> int:
        return int(re.search(r"step (\d+) of", self.node.locator(".gw-count").inner_text())[1])

    def steps(self) -> int:
        return int(re.search(r"of (\d+)", self.node.locator(".gw-count").inner_text())[1])

    def phase(self) -> str:
        return self.node.locator(".gw-phase > div").first.inner_text()

    def line(self) -> str:
        return self.node.locator(".gw-code .gw-current").inner_text().strip()

    def title(self) -> str:
        return self.node.locator(".gw-name").first.inner_text()

    def totals(self) -> dict[str, list[str]]:
        rows = self.node.locator(".gw-totals tbody tr")
        return {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows.all()}

    def values(self, array: str) -> list[str]:
        """The numbers in an array's cells, in the order of the picture."""
        found = [(int(cell.get_attribute("data-n")), cell.text_content())
                 for cell in self.node.locator(f'[data-name="{array}"] .gw-value').all()]
        return [text for _, text in sorted(found) if text]

    def marked(self, array: str, flag: str) -> list[int]:
        """Numbers of the cells with a flag, in the order of the picture."""
        cells = self.node.locator(f'[data-name="{array}"] .gw-is-{flag}')
        return [int(cell.get_attribute("data-n")) for cell in cells.all()]

    def open(self, summary: str):
        """Open one of the parts that open on demand."""
        part = self.node.locator("details", has=self.page.locator("summary", has_text=summary)).last
        if part.get_attribute("open") is None:
            part.locator("summary").click()
        return part

    def answered(self, title: str):
        """Wait for the emulator's answer."""
        self.node.locator(".gw-name").filter(has_text=title).wait_for()


# ---- playing

@watching("strips")
def test_keys_step_and_jump(seen):
    seen.focus().keys("Home")
    assert (seen.step(), seen.steps()) == (1, 109)
    assert seen.phase().startswith("cooperative load: A → registers, for As")
    assert "A[(size_t)(row0 + r) * K" in seen.line()
    assert seen.keys("ArrowRight", "ArrowRight").step() == 3 and seen.keys("ArrowLeft").step() == 2
    assert seen.keys("Shift+ArrowRight").phase().startswith("barrier: all 8 threads")
    assert seen.line() == "__syncthreads();"
    seen.keys("Shift+ArrowRight")
    assert "acc[r] += As[strip + r][k] * b" in seen.line()
    assert "As" in seen.phase() and seen.keys("Shift+ArrowLeft").phase().startswith("barrier")
    assert seen.keys("End").step() == 109 and seen.keys("Home").step() == 1
    assert "Step 1 of 109, line 53" in seen.node.locator("[role=status]").first.inner_text()


@watching("strips")
def test_at_the_end_C_is_the_product_and_the_totals_are_those_on_paper(seen):
    seen.focus().keys("End")
    A, B = inputs(8, 8, 8)
    assert seen.values("C") == [f"{value:g}" for value in (A @ B).reshape(-1)]
    paper = STRIPS.counts(8, 8, 8)
    shown = {name: [cells[2], cells[3]] for name, cells in seen.totals().items()}
    assert shown["global words read"] == [f"{paper.global_load_words:,}"] * 2
    assert shown["shared words read"] == [f"{paper.shared_load_words:,}"] * 2
    assert shown["FMAs"] == [f"{paper.fma:,}"] * 2
    ratio = (paper.global_load_words + paper.shared_load_words) / paper.fma
    assert shown["words read per FMA"] == [f"{ratio:.3f}"] * 2
    assert "Steps are one legal order, not time." in seen.node.inner_text()


@watching("strips")
def test_a_multiplication_shows_its_cells_and_numbers(seen):
    """Step 16 is the first FMA: A[0][0] * B[0][0] into accumulator 0 of thread 0."""
    seen.focus().keys("Home", *["ArrowRight"] * 15)
    A, B = inputs(8, 8, 8)
    assert seen.phase().startswith("multiply and add: accumulator 0")
    assert seen.marked("As", "operand") == seen.marked("Bs", "operand") == [0]
    assert seen.marked("A", "operand") == seen.marked("B", "operand") == [0]
    assert seen.marked("Bs", "block") == [0, 1, 2, 3]
    lens = seen.node.locator(".gw-lens").inner_text()
    assert "T(0,0) → C rows 0..3, col 0" in lens and "use 1 of 4" in lens
    assert f"{A[0, 0] * B[0, 0]:g}" in seen.node.locator(".gw-sum").first.inner_text()
    assert len(seen.values("As")) == 32 and len(seen.values("A")) == 1    # values where the focus is


@watching("strips")
def test_play_pause_scrub_and_speed(seen):
    seen.focus().keys("Home", "+", "+", "Space")
    seen.page.wait_for_timeout(700)
    assert seen.node.locator(".gw-play").inner_text() == "pause"
    seen.keys("Space")
    assert seen.node.locator(".gw-play").inner_text() == "play" and 3 < seen.step() < 109
    stopped = seen.step()
    seen.page.wait_for_timeout(200)
    assert seen.step() == stopped
    seen.node.locator(".gw-scrub").fill("49")
    assert seen.step() == 50 and seen.phase().startswith("barrier")
    seen.node.get_by_role("button", name="one step back").click()
    assert seen.step() == 49
    seen.node.get_by_role("button", name="reset").click()
    assert seen.step() == 1


@watching("strips")
def test_keys_do_nothing_to_the_notebook(seen, running):
    """In command mode JupyterLab would delete, copy or insert cells, and scroll away."""
    before = len(running.cells())
    seen.focus().keys("d", "d", "a", "b", "x", "j", "k", "ArrowDown", "End", "Home")
    assert len(running.cells()) == before and seen.step() == 1


@watching("strips")
def test_everything_is_reached_with_tab_and_the_focus_is_seen(seen):
    seen.focus()
    reached = set()
    for _ in range(40):
        seen.keys("Tab")
        reached.add(seen.page.evaluate("() => document.activeElement.getAttribute('aria-label') || "
                                       "document.activeElement.textContent.slice(0, 20)"))
    assert {"play", "one step forward", "next phase", "step", "speed", "Problem and tiles"} <= reached
    seen.node.locator(".gw-forward").focus()
    seen.keys("Shift+Tab")
    assert seen.page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle") == "solid"


@watching("tiled")
def test_whoever_uses_the_keyboard_keeps_their_place(seen):
    """What a key changed is drawn anew; the focus stays on it, so that the next key works."""
    def focused():
        return seen.page.evaluate("() => document.activeElement.dataset.name || "
                                  "document.activeElement.getAttribute('aria-label')")
    panel = seen.open("You are the scheduler")
    panel.get_by_role("button", name="warp 1 the next turn").focus()
    for n in (1, 2):
        seen.keys("Enter")
        panel.locator(".gw-turns .gw-given").nth(n - 1).wait_for()
        assert focused() == "give warp 1 the next turn"
    panel.get_by_role("button", name="all warps advance together").focus()
    seen.keys("Enter")
    panel.locator(".gw-turns li").first.wait_for(state="detached")
    seen.node.get_by_label("follow thread").select_option("3")
    seen.node.get_by_label("follow thread").focus()
    seen.keys("ArrowDown", "ArrowDown")
    assert focused() == "follow thread" and seen.node.locator(".gw-lens h4").inner_text().startswith("T(5,0)")
    panel = seen.open("Predict")
    panel.locator("select").first.select_option("warps")
    panel.get_by_role("button", name="click what the next").focus()
    seen.keys("Enter")
    seen.node.get_by_role("button", name="guess warp 1").focus()
    seen.keys("Enter")
    assert focused() == "guess warp 1" and seen.node.locator(".gw-detail .gw-guessed").inner_text() == "warp 1 ?"
    seen.focus().keys("Home", "ArrowRight")
    assert "1 right, 0 not touched, 1 missed: warp 0" in panel.locator(".gw-result").inner_text()
    panel.get_by_role("button", name="stop predicting").click()


# ---- threads and problems

@watching("strips")
def test_another_thread_is_followed(seen):
    seen.focus().keys("Home", "]", "]", "[")
    lens = seen.node.locator(".gw-lens h4")
    assert lens.inner_text() == "T(1,0) → C rows 0..3, col 1"
    seen.open("All threads").locator("[data-thread='6'] th button").click()
    assert lens.inner_text() == "T(6,0) → C rows 4..7, col 2"    # thread 6: strip 6 / 4, column 6 % 4
    assert "reads A[1][2]" in seen.node.locator(".gw-monitor [data-thread='6']").inner_text()
    seen.node.locator(".gw-lane[data-thread='0']").click()
    assert lens.inner_text() == "T(0,0) → C rows 0..3, col 0"


@watching("strips")
def test_size_tile_and_block_change_and_an_impossible_tile_is_explained(seen):
    panel = seen.open("Problem and tiles")
    panel.get_by_label("TM", exact=True).fill("3")
    panel.get_by_role("button", name="run").click()
    alert = seen.node.locator("[role=alert]")
    alert.filter(has_text="BM = 8 is not a multiple of TM = 3; strips of TM rows must fill a block").wait_for()
    panel.get_by_label("TM", exact=True).fill("2")
    panel.get_by_label("K", exact=True).fill("5")
    panel.get_by_role("button", name="run").click()
    seen.answered("TM=2) at M=8, N=8, K=5")
    assert alert.is_hidden()
    seen.focus().keys("End")
    A, B = inputs(8, 8, 5)
    assert seen.values("C") == [f"{value:g}" for value in (A @ B).reshape(-1)]
    assert seen.totals()["FMAs"][3] == f"{gl.RegisterTiling1D(8, 4, 4, 2).counts(8, 8, 5).fma:,}"
    seen.node.get_by_label("of block").select_option("1,0")
    seen.answered("block (1,0)")
    assert "→ C rows 0, 1, col 4" in seen.node.locator(".gw-lens h4").inner_text()
    seen.open("Problem and tiles").get_by_label("preset").select_option("1D strips 8, 4, 4, 4: reuse")
    seen.answered("TM=4) at M=8, N=8, K=8")


# ---- the four interactions

@watching("tiled")
def test_you_are_the_scheduler(seen):
    panel = seen.open("You are the scheduler")
    assert "C is right in this order." in panel.inner_text()
    panel.get_by_label("line 27").uncheck()
    seen.answered("no barrier in line 27")
    assert "that the values are right proves nothing" in panel.inner_text()
    assert seen.node.locator(".gw-findings").get_by_text("race").count() >= 1
    panel.get_by_role("button", name="warp 1 the next turn").click()
    panel.locator(".gw-turns .gw-given").wait_for()
    assert re.search(r"C is wrong: \d+ of 256 elements", panel.inner_text())
    assert "elements differ, so the order decides the result" in panel.inner_text()
    seen.focus().keys("End")
    assert seen.marked("C", "differs")
    seen.node.locator(".gw-findings .gw-link").last.click()
    assert len(seen.marked("As", "alert")) + len(seen.marked("Bs", "alert")) >= 1
    assert seen.node.locator(".gw-lane-alert").count() >= 2    # both threads
    panel.get_by_label("line 27").check()
    seen.answered("SharedTiling(TILE=8) at M=16")
    panel.get_by_text("Lockstep gives the same C").wait_for()    # in every order, with its barriers
    panel.get_by_role("button", name="all warps advance together").click()
    panel.locator(".gw-turns li").first.wait_for(state="detached")


@watching("tiled")
def test_who_waits_at_a_barrier_is_seen(seen):
    panel = seen.open("You are the scheduler")
    panel.get_by_role("button", name="warp 1 the next turn").click()
    panel.locator(".gw-turns .gw-given").wait_for()
    seen.focus().keys("Home", "Shift+ArrowRight")
    assert seen.phase().startswith("barrier: warp 1 waits")
    assert seen.node.locator(".gw-warp[data-warp='1'] .gw-lane-waits").count() == 32
    assert seen.node.locator(".gw-warp[data-warp='0'] .gw-lane-waits").count() == 0
    panel.get_by_role("button", name="all warps advance together").click()
    panel.locator(".gw-turns li").first.wait_for(state="detached")


@watching("naive")
def test_the_map_of_lanes_and_time_transposes(seen):
    def lanes():
        rows = panel.locator(".gw-map tbody tr").all()
        return [row.locator("td").all_inner_texts() for row in rows]
    panel = seen.open("Lane × time")
    panel.get_by_label("colour by").select_option("element")
    panel.get_by_label("access").select_option(label="line 26: read B")
    assert lanes() == [[str(32 * k + lane) for lane in range(32)] for k in range(4)]
    panel.get_by_role("button", name="exchange the two thread indices").click()
    seen.answered("threads swapped")
    panel.get_by_label("access").select_option(label="line 26: read A")
    assert lanes() == [[str(4 * lane + k) for lane in range(32)] for k in range(4)]
    panel.get_by_role("button", name="exchange the two thread indices").click()
    seen.answered("Naive(coalesced=True, block=(32, 1, 1)) at")


@watching("strips")
def test_provenance_goes_both_ways(seen):
    panel = seen.open("Provenance")
    seen.node.locator('[data-name="A"] rect').nth(2).click()
    report = panel.locator(".gw-report")
    report.get_by_text("copied to As[0][2], and read there 4 times by this block").wait_for()
    assert seen.marked("C", "related") == [0, 1, 2, 3] and seen.marked("A", "picked") == [2]
    panel.get_by_label("array").select_option(label="C")
    panel.get_by_label("row").fill("3")
    panel.get_by_label("column").fill("1")
    panel.get_by_role("button", name="show").click()
    report.get_by_text("C[3][1]: what it is made of").wait_for()
    A, B = inputs(8, 8, 8)
    assert f"= {(A @ B)[3, 1]:g}" in report.inner_text()
    assert seen.marked("A", "related") == list(range(24, 32)) and seen.marked("B", "related") == list(range(1, 64, 8))
    seen.node.locator('[data-name="C"] rect').nth(25).click()    # the same once more: nothing is picked any longer
    assert seen.marked("A", "related") == []


@watching("strips")
def test_predicting(seen):
    panel = seen.open("Predict")
    seen.focus().keys("Home", *["ArrowRight"] * 12)    # the barrier; a load of As[0][0] is next
    panel.get_by_role("button", name="click what the next instruction will touch").click()
    assert "line 78, shared load. Which cells does T(0,0) touch?" in panel.locator(".gw-question").inner_text()
    seen.node.locator('[data-name="As"] rect').nth(0).click()
    assert seen.marked("As", "guess") == [0]
    seen.node.locator(".gw-forward").click()
    assert panel.locator(".gw-result").inner_text() == "Right. 1 of 1 predictions right."
    seen.node.locator('[data-name="As"] rect').nth(4).click()
    seen.focus().keys("ArrowRight")
    assert "0 right, 1 not touched, 1 missed: Bs[0][0]. 1 of 2" in panel.locator(".gw-result").inner_text()
    panel.locator("select").first.select_option("banks")
    seen.node.locator("button.gw-bank").nth(0).click()
    assert seen.node.locator(".gw-bank.gw-guessed").count() == 1
    panel.get_by_role("button", name="stop predicting").click()
    assert seen.node.locator(".gw-guessed").count() == 0


# ---- side by side

@watching("compared")
def test_two_kernels_side_by_side(seen):
    seen.focus().keys("End")
    shown = seen.totals()
    naive, tiled = gl.Naive().counts(8, 8, 8), gl.SharedTiling(8).counts(8, 8, 8)
    assert shown["global words read"] == [f"{k.global_load_words:,}" for k in (naive, tiled)]
    assert shown["shared words read"] == [f"{k.shared_load_words:,}" for k in (naive, tiled)]
    assert shown["FMAs"][0] == shown["FMAs"][1] == "512"
    assert shown["whole grid: global words read"] == shown["global words read"]    # of one block
    seen.keys("Home", "Shift+ArrowRight", "ArrowRight", "ArrowLeft", "Space", "Space")
    assert len(seen.node.locator(".gw-side .gw-phase").all()) == 2


# ---- without JupyterLab

@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    ragged = gl.visualize(gl.SharedTiling(4), 7, 6, 9, block=(1, 1), thread=3)
    unguarded = gl.Naive().edited(("if (row >= M || col >= N) return;", ""))
    shown = {
        "strips": gl.visualize(), "ragged": ragged, "naive": gl.visualize(gl.Naive(block=(32, 2)), 4, 32, 8),
        "square": gl.visualize(gl.RegisterTiling2D(16, 16, 4, 4, 4), 16, 16, 8),
        "stages": gl.visualize(gl.Pipelining(16, 32, 8, 4, 4), 16, 32, 24),
        "split": gl.visualize(gl.SplitK(16, 32, 8, 4, 4, SPLITS=2), 16, 32, 32),
        "large": gl.visualize(gl.SharedTiling(32), 64, 64, 64), "stopped": gl.visualize(unguarded, 7, 6, 5),
        "four": gl.visualize_compare(gl.Naive(block=(16, 16)), gl.SharedTiling(16), gl.RegisterTiling1D(16, 16, 4, 4),
                                     gl.RegisterTiling2D(16, 16, 4, 4, 4), M=32, N=32, K=16)}
    return {name: visualizer.to_html(folder / f"{name}.html") for name, visualizer in shown.items()}


@pytest.fixture
def offline(running, pages):
    """A function that opens a saved page; whatever happens, it asks for no other file and does not complain."""
    opened, faults = [], []

    def show(name):
        page = running.page.context.new_page()
        opened.append(page)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: faults.append(request.url) if request.url != pages[name].as_uri() else None)
        page.goto(pages[name].as_uri())
        return Seen(page, page.locator(".gw"))
    yield show
    for page in opened:
        page.close()
    assert faults == []


def test_a_saved_page_plays_without_a_kernel(offline):
    seen = offline("strips")
    seen.focus().keys("End")
    A, B = inputs(8, 8, 8)
    assert seen.values("C") == [f"{value:g}" for value in (A @ B).reshape(-1)]
    assert "saved without a kernel" in seen.open("Problem and tiles").inner_text()
    assert seen.open("You are the scheduler").get_by_label("line 72").is_disabled()
    seen.open("Lane × time").get_by_label("colour by").select_option("bank")
    seen.node.locator('[data-name="B"] rect').nth(0).click()
    assert "that is 4 for each time" in seen.open("Provenance").inner_text()


def test_threads_beyond_the_edge_are_seen(offline):
    """Block (1, 1) of 7 x 6 in tiles of 4: row 7 and columns 6, 7 do not exist."""
    seen = offline("ragged")
    assert seen.node.locator(".gw-lens h4").inner_text() == "T(3,0) → stores nothing: outside of C"
    active = seen.focus().keys("Home").node.locator(".gw-lane-active").count()
    assert active == 12    # A's rows 4 to 6, four columns
    idle = seen.open("All threads").locator("tr.gw-idle")
    idle.first.wait_for()
    assert idle.count() == 4 and "takes no part" in idle.first.inner_text()
    A, B = inputs(7, 6, 9)
    seen.focus().keys("End")
    assert seen.values("C") == [f"{value:g}" for value in (A @ B).reshape(-1)]


@pytest.mark.parametrize("name", ["strips", "ragged", "naive", "square", "stages", "split", "large", "stopped", "four"])
def test_nothing_overlaps_and_nothing_is_cut_off(offline, name):
    seen = offline(name)
    seen.page.set_viewport_size({"width": 1280, "height": 800})
    for keys in (["Home"], ["ArrowRight"] * 20, ["End"]):
        assert seen.focus().keys(*keys).page.evaluate(OVERLAPS) == []


def test_registers_of_a_square_of_results(offline):
    """T(0,0) has 4 x 4 accumulators; each word of A and B that it loads by fours is used 4 times."""
    seen = offline("square")
    seen.focus().keys("Home", "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight")
    assert seen.phase().startswith("multiply and add: accumulator 0, of 0 to 15")
    sums = seen.node.locator(".gw-sum")
    assert sums.count() == 16 and sums.nth(5).get_attribute("title") == "acc 5, C[1][1]"
    chips = seen.node.locator(".gw-chip").all_inner_texts()
    assert len(chips) == 8 and sorted(chip.split()[-1] for chip in chips) == ["0/4"] * 6 + ["1/4"] * 2
    A, B = inputs(16, 16, 8)
    assert chips[0].split()[:2] == [f"{A[0, 0]:g}", "As[0][0]"]


def test_copies_under_way_and_sums_elsewhere(offline):
    seen = offline("stages")
    assert seen.phase().startswith("cooperative load: a copy of A to tiles:A0, tiles:A1, tiles:A2 begins")
    seen.focus().keys("Shift+ArrowRight")
    assert "barrier" in seen.phase() and seen.values("tiles:A0") == []    # too small for numbers
    assert seen.marked("tiles:A0", "held") and not seen.marked("tiles:A1", "held")
    seen = offline("split")
    assert seen.node.locator(".gw-lens h4").inner_text() == "T(0,0) → partial sums in sums, nothing in C"
    assert seen.focus().keys("End").node.locator('[data-name="C"] .gw-outline-own').get_attribute("d") == ""


def test_a_run_that_was_stopped_at_once_is_shown(offline):
    seen = offline("stopped")
    assert seen.phase().startswith("stopped: what is wrong is said below") and seen.steps() == 1
    assert "out-of-bounds" in seen.node.locator(".gw-findings").inner_text()
    assert "acc += a[k] * B" in seen.line()
    assert seen.marked("A", "differs") == [] and len(seen.marked("C", "differs")) == 7 * 6
    seen.open("Provenance").get_by_role("button", name="show").click()


def test_fingers_play_follow_and_scrub(running, pages):
    context = running.page.context.browser.new_context(has_touch=True, viewport={"width": 820, "height": 1180})
    page = context.new_page()
    page.goto(pages["strips"].as_uri())
    seen = Seen(page, page.locator(".gw"))
    seen.node.locator(".gw-forward").tap()
    assert seen.step() == 2
    seen.node.locator(".gw-play").tap()
    page.wait_for_timeout(600)
    seen.node.locator(".gw-play").tap()
    assert 3 < seen.step() < 109
    box = seen.node.locator(".gw-scrub").bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert abs(seen.step() - 55) <= 2
    seen.node.locator('[data-name="A"] rect').nth(2).tap()
    assert seen.marked("A", "picked") == [2]
    seen.node.locator(".gw-lane[data-thread='6']").tap()
    assert seen.node.locator(".gw-lens h4").inner_text() == "T(6,0) → C rows 4..7, col 2"
    assert page.evaluate(OVERLAPS) == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_both_themes(offline, scheme):
    """At least 4.5 : 1 (WCAG 2 AA) for text on its ground, everywhere and in several states."""
    seen = offline("strips")
    seen.page.emulate_media(color_scheme=scheme)
    for name in ("All threads", "Lane × time", "Provenance", "Predict", "Problem and tiles"):
        seen.open(name)
    for keys in (["Home"], ["ArrowRight"] * 6, ["ArrowRight"] * 9, ["End"]):
        poor = seen.focus().keys(*keys).page.evaluate(CONTRAST)
        assert poor == []


def test_less_motion_is_respected(offline):
    seen = offline("strips")
    seen.page.emulate_media(reduced_motion="reduce")
    moving = seen.page.evaluate("() => [...document.querySelectorAll('.gw *')].map(e => getComputedStyle(e))"
                                ".filter(s => s.transitionDuration !== '0s' || s.animationName !== 'none').length")
    assert moving == 0
    seen.focus().keys("Space")
    seen.page.wait_for_timeout(400)
    assert seen.keys("Space").step() > 1    # playing is a wish, not a decoration


# Arrays of the picture that cover one another or leave it, and parts of the visualizer that are wider than it.
OVERLAPS = """() => {
  const found = []
  for (const svg of document.querySelectorAll('.gw-stage > svg')) {
    const parts = [...svg.querySelectorAll('.gw-grid, .gw-note')].map(e => [e, e.getBoundingClientRect()])
    const name = e => e.dataset.name || e.textContent
    const all = svg.getBoundingClientRect()
    for (const [e, box] of parts) if (box.right > all.right + 2 || box.left < all.left - 2) found.push(name(e))
    parts.forEach(([one, a], n) => parts.slice(n + 1).forEach(([other, b]) => {
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
          Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) found.push(name(one) + ' and ' + name(other))
    }))
  }
  for (const gw of document.querySelectorAll('.gw')) if (gw.scrollWidth > gw.clientWidth) found.push('too wide')
  return found
}"""


# Elements whose own text has less contrast than 4.5 to the ground behind it, as [text, ratio].
CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
  const over = (top, below) => {
    canvas.clearRect(0, 0, 1, 1)
    for (const colour of [below, top]) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1) }
    return `rgb(${[...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)})`
  }
  const light = colour => {
    const linear = c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4
    const [r, g, b] = colour.match(/\\d+/g).map(n => linear(n / 255))
    return .2126 * r + .7152 * g + .0722 * b
  }
  const style = getComputedStyle
  const ground = e => e ? over(style(e).backgroundColor, ground(e.parentElement)) : 'rgb(255,255,255)'
  const opacity = e => e?.closest('.gw') ? style(e).opacity * opacity(e.parentElement) : 1
  const poor = []
  for (const element of document.querySelectorAll('.gw *')) {
    const text = [...element.childNodes].some(n => n.nodeType === 3 && n.data.trim())
    if (!text || !element.getClientRects().length) continue
    if (element.closest('svg, :disabled, .gw-lane-none, .gw-hidden, option, noscript')) continue
    const below = ground(element), full = over(style(element).color, below)
    const mixed = over(full.replace('rgb(', 'rgba(').replace(')', `,${opacity(element)})`), below)
    const [high, low] = [light(mixed), light(below)].sort((a, b) => b - a), ratio = (high + .05) / (low + .05)
    if (ratio < 4.5) poor.push([element.textContent.slice(0, 30), ratio.toFixed(2)])
  }
  return poor
}"""


