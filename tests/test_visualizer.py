"""The visualizer without a browser: what a scene holds, what a viewer may ask for, and the browser's own logic in Node.

Node runs the very modules that the browser runs. Their answers are held against what Python reads from the trace, and
against A*B.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import gemm_lab as gl
from gemm_lab.emulator.tracing.trace import BARRIER, FMA, KINDS, LOADS
from gemm_lab.widgets.watch import bundle, frame, page, words
from gemm_lab.widgets.watch.scene import play
from gemm_lab.widgets.watch.setup import LARGEST, PRESETS, Setup, barrier_lines
from tests.helpers import hide_package

HERE = Path(__file__).parent
STRIPS = gl.RegisterTiling1D(8, 4, 4, 4)
STRIP_LOOP = "#pragma unroll\n            for (int r = 0; r < TM; ++r)\n                acc[r] += As"
ROLLED = STRIP_LOOP, STRIP_LOOP.replace("unroll", "unroll 1")    # its accumulators lie in local memory
FIRST_BARRIER = 27    # of 02_shared_tiling.cu
SETUPS = {
    "strips": Setup(STRIPS, 8, 8, 8, thread=5), "ragged": Setup(gl.SharedTiling(4), 7, 6, 9, (1, 1, 0), 1),
    "naive": Setup(gl.Naive(block=(8, 4)), 8, 8, 3, thread=9), "local": Setup(STRIPS.edited(ROLLED), 8, 8, 8, thread=3),
    "square": Setup(gl.RegisterTiling2D(8, 8, 4, 4, 4), 8, 8, 8, thread=2),
    "warps": Setup(gl.RegisterTiling1D(16, 16, 4, 4), 16, 16, 8, thread=40, order=(1, 0, 1)),
}


@pytest.fixture(scope="module", params=SETUPS)
def watched(request, tmp_path_factory, node):
    """A scene, and the browser's answers about it."""
    scene = play(SETUPS[request.param])
    path = tmp_path_factory.mktemp("scene") / "scene"
    payload = scene.payload()
    path.with_suffix(".json").write_text(payload["meta"])
    path.with_suffix(".bin").write_bytes(payload["data"])
    done = subprocess.run([node, HERE / "visualizer" / "ask.mjs", bundle.STATIC, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return scene, json.loads(done.stdout)


def test_kernels_have_the_line_that_the_tests_name():
    assert barrier_lines(gl.SharedTiling(8))[0] == FIRST_BARRIER


# ---- the browser's logic

def test_the_browser_reads_the_columns_as_they_are(watched):
    scene, seen = watched
    trace = scene.trace
    for step in range(len(trace)):
        assert seen["members"][step] == trace.members(step).tolist()
        assert seen["reached"][step] == trace.reached(step).tolist()
        values = trace.values(step)
        assert seen["values"][step] == (values[:, 0].tolist() if values.size else [None] * len(trace.members(step)))


def test_the_browser_replays_memory(watched):
    """What every array holds after every step, against a replay in Python; undefined until stored."""
    scene, seen = watched
    for number, array in enumerate(scene.trace.arrays):
        for step in range(0, len(scene.trace), 7):
            want = frame.contents(scene, number, array, step)
            if scene.role(array) == "C" and scene.trace.steps["kind"][step] == 0:
                continue    # at the end the stage shows all of C
            if array.space == "local":
                continue    # each thread has its own
            got = np.array([np.nan if value is None else value for value in seen["contents"][array.name][step]])
            assert np.array_equal(got, want, equal_nan=True), (array.name, step)


def test_the_browser_names_the_touched_cells(watched):
    scene, seen = watched
    for step in range(len(scene.trace)):
        for number in range(len(scene.trace.arrays)):
            for key, thread in (("touched", None), ("mine", scene.setup.thread)):
                want = np.flatnonzero(frame.touched(scene.trace, step, number, thread)).tolist()
                assert seen[key][step].get(str(number), []) == want, (step, number, key)


def test_operands_make_the_result(watched):
    scene, seen = watched
    for step in np.flatnonzero(scene.trace.steps["kind"] == FMA).tolist():
        for thread, result in zip(seen["members"][step], seen["values"][step]):
            if operands := seen["operands"][step][thread]:
                a, b, c = operands
                assert a * b + c == result


def test_totals_end_at_the_counts(watched):
    scene, seen = watched
    trace = scene.trace
    words_ = {name: int(trace.steps["words"][trace.steps["kind"] == KINDS.index(f"{name} load")].sum())
              for name in ("global", "shared")}
    assert seen["sums"]["global"][-1] == words_["global"] and seen["sums"]["shared"][-1] == words_["shared"]
    assert seen["sums"]["wavefronts"][-1] == trace.steps["wavefronts"].sum()
    fma = [len(trace.members(s)) for s in np.flatnonzero(trace.steps["kind"] == FMA)]
    assert seen["sums"]["fma"][-1] == sum(fma)


def test_accumulators_end_in_C(watched):
    """Every stored element of C is some thread's accumulator, and holds A*B."""
    scene, seen = watched
    product, stored = (scene.A @ scene.B).reshape(-1), set()
    for sums, targets in zip(seen["accumulators"], seen["targets"]):
        for value, element in zip(sums, targets):
            if element is not None:
                assert value == product[element]
                stored.add(element)
    of_C = next(n for n, a in enumerate(scene.trace.arrays) if scene.role(a) == "C")
    assert stored == {e for thread in range(scene.trace.threads) for e in frame.stored(scene.trace, of_C, thread)}


def test_a_thread_uses_the_rows_and_columns_of_its_results(watched):
    scene, seen = watched
    K, N = scene.B.shape
    own = [e for e in seen["targets"][scene.setup.thread] if e is not None]
    rows, columns = {e // N for e in own}, {e % N for e in own}
    names = {a.name: str(n) for n, a in enumerate(scene.trace.arrays)}
    assert seen["used"][names["A"]] == sorted(r * K + k for r in rows for k in range(K))
    assert seen["used"][names["B"]] == sorted(k * N + c for c in columns for k in range(K))


def test_held_values_are_needed_later(watched):
    scene, seen = watched
    steps = scene.trace.steps
    for step, held in enumerate(seen["held"]):
        for load, uses in held:
            assert load <= step <= steps["last"][load] and steps["kind"][load] in LOADS and uses >= 1
    if scene.setup.kernel in (STRIPS, SETUPS["square"].kernel):
        assert max(uses for held in seen["held"] for _, uses in held) == 4    # TM, and TN


def test_who_waits(watched):
    scene, seen = watched
    steps = scene.trace.steps
    waiting = set()
    for step in range(len(scene.trace)):
        if steps["kind"][step] == BARRIER:
            waiting |= set(scene.trace.members(step).tolist())
            if steps["opens"][step]:
                waiting = set()
        assert set(seen["waiting"][step]) == waiting
    if scene.setup.order != "lockstep":
        assert seen["turns"][0]["warp"] == 1 and any(seen["waiting"])


def test_stale_elements_are_those_of_the_tile_before(watched):
    scene, seen = watched
    trace = scene.trace
    tiles = [n for n, a in enumerate(trace.arrays) if a.space == "shared"]
    for position, number in enumerate(tiles):
        written = np.full(trace.arrays[number].rows * trace.arrays[number].columns, -1)
        newest = -1
        for step in range(len(trace)):
            if trace.steps["array"][step] == number and KINDS[trace.steps["kind"][step]] == "shared store":
                newest = trace.steps["epoch"][step]
                for k in range(int(trace.steps["width"][step])):
                    written[trace.reached(step) + k] = newest
            assert seen["older"][step][position] == np.flatnonzero((written >= 0) & (written < newest)).tolist()


def test_requests_are_what_was_counted(watched):
    scene, seen = watched
    steps = scene.trace.steps
    for step, requests in enumerate(seen["requests"]):
        space = scene.trace.arrays[steps["array"][step]].space if steps["array"][step] >= 0 else ""
        if space:
            assert len(requests) == steps["requests"][step]
        if space == "global":
            assert sum(sectors for _, sectors, _ in requests) == steps["sectors"][step]
        if space == "shared" and steps["machine"][step] == 4:    # of wider ones parts of a warp are served in turn
            assert sum(passes for _, _, passes in requests) == steps["wavefronts"][step]


def test_phases_are_walked_in_both_directions(watched):
    scene, seen = watched
    phase = scene.trace.steps["phase"].tolist()
    starts = [s for s in range(len(phase)) if s == 0 or phase[s] != phase[s - 1]]
    for step in range(len(phase)):
        assert seen["nextPhase"][step] == next((s for s in starts if s > step), len(phase) - 1)
        assert seen["previousPhase"][step] == max([s for s in starts if s < step], default=0)


def test_provenance_by_hand(watched):
    """An element of A is read N/BN times, feeds the block's columns; an element of C has K products."""
    scene, seen = watched
    K, N = scene.setup.K, scene.setup.N
    if scene.setup.kernel != STRIPS:
        return
    story = seen["stories"]["A"][2]    # A[0][2]
    assert story[0] == f"value {scene.A[0, 2]:g}" and "twice by the whole grid, once by this block" in story[1]    # 8/4
    assert story[2] == "copied to As[0][2], and read there 4 times by this block"                                  # BN
    assert story[3] == "used from a register in 4 multiplications of this block: for C row 0, cols 0..3"
    story = seen["stories"]["B"][0]
    assert story[2] == "copied to Bs[0][0], and read there twice by this block"          # BM / TM
    assert story[3].startswith("used from a register in 8 multiplications") and "that is 4 for each" in story[4]
    story = seen["stories"]["C"][N + 1]
    assert f"in {K} multiplications" in story[0]
    terms = re.findall(r"(\d+)·(\d+)", story[1])
    want = sorted(zip(scene.A[1].astype(int).tolist(), scene.B[:, 1].astype(int).tolist()))
    assert sorted(tuple(sorted(map(int, t))) for t in terms) == sorted(tuple(sorted(t)) for t in want)
    assert story[1].endswith(f"= {(scene.A @ scene.B)[1, 1]:g}")


def test_two_equal_kernels_advance_together(watched):
    scene, seen = watched
    assert seen["aligned"] == [[n, n] for n in range(len(scene.trace))]
    assert seen["small"] == [3, 0, "1..3, 7, 9, 10", False]


# ---- scenes

@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_small_and_right(name):
    kernel, size = PRESETS[name]
    scene = play(Setup.checked(kernel, *size, (0, 0), 0))
    assert not scene.wrong.any() and not scene.run.findings
    assert len(scene.payload()["data"]) < 2e6
    paper, counted = kernel.counts(*size), scene.run.counts
    assert paper.fma == counted.fma and paper.global_load_words == counted.global_load_words


def test_sentences_say_the_phases():
    found, column = words.sentences(play(SETUPS["strips"]).trace)
    assert [found[n] for n in column[[0, 6, 12, 13, 14, 15, -2, -1]]] == [
        "cooperative load: A → registers, for As", "cooperative load: registers → As",
        "barrier: all 8 threads are here, it opens", "load operand: As → register",
        "load operand: Bs → register, to be used 4 times", "multiply and add: accumulator 0, of 0 to 3",
        "write back: registers → C", "done: the block has finished"]
    found, _ = words.sentences(play(SETUPS["warps"]).trace)
    assert "barrier: warp 1 waits" in found and "barrier: all 64 threads are here, it opens" in found


def test_an_order_that_breaks_a_kernel_without_its_barrier():
    setup = Setup(gl.SharedTiling(8), 16, 16, 16, removed=(FIRST_BARRIER,))
    assert not play(setup).wrong.any() and play(setup).run.findings[0].kind == "race"    # lockstep hides it
    scene = play(setup.changed({"order": [1, 0]}))
    assert scene.wrong.any() and np.array_equal(scene.wrong, scene.differs)
    assert len(scene.setup.executed.source.split("\n")) == len(scene.setup.kernel.source.split("\n"))
    assert not play(Setup(gl.SharedTiling(8), 16, 16, 16, order=(1, 0))).wrong.any()


def test_a_swapped_thread_order_transposes_the_map():
    """Lanes along a row of B become lanes down a column of A."""
    def lanes(setup, name):
        trace = play(setup).trace
        step = next(s for s in range(len(trace)) if trace.arrays[trace.steps["array"][s]].name == name)
        return set(np.diff(trace.reached(step)[:32]).tolist())
    setup = Setup(gl.Naive(block=(32, 1)), 32, 32, 8)
    assert lanes(setup, "B") == {1} and lanes(setup, "A") == {0}
    swapped = setup.changed({"swapped": True})
    assert lanes(swapped, "B") == {0} and lanes(swapped, "A") == {8}
    assert not play(swapped).wrong.any()
    tiled = Setup(gl.SharedTiling(4), 8, 8, 8).changed({"swapped": True})
    assert tiled.executed.source != tiled.kernel.source and not play(tiled).wrong.any()


# ---- what a viewer may ask for

def asked(request, setup=SETUPS["strips"]):
    return setup.changed(request)


@pytest.mark.parametrize("request_, message", [
    ({"fields": {"TM": 3}}, "BM = 8 is not a multiple of TM = 3; strips of TM rows must fill a block"),
    ({"fields": {"BM": 4096}}, "BM*BN/TM = 4096 threads; a block has at most 1024"),
    ({"fields": {"BK": None}}, "BK is None; it must be a whole number, 1 or more"),
    ({"fields": {"BK": 2.5}}, "BK is 2.5; it must be a whole number, 1 or more"),
    ({"M": 0}, "M is 0; it must be a whole number, 1 or more"),
    ({"N": 1024}, f"choose a smaller problem: N = 1024; the picture holds at most {LARGEST}")])
def test_an_impossible_choice_is_explained_in_the_constructors_words(request_, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        asked(request_)


def test_a_choice_keeps_the_rest():
    setup = asked({"K": 12.0, "block": [1, 0]})
    assert (setup.M, setup.N, setup.K, setup.block, setup.thread) == (8, 8, 12, (1, 0, 0), 5)
    assert asked({"fields": {"TM": 8, "BM": 8}}).thread == 3    # 4 threads are left
    assert asked({"N": 4, "block": [1, 0]}).block == (0, 0, 0)
    assert asked({"preset": list(PRESETS)[2]}).kernel == gl.SharedTiling(8)
    assert asked({"order": [0]}).order == (0,) and asked({"order": [0]}).changed({"K": 4}).order == "lockstep"


def test_a_kernel_of_ones_own_has_no_tiles_to_change():
    mine = STRIPS.with_source(STRIPS.source)
    meta = json.loads(play(Setup(mine, 8, 8, 8)).payload()["meta"])
    assert meta["parameters"] == [] and meta["paper"] == {} and meta["cannotSwap"]


@pytest.mark.parametrize("arguments, message", [
    ({"block": (2, 0)}, r"block is \(2, 0\); the grid has 2 x 1 x 1 blocks"),
    ({"thread": 8}, "the block has 8 threads"), ({"thread": (8, 0)}, "thread is"),
    ({"M": 500}, "choose a smaller problem: M = 500"), ({"kernel": "naive"}, "kernel is"),
    ({"kernel": gl.Naive().edited(("*c = beta == 0.0f ?", "A; const_cast<float *>(A)[0] = 1; *c = beta == 0.0f ?"))},
     "because the run was refused: line 30: the kernel writes to A, which is an input; it may write to C alone")])
def test_what_is_not_there_cannot_be_watched(arguments, message):
    with pytest.raises(ValueError, match=message):
        gl.visualize(**arguments)


def test_a_thread_can_be_named_by_coordinates():
    assert gl.visualize(gl.SharedTiling(4), thread=(1, 2)).scene.setup.thread == 9


def test_comparing_takes_two_to_four_kernels():
    with pytest.raises(ValueError, match="1 kernels were given; two to four"):
        gl.visualize_compare(STRIPS)
    compared = gl.visualize_compare(gl.Naive(block=(8, 8)), gl.SharedTiling(8))
    assert len(compared.scenes) == 2 and "beside" in repr(compared)


# ---- in a notebook, in a file, as a picture

def test_text_is_the_same_on_every_run():
    first, second = gl.visualize(), gl.visualize()
    assert repr(first) == repr(second) == ("Visualizer(RegisterTiling1D(BM=8, BN=4, BK=4, TM=4) at M=8, N=8, K=8, "
                                           "block (0, 0, 0): 109 steps)")
    shown = first._repr_mimebundle_()
    data, again = (s[0] if isinstance(s, tuple) else s for s in (shown, second._repr_mimebundle_()))
    assert {name: data[name] for name in ("text/plain", "image/svg+xml")} == {
        name: again[name] for name in ("text/plain", "image/svg+xml")}
    assert "application/vnd.jupyter.widget-view+json" in data


def test_the_widget_answers_requests():
    visualizer, sent = gl.visualize(), []
    visualizer.send = lambda content, buffers=None: sent.append(content)
    visualizer._asked(visualizer, {"fields": {"TM": 3}}, [])
    assert "BM = 8 is not a multiple of TM = 3" in sent[-1]["problem"] and len(visualizer.run.trace) == 109
    visualizer._asked(visualizer, {"K": 4}, [])
    assert visualizer.scene.setup.K == 4 and json.loads(visualizer.scenes[0]["meta"])["size"] == [8, 8, 4]
    assert len(sent) == 1


def test_without_anywidget_there_is_a_picture(monkeypatch, tmp_path):
    hide_package(monkeypatch, "anywidget", "gemm_lab.widgets.watch.widget")
    still = gl.visualize()
    assert "pip install anywidget" in repr(still) and still._repr_svg_().startswith("<svg")
    assert still.to_html(tmp_path / "page.html").stat().st_size > 50_000 and still.run.completed


def test_a_page_needs_nothing_else(tmp_path):
    mine = STRIPS.edited(("float acc[TM]", "/* </script><!-- </style> */ float acc[TM]"))
    text = gl.visualize(mine).to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[\w./]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r'\b(src|href)="|@import|\bimport\s', text)
    assert text.count("</script>") == 2 and text.count("</style>") == 1 and "<!--" not in text
    stored = json.loads(re.search(r'id="scenes">(.*?)</script>', text)[1])
    assert "</script><!-- </style>" in stored[0]["meta"]
    assert page.html([gl.visualize(mine).scene]) == text


@pytest.mark.parametrize("step", [None, 0, 12, 108])
def test_a_snapshot_is_a_picture_of_a_step(step, tmp_path):
    visualizer = gl.visualize()
    picture = visualizer.snapshot(step)
    tree = ElementTree.fromstring(picture.svg)
    texts = ["".join(node.itertext()) for node in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert {"A  8 x 8", "B  8 x 8", "As  8 x 4", "Bs  4 x 4"} <= set(texts)
    assert "Steps are one legal order, not time." in texts[-1]
    line = visualizer.run.trace.steps["line"][frame.telling_step(visualizer.run.trace) if step is None else step]
    assert [t.split()[0] for t in texts if "▶" in t] == ([str(line)] if line else [])
    assert picture.save(tmp_path / "step.svg").read_text(encoding="utf-8") == visualizer.snapshot(step).svg


def test_the_last_snapshot_shows_the_product():
    visualizer = gl.visualize()
    texts = [node.text for node in ElementTree.fromstring(visualizer.snapshot(108).svg).iter(
        "{http://www.w3.org/2000/svg}text")]
    product = (visualizer.scene.A @ visualizer.scene.B)[:4, 0]
    assert all(f"{value:g}" in texts for value in product)    # the strip of thread 0


@pytest.mark.parametrize("kernel, size", [(gl.Naive(block=(32, 2)), (4, 32, 8)), (STRIPS, (8, 8, 8)),
                                          (gl.Pipelining(16, 32, 8, 4, 4), (16, 32, 24))], ids=str)
def test_the_parts_of_a_snapshot_are_apart(kernel, size):
    nodes = list(ElementTree.fromstring(gl.visualize(kernel, *size).snapshot().svg).iter(
        "{http://www.w3.org/2000/svg}text"))
    at = {"".join(n.itertext()): (float(n.get("x")), float(n.get("y"))) for n in nodes}
    code = [y for text, (x, y) in at.items() if re.match(r" *\d+ [▶ ] ", text)]
    assert len(code) == 19 and max(code) < next(y for text, (x, y) in at.items() if text.startswith("So far")) - 14
    B = next(x for text, (x, y) in at.items() if re.match(r"B  \d", text))
    tiles = [place for text, place in at.items() if re.match(r"(As|Bs|tiles:\w+)  \d", text)]
    assert all(x < B - 40 for x, _ in tiles) and len(set(tiles)) == len(tiles)


@pytest.mark.parametrize("step, message", [(-1, "step is -1"), (1.5, "step is 1.5"),
                                           (109, "step is 109; the last one is 108")])
def test_a_step_that_is_not_there_is_refused(step, message):
    with pytest.raises(ValueError, match=message):
        gl.visualize().snapshot(step)


def test_a_snapshot_is_saved_as_svg(tmp_path):
    with pytest.raises(ValueError, match="saved as .svg"):
        gl.visualize().snapshot().save(tmp_path / "step.png")


# ---- the browser's files

def test_the_joined_module_is_one_module(node, tmp_path):
    """Nothing is imported any more, no name is declared twice, every file is in it."""
    text = bundle.module()
    assert not re.search(r"^(import|export (?!default))", text, re.M) and text.count("export default") == 1
    path = tmp_path / "module.mjs"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([node, "--check", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for file in bundle.STATIC.glob("*.js"):
        first = next(line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("// "))
        assert first in text, file.name


def test_the_style_takes_its_colours_from_the_palette():
    from gemm_lab import palette
    assert f"--gw-shared: {palette.SHARED};" in bundle.style()
    assert "http" not in bundle.style() and "@import" not in bundle.style()
